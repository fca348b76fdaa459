//! How long the slowest of several takes who work side by side.

use statrs::function::gamma::gamma_lr;

/// The mean of the greatest of `count` times of mean 1 with this coefficient of variation, taken as gamma: exact for fixed times,
/// for exponential ones and for Erlang, and nearly so for the mixtures in between that a simulation draws.
pub fn slowest(count: u32, variation: f64) -> f64 {
    if count <= 1 || variation < 0.01 {
        return f64::from(count.min(1));
    }
    let shape = 1.0 / (variation * variation);
    let step = REACH * variation / f64::from(STEPS);
    let from = (1.0 - REACH / 4.0 * variation).max(1e-9);
    let later = |at: f64| 1.0 - libm::pow(gamma_lr(shape, shape * at), f64::from(count));
    // Simpson's rule would gain nothing: both ends are flat, where the trapezoidal one is exact.
    from + step * (0.5 * later(from) + (1..STEPS).map(|number| later(from + step * f64::from(number))).sum::<f64>())
}

/// Deviations over which is integrated: even the slowest of a thousand exponential times is done by then.
const REACH: f64 = 32.0;
const STEPS: u32 = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_of_exponential_times_is_a_harmonic_sum() {
        for (count, sum) in [(1, 1.0), (2, 1.5), (4, 25.0 / 12.0), (64, 4.743_890_903_705_765)] {
            assert!((slowest(count, 1.0) / sum - 1.0).abs() < 1e-3, "{count}: {}", slowest(count, 1.0));
        }
        assert_eq!((slowest(0, 0.4), slowest(9, 0.0)), (0.0, 1.0));
    }

    #[test]
    fn times_that_vary_less_end_closer_together() {
        let nine: Vec<f64> = [0.02, 0.1, 0.4, 1.0].map(|variation| slowest(9, variation)).to_vec();
        assert!(nine.is_sorted() && (1.02..1.04).contains(&nine[0]), "{nine:?}");
    }
}
