//! The curve of a sweep over a number: work done and the time it took, and one against the other.

use super::axes::{amount, datum, factor_axis, key, look, series, time};
use super::curve::Sweep;
use super::figure::{Axis, Datum, Figure, Form, Guide, Panel, Series, Spacing, Span};
use super::given::Rate;
use super::quantity::Quantity;
use crate::caveats::{Caveats, Touches};
use analysis::{Findings, Knee};
use observation::factor;

/// Throughput, response and the two against each other.
pub fn figure(findings: &Findings, sweep: &Sweep, caveats: &Caveats) -> Figure {
    let note = "Whiskers show the interval of each point where it is wider than the mark. An arrow at a whisker: the \
                interval runs off the chart. A pale mark with an arrow is a lower bound: the value lies beyond it, and no line is \
                drawn to it. Where latency is drawn, p99 has the large marks and p50 the small dots; an unknown p99 is left out.";
    let rate = Rate::of(sweep);
    let title = units::capital(&format!("{} and latency by {}", rate.title, sweep.factor_said()));
    let mut panels = vec![throughput(findings, sweep, caveats, &rate), response(sweep, caveats)];
    // One point is no curve.
    panels.extend(
        Some(against(sweep, caveats, &rate)).filter(|panel| panel.series.iter().any(|one| one.points.len() > 1)),
    );
    panels.extend(super::given::frontier(sweep, caveats));
    let table = super::points::table(sweep, caveats);
    Figure { key: key(sweep, Form::Line), ..Figure::new(title, vec![note.to_owned()], panels, table) }
}

fn throughput(findings: &Findings, sweep: &Sweep, caveats: &Caveats, rate: &Rate) -> Panel {
    let wanted = (Form::Line, rate.quantity, Touches::All);
    let series = sweep.curves.iter().map(|curve| series(sweep, curve, caveats, wanted, |point| rate.at(point)));
    let mut guides = knees(findings, sweep);
    if sweep.factor_name() == factor::RATE && rate.is_completed() {
        guides.extend(offered(sweep));
    }
    let y = amount(&rate.title, rate.quantity);
    Panel { guides, ..Panel::new(rate.title.clone(), Span::Full, factor_axis(sweep), y, series.collect()) }
}

/// What was asked for, where the rate itself was swept: a curve below it was not sustained.
fn offered(sweep: &Sweep) -> Option<Guide> {
    let rates: Vec<f64> = sweep.levels.iter().filter_map(|level| level.number()).collect();
    let (first, last) = (*rates.first()?, *rates.last()?);
    Some(Guide::Curve { look: None, points: vec![(first, first), (last, last)], text: "as offered".into() })
}

fn knees(findings: &Findings, sweep: &Sweep) -> Vec<Guide> {
    findings.findings.iter().filter_map(Knee::of).filter_map(|knee| upright(sweep, knee)).collect()
}

fn upright(sweep: &Sweep, knee: &Knee) -> Option<Guide> {
    // A band over all that was tried says nothing.
    let at = knee.at.filter(|_| !knee.anywhere())?;
    let curve = sweep.curves.iter().find(|curve| curve.is_of(&knee.point))?;
    let count = |level: f64| Quantity::Count.text(level);
    let text = match knee.stated() {
        Some(level) => format!("{} at {}", knee.word(), count(level)),
        None => format!("knee between {} and {}", count(at.low), count(at.high)),
    };
    // A value between the two would be drawn as if it were known.
    let x = knee.stated().unwrap_or(f64::NAN);
    Some(Guide::Upright { x, low: at.low, high: at.high, text, look: look(curve) })
}

fn response(sweep: &Sweep, caveats: &Caveats) -> Panel {
    let wanted = (Form::Line, Quantity::Milliseconds, Touches::Tail);
    let p50 = (Form::Thin, Quantity::Milliseconds, Touches::All);
    let mut all: Vec<Series> = Vec::new();
    for curve in &sweep.curves {
        let mut thin = series(sweep, curve, caveats, p50, |point| Some(point.response_p50_ms));
        let mut line = series(sweep, curve, caveats, wanted, |point| Some(point.response_p99_ms));
        named(&mut thin, "p50");
        named(&mut line, "p99");
        all.extend([thin, line]);
    }
    let drawn = |one: &Series| one.form == Form::Line && one.points.iter().any(|point| point.y.is_finite());
    let known = all.iter().any(drawn);
    let title = if known { "latency, p99 and p50" } else { "latency, p50; p99 is unknown" };
    Panel::new(title, Span::Half, factor_axis(sweep), time(title, Quantity::Milliseconds, &all), all)
}

fn named(series: &mut Series, quantile: &str) {
    for point in &mut series.points {
        point.readout = format!("{quantile} · {}", point.readout);
    }
}

/// Response against throughput: what a point on the curve costs in waiting.
fn against(sweep: &Sweep, caveats: &Caveats, rate: &Rate) -> Panel {
    let all: Vec<Series> = sweep
        .curves
        .iter()
        .map(|curve| {
            let points = curve.points.iter().filter_map(|point| {
                let response =
                    Some(point.response_p99_ms).filter(|known| known.value.is_finite() && !known.not_known())?;
                let x = rate.at(point).map(|per| per.value).filter(|per| per.is_finite())?;
                let at = rate.quantity.text(x);
                let place = format!("{} · {} · {at} at p99", curve.name, sweep.along(point));
                let marks = caveats.tail_marks(point);
                let datum = datum(&response, Quantity::Milliseconds, &place, &marks);
                Some(Datum { x, ..datum })
            });
            Series { name: curve.name.clone(), look: look(curve), form: Form::Line, points: points.collect() }
        })
        .collect();
    let title = "p99 latency against the rate";
    let x = Axis::new(rate.title.clone(), rate.quantity, Spacing::FromZero);
    Panel::new(title, Span::Half, x, time(title, Quantity::Milliseconds, &all), all)
}
