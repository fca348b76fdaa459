//! Fixed work: the time it took, the CPU time it took, and what its disk went through, by width.

use super::axes::{amount, factor_axis, key, series, time};
use super::curve::Sweep;
use super::figure::{Figure, Form, Panel, Series, Span};
use super::given::Rate;
use super::quantity::Quantity;
use crate::caveats::{Caveats, Touches};
use analysis::{Estimate, PointSummary};
use observation::factor;

/// The panel of CPU, which is that of one copy where several ran.
const CPU: &str = "CPU of all programs";

type Pick = fn(&PointSummary) -> Option<Estimate>;

const WHISKERS: &str = "Whiskers show the interval of each point where it is wider than the mark.";

/// What each panel shows: title, quantity, what it picks, and which caveats touch it.
const PANELS: [(&str, Quantity, Pick, Touches); 4] = [
    ("elapsed", Quantity::Seconds, |point| point.elapsed_s, Touches::All),
    (CPU, Quantity::Seconds, |point| point.cpu_elapsed_s, Touches::Tail),
    ("mean time of a disk request", Quantity::Milliseconds, |point| point.disk_wait_ms, Touches::Tail),
    ("busiest disk, share of the time", Quantity::Share, |point| point.disk_utilisation, Touches::Tail),
];

/// Up to five panels; what was not observed has none.
pub fn figure(sweep: &Sweep, caveats: &Caveats) -> Figure {
    let of_all = sweep.curves.iter().flat_map(|curve| &curve.points).next().map_or(CPU, |point| cpu_of_all(point));
    let panels = PANELS.iter().map(|(title, quantity, pick, touched)| {
        let title = if *title == CPU { of_all } else { title };
        panel(sweep, caveats, title, (Form::Line, *quantity, *touched), *pick)
    });
    let mut panels: Vec<Panel> = panels.filter(|panel| !panel.is_empty()).collect();
    // Who asks for accounts an hour looks for them beside the time.
    let rate = Rate::of(sweep);
    if rate.quantity == Quantity::PerHour {
        let wanted = (Form::Line, rate.quantity, Touches::All);
        panels.insert(
            1.min(panels.len()),
            panel(sweep, caveats, &rate.title, wanted, |point| rate.at(point).filter(|_| point.elapsed_s.is_some())),
        );
    }
    if panels.len() % 2 == 1 {
        panels[0].span = Span::Full;
    }
    let title = format!("Elapsed time, CPU and disk by {}", sweep.factor_said());
    let table = super::points::table(sweep, caveats);
    let cpu = "CPU: elapsed time times busy cores, other programs included.";
    let a_copy = "CPU per copy: elapsed time times busy cores of the machine, other programs included, divided by the number of copies.";
    let mut drawn = panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points);
    let whiskers = drawn.find(|point| point.low.is_finite()).map(|_| WHISKERS.to_owned());
    let notes =
        whiskers.into_iter().chain(table.notes_of(&[("CPU per copy", a_copy), ("CPU, all programs", cpu)])).collect();
    Figure { key: key(sweep, Form::Line), ..Figure::new(title, notes, panels, table) }
}

/// The title of the CPU that fixed work took, which is that of one copy where several ran.
pub(super) fn cpu_of_all(point: &PointSummary) -> &'static str {
    match point.at.factors.iter().any(|factor| factor::short_name(&factor.name) == factor::WIDTH) {
        true => "CPU per copy",
        false => "CPU, all programs",
    }
}

fn panel(
    sweep: &Sweep,
    caveats: &Caveats,
    title: &str,
    wanted: (Form, Quantity, Touches),
    pick: impl Fn(&PointSummary) -> Option<Estimate>,
) -> Panel {
    let quantity = wanted.1;
    let all = sweep.curves.iter().map(|curve| series(sweep, curve, caveats, wanted, &pick));
    let all: Vec<Series> = all.filter(|series| !series.points.is_empty()).collect();
    let mut y = match quantity {
        Quantity::Share | Quantity::PerHour => amount(title, quantity),
        _ => time(title, quantity, &all),
    };
    if quantity == Quantity::Share {
        y.range = Some((0.0, 1.0));
    }
    Panel::new(title, Span::Half, factor_axis(sweep), y, all)
}
