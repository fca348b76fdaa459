//! Trials over time: throughput and p99 by interval, the warm-up shaded, rounds and events marked.

use super::curve::factors_text;
use super::figure::{Axis, Datum, Figure, Form, Guide, Look, Panel, Series, Spacing, Span};
use super::quantity::Quantity;
use super::table::{Field, Table, estimate, number, optional, word};
use crate::caveats::{Caveats, Touches};
use analysis::{Findings, StreamSummary, TrialSummary, Work};
use observation::Factor;
use units::Nanos;

/// A chart as wide as the page cannot show more columns than this; intervals beyond are merged with their least and
/// greatest kept as a band.
const COLUMNS_WIDE: usize = 240;
const COLUMNS_SMALL: usize = 60;

/// Up to so many trials are drawn wide; more become small panels that are kept closed.
const WIDE_MAX: usize = 2;

/// What the second panel of a trial shows.
const RESPONSE: &str = "p99 latency of each interval";

/// No more small panels than this; the table still has every trial.
const SMALL_MAX: usize = 24;

/// The trials of an experiment over time; none when nothing was recorded by interval.
pub fn figure(findings: &Findings, experiment: &str, caveats: &Caveats) -> Option<Figure> {
    let trials: Vec<&TrialSummary> = findings
        .trials
        .iter()
        .filter(|trial| trial.label.experiment == experiment && trial.timeline.len() > 2)
        .collect();
    if trials.is_empty() {
        return None;
    }
    let wide = trials.len() <= WIDE_MAX;
    let panels: Vec<Panel> = if wide {
        trials.iter().flat_map(|trial| [work(trial, true), response(trial)]).collect()
    } else {
        trials.iter().take(SMALL_MAX).map(|trial| work(trial, false)).collect()
    };
    let warmed = trials.iter().any(|trial| trial.window.start > Nanos::ZERO);
    let grey = warmed.then(|| "Grey is the warm-up, which does not count.".to_owned());
    let levels =
        "Level stretches are the means of the parts of the window that the steady-state rule compares.".to_owned();
    let mut notes: Vec<String> = grey.into_iter().chain([levels]).collect();
    if trials.len() > SMALL_MAX {
        notes.push(format!("{SMALL_MAX} of {} trials are drawn; the table has all.", trials.len()));
    }
    let panels = panels.into_iter().filter(|panel| !panel.is_empty()).collect();
    let figure = Figure::new(format!("Over time: {experiment}"), notes, panels, table(&trials, caveats));
    Some(Figure { key: key(&trials), folded: !wide, ..figure })
}

fn key(trials: &[&TrialSummary]) -> Vec<super::figure::Key> {
    let longest = trials.iter().max_by_key(|trial| trial.label.streams.len());
    let streams = longest.map(|trial| trial.label.streams.as_slice()).unwrap_or_default();
    if streams.len() < 2 {
        return Vec::new();
    }
    let entry = |(slot, label): (usize, &observation::StreamLabel)| super::figure::Key {
        name: label.name.clone(),
        look: Look { slot, provenance: longest.map(|trial| trial.provenance).unwrap_or_default() },
        form: Form::Dense,
    };
    streams.iter().enumerate().map(entry).collect()
}

fn work(trial: &TrialSummary, wide: bool) -> Panel {
    let columns = if wide { COLUMNS_WIDE } else { COLUMNS_SMALL };
    let mut series: Vec<Series> = Vec::new();
    for stream in &trial.streams {
        let at = usize::from(stream.stream);
        let values = trial.timeline.iter().map(|time| (time.at_s, time.throughput_per_s.get(at).copied()));
        series.push(dense(trial, stream, values.collect(), columns, Quantity::Rate));
        series.extend(rounds(trial, stream));
    }
    let y = Axis::new(format!("{} a second", counted_in(&[trial])), Quantity::Rate, Spacing::FromZero);
    panel(trial, name(trial), if wide { Span::Full } else { Span::Third }, series, y)
}

fn response(trial: &TrialSummary) -> Panel {
    let series: Vec<Series> = trial
        .streams
        .iter()
        .map(|stream| {
            let at = usize::from(stream.stream);
            let values = trial.timeline.iter().map(|time| (time.at_s, time.p99_ms.get(at).copied().flatten()));
            dense(trial, stream, values.collect(), COLUMNS_WIDE, Quantity::Milliseconds)
        })
        .collect();
    let y = super::axes::time(RESPONSE, Quantity::Milliseconds, &series);
    // It stands under the other panel of its trial, which names it.
    panel(trial, RESPONSE.to_owned(), Span::Full, series, y)
}

fn panel(trial: &TrialSummary, title: String, span: Span, series: Vec<Series>, y: Axis) -> Panel {
    let mut guides = Vec::new();
    let first = trial.timeline.first().map_or(0.0, |time| time.at_s);
    if trial.window.start.seconds() > first {
        // A window of whole cycles begins where the first checkpoint in it does.
        let found = trial.server.as_ref().and_then(|server| server.checkpoints.as_ref());
        let cut = found.is_some_and(|found| found.measured.start < trial.window.start);
        let text = if cut { "warm-up, and up to the first checkpoint" } else { "warm-up" };
        guides.push(Guide::Stretch { from: first, to: trial.window.start.seconds(), text: text.into() });
    }
    // What was prepared before the load and checked behind it stands elsewhere, and would hide what happened.
    let aside = |event: &&observation::Event| {
        use observation::EventKind::{Note, Parted, Phase, Plan};
        let inside = event.at > Nanos::ZERO && event.at < trial.window.end;
        matches!(event.kind, Phase | Plan | Parted) || (event.kind == Note && !inside)
    };
    let events = trial.events.iter().filter(|event| !aside(event));
    guides.extend(events.map(|event| Guide::Event { x: event.at.seconds(), text: event.text.clone() }));
    let x = Axis::new("since the start of the trial", Quantity::Seconds, Spacing::Linear);
    Panel { guides, ..Panel::new(title, span, x, y, series) }
}

/// `3: random-read, 32 outstanding, target`.
fn name(trial: &TrialSummary) -> String {
    let streams: Vec<&str> = trial.label.streams.iter().map(|stream| stream.name.as_str()).collect();
    let levels = trial.label.factors.iter().map(Factor::in_words);
    let mut parts = vec![streams.join(" and ")];
    parts.extend(levels.filter(|level| !parts[0].contains(level.as_str())).collect::<Vec<_>>());
    let cut = if trial.interrupted { ", interrupted" } else { "" };
    format!("{}, {} (trial {}{cut})", parts.join(", "), trial.label.system, trial.label.index)
}

/// Merges intervals into at most `columns`; the band is the least and greatest of what was merged.
fn dense(
    trial: &TrialSummary,
    stream: &StreamSummary,
    values: Vec<(f64, Option<f64>)>,
    columns: usize,
    quantity: Quantity,
) -> Series {
    let size = values.len().div_ceil(columns).max(1);
    let label = trial.label.stream_name(stream.stream);
    let points = values.chunks(size).filter_map(|chunk| {
        let seen: Vec<f64> = chunk.iter().filter_map(|(_, value)| *value).filter(|value| value.is_finite()).collect();
        let middle = (chunk[0].0 + chunk[chunk.len() - 1].0) / 2.0;
        let mean = seen.iter().sum::<f64>() / seen.len() as f64;
        let (low, high) = seen.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
        let text = format!("{label} at {}: {}", Quantity::Seconds.text(middle), quantity.text(mean));
        let banded = size > 1;
        let (low, high) = if banded { (low, high) } else { (f64::NAN, f64::NAN) };
        (!seen.is_empty()).then(|| Datum { low, high, ..Datum::bare(middle, mean, text) })
    });
    let look = Look { slot: usize::from(stream.stream), provenance: trial.provenance };
    Series { name: label.to_owned(), look, form: Form::Dense, points: points.collect() }
}

/// The means of the rounds, each over its share of the end of the window.
fn rounds(trial: &TrialSummary, stream: &StreamSummary) -> Option<Series> {
    let rounds = stream.steady.rounds.as_ref().filter(|rounds| !rounds.means.is_empty())?;
    let length = trial.window.length().seconds() / rounds.means.len() as f64;
    let start = trial.window.start.seconds();
    let mut points: Vec<Datum> = rounds
        .means
        .iter()
        .enumerate()
        .map(|(at, mean)| {
            let text = format!("round {}: {}", at + 1, Quantity::Rate.text(*mean));
            Datum::bare(start + length * at as f64, *mean, text)
        })
        .collect();
    let last = *rounds.means.last()?;
    points.push(Datum::bare(trial.window.end.seconds(), last, String::new()));
    let look = Look { slot: usize::from(stream.stream), provenance: trial.provenance };
    Some(Series { name: "means of parts".into(), look, form: Form::Steps, points })
}

fn table(trials: &[&TrialSummary], caveats: &Caveats) -> Table {
    let work = counted_in(trials);
    let rows = trials.iter().flat_map(|trial| trial.streams.iter().map(|stream| row(trial, stream, work, caveats)));
    let mut table = Table::new("Every trial in the order of execution", rows);
    table.trials = trials.iter().map(|trial| trial.label.index).collect();
    table.without_empty_columns()
}

/// The word for the work of trials.
fn counted_in(trials: &[&TrialSummary]) -> &'static str {
    let asking = trials.iter().all(|trial| trial.server.is_some());
    if asking { Work::Transactions.word() } else { Work::Operations.word() }
}

fn row(trial: &TrialSummary, stream: &StreamSummary, work: &str, caveats: &Caveats) -> Vec<Field> {
    let label = &trial.label;
    let rounds = stream.steady.rounds.as_ref();
    let marks = caveats.marks(&trial.caveats, Touches::All);
    vec![
        number("trial", "trial", f64::from(label.index), Quantity::Count),
        word("system", "system", &label.system),
        word("workload", "stream", label.stream_name(stream.stream)),
        word("at", "factors", factors_text(&label.factors)),
        number("replicate", "replicate", f64::from(label.replicate) + 1.0, Quantity::Count),
        number("window", "window_s", trial.window.length().seconds(), Quantity::Seconds),
        estimate(work, "throughput_per_s", &stream.throughput_per_s, Quantity::Rate).marked(marks),
        optional("parts differ by", "rounds_range", rounds.map(|rounds| rounds.range), Quantity::Share),
        optional("parts rise by", "rounds_slope", rounds.map(|rounds| rounds.slope), Quantity::Share),
        word("steady", "steady", stream.steady.answer.word()).only_if(!trial.fixed_work),
        optional("Little's gap", "little_gap", stream.little_gap_pct.map(|gap| gap / 100.0), Quantity::Share),
    ]
}
