//! Fitting: parameters of a model on rows, and how sure they are afterwards.
//!
//! The one idea: parameters and rows are compared by ratio, so everything happens in logarithms; what was assumed about a
//! parameter beforehand counts like one more row. So a parameter that no row speaks of keeps its assumption and its
//! doubt, and the rows' silence is seen.
//!
//! What it does not do: it knows no model; it is handed a function from parameters to predictions.

mod draws;
mod separation;

pub use separation::{Flat, Separation};

use nalgebra::{DMatrix, DVector};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A parameter that may move.
#[derive(Clone, Debug, PartialEq)]
pub struct Free {
    /// Its name in the model file.
    pub name: String,
    /// Where the search begins, above zero.
    pub start: f64,
    /// It does not go below, above zero.
    pub low: f64,
    /// It does not go beyond.
    pub high: f64,
    /// What is assumed of it: a middle, and the standard deviation of its logarithm. None when nothing is.
    pub assumed: Option<(f64, f64)>,
}

/// A row to be met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// The value, above zero.
    pub value: f64,
    /// Standard deviation of its logarithm: rounding of the source, and noise.
    pub spread: f64,
    /// How much it counts for what is known afterwards: values that follow from each other count once together.
    pub weight: f64,
}

/// What a fit found.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The parameters, in the order in which they were given.
    pub values: Vec<f64>,
    /// Covariance of their logarithms.
    pub covariance: DMatrix<f64>,
    /// By how much rows count less than their spreads say, because they are met worse.
    pub inflation: f64,
    /// Prediction over target, less one, of each row.
    pub errors: Vec<f64>,
    /// Sum of squared errors in units of their spreads.
    pub misfit: f64,
    /// What the rows say of each parameter, and what they cannot tell apart.
    pub separation: Separation,
    /// Steps that were made.
    pub steps: u32,
}

/// Why nothing was fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum FitError {
    /// Nothing to fit on.
    #[error("at least one calibration row is needed, got none")]
    NoRows,
    /// Every start gave a prediction that is no number.
    #[error("row {row}: the model predicts {value} at the start of the search, which is no number above zero")]
    NoPrediction { row: usize, value: f64 },
}

/// The 97.5 percent quantile of Student's t: half of a 95 percent interval, in deviations that were estimated with so many
/// degrees of freedom.
pub fn t95(freedom: f64) -> f64 {
    if freedom > 1e4 {
        return NORMAL_95;
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |law| law.inverse_cdf(0.975))
}

/// The same of a deviation that is known.
const NORMAL_95: f64 = 1.959_964;

/// Steps after which the search ends at the best that it found.
const STEPS_MAX: u32 = 200;

/// Moves the free parameters until predictions meet the targets as well as they can (Levenberg and Marquardt, in
/// logarithms, with assumptions as further rows).
///
/// # Errors
/// When there are no rows, or no prediction at the start.
pub fn fit(free: &[Free], targets: &[Target], predict: &mut dyn FnMut(&[f64]) -> Vec<f64>) -> Result<Fitted, FitError> {
    if targets.is_empty() {
        return Err(FitError::NoRows);
    }
    let mut search = Search { free, targets, predict };
    let mut place: Vec<f64> = free.iter().map(|p| libm::log(p.start.clamp(p.low, p.high))).collect();
    let mut residuals = search.residuals(&place);
    if let Some(row) = residuals.iter().position(|r| !r.is_finite()) {
        let values = search.predicted(&place);
        return Err(FitError::NoPrediction { row: row + 1, value: values.get(row).copied().unwrap_or(f64::NAN) });
    }
    let (mut damping, mut steps) = (1e-3, 0);
    while steps < STEPS_MAX && damping < 1e12 {
        let slopes = search.slopes(&place, &residuals);
        let Some(step) = damped(&slopes, &residuals, damping) else { break };
        let tried = search.inside(&place, &step);
        let found = search.residuals(&tried);
        steps += 1;
        if found.norm_squared() < residuals.norm_squared() {
            let gained = 1.0 - found.norm_squared() / residuals.norm_squared();
            (place, residuals) = (tried, found);
            damping = (damping * 0.3).max(1e-12);
            if gained < 1e-9 {
                break;
            }
        } else {
            damping *= 4.0;
        }
    }
    Ok(search.conclude(&place, &residuals, steps))
}

/// The damped step, or none when the slopes are no numbers.
fn damped(slopes: &DMatrix<f64>, residuals: &DVector<f64>, damping: f64) -> Option<DVector<f64>> {
    let mut normal = slopes.transpose() * slopes;
    for place in 0..normal.nrows() {
        normal[(place, place)] += damping * normal[(place, place)].max(1e-9);
    }
    normal.cholesky().map(|factor| -factor.solve(&(slopes.transpose() * residuals)))
}

/// Numbers that are as well possible as the best: how far the logarithm of each parameter lies from it, in each of so many draws.
pub fn draws(
    free: &[Free],
    targets: &[Target],
    fitted: &Fitted,
    kept: usize,
    predict: &mut dyn FnMut(&[f64]) -> Vec<f64>,
) -> Vec<Vec<f64>> {
    let place: Vec<f64> = fitted.values.iter().map(|value| libm::log(*value)).collect();
    draws::around(&mut Search { free, targets, predict }, &place, fitted, kept)
}

struct Search<'a> {
    free: &'a [Free],
    targets: &'a [Target],
    predict: &'a mut dyn FnMut(&[f64]) -> Vec<f64>,
}

impl Search<'_> {
    fn predicted(&mut self, place: &[f64]) -> Vec<f64> {
        let values: Vec<f64> = place.iter().map(|log| libm::exp(*log)).collect();
        (self.predict)(&values)
    }

    /// Distances of predictions from targets and of parameters from assumptions, in standard deviations.
    fn residuals(&mut self, place: &[f64]) -> DVector<f64> {
        let predicted = self.predicted(place);
        let rows = predicted.iter().zip(self.targets).map(|(p, t)| libm::log(p / t.value) / t.spread);
        let held = self.free.iter().zip(place).filter_map(|(free, log)| {
            let (middle, deviation) = free.assumed?;
            Some((log - libm::log(middle)) / deviation)
        });
        DVector::from_iterator(self.targets.len() + self.assumptions(), rows.chain(held))
    }

    fn assumptions(&self) -> usize {
        self.free.iter().filter(|free| free.assumed.is_some()).count()
    }

    /// How each residual moves with each parameter's logarithm.
    fn slopes(&mut self, place: &[f64], _at: &DVector<f64>) -> DMatrix<f64> {
        const STEP: f64 = 1e-4;
        let columns: Vec<DVector<f64>> = (0..place.len())
            .map(|column| {
                let mut moved = place.to_vec();
                moved[column] = place[column] + STEP;
                let above = self.residuals(&moved);
                moved[column] = place[column] - STEP;
                (above - self.residuals(&moved)) / (2.0 * STEP)
            })
            .collect();
        DMatrix::from_columns(&columns)
    }

    fn inside(&self, place: &[f64], step: &DVector<f64>) -> Vec<f64> {
        let within = |(index, log): (usize, &f64)| {
            let free = &self.free[index];
            (log + step[index]).clamp(libm::log(free.low), libm::log(free.high))
        };
        place.iter().enumerate().map(within).collect()
    }

    fn conclude(&mut self, place: &[f64], residuals: &DVector<f64>, steps: u32) -> Fitted {
        let slopes = self.slopes(place, residuals);
        let predicted = self.predicted(place);
        let errors = predicted.iter().zip(self.targets).map(|(p, t)| p / t.value - 1.0).collect();
        let weighed = residuals.iter().zip(self.targets).map(|(residual, target)| target.weight * residual * residual);
        let (misfit, count): (f64, f64) = (weighed.sum(), self.targets.iter().map(|target| target.weight).sum());
        // Rows that are met worse than their spreads allow say that the model's form is off, and count less; what was assumed
        // counts as before, so that no number is less sure than it was without rows.
        let spare = (count - self.free.len() as f64).max(1.0);
        let inflation = (misfit / spare).max(1.0);
        let mut counted = slopes.clone();
        for (row, target) in self.targets.iter().enumerate() {
            counted.row_mut(row).scale_mut(libm::sqrt(target.weight / inflation));
        }
        let covariance = separation::covariance(&counted, self.free);
        let separation = separation::of(self.free, &slopes.rows(0, self.targets.len()).into_owned(), &covariance);
        let values = place.iter().map(|log| libm::exp(*log)).collect();
        Fitted { values, covariance, inflation, errors, misfit, separation, steps }
    }
}

#[cfg(test)]
mod tests;
