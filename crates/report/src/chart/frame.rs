//! The frame of a panel: its size, its margins, both scales, grid and labels.

use super::name::{self, Name};
use super::scale::{Kind, Scale};
use super::text_width;
use crate::view::{Axis, Guide, Panel, Quantity, Spacing, Span};

/// Sizes are in the units of the drawing; the page scales it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) x: Scale,
    pub(super) y: Scale,
}

/// A tick with its label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) text: String,
    /// The second line of a long name.
    pub(super) below: Option<String>,
}

impl Tick {
    fn new(at: f64, text: String) -> Tick {
        Tick { at, text, below: None }
    }
}

/// Height of one named row, and of one whose name may take two lines.
pub(super) const ROW: f64 = 26.0;
const ROW_OF_TWO: f64 = 34.0;

/// Names take no more than this share of the width.
const NAMES_MAX: f64 = 0.42;

/// Between a name and the left end of the figure, and between it and the frame.
const BESIDE_NAMES: f64 = 14.0;

/// What a panel needs beside its frame.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Labels {
    pub(super) x: Vec<Tick>,
    pub(super) y: Vec<Tick>,
    pub(super) x_unit: String,
    pub(super) y_unit: String,
}

/// Lays a panel out. `ends` is the room that labels at the right end of lines need.
pub(super) fn lay_out(panel: &Panel, ends: f64) -> (Frame, Labels) {
    let names = names(panel);
    let (width, height) = size(panel, &names);
    let top =
        if upper_guides(panel) > 0 { 34.0 + 15.0 * (upper_guides(panel).min(3) as f64 - 1.0).max(0.0) } else { 24.0 };
    let bottom = height - 40.0;
    let (y_kind, y_low, y_high) = value_range(panel, &panel.y, Along::Y);
    let y = match &panel.y.spacing {
        Spacing::Names(names) => Scale::new(Kind::Linear, -0.5, names.len() as f64 - 0.5, top, bottom),
        _ => Scale::new(y_kind, y_low, y_high, bottom, top),
    };
    let (y_ticks, y_unit) =
        if panel.is_rows() { (named(names), String::new()) } else { ticks(&panel.y, &y, (height / 42.0) as usize) };
    let texts = y_ticks.iter().flat_map(|tick| [Some(&tick.text), tick.below.as_ref()]).flatten();
    let widest = texts.map(|text| text_width(text)).fold(0.0, f64::max);
    // Wide panels of one figure stand under each other; a common margin keeps their axes in line.
    let least = if panel.span == Span::Full && !panel.is_rows() { 58.0 } else { 34.0 };
    let left = (widest + BESIDE_NAMES).clamp(least, width * NAMES_MAX);
    let right = width - 16.0_f64.max(ends);
    let (x_kind, x_low, x_high) = value_range(panel, &panel.x, Along::X);
    // Markers at the ends of the axis must not lie on the frame.
    let inset = if matches!(panel.x.spacing, Spacing::FromZero) || dense(panel) { 0.0 } else { 10.0 };
    let x = Scale::new(x_kind, x_low, x_high, left + inset, right - if dense(panel) { 0.0 } else { 10.0 });
    let (x_ticks, x_unit) = ticks(&panel.x, &x, ((right - left) / 85.0) as usize);
    let labels = Labels { x: thinned(x_ticks, &x), y: y_ticks, x_unit, y_unit };
    (Frame { width, height, left, right, top, bottom, x, y }, labels)
}

fn dense(panel: &Panel) -> bool {
    panel.series.iter().any(|series| series.form == crate::view::Form::Dense)
}

fn upper_guides(panel: &Panel) -> usize {
    let upper = |guide: &&Guide| matches!(guide, Guide::Upright { .. } | Guide::Event { .. } | Guide::Stretch { .. });
    panel.guides.iter().filter(upper).count()
}

/// Size of a panel that has no rows.
fn plain_size(span: Span) -> (f64, f64) {
    match span {
        Span::Full => (960.0, 330.0),
        Span::Half => (470.0, 280.0),
        Span::Third => (308.0, 200.0),
    }
}

/// The names of rows as they are shown, in one or two lines.
fn names(panel: &Panel) -> Vec<Name> {
    let Spacing::Names(names) = &panel.y.spacing else { return Vec::new() };
    name::shown(names, NAMES_MAX * plain_size(panel.span).0 - BESIDE_NAMES)
}

/// A tick for every row.
fn named(names: Vec<Name>) -> Vec<Tick> {
    let tick = |(at, name): (usize, Name)| Tick { at: at as f64, text: name.first, below: name.second };
    names.into_iter().enumerate().map(tick).collect()
}

fn size(panel: &Panel, names: &[Name]) -> (f64, f64) {
    let (width, height) = plain_size(panel.span);
    let row = if names.iter().any(|name| name.second.is_some()) { ROW_OF_TWO } else { ROW };
    (width, if panel.is_rows() { 74.0 + row * names.len().max(1) as f64 } else { height })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Along {
    X,
    Y,
}

/// The range of everything drawn along one axis, intervals included as far as they leave the points readable.
fn value_range(panel: &Panel, axis: &Axis, along: Along) -> (Kind, f64, f64) {
    let mut values: Vec<f64> = panel
        .series
        .iter()
        .flat_map(|series| &series.points)
        .flat_map(|point| {
            let value = if along == Along::X { point.x } else { point.y };
            let carries = panel.is_rows() == (along == Along::X);
            let reach = 1.6 * value.abs();
            // `max` and `min` of what is not a number would give the reach itself.
            let held =
                |end: f64| if carries && end.is_finite() { end.clamp(value - reach, value + reach) } else { value };
            [value, held(point.low), held(point.high)]
        })
        .collect();
    values.extend(panel.guides.iter().flat_map(|guide| guide_values(guide, along)));
    values.extend(axis.ticks.iter().map(|tick| tick.0));
    values.extend(axis.range.iter().flat_map(|(low, high)| [*low, *high]));
    let positive = axis.spacing == Spacing::Log;
    let usable = values.into_iter().filter(|value| value.is_finite() && (!positive || *value > 0.0));
    let (low, high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    let fixed = !axis.ticks.is_empty() || dense(panel) && along == Along::X;
    match axis.spacing {
        Spacing::FromZero => {
            (Kind::Linear, low.min(0.0), if fixed { high } else { high + 0.06 * (high - low.min(0.0)) })
        }
        Spacing::Linear | Spacing::Names(_) => {
            let room = if fixed { 0.0 } else { 0.08 * (high - low) };
            (Kind::Linear, low - room, high + room)
        }
        Spacing::Log if fixed => (Kind::Log, low, high),
        Spacing::Log => (Kind::Log, low / (high / low).powf(0.05), high * (high / low).powf(0.05)),
        Spacing::Nines => (Kind::Nines, 0.0, high),
    }
}

fn guide_values(guide: &Guide, along: Along) -> Vec<f64> {
    match (guide, along) {
        (Guide::Upright { x, low, high, .. }, Along::X) if !x.is_finite() => vec![*low, *high],
        (Guide::Upright { x, .. } | Guide::Event { x, .. }, Along::X) => vec![*x],
        (Guide::Stretch { from, to, .. }, Along::X) => vec![*from, *to],
        (Guide::Level { y, .. }, Along::Y) => vec![*y],
        (Guide::Curve { points, .. }, Along::X) => points.iter().map(|point| point.0).collect(),
        (Guide::Curve { points, .. }, Along::Y) => points.iter().map(|point| point.1).collect(),
        _ => Vec::new(),
    }
}

/// Ticks with their texts, and the unit that they share when it is not in the texts.
fn ticks(axis: &Axis, scale: &Scale, wanted: usize) -> (Vec<Tick>, String) {
    if !axis.ticks.is_empty() {
        return (axis.ticks.iter().map(|(at, text)| Tick::new(*at, text.clone())).collect(), String::new());
    }
    let wanted = wanted.clamp(2, 9);
    let (one, unit) = axis.quantity.axis_unit(scale.high.abs().max(scale.low.abs()));
    let at = if axis.quantity == Quantity::Seconds { scale.clock_ticks(wanted) } else { scale.ticks(wanted, one) };
    if matches!(axis.spacing, Spacing::Log | Spacing::Nines) {
        let text = |value: f64| match axis.spacing {
            Spacing::Nines => format!("{}%", axis.quantity.text(value).trim_start_matches('p')),
            _ => axis.quantity.text(value),
        };
        return (at.into_iter().map(|at| Tick::new(at, text(at))).collect(), String::new());
    }
    let texts = plain(&at.iter().map(|at| at / one).collect::<Vec<_>>());
    (at.into_iter().zip(texts).map(|(at, text)| Tick::new(at, text)).collect(), unit.to_owned())
}

/// All with as many decimals as the finest of them needs.
fn plain(values: &[f64]) -> Vec<String> {
    let exact = |decimals: usize| {
        values.iter().all(|value| {
            let scale = 10f64.powi(decimals as i32);
            ((value * scale).round() - value * scale).abs() < 1e-6 * scale.max(value.abs() * scale)
        })
    };
    let decimals = (0..6).find(|decimals| exact(*decimals)).unwrap_or(6);
    values.iter().map(|value| format!("{:.decimals$}", value + 0.0)).collect()
}

/// Labels that would touch the one before are left out; the last is kept in place of the one before it.
fn thinned(ticks: Vec<Tick>, scale: &Scale) -> Vec<Tick> {
    let mut kept: Vec<Tick> = Vec::new();
    let half = |tick: &Tick| text_width(&tick.text) / 2.0 + 5.0;
    let count = ticks.len();
    for (index, tick) in ticks.into_iter().enumerate() {
        let clash = |kept: &[Tick]| {
            kept.last().is_some_and(|last| scale.at(tick.at) - scale.at(last.at) < half(last) + half(&tick))
        };
        if index + 1 == count {
            while kept.len() > 1 && clash(&kept) {
                kept.pop();
            }
        }
        if !clash(&kept) {
            kept.push(tick);
        }
    }
    kept
}
