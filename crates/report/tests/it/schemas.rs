//! Every JSON form against its committed schema, and the schemas against forms with something missing.

use crate::sample::{distinct, flash, house, quick, wide};
use jsonschema::Validator;
use observation::{Ceiling, Factor, Level};
use report::*;
use serde_json::{Value, json};

fn schema(text: &str) -> Validator {
    jsonschema::validator_for(&serde_json::from_str(text).expect("a schema is JSON")).expect("a schema compiles")
}

fn run_schema() -> Validator {
    schema(include_str!("../../../../docs/schema/run-1.json"))
}

fn assert_valid(validator: &Validator, value: &Value) {
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).take(5).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn every_run_fits_its_schema() {
    let validator = run_schema();
    for findings in [distinct(), quick(), flash(), wide(), house(), redacted(&distinct())] {
        assert_valid(&validator, &json(&findings));
    }
}

#[test]
fn a_run_without_any_of_its_keys_does_not_fit() {
    let validator = run_schema();
    let whole = json(&distinct());
    let places = [
        "",
        "/about",
        "/systems/0",
        "/trials/0",
        "/trials/0/response_ms",
        "/trials/0/generator_cpu_s",
        "/trials/0/classes/0",
        "/trials/0/machine",
        "/trials/0/server",
        "/trials/0/server/per_transaction",
        "/trials/0/server/counters_per_s/0",
        "/points/0",
        "/points/0/throughput_per_s",
        "/findings/0",
        "/findings/1",
        "/findings/2",
        "/findings/3",
        "/findings/4",
        "/findings/5",
        "/findings/6",
        "/findings/7",
        "/caveats/0",
    ];
    for place in places {
        let keys: Vec<String> = whole.pointer(place).unwrap().as_object().unwrap().keys().cloned().collect();
        for key in keys {
            let mut lacking = whole.clone();
            lacking.pointer_mut(place).unwrap().as_object_mut().unwrap().shift_remove(&key);
            assert!(!validator.is_valid(&lacking), "{place} without {key} fits");
        }
    }
}

#[test]
fn a_number_as_a_word_or_an_unknown_verdict_does_not_fit() {
    let validator = run_schema();
    for (place, wrong) in [
        ("/trials/0/throughput_per_s", json!("7100.5")),
        ("/trials/0/steady", json!("maybe")),
        ("/findings/0/verdict", json!("faster")),
        ("/findings/0/direction", json!("up")),
        ("/schema", json!("prony/run/2")),
    ] {
        let mut value = json(&distinct());
        *value.pointer_mut(place).unwrap() = wrong;
        assert!(!validator.is_valid(&value), "{place}");
    }
}

#[test]
fn the_listed_keys_of_a_comparison_are_all_there() {
    let value = json(&distinct());
    let listed = [
        "baseline",
        "system",
        "metric",
        "primary",
        "direction",
        "ratio",
        "low",
        "high",
        "n",
        "margin",
        "detectable",
        "interleaved",
        "adjusted",
        "verdict",
    ];
    let comparisons: Vec<&Value> =
        value["findings"].as_array().unwrap().iter().filter(|finding| finding["kind"] == "comparison").collect();
    assert_eq!(comparisons.len(), 2);
    for comparison in comparisons {
        listed.iter().for_each(|key| assert!(comparison.get(key).is_some(), "{key}"));
    }
}

#[test]
fn comparisons_fit_their_schema() {
    let validator = schema(include_str!("../../../../docs/schema/compare-1.json"));
    let value = compare_json(&distinct(), &["before", "after"]);
    assert_valid(&validator, &value);
    assert_eq!(value["findings"].as_array().map(Vec::len), Some(2), "only comparisons");
    assert_eq!(value["baseline"], "left");
    insta::assert_snapshot!("distinct-compare.json", format!("{value:#}"));
}

#[test]
fn the_ceiling_fits_its_schema() {
    let ceiling =
        Ceiling { null_operation_ns: 41.5, clock_read_ns: 9.25, lateness_p99_ns: 1240.5, open_rate_error_pct: 0.031 };
    let value = ceiling_json(&ceiling, &[]);
    assert_valid(&schema(include_str!("../../../../docs/schema/ceiling-1.json")), &value);
    assert_eq!(
        value.to_string(),
        r#"{"schema":"prony/ceiling/1","null_operation_ns":41.5,"clock_read_ns":9.25,"lateness_p99_ns":1240.5,"open_rate_error_pct":0.031}"#
    );
    let timed = TimedModel {
        path: "array".to_owned(),
        what: "I/Os a second".to_owned(),
        unit: "1/s".to_owned(),
        value: Some(2e6),
        aim: 1.5e6,
        reached: true,
    };
    let value = ceiling_json(&ceiling, &[timed]);
    assert_valid(&schema(include_str!("../../../../docs/schema/ceiling-1.json")), &value);
    assert_eq!(value["model"][0]["value"], 2e6);
}

#[test]
fn studies_checks_and_lists_fit_their_schemas() {
    let studies =
        studies_json(&[ListedStudy { name: "quick".into(), title: "A first look".into(), question: "What?".into() }]);
    assert_valid(&schema(include_str!("../../../../docs/schema/studies-1.json")), &studies);
    let problem =
        CheckProblem { line: Some(3), column: None, message: "no unit".into(), hints: vec!["write 4 KiB".into()] };
    let check = check_json(&CheckedStudy { study: "mine.toml".into(), problems: vec![problem] });
    assert_valid(&schema(include_str!("../../../../docs/schema/check-1.json")), &check);
    assert_eq!(check["ok"], false);
    let run = ListedRun {
        file: "a.prony".into(),
        run: Some("a".into()),
        study: Some("quick".into()),
        started_unix_ns: Some(7),
        systems: vec!["here".into()],
        trials: Some(3),
        finished: Some(true),
        tags: Vec::new(),
        problem: None,
    };
    let broken = ListedRun {
        file: "b.prony".into(),
        run: None,
        study: None,
        started_unix_ns: None,
        systems: Vec::new(),
        trials: None,
        finished: None,
        tags: Vec::new(),
        problem: Some("not a run".into()),
    };
    assert_valid(&schema(include_str!("../../../../docs/schema/list-1.json")), &list_json(&[run, broken]));
}

#[test]
fn a_plan_fits_its_schema_and_adds_up_its_bytes() {
    let factor = Factor { name: "transfer".into(), level: Level::Number { value: 4096.0, text: "4 KiB".into() } };
    let plan = plan_json(&PlanFacts {
        study: "flash".into(),
        seed: u64::MAX,
        trials: vec![PlannedTrial {
            index: 0,
            experiment: "curve".into(),
            system: "here".into(),
            streams: vec!["random-read".into()],
            factors: vec![factor],
            replicate: 1,
            block: 2,
            state: "as left".into(),
            estimated_s: 65.5,
        }],
        searches: vec![PlannedSearch { experiment: "rate".into(), text: "p99 under 1 ms".into(), trials_max: 12 }],
        estimated_s: 66.0,
        written: PlannedBytes { fill: 1, refill: 4000, precondition: 20, trials: 300 },
        detectable: None,
        notes: vec!["a note".into()],
    });
    assert_valid(&schema(include_str!("../../../../docs/schema/plan-1.json")), &plan);
    assert_eq!(plan["bytes_written"]["total"], 4321);
    assert_eq!(plan["seed"], u64::MAX);
}
