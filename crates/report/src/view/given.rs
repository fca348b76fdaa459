//! What transactions give those who ask for them (postings, dialog steps, rows loaded), by the hour.
//!
//! The one idea: a reader of such a study thinks in what it gives, so this stands wherever the rate of operations would stand
//! elsewhere; and where there are two things to give, one is drawn against the other.
//!
//! What it does not do: it counts nothing; analysis has each of them with its interval.

use super::axes::{amount, datum, look};
use super::curve::Sweep;
use super::each_once;
use super::figure::{Axis, Datum, Form, Panel, Series, Spacing, Span};
use super::quantity::Quantity;
use crate::caveats::{Caveats, Touches};
use analysis::{Estimate, PointSummary};

/// The rate of a sweep: what its transactions give, by the hour, or else what is completed a second, in bytes where the study asks for them.
pub struct Rate {
    /// `postings an hour`.
    pub title: String,
    /// What it is counted in.
    pub quantity: Quantity,
    counts: Counts,
}

/// What a rate counts.
enum Counts {
    /// One of the things that transactions give.
    Given(String),
    /// What is completed.
    Completed,
    /// Bytes that are moved.
    Moved,
}

impl Rate {
    /// That of a sweep.
    pub fn of(sweep: &Sweep) -> Rate {
        let asked = || match sweep.bandwidth {
            true => Rate { title: "bandwidth".into(), quantity: Quantity::ByteRate, counts: Counts::Moved },
            false => Rate {
                title: sweep.work.unit().to_owned(),
                quantity: Quantity::Work(sweep.work),
                counts: Counts::Completed,
            },
        };
        Rate::each(sweep).into_iter().next().unwrap_or_else(asked)
    }

    /// Whether it is in the unit in which a load is offered.
    pub fn is_completed(&self) -> bool {
        matches!(self.counts, Counts::Completed)
    }

    /// What each of its streams gives first: a day posts, and the night beside it balances accounts.
    pub fn each(sweep: &Sweep) -> Vec<Rate> {
        let points = sweep.curves.iter().flat_map(|curve| &curve.points);
        let first = points.filter_map(|point| point.yields.first().map(|(name, _)| name.clone()));
        each_once(first).into_iter().map(Rate::given).collect()
    }

    fn given(what: String) -> Rate {
        Rate { title: format!("{what} an hour"), quantity: Quantity::PerHour, counts: Counts::Given(what) }
    }

    /// The rate at a point; none where it was not counted.
    pub fn at(&self, point: &PointSummary) -> Option<Estimate> {
        let what = match &self.counts {
            Counts::Given(what) => what,
            Counts::Completed => return Some(point.throughput_per_s),
            Counts::Moved => return Some(point.bytes_per_s),
        };
        point.yields.iter().find(|(name, _)| name == what).map(|(_, per_s)| per_s.scaled(3_600.0))
    }
}

/// What the transactions of a sweep give those who ask for them.
fn names(sweep: &Sweep) -> Vec<String> {
    let mut points = sweep.curves.iter().flat_map(|curve| &curve.points);
    points.next().map(|point| point.yields.iter().map(|(name, _)| name.clone()).collect()).unwrap_or_default()
}

/// Amounts that differ by no more of the greatest of them count as equal.
const EQUAL: f64 = 0.02;

/// Where transactions give two things, what one costs the other; none where the second does not change.
pub fn frontier(sweep: &Sweep, caveats: &Caveats) -> Option<Panel> {
    let [first, second] = <[String; 2]>::try_from(names(sweep)).ok()?.map(Rate::given);
    let title = format!("{} against {}", first.title, second.title);
    let at_x = sweep.curves.iter().flat_map(|curve| &curve.points).filter_map(|point| second.at(point));
    let (least, most) = at_x.fold((f64::INFINITY, 0.0f64), |(a, b), x| (a.min(x.value), b.max(x.value)));
    // Where the second is the same at all points, nothing is bought with it.
    if most - least <= EQUAL * most {
        return None;
    }
    let all = sweep.curves.iter().map(|curve| {
        let mut points: Vec<Datum> = curve
            .points
            .iter()
            .filter_map(|point| {
                let (x, y) = (second.at(point)?, first.at(point)?);
                let at = second.quantity.text(x.value);
                let place = format!("{} · {} · {at} at", curve.name, sweep.along(point));
                let marks = caveats.marks(&point.caveats, Touches::All);
                Some(Datum { x: x.value, ..datum(&y, first.quantity, &place, &marks) })
            })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series { name: curve.name.clone(), look: look(curve), form: Form::Line, points }
    });
    let x = Axis::new(second.title.clone(), second.quantity, Spacing::FromZero);
    Some(Panel::new(title, Span::Half, x, amount(&first.title, first.quantity), all.collect()))
}
