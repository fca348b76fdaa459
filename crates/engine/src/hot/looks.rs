//! How long a worker goes between two looks at what has ended.
//!
//! An operation that ends while its worker prepares others is seen at the next look, and what it waits for that look is
//! part of its service. So this time is the generator's, and is measured: by the readings of the clock that a look takes
//! anyway, and only while operations are out, because otherwise nothing can wait.

use observation::{BUCKET_COUNT, Series, Whole, Window, bucket_high, bucket_index};
use units::Nanos;

/// So many buckets of the common scheme are one of these, as a power of two: eight to each doubling.
const JOINED_BITS: u32 = 7;

const BUCKETS: usize = (BUCKET_COUNT >> JOINED_BITS) as usize;

/// Times between two looks.
#[derive(Clone, Debug)]
pub(crate) struct Looks {
    /// Outside of it nothing is kept.
    window: Window,
    /// When the last look ended; nothing while no operation is out.
    since: Option<Nanos>,
    counts: Box<[u64; BUCKETS]>,
    sum: u64,
    max: u64,
}

impl Looks {
    pub(crate) fn new(window: Window) -> Looks {
        Looks { window, since: None, counts: Box::new([0; BUCKETS]), sum: 0, max: 0 }
    }

    /// A look begins.
    #[inline]
    pub(crate) fn begin(&mut self, at: Nanos) {
        if let Some(since) = self.since.take().filter(|_| self.window.contains(at)) {
            self.add(at.saturating_sub(since).0);
        }
    }

    /// A look ended; whether operations are out from now on.
    #[inline]
    pub(crate) fn end(&mut self, at: Nanos, out: bool) {
        self.since = out.then_some(at);
    }

    #[inline]
    fn add(&mut self, ns: u64) {
        self.counts[(bucket_index(ns) >> JOINED_BITS) as usize] += 1;
        self.sum += ns;
        self.max = self.max.max(ns);
    }

    /// Adds those of another worker.
    pub(crate) fn merge(&mut self, other: &Looks) {
        self.counts.iter_mut().zip(other.counts.iter()).for_each(|(own, others)| *own += others);
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// What is kept of them, at the end of the trial; nothing where no operation ever waited for a look.
    pub(crate) fn series(&self, at: Nanos) -> Vec<Series> {
        let count: u64 = self.counts.iter().sum();
        if count == 0 {
            return Vec::new();
        }
        let figures = [
            (Whole::LooksMean, self.sum as f64 / count as f64),
            (Whole::LooksP99, self.p99(count) as f64),
            (Whole::LooksMax, self.max as f64),
        ];
        figures.into_iter().map(|(what, ns)| Series { probe: what.into(), points: vec![(at, ns / 1e6)] }).collect()
    }

    /// The upper end of the bucket that holds it: never less than it was.
    fn p99(&self, count: u64) -> u64 {
        let rank = count - count / 100;
        let mut below = 0;
        let at = self.counts.iter().position(|counted| {
            below += counted;
            below >= rank
        });
        at.map_or(self.max, |at| bucket_high(((at as u32 + 1) << JOINED_BITS) - 1).min(self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(window: (u64, u64), spans: &[(u64, u64)]) -> Looks {
        let mut looks = Looks::new(Window { start: Nanos(window.0), end: Nanos(window.1) });
        for (from, to) in spans {
            looks.end(Nanos(*from), true);
            looks.begin(Nanos(*to));
        }
        looks
    }

    /// Mean, p99 and maximum in nanoseconds.
    fn figures(looks: &Looks) -> Vec<f64> {
        looks.series(Nanos(1)).iter().map(|series| series.points[0].1 * 1e6).collect()
    }

    #[test]
    fn mean_and_maximum_are_exact_and_the_p99_is_never_told_too_low() {
        let mut spans: Vec<(u64, u64)> = (0..98).map(|n| (n * 10_000, n * 10_000 + 1_000)).collect();
        spans.extend([(2_000_000, 2_050_000), (3_000_000, 3_400_000)]);
        let looks = looks((0, u64::MAX), &spans);
        let [mean, p99, max] = figures(&looks)[..] else { panic!("three figures") };
        assert!((mean - 5_480.0).abs() < 1e-3 && (max - 400_000.0).abs() < 1e-3, "{mean} {max}");
        assert!((50_000.0..57_000.0).contains(&p99), "{p99}");
        let mut both = looks.clone();
        both.merge(&looks);
        assert_eq!(figures(&both), figures(&looks));
    }

    #[test]
    fn nothing_is_kept_outside_of_the_window_or_while_nothing_is_out() {
        assert_eq!(figures(&looks((5_000, 9_000), &[(0, 4_999), (8_999, 9_000)])), [0.0; 0]);
        let mut idle = Looks::new(Window { start: Nanos(0), end: Nanos(100) });
        idle.end(Nanos(10), false);
        idle.begin(Nanos(50));
        assert_eq!(figures(&idle), [0.0; 0]);
        let one = figures(&looks((0, 100), &[(10, 50)]));
        assert!(one.iter().all(|ns| (ns - 40.0).abs() < 1e-6), "{one:?}");
    }
}
