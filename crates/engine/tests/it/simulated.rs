//! A script on a simulated clock: every number is known beforehand.

use crate::bench::{blocks, closed, done, open, run, script, stream, trial, try_run};
use engine::TrialError;
use load::{Arrivals, Spec, Think};
use observation::Provenance;
use study::{Place, Stall, Storage};
use units::{Nanos, PerSecond};
use workload::files;

#[test]
fn a_closed_load_on_eight_servers_delivers_eight_over_the_service_time() {
    let mut opened = open(Place::Scripted(script(Nanos::from_micros(100), 8)), 1);
    let observations =
        run(&mut opened, &trial(vec![stream(Storage::Block(blocks(1.0)), closed(8))], Nanos::from_secs(1)));
    assert_eq!(observations.provenance, Provenance::Simulated);
    assert_eq!(done(&observations), 80_000 - 8, "what ends at the border belongs to the next interval");
    let response = observations.stream_total(0).response;
    assert_eq!((response.min_ns(), response.max_ns()), (100_000, 100_000));
}

#[test]
fn more_outstanding_than_servers_wait_in_line() {
    let mut opened = open(Place::Scripted(script(Nanos::from_micros(100), 8)), 1);
    let observations =
        run(&mut opened, &trial(vec![stream(Storage::Block(blocks(1.0)), closed(32))], Nanos::from_secs(1)));
    let mean = observations.stream_total(0).response.mean_ns().unwrap();
    assert!((mean - 400_000.0).abs() < 1_000.0, "{mean}");
}

#[test]
fn think_time_closes_littles_law_exactly() {
    let mut opened = open(Place::Scripted(script(Nanos::from_micros(100), 64)), 1);
    let load = Spec::Closed { slots: 16, think: Think::Exponential(Nanos::from_micros(700)) };
    let observations = run(&mut opened, &trial(vec![stream(Storage::Block(blocks(1.0)), load)], Nanos::from_secs(2)));
    let account = observations.accounts[0];
    assert_eq!(account.service_ns + account.think_ns + account.lateness_ns, account.slots_ns);
}

#[test]
fn a_stall_is_suffered_by_everyone_who_was_meant_to_start_in_it() {
    // One second in ten stands still. Of a constant stream, a tenth waits from 1 s down to nothing, in a straight line:
    // with stall share s = 0.1 and stall length L = 1 s, the quantile q above 1 - s is L (1 - (1 - q) / s).
    let mut script = script(Nanos::from_micros(10), 64);
    script.stall = Some(Stall { every: Nanos::from_secs(10), lasts: Nanos::from_secs(1) });
    let mut opened = open(Place::Scripted(script), 1);
    let load = Spec::Open { rate: PerSecond(20_000.0), arrivals: Arrivals::Constant, slots: 64 };
    let observations = run(&mut opened, &trial(vec![stream(Storage::Block(blocks(1.0)), load)], Nanos::from_secs(40)));
    assert!(observations.accounts[0].closes());
    let response = observations.stream_total(0).response;
    for (q, exact_ms) in [(0.99, 900.0), (0.999, 990.0)] {
        let seen = response.quantile_ns(q).unwrap() as f64 / 1e6;
        assert!((seen - exact_ms).abs() / exact_ms < 0.05, "p{q}: {seen} ms, exact {exact_ms} ms");
    }
    let service = observations.stream_total(0).service.quantile_ns(0.99).unwrap();
    assert!(service < 1_000_000_000, "service time alone hides the wait: {service}");
}

/// Mean and 99th percentile of the response of 16 servers with one queue, so busy, in the time that one operation takes.
const THEORY: [(f64, f64, f64); 3] = [(0.5, 1.0011, 4.6065), (0.8, 1.0953, 4.7350), (0.95, 1.9752, 7.2166)];

/// Holds an open load on so many slots and servers, of which 16 are the fewer, against the theory.
fn is_one_queue(slots: u32, servers: u32) {
    for (busy, mean_ms, tail_ms) in THEORY {
        let mut script = script(Nanos::from_millis(1), servers);
        script.spread = units::Share(1.0);
        let load = Spec::Open { rate: PerSecond(busy * 16e3), arrivals: Arrivals::Poisson, slots };
        let streams = vec![stream(Storage::Block(blocks(1.0)), load)];
        let mut trial = trial(streams, Nanos::from_secs(if busy > 0.9 { 150 } else { 20 }));
        trial.phases.warm_up = Nanos::from_secs(1);
        let response = run(&mut open(Place::Scripted(script), 1), &trial).stream_total(0).response;
        let (mean, tail) = (response.mean_ns().unwrap() / 1e6, response.quantile_ns(0.99).unwrap() as f64 / 1e6);
        let words = format!("{busy}: mean {mean} of {mean_ms}, p99 {tail} of {tail_ms}");
        assert!((mean / mean_ms - 1.0).abs() < 0.03 && (tail / tail_ms - 1.0).abs() < 0.03, "{words}");
    }
}

#[test]
fn an_open_load_that_waits_for_a_slot_of_the_ring_has_the_mean_and_the_tail_of_one_queue() {
    is_one_queue(16, 64);
}

#[test]
fn an_open_load_that_waits_for_a_server_has_the_mean_and_the_tail_of_one_queue() {
    is_one_queue(512, 16);
}

#[test]
fn a_trial_run_twice_with_one_seed_gives_the_same_observations() {
    let once = || {
        let mut script = script(Nanos::from_micros(80), 4);
        script.spread = units::Share(1.0);
        let mut opened = open(Place::Scripted(script), 1);
        let load = Spec::Open { rate: PerSecond(30_000.0), arrivals: Arrivals::Poisson, slots: 256 };
        let streams = vec![stream(Storage::Block(blocks(0.7)), load), stream(Storage::Block(blocks(1.0)), closed(2))];
        let mut seen = run(&mut opened, &trial(streams, Nanos::from_secs(1)));
        seen.started_unix_ns = 0;
        seen
    };
    assert_eq!(once(), once());
}

#[test]
fn an_overload_is_censored_and_counted_to_the_last_arrival() {
    let mut opened = open(Place::Scripted(script(Nanos::from_millis(10), 1)), 1);
    let load = Spec::Open { rate: PerSecond(1_000.0), arrivals: Arrivals::Constant, slots: 8 };
    let mut trial = trial(vec![stream(Storage::Block(blocks(1.0)), load)], Nanos::from_secs(2));
    trial.phases.drain = Nanos::from_secs(1);
    let account = run(&mut opened, &trial).accounts[0];
    assert_eq!(account.planned, 2_000);
    assert!((295..=305).contains(&account.done), "100 a second for three seconds: {}", account.done);
    assert_eq!(account.done + account.censored, 2_000);
}

#[test]
fn failed_operations_are_counted_and_a_system_that_only_fails_is_gone() {
    let mut sometimes = script(Nanos::from_micros(100), 1);
    sometimes.fail_every = Some(10);
    let mut opened = open(Place::Scripted(sometimes), 1);
    let one = trial(vec![stream(Storage::Block(blocks(1.0)), closed(1))], Nanos::from_secs(1));
    let account = run(&mut opened, &one).accounts[0];
    assert!(account.closes() && account.failed * 9 <= account.done && account.failed > 900);
    let mut always = script(Nanos::from_micros(1), 1);
    always.fail_every = Some(1);
    let gone = try_run(&mut open(Place::Scripted(always), 1), &one);
    assert!(matches!(gone, Err(TrialError::Gone { .. })), "{gone:?}");
}

#[test]
fn file_work_on_a_script_takes_as_long_as_its_steps() {
    let mut opened = open(Place::Scripted(script(Nanos::from_millis(1), 4)), 1);
    let spec = files::Spec { width: 4, loops: 5, file: units::Bytes(1000), block: units::Bytes(1000), sync: false };
    let mut trial = trial(vec![stream(Storage::Files(spec), closed(4))], Nanos::from_secs(60));
    trial.phases.fixed_work = true;
    let observations = run(&mut opened, &trial);
    assert_eq!(observations.elapsed_s, Some(0.015));
    assert_eq!(observations.accounts[0].done, 60);
}

/// Fifteen steps of 10 ms end at 150 ms, where an interval of 50 ms ends too: the last four used to lie behind the window.
#[test]
fn fixed_work_that_ends_on_the_border_of_an_interval_counts_its_last_operations() {
    let mut opened = open(Place::Scripted(script(Nanos::from_millis(10), 4)), 1);
    let spec = files::Spec { width: 4, loops: 5, file: units::Bytes(1000), block: units::Bytes(1000), sync: false };
    let mut trial = trial(vec![stream(Storage::Files(spec), closed(4))], Nanos::from_secs(60));
    trial.phases.fixed_work = true;
    let observations = run(&mut opened, &trial);
    assert_eq!(observations.elapsed_s, Some(0.15));
    let intervals = observations.window.end.0 / observations.interval.0;
    let inside = observations.cells.iter().filter(|cell| u64::from(cell.key.interval) < intervals);
    assert_eq!(inside.map(|cell| cell.tally.done).sum::<u64>(), 60);
}
