//! A host that handles all that came since it last looked, and a device behind it, in a closed circle.
//!
//! The one idea: waking up costs the host as much for one operation as for many. So with more outstanding each costs it less,
//! and the rate grows beyond what one at a time would allow. What the next batch holds depends only on how many the last one
//! held, which makes batches a Markov chain that is solved as it is; a cycle is a batch and, when nobody came meanwhile, the
//! time until somebody does (renewal reward). The host is code and takes its time as it is; times of the device are exponential.

use crate::asked::Values;

/// Host and device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circle {
    /// What the host takes once for a batch, seconds.
    pub wake_s: f64,
    /// What it takes beside for each operation, seconds.
    pub each_s: f64,
    /// An operation inside the device, seconds.
    pub device_s: f64,
    /// Operations that the device works on at once; a part of one is worked on with that part of its strength.
    pub overlap: f64,
}

/// How such a circle settles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settled {
    /// Operations a second.
    pub rate_per_s: f64,
    /// Operations of a batch, on the mean.
    pub batch: f64,
}

/// Populations beyond are answered by fewer: batches are so large then that waking up is hardly seen in them.
const MOST: u32 = 512;
/// A probability below which something is taken for impossible.
const NEVER: f64 = 1e-290;
/// The share of a count that is left out: of thousands together still less than what may be left out of their sum.
const NOTHING: f64 = 1e-18;
/// What may be left out of a sum of probabilities.
const TAIL: f64 = 1e-13;

impl Circle {
    /// The host and the device that the parameters of a queue device describe.
    pub(crate) fn of(values: &Values) -> Circle {
        let us = |name: &str| values.of(name) / 1e6;
        Circle {
            wake_s: us("wake_time"),
            each_s: us("host_time"),
            device_s: us("device_time"),
            overlap: values.of("overlap"),
        }
    }

    /// Operations a second that the device completes when so many are inside.
    fn device_per_s(&self, inside: u32) -> f64 {
        f64::from(inside).min(self.overlap) / self.device_s
    }

    /// What the host takes for a batch, seconds.
    fn batch_s(&self, batch: u32) -> f64 {
        self.wake_s + f64::from(batch) * self.each_s
    }

    /// How likely each count of those inside the device comes back within a time.
    fn back(&self, inside: u32, time_s: f64) -> Vec<f64> {
        if self.overlap >= f64::from(inside) {
            return binomial(inside, -libm::expm1(-time_s / self.device_s));
        }
        // The busiest rate paces a clock whose ticks bring one back or nobody: uniformisation (Jensen, 1953).
        let most = self.device_per_s(inside);
        let mean = most * time_s;
        let comes: Vec<f64> = (0..=inside).map(|came| self.device_per_s(inside - came) / most).collect();
        let (all, mut now) = (inside as usize, vec![0.0; comes.len()]);
        now[0] = 1.0;
        let mut found = vec![0.0; now.len()];
        let (mut log, mut summed, mut tick) = (-mean, 0.0, 0.0);
        // All but what may be left out lies between these: while many are inside, each tick brings exactly one.
        let (mut low, mut high) = (0, 0);
        while summed < 1.0 - TAIL && tick < mean + 40.0 * libm::sqrt(mean) + 100.0 {
            if now[all] > 1.0 - TAIL {
                // Everybody is back: whatever ticks follow, they bring nobody.
                found[all] += 1.0 - summed;
                summed = 1.0;
                break;
            }
            let weight = libm::exp(log);
            summed += weight;
            found[low..=high].iter_mut().zip(&now[low..=high]).for_each(|(sum, share)| *sum += weight * share);
            high = (high + 1).min(all);
            for came in (low + 1..=high).rev() {
                now[came] += now[came - 1] * comes[came - 1] - now[came] * comes[came];
            }
            now[low] -= now[low] * comes[low];
            while low < high && now[low] < NOTHING {
                now[low] = 0.0;
                low += 1;
            }
            tick += 1.0;
            log += libm::log(mean / tick);
        }
        found.iter_mut().for_each(|share| *share /= summed);
        found
    }

    /// Of a population, how likely a batch of `batch` is followed by one of each size; the answer is how likely nobody came.
    fn follow(&self, population: u32, batch: u32, into: &mut [f64]) -> f64 {
        let back = self.back(population - batch, self.batch_s(batch));
        into.fill(0.0);
        // Whoever comes first after nobody came is a batch alone.
        back.iter().enumerate().for_each(|(came, share)| into[came.max(1) - 1] += share);
        back[0]
    }

    /// So many operations that go round for ever; at least one.
    pub fn settle(&self, population: u32) -> Settled {
        let population = population.clamp(1, MOST);
        let many = population as usize;
        let mut rows = vec![vec![0.0; many]; many];
        let nobody: Vec<f64> =
            (1..=population).map(|batch| self.follow(population, batch, &mut rows[batch as usize - 1])).collect();
        let shares = settled(&mut rows);
        let idle_s = 1.0 / self.device_per_s(population);
        let (mut operations, mut cycle_s) = (0.0, 0.0);
        for (place, share) in shares.iter().enumerate() {
            let batch = (place + 1) as f64;
            operations += share * batch;
            cycle_s += share * (self.batch_s(place as u32 + 1) + nobody[place] * idle_s);
        }
        Settled { rate_per_s: operations / cycle_s, batch: operations }
    }
}

/// Shares of all counts of successes.
fn binomial(count: u32, chance: f64) -> Vec<f64> {
    let log = |n: f64| libm::lgamma(n + 1.0);
    let (many, no) = (f64::from(count), (1.0 - chance).max(f64::MIN_POSITIVE));
    let share = |hits: u32| {
        let hits = f64::from(hits);
        let ways = log(many) - log(hits) - log(many - hits);
        libm::exp(ways + hits * libm::log(chance.max(f64::MIN_POSITIVE)) + (many - hits) * libm::log(no))
    };
    (0..=count).map(share).collect()
}

/// Shares of states that a step of the chain does not change, by eliminating one state after the other without a subtraction
/// (Grassmann, Taksar and Heyman, 1985): exact however slowly the chain mixes, where repeated steps would only creep towards it.
fn settled(rows: &mut [Vec<f64>]) -> Vec<f64> {
    let mut shares = vec![0.0; rows.len()];
    let mut first = 0;
    for state in (1..rows.len()).rev() {
        let (lower, from) = rows.split_at_mut(state);
        let from = &from[0][..state];
        let leaves: f64 = from.iter().sum();
        if leaves < NEVER {
            // Nobody comes down from here, so that the chain is never below in the long run.
            first = state;
            break;
        }
        for row in lower {
            row[state] /= leaves;
            let share = row[state];
            row[..state].iter_mut().zip(from).for_each(|(to, chance)| *to += share * chance);
        }
    }
    shares[first] = 1.0;
    for state in first + 1..shares.len() {
        let share = (first..state).map(|from| shares[from] * rows[from][state]).sum::<f64>();
        // Kept below one, because shares may differ by more than a number holds.
        let most = share.max(1.0);
        shares[state] = share;
        shares[first..=state].iter_mut().for_each(|share| *share /= most);
    }
    let all: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= all);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    const CIRCLE: Circle = Circle { wake_s: 30e-6, each_s: 8e-6, device_s: 25e-6, overlap: 1e3 };

    fn close(found: f64, wanted: f64) {
        assert!((found / wanted - 1.0).abs() < 1e-6, "{found} against {wanted}");
    }

    #[test]
    fn one_alone_goes_round_as_fast_as_its_times_say() {
        let settled = CIRCLE.settle(1);
        close(settled.rate_per_s, 1.0 / 63e-6);
        close(settled.batch, 1.0);
    }

    #[test]
    fn many_share_a_wake_up_and_come_near_the_hosts_time_for_each() {
        let rates: Vec<f64> = [1, 2, 4, 8, 64, 512].map(|many| CIRCLE.settle(many).rate_per_s).to_vec();
        assert!(rates.windows(2).all(|pair| pair[1] > pair[0]), "{rates:?}");
        assert!((0.95..1.0).contains(&(rates[5] * CIRCLE.each_s)), "{rates:?}");
        // One at a time the host would not carry more than this.
        assert!(rates[3] > 1.0 / 38e-6, "{rates:?}");
    }

    #[test]
    fn a_chain_that_mixes_slowly_is_settled_nevertheless() {
        // Both halves are left once in ten million steps; up is three times as likely as down.
        let (up, down) = (3e-7, 1e-7);
        let half = |stays: f64, goes: f64, low: bool| {
            let (stays, goes) = (stays / 2.0, goes / 2.0);
            if low { vec![stays, stays, goes, goes] } else { vec![goes, goes, stays, stays] }
        };
        let low = half(1.0 - up, up, true);
        let high = half(1.0 - down, down, false);
        let shares = settled(&mut [low.clone(), low, high.clone(), high]);
        for (found, wanted) in shares.iter().zip([0.125, 0.125, 0.375, 0.375]) {
            close(*found, wanted);
        }
    }

    #[test]
    fn states_that_nobody_comes_back_to_have_no_share() {
        let shares = settled(&mut [vec![0.5, 0.5, 0.0], vec![0.0, 0.25, 0.75], vec![0.0, 0.5, 0.5]]);
        for (found, wanted) in shares.iter().zip([0.0, 0.4, 0.6]) {
            assert!((found - wanted).abs() < 1e-12, "{shares:?}");
        }
    }

    #[test]
    fn a_narrow_device_limits_when_the_host_costs_next_to_nothing() {
        let narrow = Circle { wake_s: 1e-9, each_s: 1e-9, overlap: 4.0, device_s: 100e-6 };
        assert!((narrow.settle(32).rate_per_s / 40_000.0 - 1.0).abs() < 1e-3);
    }
}
