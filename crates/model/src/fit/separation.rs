//! What rows say of parameters, and which of them they cannot tell apart.
//!
//! The one idea: the rows' own curvature is looked at without the assumptions. A direction in which it is flat is a
//! combination of parameters that every row would accept.

use super::Free;
use nalgebra::{DMatrix, DVector};

/// What the rows of a fit can tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Separation {
    /// Standard deviation of each parameter's logarithm after the fit, in order.
    pub deviations: Vec<f64>,
    /// Parameters of which the rows say nothing: their values are the assumptions.
    pub silent: Vec<String>,
    /// Combinations that the rows cannot separate.
    pub flat: Vec<Flat>,
}

/// Parameters that move together without any row noticing.
#[derive(Clone, Debug, PartialEq)]
pub struct Flat {
    /// Their names, each with its share of the direction (signed; the largest is 1 or -1).
    pub parameters: Vec<(String, f64)>,
}

/// A row moves by less than a tenth of its spread when a parameter doubles: it says nothing of it.
const SILENT: f64 = 0.1 / std::f64::consts::LN_2;
/// A combination takes part in a flat direction from this share on.
const TAKES_PART: f64 = 0.2;

/// `slopes` are those of the rows alone, in spreads of a row for each unit of a parameter's logarithm.
pub(super) fn of(free: &[Free], slopes: &DMatrix<f64>, covariance: &DMatrix<f64>) -> Separation {
    let deviations = (0..free.len()).map(|i| libm::sqrt(covariance[(i, i)])).collect();
    let loud = |place: usize| slopes.column(place).norm() >= SILENT;
    let silent = (0..free.len()).filter(|place| !loud(*place)).map(|place| free[place].name.clone()).collect();
    let heard: Vec<usize> = (0..free.len()).filter(|place| loud(*place)).collect();
    Separation { deviations, silent, flat: flat(free, slopes, &heard) }
}

/// Directions among the parameters that rows do speak of. Columns are brought to one length, so that what is asked is
/// whether they point apart, not how loud they are.
fn flat(free: &[Free], slopes: &DMatrix<f64>, heard: &[usize]) -> Vec<Flat> {
    if heard.len() < 2 {
        return Vec::new();
    }
    let columns: Vec<_> = heard.iter().map(|place| slopes.column(*place).normalize()).collect();
    let scaled = DMatrix::from_columns(&columns);
    let shape = (scaled.transpose() * &scaled).symmetric_eigen();
    let least = shape.eigenvalues.max() * 1e-4;
    let mut found = Vec::new();
    for (number, value) in shape.eigenvalues.iter().enumerate() {
        if *value > least {
            continue;
        }
        let direction = shape.eigenvectors.column(number);
        let largest = direction.iter().fold(0.0f64, |a, b| if b.abs() > a.abs() { *b } else { a });
        let parts =
            heard.iter().zip(direction.iter()).map(|(place, share)| (free[*place].name.clone(), share / largest));
        found.push(Flat { parameters: parts.filter(|(_, share)| share.abs() >= TAKES_PART).collect() });
    }
    found
}

// Covariance of fitted parameters.

/// The standard deviation of the logarithm that a parameter has when neither rows nor assumptions speak of it: its bounds
/// are taken for four of them.
pub(super) fn widest(free: &Free) -> f64 {
    (libm::log(free.high / free.low) / 4.0).max(1e-6)
}

/// The inverse of the curvature of all residuals. A direction that nothing speaks of is held by the bounds, so that the
/// inverse exists.
pub(super) fn covariance(slopes: &DMatrix<f64>, free: &[Free]) -> DMatrix<f64> {
    let mut normal = slopes.transpose() * slopes;
    for (place, free) in free.iter().enumerate() {
        let deviation = widest(free);
        normal[(place, place)] += 1.0 / (deviation * deviation);
    }
    // What cannot be inverted says nothing: the bounds are all that is known.
    let finite = |inverse: &DMatrix<f64>| inverse.iter().all(|value| value.is_finite());
    normal.try_inverse().filter(finite).unwrap_or_else(|| {
        let bounds = free.iter().map(|free| widest(free) * widest(free));
        DMatrix::from_diagonal(&DVector::from_iterator(free.len(), bounds))
    })
}
