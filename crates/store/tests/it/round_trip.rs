//! What goes in comes out, however it was handed over, and nothing is lost on the way through an interruption.

use crate::arbitrary::{cells, facts, label, observations, plain_cell, plain_facts, plain_label, plain_rest, whole};
use observation::{CellSource, Check, Ledger, Observations, RunFacts};
use proptest::prelude::*;
use std::path::PathBuf;
use store::{Reserve, RunFile, StoreError, TrialState};
use tempfile::TempDir;

const RESERVE: u64 = 64 << 10;

fn place() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.prony");
    (dir, path)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn any_observations_are_read_back_as_they_were(facts in facts(), label in label(), all in observations(),
                                                   split: proptest::sample::Index, finished: bool) {
        let (_dir, path) = place();
        let mut file = RunFile::create(&path, &facts, RESERVE).unwrap();
        file.begin_trial(&label, &all).unwrap();
        let (early, late) = all.cells.split_at(split.index(all.cells.len() + 1));
        file.append_interval(label.index, early, &all.series).unwrap();
        let rest = Observations { cells: late.to_vec(), series: Vec::new(), ..all.clone() };
        file.finish_trial(label.index, &rest).unwrap();
        if finished {
            file.close().unwrap();
        } else {
            drop(file);
        }
        let file = RunFile::open(&path).unwrap();
        prop_assert_eq!(file.facts().unwrap(), facts);
        let mut expected = all;
        expected.cells.sort_by_key(|cell| cell.key.interval);
        prop_assert_eq!(whole(&file, label.index), expected);
        let trials = file.trials().unwrap();
        prop_assert_eq!(trials.len(), 1);
        prop_assert_eq!(&trials[0].label, &label);
        prop_assert_eq!(trials[0].state, TrialState::Finished);
    }
}

#[test]
fn intervals_are_walked_in_order_as_often_as_asked_however_late_their_cells_came() {
    let (_dir, path) = place();
    let mut file = RunFile::create(&path, &plain_facts(), RESERVE).unwrap();
    let rest = plain_rest(4);
    for index in 0..2 {
        file.begin_trial(&plain_label(index), &rest).unwrap();
        file.append_interval(index, &[plain_cell(0), plain_cell(3)], &rest.series).unwrap();
        file.append_interval(index, &[plain_cell(1), plain_cell(0)], &rest.series).unwrap();
        file.append_interval(index, &[], &[]).unwrap();
        file.finish_trial(index, &Observations { series: Vec::new(), ..rest.clone() }).unwrap();
    }
    let cells = file.cells(1).unwrap();
    for _ in 0..2 {
        let mut walked = Vec::new();
        cells.each(&mut |cell| walked.push(cell.clone())).unwrap();
        assert_eq!(walked, [0, 0, 1, 3].map(plain_cell));
    }
    let seen = file.observations(1).unwrap();
    let points = [rest.series[0].points.clone(), rest.series[0].points.clone()].concat();
    assert_eq!((seen.cells.len(), seen.series.len(), &seen.series[0].points), (0, 1, &points));
    assert!(matches!(file.cells(2), Err(StoreError::NoTrial { .. })));
}

#[test]
fn a_closed_run_is_one_file_without_the_reserve() {
    let (dir, path) = place();
    let mut file = RunFile::create(&path, &plain_facts(), 8 << 20).unwrap();
    let during = std::fs::metadata(&path).unwrap().len();
    assert!(during > 8 << 20, "{during} bytes do not hold the reserve");
    file.begin_trial(&plain_label(0), &plain_rest(4)).unwrap();
    file.append_interval(0, &[plain_cell(0), plain_cell(1)], &[]).unwrap();
    file.finish_trial(0, &plain_rest(4)).unwrap();
    file.set_finished().unwrap();
    file.close().unwrap();
    let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["run.prony"]);
    let after = std::fs::metadata(&path).unwrap().len();
    assert!(after < 256 << 10, "{after} bytes are left");
}

#[test]
fn an_existing_file_is_never_overwritten_and_the_error_names_it() {
    let (_dir, path) = place();
    std::fs::write(&path, "precious").unwrap();
    let error = RunFile::create(&path, &plain_facts(), RESERVE).unwrap_err();
    assert!(error.to_string().contains("run.prony` exists already"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
}

#[test]
fn a_run_in_progress_is_read_as_it_stands_and_resumed_by_nobody() {
    let (_dir, path) = place();
    let mut file = RunFile::create(&path, &plain_facts(), RESERVE).unwrap();
    file.begin_trial(&plain_label(0), &plain_rest(4)).unwrap();
    file.append_interval(0, &[plain_cell(1)], &[]).unwrap();
    file.finish_trial(0, &plain_rest(4)).unwrap();
    file.begin_trial(&plain_label(1), &plain_rest(4)).unwrap();
    file.append_interval(1, &[plain_cell(1)], &[]).unwrap();
    assert!(matches!(RunFile::resume(&path, RESERVE), Err(StoreError::InUse { .. })));
    let read = RunFile::open(&path).unwrap();
    let trials: Vec<u32> = read.trials().unwrap().iter().map(|trial| trial.label.index).collect();
    assert_eq!((trials, read.facts().unwrap().running), (vec![0], true));
    drop((read, file));
    let after = RunFile::open(&path).unwrap();
    assert_eq!((after.trials().unwrap().len(), after.facts().unwrap().running), (2, false));
}

#[test]
fn an_interrupted_trial_is_kept_and_run_again() {
    let (_dir, path) = place();
    let mut file = RunFile::create(&path, &plain_facts(), RESERVE).unwrap();
    file.begin_trial(&plain_label(0), &plain_rest(4)).unwrap();
    file.append_interval(0, &[plain_cell(0), plain_cell(1)], &[]).unwrap();
    drop(file);
    assert_eq!(RunFile::open(&path).unwrap().trials().unwrap()[0].state, TrialState::Interrupted);

    let mut file = RunFile::resume(&path, RESERVE).unwrap();
    file.begin_trial(&plain_label(0), &plain_rest(4)).unwrap();
    file.append_interval(0, &[plain_cell(7)], &[]).unwrap();
    file.finish_trial(0, &plain_rest(4)).unwrap();
    assert_eq!(cells(file.cells(0)), [plain_cell(7)]);
    assert_eq!(cells(file.cells_of_attempt(0, 0)), [plain_cell(0), plain_cell(1)]);
    let trials = file.trials().unwrap();
    assert_eq!((trials.len(), trials[0].attempts, trials[0].state), (1, 2, TrialState::Finished));
}

#[test]
fn what_checks_found_in_an_attempt_outlasts_the_next_one_and_so_does_its_ledger() {
    let (_dir, path) = place();
    let check = |found: &str| Check { found: found.into(), name: "ledger".into(), ..Check::default() };
    let ledger = |value: i64| Ledger {
        counts: [("acknowledged".to_owned(), value)].into(),
        pages: [(7, vec![1, 2, 3]), (u64::MAX, vec![4])].into(),
    };
    let mut file = RunFile::create(&path, &plain_facts(), RESERVE).unwrap();
    file.begin_trial(&plain_label(0), &plain_rest(4)).unwrap();
    file.set_ledger(0, &ledger(1)).unwrap();
    file.append_checks(0, &[check("one is missing")]).unwrap();
    file.discard_trial(0).unwrap();
    file.begin_trial(&plain_label(0), &plain_rest(4)).unwrap();
    assert_eq!(file.ledgers(0).unwrap(), [ledger(1)]);
    file.set_ledger(0, &ledger(2)).unwrap();
    file.append_checks(0, &[check("all are there")]).unwrap();
    file.finish_trial(0, &plain_rest(4)).unwrap();
    assert_eq!((file.ledgers(0).unwrap(), file.ledgers(1).unwrap()), (vec![ledger(1), ledger(2)], vec![]));
    let told = file.checks().unwrap();
    let told: Vec<_> = told.iter().map(|told| (told.trial, told.attempt, told.check.found.as_str())).collect();
    assert_eq!(told, [(0, 0, "one is missing"), (0, 1, "all are there")]);
}

#[test]
fn a_discarded_trial_keeps_its_cells_and_may_be_begun_again() {
    let (_dir, path) = place();
    let mut file = RunFile::create(&path, &plain_facts(), RESERVE).unwrap();
    file.begin_trial(&plain_label(3), &plain_rest(4)).unwrap();
    file.append_interval(3, &[plain_cell(0)], &[]).unwrap();
    file.discard_trial(3).unwrap();
    assert_eq!(file.trials().unwrap()[0].state, TrialState::Interrupted);
    assert_eq!(cells(file.cells(3)), [plain_cell(0)]);
    file.begin_trial(&plain_label(3), &plain_rest(4)).unwrap();
}

#[test]
fn a_trial_is_written_only_between_its_beginning_and_its_end() {
    let (_dir, path) = place();
    let mut file = RunFile::create(&path, &plain_facts(), RESERVE).unwrap();
    assert!(matches!(file.append_interval(0, &[plain_cell(0)], &[]), Err(StoreError::WrongState(_, 0, _))));
    file.begin_trial(&plain_label(0), &Observations::default()).unwrap();
    assert!(matches!(file.begin_trial(&plain_label(1), &Observations::default()), Err(StoreError::WrongState { .. })));
    file.finish_trial(0, &plain_rest(2)).unwrap();
    assert!(matches!(file.begin_trial(&plain_label(0), &Observations::default()), Err(StoreError::WrongState { .. })));
    assert!(matches!(file.observations(9), Err(StoreError::NoTrial(_, 9))));
}

#[test]
fn a_finished_run_has_nothing_to_resume() {
    let (_dir, path) = place();
    let mut file = RunFile::create(&path, &plain_facts(), RESERVE).unwrap();
    file.set_finished().unwrap();
    file.close().unwrap();
    assert!(matches!(RunFile::resume(&path, RESERVE), Err(StoreError::Finished { .. })));
}

#[test]
fn a_file_that_nobody_closed_gives_its_reserve_back_and_keeps_what_was_acknowledged() {
    let (dir, path) = place();
    let mut file = RunFile::create(&path, &plain_facts(), Reserve { file: 8 << 20, log: 4 << 20 }).unwrap();
    file.begin_trial(&plain_label(0), &plain_rest(4)).unwrap();
    file.append_interval(0, &[plain_cell(0)], &[]).unwrap();
    // What a killed process leaves: both files as they are.
    let left = dir.path().join("left.prony");
    for ending in ["", "-wal"] {
        let from = dir.path().join(format!("run.prony{ending}"));
        std::fs::copy(from, dir.path().join(format!("left.prony{ending}"))).unwrap();
    }
    let log = std::fs::metadata(dir.path().join("run.prony-wal")).unwrap().len();
    assert!((4 << 20..6 << 20).contains(&log), "a log of {log} bytes was asked for as 4 MiB");
    assert_eq!(RunFile::give_back(&path).unwrap(), None, "its run goes on");
    let given = RunFile::give_back(&left).unwrap().unwrap();
    assert!(given > 11 << 20, "{given}");
    assert!(std::fs::metadata(&left).unwrap().len() < 1 << 20);
    assert_eq!(cells(RunFile::open(&left).unwrap().cells_of_attempt(0, 0)), [plain_cell(0)]);
    assert_eq!(RunFile::give_back(&left).unwrap(), None, "it was closed");
    RunFile::resume(&left, 4096).unwrap().close().unwrap();
}

/// The reserve is written in pieces that are larger than a small file.
#[test]
fn a_short_run_is_resumed_with_a_large_reserve() {
    let (_dir, path) = place();
    RunFile::create(&path, &plain_facts(), 4096).unwrap().close().unwrap();
    let file = RunFile::resume(&path, 24 << 20).unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() > 24 << 20);
    file.close().unwrap();
}

#[test]
fn tags_and_note_change_and_everything_else_stays() {
    let (_dir, path) = place();
    RunFile::create(&path, &plain_facts(), RESERVE).unwrap().close().unwrap();
    let mut file = RunFile::open_for_notes(&path).unwrap();
    file.set_tags(&["second".into()]).unwrap();
    file.set_note("looked at again").unwrap();
    file.close().unwrap();
    let expected = RunFacts { tags: vec!["second".into()], note: "looked at again".into(), ..plain_facts() };
    assert_eq!(RunFile::open(&path).unwrap().facts().unwrap(), expected);
}

#[test]
fn a_file_opened_for_reading_is_not_written() {
    let (_dir, path) = place();
    RunFile::create(&path, &plain_facts(), RESERVE).unwrap().close().unwrap();
    let before = std::fs::read(&path).unwrap();
    let mut file = RunFile::open(&path).unwrap();
    assert!(matches!(file.set_note("no"), Err(StoreError::ReadOnly { .. })));
    file.close().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn people_can_read_the_rates_of_a_trial_with_plain_sql() {
    let (_dir, path) = place();
    let mut file = RunFile::create(&path, &plain_facts(), RESERVE).unwrap();
    file.begin_trial(&plain_label(0), &plain_rest(4)).unwrap();
    let cells: Vec<_> = (0..4).map(plain_cell).collect();
    file.append_interval(0, &cells, &[]).unwrap();
    file.finish_trial(0, &plain_rest(4)).unwrap();
    file.close().unwrap();
    let reader = rusqlite::Connection::open(&path).unwrap();
    let summary: (String, f64, f64, String) = reader
        .query_row("SELECT factors, throughput_per_s, response_max_ms, started_utc FROM trial_summary", (), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .unwrap();
    // Three intervals of one second lie in the window, each with 20 completions.
    assert_eq!(summary, ("transfer=4 KiB, cache=cold".into(), 20.0, 0.400004, "2026-11-21 21:30:00".into()));
    let intervals: i64 = reader.query_row("SELECT count(*) FROM interval_summary", (), |row| row.get(0)).unwrap();
    let probes: f64 = reader.query_row("SELECT value_mean FROM probe_summary", (), |row| row.get(0)).unwrap();
    assert_eq!((intervals, probes), (4, 0.25));
    let explained: i64 = reader.query_row("SELECT count(*) FROM about", (), |row| row.get(0)).unwrap();
    assert!(explained > 10);
}

#[test]
fn while_a_trial_is_measured_only_the_log_is_written() {
    let (_dir, path) = place();
    let mut file = RunFile::create(&path, &plain_facts(), RESERVE).unwrap();
    file.begin_trial(&plain_label(0), &plain_rest(4)).unwrap();
    let before = std::fs::read(&path).unwrap();
    // More pages than the thousand after which the database folds its log in when nobody tells it not to.
    for interval in 0..600 {
        file.append_interval(0, &[plain_cell(interval)], &[]).unwrap();
    }
    assert!(std::fs::read(&path).unwrap() == before, "the file itself was written during the trial");
    file.finish_trial(0, &plain_rest(4)).unwrap();
    assert!(std::fs::read(&path).unwrap() != before, "the log was not folded in after the trial");
}
