//! Work that comes by the clock: when it is due, what waits, and what stands in the books.

use load::{Beat, Books, Kept, Limit, Load, Machine, Next, clocked};
use units::Nanos;

const MS: u64 = 1_000_000;

/// Runs come every 100 ms, of four transactions each; single work every 10 ms.
const BEATS: [Beat; 2] =
    [Beat { every: Nanos(100 * MS), payload: 1_000, step: 4 }, Beat { every: Nanos(10 * MS), payload: 9_000, step: 1 }];

fn load(beats: &[Beat], until: u64) -> Machine {
    let limit = Limit { until: Nanos(until), count: None };
    clocked(beats, true, limit, 7, (Nanos(MS / 2), Nanos(until)))
}

/// What was carried: intended, issued and completed, and the payload.
type Carried = (u64, u64, u64, u64);

/// Carries everything to its end, each transaction for so long; those of a run bring the one behind them.
fn carry(load: &mut Machine, takes: impl Fn(u64) -> u64) -> Vec<Carried> {
    let (mut now, mut seen) = (0, Vec::new());
    loop {
        match load.next(Nanos(now)) {
            Next::Issue(arrival) => {
                assert_eq!(load.next(Nanos(now)), Next::Blocked, "one after the other");
                let (issued, payload) = (now, arrival.payload);
                now += takes(payload);
                if payload < 9_000 && (payload + 1) % 4 != 0 {
                    assert!(load.spawn(Nanos(now), payload + 1));
                    assert!(!load.spawn(Nanos(now), 0), "each brings one");
                }
                load.completed(arrival.slot, Nanos(now));
                seen.push((arrival.intended.0, issued, now, payload));
            }
            Next::WaitUntil(at) => now = at.0,
            Next::Blocked => panic!("nothing is out"),
            Next::Finished => return seen,
        }
    }
}

fn of(seen: &[Carried], payloads: std::ops::Range<u64>) -> Vec<Carried> {
    seen.iter().copied().filter(|one| payloads.contains(&one.3)).collect()
}

#[test]
fn each_kind_is_due_at_whole_periods_from_a_moment_that_the_seed_draws() {
    let seen = carry(&mut load(&BEATS, 1_000 * MS), |_| MS / 10);
    for (payloads, every) in [(9_000..10_000, 10 * MS), (1_000..9_000, 100 * MS)] {
        let mut seen = of(&seen, payloads);
        seen.retain(|one| one.3 >= 9_000 || one.3 % 4 == 0);
        let first = seen[0].0;
        assert!(first < every);
        let due: Vec<u64> = seen.iter().map(|one| one.0).collect();
        let expected: Vec<u64> = (0..).map(|k| first + k * every).take_while(|at| *at < 1_000 * MS).collect();
        assert_eq!(due, expected);
    }
    let begins =
        |seed| match clocked(&BEATS, true, Limit { until: Nanos::MAX, count: None }, seed, (Nanos(1), Nanos(2))) {
            mut load @ Machine::Clocked(_) => load.next(Nanos::ZERO),
            _ => panic!("another load"),
        };
    assert_ne!(begins(1), begins(2));
}

#[test]
fn over_many_seeds_a_short_window_holds_its_share_of_what_comes_seldom() {
    let runs = |seed| {
        let limit = Limit { until: Nanos(30 * MS), count: None };
        let mut load = clocked(&BEATS[..1], true, limit, seed, (Nanos::ZERO, Nanos(30 * MS)));
        carry(&mut load, |_| 0).len() as f64 / 4.0
    };
    let mean = (0..4_000).map(runs).sum::<f64>() / 4_000.0;
    assert!((mean - 0.3).abs() < 0.03, "{mean}");
}

/// A run that begins late in a window reaches beyond it, and none reaches into it that would have begun before the load. Of the last
/// window, two transactions belong to the first run and two to the second.
#[test]
fn a_window_of_whole_periods_without_a_warm_up_holds_whole_runs() {
    for seed in 0..20 {
        for (from, to, runs) in [(0, 100, 4), (0, 200, 8), (30, 130, 6)] {
            let limit = Limit { until: Nanos(to * MS), count: None };
            let mut load = clocked(&BEATS[..1], true, limit, seed, (Nanos(from * MS), Nanos(to * MS)));
            assert_eq!(carry(&mut load, |_| 20 * MS).len(), runs, "{from} to {to}, seed {seed}");
        }
    }
}

#[test]
fn the_next_transaction_of_a_run_is_due_when_the_one_before_has_ended_and_lets_nobody_wait_longer_than_one() {
    let seen = carry(&mut load(&BEATS, 1_000 * MS), |payload| if payload < 9_000 { 7 * MS } else { MS / 2 });
    let runs = of(&seen, 1_000..9_000);
    for pair in runs.windows(2).filter(|pair| pair[1].3 % 4 > 0) {
        assert_eq!((pair[1].3, pair[1].0), (pair[0].3 + 1, pair[0].2));
    }
    for (intended, issued, ..) in of(&seen, 9_000..10_000) {
        assert!(issued - intended <= 7 * MS, "{intended} left at {issued}");
    }
}

#[test]
fn a_run_waits_until_the_one_before_has_ended_and_its_wait_is_its_own() {
    let mut load = load(&BEATS[..1], 1_000 * MS);
    let seen = carry(&mut load, |_| 30 * MS);
    let mut free = 0;
    for run in seen.chunks(4) {
        assert!(run[0].1 >= free && run.windows(2).all(|pair| pair[1].3 == pair[0].3 + 1), "{run:?}");
        free = run[run.len() - 1].2;
    }
    let late: Vec<u64> = seen.iter().filter(|one| one.3 % 4 == 0).map(|one| one.1 - one.0).collect();
    assert!(late.windows(2).all(|pair| pair[1] == pair[0] + 20 * MS), "a run takes 120 ms of every 100: {late:?}");
    // What is left of the last run is not carried any more, and the runs behind it cannot begin.
    let never: Vec<_> = std::iter::from_fn(|| load.unissued(Nanos(1_000 * MS))).collect();
    assert!(!never.is_empty() && never.iter().all(|never| never.payload % 4 == 0), "{never:?}");
    let begun = late.len() as u64;
    let (due, waiting) = (begun + never.len() as u64, never.len() as u64);
    assert_eq!(load.kept(), [Kept { due, held: due - 1, waiting }]);
    assert_eq!(load.books().planned, seen.len() as u64 + waiting);
}

#[test]
fn a_clock_that_keeps_up_holds_nothing_and_leaves_nothing() {
    let mut load = load(&BEATS, 1_000 * MS);
    let seen = carry(&mut load, |_| MS);
    let [runs, single] = load.kept()[..] else { panic!("two kinds") };
    assert_eq!((runs, single), (Kept { due: 10, ..Kept::default() }, Kept { due: 100, ..Kept::default() }));
    assert!(seen.len() >= 137 && load.unissued(Nanos(1_000 * MS)).is_none());
}

#[test]
fn time_that_is_carried_beside_users_stands_in_the_books_of_a_closed_load_only() {
    for closed in [true, false] {
        let limit = Limit { until: Nanos(1_000 * MS), count: None };
        let (from, to) = (Nanos(200 * MS), Nanos(1_000 * MS));
        let mut load = clocked(&BEATS, closed, limit, 3, (from, to));
        let seen = carry(&mut load, |payload| payload % 7 * MS);
        let inside = |at: u64| at.clamp(from.0, to.0);
        let carried: u128 = seen.iter().map(|one| u128::from(inside(one.2) - inside(one.1))).sum();
        let planned = seen.iter().filter(|one| (from.0..to.0).contains(&one.0)).count() as u64;
        let Books { slots_ns, think_ns, planned: booked, .. } = load.books();
        assert_eq!((slots_ns, think_ns, booked), (if closed { carried } else { 0 }, 0, planned));
        // What never left was carried by nobody.
        let mut hung = clocked(&BEATS[1..], closed, limit, 3, (Nanos::ZERO, to));
        let never = std::iter::from_fn(|| hung.unissued(to)).count() as u64;
        assert_eq!((never, hung.books()), (100, Books { planned: 100, ..Books::default() }));
    }
}
