//! `replicates = "auto"`: after the pilot, as many more blocks as the margin needs.
//!
//! The one idea: how many blocks follow is decided once, from the pilot alone, so that looking at the result as it comes
//! in cannot stop the run at a lucky moment.
//!
//! What it does not do: it compares nothing; it only counts.

use crate::order;
use crate::outcome::Outcome;
use crate::pairs::{PILOT, Scatter, needed};
use crate::plan::trial_seed;
use crate::{Metric, Trial};
use observation::BUCKET_WIDTH;

/// The blocks of one experiment that may follow its pilot.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeat {
    /// Name of the experiment.
    pub experiment: String,
    /// What decides: the primary metric, or throughput (elapsed for fixed work) where the study declares none.
    pub metric: Metric,
    /// The difference worth finding, as a share.
    pub margin: f64,
    /// Confidence of the comparison.
    pub confidence: f64,
    /// The most pairs, the pilot's included.
    pub pairs_max: u32,
    pub(crate) number: usize,
    pub(crate) baseline: usize,
    /// By deciding point and system: the first trial of the pilot, and where the point stands in the experiment.
    pub(crate) points: Vec<RepeatPoint>,
}

/// A point that decides how many pairs are needed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RepeatPoint {
    /// Its place in the experiment.
    pub point: usize,
    /// By system: a trial to copy, and the indices of the pilot's trials by replicate.
    pub systems: Vec<(Trial, Vec<u32>)>,
}

/// What the pilot led to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// Pairs in all, the pilot's included.
    pub pairs: u32,
    /// Standard deviation of the pairs' log ratios at the point that needs most.
    pub spread: f64,
    /// Whether the cap cut the number down.
    pub capped: bool,
}

impl Decision {
    /// Of two points the one that needs more.
    fn greater(self, other: Decision) -> Decision {
        let more = (other.pairs, other.capped) > (self.pairs, self.capped) || other.spread > self.spread;
        if more { other } else { self }
    }
}

impl Repeat {
    /// Trials at most.
    pub fn trials_max(&self) -> u32 {
        self.block_trials() * (self.pairs_max - PILOT)
    }

    pub(crate) fn block_trials(&self) -> u32 {
        self.points.iter().map(|point| point.systems.len() as u32).sum()
    }

    /// How many pairs the pilot asks for; none before the pilot has ended.
    pub fn decide(&self, outcomes: &[Outcome]) -> Option<Decision> {
        let find = |index: u32| outcomes.iter().find(|outcome| outcome.index == index);
        let all = self.points.iter().flat_map(|point| &point.systems).flat_map(|(_, pilot)| pilot);
        if all.clone().any(|index| find(*index).is_none()) {
            return None;
        }
        let scatters = self.points.iter().flat_map(|point| self.scatters(point, &find));
        // A point without two finished pairs says nothing; more of the same would not change that.
        let quiet = Decision { pairs: PILOT, spread: 0.0, capped: false };
        Some(scatters.map(|scatter| self.decided(&scatter)).fold(quiet, Decision::greater))
    }

    fn decided(&self, scatter: &Scatter) -> Decision {
        let wanted = needed(scatter, self.margin, self.confidence, self.block_trials());
        let pairs = wanted.unwrap_or(u32::MAX).min(self.pairs_max.max(PILOT));
        Decision { pairs, spread: scatter.deviation, capped: wanted != Some(pairs) }
    }

    /// How much the log ratios of each system against the baseline scatter, at one point.
    fn scatters<'a>(&self, point: &RepeatPoint, find: &impl Fn(u32) -> Option<&'a Outcome>) -> Vec<Scatter> {
        let value = |index: &u32| find(*index).filter(|outcome| outcome.finished).map(|outcome| self.value(outcome));
        let baseline = &point.systems[self.baseline].1;
        let others = point.systems.iter().enumerate().filter(|(i, _)| *i != self.baseline);
        let ratios = |pilot: &Vec<u32>| -> Vec<f64> {
            let pairs = pilot.iter().zip(baseline).filter_map(|(a, b)| Some((value(a)? / value(b)?).ln()));
            pairs.filter(|ratio| ratio.is_finite()).collect()
        };
        let floor = |pilot: &Vec<u32>| -> f64 {
            let floors = pilot.iter().filter_map(|index| Some(self.floor(find(*index)?)));
            floors.filter(|floor| floor.is_finite()).fold(0.0, f64::max)
        };
        let of = |pilot: &Vec<u32>| Some(Scatter::of(&ratios(pilot))?.floor(floor(pilot) + floor(baseline)));
        others.filter_map(|(_, (_, pilot))| of(pilot)).collect()
    }

    /// The figure of an outcome that spreads like the metric does.
    fn value(&self, outcome: &Outcome) -> f64 {
        match self.metric {
            Metric::Elapsed => outcome.elapsed_s,
            Metric::ResponseQuantile(quantile) => outcome.response_quantile_ms.nearest(quantile),
            Metric::ResponseMean | Metric::ServiceMean => outcome.response_quantile_ms.p50,
            // What is only counted is no primary metric.
            Metric::Throughput | Metric::Bandwidth | Metric::Yield(_) | Metric::CpuPerOperation => {
                outcome.throughput_per_s
            }
            Metric::ServerCpu | Metric::Damage | Metric::Failed | Metric::Retried => outcome.throughput_per_s,
        }
    }

    /// What a window leaves open of the logarithm of the metric, whatever the number of pairs.
    fn floor(&self, outcome: &Outcome) -> f64 {
        match self.metric {
            Metric::Throughput | Metric::Bandwidth | Metric::Yield(_) => {
                (outcome.throughput_per_s * outcome.elapsed_s).recip().ln_1p()
            }
            Metric::ResponseQuantile(_) => BUCKET_WIDTH.ln_1p(),
            _ => 0.0,
        }
    }

    /// The `n`-th trial beyond the pilot.
    pub(crate) fn trial(&self, seed: u64, n: u32) -> Option<Trial> {
        let block = self.block_trials();
        let replicate = PILOT + n / block;
        let systems = self.points.first()?.systems.len();
        let slot = *order::block(seed, self.number, replicate, self.points.len(), systems).get((n % block) as usize)?;
        let point = &self.points[slot.point];
        let mut trial = point.systems[slot.system].0.clone();
        trial.label.replicate = replicate;
        trial.label.block = replicate;
        trial.seed = trial_seed(seed, self.number, point.point, replicate);
        Some(trial)
    }
}
