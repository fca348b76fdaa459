//! How far a value may lie from what was written, because it was rounded.

/// Half of the last digit that was written, as a percentage of the value: `7.2` stands for 7.15 to 7.25 (0.69 percent),
/// `21000` for 20,500 to 21,500 (2.4 percent), because zeros at the end of a whole number say nothing. None for zero and
/// for what is no number.
pub fn floor_pct(written: &str) -> Option<f64> {
    let text = written.trim();
    let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite() && *value != 0.0)?;
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let last = match digits.split_once('.') {
        Some((_, after)) => -(after.len() as i32),
        None => (digits.len() - digits.trim_end_matches('0').len()) as i32,
    };
    let half = 0.5 * libm::pow(10.0, f64::from(last + exponent));
    Some(100.0 * half / value.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_is_half_of_the_last_digit_that_says_something() {
        for (written, floor) in
            [("21000", 2.38), ("11000", 4.55), ("9000", 5.56), ("7.2", 0.694), ("10968.4", 0.000456)]
        {
            let found = floor_pct(written).unwrap();
            assert!((found / floor - 1.0).abs() < 0.01, "{written}: {found}");
        }
        assert_eq!(floor_pct("2.10e4").map(|f| (f * 1e3).round()), Some(238.0));
        assert_eq!((floor_pct("0"), floor_pct("hdd")), (None, None));
    }
}
