//! What a mirrored pair must do, with round numbers of no real machine.

use super::*;
use crate::kind::ModelKind;

/// In the order of the parameters.
const NUMBERS: [f64; 27] = [
    1.0, 1.0, 0.5, 0.8, 0.1, 2.0, 8.0, 0.1, 0.1, 0.15, 1.0, 6.0, 1.5, 0.1, 1.0, // of every file
    0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, // and those that have a default
    0.0, 0.0, 100.0, 0.0, 0.0,
];

fn row(cells: &str) -> Row {
    let pairs = cells.split(' ').filter_map(|cell| cell.split_once('='));
    Row { cells: pairs.map(|(column, cell)| (column.to_owned(), cell.to_owned())).collect(), ..Row::default() }
}

fn ask(cells: &str, quantity: &str) -> Result<f64, Unanswered> {
    assert_eq!(ASKS.len(), NUMBERS.len());
    ModelKind::MirroredPair.answer(&Values::new(ASKS, &NUMBERS), &row(cells), quantity)
}

fn told(cells: &str, quantity: &str) -> f64 {
    ask(cells, quantity).unwrap_or_else(|reason| panic!("{cells}: {reason}"))
}

const PASSIVE: &str = "mirroring=active-passive source_cores=16 target_cores=8 job_sets=60";
const ACTIVE: &str = "mirroring=active-active node1_cores=16 node2_cores=16 node1_job_sets=60 node2_job_sets=60";

#[test]
fn mirroring_costs_throughput_and_response_and_processors_on_both_sides() {
    let alone = "mirroring=none source_cores=16 job_sets=60";
    assert!(told(PASSIVE, "throughput") < told(alone, "throughput"));
    assert!(told(PASSIVE, "response") > told(alone, "response"));
    let each = |cells: &str, side: &str| told(cells, side) / told(cells, "throughput");
    assert!(each(PASSIVE, "source-cpu") > each(alone, "source-cpu"));
    assert!(told(PASSIVE, "target-cpu") > 1.0);
    assert_eq!(ask(alone, "target-cpu"), Err(Unanswered::Missing("target_cores".to_owned())));
}

#[test]
fn every_kilometre_adds_ten_microseconds_a_round_trip() {
    let at = |km: u32, quantity| told(&format!("{PASSIVE} distance_km={km}"), quantity);
    let mut before = (f64::INFINITY, 0.0);
    for km in [0, 1, 10, 50, 200, 1_000] {
        let now = (at(km, "throughput"), at(km, "response"));
        assert!(now.0 < before.0 && now.1 > before.1, "{km} km: {now:?} after {before:?}");
        before = now;
    }
    // A single job waits for nobody: six round trips of 1 ms each.
    let lonely = |km| {
        told(
            &format!("mirroring=active-passive source_cores=16 target_cores=8 job_sets=1 distance_km={km}"),
            "response",
        )
    };
    assert!((lonely(100) - lonely(0) - 6.0).abs() < 1e-2, "{} and {}", lonely(0), lonely(100));
    let alone = "mirroring=none source_cores=16 job_sets=60";
    assert_eq!(told(alone, "response"), told(&format!("{alone} distance_km=50"), "response"), "there is no way to go");
}

#[test]
fn a_full_target_holds_the_source_to_what_it_carries() {
    let with = |cores: f64| format!("mirroring=active-passive source_cores=16 target_cores={cores} job_sets=60");
    for cores in [0.2, 0.5, 1.0] {
        let rate = told(&with(cores), "throughput");
        assert!(rate * 0.15e-3 <= cores, "{cores} cores carry {rate}");
        let round_s = 60.0 / rate;
        assert!((told(&with(cores), "response") / 1e3 + 1e-3 - round_s).abs() < 1e-6 * round_s, "Little's law");
    }
    assert!(told(&with(0.5), "throughput") < 0.9 * told(&with(8.0), "throughput"));
    assert!((told(&with(64.0), "throughput") / told(&with(32.0), "throughput") - 1.0).abs() < 1e-3);
}

#[test]
fn a_target_without_cores_and_a_word_that_nobody_knows_are_refused() {
    let none = ask("mirroring=active-passive source_cores=16 target_cores=0 job_sets=60", "throughput");
    assert_eq!(none, Err(Unanswered::Missing("target_cores".to_owned())));
    let odd = ask("mirroring=sometimes source_cores=16 job_sets=60", "throughput").unwrap_err().to_string();
    assert_eq!(odd, "the column `mirroring` holds `sometimes`; known: `none`, `active-passive` or `active-active`");
    let idle = ask("mirroring=none node1_cores=16", "throughput");
    assert_eq!(idle, Err(Unanswered::Missing("node1_job_sets".to_owned())));
}

#[test]
fn alike_nodes_of_an_active_pair_do_alike() {
    assert!((told(ACTIVE, "response") / told(ACTIVE, "second-response") - 1.0).abs() < 1e-9);
    assert!((told(ACTIVE, "source-cpu") / told(ACTIVE, "target-cpu") - 1.0).abs() < 1e-9);
    let one = told("mirroring=none node1_cores=16 node1_job_sets=60", "throughput");
    let both = told(ACTIVE, "throughput");
    assert!(both > one && both < 2.0 * one, "{both} against {one} of one node");
}

#[test]
fn what_a_row_leaves_out_of_an_active_pair_is_as_on_the_first_node() {
    let short = "mirroring=active-active node1_cores=16 node1_job_sets=60";
    for quantity in ["throughput", "response", "second-response", "target-cpu"] {
        assert_eq!(told(short, quantity), told(ACTIVE, quantity), "{quantity}");
    }
    let passive = "mirroring=active-passive node1_cores=16 node1_job_sets=60";
    assert_eq!(ask(passive, "second-response"), Err(Unanswered::Missing("node2_job_sets".to_owned())));
    assert!(told(passive, "target-cpu") > 1.0);
}

#[test]
fn memory_that_is_stated_moves_what_storage_takes_and_disks_take_longer() {
    assert!(told(&format!("{PASSIVE} memory_pools=4"), "response") > told(PASSIVE, "response"));
    assert!(told(&format!("{PASSIVE} media=hdd"), "response") > told(PASSIVE, "response"));
}

/// The same with some of its numbers changed.
fn changed(changes: &[(&str, f64)], cells: &str, quantity: &str) -> Result<f64, Unanswered> {
    let mut numbers = NUMBERS;
    for (name, value) in changes {
        numbers[ASKS.iter().position(|asked| asked.name == *name).unwrap()] = *value;
    }
    ModelKind::MirroredPair.answer(&Values::new(ASKS, &numbers), &row(cells), quantity)
}

#[test]
fn a_question_that_states_no_cores_is_about_the_pair_of_the_file() {
    let same = |changes: &[(&str, f64)], threads: u32, cells: &str| {
        for quantity in ["throughput", "response"] {
            let found = changed(changes, &format!("threads={threads}"), quantity).unwrap();
            assert_eq!(found, told(cells, quantity), "{changes:?} {quantity}");
        }
    };
    let cores = ("source_cores", 16.0);
    same(&[cores], 60, "mirroring=active-passive node1_cores=16 node2_cores=16 node1_job_sets=60");
    same(&[cores, ("target_cores", 8.0)], 60, PASSIVE);
    same(&[cores, ("mirroring", 0.0)], 60, "mirroring=none source_cores=16 job_sets=60");
    same(&[cores, ("mirroring", 2.0)], 120, ACTIVE);
    same(&[cores, ("distance", 50.0), ("target_cores", 8.0)], 60, &format!("{PASSIVE} distance_km=50"));
    same(&[cores, ("suspended", 1.0)], 60, "mirroring=none source_cores=16 job_sets=60");
    let noted = changed(&[cores, ("suspended", 1.0), ("tracking", 0.1)], "threads=60", "throughput").unwrap();
    assert!(noted < told("mirroring=none source_cores=16 job_sets=60", "throughput"));
    let none = changed(&[], "threads=60", "throughput").unwrap_err().to_string();
    assert!(none.contains("job_sets"), "{none}");
}
