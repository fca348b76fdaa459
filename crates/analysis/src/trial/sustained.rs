//! What a stream does at most, and what it sustains.
//!
//! Storage that is billed by credit, or that has a fast cache before slow cells, starts at one level and ends at a lower
//! one. The mean over a window of length T is then s + C / T: the sustained rate s, and a credit of C operations spread
//! over the window. A step in the series gives both, but only when it is a step: beyond what slow noise makes once in a
//! hundred series, better than a straight decline, and never taken back. Whether it is called credit is for the whole run
//! to say, which knows of other series and other trials.

use crate::statistics::change_point::{ChangePoint, chance_of_step, two_levels};
use crate::statistics::least_squares::line_over_index;
use crate::statistics::moments::mean;
use crate::statistics::noise::Noise;
use crate::{Burst, Sustained};

/// Below this many intervals there is nothing to tell apart.
const INTERVALS_MIN: usize = 10;

/// A level must fall at least this much to be called the end of a burst: less is within what steady means.
const FALL_MIN: f64 = 0.10;

/// How often a series without a step may show one.
pub const STEP_ALPHA: f64 = 0.01;

/// A level shorter than this many correlation times may be a swing of slow noise.
const CORRELATION_TIMES: f64 = 10.0;

/// At most against sustained, from the rates of the intervals of the window; nothing when the window is too short.
pub fn sustained(rates: &[f64], interval_s: f64) -> Option<Sustained> {
    if rates.len() < INTERVALS_MIN || interval_s <= 0.0 {
        return None;
    }
    let sums = prefix_sums(rates);
    let averages: Vec<(f64, f64)> = window_lengths(rates.len())
        .into_iter()
        .map(|length| (length as f64 * interval_s, highest_mean(&sums, length)))
        .collect();
    let peak_length = peak_window(rates.len(), interval_s);
    Some(Sustained {
        peak_per_s: highest_mean(&sums, peak_length),
        peak_window_s: peak_length as f64 * interval_s,
        late_per_s: mean(&rates[rates.len() - rates.len() / 5..]),
        burst: burst(rates, interval_s),
        averages,
    })
}

/// "At most" is over one minute, as data sheets of storage have it; where the window is short, over a tenth of it.
fn peak_window(intervals: usize, interval_s: f64) -> usize {
    let minute = (60.0 / interval_s).round().max(1.0) as usize;
    minute.min((intervals / 10).max(1))
}

/// 1, 2, 5, 10, 20, 50 ... intervals, up to all of them.
fn window_lengths(intervals: usize) -> Vec<usize> {
    let decades = (0..).map(|power| 10usize.pow(power));
    let steps = decades.flat_map(|decade| [decade, 2 * decade, 5 * decade]);
    steps.take_while(|length| *length < intervals).chain([intervals]).collect()
}

fn prefix_sums(rates: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for rate in rates {
        sums.push(sums[sums.len() - 1] + rate);
    }
    sums
}

fn highest_mean(sums: &[f64], length: usize) -> f64 {
    let means = (length..sums.len()).map(|end| (sums[end] - sums[end - length]) / length as f64);
    means.fold(0.0, f64::max)
}

/// The fall of a series that falls once and stays down.
fn burst(rates: &[f64], interval_s: f64) -> Option<Burst> {
    let shortest = (rates.len() / 20).max(3);
    let change = two_levels(rates, shortest)?;
    let fell = change.before - change.after >= FALL_MIN * change.before;
    if !(fell && better_than_a_line(rates, &change) && stays_down(rates, &change)) {
        return None;
    }
    let noise = Noise::of_residuals(&residuals(rates, &change));
    let (before, after) = (change.at as f64, (rates.len() - change.at) as f64);
    let error = noise.error_of_mean(before).hypot(noise.error_of_mean(after)).max(f64::MIN_POSITIVE);
    let length = noise.correlation_length();
    let freedom = (rates.len() as f64 / length - 2.0).max(1.0);
    let trimmed = shortest as f64 / rates.len() as f64;
    let p_value = chance_of_step((change.before - change.after) / error, freedom, trimmed);
    let lasted_s = before * interval_s;
    (p_value < STEP_ALPHA).then(|| Burst {
        before_per_s: change.before,
        sustained_per_s: change.after,
        credit_operations: (change.before - change.after) * lasted_s,
        lasted_s,
        p_value,
        apart: before.min(after) >= CORRELATION_TIMES * length,
    })
}

fn residuals(rates: &[f64], change: &ChangePoint) -> Vec<f64> {
    let level = |i: usize| if i < change.at { change.before } else { change.after };
    rates.iter().enumerate().map(|(i, rate)| rate - level(i)).collect()
}

/// Whether two levels describe the series clearly better than a steady decline, which is drift and not credit.
fn better_than_a_line(rates: &[f64], change: &ChangePoint) -> bool {
    line_over_index(rates).is_some_and(|line| change.residual < 0.7 * line.residual)
}

/// Whether the rate stays down: a system that climbs again pauses now and then, and has no credit that is used up. Every
/// stretch afterwards, a tenth of the window long, must be nearer to the lower level.
fn stays_down(rates: &[f64], change: &ChangePoint) -> bool {
    let after = &rates[change.at..];
    let stretch = (rates.len() / 10).clamp(1, after.len());
    highest_mean(&prefix_sums(after), stretch) < (change.before + change.after) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::bootstrap::Draws;
    use crate::statistics::least_squares::{Weighted, weighted_line};

    fn noisy(levels: impl Iterator<Item = f64>, seed: u64) -> Vec<f64> {
        let mut draws = Draws::new(seed);
        levels.map(|level| level * (1.0 + 0.05 * draws.normal())).collect()
    }

    #[test]
    fn a_used_up_credit_is_recovered() {
        let rates = noisy((0..600).map(|i| if i < 150 { 3000.0 } else { 1000.0 }), 1);
        let found = sustained(&rates, 1.0).unwrap();
        let burst = found.burst.unwrap();
        assert!((burst.lasted_s - 150.0).abs() <= 1.0);
        assert!((burst.sustained_per_s / 1000.0 - 1.0).abs() < 0.01);
        assert!((burst.credit_operations / 300_000.0 - 1.0).abs() < 0.02);
        assert!((found.peak_per_s / 3000.0 - 1.0).abs() < 0.03 && found.peak_window_s == 60.0);
        assert!((found.late_per_s / 1000.0 - 1.0).abs() < 0.02);
    }

    /// The averages themselves follow s + C / T beyond the burst: a line over 1 / T has s as intercept, C as slope.
    #[test]
    fn the_averages_follow_credit_over_time() {
        let rates: Vec<f64> = (0..1000).map(|i| if i < 100 { 500.0 } else { 100.0 }).collect();
        let averages = sustained(&rates, 1.0).unwrap().averages;
        let points: Vec<Weighted> = averages
            .iter()
            .filter(|(t, _)| *t >= 100.0)
            .map(|(t, mean)| Weighted { x: 1.0 / t, y: *mean, weight: 1.0 })
            .collect();
        let line = weighted_line(&points).unwrap();
        assert!((line.intercept - 100.0).abs() < 1e-6 && (line.slope - 40_000.0).abs() < 1e-3);
    }

    #[test]
    fn noise_drift_pauses_and_growth_are_no_burst() {
        let flat = noisy((0..600).map(|_| 1000.0), 2);
        let decline = noisy((0..600).map(|i| 2000.0 - 2.0 * f64::from(i)), 3);
        let pauses = noisy((0..600).map(|i| if i % 60 < 20 { 300.0 } else { 1000.0 }), 4);
        let growth = noisy((0..600).map(|i| if i < 200 { 500.0 } else { 1000.0 }), 5);
        for rates in [flat, decline, pauses, growth] {
            assert_eq!(sustained(&rates, 1.0).unwrap().burst, None);
        }
    }

    /// 8 to 15 of a hundred stationary series of four seconds used to show a burst.
    #[test]
    fn hardly_any_flat_series_shows_a_fall() {
        for (phi, scatter) in [(0.0, 0.15), (0.7, 0.15), (0.9, 0.15), (0.95, 0.20), (0.98, 0.20)] {
            for intervals in [40, 100, 600] {
                let mut draws = Draws::new(6);
                let found = (0..400).filter(|_| {
                    let series = crate::statistics::autocorrelation::tests::ar1(&mut draws, intervals, phi);
                    let rates: Vec<f64> = series.iter().map(|e| 1000.0 * (1.0 + scatter * e).max(0.0)).collect();
                    sustained(&rates, 0.1).unwrap().burst.is_some()
                });
                let found = found.count();
                assert!(found <= 4, "{found} of 400 at {phi} over {intervals} intervals");
            }
        }
    }

    #[test]
    fn a_fall_close_to_an_end_is_not_apart_from_slow_noise() {
        let fallen = |at: usize| {
            let rates = noisy((0..200).map(|i| if i < at { 3000.0 } else { 1000.0 }), 8);
            sustained(&rates, 0.1).unwrap().burst.unwrap().apart
        };
        assert!(fallen(100) && !fallen(10));
    }

    #[test]
    fn a_short_window_tells_nothing() {
        assert_eq!(sustained(&[1.0; 9], 1.0), None);
    }
}
