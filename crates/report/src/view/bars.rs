//! Words along the axis, or nothing varied at all: a bar for every level and curve.

use super::axes::{datum, factor_title, key, look};
use super::curve::Sweep;
use super::figure::{Axis, Datum, Figure, Form, Panel, Series, Spacing, Span};
use super::given::{Rate, frontier};
use super::quantity::Quantity;
use crate::caveats::{Caveats, Touches};
use analysis::{Estimate, PointSummary};
use observation::{Level, Provenance};

type Pick<'a> = Box<dyn Fn(&PointSummary) -> Option<Estimate> + 'a>;

/// Said under bars, as far as they have it.
pub fn whiskers(panels: &[Panel]) -> String {
    let all = || panels.iter().flat_map(|panel| &panel.series);
    let any = |is: fn(&Datum) -> bool| all().flat_map(|series| &series.points).any(is);
    let mut says = "Whiskers show intervals.".to_owned();
    if any(|point| point.high.is_finite() && point.high > WIDE * point.x.max(point.y)) {
        says += " An arrow at a whisker: the interval runs off the chart.";
    }
    if any(|point| point.low.is_finite() && point.high == f64::INFINITY) {
        says += " A pale bar with an arrow is a lower bound: the value lies beyond it, so its length says nothing about order.";
    }
    if all().any(|series| series.look.provenance == Provenance::Simulated) {
        says += " Dashed outlines are simulated.";
    }
    says
}

/// An end that is so many times its value may lie beyond what is drawn.
const WIDE: f64 = 1.5;

/// Stands where a bar would.
const UNKNOWN: &str = "unknown";

/// What a panel of bars shows.
struct Shown<'a> {
    title: String,
    quantity: Quantity,
    touched: Touches,
    pick: Pick<'a>,
}

fn shown(rates: &[Rate]) -> Vec<Shown<'_>> {
    let panel = |title: &str, quantity, touched, pick| Shown { title: title.to_owned(), quantity, touched, pick };
    let worked = rates.iter().map(|rate| -> Shown {
        let pick: Pick = Box::new(|point| no_elapsed(point, rate.at(point)?));
        panel(&rate.title, rate.quantity, Touches::All, pick)
    });
    let elapsed = panel("elapsed", Quantity::Seconds, Touches::All, Box::new(|point| point.elapsed_s));
    let times = [
        panel("CPU of all programs", Quantity::Seconds, Touches::Tail, Box::new(|point| point.cpu_elapsed_s)),
        panel(
            "p99 latency",
            Quantity::Milliseconds,
            Touches::Tail,
            Box::new(|point| no_elapsed(point, point.response_p99_ms)),
        ),
    ];
    [elapsed].into_iter().chain(worked).chain(times).collect()
}

fn no_elapsed(point: &PointSummary, estimate: Estimate) -> Option<Estimate> {
    point.elapsed_s.is_none().then_some(estimate)
}

/// Bars of work and of time; none when there is only one point, which a figure would not make plainer.
pub fn figure(sweep: &Sweep, caveats: &Caveats) -> Option<Figure> {
    let points: usize = sweep.curves.iter().map(|curve| curve.points.len()).sum();
    if points < 2 {
        return None;
    }
    let rates = Rate::each(sweep);
    let rates = if rates.is_empty() { vec![Rate::of(sweep)] } else { rates };
    let shown = shown(&rates);
    let panels = shown.iter().map(|shown| {
        let x = Axis::new(shown.title.clone(), shown.quantity, Spacing::FromZero);
        let (names, series) = rows(sweep, series(sweep, caveats, shown));
        let y = Axis::new(factor_title(sweep.factor_name(), sweep.numeric), Quantity::Plain, Spacing::Names(names));
        Panel::new(shown.title.clone(), Span::Half, x, y, series)
    });
    let title = match sweep.factor {
        Some(_) => format!("Rate and latency by {}", sweep.factor_said()),
        None => "Rate and latency".to_owned(),
    };
    let known = |panel: &Panel| panel.series.iter().flat_map(|series| &series.points).any(|one| one.word.is_empty());
    let panels = panels.filter(known).chain(frontier(sweep, caveats)).filter(|panel| !panel.is_empty());
    let panels: Vec<Panel> = panels.collect();
    let notes = vec![whiskers(&panels)];
    let key = if sweep.factor.is_some() { key(sweep, Form::Bars) } else { Vec::new() };
    Some(Figure { key, ..Figure::new(title, notes, panels, super::points::table(sweep, caveats)) })
}

/// Rows: the levels of the factor, or the curves themselves, without those that have nothing to show.
fn rows(sweep: &Sweep, mut all: Vec<Series>) -> (Vec<String>, Vec<Series>) {
    if sweep.factor.is_some() {
        return (sweep.levels.iter().map(|level| level.text().to_owned()).collect(), all);
    }
    for (row, series) in all.iter_mut().enumerate() {
        series.points.iter_mut().for_each(|point| point.y = row as f64);
    }
    (all.iter().map(|series| series.name.clone()).collect(), all)
}

fn series(sweep: &Sweep, caveats: &Caveats, shown: &Shown) -> Vec<Series> {
    let row_of = |curve: usize, point: &PointSummary| match &sweep.factor {
        Some(_) => sweep.level(point).and_then(|level| sweep.levels.iter().position(|other| *other == level)),
        None => Some(curve),
    };
    let all = sweep.curves.iter().enumerate().map(|(at, curve)| {
        let points = curve.points.iter().filter_map(|point| {
            let estimate = (shown.pick)(point).filter(|estimate| estimate.value.is_finite())?;
            let level = sweep.level(point).map(Level::text);
            let place = level.map_or_else(|| curve.name.clone(), |level| format!("{} · {level}", curve.name));
            let datum = datum(&estimate, shown.quantity, &place, &caveats.marks(&point.caveats, shown.touched));
            let y = row_of(at, point)? as f64;
            // An empty row would read as no time at all.
            if estimate.not_known() {
                return Some(Datum { word: UNKNOWN.to_owned(), ..Datum::bare(0.0, y, datum.readout) });
            }
            Some(Datum { x: datum.y, y, ..datum })
        });
        // Rows that are curves have their names beside them; one look for all says that they are alike.
        let look = if sweep.factor.is_some() { look(curve) } else { super::figure::Look { slot: 0, ..look(curve) } };
        Series { name: curve.name.clone(), look, form: Form::Bars, points: points.collect() }
    });
    all.filter(|series| !series.points.is_empty()).collect()
}
