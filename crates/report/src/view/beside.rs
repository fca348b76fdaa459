//! A stream alone and beside others: what it completes and how long it takes, with both in one chart.

use super::axes::{datum, look, with_provenance};
use super::curve::{Sweep, sweep};
use super::figure::{Axis, Datum, Figure, Form, Look, Panel, Series, Spacing, Span};
use super::given::Rate;
use super::quantity::Quantity;
use super::table::{Field, Table, estimate, word};
use crate::caveats::{Caveats, Touches};
use analysis::{Beside, Estimate, Findings, PointSummary};

/// One figure for every stream of the experiment that was measured in another one without what is beside it here.
pub fn figures(findings: &Findings, shown: &Sweep, caveats: &Caveats) -> Vec<Figure> {
    let found = findings.findings.iter().filter_map(Beside::of);
    let elsewhere =
        |found: &&Beside| found.point.experiment == shown.experiment && found.baseline.experiment != shown.experiment;
    found.filter(elsewhere).filter_map(|found| figure(findings, shown, found, caveats)).collect()
}

fn figure(findings: &Findings, shown: &Sweep, found: &Beside, caveats: &Caveats) -> Option<Figure> {
    let of = |at: &observation::Point| findings.points.iter().find(|point| point.at == *at);
    let both = [of(&found.baseline)?, of(&found.point)?];
    let alone = sweep(findings, &found.baseline.experiment);
    let look = Look { slot: 0, ..look(alone.curves.first().or(shown.curves.first())?) };
    let rate = Rate::of(&alone);
    let ms = Quantity::Milliseconds;
    let panels = [
        panel(&rate.title, rate.quantity, both.map(|point| rate.at(point)), both, look, caveats),
        panel("mean latency", ms, both.map(|point| Some(point.response_mean_ms)), both, look, caveats),
    ];
    let on = if shown.several_systems() { format!(" on {}", found.point.system) } else { String::new() };
    let title = format!("{} alone and beside {}{on}", found.point.stream, found.beside.join(" and "));
    let says = format!("{}: {}.", found.subject(), found.says());
    let mut table = Table::new(format!("{title}, and how many times what it is alone"), rows(found, both));
    table.trials = both.iter().flat_map(|point| point.trials.iter().copied()).collect();
    let table = table.without_empty_columns();
    let panels: Vec<_> = panels.into_iter().filter(|panel| !panel.is_empty()).collect();
    Some(Figure::new(title, vec![says, super::bars::whiskers(&panels)], panels, table))
}

fn panel(
    title: &str,
    quantity: Quantity,
    values: [Option<Estimate>; 2],
    both: [&PointSummary; 2],
    look: Look,
    caveats: &Caveats,
) -> Panel {
    let points = both.iter().zip(values).enumerate().filter_map(|(row, (point, value))| {
        let value = value.filter(|value| value.value.is_finite())?;
        let place = &point.at.experiment;
        let datum = datum(&value, quantity, place, &caveats.marks(&point.caveats, Touches::All));
        Some(Datum { x: datum.y, y: row as f64, ..datum })
    });
    let series = Series { name: title.to_owned(), look, form: Form::Bars, points: points.collect() };
    let names = both.map(|point| point.at.experiment.clone());
    let y = Axis::new("", Quantity::Plain, Spacing::Names(names.into()));
    Panel::new(title, Span::Half, Axis::new(title, quantity, Spacing::FromZero), y, vec![series])
}

/// Both points, and behind the second what it is of the first.
fn rows(found: &Beside, both: [&PointSummary; 2]) -> Vec<Vec<Field>> {
    let row = |(at, point): (usize, &PointSummary)| {
        let ratio = Some(&found.ratio).filter(|_| at == 1);
        let response = found.response.as_ref().filter(|_| at == 1);
        let mut row = vec![
            word("experiment", "experiment", &point.at.experiment),
            word("workload", "stream", with_provenance(&point.at.stream, point.provenance)),
        ];
        row.extend(super::points::yields(point));
        row.extend([
            estimate(point.work.unit(), "throughput_per_s", &point.throughput_per_s, Quantity::Work(point.work))
                .only_if(point.yields.is_empty()),
            estimate("times", "ratio", ratio, Quantity::Ratio),
            estimate("mean latency", "response_mean_ms", &point.response_mean_ms, Quantity::Milliseconds),
            estimate("times", "response_ratio", response, Quantity::Ratio),
        ]);
        row
    };
    both.into_iter().enumerate().map(row).collect()
}
