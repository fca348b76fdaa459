//! Closed loads: slots, think time, ramps, limits, and the tiling that is Little's law.

use crate::{ENDLESS, alone, backlog};
use load::{Limit, Load, Machine, Next, Ramp, SPAWNED, Spec, Think, divided, whole};
use proptest::prelude::*;
use units::Nanos;

fn closed(slots: u32, think: Think) -> Spec {
    Spec::Closed { slots, think }
}

/// An operation as a driver saw it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    slot: u32,
    n: u64,
    intended: u64,
    issued: u64,
    completed: u64,
}

/// Drives a load in virtual time until it is finished. `service` gives the time of an operation, `delay` how late the
/// driver looks again after every event.
fn drive(load: &mut Machine, mut service: impl FnMut(u64) -> u64, mut delay: impl FnMut() -> u64) -> Vec<Seen> {
    let (mut out, mut ended, mut now) = (Vec::<Seen>::new(), Vec::new(), 0);
    loop {
        match load.next(Nanos(now)) {
            Next::Issue(a) => {
                assert!(out.iter().all(|o| o.slot != a.slot), "slot {} was issued twice", a.slot);
                assert!(a.intended.0 <= now);
                let completed = now + service(a.n);
                out.push(Seen { slot: a.slot, n: a.n, intended: a.intended.0, issued: now, completed });
                continue;
            }
            Next::Finished if out.is_empty() => return ended,
            Next::WaitUntil(at) => {
                assert!(at.0 > now);
                let first = out.iter().map(|o| o.completed).min().unwrap_or(u64::MAX);
                now = at.0.min(first) + delay();
            }
            Next::Blocked | Next::Finished => now = now.max(out.iter().map(|o| o.completed).min().unwrap()) + delay(),
        }
        out.sort_by_key(|o| o.completed);
        for done in out.extract_if(.., |o| o.completed <= now) {
            load.completed(done.slot, Nanos(done.completed));
            ended.push(done);
        }
    }
}

fn clipped(from: u64, to: u64, window: (u64, u64)) -> u128 {
    u128::from(to.min(window.1).saturating_sub(from.max(window.0)))
}

fn think() -> impl Strategy<Value = Think> {
    prop_oneof![
        Just(Think::None),
        (1u64..50_000).prop_map(|ns| Think::Constant(Nanos(ns))),
        (1u64..50_000).prop_map(|ns| Think::Exponential(Nanos(ns))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn think_lateness_and_service_tile_the_time_of_all_slots(
        think in think(),
        slots in 1u32..9,
        ramp in 0u64..300_000,
        times in proptest::collection::vec(1u64..90_000, 1..30),
        delays in proptest::collection::vec(0u64..5_000, 1..30),
        from in 0u64..400_000,
        seed: u64,
    ) {
        let window = (from, 500_000);
        let limit = Limit { until: Nanos(window.1), count: None };
        let mut load = whole(&closed(slots, think), Ramp { over: Nanos(ramp) }, limit, seed, Nanos::ZERO)
            .measured(Nanos(window.0), Nanos(window.1));
        let mut turn = 0;
        let mut delay = || { turn += 1; delays[turn % delays.len()] };
        let seen = drive(&mut load, |n| times[n as usize % times.len()], &mut delay);
        let books = load.books();
        let lateness: u128 = seen.iter().map(|o| clipped(o.intended, o.issued, window)).sum();
        let service: u128 = seen.iter().map(|o| clipped(o.issued, o.completed, window)).sum();
        prop_assert_eq!(books.slots_ns, u128::from(slots) * u128::from(window.1 - window.0));
        prop_assert_eq!(books.think_ns + lateness + service, books.slots_ns);
        prop_assert_eq!(books.issued, seen.len() as u64);
        prop_assert_eq!(books.planned, seen.iter().filter(|o| o.intended >= from).count() as u64);
        let mut numbers: Vec<u64> = seen.iter().map(|o| o.n).collect();
        numbers.sort_unstable();
        prop_assert!(numbers.into_iter().eq(0..seen.len() as u64));
    }

    #[test]
    fn workers_share_slots_and_a_counted_amount_of_work(workers in 1u32..9, slots in 1u32..9, count in 0u64..60) {
        let mut numbers = Vec::new();
        let mut own_slots = 0;
        let limit = Limit { until: Nanos::MAX, count: Some(count) };
        for mut load in divided(&closed(slots, Think::None), Ramp::default(), limit, 1, Nanos::ZERO, (workers, slots)) {
            own_slots += load.slots();
            numbers.extend(drive(&mut load, |n| 1 + n % 7, || 0).iter().map(|o| o.n));
        }
        numbers.sort_unstable();
        prop_assert_eq!(own_slots, slots);
        prop_assert!(numbers.into_iter().eq(0..count));
    }
}

#[test]
fn the_intended_start_is_the_last_completion_plus_the_think_time() {
    let mut load = alone(closed(1, Think::Constant(Nanos(30))), ENDLESS, 0);
    assert!(matches!(load.next(Nanos(4)), Next::Issue(a) if a.intended == Nanos(0)));
    assert_eq!(load.next(Nanos(4)), Next::Blocked);
    load.completed(0, Nanos(100));
    assert_eq!(load.next(Nanos(105)), Next::WaitUntil(Nanos(130)));
    assert!(matches!(load.next(Nanos(150)), Next::Issue(a) if a.intended == Nanos(130)));
}

#[test]
fn a_ramp_starts_the_slots_of_all_workers_at_equal_distances() {
    let mut starts = Vec::new();
    let ramp = Ramp { over: Nanos(1_000) };
    for mut load in divided(&closed(5, Think::None), ramp, ENDLESS, 0, Nanos(50), (2, 5)) {
        for now in 50..1_100 {
            while let Next::Issue(a) = load.next(Nanos(now)) {
                assert_eq!(a.intended, Nanos(now));
                starts.push(now);
            }
        }
    }
    starts.sort_unstable();
    assert_eq!(starts, [50, 250, 450, 650, 850]);
}

#[test]
fn exponential_think_time_has_the_mean_that_was_asked_for() {
    let limit = Limit { until: Nanos::MAX, count: Some(100_000) };
    let mut load = alone(closed(4, Think::Exponential(Nanos(1_000_000))), limit, 3).measured(Nanos::ZERO, Nanos::MAX);
    let seen = drive(&mut load, |_| 1, || 0);
    let mean = load.books().think_ns as f64 / seen.len() as f64;
    assert!((mean - 1e6).abs() < 3.0 * 1e6 / (seen.len() as f64).sqrt(), "{mean}");
}

#[test]
fn a_user_thinks_the_same_thoughts_whichever_worker_carries_him() {
    let starts = |workers: u32| {
        let mut seen = Vec::new();
        let limit = Limit { until: Nanos(1_000_000), count: None };
        let spec = closed(6, Think::Exponential(Nanos(9_000)));
        let loads = divided(&spec, Ramp::default(), limit, 8, Nanos(0), (workers, 6));
        for (mut load, worker) in loads.into_iter().zip(0..) {
            seen.extend(drive(&mut load, |_| 500, || 0).iter().map(|o| (o.intended, o.slot * workers + worker)));
        }
        seen.sort_unstable();
        seen
    };
    assert_eq!(starts(1), starts(3));
    assert_eq!(starts(1), starts(6));
}

#[test]
fn what_was_caused_takes_the_slot_that_is_due_first_and_waits_for_nobody_to_stop_thinking() {
    let mut load = alone(closed(1, Think::Constant(Nanos(10))), ENDLESS, 0);
    assert!(matches!(load.next(Nanos(0)), Next::Issue(_)));
    assert!(load.spawn(Nanos(5), 9));
    assert_eq!(load.next(Nanos(6)), Next::Blocked);
    load.completed(0, Nanos(20));
    assert_eq!(backlog(&load, Nanos(25)), 1);
    assert!(matches!(load.next(Nanos(25)), Next::Issue(a) if a.payload == 9 && a.n == SPAWNED));
    load.completed(0, Nanos(40));
    assert!(matches!(load.next(Nanos(50)), Next::Issue(a) if a.n == 1 && a.intended == Nanos(45)), "five were left");
}

#[test]
fn a_slot_that_thought_on_is_due_before_those_that_began_to_think_meanwhile() {
    let mut load = alone(closed(2, Think::Constant(Nanos(100))), ENDLESS, 0);
    assert!(matches!(load.next(Nanos(0)), Next::Issue(a) if a.slot == 0));
    assert!(matches!(load.next(Nanos(0)), Next::Issue(a) if a.slot == 1));
    load.completed(0, Nanos(10));
    assert!(load.spawn(Nanos(90), 9));
    // Twenty of its thinking are left when the first carries what was caused; the second begins to think before it ends.
    assert!(matches!(load.next(Nanos(90)), Next::Issue(a) if a.slot == 0 && a.payload == 9));
    load.completed(1, Nanos(92));
    load.completed(0, Nanos(95));
    assert_eq!(load.next(Nanos(95)), Next::WaitUntil(Nanos(115)));
    assert!(matches!(load.next(Nanos(115)), Next::Issue(a) if a.slot == 0 && a.intended == Nanos(115)));
}

#[test]
fn what_was_due_and_not_issued_is_named_at_the_end() {
    let limit = Limit { until: Nanos(100), count: None };
    let mut load = alone(closed(3, Think::None), limit, 0).measured(Nanos(0), Nanos(100));
    assert!(matches!(load.next(Nanos(1)), Next::Issue(_)));
    load.completed(0, Nanos(60));
    let left: Vec<_> = std::iter::from_fn(|| load.unissued(Nanos(100))).map(|u| (u.n, u.intended.0)).collect();
    assert_eq!(left, [(1, 0), (2, 0), (3, 60)]);
    assert_eq!(load.books().planned, 4);
    assert_eq!(load.next(Nanos(100)), Next::Finished);
}

#[test]
fn a_load_is_finished_when_its_time_is_over_and_blocked_while_a_slot_may_come_back() {
    let limit = Limit { until: Nanos(100), count: None };
    let mut load = alone(closed(1, Think::None), limit, 0);
    assert!(matches!(load.next(Nanos(0)), Next::Issue(_)));
    assert_eq!(load.next(Nanos(99)), Next::Blocked);
    assert_eq!(load.next(Nanos(100)), Next::Finished);
    load.completed(0, Nanos(101));
    assert_eq!(load.next(Nanos(101)), Next::Finished);
}

#[test]
fn what_was_caused_before_the_end_is_carried_out_after_it() {
    let limit = Limit { until: Nanos(100), count: None };
    let mut load = alone(closed(1, Think::None), limit, 0).measured(Nanos(0), Nanos(100));
    assert!(matches!(load.next(Nanos(0)), Next::Issue(_)));
    assert!(load.spawn(Nanos(90), 7) && load.spawn(Nanos(105), 8));
    load.completed(0, Nanos(101));
    assert!(matches!(load.next(Nanos(101)), Next::Issue(a) if a.payload == 7 && a.intended == Nanos(90)));
    load.completed(0, Nanos(110));
    assert_eq!(load.next(Nanos(110)), Next::Finished, "what is due after the end is never carried out");
    assert_eq!(load.books().planned, 2);
}

#[test]
fn what_is_caused_after_the_last_counted_operation_comes_when_it_is_due() {
    let limit = Limit { until: Nanos(1_000), count: Some(1) };
    let mut load = alone(closed(1, Think::None), limit, 0);
    assert!(matches!(load.next(Nanos(0)), Next::Issue(_)));
    assert!(load.spawn(Nanos(50), 7));
    load.completed(0, Nanos(10));
    assert_eq!(load.next(Nanos(49)), Next::WaitUntil(Nanos(50)));
    assert!(matches!(load.next(Nanos(50)), Next::Issue(a) if a.payload == 7));
    load.completed(0, Nanos(60));
    assert!(load.spawn(Nanos(70), 8));
    assert!(matches!(load.next(Nanos(80)), Next::Issue(a) if a.payload == 8), "it was due already");
}

#[test]
fn a_slot_comes_before_what_was_caused_for_the_same_moment() {
    let mut load = alone(closed(2, Think::None), ENDLESS, 0);
    assert!(matches!(load.next(Nanos(0)), Next::Issue(a) if a.slot == 0));
    assert!(load.spawn(Nanos(0), 7));
    assert!(matches!(load.next(Nanos(0)), Next::Issue(a) if a.payload == 0 && a.n == 1));
}

#[test]
fn what_was_caused_before_the_end_waits_for_a_slot_and_for_its_time() {
    let limit = Limit { until: Nanos(100), count: None };
    let begun = |intended: u64| {
        let mut load = alone(closed(1, Think::Constant(Nanos(50))), limit, 0);
        assert!(matches!(load.next(Nanos(0)), Next::Issue(_)));
        assert!(load.spawn(Nanos(intended), 7));
        load
    };
    let mut out = begun(90);
    assert_eq!(out.next(Nanos(101)), Next::Blocked, "its slot is still out, and will carry it");
    out.completed(0, Nanos(102));
    assert!(matches!(out.next(Nanos(102)), Next::Issue(a) if a.payload == 7));
    let mut early = begun(95);
    early.completed(0, Nanos(60));
    assert_eq!(early.next(Nanos(94)), Next::WaitUntil(Nanos(95)), "the slot has no more work of its own");
    assert!(matches!(early.next(Nanos(95)), Next::Issue(a) if a.payload == 7));
}

#[test]
fn a_slot_that_a_ramp_would_start_at_the_end_never_starts() {
    let limit = Limit { until: Nanos(50), count: None };
    let ramp = Ramp { over: Nanos(100) };
    let mut load = whole(&closed(2, Think::None), ramp, limit, 0, Nanos::ZERO);
    assert!(matches!(load.next(Nanos(0)), Next::Issue(a) if a.slot == 0));
    load.completed(0, Nanos(50));
    assert_eq!(load.next(Nanos(50)), Next::Finished);
}

#[test]
fn what_is_due_counts_as_backlog_and_is_named_at_the_end_to_the_nanosecond() {
    let limit = Limit { until: Nanos(100), count: Some(3) };
    let mut load = alone(closed(2, Think::None), limit, 0);
    for slot in [0, 1] {
        assert!(matches!(load.next(Nanos(0)), Next::Issue(a) if a.slot == slot));
        load.completed(slot, Nanos(10));
    }
    assert_eq!(backlog(&load, Nanos(9)), 0);
    assert_eq!(backlog(&load, Nanos(10)), 1, "two slots are due, and one operation is left");
    assert!(load.spawn(Nanos(40), 7));
    assert_eq!((backlog(&load, Nanos(39)), backlog(&load, Nanos(40))), (1, 2));
    assert_eq!(load.unissued(Nanos(39)).map(|unissued| (unissued.n, unissued.intended)), Some((2, Nanos(10))));
    assert_eq!(load.unissued(Nanos(39)), None, "the count is reached, and what was caused is not due");
    assert_eq!(load.unissued(Nanos(40)).map(|unissued| (unissued.n, unissued.payload)), Some((SPAWNED, 7)));
    assert_eq!(load.unissued(Nanos(100)), None);
}

#[test]
fn exponential_think_times_scatter_as_much_as_they_last() {
    let limit = Limit { until: Nanos::MAX, count: Some(20_000) };
    let mut load = alone(closed(1, Think::Exponential(Nanos(1_000))), limit, 9);
    let times: Vec<f64> =
        drive(&mut load, |_| 1, || 0).windows(2).map(|pair| (pair[1].intended - pair[0].completed) as f64).collect();
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / times.len() as f64;
    assert!((variance.sqrt() / mean - 1.0).abs() < 0.05, "deviation {} of mean {mean}", variance.sqrt());
}

#[test]
fn a_slot_whose_moments_are_given_starts_at_them_and_is_late_when_it_is_behind() {
    let limit = Limit { until: Nanos(1_000), count: None };
    let mut load =
        whole(&closed(2, Think::Given), Ramp::default(), limit, 7, Nanos::ZERO).measured(Nanos::ZERO, Nanos(1_000));
    // The first slot has work at 50, 100 and 120, of which each takes 60; the second is never due.
    let mut moments = [100, 120, 5_000].into_iter();
    load.due(0, Nanos(50));
    load.due(1, Nanos(u64::MAX));
    assert_eq!(load.next(Nanos(10)), Next::WaitUntil(Nanos(50)));
    let (mut seen, mut now) = (Vec::new(), 50);
    while let Next::Issue(arrival) = load.next(Nanos(now)) {
        seen.push((arrival.slot, arrival.intended.0, now));
        now += 60;
        load.due(0, Nanos(moments.next().unwrap()));
        load.completed(0, Nanos(now));
    }
    assert_eq!(seen, [(0, 50, 50), (0, 100, 110), (0, 120, 170)]);
    assert_eq!((load.next(Nanos(now)), load.books().slots_ns, load.books().planned), (Next::Finished, 0, 3));
}
