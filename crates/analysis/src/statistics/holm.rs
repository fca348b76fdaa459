//! Many comparisons at once: Holm's step-down rule.
//!
//! S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
//! With m tests, the smallest p value is held against alpha / m, the next against alpha / (m - 1), and so on; at the
//! first that does not pass, all others fail too. The chance of any false claim among all m stays at alpha.

/// One test after the rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Whether the difference stands.
    pub rejected: bool,
    /// The share alpha at which this test was held; the interval that agrees with the rule has confidence `1 - alpha`.
    pub alpha: f64,
}

/// Applies the rule; the answer is in the order of `p_values`. A p value that is not a number never passes, and still
/// counts as a test.
///
/// A test that fails, or that follows one that failed, is given the alpha of the first failure: at that level its
/// interval contains no difference, so that interval and verdict never contradict each other.
pub fn holm(p_values: &[f64], alpha: f64) -> Vec<Step> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut steps = vec![Step { rejected: false, alpha }; p_values.len()];
    let mut stopped_at = None;
    for (rank, index) in order.into_iter().enumerate() {
        let here = stopped_at.unwrap_or(alpha / (p_values.len() - rank) as f64);
        let rejected = stopped_at.is_none() && p_values[index] <= here;
        if !rejected {
            stopped_at = Some(here);
        }
        steps[index] = Step { rejected, alpha: here };
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The worked example of the encyclopaedias: four tests with 0.01, 0.04, 0.03, 0.005 at 5 percent.
    #[test]
    fn the_known_example_rejects_the_first_and_the_last() {
        let steps = holm(&[0.01, 0.04, 0.03, 0.005], 0.05);
        assert_eq!(steps.iter().map(|s| s.rejected).collect::<Vec<_>>(), [true, false, false, true]);
        assert_eq!(steps[3].alpha, 0.0125);
        assert_eq!(steps[2].alpha, 0.025);
        assert_eq!(steps[1].alpha, 0.025);
    }

    #[test]
    fn a_test_without_a_p_value_counts_and_never_passes() {
        let steps = holm(&[f64::NAN, 0.03], 0.05);
        assert!(!steps[0].rejected && !steps[1].rejected);
    }

    proptest! {
        #[test]
        fn a_verdict_agrees_with_its_own_level(p in proptest::collection::vec(0.0f64..0.2, 1..20)) {
            for (step, p) in holm(&p, 0.05).iter().zip(&p) {
                prop_assert_eq!(step.rejected, *p <= step.alpha);
            }
        }
    }
}
