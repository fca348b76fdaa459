//! Response times of replicates in one distribution.
//!
//! The one idea: the quantile of a point is that of all its operations, so that replicates that are short each are long
//! together. How sure it is follows from how much the share at or below it differs from replicate to replicate, by the t
//! interval over them; where they agree too well, from what each of them allows.

use super::metric::pooled;
use crate::quantile::Quantile;
use crate::statistics::replicates::{ErrorOf, over_replicates};
use crate::{Estimate, QuantileEstimate, ResponseEstimates};
use observation::Histogram;

/// The times of one or more trials, and how well the share at or below one quantile of them is known.
pub struct PooledTimes {
    q: f64,
    times: Histogram,
    censored_from_ns: Option<u64>,
    known: ErrorOf,
    error_most: f64,
    worth_least: f64,
    mean_ms: Estimate,
}

impl PooledTimes {
    /// Of trials that have at least one member.
    pub fn of(trials: &[&ResponseEstimates], q: f64) -> PooledTimes {
        let mut times = Histogram::default();
        trials.iter().for_each(|trial| times.merge(&trial.times));
        let within = within(trials, q, &times);
        let between = between(trials, q, &times).unwrap_or(within);
        let means: Vec<Estimate> = trials.iter().map(|trial| trial.mean_ms).collect();
        PooledTimes {
            q,
            censored_from_ns: trials.iter().filter_map(|trial| trial.censored_from_ns).min(),
            known: over_replicates(between, within),
            error_most: between.error.max(within.error),
            mean_ms: pooled(&means, 0.0, trials.first().map_or(0.95, |trial| trial.mean_ms.confidence))
                .unwrap_or(Estimate::single(f64::NAN)),
            worth_least: trials.iter().map(|trial| trial.worth_least()).sum(),
            times,
        }
    }

    /// The quantile in milliseconds.
    pub fn estimate(&self, confidence: f64) -> Estimate {
        self.quantile().estimate(confidence)
    }

    /// How many times as long the trials would have to be for an interval; nothing where there is one.
    pub fn short_by(&self, confidence: f64) -> Option<f64> {
        self.quantile().short_by(confidence)
    }

    fn quantile(&self) -> Quantile<'_> {
        let PooledTimes { q, ref times, censored_from_ns, known, error_most, worth_least, mean_ms } = *self;
        let ErrorOf { error, freedom } = known;
        Quantile { q, times, censored_from_ns, error, error_most, freedom, worth_least, mean_ms }
    }
}

/// Error and freedom of the share by what each trial knows of it.
fn within(trials: &[&ResponseEstimates], q: f64, times: &Histogram) -> ErrorOf {
    let all = times.count() as f64;
    let errors: Vec<ErrorOf> = trials.iter().map(|trial| share_error(trial, q)).collect();
    let parts = errors.iter().zip(trials).map(|(known, trial)| (known.error * trial.times.count() as f64).powi(2));
    ErrorOf { error: parts.sum::<f64>().sqrt() / all, freedom: errors.iter().map(|known| known.freedom).sum() }
}

/// The same by how much trials differ; nothing of a single one.
fn between(trials: &[&ResponseEstimates], q: f64, times: &Histogram) -> Option<ErrorOf> {
    let n = trials.len() as f64;
    let level = times.quantile_ns(q)?;
    let share = 1.0 - times.count_above(level) as f64 / times.count() as f64;
    let residual = |trial: &&ResponseEstimates| {
        let (count, above) = (trial.times.count() as f64, trial.times.count_above(level) as f64);
        (count - above - share * count).powi(2)
    };
    let squares: f64 = trials.iter().map(residual).sum();
    let error = (squares * n / (n - 1.0)).sqrt() / times.count() as f64;
    (trials.len() > 1).then_some(ErrorOf { error, freedom: n - 1.0 })
}

/// Error and freedom of the share at a quantile. Between two quantiles that were looked at, operations resemble each other as
/// much as at the worse of both.
fn share_error(trial: &ResponseEstimates, q: f64) -> ErrorOf {
    let count = trial.times.count() as f64;
    let excess = |known: &QuantileEstimate| known.share_error.powi(2) * count / (known.q * (1.0 - known.q));
    let below = trial.quantiles.iter().rfind(|known| known.q <= q + 1e-9);
    let above = trial.quantiles.iter().find(|known| known.q >= q - 1e-9);
    let beside: Vec<&QuantileEstimate> = below.into_iter().chain(above).collect();
    let worst = beside.iter().map(|known| excess(known)).fold(0.0, f64::max);
    let freedom = beside.iter().map(|known| known.freedom).fold(f64::INFINITY, f64::min);
    ErrorOf { error: (worst * q * (1.0 - q) / count).sqrt(), freedom }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::latency::Placed;
    use crate::trial::uncertainty::estimates_of_fixed_work;
    use random::Draws;

    /// Four times so much work of 1 ms on the mean, exponential, whose p99 is 4.605 ms and whose p99.9 is 6.908 ms.
    fn four(operations: u64, seed: u64) -> Vec<ResponseEstimates> {
        let mut draws = Draws::numbered(seed, operations);
        let mut times = || Histogram::from_values((0..operations).map(|_| (1e6 * draws.exponential()) as u64));
        let one =
            |times| estimates_of_fixed_work(&Placed::new(times, Histogram::default()), 0.95).expect("it has ended");
        (0..4).map(|_| one(times())).collect()
    }

    #[test]
    fn tails_of_fixed_work_are_lower_bounds_until_a_hundred_lie_beyond() {
        for (q, operations, truth) in [(0.99, 100, 4.605), (0.999, 1_000, 6.908), (0.9999, 100, 9.21)] {
            let holds = (0..200).filter(|seed| {
                let four = four(operations, *seed);
                let found = PooledTimes::of(&four.iter().collect::<Vec<_>>(), q).estimate(0.95);
                assert!(found.lower_bound(), "{q} of {operations}: {found:?}");
                found.low <= truth
            });
            assert!(holds.count() >= 186, "{q} of {operations}");
        }
    }

    #[test]
    fn replicates_of_much_fixed_work_have_an_interval_that_holds() {
        let found = (0..100).map(|seed| {
            let four = four(5_000, seed);
            PooledTimes::of(&four.iter().collect::<Vec<_>>(), 0.99).estimate(0.95)
        });
        let found: Vec<Estimate> = found.filter(Estimate::has_interval).collect();
        let holds = found.iter().filter(|known| (known.low..=known.high).contains(&4.605)).count();
        assert!(found.len() > 80 && holds as f64 > 0.9 * found.len() as f64, "{holds} of {}", found.len());
    }
}
