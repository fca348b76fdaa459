//! One queue under every order in which its workers may take their turns: `shuttle` chooses, thousands of times.
//!
//! Built with `--cfg shuttle` alone, when the locks of this crate are those of `shuttle`. `./test --sanitize` does it.

use crate::{Arrivals, Limit, Load, Machine, Next, Ramp, SPAWNED, Spec, Think, divided};
use shuttle::sync::{Arc, Mutex};
use shuttle::thread;
use std::collections::BTreeMap;
use units::{Nanos, PerSecond};

const WORKERS: u32 = 3;

/// Orders that are tried for each test.
const ORDERS: usize = 3_000;

/// What is common to all workers: the time, and how often each operation was handed out.
#[derive(Default)]
struct Common {
    now: u64,
    handed_out: BTreeMap<u64, u32>,
}

type Shared = Arc<Mutex<Common>>;

fn now(common: &Shared) -> Nanos {
    Nanos(common.lock().unwrap().now)
}

/// One worker, from the first operation to the end of the trial. Each operation takes as long as its number says.
fn work(mut load: Machine, common: &Shared, until: u64, causes: bool) -> Machine {
    loop {
        let at = now(common);
        if at.0 >= until {
            break;
        }
        match load.next(at) {
            Next::Issue(arrival) => {
                assert!(arrival.intended <= at, "an operation left before it was due");
                *common.lock().unwrap().handed_out.entry(arrival.n).or_default() += 1;
                thread::yield_now();
                let ended = pass(common, arrival.n % 3 * 400_000);
                load.completed(arrival.slot, ended);
                if causes && arrival.n < SPAWNED && arrival.n % 2 == 0 {
                    assert!(load.spawn(ended + Nanos(300_000), arrival.n));
                }
            }
            Next::WaitUntil(at) => drop(reach(common, at)),
            Next::Blocked => thread::yield_now(),
            Next::Finished => break,
        }
    }
    load
}

/// So much time passes for everybody.
fn pass(common: &Shared, time: u64) -> Nanos {
    let mut common = common.lock().unwrap();
    common.now += time;
    Nanos(common.now)
}

/// It is this late for everybody, or later.
fn reach(common: &Shared, at: Nanos) -> Nanos {
    let mut common = common.lock().unwrap();
    common.now = common.now.max(at.0);
    Nanos(common.now)
}

/// Runs a trial that ends at `until` and takes what was left; how often each operation was handed out, and the sum of the books.
fn ran(spec: Spec, count: Option<u64>, until: u64, causes: bool) -> (BTreeMap<u64, u32>, u64) {
    let limit = Limit { until: Nanos(until), count };
    let loads = divided(&spec, Ramp::default(), limit, 7, Nanos::ZERO, (WORKERS, WORKERS));
    let common = Shared::default();
    let spawn = |load: Machine| {
        let common = common.clone();
        let load = load.measured(Nanos::ZERO, Nanos(u64::MAX));
        thread::spawn(move || work(load, &common, until, causes))
    };
    let workers: Vec<_> = loads.into_iter().map(spawn).collect();
    let mut planned = 0;
    let ended = now(&common).max(Nanos(until));
    let loads: Vec<Machine> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
    for mut load in loads {
        while let Some(left) = load.unissued(ended) {
            *common.lock().unwrap().handed_out.entry(left.n).or_default() += 1;
        }
        planned += load.books().planned;
    }
    let handed_out = std::mem::take(&mut common.lock().unwrap().handed_out);
    (handed_out, planned)
}

fn open() -> Spec {
    Spec::Open { rate: PerSecond(1_000.0), arrivals: Arrivals::Constant, slots: WORKERS }
}

/// Every operation once, and all of them on the books.
fn whole((handed_out, planned): (BTreeMap<u64, u32>, u64)) -> usize {
    assert!(handed_out.values().all(|times| *times == 1), "{handed_out:?}");
    assert_eq!(planned, handed_out.len() as u64, "the books of the workers");
    handed_out.len()
}

#[test]
fn each_arrival_is_carried_once_by_one_worker() {
    shuttle::check_random(|| assert_eq!(whole(ran(open(), Some(8), 20_000_000, false)), 8), ORDERS);
}

#[test]
fn each_arrival_is_carried_once_where_few_turns_go_wrong() {
    // Changes of turn at few places, chosen anew each time, find what a fair lot seldom does.
    shuttle::check_pct(|| assert_eq!(whole(ran(open(), Some(8), 20_000_000, false)), 8), ORDERS, 3);
}

#[test]
fn what_is_caused_is_carried_once_though_workers_put_back_what_they_hold() {
    shuttle::check_random(
        || {
            let (handed_out, planned) = ran(open(), Some(6), 60_000_000, true);
            let caused = handed_out.range(SPAWNED..).count();
            assert_eq!((whole((handed_out, planned)), caused), (9, 3));
        },
        ORDERS,
    );
}

#[test]
fn what_was_due_at_the_end_and_had_no_worker_is_given_out_once() {
    shuttle::check_random(
        || {
            let all = whole(ran(open(), None, 5_000_000, true));
            assert!(all >= 5, "{all}");
        },
        ORDERS,
    );
}

#[test]
fn users_who_are_more_than_can_be_carried_take_their_turns() {
    let spec = Spec::Closed { slots: 5, think: Think::Constant(Nanos(200_000)) };
    shuttle::check_random(move || assert_eq!(whole(ran(spec, Some(12), 90_000_000, false)), 12), ORDERS);
}
