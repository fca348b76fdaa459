//! Open loads on a system that is slow: the backlog, what is never issued, and spawned operations.

use crate::{ENDLESS, alone};
use load::{Arrivals, Books, Limit, Load, Machine, Next, SPAWNED, Spec};
use proptest::prelude::*;
use std::collections::HashSet;
use units::{Nanos, PerSecond};

const MS: u64 = 1_000_000;

fn open(arrivals: Arrivals, slots: u32) -> Spec {
    Spec::Open { rate: PerSecond(1_000.0), arrivals, slots }
}

fn issued(load: &mut Machine, now: u64) -> load::Arrival {
    match load.next(Nanos(now)) {
        Next::Issue(arrival) => arrival,
        other => panic!("expected an arrival, got {other:?}"),
    }
}

#[test]
fn arrivals_wait_for_a_slot_and_keep_their_intended_times() {
    let mut load = alone(open(Arrivals::Constant, 2), ENDLESS, 0);
    assert_eq!((issued(&mut load, 0).slot, issued(&mut load, MS).slot), (0, 1));
    assert_eq!(load.next(Nanos(MS + 1)), Next::Blocked);
    assert_eq!(crate::backlog(&load, Nanos(MS + 1)), 0);
    assert_eq!(crate::backlog(&load, Nanos(10 * MS)), 9);
    load.completed(1, Nanos(10 * MS));
    let late = issued(&mut load, 10 * MS);
    assert_eq!((late.slot, late.n, late.intended), (1, 2, Nanos(2 * MS)));
    assert_eq!(crate::backlog(&load, Nanos(10 * MS)), 8);
    assert_eq!(load.next(Nanos(10 * MS)), Next::Blocked);
}

#[test]
fn with_a_free_slot_the_wait_is_for_the_next_arrival() {
    let mut load = alone(open(Arrivals::Constant, 2), ENDLESS, 0);
    issued(&mut load, 0);
    assert_eq!(load.next(Nanos(5)), Next::WaitUntil(Nanos(MS)));
}

#[test]
fn spawned_operations_come_in_the_order_of_time_with_numbers_of_their_own() {
    let mut load = alone(open(Arrivals::Constant, 8), ENDLESS, 0);
    assert!(load.spawn(Nanos(MS / 2), 71));
    assert!(load.spawn(Nanos(MS / 4), 72));
    let seen: Vec<_> = (0..4).map(|_| issued(&mut load, MS)).map(|a| (a.n, a.intended.0, a.payload)).collect();
    assert_eq!(seen, [(0, 0, 0), (SPAWNED + 1, MS / 4, 72), (SPAWNED, MS / 2, 71), (1, MS, 0)]);
}

#[test]
fn there_is_room_for_a_bounded_number_of_spawned_operations() {
    let accepted = |slots: u32| {
        let mut load = alone(open(Arrivals::Constant, slots), ENDLESS, 0);
        (0..10_000).filter(|k| load.spawn(Nanos(*k), *k)).count()
    };
    // A single fast slot has many that are not due yet; many slots have sixteen each.
    assert_eq!((accepted(2), accepted(256)), (2048, 4096));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the system does, each arrival that was due is handed out once: as issued, or as unissued at the end.
    #[test]
    fn every_arrival_that_was_due_is_handed_out_once(
        seed: u64,
        slots in 1u32..6,
        services in proptest::collection::vec(1u64..9 * MS, 1..20),
        end_ms in 1u64..120,
    ) {
        let end = end_ms * MS;
        let limit = Limit { until: Nanos(end), count: None };
        let mut load = alone(open(Arrivals::Poisson, slots), limit, seed).measured(Nanos(end / 3), Nanos(end));
        let mut busy: Vec<(u64, u32)> = Vec::new();
        let mut seen = Vec::new();
        let mut occupied = HashSet::new();
        let mut now = 0;
        while now < end {
            match load.next(Nanos(now)) {
                Next::Issue(a) => {
                    prop_assert!(a.intended.0 <= now && a.slot < slots);
                    prop_assert!(occupied.insert(a.slot), "slot {} was issued twice", a.slot);
                    busy.push((now + services[a.n as usize % services.len()], a.slot));
                    seen.push((a.n, a.intended));
                }
                next => {
                    let wait = if let Next::WaitUntil(at) = next { at.0 } else { end };
                    busy.sort_unstable();
                    let first = busy.first().map_or(end, |(at, _)| *at);
                    now = wait.min(first).min(end);
                    if first == now && now < end {
                        let (at, slot) = busy.remove(0);
                        occupied.remove(&slot);
                        load.completed(slot, Nanos(at));
                    }
                }
            }
        }
        let issued = seen.len() as u64;
        while let Some(never) = load.unissued(Nanos(end)) {
            seen.push((never.n, never.intended));
        }
        let expected: Vec<_> =
            crate::drawn(alone(open(Arrivals::Poisson, slots), limit, seed)).map(|a| (a.n, a.intended)).collect();
        prop_assert_eq!(&seen, &expected);
        let planned = expected.iter().filter(|(_, at)| at.0 >= end / 3).count() as u64;
        prop_assert_eq!(load.books(), Books { planned, issued, think_ns: 0, slots_ns: 0 });
    }
}

#[test]
fn what_is_caused_for_this_very_moment_leaves_now_and_is_due_now() {
    let mut load = alone(open(Arrivals::Constant, 3), ENDLESS, 0);
    assert_eq!(load.slots(), 3);
    issued(&mut load, 0);
    assert!(load.spawn(Nanos(5), 7) && load.spawn(Nanos(9), 8));
    assert_eq!(load.next(Nanos(4)), Next::WaitUntil(Nanos(5)));
    assert_eq!(issued(&mut load, 5).payload, 7);
    assert_eq!(load.unissued(Nanos(8)), None);
    assert_eq!(load.unissued(Nanos(9)).map(|unissued| unissued.payload), Some(8));
    assert_eq!(load.unissued(Nanos(MS)).map(|unissued| unissued.intended), Some(Nanos(MS)));
}
