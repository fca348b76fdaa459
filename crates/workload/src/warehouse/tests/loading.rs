//! Deltas: each is loaded once and as a whole, whatever is cut off, and users see how old what they see is.

use super::bench::{self, Bench, Cut, SPEC};
use crate::kind::Share;
use crate::kind::Told;
use crate::transaction::{Batch, Begun, Business, Caused, Ending};
use crate::warehouse::Spec;
use crate::warehouse::business::Warehouse;
use crate::warehouse::spec::LoadRate;
use std::any::Any;
use units::Nanos;

fn acknowledged(worker: &dyn Business) -> Told {
    (worker as &dyn Any).downcast_ref::<Warehouse>().unwrap().acknowledged()
}

#[test]
fn deltas_are_loaded_beside_the_users_and_leave_all_sums_in_order() {
    let mut bench = Bench::filled(SPEC);
    let mut worker = bench.worker();
    bench.run(&mut *worker, 300);
    assert_eq!(bench.complaints, [""; 0]);
    let loaded = acknowledged(&*worker).done as i64;
    assert!(loaded > 100, "{loaded}");
    assert_eq!(bench.number("select count(*) from delta where applied = 1"), loaded);
    assert_eq!(bench.number("select count(distinct cube_id) from delta"), 10);
    assert_eq!(bench.number("select count(distinct day_id) from delta"), 28);
    assert_eq!(bench.broken(), [""; 0]);
}

#[test]
fn a_load_gives_the_rows_that_it_wrote_and_one_that_found_no_delta_gives_none() {
    let mut bench = Bench::filled(SPEC);
    let mut worker = bench.worker();
    let facts = |bench: &Bench| bench.number("select count(*) from change_log");
    let before = facts(&bench);
    let mut given = |payload| {
        carried(&mut bench, &mut *worker, payload, Cut::Never);
        worker.gave(0)
    };
    assert_eq!(given(0), 1, "a dialog step");
    assert_eq!(given(1 << 56), 0, "a change in the source");
    let loaded = given(2 << 56);
    assert_eq!(given(2 << 56), 0, "nothing is left to load");
    assert_eq!((loaded as i64, facts(&bench) - before), (SPEC.delta as i64, SPEC.delta as i64));
}

/// What was caused by one transaction.
fn carried(bench: &mut Bench, worker: &mut dyn Business, payload: u64, cut: Cut) -> Vec<Caused> {
    let mut caused = Vec::new();
    bench.one(worker, (0, payload), cut, &mut caused);
    caused
}

#[test]
fn a_trial_that_is_killed_at_any_step_is_taken_up_with_nothing_lost_and_nothing_twice() {
    let mut bench = Bench::filled(SPEC);
    for trial in 0..12 {
        let mut worker = bench.worker();
        bench.run(&mut *worker, 7 + trial);
        // A change and its load, one of which is cut off before one of its batches.
        let change =
            carried(&mut bench, &mut *worker, 1 << 56 | 40, if trial % 4 == 3 { Cut::Before(1) } else { Cut::Never });
        let load = change[0].payload;
        carried(&mut bench, &mut *worker, load, Cut::Before((trial % 4) as u32));
        assert_eq!(bench.broken(), [""; 0], "{trial}");
    }
    assert!(bench.number("select count(*) from delta where applied = 0") > 0, "the last trial left something");
    let mut worker = bench.worker();
    bench.run(&mut *worker, 100);
    let waiting = bench.number("select count(*) from delta where applied = 0");
    assert!(waiting <= 3, "{waiting}: what trials left is loaded, and each stream has at most its own");
    assert_eq!((bench.broken(), bench.complaints), (Vec::new(), Vec::new()));
}

#[test]
fn of_a_load_that_was_cut_off_nothing_is_known_and_the_stream_goes_on() {
    let mut bench = Bench::filled(SPEC);
    let mut worker = bench.worker();
    carried(&mut bench, &mut *worker, 0, Cut::Never);
    let load = carried(&mut bench, &mut *worker, 1 << 56, Cut::Never)[0].payload;
    let again = carried(&mut bench, &mut *worker, load, Cut::Before(2));
    assert_eq!(acknowledged(&*worker), Told { done: 0, unknown: 1 });
    assert_eq!((again.len(), again[0].payload), (1, load));
    assert!(again[0].due > Nanos(bench.clock));
    let next = carried(&mut bench, &mut *worker, load, Cut::Never);
    assert_eq!(acknowledged(&*worker).done, 1);
    assert_eq!(next[0].payload, 1 << 56 | 1);
}

#[test]
fn a_second_try_of_a_load_asks_for_the_same() {
    let mut bench = Bench::filled(SPEC);
    let mut worker = bench.worker();
    carried(&mut bench, &mut *worker, 0, Cut::Never);
    carried(&mut bench, &mut *worker, 1 << 56, Cut::Never);
    worker.begin(0, Begun { n: 0, payload: 2 << 56, at: Nanos(0) });
    let mut first = Batch::default();
    worker.step(0, &Default::default(), &mut first);
    worker.restart(0);
    let mut again = Batch::default();
    worker.step(0, &Default::default(), &mut again);
    assert_eq!(first, again);
}

#[test]
fn at_a_rate_each_delta_has_its_moment_and_streams_take_turns() {
    // 20 rows for each of three streams, 60 rows a second: each stream loads one delta a second.
    let mut bench = Bench::filled(Spec { load_rate: LoadRate::Rows(60), ..SPEC });
    let mut worker = bench.worker();
    let caused = carried(&mut bench, &mut *worker, 0, Cut::Never);
    let began = bench.clock;
    let thirds: Vec<u64> = caused.iter().map(|caused| (caused.due.0 - began) / 100_000_000).collect();
    assert_eq!(thirds, [0, 3, 6]);
    bench.clock += 10_000_000_000;
    let load = carried(&mut bench, &mut *worker, caused[0].payload, Cut::Never)[0].payload;
    let next = carried(&mut bench, &mut *worker, load, Cut::Never);
    assert_eq!(next[0].due, Nanos(began + 1_000_000_000), "what is late has its moment still");
    let mut off = Bench::filled(Spec { load_rate: LoadRate::Off, ..SPEC });
    let mut worker = off.worker();
    assert_eq!(carried(&mut off, &mut *worker, 0, Cut::Never), []);
}

#[test]
fn each_stream_belongs_to_one_worker_whichever_of_them_ever_carry_anything() {
    let ready = bench::ready(&SPEC);
    let claimed = |workers: &[u32], of: u32| {
        let mut caused = Vec::new();
        for worker in workers {
            let share = Share { worker: *worker, workers: of, first: *worker, slots: 1, seed: 9, epoch: 0, half: None };
            let mut worker = ready.business(&share);
            (0..3).for_each(|_| worker.ended(0, Ending::Done, Nanos(5), &mut caused));
        }
        caused.iter().map(|caused| caused.payload >> 48 & 0xff).collect::<Vec<_>>()
    };
    assert_eq!(claimed(&[9, 4], 11), [0, 1], "a session each");
    assert_eq!(claimed(&[7, 10], 11), [2]);
    let one = bench::ready(&SPEC);
    let mut caused = Vec::new();
    let share = Share { worker: 0, workers: 1, first: 0, slots: 1, seed: 9, epoch: 0, half: None };
    one.business(&share).ended(0, Ending::Done, Nanos(5), &mut caused);
    assert_eq!(caused.len(), 3, "a worker that is alone has all");
}

/// The number of a step on the cube whose newest delta is that.
fn step_on(bench: &mut Bench, worker: &mut dyn Business, delta: i64) -> u64 {
    (0..)
        .find(|n| {
            let (_, answers) = bench.one(worker, (*n, 0), Cut::Never, &mut Vec::new());
            worker.age(0).is_some() && answers.get(0).int(0, 0) == delta
        })
        .unwrap()
}

#[test]
fn what_users_see_is_as_old_as_the_last_change_that_was_loaded_and_ages_when_loads_stop() {
    let mut bench = Bench::filled(SPEC);
    let mut worker = bench.worker();
    carried(&mut bench, &mut *worker, 0, Cut::Never);
    assert_eq!(worker.age(0), None, "nothing was loaded yet");
    let changed = bench.clock;
    let load = carried(&mut bench, &mut *worker, 1 << 56, Cut::Never)[0].payload;
    bench.clock += 5_000_000;
    carried(&mut bench, &mut *worker, load, Cut::Never);
    assert_eq!(worker.age(0), None, "a load sees nothing");
    let n = step_on(&mut bench, &mut *worker, 1);
    for waited in [0, 1_000_000_000, 7_000_000_000] {
        bench.clock += waited;
        bench.one(&mut *worker, (n, 0), Cut::Never, &mut Vec::new());
        assert_eq!(worker.age(0), Some(Nanos(bench.clock - changed)), "after {waited} ns without loads");
    }
    // The clock of a later trial begins anew: what an earlier one loaded has no age there.
    let mut later = bench.worker();
    bench.one(&mut *later, (n, 0), Cut::Never, &mut Vec::new());
    assert_eq!(later.age(0), None);
}
