//! Everything that is concluded from the trials of one run.

use super::answer::answer;
use super::doubts;
use super::point::{groups, point};
use crate::compare::comparisons;
use crate::{Finding, Findings, Point, TrialSummary};
use observation::RunFacts;
use study::Judgement;

/// Judges a run: replicates pooled into points, findings drawn from them, doubts beside both, and the answer. A pure
/// function: the same trials give the same findings.
pub fn judge(run: RunFacts, mut trials: Vec<TrialSummary>, judgement: &Judgement) -> Findings {
    doubts::add_to_trials(&run, &mut trials);
    let groups = groups(&trials);
    let points: Vec<Point> = groups.iter().map(|group| point(group, judgement.confidence)).collect();
    let mut caveats = doubts::of_run(&run, &trials);
    let mut findings = Vec::new();
    for compared in comparisons(&groups, judgement) {
        findings.push(Finding::Comparison(compared.comparison));
        caveats.extend(compared.caveat.filter(|caveat| !caveats.contains(caveat)));
    }
    let answer = answer(&run, &points, &caveats, judgement);
    caveats.extend(trials.iter().flat_map(|trial| trial.caveats.iter().cloned()));
    Findings { run, points, findings, caveats, answer, trials }
}
