//! The history against its rules, each trade carried out anew one after the other.

use super::*;
use crate::brokerage::Preset;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};

fn history(preset: Preset, customers: u64, days: u64, seed: u64) -> History {
    History::new(Scale { preset, customers, days }, seed)
}

fn trades(history: &History) -> impl Iterator<Item = Trade> {
    (1..=history.scale().trades()).map(|number| history.trade(number))
}

/// Carries out all trades by the rules of the house and gives the open lots, by account and security.
fn replayed(history: &History) -> BTreeMap<(u64, u64), Vec<Lot>> {
    let mut open: BTreeMap<(u64, u64), Vec<Lot>> = BTreeMap::new();
    for trade in trades(history) {
        let Trade { account, security, quantity, .. } = trade;
        let lots = open.entry((account, security)).or_default();
        if !trade.sells {
            let lot = Change { lot: trade.number, before: 0, after: quantity };
            assert_eq!(trade.changes(), [lot]);
            assert_eq!(trade.tax_cents, 0);
            let (at_us, price_cents) = (trade.completed_us, trade.price_cents);
            lots.push(Lot { trade: trade.number, account, security, at_us, price_cents, quantity });
            continue;
        }
        let (changes, cost) = sold(lots, quantity, trade.lifo);
        assert_eq!(trade.changes(), changes, "{trade:?}");
        let gain = quantity * trade.price_cents - cost;
        let customer = history.scale().customer_of(account);
        let levies = if tax_status(account) == 0 { 0 } else { history.scale().levies(customer) };
        assert_eq!(trade.tax_cents, basis_points(gain.max(0), levies), "{trade:?}");
    }
    open.retain(|_, lots| !lots.is_empty());
    open
}

fn sold(lots: &mut Vec<Lot>, quantity: i64, lifo: bool) -> (Vec<Change>, i64) {
    let (mut left, mut changes, mut cost) = (quantity, Vec::new(), 0);
    while left > 0 {
        let at = if lifo { lots.len() - 1 } else { 0 };
        let used = left.min(lots[at].quantity);
        let after = lots[at].quantity - used;
        changes.push(Change { lot: lots[at].trade, before: lots[at].quantity, after });
        (left, cost) = (left - used, cost + used * lots[at].price_cents);
        lots[at].quantity = after;
        if after == 0 {
            lots.remove(at);
        }
    }
    (changes, cost)
}

fn assert_holds(history: &History) {
    let mut open = replayed(history);
    let mut lots = Vec::new();
    for account in 1..=history.scale().accounts() {
        history.lots(account, &mut lots);
        assert!(lots.is_sorted_by_key(|lot| lot.trade));
        let mut by_security: HashMap<u64, Vec<Lot>> = HashMap::new();
        lots.iter().for_each(|lot| by_security.entry(lot.security).or_default().push(*lot));
        for (security, lots) in by_security {
            assert_eq!(open.remove(&(account, security)), Some(lots), "account {account}, security {security}");
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn lots_found_alone_are_those_that_all_trades_leave_when_carried_out_in_turn() {
    assert_holds(&history(Preset::House, 40, 12, 3));
    assert_holds(&history(Preset::Desk, 100, 5, 4));
}

#[test]
fn trades_are_numbered_in_the_order_of_time_and_an_account_s_trades_do_not_overlap() {
    for (customers, days) in [(10, 1), (57, 3), (200, 2)] {
        let history = history(Preset::House, customers, days, 9);
        let mut last: HashMap<u64, i64> = HashMap::new();
        let mut entered = 0;
        for trade in trades(&history) {
            assert!(trade.entered_us > entered, "{trade:?}");
            entered = trade.entered_us;
            assert!(trade.entered_us <= trade.submitted_us && trade.submitted_us < trade.completed_us);
            assert_eq!(trade.waited, trade.entered_us < trade.submitted_us);
            let since_midnight = trade.completed_us.rem_euclid(86_400_000_000);
            assert!((OPENS_US..OPENS_US + DAY_US).contains(&since_midnight), "{trade:?}");
            let before = last.insert(trade.account, trade.completed_us);
            assert!(before.is_none_or(|before| before < trade.entered_us), "{trade:?}");
        }
        let first_day = LAST_DAY - days as i64;
        assert_eq!(history.trade(1).entered_us.div_euclid(86_400_000_000), first_day);
        assert_eq!(entered.div_euclid(86_400_000_000), LAST_DAY - 1);
    }
}

#[test]
fn the_history_has_the_shape_of_a_brokerage_house() {
    let history = history(Preset::House, 200, 60, 5);
    let all = history.scale().trades() as f64;
    let share = |yes: fn(&Trade) -> bool| trades(&history).filter(yes).count() as f64 / all;
    assert!((0.915..0.925).contains(&share(|trade| trade.is_cash)));
    assert!((0.39..0.41).contains(&share(|trade| trade.waited)));
    assert!((0.38..0.5).contains(&share(|trade| trade.sells)));
    let changes: usize = trades(&history).map(|trade| trade.changes().len()).sum();
    assert!((1.1..1.4).contains(&(changes as f64 / all)), "{}", changes as f64 / all);
    let (mut lots, mut count, mut positions) = (Vec::new(), 0, 0);
    for account in 1..=history.scale().accounts() {
        history.lots(account, &mut lots);
        count += lots.len();
        let mut securities: Vec<u64> = lots.iter().map(|lot| lot.security).collect();
        securities.sort_unstable();
        securities.dedup();
        positions += securities.len();
    }
    assert!((0.045..0.065).contains(&(count as f64 / all)), "{}", count as f64 / all);
    let each = positions as f64 / history.scale().accounts() as f64;
    assert!((7.0..14.0).contains(&each), "{each}");
}

#[test]
fn fills_are_at_the_bid_or_better_and_at_the_market_s_price() {
    let history = history(Preset::House, 100, 2, 6);
    for trade in trades(&history) {
        assert_eq!(trade.price_cents, price_cents(6, trade.security, trade.completed_us));
        match trade.order_type {
            2 => assert!(trade.price_cents <= trade.bid_cents),
            3 => assert!(trade.price_cents >= trade.bid_cents),
            4 => assert!(trade.price_cents <= trade.bid_cents),
            _ => assert_eq!(trade.price_cents, trade.bid_cents),
        }
        assert!(trade.quantity > 0 && trade.fee_cents > 0 && trade.commission_cents > 0, "{trade:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_small_history_holds(customers in 10u64..60, days in 1u64..=3, seed: u64, desk: bool) {
        assert_holds(&history(if desk { Preset::Desk } else { Preset::House }, customers, days, seed));
    }
}
