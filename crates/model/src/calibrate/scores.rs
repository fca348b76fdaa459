//! What a model gets wrong of rows that its fit did not see.
//!
//! The one idea: a row alone is mostly between others; a curve and the largest sizes are what a prediction is asked for. Each is
//! left out once, the rest is fitted, and what was left out is a score beyond what that fit knew of its own doubt.

use super::{Asked, calibrate, learned, of_row};
use crate::file::{BEFORE, Description, Discrepancy, ENOUGH, before, distance};
use crate::fit::t95;
use crate::kind::Shape;
use crate::rows::{Row, Table};

/// What a fit on other rows got wrong.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Score {
    quantity: String,
    shape: Shape,
    /// Logarithm of prediction over value.
    error: f64,
    /// Variance of it that the fit and the row account for.
    known: f64,
    /// As [`distance`].
    distance: f64,
    /// Values of one row that follow from each other share one.
    weight: f64,
}

/// The scores of everything that can be left out.
pub(super) fn scores(model: &Description, tables: &[Table]) -> Vec<Score> {
    let mut found = Vec::new();
    each_left(model, tables, |others, table, out| {
        let Ok(calibrated) = calibrate(model, others) else { return };
        found.extend(out.iter().flat_map(|row| of_one(&calibrated.model, table, row)));
    });
    found
}

/// A value that a fit on other rows was asked for, with the interval that was stated.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// The row.
    pub row_id: String,
    /// The quantity.
    pub quantity: String,
    /// What the row gives.
    pub value: f64,
    /// What the model said.
    pub predicted: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Held {
    /// Whether the value lies inside.
    pub fn inside(&self) -> bool {
        (self.low..=self.high).contains(&self.value)
    }
}

/// Every row, curve and upper half that can be left out, predicted by a model that was fitted and learned its own errors
/// without it.
pub fn held(model: &Description, tables: &[Table]) -> Vec<Held> {
    let mut found = Vec::new();
    each_left(model, tables, |others, table, out| {
        let Ok(calibrated) = calibrate(model, others) else { return };
        let model = learned(&calibrated.model, others);
        let Some(answer) = model.answer_for(table) else { return };
        for Asked { row, metric, value, rounding, .. } in out.iter().flat_map(|row| of_row(&model, answer, row)) {
            let Ok(predicted) = model.answer(row, &metric.quantity) else { continue };
            let (low, high) = model.interval(row, &metric.quantity, rounding);
            let (row_id, quantity) = (row.id.clone(), metric.quantity.clone());
            found.push(Held { row_id, quantity, value, predicted, low, high });
        }
    });
    found
}

/// Leaves out one set of rows after the other: the tables without it, its table, and the rows.
fn each_left(model: &Description, tables: &[Table], mut take: impl FnMut(&[Table], &Table, &[Row])) {
    for (at, table) in tables.iter().enumerate() {
        for left in left(model, table) {
            let mut others = tables.to_vec();
            let rows = std::mem::take(&mut others[at].rows);
            let (out, kept): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| left.contains(&row.id));
            others[at].rows = kept;
            take(&others, table, &out);
        }
    }
}

/// Sets of rows to be left out together: each row, each curve of several, and the upper half of a curve of four and more.
fn left(model: &Description, table: &Table) -> Vec<Vec<String>> {
    let Some(answer) = model.answer_for(table) else { return Vec::new() };
    let own: Vec<&Row> =
        table.rows.iter().filter(|row| answer.takes(row) && !of_row(model, answer, row).is_empty()).collect();
    let mut sets: Vec<Vec<String>> = own.iter().map(|row| vec![row.id.clone()]).collect();
    let curve = |row: &Row| -> Vec<Option<String>> {
        let others = answer.inputs.iter().filter(|input| **input != answer.size);
        others.map(|input| row.text(input).map(str::to_owned)).collect()
    };
    let mut seen: Vec<Vec<Option<String>>> = Vec::new();
    for row in &own {
        if seen.contains(&curve(row)) {
            continue;
        }
        seen.push(curve(row));
        let mut same: Vec<&Row> = own.iter().copied().filter(|other| curve(other) == curve(row)).collect();
        same.sort_by(|a, b| a.number(&answer.size).unwrap_or(0.0).total_cmp(&b.number(&answer.size).unwrap_or(0.0)));
        let ids = |rows: &[&Row]| rows.iter().map(|row| row.id.clone()).collect::<Vec<String>>();
        if same.len() > 1 && same.len() < own.len() {
            sets.push(ids(&same));
        }
        if same.len() > 3 {
            sets.push(ids(&same[same.len() / 2..]));
        }
    }
    sets
}

fn of_one(model: &Description, table: &Table, row: &Row) -> Vec<Score> {
    let Some(answer) = model.answer_for(table) else { return Vec::new() };
    let asked = of_row(model, answer, row);
    let shape =
        |quantity: &str| model.kind.answers().iter().find(|known| known.name == quantity).map(|known| known.shape);
    let one = |asked: &Asked| {
        let Asked { row, metric, value, rounding, weight, .. } = asked;
        let shape = shape(&metric.quantity)?;
        let error = libm::log(model.answer(row, &metric.quantity).ok()? / value);
        let known = model.variance(row, &metric.quantity, *rounding);
        let distance = distance(row.number(&answer.size), answer.fitted);
        let score = Score { quantity: metric.quantity.clone(), shape, error, known, distance, weight: *weight };
        (error.is_finite() && known.is_finite() && known < UNKNOWN).then_some(score)
    };
    asked.iter().filter_map(one).collect()
}

/// A fit that knows a value no better than by a factor of e to this power has nothing to say of its form.
const UNKNOWN: f64 = 1.0;

/// What the scores say of a model's form.
pub(super) fn discrepancy(model: &Description, scores: &[Score]) -> Discrepancy {
    let each: Vec<(String, f64)> = model
        .kind
        .answers()
        .iter()
        .map(|known| (known.name.to_owned(), each(known.shape, known.name, scores)))
        .collect();
    let count = scores.iter().map(|score| score.weight).sum::<f64>();
    let mut found = Discrepancy { each, scores: count as u32, stretch: 1.0 };
    if found.scores >= ENOUGH {
        let reach = t95(BEFORE + f64::from(found.scores));
        let off = |score: &Score| {
            let each = found.each.iter().find(|(known, _)| *known == score.quantity).map_or(0.0, |(_, each)| *each);
            let beside = each * score.distance;
            score.error.abs() / libm::sqrt(score.known + beside * beside) / reach
        };
        let mut ratios: Vec<f64> = scores.iter().map(off).collect();
        ratios.sort_by(f64::total_cmp);
        // The least that covers 95 of 100, and one more for the row that is still to come.
        let place = libm::ceil(0.95 * (ratios.len() + 1) as f64) as usize;
        found.stretch = ratios[place.clamp(1, ratios.len()) - 1].max(LEAST);
    }
    found.each.retain(|(name, _)| scores.iter().any(|score| score.quantity == *name));
    found
}

/// Scores stretch intervals, and shrink them by no more than this.
const LEAST: f64 = 0.5;

/// What a quantity is off by for a doubling: what its own scores say, those of quantities of the same shape at half their
/// weight, and what was known before.
fn each(shape: Shape, quantity: &str, scores: &[Score]) -> f64 {
    let (mut sum, mut weights) = (BEFORE * before(shape) * before(shape), BEFORE);
    for score in scores.iter().filter(|score| score.shape == shape) {
        let weight = if score.quantity == quantity { score.weight } else { 0.5 * score.weight };
        sum += weight * (score.error * score.error - score.known).max(0.0) / (score.distance * score.distance);
        weights += weight;
    }
    libm::sqrt(sum / weights)
}
