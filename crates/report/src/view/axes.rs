//! Axes of a sweep, and points of curves as data: shared by every figure.

use super::curve::{Curve, Sweep};
use super::figure::{Axis, Datum, Form, Key, Look, Series, Spacing};
use super::quantity::Quantity;
use super::table::listed;
use crate::caveats::{Caveats, Touches};
use analysis::{Estimate, PointSummary, TOO_FEW};
use observation::{Provenance, factor};

/// Levels that span more than this ratio, or double from one to the next, are spaced by ratio.
const LOG_RATIO: f64 = 8.0;

/// Values that span more than this ratio are spaced by ratio where zero is not wanted.
const LOG_SPAN: f64 = 12.0;

/// What stands at an axis of a factor: with its unit, where levels are numbers without one.
pub fn factor_title(name: &str, numeric: bool) -> String {
    let unit = if factor::short_name(name) == factor::DISTANCE && numeric { " (km)" } else { "" };
    format!("{}{unit}", factor::said(name))
}

/// The axis of the swept factor: its levels are its ticks, as the study wrote them.
pub fn factor_axis(sweep: &Sweep) -> Axis {
    let name = sweep.factor_name();
    let ticks: Vec<(f64, String)> =
        sweep.levels.iter().filter_map(|level| level.number().map(|at| (at, level.text().to_owned()))).collect();
    let least = ticks.first().map_or(0.0, |tick| tick.0);
    let most = ticks.last().map_or(0.0, |tick| tick.0);
    let quantity = if name == factor::TRANSFER || name == factor::SIZE { Quantity::Bytes } else { Quantity::Plain };
    let spacing =
        if least > 0.0 && (most / least >= LOG_RATIO || doubles(&ticks)) { Spacing::Log } else { Spacing::Linear };
    Axis { title: factor_title(name, sweep.numeric), quantity, spacing, ticks, range: None }
}

fn doubles(ticks: &[(f64, String)]) -> bool {
    ticks.len() > 2 && ticks.windows(2).all(|pair| pair[1].0 >= 1.9 * pair[0].0)
}

/// Zero belongs on the axis of an amount of work.
pub fn amount(title: &str, quantity: Quantity) -> Axis {
    Axis::new(title, quantity, Spacing::FromZero)
}

/// Times span decades more often than not; then they are spaced by ratio.
pub fn time(title: &str, quantity: Quantity, series: &[Series]) -> Axis {
    let values = || series.iter().flat_map(|series| &series.points).map(|point| point.y).filter(|y| *y > 0.0);
    let (least, most) = values().fold((f64::INFINITY, 0.0f64), |(least, most), y| (least.min(y), most.max(y)));
    let spacing = if most / least > LOG_SPAN { Spacing::Log } else { Spacing::FromZero };
    Axis::new(title, quantity, spacing)
}

/// The look of a curve.
pub fn look(curve: &Curve) -> Look {
    Look { slot: curve.slot, provenance: curve.provenance }
}

/// A curve as a series of what `value` picks from its points. A point that has none is kept without a y, and breaks the line.
pub fn series(
    sweep: &Sweep,
    curve: &Curve,
    caveats: &Caveats,
    wanted: (Form, Quantity, Touches),
    value: impl Fn(&PointSummary) -> Option<Estimate>,
) -> Series {
    let (form, quantity, touched) = wanted;
    let points = curve.points.iter().filter_map(|point| {
        let level = sweep.level(point)?;
        let x = level.number()?;
        let Some(estimate) = value(point).filter(|estimate| estimate.value.is_finite()) else {
            return Some(Datum::bare(x, f64::NAN, String::new()));
        };
        let place = format!("{} · {}", curve.name, sweep.along(point));
        Some(Datum { x, ..datum(&estimate, quantity, &place, &caveats.marks(&point.caveats, touched)) })
    });
    let mut points: Vec<Datum> = points.collect();
    if points.iter().all(|point| !point.y.is_finite()) {
        points.clear();
    }
    Series { name: curve.name.clone(), look: look(curve), form, points }
}

/// The ends of an interval as they are drawn: none where it tells nothing. A bound keeps its infinite end, which is an arrow.
pub fn whisker(estimate: &Estimate) -> (f64, f64) {
    if estimate.tells() { (estimate.low, estimate.high) } else { (f64::NAN, f64::NAN) }
}

/// A value with its interval, at x 0.
pub fn datum(estimate: &Estimate, quantity: Quantity, place: &str, marks: &str) -> Datum {
    let n = if estimate.n > 1 { format!(", n {}", estimate.n) } else { String::new() };
    let interval = if let Some(ends) = quantity.ends(estimate) {
        format!(" ({ends})")
    } else if estimate.lower_bound() || estimate.not_known() {
        format!(" ({} observed)", quantity.text(estimate.value))
    } else {
        String::new()
    };
    let see = if marks.is_empty() { String::new() } else { format!(" · see {}", listed(marks)) };
    let bound = estimate.lower_bound();
    let value = match bound {
        true => format!("at least {}", quantity.text(estimate.low)),
        false if estimate.not_known() => TOO_FEW.to_owned(),
        false => quantity.text(estimate.value),
    };
    let readout = format!("{place}: {value}{interval}{n}{see}");
    // An interval that is too wide to tell anything runs off the chart: without it, its point would look like the surest.
    let drawn = if estimate.not_known() { (f64::NAN, f64::NAN) } else { (estimate.low, estimate.high) };
    Datum {
        x: 0.0,
        y: if bound || estimate.not_known() { estimate.low } else { estimate.value },
        low: drawn.0,
        high: drawn.1,
        readout,
        marks: marks.to_owned(),
        word: String::new(),
    }
}

/// The key of a sweep; a single measured curve needs none.
pub fn key(sweep: &Sweep, form: Form) -> Vec<Key> {
    let plain = sweep.curves.len() == 1 && sweep.curves[0].provenance == Provenance::Measured;
    if plain {
        return Vec::new();
    }
    sweep
        .curves
        .iter()
        .map(|curve| Key { name: with_provenance(&curve.name, curve.provenance), look: look(curve), form })
        .collect()
}

/// What was not measured says so in its name.
pub fn with_provenance(name: &str, provenance: Provenance) -> String {
    match provenance {
        Provenance::Measured => name.to_owned(),
        other => format!("{name} ({})", other.word()),
    }
}
