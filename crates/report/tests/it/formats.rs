//! Every format as a golden file, and every value of JSON and CSV in its place.

use crate::sample::{At, Seen, about, comparison, distinct, flash, point, quick, wide, word};
use analysis::{Finding, PointSummary, Work};
use report::{Colour, Detail, Layout, csv, html, json, text};
use serde_json::Value;
use study::Direction;

#[test]
fn the_brief_text_is_as_it_was() {
    insta::assert_snapshot!("distinct.txt", text(&distinct(), Layout::default()));
    insta::assert_snapshot!("quick.txt", text(&quick(), Layout::default()));
    insta::assert_snapshot!("flash.txt", text(&flash(), Layout::default()));
    insta::assert_snapshot!("wide.txt", text(&wide(), Layout::default()));
}

#[test]
fn the_full_text_is_as_it_was_with_colours_and_without() {
    let full = Layout { detail: Detail::Full, width: 120, ..Layout::default() };
    insta::assert_snapshot!("distinct-full.txt", text(&distinct(), full));
    let coloured = text(&distinct(), Layout { colour: Colour::Ansi, ..full });
    insta::assert_snapshot!("distinct-colour.txt", coloured.replace('\u{1b}', "ESC"));
}

#[test]
fn the_json_is_as_it_was() {
    insta::assert_snapshot!("distinct.json", format!("{:#}", json(&distinct())));
}

#[test]
fn the_csv_is_as_it_was() {
    insta::assert_snapshot!("distinct.csv", csv(&distinct()));
}

/// Style and script are left out: they are files of their own. One tag a line, so that a change can be read.
#[test]
fn the_page_is_as_it_was() {
    let page = html(&distinct());
    let (before, rest) = page.split_once("<style>").unwrap();
    let (_, rest) = rest.split_once("</style>").unwrap();
    let (body, _) = rest.split_once("<script>").unwrap();
    insta::assert_snapshot!("distinct.html", format!("{before}{body}").replace("><", ">\n<"));
}

#[test]
fn text_needs_no_colour_to_say_everything() {
    let plain = text(&wide(), Layout::default());
    let coloured = text(&wide(), Layout { colour: Colour::Ansi, ..Layout::default() });
    let mut stripped = String::new();
    let mut parts = coloured.split('\u{1b}');
    stripped.push_str(parts.next().unwrap());
    parts.for_each(|part| stripped.push_str(part.split_once('m').unwrap().1));
    assert_eq!(plain, stripped);
}

#[test]
fn no_line_of_a_text_is_wider_than_the_terminal() {
    for findings in [quick(), flash(), wide(), distinct()] {
        for (width, detail) in [(60, Detail::Brief), (80, Detail::Brief), (80, Detail::Full), (132, Detail::Full)] {
            let text = text(&findings, Layout { width, detail, ..Layout::default() });
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{} > {width}: {line}", line.chars().count());
            }
        }
    }
}

/// The codes of the sample: what a quantile is, then response, service or lateness, then trial, then stream.
fn coded(kind: f64, trial: f64, stream: f64) -> [(&'static str, f64); 6] {
    let code = kind * 0.1 + trial * 0.01 + stream * 0.001;
    [("mean", 110.0), ("p50", 150.0), ("p95", 195.0), ("p99", 199.0), ("p999", 299.0), ("max", 390.0)]
        .map(|(name, value)| (name, value + code))
}

fn near(value: f64, wanted: f64) -> bool {
    (value - wanted).abs() < 1e-9
}

#[test]
fn every_latency_of_the_json_stands_where_its_code_says() {
    let value = json(&distinct());
    let trials = value["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 4, "one entry a trial and stream");
    for (index, entry) in trials.iter().enumerate() {
        let (trial, stream) = ((index / 2) as f64, (index % 2) as f64);
        assert_eq!(entry["stream"], format!("stream-{stream}"));
        for (kind, key) in [(1.0, "response_ms"), (2.0, "service_ms"), (3.0, "lateness_ms")] {
            for (name, wanted) in coded(kind, trial, stream) {
                assert!(near(entry[key][name].as_f64().unwrap(), wanted), "{key}.{name} of entry {index}");
            }
        }
        for (kind, key) in [(4.0, "response_ms"), (5.0, "service_ms")] {
            for (name, wanted) in coded(kind, trial, stream) {
                assert!(near(entry["classes"][0][key][name].as_f64().unwrap(), wanted));
            }
        }
    }
}

#[test]
fn every_latency_of_the_csv_stands_under_its_name() {
    let text = csv(&distinct());
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    for (index, line) in lines.enumerate() {
        // The load, the only text with a comma, has no column; so no field is quoted here.
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields.len(), header.len());
        let at = |name: &str| fields[header.iter().position(|column| *column == name).unwrap()];
        let (trial, stream) = ((index / 2) as f64, (index % 2) as f64);
        for (kind, key) in [(1.0, "response"), (2.0, "service"), (3.0, "lateness")] {
            for (name, wanted) in coded(kind, trial, stream) {
                assert!(near(at(&format!("{key}_{name}_ms")).parse().unwrap(), wanted));
            }
        }
        assert_eq!(at("factor.transfer"), "4096");
        assert_eq!(at("factor.cache"), "cold");
    }
}

#[test]
fn csv_and_json_tell_the_same_numbers() {
    let value = json(&distinct());
    let text = csv(&distinct());
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let keys = [
        "throughput_per_s",
        "offered_per_s",
        "bytes_per_s",
        "elapsed_s",
        "planned",
        "done",
        "failed",
        "censored",
        "retried",
        "rolled_back",
        "little_gap_pct",
        "trial",
        "replicate",
        "block",
        "started_unix_ns",
    ];
    for (line, entry) in text.lines().skip(1).zip(value["trials"].as_array().unwrap()) {
        let fields: Vec<&str> = line.split(',').collect();
        for key in keys {
            let field = fields[header.iter().position(|column| *column == key).unwrap()];
            match &entry[key] {
                Value::Null => assert_eq!(field, "", "{key}"),
                number => assert_eq!(field.parse::<f64>().unwrap(), number.as_f64().unwrap(), "{key}"),
            }
        }
    }
}

#[test]
fn the_books_of_every_entry_close() {
    for entry in json(&distinct())["trials"].as_array().unwrap() {
        let at = |key: &str| entry[key].as_u64().unwrap();
        assert_eq!(at("planned"), at("done") + at("failed") + at("censored"));
    }
}

#[test]
fn factors_are_plain_numbers_in_base_units() {
    let factors = &json(&distinct())["trials"][0]["factors"];
    assert_eq!(factors["outstanding"], 32);
    assert_eq!(factors["transfer"], 4096);
    assert_eq!(factors["think"], 0.25);
    assert_eq!(factors["cache"], "cold");
}

#[test]
fn what_is_not_known_is_null_and_never_a_word() {
    let mut findings = distinct();
    findings.trials[0].streams[0].throughput_per_s.value = f64::NAN;
    findings.trials[0].streams[0].response.count = 0;
    let entry = &json(&findings)["trials"][0];
    assert!(entry["throughput_per_s"].is_null());
    assert!(entry["response_ms"]["p99"].is_null());
    assert!(entry["offered_per_s"].is_null());
    assert!(!json(&findings).to_string().contains("NaN"));
}

#[test]
fn a_run_without_a_finished_trial_can_be_printed() {
    let empty = analysis::Findings { run: distinct().run, ..analysis::Findings::default() };
    assert!(text(&empty, Layout::default()).starts_with("No trial of this run ended"));
    assert!(html(&empty).contains("No trial of this run ended"));
    assert_eq!(csv(&empty).lines().count(), 1);
    assert_eq!(json(&empty)["trials"].as_array().map(Vec::len), Some(0));
}

/// A sweep of words quotes its ends, of which neither may be the worst one.
#[test]
fn the_level_at_which_the_primary_metric_came_off_worst_stands_in_the_first_table_and_is_told_from_others() {
    let mut findings = wide();
    (findings.points, findings.findings, findings.answered) = (Vec::new(), Vec::new(), Vec::new());
    let levels = [
        ("plain", 0.9),
        ("capacity=5MB/s", 0.7),
        ("capacity=5MB/s aggressor=50MB/s share=50%", 0.4),
        ("capacity=5MB/s aggressor=50MB/s", 0.1),
        ("capacity=5MB/s aggressor=50MB/s share=90%", 0.5),
    ];
    for (level, ratio) in levels {
        for (system, throughput) in [("alone", 1_210.0), ("mirrored", 1_210.0 * ratio)] {
            let at = At::new("shares", system, "orders").with("link", word(level));
            let seen = Seen { throughput, transfer: 0.0, p50_ms: 2.0, tail: 3.0, spread: 0.02, n: 4 };
            findings.points.push(PointSummary { work: Work::Transactions, ..point(&at, seen) });
        }
        let primary = comparison(0, 96.0);
        let Finding::Comparison(mut primary) = primary else { panic!("{primary:?}") };
        primary.point = At::new("shares", "mirrored", "orders").with("link", word(level)).point();
        (primary.baseline, primary.metric) = ("alone".into(), "throughput".into());
        (primary.direction, primary.ratio) = (Direction::HigherIsBetter, about(ratio, 0.02, 4));
        findings.findings.push(Finding::Comparison(primary));
    }
    let told = text(&findings, Layout::default());
    let worst = told.lines().find(|line| line.starts_with("mirrored") && line.contains(" 121 "));
    assert!(worst.is_some_and(|line| line.contains("agg=50MB/s  ")), "{told}");
    assert!(told.contains("cap=5MB/s agg=50MB/s sha=90%"), "{told}");
}
