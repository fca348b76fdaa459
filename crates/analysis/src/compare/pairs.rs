//! Trials of two systems paired within their blocks.
//!
//! The one idea: what changes slowly, such as temperature, wear or a neighbour's load, is the same for both trials of a
//! pair, and goes away in their ratio.

use crate::{StreamSummary, TrialSummary};

/// One trial of each system from the same block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Natural logarithm of the metric of the baseline.
    pub baseline: f64,
    /// Natural logarithm of the metric of the compared system.
    pub system: f64,
    /// Place of the baseline's trial in the order of execution.
    pub baseline_at: f64,
    /// Place of the other trial.
    pub system_at: f64,
}

impl Pair {
    /// Logarithm of the ratio of system over baseline.
    pub fn log_ratio(&self) -> f64 {
        self.system - self.baseline
    }
}

/// A trial with the stream that is compared.
pub type Member<'a> = (&'a TrialSummary, &'a StreamSummary);

/// Pairs the members of two groups at one point by block, in order of execution. A value that is not positive has no logarithm, and
/// its pair is left out: a system that did nothing is a failure, not a ratio.
pub fn pairs(baseline: &[Member], system: &[Member], value: impl Fn(&Member) -> Option<f64>) -> Vec<Pair> {
    let mut taken = vec![false; system.len()];
    let mut found = Vec::new();
    for a in baseline {
        let free = |i: &usize| !taken[*i] && a.0.label.block == system[*i].0.label.block;
        let Some(i) = (0..system.len()).find(free) else { continue };
        taken[i] = true;
        found.extend(pair(a, &system[i], &value));
    }
    found.sort_by(|a, b| a.baseline_at.total_cmp(&b.baseline_at));
    found
}

fn pair(a: &Member, b: &Member, value: impl Fn(&Member) -> Option<f64>) -> Option<Pair> {
    let logarithm = |member: &Member| value(member).filter(|v| *v > 0.0 && v.is_finite()).map(f64::ln);
    Some(Pair {
        baseline: logarithm(a)?,
        system: logarithm(b)?,
        baseline_at: f64::from(a.0.label.index),
        system_at: f64::from(b.0.label.index),
    })
}
