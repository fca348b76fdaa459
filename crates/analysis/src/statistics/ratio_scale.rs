//! Intervals of what cannot be negative: rates, times and counts.
//!
//! Where the standard error grows with the value, as that of a rate or of a mean time does, the values that an observation
//! does not contradict lie around it by ratio and not by difference: none is below zero. For an error that grows with the
//! root of the value, as that of a count, the score interval is the value times `exp(+-2 asinh(c / 2))`, where `c` is the
//! half width as a share of the value (Wilson's argument of 1927, for a Poisson count). For small `c` both are the same.

use crate::Estimate;

impl Estimate {
    /// A value that cannot be negative, with half the width of its plain interval; `floor` is the least that each end is away
    /// from the value, whatever the scatter says.
    pub fn positive(value: f64, half: f64, floor: f64, n: u32, confidence: f64) -> Estimate {
        if !half.is_finite() || !value.is_finite() {
            return Estimate { n, confidence, ..Estimate::single(value) };
        }
        let factor = if value > 0.0 { (2.0 * (half / value / 2.0).asinh()).exp() } else { 1.0 };
        Estimate {
            value,
            low: (value / factor).min(value - floor).max(0.0),
            high: (value * factor).max(value + floor),
            n,
            confidence,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The score interval of a count of 4: 4 + 1.92 -+ 1.96 sqrt(4 + 0.96).
    #[test]
    fn the_interval_of_a_count_is_that_of_its_score() {
        let four = Estimate::positive(4.0, 1.96 * 2.0, 0.0, 1, 0.95);
        assert!((four.low - 1.5556).abs() < 1e-3 && (four.high - 10.286).abs() < 1e-3, "{four:?}");
    }

    #[test]
    fn a_small_error_is_the_same_on_both_sides_and_the_floor_holds() {
        let narrow = Estimate::positive(1000.0, 1.0, 0.0, 1, 0.95);
        assert!((narrow.low - 999.0).abs() < 1e-3 && (narrow.high - 1001.0).abs() < 1e-2);
        let floored = Estimate::positive(0.5, 0.0, 0.25, 1, 0.95);
        assert_eq!((floored.low, floored.high), (0.25, 0.75));
        assert_eq!(Estimate::positive(0.0, 0.0, 0.9, 1, 0.95).high, 0.9);
    }
}
