//! A pair whose mirror was away: the source notes what changes, and afterwards sends it while changes go on.
//!
//! A row that changes again before it was sent is sent once. So rows of a set that is changed at random fill up towards the
//! whole set, and the longer a mirror was away, the less each further second costs.

/// A pair that is apart, or comes together again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Apart {
    /// Rows that change a second, counted each time.
    pub changes_per_s: f64,
    /// Rows among which changes choose; infinite when no row changes twice.
    pub rows: f64,
    /// Rows that are sent a second afterwards.
    pub sends_per_s: f64,
}

impl Apart {
    /// Different rows that wait to be sent when the mirror was away for so long.
    pub fn tracked(&self, away_s: f64) -> f64 {
        let changed = self.changes_per_s * away_s;
        if self.rows.is_finite() { -self.rows * libm::expm1(-changed / self.rows) } else { changed }
    }

    /// Seconds until nothing waits any more, when changes that go on wait too; none when they come faster than they are
    /// sent, so that it never ends. Of what changes meanwhile, rows that wait already are not sent twice.
    pub fn resync_s(&self, away_s: f64) -> Option<f64> {
        let waiting = self.tracked(away_s);
        if !self.rows.is_finite() {
            let gains = self.sends_per_s - self.changes_per_s;
            return (gains > 0.0).then(|| waiting / gains);
        }
        // Waiting rows W follow W' = changes (1 - W / rows) - sends, which is a straight line in W.
        let rate = self.changes_per_s / self.rows;
        let settles = self.rows * (1.0 - self.sends_per_s / self.changes_per_s.max(1e-300));
        if rate <= 0.0 {
            return (self.sends_per_s > 0.0).then(|| waiting / self.sends_per_s);
        }
        (settles < 0.0).then(|| libm::log1p(waiting / -settles) / rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIR: Apart = Apart { changes_per_s: 1_000.0, rows: f64::INFINITY, sends_per_s: 5_000.0 };

    #[test]
    fn what_waits_is_sent_while_changes_go_on() {
        assert_eq!(PAIR.tracked(60.0), 60_000.0);
        assert_eq!(PAIR.resync_s(60.0), Some(15.0));
        assert_eq!(Apart { sends_per_s: 1_000.0, ..PAIR }.resync_s(60.0), None, "it never ends");
    }

    #[test]
    fn rows_that_change_again_are_sent_once() {
        let few = Apart { rows: 10_000.0, ..PAIR };
        assert!(few.tracked(3_600.0) <= 10_000.0);
        assert!((few.tracked(1e-3) - 1.0).abs() < 1e-3);
        let mut before = 0.0;
        for away_s in [1.0, 10.0, 100.0, 1_000.0] {
            let now = few.resync_s(away_s).expect("it sends faster than changes come");
            assert!(now > before && now < PAIR.resync_s(away_s).expect("so does this"), "{away_s}: {now}");
            before = now;
        }
    }

    #[test]
    fn the_law_is_what_counting_row_by_row_finds() {
        let few = Apart { rows: 10_000.0, ..PAIR };
        let (mut waiting, mut passed, step) = (few.tracked(20.0), 0.0, 1e-5);
        while waiting > 0.0 {
            waiting += step * (few.changes_per_s * (1.0 - waiting / few.rows) - few.sends_per_s);
            passed += step;
        }
        let law = few.resync_s(20.0).expect("it ends");
        assert!((law / passed - 1.0).abs() < 1e-3, "{law} against {passed}");
        let idle = Apart { changes_per_s: 0.0, ..few };
        assert_eq!((idle.tracked(9.0), idle.resync_s(9.0)), (0.0, Some(0.0)));
    }
}
