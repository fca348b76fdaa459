//! What reaches the market, when its answer is due, and how little is remembered.

use super::super::exchange::Exchange;
use super::super::ledger::Known;
use super::super::numbers::Errand;
use super::super::{Brokerage, Market, Preset, Scale, classes};
use super::spec;
use crate::transaction::{Answers, Batch, Begun, Business, Call, Caused, Ending, Step, Value};
use units::Nanos;

const AT: Nanos = Nanos(9_000_000_000);

fn brokerage(market: Market) -> Brokerage {
    Brokerage::new(spec(Preset::Desk, market), 5, 0, 1, 2, 0)
}

/// The first arrivals of orders.
fn orders(house: &mut Brokerage) -> impl Iterator<Item = u64> {
    let order = classes(Preset::Desk).iter().position(|class| class.name == "trade-order").unwrap() as u16;
    (0..).filter(move |n| house.class(*n, 0) == order)
}

/// One row of ten fields that serves every question of an order: texts where a text is read.
fn plausible(batch: &Batch) -> Answers {
    let mut answers = Answers::default();
    for call in batch.calls() {
        answers.begin(10);
        if matches!(call, Call::Statement { .. }) {
            (0..10).for_each(|column| answers.push(Value::Int(1_000 + column)));
        }
        answers.end(1);
    }
    answers
}

/// An order up to its end; whether it was a market order that was kept.
fn order(house: &mut Brokerage, n: u64) -> (bool, Vec<Caused>, u64) {
    carry(house, n, Ending::Done)
}

fn carry(house: &mut Brokerage, n: u64, ending: Ending) -> (bool, Vec<Caused>, u64) {
    house.begin(0, Begun { n, payload: 0, at: AT });
    let (mut answers, mut batch, mut kept, mut number) = (Answers::default(), Batch::default(), true, 0);
    while house.step(0, &answers, &mut batch) == Step::Send {
        for call in batch.calls() {
            match call {
                Call::Rollback => kept = false,
                // The place of a trade's insert is told by its fourteen parameters.
                Call::Statement { parameters, .. } if parameters.len() == 14 => {
                    number = parameters[0].int().unwrap() as u64;
                    kept &= parameters[2].text() == Some("sent");
                }
                _ => {}
            }
        }
        answers = plausible(&batch);
        batch.clear();
    }
    let mut caused = Vec::new();
    house.ended(0, ending, AT, &mut caused);
    (kept, caused, number)
}

#[test]
fn only_a_market_order_that_was_committed_reaches_the_market() {
    let mut house = brokerage(Market::ByTime);
    let (mut sent, mut held_back) = (0, 0);
    for n in orders(&mut brokerage(Market::ByTime)).take(1_000) {
        let (kept, caused, number) = order(&mut house, n);
        assert_eq!(caused.len(), usize::from(kept), "order {n}");
        for fill in &caused {
            let wait = fill.due.saturating_sub(AT);
            assert!((Nanos::from_millis(2)..=Nanos::from_millis(50)).contains(&wait), "{wait:?}");
            assert_eq!(Errand::of(fill.payload), Errand::Fill { trade: number, again: false });
            assert_eq!(classes(Preset::Desk)[usize::from(house.class(1 << 63, fill.payload))].name, "trade-result");
        }
        sent += caused.len();
        held_back += usize::from(caused.is_empty());
    }
    assert!((550..650).contains(&sent), "{sent} sent, {held_back} held back");
    let rolled_back = house.ledger().count(Known::RolledBack);
    assert!((2..30).contains(&rolled_back), "{rolled_back}");
}

#[test]
fn an_order_that_failed_or_is_in_doubt_never_reaches_the_market() {
    let mut house = brokerage(Market::ByTime);
    for (place, n) in orders(&mut brokerage(Market::ByTime)).take(200).enumerate() {
        let ending = if place % 2 == 0 { Ending::Failed } else { Ending::Unknown };
        let (_, caused, _) = carry(&mut house, n, ending);
        assert!(caused.is_empty());
    }
    let known = [Known::Placed, Known::RolledBack, Known::PlacedUnknown].map(|known| house.ledger().count(known));
    assert_eq!(known, [0, 100, 100]);
}

#[test]
fn a_fill_that_failed_is_given_back_once_and_then_dropped() {
    for ending in [Ending::Failed, Ending::Unknown] {
        let mut house = brokerage(Market::ByTime);
        let mut payload = Errand::Fill { trade: 77, again: false }.payload();
        for expected in [1, 0] {
            house.begin(1, Begun { n: 1 << 63, payload, at: AT });
            assert_eq!(house.step(1, &Answers::default(), &mut Batch::default()), Step::Send);
            let mut caused = Vec::new();
            house.ended(1, ending, AT, &mut caused);
            assert_eq!(caused.len(), expected);
            payload = caused.first().map_or(0, |again| again.payload);
        }
        assert_eq!(house.exchange.dropped, 1);
        assert_eq!(house.ledger().count(Known::FillUnknown), u64::from(ending == Ending::Unknown));
    }
}

#[test]
fn by_count_an_answer_comes_with_the_fifth_ending_and_in_the_order_of_the_questions() {
    let scale = Scale::of(&spec(Preset::Desk, Market::ByCount));
    let mut exchange = Exchange::new(Market::ByCount, 1, scale, 0);
    let mut caused = Vec::new();
    let mut seen = Vec::new();
    for ending in 0..10 {
        if ending < 2 {
            exchange.submit(100 + ending, AT, &mut caused);
        }
        exchange.count_ending(Nanos(ending), &mut caused);
        seen.extend(caused.drain(..).map(|caused| (ending, caused.due, Errand::of(caused.payload))));
    }
    let fill = |trade| Errand::Fill { trade, again: false };
    assert_eq!(seen, [(4, Nanos(4), fill(100)), (5, Nanos(5), fill(101))]);
}

#[test]
fn ten_fills_make_one_round_of_quotes_sorted_and_with_each_symbol_once() {
    let scale = Scale::of(&spec(Preset::Desk, Market::ByTime));
    let mut exchange = Exchange::new(Market::ByTime, 1, scale, 0);
    let mut caused = Vec::new();
    (0..10).for_each(|n| exchange.filled(scale.symbol(n % 3), 100, AT, &mut caused));
    assert_eq!(caused.len(), 1);
    let Errand::Feed(number) = Errand::of(caused[0].payload) else { panic!("{caused:?}") };
    let ticks = exchange.take_feed(number);
    assert!(ticks.windows(2).all(|pair| pair[0].symbol < pair[1].symbol), "{ticks:?}");
    assert_eq!(ticks.iter().map(|tick| tick.volume).sum::<i64>(), 1_000);
    assert!(ticks.len() > 3);
    assert!(exchange.take_feed(number).is_empty(), "a round is given out once");
}

#[test]
fn an_exchange_that_nobody_listens_to_stays_small() {
    let scale = Scale::of(&spec(Preset::House, Market::ByCount));
    let mut exchange = Exchange::new(Market::ByCount, 1, scale, 0);
    let mut caused = Vec::new();
    for n in 0..100_000 {
        exchange.wait_for(&scale.symbol(n % 40));
        exchange.submit(n, AT, &mut caused);
        exchange.filled(scale.symbol(n % 40), 1, AT, &mut caused);
        exchange.count_ending(AT, &mut caused);
        caused.clear();
    }
    assert!(exchange.remembered() < 1_000, "{}", exchange.remembered());
    assert!(exchange.dropped > 9_000);
}
