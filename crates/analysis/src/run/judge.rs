//! Everything that is concluded from the trials of one run.

use super::answer::{Answer, answer, primary_points};
use super::deadline::deadlines;
use super::felt::felt;
use super::outages::outages;
use super::sustained::sustained;
use super::threshold::thresholds;
use super::typical::typical;
use super::{caveats, damage};
use crate::compare::{besides, comparisons, footprints, mirrors, tiers};
use crate::curve::{curves, highest_rates, knee, scaling, service_fit};
use crate::point::{Group, groups, point};
use crate::{Caveat, Comparison, Finding, Findings, PointSummary, TrialSummary};
use observation::{Point, RunFacts, SystemKind, factor};
use study::Judgement;

/// What is to be doubted first of a machine that nobody measured.
const MODELLED: &str = "Simulated: these numbers come from a model and were not measured, and their intervals hold its scatter, not its error. \
     `prony judge MODEL ROWS.csv` says how far the model is from measured values.";

/// Judges a run: replicates pooled into points, findings drawn from them, caveats beside both, and the answer. A pure
/// function: the same trials give the same findings.
pub fn judge(run: RunFacts, mut trials: Vec<TrialSummary>, judgement: &Judgement) -> Findings {
    caveats::add_to_trials(&run, &mut trials);
    let groups = groups(&trials);
    let points: Vec<PointSummary> = groups.iter().map(|group| point(group, judgement.confidence)).collect();
    let twice = caveats::measured_twice(&points, &trials, judgement);
    let mut caveats: Vec<Caveat> = caveats::of_run(&run, &trials, judgement.planned).into_iter().chain(twice).collect();
    let mut findings = Vec::new();
    for compared in comparisons(&groups, judgement) {
        findings.push(Finding::Comparison(compared.comparison));
        caveats.extend(compared.caveat.filter(|caveat| !caveats.contains(caveat)));
    }
    let systems: Vec<_> = run.systems.iter().map(|system| (system.name.clone(), system.footprint)).collect();
    let taken = footprints(&systems, &points, findings.iter().filter_map(Comparison::of));
    findings.extend(taken.into_iter().map(Finding::Footprint));
    for mut tier in tiers(&groups, &points, judgement.proof.as_ref()) {
        // What is compared by pairs is not told a second time by other arithmetic.
        let mut compared = findings.iter().filter_map(Comparison::of).filter(|one| one.primary);
        if let Some(one) = compared.find(|one| tier.is_of(one)) {
            tier.times = one.ratio;
        }
        findings.push(Finding::Tier(tier));
    }
    findings.extend(mirrors(&groups, judgement).into_iter().map(Finding::Mirror));
    findings.extend(besides(&groups, judgement.confidence).into_iter().map(Finding::Beside));
    findings.extend(of_curves(&groups, judgement.confidence));
    findings.extend(sustained(&groups));
    findings.extend(outages(&groups).into_iter().map(Finding::Pair));
    findings.extend(felt(&groups).into_iter().map(Finding::Felt));
    findings.extend(deadlines(&groups, &points, judgement).into_iter().map(Finding::Deadline));
    findings.extend(thresholds(&groups, judgement).into_iter().map(Finding::Threshold));
    let chosen = primary_points(&points, judgement);
    let modelled = run
        .systems
        .iter()
        .any(|system| system.is(SystemKind::Model) && chosen.iter().any(|point| point.at.system == system.name));
    let answered: Vec<Point> = chosen.into_iter().map(|point| point.at.clone()).collect();
    let Answer { sentences: answer, mut doubts, doubted } = answer(&points, &findings, &caveats, &trials, judgement);
    if modelled {
        doubts.insert(0, MODELLED.to_owned());
    }
    caveats.extend(trials.iter().flat_map(|trial| trial.caveats.iter().cloned()));
    let reads = damage::of_reads(&trials);
    let typical = typical(&points, &trials, &judgement.storage, &run.systems);
    let storage = judgement.storage.clone();
    let (checks, metric) = (Vec::new(), judgement.primary.as_ref().map(|primary| primary.metric));
    let mut judged = Findings {
        run,
        points,
        findings,
        caveats,
        answered,
        doubted,
        answer,
        doubts,
        typical,
        metric,
        storage,
        trials,
        checks,
    };
    damage::lead(&mut judged, reads, &[]);
    judged
}

/// What sweeps show: knees over the load, service time over the transfer, growth with modules or width.
fn of_curves(groups: &[Group], confidence: f64) -> Vec<Finding> {
    let mut found = Vec::new();
    for factor in [factor::OUTSTANDING, factor::SESSIONS] {
        found.extend(curves(groups, factor).iter().filter_map(|curve| knee(curve, confidence)).map(Finding::Knee));
    }
    let services = curves(groups, factor::TRANSFER);
    found.extend(services.iter().filter_map(|curve| service_fit(curve, confidence)).map(Finding::ServiceFit));
    for factor in [factor::MODULES, factor::WIDTH] {
        found
            .extend(curves(groups, factor).iter().filter_map(|curve| scaling(curve, confidence)).map(Finding::Scaling));
    }
    found.extend(highest_rates(groups, confidence).into_iter().map(Finding::HighestRate));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::{judgement, level, trial};
    use observation::{Fact, SystemFacts};
    use study::{Metric, Selector, StorageAsked, SyncMode, Threshold};
    use units::{Bytes, Share};

    /// Two systems over three levels in four blocks, and what decides between them.
    fn run() -> (Vec<TrialSummary>, Judgement) {
        let mut trials = Vec::new();
        for (block, modules) in (0..4).flat_map(|block| [1.0, 2.0, 4.0].map(|modules| (block, modules))) {
            for (system, factor) in [("a", 1.0), ("b", 1.2)] {
                let rate = 1000.0 * modules * factor * (1.0 + 0.002 * f64::from(block));
                let mut one = trial(trials.len() as u32, system, block, rate);
                one.label.factors = vec![level("modules", modules)];
                trials.push(one);
            }
        }
        let threshold = Threshold {
            text: "throughput < 900/s".to_owned(),
            metric: Metric::Throughput,
            fails_above: false,
            limit: 900.0,
            selector: Selector::default(),
        };
        (trials, Judgement { thresholds: vec![threshold], ..judgement() })
    }

    #[test]
    fn an_interrupted_trial_is_shown_and_takes_no_part_in_anything_that_is_concluded() {
        let (mut trials, judgement) = run();
        let without = judge(RunFacts::default(), trials.clone(), &judgement);
        assert!(without.findings.len() > 3, "there is something to conclude");
        // Far off, at a level of its own and at one of the others, and long enough to be a burst.
        for modules in [4.0, 8.0] {
            let mut cut = trial(trials.len() as u32, "b", 4, 1.0);
            (cut.interrupted, cut.label.factors) = (true, vec![level("modules", modules)]);
            trials.push(cut);
        }
        let with = judge(RunFacts::default(), trials, &judgement);
        assert_eq!((&with.points, &with.findings), (&without.points, &without.findings));
        assert_eq!((&with.answer, &with.caveats), (&without.answer, &without.caveats));
        assert_eq!(with.trials.len(), without.trials.len() + 2);
    }

    #[test]
    fn what_an_emulated_device_gives_is_typical_of_no_device() {
        let asked = StorageAsked {
            stream: "random-read".to_owned(),
            random: true,
            read: Share(1.0),
            trims: Share(0.0),
            blocks: (Bytes(4096), Bytes(4096)),
            direct: true,
            sync: SyncMode::Never,
        };
        let judgement = Judgement { storage: vec![asked], ..judgement() };
        let typical = |fingerprint: Vec<Fact>| {
            let system = SystemFacts { name: "a".to_owned(), fingerprint, ..SystemFacts::default() };
            let run = RunFacts { systems: vec![system], ..RunFacts::default() };
            judge(run, vec![trial(0, "a", 0, 4_000.0)], &judgement).typical
        };
        assert_eq!(typical(Vec::new()).and_then(|typical| typical.most_per_s), Some(4_000.0));
        assert_eq!(typical(vec![Fact::emulated(0, "disk-15k")]), None);
        let of_layout = Fact { key: "layout.slow.device".to_owned(), ..Fact::emulated(0, "disk-15k") };
        assert_eq!(typical(vec![of_layout]), None);
    }
}
