//! Cores that run several threads each.
//!
//! The one idea: what all cores do together depends on how many threads are ready to run. Up to one a core each has a core
//! to itself; beyond, a core shares itself out and does somewhat more in sum. So processor time for a transaction is not a
//! constant but grows with utilisation. Each ready thread also slows all others a little: locks, caches, scheduling.

use crate::asked::Values;

/// The processors of a server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Processors {
    /// How many cores.
    pub cores: f64,
    /// What a core does with 1, 2, 4 and 8 threads, in units of what it does with one. It ends at the last that the core
    /// has: more ready threads do no more.
    pub capacity: [f64; 4],
    /// Each ready thread makes the work of all longer by this share.
    pub contention: f64,
}

/// Threads a core at the points of the capacity curve.
const THREADS: [f64; 4] = [1.0, 2.0, 4.0, 8.0];

impl Processors {
    /// The processors of a `server-on-flash` model.
    pub(crate) fn of(values: &Values) -> Processors {
        Processors {
            cores: values.of("cores"),
            capacity: [1.0, values.of("capacity_2"), values.of("capacity_4"), values.of("capacity_8")],
            contention: values.of("contention"),
        }
    }

    /// Work that is done, in cores with one thread each, when so many threads are ready. Between the points of the curve
    /// cores differ by one thread, so the sum is a straight line.
    pub fn work(&self, ready: f64) -> f64 {
        let each = ready / self.cores;
        if each <= 1.0 {
            return ready;
        }
        let place = THREADS.iter().rposition(|threads| *threads <= each).unwrap_or(0);
        let at = match THREADS.get(place + 1) {
            None => self.capacity[3],
            Some(next) => {
                let along = (each - THREADS[place]) / (next - THREADS[place]);
                self.capacity[place] + along * (self.capacity[place + 1] - self.capacity[place])
            }
        };
        self.cores * at
    }

    /// Transactions a second that so many ready threads complete, each of which asks for `demand_s` seconds of a core that
    /// it has to itself.
    pub fn completions(&self, ready: f64, demand_s: f64) -> f64 {
        self.work(ready) / (demand_s * (1.0 + self.contention * ready))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUR: Processors = Processors { cores: 4.0, capacity: [1.0, 1.4, 1.8, 2.0], contention: 0.0 };

    #[test]
    fn threads_have_a_core_each_before_they_share() {
        assert_eq!((FOUR.work(3.0), FOUR.work(4.0)), (3.0, 4.0));
        assert!((FOUR.work(6.0) - 4.8).abs() < 1e-12, "two cores with two threads, two with one");
        assert!((FOUR.work(32.0) - 8.0).abs() < 1e-12);
        assert_eq!(FOUR.work(64.0), FOUR.work(32.0), "there are no more threads than that");
    }

    #[test]
    fn contention_bends_the_curve_down() {
        let crowded = Processors { contention: 0.01, ..FOUR };
        assert!(crowded.completions(64.0, 0.001) < crowded.completions(32.0, 0.001));
    }
}
