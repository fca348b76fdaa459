//! What a mirrored pair must do in virtual time: the closed form on the models that ship, and theory on round numbers.

mod outage;
mod resync;

use super::*;
use crate::asked::Values;
use crate::file::Description;
use crate::form::group_commit;
use crate::machine::{Ended, Machine, TRANSACTION};
use crate::rows::Row;
use crate::server::Log;
use resync::Apart as Law;
use units::Nanos;
use workload::happening::{Happening, Mishap};

/// What a closed load of so many jobs saw behind a warm-up.
struct Seen {
    rate_per_s: f64,
    /// Means of the nodes' transactions.
    response_s: [f64; 2],
    pair: Pair,
    ends: Vec<u64>,
}

fn run(plan: &PairPlan, jobs: u32, seed: u64, warm_s: f64, seconds: f64) -> Seen {
    run_through(plan, &[], jobs, seed, warm_s, seconds)
}

/// The same while things happen, each at a second from the beginning.
fn run_through(plan: &PairPlan, happens: &[(f64, Mishap)], jobs: u32, seed: u64, warm_s: f64, seconds: f64) -> Seen {
    let mut pair = Pair::new(plan.clone(), jobs, seed);
    for (at_s, what) in happens {
        assert!(pair.happen(Nanos::from_seconds(*at_s), Happening::Pair(*what)), "it knows {what:?}");
    }
    let mut since = vec![0u64; jobs as usize];
    (0..jobs).for_each(|slot| pair.submit(Nanos(0), slot, &TRANSACTION));
    let (mut ended, mut ends, mut sums, mut counts) = (Vec::<Ended>::new(), Vec::new(), [0u64; 2], [0u64; 2]);
    let at = |s: f64| Nanos((1e9 * s) as u64);
    for (to, counted) in [(at(warm_s), false), (at(warm_s + seconds), true)] {
        if counted {
            pair.clear();
        }
        while pair.advance(to, &mut ended) < to {
            for Ended { slot, at, .. } in ended.drain(..) {
                let node = if plan.mode == Mode::Active { slot as usize % 2 } else { 0 };
                if counted {
                    ends.push(at.0);
                    counts[node] += 1;
                    sums[node] += at.0 - since[slot as usize] - pair.outside(slot).0;
                }
                since[slot as usize] = at.0;
                pair.submit(at, slot, &TRANSACTION);
            }
        }
    }
    let mean = |node: usize| sums[node] as f64 / counts[node].max(1) as f64 / 1e9;
    Seen { rate_per_s: ends.len() as f64 / seconds, response_s: [mean(0), mean(1)], pair, ends }
}

/// Round numbers, none of them of a real pair.
fn plan() -> PairPlan {
    let resync = Resync {
        rows: 0,
        changes: 2.0,
        sends_per_s: 2_000.0,
        jobs: 16,
        row_bytes: 1_000,
        target_us: 20.0,
        tracking_us: 30.0,
    };
    PairPlan {
        mode: Mode::Passive,
        cores: [4.0, 4.0],
        background: 0.0,
        think_us: 10_000.0,
        demand_us: 500.0,
        inside_us: 1_000.0,
        disks: 0.0,
        source_us: 100.0,
        target_us: 100.0,
        delay_us: 400.0,
        trips: 4.0,
        conflicts: 0.0,
        km: 0.0,
        link_bytes_per_s: f64::INFINITY,
        trip_bytes: [0, 0],
        log: None,
        workers: 0,
        apart: false,
        patience: Nanos::from_millis(500),
        resync,
    }
}

fn close(found: f64, wanted: f64, share: f64, what: &str) {
    assert!((found / wanted - 1.0).abs() < share, "{what}: {found} against {wanted}");
}

fn shipped(name: &str) -> Description {
    let text = crate::models().iter().find(|shipped| shipped.name == name).expect("it ships").text;
    crate::file::read(name, text).unwrap_or_else(|problems| panic!("{problems}"))
}

/// A point of a model that ships, in both ways.
struct Point {
    model: &'static str,
    mode: Mode,
    cores: [f64; 2],
    jobs: u32,
    km: f64,
    disks: bool,
}

impl Point {
    fn row(&self, sets: f64) -> Row {
        let mode = match self.mode {
            Mode::Alone => "none",
            Mode::Passive => "active-passive",
            Mode::Active => "active-active",
        };
        let mut cells = vec![("mirroring", mode.to_owned()), ("distance_km", self.km.to_string())];
        cells.push(("media", if self.disks { "hdd" } else { "ssd" }.to_owned()));
        cells.push(("node1_cores", self.cores[0].to_string()));
        cells.push(("node1_job_sets", sets.to_string()));
        if self.mode != Mode::Alone {
            cells.push(("node2_cores", self.cores[1].to_string()));
        }
        if self.mode == Mode::Active {
            cells.push(("node2_job_sets", sets.to_string()));
        }
        Row { cells: cells.into_iter().map(|(column, cell)| (column.to_owned(), cell)).collect(), ..Row::default() }
    }

    /// Off by how much: throughput, response, and the processors of the source.
    fn off(&self, seconds: f64) -> [f64; 3] {
        let model = shipped(self.model);
        let numbers = model.numbers();
        let values = Values::new(model.kind.asks(), &numbers);
        let nodes = if self.mode == Mode::Active { 2.0 } else { 1.0 };
        let row = self.row(f64::from(self.jobs) / nodes / values.of("jobs_per_set"));
        let plan = PairPlan { km: self.km, ..PairPlan::of(&values, self.mode, self.cores) };
        let plan = if self.disks { plan.on_disks(&values) } else { plan };
        let mut seen = run(&plan, self.jobs, 7, 0.2 * seconds + 2.0 * plan.think_us / 1e6, seconds);
        assert!(seen.pair.little().abs() < 2e-3, "Little: {}", seen.pair.little());
        let law = |quantity| model.answer(&row, quantity).unwrap();
        let busy = 100.0 * seen.pair.busy(0);
        [
            seen.rate_per_s * values.of("counted_per_s") / law("throughput") - 1.0,
            1e3 * seen.response_s[0] / law("response") - 1.0,
            busy / law("source-cpu") - 1.0,
        ]
    }
}

#[test]
fn a_pair_is_its_closed_form_on_the_models_that_ship() {
    let point = |model, mode, cores, jobs| Point { model, mode, cores, jobs, km: 0.0, disks: false };
    for (point, seconds) in [
        (point("mirror-case2", Mode::Alone, [22.0, 11.0], 120), 10.0),
        (point("mirror-case2", Mode::Passive, [22.0, 11.0], 30), 20.0),
        (point("mirror-case2", Mode::Passive, [22.0, 11.0], 120), 10.0),
        (Point { km: 10.0, ..point("mirror-case2", Mode::Passive, [22.0, 11.0], 120) }, 10.0),
        (point("mirror-case3", Mode::Active, [32.0, 32.0], 200), 6.0),
        (point("mirror-case1", Mode::Alone, [2.0, 2.0], 32_000), 400.0),
        (Point { disks: true, ..point("mirror-case1", Mode::Alone, [2.0, 2.0], 32_000) }, 400.0),
    ] {
        let [rate, response, busy] = point.off(seconds);
        let what = format!("{} {:?} with {} jobs over {} km", point.model, point.mode, point.jobs, point.km);
        assert!(rate.abs() < 0.005 && busy.abs() < 0.005, "{what}: rate {rate}, processors {busy}");
        // Of cores that are no whole number the form takes a mean of the whole ones around.
        let most = if point.model == "mirror-case1" { 0.025 } else { 0.005 };
        assert!(response.abs() < most, "{what}: response {response}");
    }
}

#[test]
fn distance_adds_its_round_trips_and_nothing_else_when_nobody_waits() {
    let response = |km| run(&PairPlan { km, ..plan() }, 1, 1, 1.0, 400.0).response_s[0];
    // The same draws, so that only the way differs: four round trips of ten microseconds a kilometre.
    let near = response(0.0);
    for km in [1.0, 10.0, 100.0] {
        let added = response(km) - near;
        assert!((added - 4.0 * 2.0 * km * 5e-6).abs() < 0.02 * near, "{km} km add {added} s");
    }
    close(near, (500.0 + 1_000.0 + 100.0 + 100.0 + 400.0) / 1e6, 0.01, "response next to each other");
    let alone = PairPlan { mode: Mode::Alone, km: 100.0, ..plan() };
    close(run(&alone, 1, 1, 1.0, 400.0).response_s[0], 1.5e-3, 0.01, "there is no way to go");
}

#[test]
fn bytes_of_a_link_are_its_limit() {
    // Four round trips of 5,000 bytes: a hundred transactions a second fill two megabytes.
    let thin = PairPlan { link_bytes_per_s: 2e6, trip_bytes: [5_000, 100], ..plan() };
    let mut seen = run(&thin, 60, 1, 2.0, 40.0);
    close(seen.rate_per_s, 100.0, 0.01, "a full link");
    let reports = seen.pair.reports();
    let link = |name: &str| reports.iter().find(|report| report.name == name).unwrap().utilisation;
    assert!(link("node 0 link") > 0.99 && (link("node 1 link") - 0.02).abs() < 1e-3, "{reports:?}");
}

#[test]
fn the_log_of_the_target_commits_in_groups_as_its_law_says() {
    let log = Some(Log { write_us: 2_000.0, bytes_per_s: f64::INFINITY });
    let (with, without) = (PairPlan { log, think_us: 50_000.0, ..plan() }, PairPlan { think_us: 50_000.0, ..plan() });
    for jobs in [10, 100] {
        let (seen, bare) = (run(&with, jobs, 3, 2.0, 100.0), run(&without, jobs, 3, 2.0, 100.0));
        let wait = seen.response_s[0] - bare.response_s[0];
        let law = group_commit::wait_s(seen.rate_per_s, 2e-3);
        close(wait, law, 0.03, &format!("wait of {jobs} jobs"));
    }
}

#[test]
fn a_lock_of_the_other_node_makes_transactions_longer_by_its_share() {
    let both = PairPlan { mode: Mode::Active, target_us: 0.0, ..plan() };
    let response = |plan: PairPlan| run(&plan, 2, 1, 1.0, 300.0).response_s;
    let (free, locked) = (response(both.clone()), response(PairPlan { conflicts: 0.3, ..both }));
    for node in 0..2 {
        close(locked[node], 1.3 * free[node], 0.01, &format!("node {node}"));
    }
    let passive = response(PairPlan { conflicts: 0.3, target_us: 0.0, ..plan() });
    close(passive[0], free[0], 0.01, "nobody else changes data");
}

#[test]
fn a_suspended_pair_is_one_node_that_also_notes_what_changed() {
    let apart = run(&PairPlan { apart: true, km: 500.0, ..plan() }, 20, 1, 2.0, 100.0);
    let alone = PairPlan { mode: Mode::Alone, demand_us: 530.0, ..plan() };
    let one = run(&alone, 20, 1, 2.0, 100.0);
    assert_eq!(apart.ends, one.ends, "to the nanosecond, with what noting takes");
    close(apart.pair.waiting_rows() as f64, 2.0 * 1.02 * apart.ends.len() as f64, 0.01, "two rows a transaction");
}

#[test]
fn a_resync_ends_when_its_law_says() {
    let outage = [(10.0, Mishap::Suspend), (70.0, Mishap::Resume)];
    for rows in [0u32, 20_000] {
        let resync = Resync { rows, ..plan().resync };
        let plan = PairPlan { resync, ..plan() };
        let seen = run_through(&plan, &outage, 4, 2, 10.0, 140.0);
        let rate = run(&PairPlan { apart: true, ..plan }, 4, 2, 10.0, 60.0).rate_per_s;
        let set = if rows > 0 { f64::from(rows) } else { f64::INFINITY };
        let law = Law { changes_per_s: 2.0 * rate, rows: set, sends_per_s: 2_000.0 };
        let (found, wanted) = (seen.pair.resync_s().unwrap(), law.resync_s(60.0).unwrap());
        close(found, wanted, 0.03, &format!("resync over {rows} rows"));
        assert_eq!(seen.pair.waiting_rows(), 0);
    }
}

#[test]
fn resync_meets_transactions_at_the_link_and_both_nodes_of_a_pair_change_data_again_afterwards() {
    let outage = [(5.0, Mishap::Suspend), (25.0, Mishap::Resume)];
    let thin = PairPlan { mode: Mode::Active, link_bytes_per_s: 1e6, ..plan() };
    // A row of 1,000 bytes takes a millisecond of the link, so half of what the rule lets pass.
    let seen = run_through(&thin, &outage, 4, 2, 30.0, 60.0);
    let tracked = 20.0 * 2.0 * run(&PairPlan { apart: true, ..thin }, 4, 2, 5.0, 20.0).rate_per_s;
    let least = tracked / 1_000.0;
    let found = seen.pair.resync_s().unwrap();
    assert!(found > least && found < 3.0 * least, "{found} s for {tracked} rows");
    assert!(seen.response_s[1] > 0.0, "the second node goes on");
}

#[test]
fn littles_law_holds_to_a_thousandth() {
    for (mode, disks) in [(Mode::Alone, 0.0), (Mode::Passive, 2.5), (Mode::Active, 0.0)] {
        let seen = run(&PairPlan { mode, disks, ..plan() }, 40, 4, 5.0, 100.0);
        assert!(seen.pair.little().abs() < 1e-3, "{mode:?}: {}", seen.pair.little());
        let nodes = if mode == Mode::Active { [0.5, 0.5] } else { [1.0, 0.0] };
        let response = nodes[0] * seen.response_s[0] + nodes[1] * seen.response_s[1];
        close(seen.rate_per_s * (response + 10e-3), 40.0, 0.01, "jobs");
    }
}

#[test]
fn equal_seeds_give_equal_ends_and_others_do_not() {
    let outage = [(1.0, Mishap::Cut), (2.0, Mishap::Resume)];
    let plan = PairPlan { mode: Mode::Active, conflicts: 0.2, workers: 2, ..plan() };
    let ends = |seed| run_through(&plan, &outage, 12, seed, 0.5, 4.0).ends;
    assert_eq!(ends(1), ends(1));
    assert_ne!(ends(1), ends(2));
}
