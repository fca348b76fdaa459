//! Every shipped study, checked and planned.

use crate::text;
use std::any::Any;
use study::{Occasion, Overrides, Study, Survey, plan, shipped};
use units::{Bytes, Nanos};
use workload::rows;

fn study(name: &str) -> Study {
    let shipped = shipped().iter().find(|shipped| shipped.name == name).unwrap();
    Study::parse(shipped.name, shipped.text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn changed(name: &str, on: &[&str], set: &[&str], only: &[&str]) -> Study {
    let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    let overrides = Overrides { targets: owned(on), settings: owned(set), only: owned(only), ..Overrides::default() };
    study(name).with(&overrides).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn quick_is_planned_as_written() {
    insta::assert_snapshot!(text::of(&plan(&study("quick"), &Survey::default(), 1).unwrap()));
}

#[test]
fn a_study_of_storage_and_databases_can_be_cut_down_to_one_of_them() {
    for (only, count) in [("random write", 2), ("transactions", 2)] {
        let plan = plan(&changed("quick", &[], &[], &[only]), &Survey::default(), 1).unwrap();
        assert_eq!(plan.trials.len(), count, "{only}");
    }
    let misplaced = plan(&changed("brokerage", &["/mnt/a"], &[], &[]), &Survey::default(), 1).unwrap_err();
    assert!(misplaced.to_string().contains("no experiment of the study can run on it: transactions"), "{misplaced}");
}

#[test]
fn brokerage_compare_pairs_two_databases() {
    let study = changed("brokerage-compare", &["sqlite:", "local:postgres"], &["replicates=4"], &[]);
    insta::assert_snapshot!(text::of(&plan(&study, &Survey::default(), 1).unwrap()));
}

#[test]
fn batch_update_is_planned_as_written_and_says_what_an_operation_is() {
    let plan = plan(&study("batch-update"), &Survey::default(), 1).unwrap();
    assert!(
        plan.trials
            .iter()
            .any(|trial| trial.label.streams[0].load == "1 row of 200 B a transaction; closed, 8 sessions")
    );
    insta::assert_snapshot!(text::of(&plan));
}

#[test]
fn copy_is_planned_as_written_over_tables_for_its_largest_trial() {
    let plan = plan(&study("copy"), &Survey::default(), 1).unwrap();
    let by_jobs = plan.trials.iter().filter(|trial| trial.label.experiment == "speed by jobs");
    let jobs: Vec<u32> = by_jobs
        .map(|trial| {
            let (asked, _) = trial.streams[0].transactions().unwrap();
            (asked as &dyn Any).downcast_ref::<rows::Spec>().unwrap().jobs
        })
        .collect();
    assert_eq!(jobs, [4, 4, 4]);
    insta::assert_snapshot!(text::of(&plan));
}

#[test]
fn a_banks_day_and_night_are_planned_as_written() {
    for name in ["bank-day", "bank-night", "bank-overrun"] {
        insta::assert_snapshot!(name, text::of(&plan(&study(name), &Survey::default(), 1).unwrap()));
    }
}

#[test]
fn flash_is_planned_as_written() {
    insta::assert_snapshot!(text::of(&plan(&study("flash"), &Survey::default(), 1).unwrap()));
}

#[test]
fn wide_is_planned_as_written() {
    insta::assert_snapshot!(text::of(&plan(&study("wide"), &Survey::default(), 1).unwrap()));
}

#[test]
fn flash_can_be_made_small_for_a_test() {
    let set = ["size=256MiB", "modules=1,2", "measure=2s"];
    let study = changed("flash", &["file:/tmp/a"], &set, &["random-read"]);
    insta::assert_snapshot!(text::of(&plan(&study, &Survey::default(), 1).unwrap()));
}

#[test]
fn wide_pairs_two_systems() {
    let study = changed("wide", &["/mnt/a", "/mnt/b"], &["width=1,2,4", "replicates=4"], &[]);
    insta::assert_snapshot!(text::of(&plan(&study, &Survey::default(), 1).unwrap()));
}

#[test]
fn flash_runs_on_null_and_the_long_window_is_switched_on_by_its_parameter() {
    let study = changed("flash", &["null:"], &["measure=1s", "sustained=1h"], &[]);
    let plan = plan(&study, &Survey::default(), 1).unwrap();
    let long: Vec<_> = plan.trials.iter().filter(|trial| trial.label.experiment == "sustained").collect();
    assert_eq!(long.len(), 3);
    assert!(long.iter().all(|trial| trial.phases.measure == Nanos::from_secs(3600)));
    let other = plan.trials.iter().filter(|trial| trial.label.experiment != "sustained");
    assert!(other.clone().count() > 60 && other.clone().all(|trial| trial.phases.measure == Nanos::from_secs(1)));
}

#[test]
fn flash_fills_each_of_its_files_once_whatever_the_order_of_its_trials() {
    for seed in 1..=8 {
        let plan = plan(&study("flash"), &Survey::default(), seed).unwrap();
        let fills = plan.written().into_iter().filter(|written| written.occasion == Occasion::Fill);
        assert_eq!(fills.map(|written| written.bytes()).collect::<Vec<_>>(), [Bytes::gib(16)], "seed {seed}");
        assert_eq!(plan.occupied(), [("target".to_owned(), Bytes::gib(16))]);
    }
}

#[test]
fn quick_takes_about_a_minute_and_writes_less_than_two_gibibytes() {
    let plan = plan(&study("quick"), &Survey::default(), 1).unwrap();
    assert!(plan.estimated().certain < Nanos::from_secs(60), "{:?}", plan.estimated());
    let written: u64 = plan.written().iter().map(|written| written.bytes().0).sum();
    assert!(written <= Bytes::gib(2).0, "{written}");
    assert!(plan.written().iter().all(|w| !matches!(w.amount, study::Amount::AsFastAsItGoes { .. })));
    assert!(plan.written().iter().any(|w| w.occasion == Occasion::Fill));
}

#[test]
fn every_shipped_study_says_what_it_asks() {
    for shipped in shipped() {
        let study = study(shipped.name);
        assert!(!study.title.is_empty() && study.question.ends_with('?'), "{}", shipped.name);
        assert!(study.judgement().primary.is_some(), "{}", shipped.name);
        assert!(study.experiments().all(|name| study.question_of(name).is_some()), "{}", shipped.name);
    }
}
