//! Models through the whole program: fitted, asked, judged, and refused where they make no sense.

use crate::program::Program;
use crate::schema::hold;
use serde_json::Value;
use std::path::Path;

fn rows(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/rows/{name}.csv")).display().to_string()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number, got {value}"))
}

#[test]
fn rows_that_a_model_was_fitted_on_are_shown_and_never_counted() {
    let judged = Program::new().json(&format!("judge f5100 {} --json", rows("flash_service_time")));
    hold(&judged);
    let all = judged["rows"].as_array().expect("rows");
    assert!(!all.is_empty() && all.iter().all(|row| row["role"] == "calibration"), "{judged:#}");
    assert!(judged["summary"].as_array().expect("a summary").iter().all(|column| column["judged"] == 0));
}

#[test]
fn a_table_that_the_model_never_saw_is_judged_by_its_columns() {
    let program = Program::new();
    program.write(
        "seen.csv",
        "row_id,config_id,customers,threads,throughput_tps,response_ms\nnew,s000-s824-fs840,6000,64,9500,6.7\n",
    );
    let judged = program.json("judge s824-fs840 seen.csv --json");
    hold(&judged);
    let row = &judged["rows"][0];
    assert_eq!((&row["role"], &row["row_id"]), (&Value::from("judged"), &Value::from("new")));
    assert!(number(&row["low"]) < number(&row["predicted"]) && number(&row["predicted"]) < number(&row["high"]));
    let error = 100.0 * (number(&row["predicted"]) / 9_500.0 - 1.0);
    assert!((number(&row["error_pct"]) - error).abs() < 1e-9);
    assert!(row["baselines"]["linear"]["predicted"].is_number() && row["baselines"]["usl"]["predicted"].is_number());
    assert_eq!(judged["summary"][0]["judged"], 1);
    let text = program.fine("judge s824-fs840 seen.csv");
    assert!(text.contains("throughput_tps: 1 row judged") && text.contains("cannot separate"), "{text}");
    let refused = program.refused(&format!("judge f5100 {}", rows("mirror_case2")));
    assert!(refused.contains("answers no table with the columns"), "{refused}");
}

#[test]
fn published_and_predicted_points_are_drawn_apart_on_a_page_that_is_never_written_over() {
    let program = Program::new();
    let line = format!("judge s824-fs840 {} --html page.html", rows("brokerage_flash_threads"));
    program.fine(&line);
    let page = std::fs::read_to_string(program.path("page.html")).expect("the page");
    for words in ["customers 6000: model", "customers 6000: published, fitted on", "none says how wrong it is"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(page.contains("class=\"mark simulated\"") && page.contains("class=\"mark published\""));
    assert!(program.refused(&line).contains("writing `page.html`"));
}

#[test]
fn a_model_is_fitted_again_from_its_rows_and_files_are_kept() {
    let program = Program::new();
    let line = format!("calibrate power770-san {} -o fitted.toml", rows("brokerage_san_threads"));
    let fitted = program.json(&format!("{line} --json"));
    hold(&fitted);
    assert!(fitted["rows"].as_array().is_some_and(|rows| rows.len() == 4), "{fitted:#}");
    assert_eq!(fitted["not_separable"]["flat"][0], serde_json::json!(["disk_reads", "disk_time"]));
    let again = program.json(&format!("judge ./fitted.toml {} --json", rows("brokerage_san_threads")));
    assert!(again["rows"].as_array().expect("rows").iter().all(|row| row["role"] == "calibration"));
    let refused = program.refused(&line);
    assert!(refused.contains("existing files are kept"), "{refused}");
}

#[test]
fn a_prediction_names_every_point_and_hashes_itself() {
    let program = Program::new();
    let line = "predict brokerage --on model:s824-fs840 --set customers=6000 --set sessions=80,96,112";
    let predicted = program.json(&format!("{line} --json -o first.json"));
    hold(&predicted);
    let of = |metric: &str| -> Vec<f64> {
        let rows = predicted["rows"].as_array().expect("rows").iter();
        rows.filter(|row| row["metric"] == metric).map(|row| number(&row["predicted"])).collect()
    };
    let (rates, times) = (of("throughput"), of("response"));
    assert_eq!((rates.len(), times.len()), (3, 3));
    assert!(rates.is_sorted() && times.is_sorted(), "{rates:?} {times:?}");
    let again = program.json(&format!("{line} --json"));
    assert_eq!(again["sha256"], predicted["sha256"], "equal questions to equal models have equal answers");
    let written: Value = serde_json::from_str(&std::fs::read_to_string(program.path("first.json")).unwrap()).unwrap();
    assert_eq!(written, predicted);
}

#[test]
fn nonsense_in_a_model_file_is_refused_with_line_and_column() {
    let program = Program::new();
    let shipped =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/s824-fs840.toml")).unwrap();
    let placed = regex::Regex::new(r"bad:\d+:\d+: ").expect("a pattern");
    for (from, to, told) in [
        ("value = 24\n", "value = 0\n", "a whole number from 1 to 100000, got `0`"),
        ("value = 24\n", "value = 2.5\n", "a whole number from 1 to 100000, got `2.5`"),
        ("unit  = \"us\"", "unit  = \"ms\"", "`us`, got `ms`"),
        ("[parameters.cores]", "[parameters.coers]", "did you mean `cores`?"),
        ("kind  = \"server-on-flash\"", "kind  = \"server-on-flesh\"", "did you mean `server-on-flash`?"),
        ("\"throughput\"", "\"thruput\"", "a server-on-flash answers"),
        ("from  = \"given: published configuration\"", "from  = \"trust me\"", "`given: SOURCE`"),
    ] {
        assert!(shipped.contains(from), "{from}");
        program.write("bad.toml", &shipped.replacen(from, to, 1));
        let refused = program.refused(&format!("judge ./bad.toml {}", rows("brokerage_flash_threads")));
        assert!(refused.contains(told), "{refused}");
        assert!(placed.is_match(&refused), "{refused}");
    }
}

#[test]
fn a_model_that_does_not_ship_is_answered_with_those_that_do() {
    let program = Program::new();
    let refused = program.refused(&format!("judge f510 {}", rows("flash_rates")));
    assert!(refused.contains("did you mean `f5100`?"), "{refused}");
    assert!(program.refused("predict flash --on .").contains("--on model:NAME"));
}

#[test]
fn a_question_may_change_numbers_of_a_model_and_the_answer_says_so() {
    let program = Program::new();
    let predict = |model: &str| {
        let line = format!("predict flash --on model:{model} --set modules=80 --only random-read --json");
        let predicted = program.json(&line);
        hold(&predicted);
        predicted
    };
    let (healthy, hurt) = (predict("f5100"), predict("f5100,failed_ports=2"));
    let rate = |document: &Value| number(&document["rows"][0]["predicted"]);
    assert!((rate(&hurt) / rate(&healthy) - 14.0 / 16.0).abs() < 1e-6, "two of sixteen ports are gone");
    assert_eq!(hurt["changes"], serde_json::json!(["failed_ports=2"]));
    assert_ne!(hurt["sha256"], healthy["sha256"]);
    assert_eq!(hurt["model_sha256"], healthy["model_sha256"], "the file is the same");
    let judged = program.json(&format!("judge f5100,failed_channels=1 {} --json", rows("flash_rates")));
    hold(&judged);
    assert_eq!(judged["changes"], serde_json::json!(["failed_channels=1"]));
    for (word, told) in [
        ("f5100,failed_port=1", "did you mean `failed_ports`?"),
        ("f5100,failed_ports=-1", "a whole number from 0 to 100000, got `-1`"),
        ("f5100,failed_ports=16", "there are 16 ports and one must be left, got 16"),
        ("f5100,failed_ports", "a list of KEY=VALUE, got `failed_ports`"),
    ] {
        let refused = program.refused(&format!("predict flash --on model:{word}"));
        assert!(refused.contains(told), "{refused}");
    }
}

/// What a run says of the one trial of a line: completions a second, and the mean response in milliseconds.
fn ran(program: &Program, line: &str) -> (f64, f64) {
    let run = program.json(&format!("run {line} --seed 5 --json"));
    let trial = &run["trials"][0];
    (number(&trial["throughput_per_s"]), number(&trial["response_ms"]["mean"]))
}

#[test]
fn users_who_think_and_arrivals_are_predicted_as_they_are_simulated() {
    let program = Program::new();
    let line = "brokerage --on model:s824-fs840 --set customers=6000 --set highest_rate=off --set measure=8s";
    for (load, by) in [
        ("--set sessions=80 --set users=200 --set think=100ms", "simulation"),
        ("--set sessions=80 --set users=200 --set think=100ms --set think_times=exponential", "closed form"),
        ("--set sessions=4 --set rate=400/s", "closed form"),
        ("--set sessions=4 --set rate=400/s --set arrivals=constant", "simulation"),
        ("--set sessions=1", "closed form"),
    ] {
        let predicted = program.json(&format!("predict {line} {load} --json"));
        hold(&predicted);
        let rows = predicted["rows"].as_array().expect("rows");
        let of = |metric: &str| rows.iter().find(|row| row["metric"] == metric).expect("it is answered");
        let (rate, response) = ran(&program, &format!("{line} {load}"));
        for (metric, simulated, most) in [("throughput", rate, 0.03), ("response", response, 0.05)] {
            let (row, value) = (of(metric), number(&of(metric)["predicted"]));
            assert_eq!(row["by"], by, "{load}");
            let inside = number(&row["low"]) <= simulated && simulated <= number(&row["high"]);
            assert!(inside || (value / simulated - 1.0).abs() < most, "{load}: {metric} {value} and {simulated}");
        }
    }
}

#[test]
fn a_capacity_at_a_quantile_of_response_is_simulated() {
    let program = Program::new();
    let line = "predict brokerage --on model:s824-fs840 --set customers=6000 --set sessions=80 --set measure=1s --set warm_up=200ms --find sessions \
                --need throughput>=12000 --json";
    let taken = |need: &str| program.json(&format!("{line} --need {need}"))["needed"][0]["predicted"].clone();
    let (wide, narrow) = (taken("p99<=20"), taken("p99<=5"));
    assert!(wide.as_u64().is_some_and(|sessions| (90..110).contains(&sessions)), "{wide}");
    assert_eq!(narrow, Value::Null);
    let refused = program.refused("predict models.csv --on model:f5100 --find modules --need p98<=5");
    assert!(refused.contains("p98") || refused.contains("models.csv"), "{refused}");
}

const POINT: &str = "brokerage --set highest_rate=off";

/// One quantity of the first point of a prediction.
fn said<'a>(predicted: &'a Value, metric: &str) -> &'a Value {
    let rows = predicted["rows"].as_array().expect("rows");
    rows.iter().find(|row| row["metric"] == metric).unwrap_or_else(|| panic!("no {metric}: {predicted:#}"))
}

#[test]
fn a_study_is_answered_in_transactions_a_second_and_a_table_in_its_own_unit() {
    let program = Program::new();
    let line =
        format!("{POINT} --on model:mirror-case1,source_cores=8,target_cores=8 --set sessions=64 --set measure=1000s");
    for (load, by) in [("", "closed form"), (" --set users=64 --set think=1s", "simulation")] {
        let predicted = program.json(&format!("predict {line}{load} --json"));
        let (row, (rate, _)) = (said(&predicted, "throughput"), ran(&program, &format!("{line}{load}")));
        assert!((number(&row["predicted"]) / rate - 1.0).abs() < 0.1, "{row:#} and {rate} a second");
        assert!(row["by"] == by && number(&row["low"]) < rate && rate < number(&row["high"]), "{row:#} and {rate}");
    }
    let found = program.json(&format!("predict {line} --find sessions --need throughput>=1.3 --json"));
    let sessions = found["needed"][0]["predicted"].as_u64().expect("some number does");
    assert!((60..70).contains(&sessions), "{sessions}: 64 do 1.3 a second");
    let table = program.json(&format!("predict {} --on model:mirror-case1 --json", rows("mirror_case1")));
    let row = said(&table, "throughput");
    let published = number(&Value::from(
        row["inputs"]["throughput_unit_unstated"].as_str().unwrap_or_default().parse::<f64>().ok(),
    ));
    assert!((number(&row["predicted"]) / published - 1.0).abs() < 0.2, "{row:#}");
}

#[test]
fn a_run_asks_a_model_what_its_study_asked() {
    let program = Program::new();
    let loads = [
        "--set sessions=8",
        "--set sessions=8 --set rate=500/s",
        "--set sessions=8 --set users=40 --set think=20ms --set think_times=exponential",
    ];
    for (place, load) in loads.into_iter().enumerate() {
        let line = format!("{POINT} --on model:small-server {load} --set measure=2s --set warm_up=200ms");
        program.fine(&format!("run {line} --seed 5 -o {place}.prony"));
        let predicted = program.json(&format!("predict {line} --json"));
        let judged = program.json(&format!("judge small-server {place}.prony --json"));
        for (column, metric) in [("throughput_tps", "throughput"), ("response_ms", "response")] {
            let row = judged["rows"].as_array().and_then(|rows| rows.iter().find(|row| row["metric"] == column));
            let row = row.unwrap_or_else(|| panic!("no {column}: {judged:#}"));
            let formal = number(&said(&predicted, metric)["predicted"]);
            assert!((number(&row["predicted"]) / formal - 1.0).abs() < 1e-9, "{load}: {formal} and {row:#}");
            assert!(number(&row["error_pct"]).abs() < 5.0, "{load}: the model that made it: {row:#}");
        }
        let text = program.fine(&format!("judge small-server {place}.prony"));
        assert!(text.contains(" simulated ") && !text.contains("published"), "{text}");
    }
    let calibrated = program.json("calibrate small-server 0.prony 1.prony 2.prony --json");
    assert!(calibrated["rows"].as_array().is_some_and(|rows| rows.len() == 6), "{calibrated:#}");
}

#[test]
fn no_confidence_is_told_where_no_interval_is() {
    let program = Program::new();
    let found = |load: &str, need: &str| {
        let line = format!("predict {POINT} --on model:small-server {load} --set measure=500ms --set warm_up=100ms");
        let found = program.json(&format!("{line} --find sessions --need {need} --json"));
        hold(&found);
        (found["needed"][0].clone(), program.fine(&format!("{line} --find sessions --need {need}")))
    };
    let (needed, text) = found("--set sessions=8 --set rate=3000/s", "p99<=1.3");
    assert!(needed["predicted"].is_u64() && needed["sure"].is_null() && needed["unsure"].is_string(), "{needed:#}");
    assert!(text.contains("how surely is not known: p99 is simulated") && !text.contains("with 95% conf"), "{text}");
    let users = "--set users=4000 --set think=1s --set think_times=exponential";
    let (needed, _) = found(&format!("--set sessions=8 {users}"), "response<=5");
    let (predicted, sure) = (needed["predicted"].as_u64().expect("some number does"), needed["sure"].as_u64());
    let at = program
        .json(&format!("predict {POINT} --on model:small-server --set sessions={} {users} --json", sure.unwrap_or(8)));
    let row = said(&at, "response");
    assert!(sure.is_none_or(|sure| sure >= predicted && row["by"] == "closed form"), "{needed:#}");
    assert_eq!(sure.is_some(), number(&row["high"]) <= 5.0, "{needed:#} {row:#}");
}

#[test]
fn an_interval_holds_nothing_that_users_who_think_cannot_do() {
    let program = Program::new();
    for (sessions, by) in [(4, "simulation"), (2, "closed form")] {
        let predicted = program.json(&format!(
            "predict {POINT} --on model:small-server --set sessions={sessions} --set users=4000 --set think=1s \
             --set think_times=exponential --set measure=5s --set warm_up=2s --json"
        ));
        let (rate, response) = (said(&predicted, "throughput"), said(&predicted, "response"));
        assert_eq!((&rate["by"], &response["by"]), (&Value::from(by), &Value::from(by)));
        let value = number(&rate["predicted"]);
        // A ninth of all transactions, and somewhat less, is caused by others: nobody thinks before those. A window of 5 s may have
        // so many more by chance.
        let most = 4_001.0 / 0.88;
        assert!(
            number(&rate["high"]) <= value.max(most + 2.0 * (most / 5.0_f64).sqrt()) && number(&rate["low"]) < value,
            "{rate:#}"
        );
        let longest_ms = 1e3 * (4_001.0 / number(&rate["low"]) - 0.88);
        assert!(number(&response["high"]) <= longest_ms, "{longest_ms} ms: {response:#}");
        assert!(number(&response["low"]) > 0.1, "a transaction takes longer alone: {response:#}");
        assert!(number(&response["low"]) < number(&response["predicted"]), "{response:#}");
    }
}
