//! Response by quantile, the axis in nines: as much room for the last thousandth as for the first nine tenths.

use super::axes::with_provenance;
use super::curve::{Curve, Sweep, factors_text};
use super::figure::{Axis, Datum, Figure, Form, Key, Look, Panel, Series, Spacing, Span};
use super::mix::trials_of;
use super::quantity::Quantity;
use super::table::{Field, Table, estimate, number, response, word};
use crate::caveats::{Caveats, Touches};
use analysis::{Findings, PointSummary, StreamSummary, TrialSummary, Work};

/// More lines than this cannot be told apart; the table still has every trial.
const LINES_MAX: usize = 6;

/// One line a curve, at the point that the headline quotes.
pub fn figure(findings: &Findings, sweep: &Sweep, caveats: &Caveats) -> Option<Figure> {
    let all: Vec<Series> = sweep
        .curves
        .iter()
        .filter_map(|curve| {
            let point = super::headline::quoted_point(findings, sweep, curve)?;
            series(sweep, curve, point, &trials_of(findings, point).map(|(_, stream)| stream).collect::<Vec<_>>())
        })
        .filter(|series| series.points.len() > 1)
        .collect();
    if all.is_empty() {
        return None;
    }
    let count = all.len();
    let shown: Vec<Series> = all.into_iter().take(LINES_MAX).collect();
    let key = shown.iter().map(|series| Key {
        name: with_provenance(&series.name, series.look.provenance),
        look: series.look,
        form: Form::Curve,
    });
    let mut notes = vec![format!(
        "All trials of a point together. Latency counts from the moment at which {} was due. Each step to the right leaves a \
         tenth of the rest: 90 %, 99 %, 99.9 %.",
        one(sweep.work)
    )];
    if count > LINES_MAX {
        notes.push(format!("{LINES_MAX} of {count} curves are drawn; the table has all."));
    }
    let faster = format!("share of {} that were faster", sweep.work.word());
    let x = Axis::new(faster, Quantity::Quantile, Spacing::Nines);
    let y = super::axes::time("latency", Quantity::Milliseconds, &shown);
    // Two or more lines carry their names at their ends.
    let key = if shown.len() == 1 { key.collect() } else { Vec::new() };
    let panels = vec![Panel::new("latency", Span::Full, x, y, shown)];
    Some(Figure { key, ..Figure::new("Distribution of latency", notes, panels, table(findings, sweep, caveats)) })
}

fn one(work: Work) -> &'static str {
    match work {
        Work::Operations | Work::Files => "an operation",
        Work::Transactions => "a transaction",
    }
}

/// The least that a histogram holds, which stands for no time at all.
const NO_TIME_MS: f64 = 1e-6;

/// All trials of the point together, as in its row of the table; the first one where they keep no times.
fn series(sweep: &Sweep, curve: &Curve, point: &PointSummary, trials: &[&StreamSummary]) -> Option<Series> {
    let distribution = StreamSummary::distribution_of(trials).or_else(|| Some(trials.first()?.distribution.clone()))?;
    let count: u64 = trials.iter().map(|stream| stream.response.count).sum();
    let swept = point.at.factors.iter().find(|factor| Some(&factor.name) == sweep.factor.as_ref());
    let name = swept.map_or_else(|| curve.name.clone(), |level| format!("{}, {}", curve.name, level.in_words()));
    // The greatest of n values stands at the quantile that half a value more would reach, not at infinity.
    let highest = 1.0 - 0.5 / count.max(1) as f64;
    let inside = |(index, (quantile, ms)): &(usize, &(f64, f64))| {
        // What takes no time in a model has no place on an axis of ratios.
        *ms > NO_TIME_MS && ms.is_finite() && (*quantile <= highest || index + 1 == distribution.len())
    };
    let points = distribution.iter().enumerate().filter(inside).map(|(_, point)| point).map(|(quantile, ms)| {
        let at = if *quantile >= 1.0 { "greatest".to_owned() } else { Quantity::Quantile.text(*quantile) };
        let text = format!("{name}: {at} {}", Quantity::Milliseconds.text(*ms));
        Datum::bare(quantile.min(highest), *ms, text)
    });
    let look = Look { slot: curve.slot, provenance: point.provenance };
    Some(Series { name: name.clone(), look, form: Form::Curve, points: points.collect() })
}

fn table(findings: &Findings, sweep: &Sweep, caveats: &Caveats) -> Table {
    let own = || findings.trials.iter().filter(|trial| trial.label.experiment == sweep.experiment);
    let work = sweep.work.word();
    let rows = own().flat_map(|trial| trial.streams.iter().map(|stream| row(trial, stream, work, caveats)));
    let mut table = Table::new("Latency of every trial", rows);
    table.trials = own().map(|trial| trial.label.index).collect();
    table.without_empty_columns()
}

fn row(trial: &TrialSummary, stream: &StreamSummary, work: &str, caveats: &Caveats) -> Vec<Field> {
    let label = &trial.label;
    let ms = |title, key, value: f64| response(title, key, stream, value);
    // What is only known to be at least so much in a row of points is no more in one of trials, nor is an interval left out.
    let known = stream.quantiles([0.5, 0.95, 0.99, 0.999]);
    let quantile = |at: usize, title, key, value| match known.as_ref().map(|known| &known[at]) {
        Some(known) if known.low.is_finite() => estimate(title, key, known, Quantity::Milliseconds),
        _ => ms(title, key, value),
    };
    let tail = caveats.marks(&trial.caveats, Touches::Tail);
    let told = &stream.response;
    vec![
        number("trial", "trial", f64::from(label.index), Quantity::Count),
        word("system", "system", &label.system),
        word("workload", "stream", label.stream_name(stream.stream)),
        word("at", "factors", factors_text(&label.factors)),
        number(work, "count", told.count as f64, Quantity::Count),
        ms("mean", "response_mean_ms", told.mean_ms).minor(),
        quantile(0, "p50", "response_p50_ms", told.p50_ms),
        quantile(1, "p95", "response_p95_ms", told.p95_ms),
        quantile(2, "p99", "response_p99_ms", told.p99_ms).marked(if told.tail.p99_firm {
            String::new()
        } else {
            tail.clone()
        }),
        quantile(3, "p99.9", "response_p999_ms", told.p999_ms).marked(tail),
        ms("greatest", "response_max_ms", told.max_ms),
        ms("service mean", "service_mean_ms", stream.service.mean_ms).minor(),
        ms("lateness p99", "lateness_p99_ms", stream.lateness.p99_ms),
    ]
}
