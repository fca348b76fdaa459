//! The error of a mean over replicates, beside what each replicate knows by itself.
//!
//! The scatter of replicates holds all that changes between them, and is what counts. There is one thing that it cannot see:
//! replicates that begin at the same moment of a cycle agree, and are wrong together. So where they agree better than what
//! varies within them allows by chance, that is taken instead: the variance of their mean is far below what the replicates
//! expect of it, by the chi-squared distribution of a sample variance.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// The chance with which honest replicates are taken for ones that agree too well.
const AGREES_AT: f64 = 0.05;

/// A standard error with its degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorOf {
    /// The standard error.
    pub error: f64,
    /// Its degrees of freedom.
    pub freedom: f64,
}

/// The error to go by: `between` the replicates, or `within` them where they agree too well.
pub fn over_replicates(between: ErrorOf, within: ErrorOf) -> ErrorOf {
    let Ok(chi) = ChiSquared::new(between.freedom) else { return within };
    let least = (chi.inverse_cdf(AGREES_AT) / between.freedom).sqrt() * within.error;
    if between.error < least { within } else { between }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 5 percent point of chi-squared with 3 degrees is 0.352.
    #[test]
    fn replicates_that_agree_better_than_chance_are_as_sure_as_one_of_them_is() {
        let within = ErrorOf { error: 1.0, freedom: 100.0 };
        let of = |error: f64| over_replicates(ErrorOf { error, freedom: 3.0 }, within);
        assert_eq!(of(0.34), within);
        assert_eq!(of(0.35).freedom, 3.0);
        assert_eq!(of(5.0).error, 5.0);
    }
}
