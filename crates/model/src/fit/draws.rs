//! Numbers that rows and assumptions allow together, drawn one after the other.
//!
//! The one idea: where few rows leave a curve or a corner of numbers open, no ellipse around the best of them follows it. Slices
//! (Neal: Slice sampling, Annals of Statistics 31, 2003) do, for they ask the laws themselves: in turn along the ellipse of
//! the fit, and along one parameter as far as it may reach.

use super::{Fitted, Free, Search, separation};
use nalgebra::{DMatrix, DVector};
use random::Draws;

/// A slice begins so many deviations wide.
const WIDE: f64 = 5.0;

/// How far the logarithms of the parameters lie from `place`, in each of the draws. Rows count less by `inflation`.
pub(super) fn around(search: &mut Search, place: &[f64], fitted: &Fitted, kept: usize) -> Vec<Vec<f64>> {
    let (count, inflation) = (place.len(), fitted.inflation);
    let axes = fitted.covariance.clone().symmetric_eigen();
    let lengths = axes.eigenvalues.map(|variance| libm::sqrt(variance.max(0.0)));
    let shape = axes.eigenvectors * DMatrix::from_diagonal(&lengths);
    let reach = |free: &Free| free.assumed.map_or(separation::widest(free), |(_, deviation)| deviation);
    let reaches: Vec<f64> = search.free.iter().map(reach).collect();
    let mut random = Draws::named(0, &[count as u64]);
    let mut here = DVector::from_column_slice(place);
    let mut badness = search.badness(&here, place, inflation);
    let mut draws = Vec::with_capacity(kept);
    let slices = if kept > 0 { (kept + 1) * count } else { 0 };
    for slice in 0..slices {
        let alone = DVector::from_fn(count, |row, _| if row == slice % count { reaches[row] } else { 0.0 });
        let along = &shape * DVector::from_fn(count, |_, _| random.normal());
        for direction in [along, alone] {
            let most = badness - 2.0 * libm::log(random.uniform());
            let mut low = -WIDE * random.uniform();
            let mut high = low + WIDE;
            // Each place that lies out of the slice cuts it off; where one stands lies inside.
            while high - low > 1e-9 {
                let step = low + (high - low) * random.uniform();
                let tried = &here + &direction * step;
                let found = search.badness(&tried, place, inflation);
                if found <= most {
                    (here, badness) = (tried, found);
                    break;
                }
                if step < 0.0 { low = step } else { high = step }
            }
        }
        if slice >= count && (slice + 1) % count == 0 {
            draws.push(here.iter().zip(place).map(|(here, middle)| here - middle).collect());
        }
    }
    draws
}

impl Search<'_> {
    /// Squared distances from rows and from what was assumed; without end where a number is out of its bounds.
    fn badness(&mut self, at: &DVector<f64>, place: &[f64], inflation: f64) -> f64 {
        let outside = |(free, log): (&Free, &f64)| *log < libm::log(free.low) || *log > libm::log(free.high);
        if self.free.iter().zip(at.iter()).any(outside) {
            return f64::INFINITY;
        }
        let residuals = self.residuals(at.as_slice());
        let rows: f64 = residuals.iter().zip(self.targets).map(|(r, target)| target.weight * r * r).sum();
        let assumed: f64 = residuals.iter().skip(self.targets.len()).map(|r| r * r).sum();
        let bounds = self.free.iter().zip(at.iter().zip(place));
        let bounds: f64 =
            bounds.map(|(free, (log, middle))| libm::pow((log - middle) / separation::widest(free), 2.0)).sum();
        let badness = rows / inflation + assumed + bounds;
        if badness.is_finite() { badness } else { f64::INFINITY }
    }
}
