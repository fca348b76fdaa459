//! Service time against transfer size: a straight line, or steps of an internal unit.
//!
//! A transfer costs a fixed time and a time for each byte (affine). Where the system works in units of its own (a flash
//! page, a RAID stripe, a request limit of the kernel) the time rises in steps: the size counts rounded up to whole units.
//! Both are fitted by least relative squares, so that 512 B weighs as much as 1 MiB. Steps have one parameter more, and
//! are believed only when they fit clearly better.

use super::curves::Curve;
use crate::statistics::least_squares::{Line, relative_line};
use crate::{Estimate, ServiceFit, ServiceForm};
use study::Metric;

/// Steps must leave at most this share of the line's error (root mean square, each with its degrees of freedom).
const STEP_GAIN: f64 = 0.6;

/// A line this good needs no better form: the points agree with it as far as they can be measured.
const ERROR_FINE: f64 = 0.02;

/// A form that misses by more than this describes nothing.
const ERROR_MAX: f64 = 0.15;

/// A line has two parameters; fewer than five points would fit steps by themselves.
const POINTS_MIN: usize = 5;

/// One form with its fit.
struct Fit {
    line: Line,
    step: Option<u64>,
    /// Root mean squared relative error, with the parameters taken off the number of points.
    error: f64,
}

/// How service time grows along a curve over transfer sizes; nothing with fewer than five of them.
pub fn service_fit(curve: &Curve, confidence: f64) -> Option<ServiceFit> {
    let points: Vec<(f64, Estimate)> = curve
        .estimates(Metric::ServiceMean, confidence)
        .into_iter()
        .map(|(bytes, seconds)| (bytes, seconds.scaled(1e3)))
        .filter(|(bytes, ms)| *bytes > 0.0 && ms.value > 0.0)
        .collect();
    let values: Vec<(f64, f64)> = points.iter().map(|(bytes, ms)| (*bytes, ms.value)).collect();
    if values.len() < POINTS_MIN {
        return None;
    }
    let (fit, form) = chosen(&values)?;
    Some(ServiceFit {
        point: curve.point.clone(),
        form,
        base_ms: fit.line.intercept_estimate(confidence),
        rate_bytes_per_s: rate(&fit.line, confidence),
        step_bytes: fit.step.filter(|_| form == ServiceForm::Stepped),
        error: fit.error,
        points,
    })
}

/// The form that the points support.
fn chosen(points: &[(f64, f64)]) -> Option<(Fit, ServiceForm)> {
    let line = affine(points)?;
    let steps = best_steps(points);
    let better = |steps: &Fit| line.error > ERROR_FINE && steps.error < STEP_GAIN * line.error;
    let (fit, form) = match steps {
        Some(steps) if better(&steps) => (steps, ServiceForm::Stepped),
        _ => (line, ServiceForm::Affine),
    };
    let form = if fit.error > ERROR_MAX || fit.line.slope <= 0.0 { ServiceForm::Neither } else { form };
    Some((fit, form))
}

fn affine(points: &[(f64, f64)]) -> Option<Fit> {
    fit(points, None, 2.0)
}

fn best_steps(points: &[(f64, f64)]) -> Option<Fit> {
    let fits = candidates(points).into_iter().filter_map(|step| fit(points, Some(step), 3.0));
    fits.min_by(|a, b| a.error.total_cmp(&b.error))
}

/// Units that could show: powers of two above the smallest transfer that was measured, up to half of the greatest.
fn candidates(points: &[(f64, f64)]) -> Vec<u64> {
    let smallest = points.iter().map(|(bytes, _)| *bytes as u64).min().unwrap_or(512);
    let greatest = points.iter().map(|(bytes, _)| *bytes as u64).max().unwrap_or(0);
    let powers = std::iter::successors(Some(512u64), |step| step.checked_mul(2));
    powers.take_while(|step| *step <= greatest / 2).filter(|step| *step > smallest).collect()
}

fn fit(points: &[(f64, f64)], step: Option<u64>, parameters: f64) -> Option<Fit> {
    let moved = |bytes: f64| step.map_or(bytes, |step| (bytes / step as f64).ceil() * step as f64);
    let placed: Vec<(f64, f64)> = points.iter().map(|(bytes, ms)| (moved(*bytes), *ms)).collect();
    let line = relative_line(&placed)?;
    let error = (line.residual / (points.len() as f64 - parameters).max(1.0)).sqrt();
    Some(Fit { line, step, error })
}

/// Bytes a second: the inverse of the slope, and of the ends of its interval.
fn rate(line: &Line, confidence: f64) -> Estimate {
    let slope = line.slope_estimate(confidence);
    let inverse = |ms_per_byte: f64| if ms_per_byte > 0.0 { 1e3 / ms_per_byte } else { f64::INFINITY };
    Estimate { value: inverse(slope.value), low: inverse(slope.high), high: inverse(slope.low), ..slope }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [f64; 12] = [
        512.0,
        1024.0,
        2048.0,
        4096.0,
        8192.0,
        16384.0,
        32768.0,
        65536.0,
        131_072.0,
        262_144.0,
        524_288.0,
        1_048_576.0,
    ];

    fn form(time: impl Fn(f64) -> f64) -> (ServiceForm, Fit) {
        // Two percent of error in turn, so that no form fits by accident.
        let points: Vec<(f64, f64)> = SIZES
            .iter()
            .enumerate()
            .map(|(i, bytes)| (*bytes, time(*bytes) * (1.0 + if i % 3 == 0 { 0.02 } else { -0.01 })))
            .collect();
        let (fit, form) = chosen(&points).unwrap();
        (form, fit)
    }

    #[test]
    fn a_line_is_recovered_with_base_and_rate() {
        let (form, fit) = form(|bytes| 0.1 + bytes / 500e6 * 1e3);
        assert_eq!(form, ServiceForm::Affine);
        assert!((fit.line.intercept / 0.1 - 1.0).abs() < 0.03);
        assert!((rate(&fit.line, 0.95).value / 500e6 - 1.0).abs() < 0.03);
    }

    #[test]
    fn steps_are_recovered_with_their_unit() {
        let (form, fit) = form(|bytes| 0.05 + 0.2 * (bytes / 65536.0).ceil());
        assert_eq!((form, fit.step), (ServiceForm::Stepped, Some(65536)));
        assert!((fit.line.slope * 65536.0 / 0.2 - 1.0).abs() < 0.03);
    }

    #[test]
    fn what_is_neither_is_called_neither() {
        let (form, _) = form(|bytes| {
            if bytes < 8192.0 {
                1.0
            } else if bytes < 131_072.0 {
                0.2
            } else {
                5.0
            }
        });
        assert_eq!(form, ServiceForm::Neither);
    }
}
