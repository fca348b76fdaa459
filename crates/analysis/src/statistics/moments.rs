//! Mean, standard deviation and quantiles of a slice.

/// The mean; not a number when there is nothing.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sum of the squared distances from the mean.
pub fn squares_about_mean(values: &[f64]) -> f64 {
    let centre = mean(values);
    values.iter().map(|value| (value - centre).powi(2)).sum()
}

/// The sample variance, with `n - 1` below; not a number below two values.
pub fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 { f64::NAN } else { squares_about_mean(values) / (values.len() - 1) as f64 }
}

/// The sample standard deviation; not a number below two values.
pub fn deviation(values: &[f64]) -> f64 {
    variance(values).sqrt()
}

/// The value at share `q` of the sorted values, straight between neighbours (definition 7 of Hyndman and Fan, 1996);
/// not a number when there is nothing.
pub fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = q.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_a_known_sample_are_exact() {
        let sample = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&sample), 5.0);
        assert_eq!(squares_about_mean(&sample), 32.0);
        assert!((deviation(&sample) - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn quantiles_lie_straight_between_neighbours() {
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.5), 2.5);
        assert_eq!(quantile(&[4.0, 1.0, 3.0, 2.0], 0.25), 1.75);
        assert_eq!(quantile(&[7.0], 0.5), 7.0);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
