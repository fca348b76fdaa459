//! The plan: every trial that a run is certain to make, in order, and the bounded searches that may add more.
//!
//! The one idea: a plan is a pure function of study, survey and seed; printing it shows what a run will do before
//! anything is touched.
//!
//! What it does not do: it holds no clock; times are what the phases add up to, and what speeds are assumed is stated.

mod make;
pub(crate) mod repeat;
pub(crate) mod search;
mod times;
mod written;

pub use make::{plan, runnable};
pub use times::{ASSUMED_BYTES_PER_S, Estimated};
pub use written::{Amount, Occasion, Written};

use crate::experiment::PROBES_MAX;
use crate::pairs::{self, PILOT, SPREAD_ASSUMED, Scatter, Shape};
use crate::plan::repeat::Repeat;
use crate::plan::search::Search;
use crate::{Judgement, Metric, Trial};
use observation::BUCKET_WIDTH;
use random::Draws;

/// What a run will do.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of the study.
    pub study: String,
    /// Every random choice of the run follows from it.
    pub seed: u64,
    /// The trials that are certain, in order; their indices are their places.
    pub trials: Vec<Trial>,
    /// Blocks that may follow, decided by the pilots.
    pub repeats: Vec<Repeat>,
    /// Searches that follow, one after the other.
    pub searches: Vec<Search>,
    /// What was left out or is worth knowing, in words.
    pub notes: Vec<String>,
    /// What differences can be found, by experiment.
    pub detectable: Vec<Detectable>,
    /// What the study wants to know.
    pub judgement: Judgement,
    pub(crate) filled: Vec<written::Filled>,
}

/// The difference that an experiment can find.
#[derive(Clone, Debug, PartialEq)]
pub struct Detectable {
    /// Name of the experiment.
    pub experiment: String,
    /// Pairs for which it holds.
    pub pairs: u32,
    /// The smallest difference that is found in 80 of 100 runs, as a share; none below the four pairs of a verdict.
    pub difference: Option<f64>,
    /// The difference worth finding, as a share, and in which share of runs as many pairs find it.
    pub margin: f64,
    /// See `margin`; none below the four pairs of a verdict.
    pub power: Option<f64>,
    /// The spread from trial to trial that this assumes, as a share.
    pub spread_assumed: f64,
    /// When the pilot decides: the most pairs, and the difference that they find.
    pub at_most: Option<(u32, f64)>,
}

impl Plan {
    /// The first trial on a system; of one that is only searched on, what the search repeats.
    pub fn first_trial_on(&self, system: &str) -> Option<&Trial> {
        self.all().find(|trial| trial.label.system == system)
    }

    /// Trials that will run, and those that searches begin with.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Trial> + Clone {
        self.trials.iter().chain(self.searches.iter().map(|search| &search.template))
    }

    /// Trials at most: the certain ones, every repeat and every search to its end.
    pub fn trials_max(&self) -> u32 {
        let repeats: u32 = self.repeats.iter().map(Repeat::trials_max).sum();
        self.trials.len() as u32 + repeats + self.searches.len() as u32 * PROBES_MAX
    }
}

/// What an experiment of `pairs` pairs, or of `most` at most, can find. A block has `block` trials.
pub(crate) fn detectable(
    experiment: &str,
    (pairs, most): (u32, Option<u32>),
    block: u32,
    judgement: &Judgement,
) -> Detectable {
    // What a window's whole operations leave open depends on a rate that nobody knows yet.
    let quantile = judgement.primary.as_ref().is_some_and(|p| matches!(p.metric, Metric::ResponseQuantile(_)));
    let scatter = Scatter::of_trials(SPREAD_ASSUMED).floor(if quantile { 2.0 * BUCKET_WIDTH.ln_1p() } else { 0.0 });
    let shape = |pairs: u32| Shape::alternating(pairs, block);
    let of = |pairs: u32| pairs::detectable(&shape(pairs), &scatter, judgement.confidence);
    let margin = judgement.margin;
    let power = || pairs::power(margin.ln_1p(), &shape(pairs), &scatter, judgement.confidence);
    Detectable {
        experiment: experiment.to_owned(),
        pairs,
        difference: of(pairs),
        margin,
        power: (pairs >= PILOT).then(power),
        spread_assumed: SPREAD_ASSUMED,
        at_most: most.and_then(|most| Some((most, of(most)?))),
    }
}

/// The seed of a trial: the same for all systems of a pair, so that both are asked for the same operations.
pub(crate) fn trial_seed(seed: u64, experiment: usize, point: usize, replicate: u32) -> u64 {
    Draws::named(seed, &[experiment as u64, point as u64, u64::from(replicate), 0x7ea1]).bits()
}
