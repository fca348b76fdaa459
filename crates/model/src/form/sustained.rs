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

    /// Mean rate over a window behind a warm-up, which uses up credit as well.
    pub fn mean_behind(&self, warm_up_s: f64, window_s: f64) -> f64 {
        let (before, window_s) = (self.mean_over(warm_up_s) * warm_up_s, window_s.max(1e-9));
        (self.mean_over(warm_up_s + window_s) * (warm_up_s + window_s) - before) / window_s
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

    #[test]
    fn a_warm_up_uses_up_credit() {
        let burst = Burst { most_per_s: 15_000.0, sustained_per_s: 9_000.0, credit: 900_000.0 };
        let close = |found: f64, wanted: f64| assert!((found / wanted - 1.0).abs() < 1e-9, "{found} and {wanted}");
        close(burst.mean_behind(0.0, 3_600.0), burst.mean_over(3_600.0));
        close(burst.mean_behind(50.0, 100.0), 15_000.0);
        close(burst.mean_behind(100.0, 100.0), 12_000.0);
        close(burst.mean_behind(150.0, 60.0), 9_000.0);
    }
}
