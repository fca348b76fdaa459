//! The straight line through points, weighted or not.

use super::student::half_width;
use crate::Estimate;

/// A fitted line `intercept + slope * x` with the standard errors of both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Value at x = 0.
    pub intercept: f64,
    /// Rise for each unit of x.
    pub slope: f64,
    /// Standard error of the intercept.
    pub intercept_error: f64,
    /// Standard error of the slope.
    pub slope_error: f64,
    /// Weighted sum of the squared residuals.
    pub residual: f64,
    /// Points less two.
    pub freedom: f64,
}

/// One point of a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighted {
    /// The place.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// Weight of its squared residual.
    pub weight: f64,
}

impl Line {
    /// The intercept as an estimate.
    pub fn intercept_estimate(&self, confidence: f64) -> Estimate {
        self.estimate(self.intercept, self.intercept_error, confidence)
    }

    /// The slope as an estimate.
    pub fn slope_estimate(&self, confidence: f64) -> Estimate {
        self.estimate(self.slope, self.slope_error, confidence)
    }

    fn estimate(&self, value: f64, error: f64, confidence: f64) -> Estimate {
        let half = half_width(error, self.freedom, confidence);
        Estimate { value, low: value - half, high: value + half, n: self.freedom as u32 + 2, confidence }
    }
}

/// The line of least weighted squares; nothing below two different places.
pub fn weighted_line(points: &[Weighted]) -> Option<Line> {
    let total: f64 = points.iter().map(|p| p.weight).sum();
    let x = points.iter().map(|p| p.weight * p.x).sum::<f64>() / total;
    let y = points.iter().map(|p| p.weight * p.y).sum::<f64>() / total;
    let xx: f64 = points.iter().map(|p| p.weight * (p.x - x).powi(2)).sum();
    let xy: f64 = points.iter().map(|p| p.weight * (p.x - x) * (p.y - y)).sum();
    if points.len() < 2 || xx.is_nan() || xx <= 0.0 {
        return None;
    }
    let slope = xy / xx;
    let intercept = y - slope * x;
    let residual: f64 = points.iter().map(|p| p.weight * (p.y - intercept - slope * p.x).powi(2)).sum();
    let freedom = points.len() as f64 - 2.0;
    let spread = if freedom > 0.0 { residual / freedom } else { f64::NAN };
    Some(Line {
        intercept,
        slope,
        intercept_error: (spread * (1.0 / total + x * x / xx)).sqrt(),
        slope_error: (spread / xx).sqrt(),
        residual,
        freedom,
    })
}

/// The plain line of least squares through values at places 0, 1, 2 and so on.
pub fn line_over_index(values: &[f64]) -> Option<Line> {
    let points: Vec<Weighted> =
        values.iter().enumerate().map(|(i, y)| Weighted { x: i as f64, y: *y, weight: 1.0 }).collect();
    weighted_line(&points)
}

/// The line of least *relative* squares: each residual counts as a share of its value, so that small transfers weigh
/// as much as large ones.
pub fn relative_line(points: &[(f64, f64)]) -> Option<Line> {
    let weighted: Vec<Weighted> =
        points.iter().map(|(x, y)| Weighted { x: *x, y: *y, weight: 1.0 / (y * y) }).collect();
    weighted_line(&weighted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST Statistical Reference Datasets, linear regression, "Norris": B0 = -0.262323073774029 with standard error
    /// 0.232818234301152, B1 = 1.00211681802045 with 0.429796848199937E-03, residual sum of squares 26.6173985294224.
    #[test]
    fn the_norris_data_set_gives_its_certified_values() {
        let y = [
            0.1, 338.8, 118.1, 888.0, 9.2, 228.1, 668.5, 998.5, 449.1, 778.9, 559.2, 0.3, 0.1, 778.1, 668.8, 339.3,
            448.9, 10.8, 557.7, 228.3, 998.0, 888.8, 119.6, 0.3, 0.6, 557.6, 339.3, 888.0, 998.5, 778.9, 10.2, 117.6,
            228.9, 668.4, 449.2, 0.2,
        ];
        let x = [
            0.2, 337.4, 118.2, 884.6, 10.1, 226.5, 666.3, 996.3, 448.6, 777.0, 558.2, 0.4, 0.6, 775.5, 666.9, 338.0,
            447.5, 11.6, 556.0, 228.1, 995.8, 887.6, 120.2, 0.3, 0.3, 556.8, 339.1, 887.2, 999.0, 779.0, 11.1, 118.3,
            229.2, 669.1, 448.9, 0.5,
        ];
        let points: Vec<Weighted> = x.iter().zip(y).map(|(x, y)| Weighted { x: *x, y, weight: 1.0 }).collect();
        let line = weighted_line(&points).unwrap();
        assert!((line.intercept + 0.262323073774029).abs() < 1e-9, "{}", line.intercept);
        assert!((line.slope - 1.00211681802045).abs() < 1e-12);
        assert!((line.intercept_error - 0.232818234301152).abs() < 1e-9);
        assert!((line.slope_error - 0.429796848199937e-3).abs() < 1e-12);
        assert!((line.residual - 26.6173985294224).abs() < 1e-8);
    }

    #[test]
    fn one_place_has_no_line() {
        assert_eq!(line_over_index(&[4.0]), None);
    }
}
