//! The one place in a series where its level falls or rises for good.

use super::moments::{mean, squares_about_mean};

/// A series as two levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value of the second level.
    pub at: usize,
    /// Mean before.
    pub before: f64,
    /// Mean from there on.
    pub after: f64,
    /// Sum of the squared residuals about the two means.
    pub residual: f64,
}

/// The split into two levels of least squares, each at least `shortest` long; nothing when the series is shorter than both.
///
/// The maximum-likelihood estimate for one change of mean under normal noise (Hinkley, Biometrika 57, 1970). One
/// pass over prefix sums.
pub fn two_levels(series: &[f64], shortest: usize) -> Option<ChangePoint> {
    let (n, shortest) = (series.len(), shortest.max(1));
    if n < 2 * shortest {
        return None;
    }
    let total: f64 = series.iter().sum();
    let mut sum: f64 = series[..shortest].iter().sum();
    let mut best: Option<(usize, f64)> = None;
    for (at, value) in series.iter().enumerate().take(n - shortest + 1).skip(shortest) {
        // Between-levels sum of squares; the greatest leaves the least residual.
        let gap = sum / at as f64 - (total - sum) / (n - at) as f64;
        let gain = gap * gap * at as f64 * (n - at) as f64 / n as f64;
        if best.is_none_or(|(_, most)| gain > most) {
            best = Some((at, gain));
        }
        sum += value;
    }
    best.map(|(at, _)| ChangePoint {
        at,
        before: mean(&series[..at]),
        after: mean(&series[at..]),
        residual: squares_about_mean(&series[..at]) + squares_about_mean(&series[at..]),
    })
}

/// Chance that a series without a step shows, somewhere in it, a difference of two levels of so many standard errors: the
/// tail of the highest of all places, of which the outermost `trimmed` share on either side is left out (Miller and Siegmund,
/// "Maximally selected chi square statistics", Biometrics 38, 1982). With few degrees of freedom the standard error varies
/// too, which Wallace's approximation of t by a normal allows for (Annals of Mathematical Statistics 30, 1959).
pub fn chance_of_step(errors: f64, freedom: f64, trimmed: f64) -> f64 {
    let b = (freedom * (1.0 + errors * errors / freedom).ln()).sqrt();
    if b < 1.0 {
        return 1.0;
    }
    let density = (-b * b / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let places = 2.0 * ((1.0 - trimmed) / trimmed).ln();
    (density * (b - 1.0 / b) * places + 4.0 * density / b).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::bootstrap::Draws;

    #[test]
    fn a_clean_step_is_found_where_it_is() {
        let series = [5.0, 5.0, 5.0, 5.0, 2.0, 2.0, 2.0];
        let change = two_levels(&series, 1).unwrap();
        assert_eq!((change.at, change.before, change.after, change.residual), (4, 5.0, 2.0, 0.0));
    }

    #[test]
    fn a_step_in_noise_is_found_within_a_few_places() {
        let mut draws = Draws::new(11);
        let series: Vec<f64> = (0..300).map(|i| if i < 120 { 10.0 } else { 7.0 } + draws.normal()).collect();
        let change = two_levels(&series, 5).unwrap();
        assert!(change.at.abs_diff(120) <= 4, "{}", change.at);
    }

    #[test]
    fn a_series_shorter_than_two_levels_has_no_step() {
        assert_eq!(two_levels(&[1.0, 2.0, 3.0], 2), None);
    }

    /// Andrews (Econometrica 61, 1993, table I, one parameter, 5 percent trimmed): 9.84 of the squared statistic at 5 percent.
    #[test]
    fn the_highest_of_all_places_has_its_published_tail() {
        let chance = chance_of_step(9.84f64.sqrt(), 1e9, 0.05);
        assert!((chance - 0.05).abs() < 0.006, "{chance}");
        assert!(chance_of_step(5.0, 5.0, 0.05) > 10.0 * chance_of_step(5.0, 1e9, 0.05));
    }
}
