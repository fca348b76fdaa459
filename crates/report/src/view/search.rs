//! The search for the highest rate that keeps a quantile under a bound: every probe, and what it showed.

use super::figure::{Axis, Datum, Figure, Form, Guide, Key, Look, Panel, Series, Spacing, Span};
use super::quantity::Quantity;
use super::table::{Table, number, word};
use analysis::{Findings, HighestRate};
use observation::Provenance;

/// One figure a search of the experiment.
pub fn figures(findings: &Findings, experiment: &str) -> Vec<Figure> {
    let found = findings.findings.iter().filter_map(HighestRate::of);
    found.filter(|found| found.point.experiment == experiment && !found.probes.is_empty()).map(figure).collect()
}

fn figure(found: &HighestRate) -> Figure {
    let quantile = Quantity::Quantile.text(found.quantile);
    let bound = Quantity::Milliseconds.text(found.bound_ms);
    let series: Vec<Series> = [(true, 0, "passed"), (false, 1, "failed")]
        .map(|(passed, slot, name)| Series {
            name: name.to_owned(),
            look: look(slot),
            form: Form::Marks,
            points: probes(found, passed),
        })
        .into_iter()
        .filter(|series| !series.points.is_empty())
        .collect();
    let mut guides = vec![Guide::Level { y: found.bound_ms, text: format!("bound {bound}") }];
    guides.extend(found.rate_per_s.map(|rate| Guide::Upright {
        x: rate.value,
        low: rate.value,
        high: found.failed_per_s.unwrap_or(rate.value),
        text: format!("highest that held: {}", Quantity::Rate.text(rate.value)),
        look: look(0),
    }));
    let title = format!("{quantile} latency of every probe");
    let x = Axis::new("offered rate", Quantity::Rate, Spacing::Linear);
    let y = super::axes::time(&title, Quantity::Milliseconds, &series);
    let key = series.iter().map(|one| Key { name: one.name.clone(), look: one.look, form: Form::Marks }).collect();
    let panel = Panel { guides, ..Panel::new(&title, Span::Full, x, y, series) };
    let (stream, system, at) = (&found.point.stream, &found.point.system, found.point.at());
    let title = format!("Highest rate with {quantile} under {bound}: {stream} on {system}{at}");
    Figure { key, ..Figure::new(title, vec![found.reason.clone()], vec![panel], table(found, &quantile)) }
}

fn look(slot: usize) -> Look {
    Look { slot, provenance: Provenance::Measured }
}

fn probes(found: &HighestRate, passed: bool) -> Vec<Datum> {
    let probes = found.probes.iter().filter(|(_, ms, held)| *held == passed && ms.is_finite());
    probes
        .map(|(rate, ms, _)| {
            let text = format!("{}: {}", Quantity::Rate.text(*rate), Quantity::Milliseconds.text(*ms));
            Datum::bare(*rate, *ms, text)
        })
        .collect()
}

fn table(found: &HighestRate, quantile: &str) -> Table {
    let response = format!("{quantile} latency");
    let row = |(at, (rate, ms, passed)): (usize, &(f64, f64, bool))| {
        vec![
            number("probe", "probe", at as f64 + 1.0, Quantity::Count),
            number("offered", "offered_per_s", *rate, Quantity::Rate),
            number(&response, "response_ms", *ms, Quantity::Milliseconds),
            word("outcome", "outcome", if *passed { "passed" } else { "failed" }),
        ]
    };
    Table::new("Every probe in order", found.probes.iter().enumerate().map(row))
}
