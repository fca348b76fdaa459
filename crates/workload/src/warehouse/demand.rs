//! What dialog steps and loads ask of a database, whatever it takes for them.
//!
//! The one idea: a step goes through the rows of its source in its period. Which rows stand in a report and how long its
//! period is are told by walks, how many rows a source has by the scale; members of dimensions are taken to be as likely.
//!
//! What it does not do: it knows nothing of the rows that a slice or a member leaves, which are found among all of the period.

use super::Spec;
use super::scale::{CUBES, QUARTERS, Scale};
use super::spec::{Users, Variables};
use super::statements::source;
use super::walk::{Axis, Move, Walks};
use crate::kind::Demand;
use std::sync::LazyLock;

/// Steps that tell what stands in reports.
const STEPS: u64 = 12_000;

/// Quarters of a step by move, and by what stands in its rows: the mean, zero where it is something else.
static QUARTERS_SEEN: LazyLock<[[f64; 7]; 6]> = LazyLock::new(|| {
    let walks = Walks::new(1, 1, Users::Free, Variables::Differ);
    let (mut seen, mut steps) = ([[0.0; 7]; 6], [0.0; 6]);
    for step in (0..STEPS).map(|n| walks.step(n)) {
        seen[step.made as usize][step.view.rows as usize] += step.view.quarters as f64;
        steps[step.made as usize] += 1.0;
    }
    seen.iter_mut().zip(steps).for_each(|(seen, steps)| seen.iter_mut().for_each(|sum| *sum /= steps));
    seen
});

/// Members that so many rows, drawn among so many, meet.
fn met(rows: f64, members: f64) -> f64 {
    members * -libm::expm1(-rows / members)
}

/// Rows of a quarter in what a report is answered from.
fn rows_a_quarter(scale: &Scale, rows: Axis) -> f64 {
    let facts = scale.rows as f64 / (CUBES.len() as u64 * QUARTERS) as f64;
    source(scale, rows).map_or(facts, |level| {
        let (products, customers) = level.sides();
        let periods = level.periods() as f64 / QUARTERS as f64;
        periods * met(facts / periods, (products * customers) as f64)
    })
}

/// Of a step that such a move leads to: the marker of its cube, and the report.
pub(super) fn step(spec: &Spec, made: Move) -> Demand {
    let scale = Scale::of(spec);
    let seen = Axis::ALL.iter().zip(QUARTERS_SEEN[made as usize]);
    Demand::over_sets(2.0, seen.map(|(rows, quarters)| quarters * rows_a_quarter(&scale, *rows)).sum(), 0.0)
}

/// Of a change of the orders of a delta in the source.
pub(super) fn change(spec: &Spec) -> Demand {
    let orders = Scale::of(spec).delta(spec.delta) as f64;
    Demand::over_sets(2.0, orders, orders + 1.0)
}

/// Of the load of a delta: orders are logged, activated and inserted, each with what it is looked up in, and rolled up into
/// the month of the delta.
pub(super) fn load(spec: &Spec) -> Demand {
    let scale = Scale::of(spec);
    let orders = scale.delta(spec.delta) as f64;
    let rolled = scale.levels().iter().map(|level| level.sides()).map(|(one, other)| met(orders, (one * other) as f64));
    let levels = scale.levels().len() as f64;
    let read = (2.0 + 3.0 + 4.0 + 4.0 * levels) * orders;
    Demand::over_sets(6.0 + levels, read, 3.0 * orders + rolled.sum::<f64>() + 2.0)
}
