//! The shape of every class without a database: what is asked depends on nothing but the number of the arrival.

use super::super::numbers::Errand;
use super::super::{Brokerage, Market, Preset, classes, statements};
use super::{PRESETS, spec};
use crate::transaction::{Answers, Batch, Begun, Business, Call, Step};
use units::Nanos;

fn worker(preset: Preset, worker: u32) -> Brokerage {
    Brokerage::new(spec(preset, Market::ByTime), 5, worker, 4, 4, 0)
}

/// Begins and first calls of an arrival.
fn first(house: &mut Brokerage, slot: u32, n: u64) -> (u16, Batch) {
    let mut batch = Batch::default();
    house.begin(slot, Begun { n, payload: 0, at: Nanos(1) });
    assert_eq!(house.step(slot, &Answers::default(), &mut batch), Step::Send);
    (house.class(n, 0), batch)
}

#[test]
fn the_same_arrival_asks_the_same_of_any_worker_in_any_slot_and_on_a_second_try() {
    for preset in PRESETS {
        let (mut one, mut other) = (worker(preset, 0), worker(preset, 3));
        for n in 0..2_000 {
            let asked = first(&mut one, 0, n);
            assert_eq!(asked, first(&mut other, (n % 4) as u32, n), "arrival {n}");
            one.restart(0);
            let mut again = Batch::default();
            assert_eq!(one.step(0, &Answers::default(), &mut again), Step::Send);
            assert_eq!(again, asked.1, "arrival {n}");
        }
        assert_ne!(first(&mut one, 0, 1), first(&mut one, 0, 2));
    }
}

#[test]
fn every_class_closes_what_it_opens_even_when_the_database_answers_nothing() {
    for preset in PRESETS {
        let mut house = worker(preset, 0);
        let known = statements(preset).len();
        let errands =
            [Errand::Fill { trade: 1, again: false }, Errand::Feed(0), Errand::Maintenance(11), Errand::Maintenance(2)];
        let caused =
            errands.into_iter().filter(|errand| preset == Preset::House || !matches!(errand, Errand::Maintenance(_)));
        let payloads: Vec<u64> = (0..500).map(|_| 0).chain(caused.map(Errand::payload)).collect();
        let mut seen = vec![0; classes(preset).len()];
        for (n, payload) in (0..).zip(payloads) {
            let class = usize::from(house.class(n, payload));
            seen[class] += 1;
            house.begin(0, Begun { n, payload, at: Nanos(1) });
            let (mut answers, mut open, mut steps) = (Answers::default(), false, 0);
            loop {
                let mut batch = Batch::default();
                match house.step(0, &answers, &mut batch) {
                    Step::Send => {}
                    Step::Fail => {
                        let told = house.complaint(0).unwrap();
                        let way = format!("drop the schema prony_brokerage_{}_", preset.word());
                        assert!(told.contains("`prony db check` says where") && told.contains(&way), "{told}");
                        break;
                    }
                    _ => {
                        assert!(!open, "{} leaves its transaction open", classes(preset)[class].name);
                        break;
                    }
                }
                steps += 1;
                assert!(steps < 6);
                answers.clear();
                for call in batch.calls() {
                    match call {
                        Call::Begin { .. } => assert!(!std::mem::replace(&mut open, true)),
                        Call::Commit | Call::Rollback => assert!(std::mem::replace(&mut open, false)),
                        Call::Statement { statement, .. } => assert!(usize::from(statement) < known),
                    }
                    answers.begin(1);
                    answers.end(0);
                }
            }
        }
        assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
    }
}

#[test]
fn limits_and_shares_are_stated_for_every_class() {
    for preset in PRESETS {
        let mix = classes(preset);
        let total: f64 = mix.iter().filter_map(|part| part.share).sum();
        assert!((total - 1.0).abs() < 1e-12, "{total}");
        let timed = mix.iter().filter(|part| part.share.is_some());
        assert!(timed.into_iter().all(|part| part.limit_s.is_some_and(|limit| limit > 0.0)));
    }
}
