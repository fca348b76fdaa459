//! Many comparisons at once: Holm's step-down rule.
//!
//! S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
//! With m tests, the smallest p value is held against alpha / m, the next against alpha / (m - 1), and so on; at the
//! first that does not pass, all others fail too. The chance of any false claim among all m stays at alpha.

/// Applies the rule: the share alpha at which each test is held, in the order of `p_values`. A difference stands when its p
/// value is not above it, and the interval that agrees with the rule has confidence `1 - alpha`. A p value that is not a
/// number never passes, and still counts as a test.
///
/// A test that fails, or that follows one that failed, is given the alpha of the first failure: at that level its
/// interval contains no difference, so that interval and verdict never contradict each other.
pub fn holm(p_values: &[f64], alpha: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut alphas = vec![alpha; p_values.len()];
    let mut stopped_at = None;
    for (rank, index) in order.into_iter().enumerate() {
        alphas[index] = stopped_at.unwrap_or(alpha / (p_values.len() - rank) as f64);
        let rejected = p_values[index] <= alphas[index];
        stopped_at = stopped_at.or((!rejected).then_some(alphas[index]));
    }
    alphas
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rejected(p_values: &[f64]) -> Vec<bool> {
        holm(p_values, 0.05).iter().zip(p_values).map(|(alpha, p)| p <= alpha).collect()
    }

    /// The worked example of the encyclopaedias: four tests with 0.01, 0.04, 0.03, 0.005 at 5 percent.
    #[test]
    fn the_known_example_rejects_the_first_and_the_last() {
        let p_values = [0.01, 0.04, 0.03, 0.005];
        assert_eq!(rejected(&p_values), [true, false, false, true]);
        assert_eq!(holm(&p_values, 0.05)[1..], [0.025, 0.025, 0.0125]);
    }

    #[test]
    fn a_test_without_a_p_value_counts_and_never_passes() {
        assert_eq!(rejected(&[f64::NAN, 0.03]), [false, false]);
    }

    proptest! {
        /// By the rule's own words: the first failure, from the least p value on, fails all that follow.
        #[test]
        fn a_verdict_agrees_with_its_own_level(p in proptest::collection::vec(0.0f64..0.2, 1..20)) {
            let mut sorted = p.clone();
            sorted.sort_by(f64::total_cmp);
            let passed = sorted.iter().enumerate().take_while(|(rank, p)| **p <= 0.05 / (sorted.len() - rank) as f64).count();
            prop_assert_eq!(rejected(&p).iter().filter(|rejected| **rejected).count(), passed);
        }
    }
}
