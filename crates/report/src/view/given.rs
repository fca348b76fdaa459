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
use observation::Level;

/// The rate of a sweep: what its transactions give, by the hour, or else what is completed a second.
pub struct Rate {
    /// `postings an hour`.
    pub title: String,
    /// What it is counted in.
    pub quantity: Quantity,
    /// Which of the things that they give; none for what is completed.
    given: Option<String>,
}

impl Rate {
    /// That of a sweep.
    pub fn of(sweep: &Sweep) -> Rate {
        let completed =
            || Rate { title: sweep.work.unit().to_owned(), quantity: Quantity::Work(sweep.work), given: None };
        Rate::each(sweep).into_iter().next().unwrap_or_else(completed)
    }

    /// What each of its streams gives first: a day posts, and the night beside it balances accounts.
    pub fn each(sweep: &Sweep) -> Vec<Rate> {
        let points = sweep.curves.iter().flat_map(|curve| &curve.points);
        let first = points.filter_map(|point| point.yields.first().map(|(name, _)| name.clone()));
        each_once(first).into_iter().map(Rate::given).collect()
    }

    fn given(what: String) -> Rate {
        Rate { title: format!("{what} an hour"), quantity: Quantity::PerHour, given: Some(what) }
    }

    /// The rate at a point; none where it was not counted.
    pub fn at(&self, point: &PointSummary) -> Option<Estimate> {
        let Some(what) = &self.given else { return Some(point.throughput_per_s) };
        point.yields.iter().find(|(name, _)| name == what).map(|(_, per_s)| per_s.scaled(3_600.0))
    }
}

/// What the transactions of a sweep give those who ask for them.
fn names(sweep: &Sweep) -> Vec<String> {
    let mut points = sweep.curves.iter().flat_map(|curve| &curve.points);
    points.next().map(|point| point.yields.iter().map(|(name, _)| name.clone()).collect()).unwrap_or_default()
}

/// Where transactions give two things, what one costs the other.
pub fn frontier(sweep: &Sweep, caveats: &Caveats) -> Option<Panel> {
    let [first, second] = <[String; 2]>::try_from(names(sweep)).ok()?.map(Rate::given);
    let title = format!("{} against {}", first.title, second.title);
    let all = sweep.curves.iter().map(|curve| {
        let mut points: Vec<Datum> = curve
            .points
            .iter()
            .filter_map(|point| {
                let (x, y) = (second.at(point)?, first.at(point)?);
                let level = sweep.level(point).map_or("", Level::text);
                let place =
                    format!("{} · {} {level} · {} at", curve.name, sweep.factor_said(), second.quantity.text(x.value));
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
