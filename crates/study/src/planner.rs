//! Which trial comes next.
//!
//! The one idea: a pure function of the plan and of the outcomes so far, so that a run that was interrupted goes on from
//! its file as if nothing had happened.
//!
//! What it does not do: it runs nothing and remembers nothing.

use crate::Trial;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::plan::repeat::Repeat;
use crate::plan::search::Search;

/// Chooses the next trial of a plan.
#[derive(Clone, Debug)]
pub struct Planner {
    plan: Plan,
}

impl Planner {
    /// The planner of a plan.
    pub fn new(plan: Plan) -> Planner {
        Planner { plan }
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The first trial that has no outcome yet; none when the run is complete. The order of the outcomes is free. A trial
    /// that was tried and could not finish has an outcome too, and is not tried again.
    pub fn next(&self, outcomes: &[Outcome]) -> Option<Trial> {
        let seen = Seen::of(outcomes);
        let certain = self.plan.trials.iter().find(|trial| seen.at(trial.label.index).is_none());
        if let Some(trial) = certain {
            return Some(trial.clone());
        }
        let mut index = self.plan.trials.len() as u32;
        for repeat in &self.plan.repeats {
            if let Some(trial) = self.repeat(repeat, outcomes, &seen, &mut index) {
                return Some(trial);
            }
        }
        self.plan.searches.iter().find_map(|search| self.search(search, &seen, &mut index))
    }

    fn repeat(&self, repeat: &Repeat, outcomes: &[Outcome], seen: &Seen, index: &mut u32) -> Option<Trial> {
        let pairs = repeat.decide(outcomes)?.pairs;
        let count = repeat.block_trials() * pairs.saturating_sub(crate::pairs::PILOT);
        for n in 0..count {
            if seen.at(*index + n).is_none() {
                return repeat.trial(self.plan.seed, n).map(|trial| placed(trial, *index + n));
            }
        }
        *index += count;
        None
    }

    fn search(&self, search: &Search, seen: &Seen, index: &mut u32) -> Option<Trial> {
        let mut own: Vec<&Outcome> = Vec::new();
        loop {
            let step = search.step(&own);
            let n = own.len() as u32;
            let trial = search.trial(self.plan.seed, n, &step);
            match (trial, seen.at(*index + n)) {
                (None, _) => {
                    *index += n;
                    return None;
                }
                (Some(trial), None) => return Some(placed(trial, *index + n)),
                (Some(_), Some(outcome)) => own.push(outcome),
            }
        }
    }
}

fn placed(mut trial: Trial, index: u32) -> Trial {
    trial.label.index = index;
    trial
}

/// Outcomes by index.
struct Seen<'a>(std::collections::BTreeMap<u32, &'a Outcome>);

impl<'a> Seen<'a> {
    fn of(outcomes: &'a [Outcome]) -> Seen<'a> {
        Seen(outcomes.iter().map(|outcome| (outcome.index, outcome)).collect())
    }

    fn at(&self, index: u32) -> Option<&'a Outcome> {
        self.0.get(&index).copied()
    }
}
