//! Loads that several workers carry together, each as a thread that has one operation at a time, in virtual time.

use load::{Arrivals, Books, Limit, Load, Machine, Next, Ramp, SPAWNED, Spec, Think, divided, whole};
use proptest::prelude::*;
use units::{Nanos, PerSecond};

const END: u64 = 2_000_000_000;
const LIMIT: Limit = Limit { until: Nanos(END), count: None };

/// An operation as the workers carried it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Carried {
    n: u64,
    intended: u64,
    issued: u64,
    completed: u64,
}

/// Lets workers carry loads, each slot of which takes the time that its operation says. `causes` says what an operation causes:
/// how long after its end.
fn carry(loads: &mut [Machine], service: impl Fn(u64) -> u64, causes: impl Fn(u64) -> Option<u64>) -> Vec<Carried> {
    let mut carried = Vec::new();
    // When each worker looks again, and what each of its slots carries.
    let mut wakes: Vec<Option<u64>> = vec![Some(0); loads.len()];
    let mut busy: Vec<Vec<(u32, Carried)>> = vec![Vec::new(); loads.len()];
    loop {
        let due = |worker: usize| {
            let ends = busy[worker].iter().map(|(_, carried)| carried.completed).min();
            [wakes[worker], ends].into_iter().flatten().min().map(|at| (at, worker))
        };
        let Some((now, worker)) = (0..loads.len()).filter_map(due).min() else { return carried };
        let load = &mut loads[worker];
        while let Some(at) = busy[worker].iter().position(|(_, carried)| carried.completed <= now) {
            let (slot, ended) = busy[worker].swap_remove(at);
            if let Some(after) = causes(ended.n) {
                load.spawn(Nanos(ended.completed + after), ended.n);
            }
            load.completed(slot, Nanos(ended.completed));
            carried.push(ended);
        }
        wakes[worker] = loop {
            match load.next(Nanos(now)) {
                Next::Issue(a) => {
                    assert!(a.intended.0 <= now && a.slot < load.slots(), "{a:?} at {now}");
                    assert!(busy[worker].iter().all(|(slot, _)| *slot != a.slot), "{a:?} is carried already");
                    let completed = now + service(a.n);
                    busy[worker].push((a.slot, Carried { n: a.n, intended: a.intended.0, issued: now, completed }));
                }
                Next::WaitUntil(at) => {
                    assert!(at.0 > now, "worker {worker} waits for {at:?} at {now}");
                    break Some(at.0);
                }
                Next::Blocked | Next::Finished => break None,
            }
        };
    }
}

/// A number between zero and one that belongs to `n`.
fn unit(n: u64) -> f64 {
    random::Draws::numbered(99, n).fraction()
}

fn exponential(n: u64, mean: f64) -> u64 {
    (-(1.0 - unit(n)).ln() * mean) as u64 + 1
}

fn open(rate: f64, slots: u32) -> Spec {
    Spec::Open { rate: PerSecond(rate), arrivals: Arrivals::Poisson, slots }
}

fn share(spec: &Spec, seed: u64, workers: u32, carriers: u32) -> Vec<Machine> {
    let loads = divided(spec, Ramp::default(), LIMIT, seed, Nanos::ZERO, (workers, carriers));
    loads.into_iter().map(|load| load.measured(Nanos::ZERO, Nanos(END))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the load, arrival n begins when it would begin with one worker who has all the slots: it is one queue.
    #[test]
    fn arrivals_wait_no_longer_with_many_workers_than_with_one(
        seed: u64, workers in 2u32..9, each in 1u32..3, busy in 0.2f64..1.3,
    ) {
        let slots = workers * each;
        let (mean, rate) = (1e6, busy * f64::from(slots) * 1e3);
        let service = |n| exponential(n, mean);
        let sorted = |mut all: Vec<Carried>| { all.sort_unstable(); all };
        let one = whole(&open(rate, slots), Ramp::default(), LIMIT, seed, Nanos::ZERO);
        let alone = sorted(carry(&mut [one], service, |_| None));
        let many = sorted(carry(&mut share(&open(rate, slots), seed, workers, slots), service, |_| None));
        prop_assert!(!alone.is_empty());
        prop_assert_eq!(many, alone);
    }

    /// Users think, wait and are served, and nothing else, whatever is caused meanwhile and whoever carries it.
    #[test]
    fn the_time_of_users_who_share_sessions_is_accounted_for(
        seed: u64, workers in 1u32..6, users in 1u32..20, think_us in 0u64..4_000, causes: bool, later in 0u64..3_000_000,
    ) {
        let users = workers + users;
        let think = Think::Exponential(Nanos::from_micros(think_us));
        let mut loads = share(&Spec::Closed { slots: users, think }, seed, workers, workers);
        let caused = |n: u64| (causes && n < SPAWNED && n.is_multiple_of(3)).then_some(later);
        let seen = carry(&mut loads, |n| exponential(n, 1e6), caused);
        let books = loads.iter().map(Load::books).reduce(|a, b| Books {
            planned: a.planned + b.planned,
            issued: a.issued + b.issued,
            think_ns: a.think_ns + b.think_ns,
            slots_ns: a.slots_ns + b.slots_ns,
        }).unwrap();
        let clip = |from: u64, to: u64| u128::from(to.min(END).saturating_sub(from));
        let waited: u128 = seen.iter().filter(|o| o.n < SPAWNED).map(|o| clip(o.intended, o.issued)).sum();
        let served: u128 = seen.iter().map(|o| clip(o.issued, o.completed)).sum();
        // What was caused is carried beside the users.
        let beside: u128 = seen.iter().filter(|o| o.n >= SPAWNED).map(|o| clip(o.issued, o.completed)).sum();
        prop_assert_eq!(books.issued, seen.len() as u64);
        prop_assert_eq!(books.slots_ns, u128::from(users) * u128::from(END) + beside);
        let mut numbers: Vec<u64> = seen.iter().map(|o| o.n).filter(|n| *n < SPAWNED).collect();
        numbers.sort_unstable();
        prop_assert!(numbers.into_iter().eq(0..seen.iter().filter(|o| o.n < SPAWNED).count() as u64));
        prop_assert_eq!(books.think_ns + waited + served, books.slots_ns);
        if !causes {
            prop_assert_eq!(books.planned, seen.len() as u64);
        }
    }
}

/// A worker waited for the user whom it had taken first, though another came back sooner.
#[test]
fn a_user_who_thinks_for_a_short_time_waits_for_nobody_who_thinks_longer() {
    for (workers, carriers) in [(1, 8), (2, 8), (3, 7)] {
        let think = Think::Exponential(Nanos::from_millis(50));
        let mut loads = share(&Spec::Closed { slots: 4, think }, 3, workers, carriers);
        let seen = carry(&mut loads, |n| exponential(n, 1e6), |_| None);
        assert!(seen.len() > 100);
        // A worker that is free looks again within a millisecond.
        let most = if workers > 1 { 1_000_000 } else { 0 };
        let late = seen.iter().filter(|one| one.issued - one.intended > most).count();
        assert_eq!(late, 0, "{workers} workers, {carriers} carriers");
    }
}

#[test]
fn carriers_beyond_the_users_carry_what_is_caused_and_take_nothing_from_them() {
    for workers in [1, 5] {
        let mut loads = share(&Spec::Closed { slots: 3, think: Think::None }, 3, workers, 5);
        // The first two steps begin chains of work each of which lasts ten times as long.
        let service = |n| if n < SPAWNED { 1_000_000 } else { 10_000_000 };
        let seen = carry(&mut loads, service, |n| (!(2..SPAWNED).contains(&n)).then_some(0));
        let under_way = |at: u64, caused: bool| {
            seen.iter().filter(|o| (o.n >= SPAWNED) == caused && o.issued <= at && at < o.completed).count()
        };
        let moments: Vec<u64> = (END / 4..END / 2).step_by(1_000_003).collect();
        let share =
            |holds: &dyn Fn(u64) -> bool| moments.iter().filter(|at| holds(**at)).count() as f64 / moments.len() as f64;
        let users = share(&|at| under_way(at, false) == 3);
        assert!(users > 0.9, "{workers} workers: all users are under way in {users} of the time");
        assert_eq!(share(&|at| (1..=2).contains(&under_way(at, true))), 1.0, "{workers}");
        let (books, clip) = (loads.iter().map(Load::books), |at: u64| u128::from(at.min(END)));
        let busy: u128 = seen.iter().map(|o| clip(o.completed) - clip(o.issued)).sum();
        let waited: u128 = seen.iter().filter(|o| o.n < SPAWNED).map(|o| clip(o.issued) - clip(o.intended)).sum();
        let [slots, think] = books.fold([0, 0], |sum, books| [sum[0] + books.slots_ns, sum[1] + books.think_ns]);
        assert_eq!(busy + waited + think, slots, "{workers}");
    }
}

#[test]
fn one_worker_has_no_more_users_under_way_than_sessions() {
    let mut loads = share(&Spec::Closed { slots: 8, think: Think::None }, 3, 1, 3);
    assert_eq!(loads[0].slots(), 3);
    let mut seen = carry(&mut loads, |n| exponential(n, 1e6), |_| None);
    assert!(seen.iter().any(|o| o.issued > o.intended), "users wait for a session before they are issued");
    seen.sort_unstable_by_key(|o| o.issued);
    let under_way = |at: u64| seen.iter().filter(|o| o.issued <= at && at < o.completed).count();
    assert!(seen.iter().all(|o| under_way(o.issued) <= 3));
}

#[test]
fn what_an_operation_causes_leaves_with_the_worker_that_caused_it_and_keeps_nobody_waiting_elsewhere() {
    let mut loads = share(&open(2_000.0, 4), 5, 4, 4);
    let seen = carry(&mut loads, |n| exponential(n, 1e6), |n| (n < SPAWNED && n % 5 == 0).then_some(100_000));
    let (caused, planned): (Vec<&Carried>, Vec<&Carried>) = seen.iter().partition(|o| o.n >= SPAWNED);
    assert_eq!(caused.len(), planned.iter().filter(|o| o.n % 5 == 0).count());
    // Six tenths busy: without an idle worker beside a waiting operation, the mean wait is that of four servers and one queue.
    let wait = planned.iter().map(|o| (o.issued - o.intended) as f64).sum::<f64>() / planned.len() as f64;
    assert!(wait < 0.35e6, "{wait} ns");
}

#[test]
fn the_time_of_users_is_tiled_also_where_something_is_caused_beside_them() {
    for workers in [1, 3] {
        let (from, users) = (END / 4, Spec::Closed { slots: 24, think: Think::Constant(Nanos(10_000_000)) });
        let loads = share(&users, 5, workers, 4);
        let mut loads: Vec<Machine> = loads.into_iter().map(|load| load.measured(Nanos(from), Nanos(END))).collect();
        let seen = carry(&mut loads, |n| exponential(n, 1e6), |n| (n % 4 == 0).then_some(300_000));
        let caused = seen.iter().filter(|o| o.n >= SPAWNED).count();
        assert!(10 * caused > seen.len(), "{caused} of {}", seen.len());
        let inside = |start: u64, end: u64| u128::from(end.min(END).saturating_sub(start.max(from)));
        let service: u128 = seen.iter().map(|o| inside(o.issued, o.completed)).sum();
        let own = seen.iter().filter(|o| o.n < SPAWNED);
        let lateness: u128 = own.map(|o| inside(o.intended, o.issued)).sum();
        let books: Vec<Books> = loads.iter().map(Load::books).collect();
        let think: u128 = books.iter().map(|books| books.think_ns).sum();
        let slots: u128 = books.iter().map(|books| books.slots_ns).sum();
        let beside = seen.iter().filter(|o| o.n >= SPAWNED).map(|o| inside(o.issued, o.completed));
        assert_eq!(slots, 24 * u128::from(END - from) + beside.sum::<u128>());
        assert_eq!(think + lateness + service, slots, "with {workers} workers");
    }
}

/// Mean and 99th percentile of the response of so many servers with one queue, in the time that one operation takes: the
/// probability of waiting by Erlang's C, and whoever waits does so exponentially.
fn theory(servers: u32, busy: f64) -> (f64, f64) {
    let erlangs = busy * f64::from(servers);
    let blocked = (1..=servers).fold(1.0, |b, k| erlangs * b / (f64::from(k) + erlangs * b));
    let waits = blocked / (1.0 - busy * (1.0 - blocked));
    let leaves = f64::from(servers) * (1.0 - busy);
    let longer = |t: f64| {
        let both = (leaves * (-t).exp() - (-leaves * t).exp()) / (leaves - 1.0);
        (1.0 - waits) * (-t).exp() + waits * both
    };
    let (mut low, mut high) = (0.0, 1e3);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if longer(middle) > 0.01 { low = middle } else { high = middle }
    }
    (1.0 + waits / leaves, low)
}

/// Threads with one operation each, and one ring that has all of them.
#[test]
fn one_queue_has_the_mean_and_the_tail_of_its_theory_on_every_road() {
    let servers = 16;
    for (busy, seeds) in [(0.5, 16), (0.8, 16), (0.95, 100)] {
        for workers in [16, 1] {
            let mut seen: Vec<u64> = Vec::new();
            for seed in 0..seeds {
                let mut loads = share(&open(busy * f64::from(servers) * 1e3, servers), seed, workers, servers);
                let carried = carry(&mut loads, |n| exponential(n ^ (seed << 40), 1e6), |_| None);
                // The queue begins empty, and needs a while to forget it.
                let settled = carried.iter().filter(|o| o.intended > END / 4);
                seen.extend(settled.map(|o| o.completed - o.intended));
            }
            let mean = seen.iter().sum::<u64>() as f64 / seen.len() as f64 / 1e6;
            let at = seen.len() / 100 * 99;
            let tail = *seen.select_nth_unstable(at).1 as f64 / 1e6;
            let (mean_s, tail_s) = theory(servers, busy);
            let words = format!("{workers} workers at {busy}: mean {mean} of {mean_s}, p99 {tail} of {tail_s}");
            assert!((mean / mean_s - 1.0).abs() < 0.03 && (tail / tail_s - 1.0).abs() < 0.03, "{words}");
        }
    }
}

#[test]
fn what_was_taken_and_never_left_is_named_at_the_end_once() {
    let spec = Spec::Open { rate: PerSecond(1e3), arrivals: Arrivals::Constant, slots: 2 };
    let mut loads = share(&spec, 1, 2, 2);
    assert!(matches!(loads[0].next(Nanos(0)), Next::Issue(a) if a.n == 0));
    assert_eq!(loads[1].next(Nanos(0)), Next::WaitUntil(Nanos(1_000_000)), "it holds the second");
    let mut named: Vec<u64> = Vec::new();
    for load in &mut loads {
        named.extend(std::iter::from_fn(|| load.unissued(Nanos(3_500_000))).map(|never| never.n));
    }
    named.sort_unstable();
    assert_eq!(named, [1, 2, 3]);
    let planned: u64 = loads.iter().map(|load| load.books().planned).sum();
    assert_eq!(planned, 4);
}

#[test]
fn a_worker_for_whom_there_is_no_slot_has_nothing_to_do() {
    let mut loads = share(&open(1e3, 2), 1, 3, 2);
    assert_eq!(loads.iter().map(Load::slots).collect::<Vec<_>>(), [1, 1, 0]);
    assert_eq!(loads[2].next(Nanos(5)), Next::Finished);
}

#[test]
fn what_was_caused_and_never_left_stands_in_the_books_with_all_its_wait() {
    let mut load = share(&Spec::Closed { slots: 2, think: Think::None }, 3, 1, 1).remove(0);
    assert!(matches!(load.next(Nanos::ZERO), Next::Issue(_)));
    assert!(load.spawn(Nanos(10), 7));
    while load.unissued(Nanos(END)).is_some() {}
    assert_eq!(load.books().slots_ns, u128::from(2 * END + END - 10));
}
