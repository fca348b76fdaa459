//! Calibration: the numbers of a model file that nobody gave, from rows.
//!
//! The one idea: what was given stays, what was assumed counts as what one knew before, and all else follows from the rows.
//! The doubt that is left is written down with the numbers, so that every prediction can carry it.
//!
//! What it does not do: it chooses no law and no row.

mod scores;
#[cfg(test)]
pub(crate) mod tests;

#[cfg(test)]
pub(crate) use scores::covering;

use crate::asked::{Shape, Unanswered};
use crate::file::{Answer, Description, Doubt, Metric, Origin, Parameter};
use crate::fit::{self, FitError, Fitted, Free, Target};
use crate::rows::{Row, Table, floor_pct};

/// A calibrated model, and what the fit had to say.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    /// The model with its new numbers.
    pub model: Description,
    /// The fit.
    pub fitted: Fitted,
    /// Names of the parameters that could move, in the order of the fit.
    pub free: Vec<String>,
    /// The values that were met: row, column, value, and what the model makes of it.
    pub met: Vec<Met>,
    /// Rows with a value that the model cannot answer, with the reason; they took no part.
    pub left_out: Vec<(String, Unanswered)>,
}

/// One value of a calibration row after the fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Met {
    /// The row.
    pub row_id: String,
    /// The column.
    pub metric: String,
    /// The value that the row gives.
    pub value: f64,
    /// What the calibrated model says.
    pub fitted: f64,
}

/// Why a model was not calibrated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CalibrateError {
    /// The tables hold no value that the model answers.
    #[error("the model `{0}` answers no value of these rows; it needs at least one")]
    NothingAnswered(String),
    /// The fit did not begin.
    #[error(transparent)]
    Fit(#[from] FitError),
}

/// A value to be met.
struct Asked<'a> {
    row: &'a Row,
    metric: &'a Metric,
    value: f64,
    spread: f64,
    /// Half of the last digit, as a share.
    rounding: f64,
    /// Values of one row that follow from each other share one.
    weight: f64,
}

/// Fits all parameters that were not given on every row of the tables that the model answers.
///
/// # Errors
/// When no row can be used, or one cannot be answered.
pub fn calibrate(model: &Description, tables: &[Table]) -> Result<Calibrated, CalibrateError> {
    best(model, tables, DRAWS)
}

/// Draws that a calibrated model keeps.
const DRAWS: usize = 40;

/// The best fit, and so many draws of what else is possible.
pub(crate) fn best(model: &Description, tables: &[Table], draws: usize) -> Result<Calibrated, CalibrateError> {
    let mut left_out = Vec::new();
    let mut asked: Vec<Asked> = tables.iter().flat_map(|table| values(model, table)).collect();
    asked.retain(|asked| match model.answer(asked.row, &asked.metric.quantity) {
        Ok(_) => true,
        Err(reason) => {
            left_out.push((asked.row.id.clone(), reason));
            false
        }
    });
    if asked.is_empty() {
        return Err(CalibrateError::NothingAnswered(model.name.clone()));
    }
    let places: Vec<usize> = moving(model);
    let free: Vec<Free> = places.iter().map(|place| free(model, *place)).collect();
    let targets: Vec<Target> =
        asked.iter().map(|a| Target { value: a.value, spread: a.spread, weight: a.weight }).collect();
    let mut numbers = model.numbers();
    let mut predict = |moved: &[f64]| -> Vec<f64> {
        places.iter().zip(moved).for_each(|(place, value)| numbers[*place] = *value);
        let answer = |asked: &Asked| model.answer_of(&numbers, asked.row, &asked.metric.quantity);
        asked.iter().map(|asked| answer(asked).unwrap_or(f64::NAN)).collect()
    };
    let fitted = fit::fit(&free, &targets, &mut predict)?;
    let draws = fit::draws(&free, &targets, &fitted, draws, &mut predict);
    let found = predict(&fitted.values);
    let met = asked.iter().zip(found).map(|(asked, fitted)| Met {
        row_id: asked.row.id.clone(),
        metric: asked.metric.column.clone(),
        value: asked.value,
        fitted,
    });
    let met: Vec<Met> = met.collect();
    let model = with(model, &places, &fitted, draws, &asked);
    Ok(Calibrated { free: free.into_iter().map(|free| free.name).collect(), model, fitted, met, left_out })
}

/// The model with what it is off by when rows, whole curves and the largest sizes are left out. Its numbers stay.
pub fn learned(model: &Description, tables: &[Table]) -> Description {
    let mut model = Description { discrepancy: None, ..model.clone() };
    for answer in &mut model.answers {
        answer.fitted = None;
    }
    let asked: Vec<Asked> = tables.iter().flat_map(|table| values(&model, table)).collect();
    let fitted: Vec<Option<(f64, f64)>> = model.answers.iter().map(|answer| sizes(answer, &asked)).collect();
    let scores = scores::scores(&model, tables);
    model.answers.iter_mut().zip(fitted).for_each(|(answer, fitted)| answer.fitted = fitted);
    model.discrepancy = Some(scores::discrepancy(&model, &scores));
    model
}

/// The error of each row when the model is fitted on all others: `(row, column, error in percent)`. Rows of which the others
/// cannot speak are among them, however bad.
///
/// # Errors
/// As [`calibrate`].
pub fn leave_one_out(model: &Description, tables: &[Table]) -> Vec<(String, String, f64)> {
    let (mut errors, model) = (Vec::new(), &unfitted(model));
    for (at, table) in tables.iter().enumerate() {
        let Some(answer) = model.answer_for(table) else { continue };
        for (left, row) in table.rows.iter().enumerate().filter(|(_, row)| answer.takes(row)) {
            let mut others = tables.to_vec();
            others[at].rows.remove(left);
            let Ok(calibrated) = best(model, &others, 0) else { continue };
            for Asked { row, metric, value, .. } in of_row(model, answer, row) {
                let Ok(said) = calibrated.model.answer(row, &metric.quantity) else { continue };
                errors.push((row.id.clone(), metric.column.clone(), 100.0 * (said / value - 1.0)));
            }
        }
    }
    errors
}

fn values<'a>(model: &'a Description, table: &'a Table) -> Vec<Asked<'a>> {
    let Some(answer) = model.answer_for(table) else { return Vec::new() };
    let own = table.rows.iter().filter(|row| answer.takes(row));
    own.flat_map(|row| of_row(model, answer, row)).collect()
}

fn of_row<'a>(model: &Description, answer: &'a Answer, row: &'a Row) -> Vec<Asked<'a>> {
    let one = |metric: &'a Metric| {
        let value = row.number(&metric.column).filter(|value| *value > 0.0)?;
        // A value that was rounded lies anywhere within its floor: the deviation of that is floor over root three.
        let rounding = row.text(&metric.column).and_then(floor_pct).unwrap_or(0.0) / 100.0;
        let spread = libm::sqrt(rounding * rounding / 3.0 + model.noise * model.noise);
        Some(Asked { row, metric, value, spread, rounding, weight: 1.0 })
    };
    let mut asked: Vec<Asked> = answer.metrics.iter().filter_map(one).collect();
    let count = asked.iter().filter(|one| ties(model, one)).count().max(1) as f64;
    for one in asked.iter_mut().filter(|one| ties(model, one)) {
        one.weight = 1.0 / count;
    }
    asked
}

/// Whether a value is a rate or a response: those of one closed point follow from each other by Little's law.
fn ties(model: &Description, asked: &Asked) -> bool {
    let known = model.kind.answers().iter().find(|known| known.name == asked.metric.quantity);
    known.is_some_and(|known| known.shape != Shape::Other && known.most.is_infinite())
}

/// The model as one knew it before there were rows: else a fit without a row would begin at what that row has said.
fn unfitted(model: &Description) -> Description {
    let mut model = model.clone();
    for parameter in &mut model.parameters {
        if let Some((low, high)) = parameter.prior() {
            parameter.value = libm::sqrt(low * high);
        }
    }
    model
}

/// Places of the parameters that may move.
fn moving(model: &Description) -> Vec<usize> {
    let free = |parameter: &Parameter| !matches!(parameter.origin, Origin::Given(_)) && !model.whole(&parameter.name);
    (0..model.parameters.len()).filter(|place| free(&model.parameters[*place])).collect()
}

fn free(model: &Description, place: usize) -> Free {
    let (parameter, asked) = (&model.parameters[place], &model.kind.asks()[place]);
    let assumed = parameter.prior().map(|(low, high)| (libm::sqrt(low * high), libm::log(high / low) / (2.0 * 1.96)));
    Free { name: parameter.name.clone(), start: parameter.value, low: asked.low, high: asked.high, assumed }
}

/// Which rows: a few by name, many by their list in the file.
fn rows_text(rows: &[String]) -> String {
    if rows.len() <= 3 { rows.join(", ") } else { format!("the {} rows of `calibration`", rows.len()) }
}

/// The least and the greatest size of the rows that a form of rows was fitted on.
fn sizes(answer: &Answer, asked: &[Asked]) -> Option<(f64, f64)> {
    let own = asked.iter().filter(|asked| answer.metrics.contains(asked.metric));
    let sizes = own.filter_map(|asked| asked.row.number(&answer.size).filter(|size| *size > 0.0));
    sizes.fold(None, |found, size| {
        let (low, high) = found.unwrap_or((size, size));
        Some((f64::min(low, size), f64::max(high, size)))
    })
}

fn with(model: &Description, places: &[usize], fitted: &Fitted, draws: Vec<Vec<f64>>, asked: &[Asked]) -> Description {
    let mut new = model.clone();
    new.calibration = Vec::new();
    for asked in asked {
        if !new.calibration.contains(&asked.row.id) {
            new.calibration.push(asked.row.id.clone());
        }
    }
    for (number, place) in places.iter().enumerate() {
        let parameter = &mut new.parameters[*place];
        parameter.value = fitted.values[number];
        if matches!(parameter.origin, Origin::Calibrated(_)) {
            // A file says no more than its reader takes.
            let (reach, asked) = (libm::exp(1.96 * fitted.separation.deviations[number]), &model.kind.asks()[*place]);
            let within = |value: f64| value.clamp(asked.low, asked.high);
            (parameter.low, parameter.high) = (within(parameter.value / reach), within(parameter.value * reach));
            parameter.origin = Origin::Calibrated(rows_text(&new.calibration));
        } else {
            // Rows may move a number out of what was assumed of it.
            (parameter.low, parameter.high) = (parameter.low.min(parameter.value), parameter.high.max(parameter.value));
        }
    }
    new.answers.iter_mut().for_each(|answer| answer.fitted = sizes(answer, asked));
    let count = places.len();
    let parameters = places.iter().map(|place| new.parameters[*place].name.clone()).collect();
    let line = |row: usize| (0..count).map(|column| fitted.covariance[(row, column)]).collect();
    let flat = fitted.separation.flat.iter();
    new.doubt = Some(Doubt {
        parameters,
        covariance: (0..count).map(line).collect(),
        draws,
        silent: fitted.separation.silent.clone(),
        flat: flat.map(|flat| flat.parameters.iter().map(|(name, _)| name.clone()).collect()).collect(),
    });
    new
}
