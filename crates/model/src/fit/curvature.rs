//! Covariance of fitted parameters.

use super::Free;
use nalgebra::{DMatrix, DVector};

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
