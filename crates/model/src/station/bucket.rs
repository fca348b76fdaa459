//! A token bucket: a rate that holds for ever, and credit beyond it.

use units::Nanos;

/// Tokens that come back at a rate, up to a credit.
#[derive(Clone, Debug)]
pub struct Bucket {
    rate_per_ns: f64,
    credit: f64,
    tokens: f64,
    at: u64,
}

impl Bucket {
    /// Full at the beginning.
    pub fn new(rate_per_s: f64, credit: f64) -> Bucket {
        Bucket { rate_per_ns: rate_per_s / 1e9, credit, tokens: credit, at: 0 }
    }

    /// Takes `cost` tokens. The answer is when they were all there; takers are served in the order of their calls, so a
    /// bucket that owes already makes the next one wait longer.
    #[inline]
    pub fn take(&mut self, now: Nanos, cost: f64) -> Nanos {
        let passed = now.0.saturating_sub(self.at) as f64;
        self.tokens = (self.tokens + passed * self.rate_per_ns).min(self.credit);
        self.at = self.at.max(now.0);
        self.tokens -= cost;
        if self.tokens >= 0.0 {
            return now;
        }
        Nanos(now.0 + libm::ceil(-self.tokens / self.rate_per_ns) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credit_is_spent_at_once_and_the_rate_for_ever() {
        let mut bucket = Bucket::new(1_000.0, 10.0);
        let times: Vec<u64> = (0..13).map(|_| bucket.take(Nanos(0), 1.0).0).collect();
        assert!(times[..10].iter().all(|at| *at == 0));
        assert_eq!(times[10..], [1_000_000, 2_000_000, 3_000_000]);
    }

    #[test]
    fn a_rested_bucket_is_full_and_no_fuller() {
        let mut bucket = Bucket::new(1_000.0, 10.0);
        bucket.take(Nanos(0), 10.0);
        bucket.take(Nanos(5_000_000), 0.0);
        assert!((bucket.tokens - 5.0).abs() < 1e-9);
        bucket.take(Nanos(60_000_000_000), 0.0);
        assert_eq!(bucket.tokens, 10.0);
    }
}
