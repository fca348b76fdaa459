//! What a model gets wrong of rows that its fit did not see.
//!
//! The one idea: a row alone is mostly between others; a curve and the largest sizes are what a prediction is asked for. Each is
//! left out once, the rest is fitted, and what was left out is a score beyond what that fit knew of its own doubt.

use super::{Asked, best, of_row, unfitted};
use crate::file::{Description, Discrepancy, ENOUGH, NEAR, before, beyond, freedom, learned as deviation};
use crate::fit::t95;
use crate::rows::{Row, Table};
use std::collections::BTreeSet;

/// What a fit on other rows got wrong.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Score {
    quantity: String,
    /// The quantity with the words of the row.
    said: String,
    /// Logarithm of prediction over value.
    error: f64,
    /// Variance of it that the fit and the rounding of the row account for.
    known: f64,
    /// As [`beyond`].
    beyond: f64,
    /// Values of one row that follow from each other share one.
    weight: f64,
    /// Whether no other row was left out with it: what is left out several times counts once.
    alone: bool,
}

impl Score {
    fn near(&self) -> bool {
        self.beyond < NEAR
    }
}

/// The scores of everything that can be left out.
pub(super) fn scores(model: &Description, tables: &[Table]) -> Vec<Score> {
    let (mut found, model) = (Vec::new(), &unfitted(model));
    each_left(model, tables, |others, table, out| {
        let Ok(calibrated) = best(model, others, 0) else { return };
        let alone = out.len() == 1;
        found.extend(
            out.iter().flat_map(|row| of_one(&calibrated.model, table, row)).map(|score| Score { alone, ..score }),
        );
    });
    found
}

/// Leaves out one set of rows after the other: the tables without it, its table, and the rows.
pub(super) fn each_left(model: &Description, tables: &[Table], mut take: impl FnMut(&[Table], &Table, &[Row])) {
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
    let one = |asked: Asked| {
        let Asked { row, metric, value, rounding, weight, .. } = asked;
        let error = libm::log(model.answer(row, &metric.quantity).ok()? / value);
        let (below, above) = model.doubts(row, &metric.quantity);
        let known = if error > 0.0 { below } else { above } + rounding * rounding / 3.0;
        let beyond = beyond(row.number(&answer.size), answer.fitted);
        let (quantity, said) = (metric.quantity.clone(), answer.said(row, &metric.quantity));
        let score = Score { quantity, said, error, known, beyond, weight, alone: true };
        (error.is_finite() && known.is_finite() && known < UNKNOWN).then_some(score)
    };
    of_row(model, answer, row).into_iter().filter_map(one).collect()
}

/// A fit that knows a value no better than by a factor of e to this power has nothing to say of its form.
const UNKNOWN: f64 = 1.0;

/// What the scores say of a model's form: among the rows by quantity and by what a row asks in words, and beyond them by
/// quantity.
pub(super) fn discrepancy(model: &Description, scores: &[Score]) -> Discrepancy {
    let among = |own: &dyn Fn(&&Score) -> bool| {
        let own = scores.iter().filter(|score| score.near()).filter(own);
        deviation(model.noise, own.map(|score| (score.error * score.error, score.known, score.weight)))
    };
    let quantities: BTreeSet<&String> = scores.iter().map(|score| &score.quantity).collect();
    let words: BTreeSet<&String> = scores.iter().map(|score| &score.said).collect();
    let mut found = Discrepancy { stretch: OVER_MACHINES, ..Discrepancy::default() };
    found.near = quantities.iter().map(|own| ((*own).clone(), among(&|score| score.quantity == **own))).collect();
    for quantity in &found.near {
        let known = model.kind.answers().iter().find(|known| known.name == quantity.0);
        let own = scores.iter().filter(|score| !score.near() && score.quantity == quantity.0).map(|score| {
            let doublings = score.beyond * score.beyond;
            (score.error * score.error / doublings, (score.known + quantity.1 * quantity.1) / doublings, score.weight)
        });
        found.each.push((quantity.0.clone(), deviation(known.map_or(0.0, |known| before(known.shape)), own)));
    }
    let words = words.difference(&quantities);
    found.near.extend(words.map(|own| ((*own).clone(), among(&|score| score.said == **own))));
    found.scores = scores.iter().filter(|score| score.alone).map(|score| score.weight).sum::<f64>() as u32;
    if found.scores >= ENOUGH {
        let own = |names: &[(String, f64)], name: &str| {
            names.iter().find(|(own, _)| own == name).map_or(0.0, |(_, off)| *off)
        };
        let reach = t95(freedom(found.scores));
        let off = |score: &Score| {
            let beyond = score.beyond * own(&found.each, &score.quantity);
            let near = own(&found.near, &score.said);
            score.error.abs() / libm::sqrt(score.known + near * near + beyond * beyond) / reach
        };
        found.stretch = covering(scores.iter().map(off).collect());
    }
    found
}

/// The least factor on all reaches that covers 95 of 100, and one more for the row that is still to come: errors are given in
/// reaches.
pub(crate) fn covering(mut errors: Vec<f64>) -> f64 {
    errors.sort_by(f64::total_cmp);
    let place = libm::ceil(0.95 * (errors.len() + 1) as f64) as usize;
    errors[place.clamp(1, errors.len()) - 1].max(LEAST)
}

/// Scores stretch intervals, and shrink them by no more than this.
const LEAST: f64 = 0.5;
/// The stretch of a model with few scores: what covers 95 of 100 values that were left out of all models that ship.
const OVER_MACHINES: f64 = 0.88;
