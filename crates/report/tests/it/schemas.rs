//! Every JSON form against its committed schema, and the schemas against forms with something missing.

use crate::sample::{distinct, flash, house, quick, wide};
use jsonschema::Validator;
use observation::{Alone, Carrier, Ceiling, CeilingUnit, DriverCost, ModelCeiling};
use report::*;
use serde_json::{Value, json};
use study::{Problem, Study, Survey, plan};

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
    for findings in [distinct(), quick(), flash(), wide(), house()] {
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
        "/trials/0/generator",
        "/trials/0/generator/between_looks_ms",
        "/trials/0/generator/clock",
        "/trials/0/generator/rings",
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
        "/findings/8",
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
        ("/findings/3/verdict", json!("faster")),
        ("/findings/3/direction", json!("up")),
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
    let value = ceiling_json(&ceiling, None, &[]);
    assert_valid(&schema(include_str!("../../../../docs/schema/ceiling-1.json")), &value);
    assert_eq!(
        value.to_string(),
        r#"{"schema":"prony/ceiling/1","null_operation_ns":41.5,"clock_read_ns":9.25,"lateness_p99_ns":1240.5,"open_rate_error_pct":0.031}"#
    );
    let (path, what, unit) = ("array", "I/Os a second", CeilingUnit::PerSecond);
    let timed = ModelCeiling { path, what, unit, value: Some(2e6), aim: 1.5e6 };
    let cost = |time_ns: f64, cpu_ns: f64| DriverCost { time_ns, cpu_ns };
    let alone = Alone { ring: cost(80e3, 30e3), plain: cost(75e3, 31_500.0), taken: Carrier::Plain };
    let value = ceiling_json(&ceiling, Some(&alone), &[timed]);
    assert_valid(&schema(include_str!("../../../../docs/schema/ceiling-1.json")), &value);
    assert_eq!(value["model"][0]["value"], 2e6);
    assert_eq!(value["one_outstanding"]["pread"]["cpu_us"], 31.5);
}

#[test]
fn studies_checks_and_lists_fit_their_schemas() {
    let quick = Study::parse("quick", shipped("quick")).expect("it ships");
    assert_valid(&schema(include_str!("../../../../docs/schema/studies-1.json")), &studies_json(&[quick]));
    let problem = |source: &str, line, key: &str| Problem {
        source: source.into(),
        line,
        key: key.into(),
        message: "no unit".into(),
        hint: Some("write 4 KiB".into()),
        ..Problem::default()
    };
    let check = check_json("mine.toml", &[problem("mine.toml", Some(3), "size"), problem("--set size=4", None, "")]);
    assert_valid(&schema(include_str!("../../../../docs/schema/check-1.json")), &check);
    assert_eq!(check["ok"], false);
    assert_eq!(check["problems"][0]["message"], "`size`: no unit");
    assert_eq!(check["problems"][1]["message"], "--set size=4: no unit");
    let facts = distinct().run;
    let run = ListedRun { file: "a.prony".into(), content: Ok((&facts, 3)) };
    let broken = ListedRun { file: "b.prony".into(), content: Err("not a run".into()) };
    assert_valid(&schema(include_str!("../../../../docs/schema/list-1.json")), &list_json(&[run, broken]));
}

fn shipped(name: &str) -> &'static str {
    study::shipped().iter().find(|study| study.name == name).map_or("", |study| study.text)
}

#[test]
fn a_plan_fits_its_schema_and_adds_up_its_bytes() {
    for (name, part) in [("flash", "fill"), ("wide", "trials")] {
        let study = Study::parse(name, shipped(name)).expect("it ships");
        let plan = plan(&study, &Survey::default(), u64::MAX).expect("a plan");
        let plan = plan_json(&plan, |_| 65.5, &["a note".to_owned()]);
        assert_valid(&schema(include_str!("../../../../docs/schema/plan-1.json")), &plan);
        let bytes = |part: &str| plan["bytes_written"][part].as_u64().expect("a count");
        assert!(bytes(part) > 0, "{}", plan["bytes_written"]);
        assert_eq!(["fill", "refill", "precondition", "trials"].map(bytes).iter().sum::<u64>(), bytes("total"));
        assert_eq!((&plan["seed"], &plan["trials"][0]["estimated_s"]), (&json!(u64::MAX), &json!(65.5)));
    }
}
