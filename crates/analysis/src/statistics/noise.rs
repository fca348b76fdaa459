//! The noise of a series that may also drift: how far means over stretches of it vary by chance.
//!
//! A drift and a slow noise look alike in a short series, so that every claim of a change has to know the noise that could
//! have made it. The course of the series (a line, a parabola, or two levels where they fit clearly better) is taken off, and
//! what is left is an AR(1) series whose correlation is given its upper limit, because a course that is fitted takes slow
//! noise with it: the correlation is raised by the bias of a fit with three parameters (Kendall, Biometrika 41, 1954, and
//! Marriott and Pope, in the same volume) and by 1.64 standard errors. The same is done for means of two and four
//! neighbours, in which fast noise no longer hides a slow one, and the largest of the answers counts.

use super::autocorrelation::autocorrelation;
use super::change_point::two_levels;
use super::least_squares::line_over_index;
use super::moments::{mean, squares_about_mean};

/// Fewer values than this show no correlation: they count as independent.
const CORRELATED_MIN: usize = 20;

/// Another course than a line is taken where it leaves less than this share of the squares.
const CLEARLY_BETTER: f64 = 0.7;

/// Parameters of a course.
const PARAMETERS: f64 = 3.0;

/// One-sided 95 percent point of the normal distribution: how far above its estimate a correlation may lie.
const UPPER: f64 = 1.645;

/// The noise of a series.
#[derive(Clone, Debug)]
pub struct Noise {
    scales: Vec<Scale>,
    /// Degrees of freedom of its variance.
    pub freedom: f64,
}

/// AR(1) noise of means over `lump` neighbours.
#[derive(Clone, Copy, Debug)]
struct Scale {
    lump: f64,
    correlation: f64,
    variance: f64,
}

impl Noise {
    /// The noise of a series about its course; nothing below four values.
    pub fn of(series: &[f64]) -> Option<Noise> {
        if series.len() < 4 {
            return None;
        }
        if series.len() < CORRELATED_MIN {
            let left = about_line(series);
            let freedom = left.len() as f64 - 2.0;
            let variance = squares_about_mean(&left) / freedom;
            return Some(Noise { scales: vec![Scale { lump: 1.0, correlation: 0.0, variance }], freedom });
        }
        Some(Noise::of_residuals(&about_course(series)))
    }

    /// The noise of a series whose course is already taken off.
    pub fn of_residuals(left: &[f64]) -> Noise {
        let lumps = [1, 2, 4].into_iter().filter(|lump| *lump == 1 || left.len() / lump >= CORRELATED_MIN);
        let scales = lumps.map(|lump| Scale::of(&lumped(left, lump), lump)).collect();
        Noise { scales, freedom: left.len() as f64 - PARAMETERS }
    }

    /// Standard error of the mean over `count` neighbours.
    pub fn error_of_mean(&self, count: f64) -> f64 {
        self.largest(|scale| scale.variance * scale.share(count, 0))
    }

    /// Standard error of a weighted sum of the means over stretches of `count` neighbours that follow each other.
    pub fn error_of_sum(&self, weights: &[f64], count: f64) -> f64 {
        self.largest(|scale| {
            let apart: Vec<f64> = (0..weights.len()).map(|d| scale.variance * scale.share(count, d)).collect();
            let pairs = weights.iter().enumerate();
            pairs.map(|(i, a)| weights.iter().enumerate().map(|(j, b)| a * b * apart[i.abs_diff(j)]).sum::<f64>()).sum()
        })
    }

    /// How many values are worth one, in the long run.
    pub fn correlation_length(&self) -> f64 {
        let in_the_long_run =
            |scale: &Scale| scale.lump * scale.variance * (1.0 + scale.correlation) / (1.0 - scale.correlation);
        let single = self.scales[0].variance;
        let length = |scale: &Scale| if single > 0.0 { in_the_long_run(scale) / single } else { 1.0 };
        self.scales.iter().map(length).fold(1.0, f64::max)
    }

    fn largest(&self, variance: impl Fn(&Scale) -> f64) -> f64 {
        self.scales.iter().map(variance).fold(0.0, f64::max).sqrt()
    }
}

impl Scale {
    fn of(values: &[f64], lump: usize) -> Scale {
        let n = values.len() as f64;
        let seen = autocorrelation(values, 1).max(0.0);
        let bias = (PARAMETERS - 1.0 + 4.0 * seen) / n;
        let correlation = (seen + bias + UPPER * ((1.0 - seen * seen) / n).sqrt()).min(0.995);
        let scale = Scale { lump: lump as f64, correlation, variance: 1.0 };
        // The course takes what varies as slowly as itself: twice the variance of the mean of all.
        let kept = (1.0 - 2.0 * scale.share(n * scale.lump, 0)).max(0.15);
        Scale { variance: squares_about_mean(values) / (n - PARAMETERS) / kept, ..scale }
    }

    /// Covariance of the means of two stretches of `count` values, `apart` stretches from each other, over the variance.
    fn share(&self, count: f64, apart: usize) -> f64 {
        let (m, phi) = ((count / self.lump).max(1.0), self.correlation);
        let whole = phi.powf(m);
        if apart == 0 {
            return ((1.0 + phi) / (1.0 - phi) - 2.0 * phi * (1.0 - whole) / (m * (1.0 - phi).powi(2))) / m;
        }
        phi.powf((apart as f64 - 1.0) * m + 1.0) * ((1.0 - whole) / (1.0 - phi) / m).powi(2)
    }
}

/// Means of `lump` neighbours; what does not fill one is left out at the start.
fn lumped(values: &[f64], lump: usize) -> Vec<f64> {
    values[values.len() % lump..].chunks(lump).map(mean).collect()
}

fn about_line(series: &[f64]) -> Vec<f64> {
    let line = line_over_index(series).map_or((mean(series), 0.0), |line| (line.intercept, line.slope));
    series.iter().enumerate().map(|(i, y)| y - line.0 - line.1 * i as f64).collect()
}

/// The series about the course that describes it.
fn about_course(series: &[f64]) -> Vec<f64> {
    let line = about_line(series);
    let others = [about_parabola(&line), about_levels(series)];
    others.into_iter().fold(line, |best, other| {
        if squares_about_mean(&other) < CLEARLY_BETTER * squares_about_mean(&best) { other } else { best }
    })
}

/// What is left of a series about its line when the curvature is taken off too.
fn about_parabola(line: &[f64]) -> Vec<f64> {
    let middle = (line.len() as f64 - 1.0) / 2.0;
    let squares: Vec<f64> = (0..line.len()).map(|i| (i as f64 - middle).powi(2)).collect();
    let shape = about_line(&squares);
    let bend = line.iter().zip(&shape).map(|(y, x)| y * x).sum::<f64>() / shape.iter().map(|x| x * x).sum::<f64>();
    line.iter().zip(&shape).map(|(y, x)| y - bend * x).collect()
}

fn about_levels(series: &[f64]) -> Vec<f64> {
    let Some(change) = two_levels(series, (series.len() / 20).max(3)) else { return series.to_vec() };
    let level = |i: usize| if i < change.at { change.before } else { change.after };
    series.iter().enumerate().map(|(i, y)| y - level(i)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::autocorrelation::tests::ar1;
    use crate::statistics::bootstrap::Draws;

    /// The standard error of means of twenty values of an AR(1) series of unit variance, by its formula.
    fn exact(phi: f64) -> f64 {
        let scale = Scale { lump: 1.0, correlation: phi, variance: 1.0 };
        scale.share(20.0, 0).sqrt()
    }

    #[test]
    fn noise_is_rarely_told_smaller_than_it_is() {
        for phi in [0.0, 0.7, 0.9] {
            let mut draws = Draws::new(3);
            let low = (0..300).filter(|_| {
                let noise = Noise::of(&ar1(&mut draws, 200, phi)).unwrap();
                noise.error_of_mean(20.0) < 0.8 * exact(phi)
            });
            let low = low.count();
            assert!(low <= 30, "{low} of 300 at {phi}");
        }
    }

    #[test]
    fn drift_is_no_noise() {
        let mut draws = Draws::new(4);
        let mut noisy = |course: &dyn Fn(f64) -> f64| -> f64 {
            let series: Vec<f64> = (0..200).map(|i| course(f64::from(i) / 200.0) + 0.05 * draws.normal()).collect();
            Noise::of(&series).unwrap().error_of_mean(40.0)
        };
        let still = noisy(&|_| 1.0);
        for drifting in [noisy(&|x| 1.0 - 0.8 * x), noisy(&|x| if x < 0.4 { 1.0 } else { 0.5 })] {
            assert!(drifting < 2.0 * still, "{drifting} {still}");
        }
    }

    /// By hand: the line takes 9 / 17.5 of the six squares, and four degrees are left.
    #[test]
    fn few_values_count_as_independent() {
        let noise = Noise::of(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0]).unwrap();
        assert!((noise.error_of_mean(1.0) - 1.1711).abs() < 1e-4, "{}", noise.error_of_mean(1.0));
        assert_eq!(noise.correlation_length(), 1.0);
        assert!(Noise::of(&[1.0; 3]).is_none());
    }
}
