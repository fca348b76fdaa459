//! Response times of replicates in one distribution.
//!
//! The one idea: the quantile of a point is that of all its operations, so that replicates that are short each are long
//! together. How sure it is follows from how much the share at or below it differs from replicate to replicate, by the t
//! interval over them; where they agree too well, from what each of them allows.

use super::metric::pooled;
use crate::quantile::Quantile;
use crate::statistics::replicates::{ErrorOf, over_replicates};
use crate::trial::latency::{Placed, distribution};
use crate::trial::uncertainty::QUANTILES;
use crate::{Estimate, QuantileEstimate, ResponseEstimates, StreamSummary};
use observation::Histogram;

/// These quantiles of one or more trials in milliseconds, in the order in which they are asked for. Whatever is asked for, those that
/// tables show bound each other: wherever a quantile is told, it is the same.
pub fn quantiles<const N: usize>(trials: &[&ResponseEstimates], asked: [f64; N], confidence: f64) -> [Estimate; N] {
    let mut all: Vec<f64> = QUANTILES.into_iter().chain(asked).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    let known: Vec<Estimate> = all.iter().map(|q| PooledTimes::of(trials, *q).estimate(confidence)).collect();
    let mut known = ordered(known);
    endless_beyond_p99(&all, &mut known);
    asked.map(|q| known[all.iter().position(|one| *one == q).unwrap_or(0)])
}

/// Nobody believes a p99.9 with an interval beside a p99 that is known to be at least so much: what came in too few bursts for the one
/// did not come in more for the other.
fn endless_beyond_p99(all: &[f64], known: &mut [Estimate]) {
    let Some(p99) = all.iter().position(|q| *q == 0.99).filter(|at| known[*at].lower_bound()) else { return };
    for own in known[p99 + 1..].iter_mut().filter(|own| own.low.is_finite()) {
        own.high = f64::INFINITY;
    }
}

/// Quantiles from the lowest to the highest: none reaches above what is known of a higher one, or below what is known of a lower
/// one. Between two modes a median is uncertain from one to the other, and the tail beyond them is not. Of a quantile of which too few
/// samples tell it is known at least that it lies no lower than the one below.
fn ordered(mut quantiles: Vec<Estimate>) -> Vec<Estimate> {
    for at in (0..quantiles.len().saturating_sub(1)).rev() {
        let above = quantiles[at + 1];
        if above.has_interval() && quantiles[at].has_interval() {
            quantiles[at].high = quantiles[at].high.min(above.high);
        }
    }
    for at in 1..quantiles.len() {
        let (below, own) = (quantiles[at - 1].low, &mut quantiles[at]);
        if below.is_finite() {
            own.high = if own.low.is_finite() { own.high } else { f64::INFINITY };
            own.low = own.low.max(below);
        }
    }
    quantiles
}

impl StreamSummary {
    /// These quantiles of response in milliseconds as this trial knows them; none where the trial keeps no times.
    pub fn quantiles<const N: usize>(&self, asked: [f64; N]) -> Option<[Estimate; N]> {
        let own = self.response_estimates.as_ref()?;
        let confidence = own.mean_ms.confidence;
        let (mut known, [median]) = (quantiles(&[own], asked, confidence), quantiles(&[own], [0.5], confidence));
        // As a point of one trial has it.
        known
            .iter_mut()
            .zip(asked)
            .filter(|(_, q)| *q > 0.5)
            .for_each(|(known, _)| *known = known.beside_median(&median));
        Some(known)
    }

    /// `(quantile, milliseconds)` of several trials together, for charts; none where one of them keeps no times.
    pub fn distribution_of(trials: &[&StreamSummary]) -> Option<Vec<(f64, f64)>> {
        let mut all = Histogram::default();
        for trial in trials {
            all.merge(&trial.response_estimates.as_ref()?.times);
        }
        Some(distribution(&Placed { all, censored: Histogram::default() }))
    }
}

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

    /// Two thousand times, of which the slowest came in a few bunches: p99 is no lower than what is known of p95.
    #[test]
    fn a_lower_bound_is_never_below_that_of_a_lower_quantile_whichever_are_asked_for() {
        let times = Histogram::from_values((1..=2_000u64).map(|k| k * 1_000_000));
        let mean_ms = Estimate { low: 970.0, high: 1_030.0, n: 2_000, ..Estimate::single(1_000.5) };
        let known = |q, share_error| QuantileEstimate { q, ms: mean_ms, share_error, freedom: 50.0 };
        let quantiles = vec![known(0.5, 0.012), known(0.95, 0.005), known(0.99, 0.0266), known(0.999, 0.007)];
        let trial = ResponseEstimates { mean_ms, quantiles, times, censored_from_ns: None };
        let all = super::quantiles(&[&trial], [0.5, 0.9, 0.95, 0.99, 0.999], 0.95);
        assert!(all[0].has_interval() && all[3].lower_bound() && all[4].lower_bound(), "{all:?}");
        assert!(all.windows(2).all(|pair| pair[0].low <= pair[1].low), "{all:?}");
        let alone = PooledTimes::of(&[&trial], 0.99).estimate(0.95);
        assert!(alone.low.is_nan() || alone.low < all[3].low, "by itself it says less: {alone:?}");
        assert_eq!(super::quantiles(&[&trial], [0.99], 0.95)[0], all[3], "alone it is the same");
    }

    #[test]
    fn nothing_is_known_of_a_tail_whose_median_is_not_known() {
        let of = |low: f64| Estimate { low, ..Estimate::single(5.0) };
        let [none, bound] = [f64::NAN, 3.0].map(|low| ordered(vec![of(low), of(f64::NAN)])[1]);
        assert!(none.low.is_nan() && !none.lower_bound(), "{none:?}");
        assert!(bound.lower_bound() && bound.low == 3.0, "{bound:?}");
    }

    #[test]
    fn beyond_a_p99_that_is_only_bounded_nothing_has_an_upper_end() {
        let of = |low: f64, high: f64| Estimate { low, high, ..Estimate::single(5.0) };
        let mut told = [of(1.0, f64::INFINITY), of(3.0, f64::INFINITY), of(4.0, 6.0)];
        endless_beyond_p99(&[0.95, 0.99, 0.999], &mut told);
        assert!(told[2].lower_bound() && told[2].low == 4.0, "{told:?}");
        let mut told = [of(1.0, f64::INFINITY), of(3.0, 4.0), of(4.0, 6.0)];
        endless_beyond_p99(&[0.95, 0.99, 0.999], &mut told);
        assert!(told[2].has_interval(), "{told:?}");
    }

    /// The bound of an unsure median says nothing of a tail.
    #[test]
    fn a_tail_of_which_no_more_is_known_than_of_the_median_is_not_known() {
        let of = |value, low, high| Estimate { value, low, high, ..Estimate::single(value) };
        let median = of(1.2, 0.3, 4.0);
        let beside = |low, high| of(8.0, low, high).beside_median(&median);
        for vague in [beside(0.3, f64::INFINITY), beside(1.2, f64::INFINITY), beside(f64::NAN, f64::NAN)] {
            assert!(vague.not_known() && !vague.lower_bound() && vague.value == 8.0, "{vague:?}");
        }
        for known in [beside(1.9, f64::INFINITY), beside(1.0, 9.0)] {
            assert!(!known.not_known() && known.low >= 1.0, "{known:?}");
        }
        assert!(of(1.2, 1.2, f64::INFINITY).beside_median(&median).lower_bound(), "all times are alike");
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
