//! At most and sustained from one law: a device that tidies up behind itself gives `most` while its credit lasts and
//! `sustained` for ever after, so the mean over a window of T seconds is `min(most, sustained + credit / T)`.

/// A rate with burst credit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// While credit lasts, a second.
    pub most_per_s: f64,
    /// For ever, a second.
    pub sustained_per_s: f64,
    /// What can be taken beyond the sustained rate from a rested device.
    pub credit: f64,
}

impl Burst {
    /// Mean rate over a window that begins with all credit there.
    pub fn mean_over(&self, window_s: f64) -> f64 {
        (self.sustained_per_s + self.credit / window_s.max(1e-9)).min(self.most_per_s).max(self.sustained_per_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_window_sees_the_most_and_a_long_one_what_is_sustained() {
        let burst = Burst { most_per_s: 15_000.0, sustained_per_s: 9_000.0, credit: 900_000.0 };
        assert_eq!(burst.mean_over(150.0), 15_000.0, "the credit lasts for so long");
        assert!(burst.mean_over(151.0) < 15_000.0);
        assert_eq!(burst.mean_over(60.0), 15_000.0);
        assert_eq!(burst.mean_over(3_600.0), 9_250.0);
    }
}
