//! The highest rate that holds a bound on a quantile of response.
//!
//! The one idea: the search is a function of the outcomes so far. It halves a grid of rates from the middle on, because low
//! rates take long to give a quantile its samples and tell little, and then asks for three fresh passes in a row at the rate
//! that held, with a failure one step higher.
//!
//! What it does not do: it runs nothing, and it does not read its own result off; analysis does, from the trials.

use crate::definition::SearchDefinition;
use crate::experiment::PROBES_MAX;
use crate::label::load_words;
use crate::outcome::Outcome;
use crate::plan::trial_seed;
use crate::{Trial, phases};
use load::{Spec as LoadSpec, Think};
use observation::{Factor, Level, SearchGoal, Searched};
use units::{Nanos, PerSecond};

/// Samples beyond the quantile that a probe is planned for; analysis asks for 100, and the draws scatter.
const BEYOND: f64 = 130.0;
/// No probe is stretched beyond that, however low the rate.
const WINDOW_MAX: Nanos = Nanos::from_secs(600);
/// Without a highest rate of its own a search goes beyond the peak of the closed load, so that a rate that fails is found.
const BEYOND_PEAK: f64 = 1.2;
/// Fresh passes in a row that the answer needs.
pub const PASSES: u32 = 3;

/// A search on one system at one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the system.
    pub system: String,
    /// What is looked for.
    pub goal: SearchDefinition,
    pub(crate) number: usize,
    pub(crate) point: usize,
    pub(crate) replicate: u32,
    pub(crate) template: Trial,
    /// Places of the streams whose rate is chosen; the others are the background.
    pub(crate) searched: Vec<usize>,
}

/// What a search does next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Measures the peak with a closed load, to know where to look.
    Peak,
    /// Tries a rate.
    Probe {
        /// Operations a second.
        rate: f64,
        /// Why this one.
        purpose: Purpose,
    },
    /// Has ended.
    Ended(Answer),
}

/// Why a rate is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To find a rate that holds and one that does not.
    Bracket,
    /// To halve what lies between.
    Bisect,
    /// To see the answer hold again.
    Confirm,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// This rate held three times in a row, and the next step did not hold.
    Found {
        /// Operations a second.
        rate: f64,
        /// The rate that failed, one step above.
        failed: f64,
    },
    /// This rate held three times in a row, and it is the highest that was to be tried.
    RangeHolds {
        /// Operations a second.
        rate: f64,
    },
    /// No rate of the range holds.
    NoneHolds {
        /// The lowest that was tried.
        lowest: f64,
    },
    /// The generator, not the system, set the rate, so a higher one cannot be judged.
    GeneratorBound {
        /// The rate asked for.
        rate: f64,
    },
    /// The peak could not be measured.
    NoPeak,
    /// It needed more trials than it may have.
    OutOfProbes,
}

/// The grid of rates: `from`, `from + step`, up to the top, which is the last of them.
struct Grid {
    from: f64,
    step: f64,
    top: f64,
    last: u32,
}

impl Grid {
    fn rate(&self, k: u32) -> f64 {
        (self.from + self.step * f64::from(k)).min(self.top)
    }
}

/// What is known of the grid.
#[derive(Default)]
struct Known {
    passed: Option<u32>,
    failed: Option<u32>,
    passes_in_row: u32,
    /// A rate that had held failed when it was tried again.
    shaken: bool,
}

impl Search {
    /// A trial as the search runs them, at a rate that is not chosen yet.
    pub fn template(&self) -> &Trial {
        &self.template
    }

    /// What it does next, given what its own trials led to, in their order.
    pub fn step(&self, outcomes: &[&Outcome]) -> Step {
        let mut rest = outcomes;
        let grid = match self.goal.to {
            Some(to) => self.grid(to),
            None => {
                let Some((peak, behind)) = rest.split_first() else { return Step::Peak };
                if !peak.finished || peak.throughput_per_s.is_nan() || peak.throughput_per_s <= 0.0 {
                    return Step::Ended(Answer::NoPeak);
                }
                rest = behind;
                self.grid(peak.throughput_per_s * BEYOND_PEAK)
            }
        };
        self.replay(&grid, rest)
    }

    /// Walks through the outcomes as the search did, up to the first that is not there yet.
    fn replay(&self, grid: &Grid, outcomes: &[&Outcome]) -> Step {
        let mut known = Known::default();
        let mut outcomes = outcomes.iter();
        for _ in 0..PROBES_MAX {
            let (k, purpose) = match Search::next_rate(grid, &known) {
                Ok(next) => next,
                Err(answer) => return Step::Ended(answer),
            };
            let Some(outcome) = outcomes.next() else { return Step::Probe { rate: grid.rate(k), purpose } };
            if outcome.generator_bound {
                return Step::Ended(Answer::GeneratorBound { rate: grid.rate(k) });
            }
            known.learn(k, purpose, self.holds(outcome));
        }
        Step::Ended(Answer::OutOfProbes)
    }

    fn next_rate(grid: &Grid, known: &Known) -> Result<(u32, Purpose), Answer> {
        match (known.passed, known.failed) {
            (_, Some(0)) => Err(Answer::NoneHolds { lowest: grid.rate(0) }),
            // One step down, and the confirming begins anew.
            (None, Some(failed)) if known.shaken => Ok((failed - 1, Purpose::Confirm)),
            (None, failed) => Ok((failed.unwrap_or(grid.last + 1) / 2, Purpose::Bracket)),
            (Some(passed), None) if passed < grid.last => Ok(((passed + grid.last).div_ceil(2), Purpose::Bracket)),
            (Some(passed), Some(failed)) if failed - passed > 1 => Ok(((passed + failed) / 2, Purpose::Bisect)),
            (Some(passed), _) if known.passes_in_row < PASSES => Ok((passed, Purpose::Confirm)),
            (Some(passed), None) => Err(Answer::RangeHolds { rate: grid.rate(passed) }),
            (Some(passed), Some(failed)) => Err(Answer::Found { rate: grid.rate(passed), failed: grid.rate(failed) }),
        }
    }

    /// Without a range of its own the grid goes from a twentieth of the top to the top, in fiftieths.
    fn grid(&self, top: f64) -> Grid {
        let from = self.goal.lowest(top);
        let step = self.goal.step.unwrap_or(top / 50.0);
        let last = (((top - from) / step) - 1e-9).ceil().clamp(0.0, 4096.0);
        // A grid of more than 4096 steps would be finer than any measurement; its steps are widened.
        let step = if last >= 4096.0 { (top - from) / 4096.0 } else { step };
        Grid { from, step, top, last: last as u32 }
    }

    fn holds(&self, outcome: &Outcome) -> bool {
        let quantile = outcome.response_quantile_ms.nearest(self.goal.quantile);
        outcome.finished && !outcome.backlog_grew && quantile <= self.goal.bound.milliseconds()
    }

    fn held(&self) -> SearchGoal {
        SearchGoal { quantile: self.goal.quantile, bound: self.goal.bound }
    }

    /// What is looked for, in words: `highest rate with p99 under 5 ms`.
    pub fn words(&self) -> String {
        self.held().to_string()
    }

    /// How long a probe must last for the quantile to rest on enough samples.
    fn window(&self, rate: f64) -> Nanos {
        Nanos::from_seconds(BEYOND / ((1.0 - self.goal.quantile) * rate)).min(WINDOW_MAX)
    }

    /// The trial of a step; none when the search has ended.
    pub(crate) fn trial(&self, seed: u64, n: u32, step: &Step) -> Option<Trial> {
        let mut trial = self.template.clone();
        trial.seed = trial_seed(seed, self.number, self.point, (self.replicate << 16) | n);
        trial.label.replicate = self.replicate;
        trial.label.block = self.replicate;
        match step {
            Step::Ended(_) => return None,
            Step::Peak => {
                trial.label.search = Some(Searched::peak(self.held()));
                self.close(&mut trial);
            }
            Step::Probe { rate, .. } => {
                trial.label.search = Some(Searched::probe(self.held()));
                trial.phases = phases::stretched(&trial.phases, self.window(*rate));
                let level = Level::Number { value: *rate, text: units::rate(*rate) };
                trial.label.factors.push(Factor { name: "rate".to_owned(), level });
                self.open(&mut trial, *rate);
            }
        }
        Some(trial)
    }

    /// All slots busy all the time: the most that the system can do with as many in flight.
    fn close(&self, trial: &mut Trial) {
        for i in &self.searched {
            let (stream, label) = (&mut trial.streams[*i], &mut trial.label.streams[*i]);
            if let LoadSpec::Open { slots, .. } = stream.load {
                stream.load = LoadSpec::Closed { slots, think: Think::None };
                label.slots = Some(slots);
                label.offered = None;
                label.load = load_words(stream);
            }
        }
    }

    fn open(&self, trial: &mut Trial, wanted: f64) {
        for i in &self.searched {
            let (stream, label) = (&mut trial.streams[*i], &mut trial.label.streams[*i]);
            if let LoadSpec::Open { rate, .. } = &mut stream.load {
                *rate = PerSecond(wanted);
                label.offered = Some(PerSecond(wanted));
                label.load = load_words(stream);
            }
        }
    }
}

impl Known {
    fn learn(&mut self, k: u32, purpose: Purpose, held: bool) {
        let confirming = purpose == Purpose::Confirm;
        if held {
            self.passed = Some(k);
            // Only passes after the search has settled on a rate are fresh ones.
            self.passes_in_row = if confirming { self.passes_in_row + 1 } else { 0 };
        } else {
            self.failed = Some(k);
            self.passes_in_row = 0;
            self.shaken |= confirming;
            if confirming || self.passed.is_some_and(|passed| passed >= k) {
                self.passed = None;
            }
        }
    }
}
