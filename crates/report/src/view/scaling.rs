//! Throughput by modules or workers: one panel a stream, with what proportion would give.

use super::axes::{amount, factor_axis, key, series};
use super::curve::{Curve, Sweep};
use super::each_once;
use super::figure::{Figure, Form, Guide, Panel, Span};
use super::given::Rate;
use crate::caveats::{Caveats, Touches};
use analysis::{Findings, Scaling};

/// One panel a stream; systems share a panel.
pub fn figure(findings: &Findings, sweep: &Sweep, caveats: &Caveats) -> Figure {
    let factor = sweep.factor_said();
    let streams = each_once(sweep.curves.iter().map(|curve| curve.at.stream.as_str()));
    let several = sweep.curves.len() > streams.len();
    let span = match streams.len() {
        1 => Span::Full,
        2 | 4 => Span::Half,
        _ => Span::Third,
    };
    let (title, table) = (format!("Throughput by {factor}"), super::points::table(sweep, caveats));
    let scales =
        if streams.len() > 1 { "Each workload has its own scale, from zero." } else { "The scale begins at zero." };
    let note = format!("The broken grey line is what proportion to {factor} would give. {scales}");
    let panels = streams.iter().map(|stream| panel(findings, sweep, caveats, stream, span)).collect();
    let key = if several { key(sweep, Form::Line) } else { Vec::new() };
    Figure { key, ..Figure::new(title, vec![note], panels, table) }
}

fn panel(findings: &Findings, sweep: &Sweep, caveats: &Caveats, stream: &str, span: Span) -> Panel {
    let curves: Vec<&Curve> = sweep.curves.iter().filter(|curve| curve.at.stream == stream).collect();
    let rate = Rate::of(sweep);
    let wanted = (Form::Line, rate.quantity, Touches::All);
    let series = curves.iter().map(|curve| series(sweep, curve, caveats, wanted, |point| rate.at(point)));
    let mut x = factor_axis(sweep);
    x.spacing = super::figure::Spacing::FromZero;
    let y = amount(&rate.title, rate.quantity);
    let guides = curves.iter().filter_map(|curve| proportion(sweep, curve, &rate)).collect();
    Panel { guides, ..Panel::new(title(findings, sweep, stream, &curves), span, x, y, series.collect()) }
}

/// The name of the stream with its efficiency, when one system was asked.
fn title(findings: &Findings, sweep: &Sweep, stream: &str, curves: &[&Curve]) -> String {
    let here = |found: &&Scaling| found.point.experiment == sweep.experiment && found.point.stream == stream;
    match findings.findings.iter().filter_map(Scaling::of).find(here) {
        Some(found) if curves.len() == 1 => {
            format!("{stream}: {} of proportional", units::percent(found.efficiency.value))
        }
        _ => stream.to_owned(),
    }
}

fn proportion(sweep: &Sweep, curve: &Curve, rate: &Rate) -> Option<Guide> {
    let first = curve.points.first()?;
    let from = sweep.level(first)?.number()?;
    let to = sweep.levels.last()?.number()?;
    let one = rate.at(first)?.value / from;
    (one.is_finite() && from > 0.0).then(|| Guide::Curve {
        look: None,
        points: vec![(0.0, 0.0), (to, one * to)],
        text: "proportional".into(),
    })
}
