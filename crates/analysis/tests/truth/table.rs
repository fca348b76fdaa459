//! Figures of tables: a share with the interval that so many draws leave it.

use std::fmt;

/// So many of so many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    part: u32,
    whole: u32,
}

impl Share {
    /// `part` of `whole`.
    pub fn of(part: u32, whole: u32) -> Share {
        Share { part, whole }
    }

    /// The 95 percent interval of Wilson, "Probable inference, the law of succession, and statistical inference", Journal of
    /// the American Statistical Association 22 (1927).
    fn interval(&self) -> (f64, f64) {
        let (n, share) = (f64::from(self.whole), f64::from(self.part) / f64::from(self.whole));
        let z = 1.96f64;
        let centre = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let half = z / (1.0 + z * z / n) * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
        // Rounding leaves a trace of what cannot be.
        ((centre - half).max(0.0), (centre + half).min(1.0))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.whole == 0 {
            return f.write_str("–");
        }
        let (low, high) = self.interval();
        let share = f64::from(self.part) / f64::from(self.whole);
        write!(f, "{} ({} to {})", percent(share), percent(low), percent(high))
    }
}

/// Three digits at most; a dash where there is nothing.
pub fn percent(share: f64) -> String {
    let value = 100.0 * share;
    match value {
        _ if !value.is_finite() => "–".to_owned(),
        _ if value != 0.0 && value.abs() < 10.0 => format!("{value:.2}"),
        _ => format!("{value:.1}"),
    }
}
