//! A log with group commit, in closed form: one write at a time, and all who come meanwhile leave with the next.
//!
//! Commits that come at random (Poisson) find either an idle log, and wait one write, or a write on its way, and wait its
//! rest and their own. A cycle is a write and, if nobody came meanwhile, the time until somebody does.

/// Mean time from commit to durable, seconds, at a rate and the time of a write. From one write when hardly anybody commits
/// to one and a half when there is always somebody.
pub fn wait_s(rate_per_s: f64, write_s: f64) -> f64 {
    let came = rate_per_s * write_s;
    let nobody = libm::exp(-came);
    write_s * (1.5 * came + nobody) / (came + nobody)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Commits that leave with one write, on the mean.
    fn batch(rate_per_s: f64, write_s: f64) -> f64 {
        let came = rate_per_s * write_s;
        came + libm::exp(-came)
    }

    /// Writes a second: never more than one after the other.
    fn writes_per_s(rate_per_s: f64, write_s: f64) -> f64 {
        rate_per_s / batch(rate_per_s, write_s)
    }

    #[test]
    fn a_lonely_commit_waits_one_write_and_a_crowded_one_half_more() {
        assert!((wait_s(1e-3, 1e-3) / 1e-3 - 1.0).abs() < 1e-5);
        assert!((wait_s(1e6, 1e-3) / 1e-3 - 1.5).abs() < 1e-3);
    }

    #[test]
    fn batches_grow_with_load_and_writes_never_exceed_one_after_the_other() {
        let mut before = (0.0, 0.0);
        for rate in [10.0, 100.0, 1_000.0, 10_000.0, 100_000.0] {
            let now = (batch(rate, 1e-3), writes_per_s(rate, 1e-3));
            assert!(now.0 > before.0 && now.1 > before.1 && now.1 <= 1_000.0, "{rate}: {now:?} after {before:?}");
            before = now;
        }
    }
}
