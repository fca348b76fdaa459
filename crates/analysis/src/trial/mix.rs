//! The mix: whether each class had its planned share of the work, and answered within its limit.
//!
//! The one idea: a share is a count, and a count scatters. A class is off its plan when it lies further away than a tenth
//! of the planned share and three standard errors of a binomial count together.
//!
//! What it does not do: it knows no workload; the plan comes with the names of the classes.

use super::cut::Cut;
use crate::{ClassMix, LatencySummary};
use study::{Class, class_targets};

/// How far a share may be from the planned one, as a part of it, before the error of the count is added.
pub const MIX_TOLERANCE: f64 = 0.1;

/// So many must have answered before their p90 is told, and judged.
const JUDGED: u64 = 10;

/// Standard errors of the count that are added to the tolerance.
const ERRORS: f64 = 3.0;

/// What is planned for the classes of a stream, and all the work that their shares are of.
pub struct Planned<'a> {
    cut: &'a Cut<'a>,
    targets: Vec<Class>,
    all: u64,
}

impl<'a> Planned<'a> {
    /// The plan of a stream.
    pub fn of(cut: &'a Cut<'a>) -> Planned<'a> {
        let named = cut.label.classes.iter().filter(|(_, kind)| !kind.only_counts());
        let names: Vec<String> = named.map(|(name, _)| name.clone()).collect();
        Planned { cut, targets: class_targets(&names), all: cut.work_tally().done }
    }

    /// A class with `done` completions in the window, held against the plan.
    pub fn judged(&self, class: usize, done: u64, response: &LatencySummary) -> ClassMix {
        let target = self.targets.get(class);
        let counted = self.all > 0 && self.cut.counts_as_work(class as u16);
        let share = counted.then(|| done as f64 / self.all as f64);
        let planned_share = target.and_then(|target| target.share);
        let limit_s = target.and_then(|target| target.limit_s);
        ClassMix {
            share,
            planned_share,
            mix_ok: share.zip(planned_share).map(|(share, planned)| near(share, planned, self.all)),
            limit_s,
            response_ok: limit_s.filter(|_| response.count >= JUDGED).map(|limit| response.p90_ms <= 1e3 * limit),
        }
    }
}

fn near(share: f64, planned: f64, all: u64) -> bool {
    let error = (planned * (1.0 - planned) / all as f64).sqrt();
    (share - planned).abs() <= MIX_TOLERANCE * planned + ERRORS * error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_transactions_excuse_what_many_do_not() {
        // One in a hundred is planned and one in fifty came: 2 of 100 is chance, 2000 of 100 000 is not.
        assert!(near(0.02, 0.01, 100));
        assert!(!near(0.02, 0.01, 100_000));
        assert!(near(0.0108, 0.01, 1_000_000) && !near(0.0115, 0.01, 1_000_000));
    }
}
