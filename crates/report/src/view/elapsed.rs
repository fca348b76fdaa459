//! Fixed work: the time it took, the CPU time it took, and what its disk went through, by width.

use super::axes::{factor_axis, key, series, time};
use super::curve::{Sweep, last_part};
use super::figure::{Figure, Form, Panel, Series, Span};
use super::quantity::Quantity;
use crate::doubts::{Doubts, Touches};
use analysis::{Estimate, Point};

type Pick = fn(&Point) -> Option<Estimate>;

/// What each panel shows: title, quantity, what it picks.
const PANELS: [(&str, Quantity, Pick); 4] = [
    ("elapsed", Quantity::Seconds, |point| point.elapsed_s),
    ("CPU-normalised elapsed", Quantity::CoreSeconds, |point| point.cpu_elapsed_s),
    ("mean wait of the disk", Quantity::Milliseconds, |point| point.disk_wait_ms),
    ("busiest disk at work", Quantity::Share, |point| point.disk_utilisation),
];

/// Up to four panels; what was not observed has none.
pub fn figure(sweep: &Sweep, doubts: &Doubts) -> Figure {
    let factor = sweep.factor.as_deref().map(last_part).unwrap_or_default();
    let panels = PANELS.iter().map(|(title, quantity, pick)| panel(sweep, doubts, title, *quantity, *pick));
    let mut panels: Vec<Panel> = panels.filter(|panel| !panel.is_empty()).collect();
    if panels.len() % 2 == 1 {
        panels[0].span = Span::Full;
    }
    Figure {
        notes: vec![
            "Whiskers show the interval of each point where it is wider than the mark. CPU-normalised elapsed is \
             elapsed time times busy cores, shared out over the work."
                .into(),
        ],
        key: key(sweep, Form::Line),
        ..Figure::new(format!("Elapsed time, CPU and disk by {factor}"), panels, super::points::table(sweep, doubts))
    }
}

fn panel(sweep: &Sweep, doubts: &Doubts, title: &str, quantity: Quantity, pick: Pick) -> Panel {
    let touched = if title == "elapsed" { Touches::All } else { Touches::Tail };
    let all: Vec<Series> =
        sweep.curves.iter().map(|curve| series(sweep, curve, doubts, (Form::Line, quantity, touched), pick)).collect();
    let all: Vec<Series> = all.into_iter().filter(|series| !series.points.is_empty()).collect();
    let mut y = time(title, quantity, &all);
    if quantity == Quantity::Share {
        y = super::axes::amount(title, quantity);
        y.range = Some((0.0, 1.0));
    }
    Panel::new(title, factor_axis(sweep), y, all)
}
