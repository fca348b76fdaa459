//! Who ran what: systems side by side, the settings, and the command that runs it again.

use crate::view::{Quantity, each_once};
use analysis::Findings;
use maud::{Markup, html};
use observation::{Footprint, NOT_OBSERVED, RunFacts, SystemFacts};
use units::for_shell;

/// Systems, their facts side by side, and how the study was started.
pub(super) fn section(findings: &Findings) -> Markup {
    let run = &findings.run;
    html! {
        (systems(run))
        (facts(run))
        (started(run))
    }
}

fn systems(run: &RunFacts) -> Markup {
    html! {
        div class="scroll" tabindex="0" {
            table class="systems" {
                caption { "Systems" }
                thead { tr { th { "name" } th { "kind" } th { "place" } th class="number" { "modules" } th { "reached by" } th { "footprint" } } }
                tbody {
                    @for system in &run.systems {
                        tr {
                            td { b { (system.name) } } td { (system.kind) } td { (system.place) }
                            td class="number" { (system.modules) } td { (system.driver) } td { (footprint(&system.footprint)) }
                        }
                    }
                }
            }
        }
    }
}

fn footprint(footprint: &Footprint) -> String {
    let parts = [
        (footprint.drives, "drives"),
        (footprint.watts, "W"),
        (footprint.rack_units, "rack units"),
        (footprint.price, "price"),
        (footprint.floor, "m2"),
    ];
    let known: Vec<String> = parts
        .iter()
        .filter_map(|(value, unit)| value.map(|value| format!("{} {unit}", Quantity::Plain.text(value))))
        .collect();
    if known.is_empty() { "not given".to_owned() } else { known.join(", ") }
}

/// One row a fact, one column a system; rows in which systems differ stand out.
fn facts(run: &RunFacts) -> Markup {
    let keys = each_once(run.systems.iter().flat_map(|system| &system.fingerprint).map(|fact| fact.key.as_str()));
    let several = run.systems.len() > 1;
    html! {
        @if !keys.is_empty() {
            details class="numbers" open[keys.len() <= 20] {
                summary { "Fingerprint: " (keys.len()) " facts that could change a number" }
                div class="scroll" tabindex="0" {
                    table class="facts" {
                        caption { "Everything that could change a number" @if several { "; rows in which systems differ are marked" } }
                        thead { tr { th { "fact" } @for system in &run.systems { th { (system.name) } } } }
                        tbody {
                            @for key in &keys {
                                @let values: Vec<&str> = run.systems.iter().map(|system| value(system, key)).collect();
                                @let differ = values.iter().any(|value| *value != values[0]);
                                tr class=[differ.then_some("differ")] {
                                    td { (key) @if differ { " ≠" } }
                                    @for value in &values { td { (value) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn value<'a>(system: &'a SystemFacts, key: &str) -> &'a str {
    system.fact(key).unwrap_or(NOT_OBSERVED)
}

fn started(run: &RunFacts) -> Markup {
    let settings = if run.settings.is_empty() {
        "as the study ships, nothing changed on the command line".to_owned()
    } else {
        run.settings.join(", ")
    };
    let rows = [
        ("study", run.study.clone()),
        ("started", date(run.started_unix_ns)),
        ("targets", if run.targets.is_empty() { "those of the study".to_owned() } else { run.targets.join(", ") }),
        ("settings", settings),
        ("only", run.only.join(", ")),
        ("seed", run.seed.to_string()),
        ("Prony", format!("{} ({})", run.version, run.commit)),
        ("finished", if run.finished { "yes" } else { "no" }.to_owned()),
    ];
    html! {
        dl class="run-facts" {
            @for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) { dt { (name) } dd { (value) } }
        }
    }
}

/// `2026-11-21 21:30 UTC`.
pub(super) fn date(unix_ns: i64) -> String {
    match jiff::Timestamp::from_nanosecond(i128::from(unix_ns)) {
        Ok(at) => at.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => "at an unknown time".to_owned(),
    }
}

/// The command that runs the same again.
pub(super) fn command(run: &RunFacts) -> String {
    let mut words = vec!["prony".to_owned(), "run".to_owned(), for_shell(&run.study)];
    let flags = [("--on", &run.targets), ("--set", &run.settings), ("--only", &run.only)];
    for (flag, values) in flags {
        words.extend(values.iter().map(|value| format!("{flag} {}", for_shell(value))));
    }
    words.push(format!("--seed {}", run.seed));
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_written_in_utc_to_the_minute() {
        assert_eq!(date(1_795_296_600_000_000_000), "2026-11-21 21:30 UTC");
    }
}
