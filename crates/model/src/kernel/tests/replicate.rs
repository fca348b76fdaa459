//! What independent replications of a simulation say together, and what one long one says of itself.
//!
//! The one idea: replications are independent, so their spread gives the interval; a single run is cut into batches that
//! are long enough to be nearly so.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Lower end of the 95 percent interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Values that it is made from.
    pub n: u32,
}

impl Estimate {
    /// Whether the interval holds a value.
    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// Mean and 95 percent interval (Student) of independent values. With fewer than two the interval is without bounds.
pub fn across(values: &[f64]) -> Estimate {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n.max(1) as f64;
    if n < 2 {
        return Estimate { mean, low: f64::NEG_INFINITY, high: f64::INFINITY, n: n as u32 };
    }
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1) as f64;
    let half = student_975((n - 1) as f64) * libm::sqrt(variance / n as f64);
    Estimate { mean, low: mean - half, high: mean + half, n: n as u32 }
}

/// The same for one run: values in the order in which they were seen are gathered into `batches` of equal length. What is
/// left over at the beginning is dropped, because it lies nearest to the start.
pub fn of_batches(values: &[f64], batches: usize) -> Estimate {
    let length = values.len() / batches.max(1);
    if length == 0 {
        return across(values);
    }
    let kept = &values[values.len() - length * batches..];
    let means: Vec<f64> = kept.chunks(length).map(|batch| batch.iter().sum::<f64>() / length as f64).collect();
    across(&means)
}

/// The 97.5 percent point of Student's t.
fn student_975(degrees: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::INFINITY, |law| law.inverse_cdf(0.975))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_says_nothing_of_its_spread() {
        assert!(across(&[3.0]).holds(1e9));
    }

    #[test]
    fn batches_leave_out_the_beginning() {
        let values: Vec<f64> = std::iter::once(1e6).chain((0..20).map(f64::from)).collect();
        assert!((of_batches(&values, 4).mean - 9.5).abs() < 1e-12);
    }
}
