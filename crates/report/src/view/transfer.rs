//! Service time by transfer size, by ratio both ways, with the fitted form drawn; experiments on and off alignment beside
//! each other on the same scale.

use super::axes::{factor_axis, key, look, series};
use super::curve::{Curve, Sweep};
use super::figure::{Axis, Figure, Form, Guide, Panel, Series, Spacing, Span};
use super::quantity::Quantity;
use crate::caveats::{Caveats, Touches};
use analysis::{Findings, ServiceFit, ServiceForm};

/// Points of a drawn fit between one measured size and the next.
const STEPS_BETWEEN: u32 = 12;

/// Beyond so many steps one is thinner than the line that draws it.
const STEPS_SEEN: u32 = 24;

/// One column of panels an experiment: service time, and the data rate that follows.
pub fn figure(findings: &Findings, sweeps: &[&Sweep], caveats: &Caveats) -> Figure {
    let service: Vec<Panel> = sweeps.iter().map(|sweep| service(findings, sweep, caveats)).collect();
    let fitted = service.iter().any(|panel| !panel.guides.is_empty());
    let rate: Vec<Panel> = sweeps.iter().map(|sweep| rate(sweep, caveats)).collect();
    let note =
        fitted.then_some("The thin line is the fitted form: a time of its own for every operation, then a rate.");
    let notes = note.into_iter().map(str::to_owned).collect();
    let panels = same_scale(service).into_iter().chain(same_scale(rate)).collect();
    let table = super::points::joined(sweeps, caveats);
    let key = sweeps.first().map(|sweep| key(sweep, Form::Line)).unwrap_or_default();
    Figure { key, ..Figure::new("Service time and data rate by transfer size", notes, panels, table) }
}

fn service(findings: &Findings, sweep: &Sweep, caveats: &Caveats) -> Panel {
    let wanted = (Form::Marks, Quantity::Milliseconds, Touches::All);
    let all: Vec<Series> = sweep
        .curves
        .iter()
        .map(|curve| series(sweep, curve, caveats, wanted, |point| Some(point.service_mean_ms)))
        .collect();
    let y = Axis::new("service time, mean", Quantity::Milliseconds, Spacing::Log);
    let guides = sweep.curves.iter().filter_map(|curve| fit(findings, sweep, curve)).collect();
    Panel { guides, ..Panel::new(sweep.experiment, Span::Half, factor_axis(sweep), y, all) }
}

fn rate(sweep: &Sweep, caveats: &Caveats) -> Panel {
    let wanted = (Form::Line, Quantity::ByteRate, Touches::All);
    let all = sweep.curves.iter().map(|curve| series(sweep, curve, caveats, wanted, |point| Some(point.bytes_per_s)));
    let y = Axis::new("bytes a second", Quantity::ByteRate, Spacing::Log);
    Panel::new(format!("{}: data rate", sweep.experiment), Span::Half, factor_axis(sweep), y, all.collect())
}

fn fit(findings: &Findings, sweep: &Sweep, curve: &Curve) -> Option<Guide> {
    let mut fits = findings.findings.iter().filter_map(ServiceFit::of);
    let fit = fits.find(|fit| fit.point.same_stream(&curve.at)).filter(|fit| fit.form != ServiceForm::Neither)?;
    let sizes: Vec<f64> = sweep.levels.iter().filter_map(|level| level.number()).collect();
    let points: Vec<(f64, f64)> =
        drawn_at(fit, &sizes).into_iter().map(|bytes| (bytes, fitted_ms(fit, bytes))).collect();
    let drawable = points.iter().all(|(_, ms)| ms.is_finite() && *ms > 0.0);
    drawable.then(|| Guide::Curve { look: Some(look(curve)), points, text: "fit".into() })
}

/// Sizes between the measured ones, and both sides of each step as long as steps can be seen.
fn drawn_at(fit: &ServiceFit, sizes: &[f64]) -> Vec<f64> {
    let between = sizes.windows(2).flat_map(|pair| {
        let ratio = pair[1] / pair[0];
        (0..STEPS_BETWEEN).map(move |step| pair[0] * ratio.powf(f64::from(step) / f64::from(STEPS_BETWEEN)))
    });
    let mut all: Vec<f64> = between.chain(sizes.last().copied()).collect();
    let (least, most) = (all.first().copied().unwrap_or(0.0), all.last().copied().unwrap_or(0.0));
    let step = fit.step_bytes.filter(|_| fit.form == ServiceForm::Stepped).unwrap_or(0) as f64;
    let edges = (1..=STEPS_SEEN).flat_map(|k| [f64::from(k) * step, f64::from(k) * step + 1.0]);
    all.extend(edges.filter(|edge| step > 0.0 && (least..=most).contains(edge)));
    all.sort_by(f64::total_cmp);
    all
}

/// `base + bytes / rate`, with the bytes rounded up to whole steps where the form is stepped.
fn fitted_ms(fit: &ServiceFit, bytes: f64) -> f64 {
    let moved = match (fit.form, fit.step_bytes) {
        (ServiceForm::Stepped, Some(step)) if step > 0 => (bytes / step as f64).ceil() * step as f64,
        _ => bytes,
    };
    fit.base_ms.value + moved / fit.rate_bytes_per_s.value * 1e3
}

fn same_scale(mut panels: Vec<Panel>) -> Vec<Panel> {
    let values = panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points).map(|point| point.y);
    let (least, most) = values.filter(|y| *y > 0.0).fold((f64::INFINITY, 0.0f64), |(a, b), y| (a.min(y), b.max(y)));
    if least <= most {
        panels.iter_mut().for_each(|panel| panel.y.range = Some((least, most)));
    }
    if panels.len() == 1 {
        panels[0].span = Span::Half;
    }
    panels
}
