//! Cores that run several threads each.
//!
//! The one idea: what all cores do together depends on how many threads are ready to run. Up to one a core each has a core
//! to itself; beyond, a core shares itself out and does somewhat more in sum. So processor time for a transaction is not a
//! constant but grows with utilisation. Each ready thread also slows all others a little: caches, scheduling.
//!
//! Past the peak it is latches that bring a server down. Who waits for one spins, which takes processors away from whoever holds
//! it (Johnson, Stoica, Ailamaki, Mowry: Decoupling contention management from scheduling, ASPLOS 2010). Threads are customers
//! of one repairman, the latch, and all of them slow down together, which is the station behind the Universal Scalability
//! Law (Gunther: A general theory of computational scalability based on rational functions, 2008).

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
    /// The share of a transaction's work that is done with the latch held that is asked for most.
    pub latch: f64,
}

/// A repairman with so many times the weight of rest is never at rest.
const CERTAIN: f64 = 1e15;

/// Threads a core at the points of the capacity curve.
const THREADS: [f64; 4] = [1.0, 2.0, 4.0, 8.0];

impl Processors {
    /// The processors of a `server-on-flash` model.
    pub(crate) fn of(values: &Values) -> Processors {
        Processors {
            cores: values.of("cores"),
            capacity: [1.0, values.of("capacity_2"), values.of("capacity_4"), values.of("capacity_8")],
            contention: values.of("contention"),
            latch: values.of("latch"),
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

    /// Transactions a second that ready threads complete, from none up to so many, each of which asks for `demand_s` seconds of
    /// a core that it has to itself.
    pub fn completions(&self, most: u32, demand_s: f64) -> Vec<f64> {
        let alone = |ready: f64| self.work(ready) / (demand_s * (1.0 + self.contention * ready));
        self.moving(most).enumerate().map(|(ready, moving)| alone(ready as f64) * moving).collect()
    }

    /// The share of ready threads that does not spin, from none up to so many: they are customers of one repairman, who is busy
    /// with whoever holds the latch. The sum over his states grows with each customer by what Erlang's recursion says.
    fn moving(&self, most: u32) -> impl Iterator<Item = f64> {
        let (latch, mut states) = (self.latch, 1.0f64);
        (0..=most).map(f64::from).map(move |ready| {
            if latch <= 0.0 || ready < 1.0 {
                return 1.0;
            }
            states = (1.0 + ready * latch / (1.0 - latch) * states).min(CERTAIN);
            (1.0 - 1.0 / states) / (latch * ready)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUR: Processors = Processors { cores: 4.0, capacity: [1.0, 1.4, 1.8, 2.0], contention: 0.0, latch: 0.0 };

    #[test]
    fn threads_have_a_core_each_before_they_share() {
        assert_eq!((FOUR.work(3.0), FOUR.work(4.0)), (3.0, 4.0));
        assert!((FOUR.work(6.0) - 4.8).abs() < 1e-12, "two cores with two threads, two with one");
        assert!((FOUR.work(32.0) - 8.0).abs() < 1e-12);
        assert_eq!(FOUR.work(64.0), FOUR.work(32.0), "there are no more threads than that");
    }

    #[test]
    fn who_waits_for_a_latch_takes_the_time_of_who_holds_it() {
        let latched = Processors { latch: 0.02, ..FOUR };
        let (slowed, free) = (latched.completions(400, 0.001), FOUR.completions(1, 0.001));
        assert!((slowed[1] / free[1] - 1.0).abs() < 1e-12, "alone nobody waits");
        let full = |ready: f64| slowed[ready as usize] * 0.001;
        assert!(full(32.0) > 0.5 * FOUR.work(32.0) && full(200.0) < full(32.0));
        // Far beyond, one thread in all of them holds it, and is as slow as all: 8 cores for 400 threads, and 50 holds.
        assert!((full(400.0) / (8.0 / 400.0 / 0.02) - 1.0).abs() < 1e-6, "{}", full(400.0));
    }

    #[test]
    fn contention_bends_the_curve_down() {
        let crowded = Processors { contention: 0.01, ..FOUR };
        let completions = crowded.completions(64, 0.001);
        assert!(completions[64] < completions[32]);
    }
}
