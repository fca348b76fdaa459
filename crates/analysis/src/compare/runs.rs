//! Two separate runs, between which everything may have changed that a run holds still.
//!
//! The one idea: replicates of one run say nothing about what differs between runs (another day, another placement of
//! files, another neighbour). A difference between two runs is therefore held against how much runs of the *same* system
//! differed before at that point; without such runs there is no verdict, however many replicates each run has. All points
//! are judged together by Holm's rule.

use super::comparisons::verdict;
use super::footprint::footprints;
use crate::point::{Group, groups};
use crate::statistics::holm::holm;
use crate::statistics::moderated::{Common, Variance};
use crate::statistics::moments::squares_about_mean;
use crate::statistics::student::{half_width, t_two_sided};
use crate::{Comparison, Estimate, Finding, Findings, PointSummary, Verdict};
use observation::Point;
use study::Metric;
use study::pairs::{POWER, noncentrality_for};
use units::{counted, percent};

/// How much each point differs from run to run, learnt from runs of the same system.
#[derive(Clone, Debug, PartialEq)]
pub struct BetweenRuns {
    /// The logarithm of each point's value between runs, its own noise included.
    points: Vec<(Point, Variance)>,
    common: Option<Common>,
}

impl BetweenRuns {
    /// Learns from runs of the same systems, one list for each kind of runs that asked the same of the same: the scatter of
    /// each point over the runs of its kind. Nothing when no point occurs in two runs of a kind.
    pub fn learn(kinds: &[Vec<Findings>], metric: Metric) -> Option<BetweenRuns> {
        let mut points: Vec<(Point, Variance)> = Vec::new();
        for kind in kinds {
            let known = |run| values(run, metric, 0.95).into_iter().filter(|value| value.unknown.is_none()).collect();
            let runs: Vec<Vec<Value>> = kind.iter().map(known).collect();
            for (point, logarithms) in by_point(&runs) {
                let (squares, freedom) = (squares_about_mean(&logarithms), logarithms.len() as f64 - 1.0);
                if freedom < 1.0 {
                    continue;
                }
                match points.iter_mut().find(|(known, _)| known.same_elsewhere(&point)) {
                    Some((_, known)) => *known = known.with(squares, freedom),
                    None => points.push((point, Variance { value: 0.0, freedom: 0.0 }.with(squares, freedom))),
                }
            }
        }
        let all: Vec<Variance> = points.iter().map(|(_, own)| *own).collect();
        (!points.is_empty()).then(|| BetweenRuns { points, common: Common::learn(&all) })
    }

    /// How much the logarithm of a point differs from run to run; nothing where it was not measured twice.
    fn at(&self, point: &Point) -> Option<Variance> {
        let own = self.points.iter().find(|(known, _)| known.same_elsewhere(point)).map(|(_, own)| *own)?;
        Some(self.common.map_or(own, |common| common.moderate(own)))
    }
}

impl Variance {
    /// Pooled with a sum of squares.
    fn with(self, squares: f64, freedom: f64) -> Variance {
        let all = self.freedom + freedom;
        Variance { value: (self.value * self.freedom + squares) / all, freedom: all }
    }
}

/// The logarithms of each point's values over runs.
fn by_point(runs: &[Vec<Value>]) -> Vec<(Point, Vec<f64>)> {
    let mut found: Vec<(Point, Vec<f64>)> = Vec::new();
    for Value { point, value, .. } in runs.iter().flatten() {
        match found.iter_mut().find(|(known, _)| known == point) {
            Some((_, logarithms)) => logarithms.push(value.ln()),
            None => found.push((point.clone(), vec![value.ln()])),
        }
    }
    found
}

/// The metric at one point of a run, in base units.
struct Value {
    point: Point,
    value: f64,
    /// Why it is not known well enough to be compared, if it is not.
    unknown: Option<String>,
}

/// The metric of every point of a run that was chosen before, not by a search; above zero.
fn values(run: &Findings, metric: Metric, confidence: f64) -> Vec<Value> {
    let groups = groups(&run.trials);
    let measured = groups.iter().filter(|group| !group.searched());
    let value = |group: &Group| {
        let value = group.estimate(metric, confidence)?.value;
        let unknown = group.only_a_bound(metric, confidence);
        Some(Value { point: group.point.clone(), value, unknown })
    };
    measured.filter_map(value).filter(|at| at.value.is_finite() && at.value > 0.0).collect()
}

/// Compares the points of the second and later runs with those of the first in one metric. The findings of the answer
/// are comparisons only; every run's own findings stay with it.
pub fn compare_runs(
    runs: &[Findings],
    metric: Metric,
    margin: f64,
    confidence: f64,
    between: Option<&BetweenRuns>,
) -> Findings {
    let Some((first, others)) = runs.split_first() else { return Findings::default() };
    let mut result = Findings { run: first.run.clone(), ..Findings::default() };
    for run in runs {
        result
            .points
            .extend(run.points.iter().map(|point| PointSummary { at: named(&point.at, run), ..point.clone() }));
    }
    let base = values(first, metric, confidence);
    let mut pairs = Vec::new();
    for run in others {
        for after in values(run, metric, confidence) {
            let Some(before) = base.iter().find(|before| before.point.same_elsewhere(&after.point)) else { continue };
            let unknown = before.unknown.clone().or(after.unknown);
            let between = between.filter(|_| unknown.is_none()).and_then(|between| between.at(&after.point));
            let (point, baseline) = (named(&after.point, run), named(&before.point, first).system);
            pairs.push(RunPair { point, baseline, ratio: after.value / before.value, between, unknown });
        }
    }
    let alphas = holm(&pairs.iter().map(RunPair::p_value).collect::<Vec<_>>(), 1.0 - confidence);
    let adjusted = pairs.len() > 1;
    let compared = pairs
        .iter()
        .zip(alphas)
        .map(|(pair, alpha)| Comparison { adjusted, ..pair.compare(metric, margin, 1.0 - alpha) });
    result.findings = compared.map(Finding::Comparison).collect();
    let systems: Vec<_> = runs
        .iter()
        .flat_map(|run| run.run.systems.iter().map(move |system| (in_run(&system.name, run), system.footprint)))
        .collect();
    let taken = footprints(&systems, &result.points, result.comparisons());
    result.findings.extend(taken.into_iter().map(Finding::Footprint));
    result.answer = vec![answer(&result, metric, between.is_some())];
    result
}

/// Why no point has a verdict; what to do about it is said once, in the answer.
const UNKNOWN_VARIANCE: &str = "how much two runs of the same system differ is not known here";

fn answer(compared: &Findings, metric: Metric, known: bool) -> String {
    let verdicts: Vec<Verdict> = compared.comparisons().map(|comparison| comparison.verdict).collect();
    if verdicts.is_empty() {
        return format!("The runs have no point in common that has a {}: nothing can be compared.", metric.word());
    }
    if !known {
        return format!(
            "No verdict: {UNKNOWN_VARIANCE}, so that no difference between runs can be told from it. Run both systems in one run \
             (--on A --on B), or run the same study on the same system at least three times first."
        );
    }
    let each = [Verdict::Better, Verdict::Worse, Verdict::Equivalent, Verdict::Inconclusive];
    let count = |verdict: &Verdict| verdicts.iter().filter(|other| *other == verdict).count();
    let told = each.iter().filter(|verdict| count(verdict) > 0);
    let told: Vec<String> = told.map(|verdict| format!("{} {}", count(verdict), verdict.word())).collect();
    format!(
        "Of {} in {}, held against how much runs of the same system differ: {}.",
        counted(verdicts.len() as u64, "points"),
        metric.word(),
        told.join(", ")
    )
}

/// A point under the name of its run, so that two runs of one system stay apart.
fn named(point: &Point, run: &Findings) -> Point {
    Point { system: in_run(&point.system, run), ..point.clone() }
}

fn in_run(system: &str, run: &Findings) -> String {
    format!("{system} ({})", run.run.id)
}

/// One point in two runs.
struct RunPair {
    point: Point,
    baseline: String,
    ratio: f64,
    /// Variance of the logarithm of one of the two.
    between: Option<Variance>,
    /// Why one of the two is not known well enough to be compared, if it is not.
    unknown: Option<String>,
}

impl RunPair {
    /// Standard error of the logarithm of the ratio: two runs differ by twice the variance of one.
    fn error(between: &Variance) -> f64 {
        (2.0 * between.value).sqrt().max(f64::MIN_POSITIVE)
    }

    fn p_value(&self) -> f64 {
        self.between.map_or(f64::NAN, |own| t_two_sided(self.ratio.ln() / RunPair::error(&own), own.freedom))
    }

    fn compare(&self, metric: Metric, margin: f64, confidence: f64) -> Comparison {
        let ratio = Estimate { n: 1, confidence, ..Estimate::single(self.ratio) };
        let mut comparison = Comparison {
            point: self.point.clone(),
            baseline: self.baseline.clone(),
            metric: metric.word(),
            said: metric.said(),
            primary: false,
            direction: metric.direction(),
            ratio,
            margin,
            detectable: None,
            interleaved: false,
            adjusted: false,
            p_value: self.p_value(),
            verdict: Verdict::Inconclusive,
            reason: Some(self.unknown.clone().unwrap_or_else(|| UNKNOWN_VARIANCE.to_owned())),
            because: Some("no interval".to_owned()),
        };
        if let Some(between) = &self.between {
            judge_between(&mut comparison, between);
        }
        comparison
    }
}

fn judge_between(comparison: &mut Comparison, between: &Variance) {
    let (error, confidence) = (RunPair::error(between), comparison.ratio.confidence);
    let effect = comparison.ratio.value.ln();
    let half = half_width(error, between.freedom, confidence);
    comparison.ratio.low = (effect - half).exp();
    comparison.ratio.high = (effect + half).exp();
    let detectable = (noncentrality_for(POWER, between.freedom, confidence) * error).exp_m1();
    comparison.detectable = Some(detectable);
    comparison.verdict = verdict(&comparison.ratio, comparison.direction, comparison.margin);
    comparison.because = (comparison.verdict == Verdict::Inconclusive).then(|| "its interval holds 1".to_owned());
    comparison.reason = (comparison.verdict == Verdict::Inconclusive).then(|| {
        format!(
            "runs of the same system differ so much here that the interval leaves both open, no difference and one of \
             more than the margin of {}; a difference of {} would be found in 80 of 100 cases",
            percent(comparison.margin),
            percent(detectable)
        )
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge;
    use crate::run::tests::{judgement, trial};
    use crate::statistics::bootstrap::Draws;
    use observation::RunFacts;

    fn run(id: &str, throughput: f64) -> Findings {
        let facts = RunFacts { id: id.to_owned(), finished: true, ..RunFacts::default() };
        judge(facts, (0..5).map(|k| trial(k, "a", k, throughput + f64::from(k % 3))).collect(), &judgement())
    }

    fn verdict(before: f64, after: f64, between: Option<BetweenRuns>) -> Comparison {
        let runs = [run("one", before), run("two", after)];
        let found = compare_runs(&runs, Metric::Throughput, 0.05, 0.95, between.as_ref());
        let Finding::Comparison(comparison) = found.findings[0].clone() else { panic!("a comparison") };
        comparison
    }

    #[test]
    fn without_earlier_runs_there_is_no_verdict_however_large_the_difference() {
        let found = verdict(1000.0, 500.0, None);
        assert_eq!(found.verdict, Verdict::Inconclusive);
        assert!((found.ratio.value - 0.5).abs() < 0.01 && !found.ratio.has_interval() && !found.interleaved);
        assert!(found.reason.unwrap().starts_with("how much two runs of the same system differ is not known"));
        assert_eq!((found.baseline.as_str(), found.point.system.as_str()), ("a (one)", "a (two)"));
    }

    #[test]
    fn earlier_runs_of_the_same_say_what_a_difference_is_worth() {
        let earlier: Vec<Findings> = [1000.0, 1020.0, 985.0, 1010.0, 990.0].map(|x| run("earlier", x)).into();
        let between = BetweenRuns::learn(&[earlier], Metric::Throughput).unwrap();
        let own = between.points[0].1;
        assert_eq!(own.freedom, 4.0);
        assert!((own.value.sqrt() - 0.0143).abs() < 0.0005, "{}", own.value.sqrt());
        let verdict = |after| verdict(1000.0, after, Some(between.clone())).verdict;
        assert_eq!(verdict(900.0), Verdict::Worse);
        assert_eq!(verdict(1100.0), Verdict::Better);
        assert_eq!(verdict(970.0), Verdict::Inconclusive);
    }

    #[test]
    fn any_quantile_that_trials_have_is_compared() {
        let runs = [run("one", 1000.0), run("two", 900.0)];
        for quantile in [0.5, 0.99] {
            let found = compare_runs(&runs, Metric::ResponseQuantile(quantile), 0.05, 0.95, None);
            assert_eq!(found.findings.len(), 1, "{quantile}");
        }
        let with_marks = |mut run: Findings| {
            let streams = run.trials.iter_mut().flat_map(|trial| &mut trial.streams);
            streams.for_each(|stream| stream.distribution = vec![(0.9, 1.0), (0.95, 2.0), (0.9999, 3.0)]);
            run
        };
        let runs = runs.map(with_marks);
        for quantile in [0.9, 0.95, 0.9999] {
            let found = compare_runs(&runs, Metric::ResponseQuantile(quantile), 0.05, 0.95, None);
            assert_eq!(found.findings.len(), 1, "{quantile}");
        }
    }

    /// Runs over several points, each of which scatters from run to run by its own share.
    fn noisy(id: &str, scatters: &[f64], shift: f64, draws: &mut Draws) -> Findings {
        let of = |(at, scatter): (usize, &f64)| {
            let mut one = trial(at as u32, "a", 0, 1000.0 * (shift + scatter * draws.normal()).exp());
            one.label.experiment = format!("experiment {at}");
            one
        };
        let trials = scatters.iter().enumerate().map(of).collect();
        Findings { run: RunFacts { id: id.to_owned(), ..RunFacts::default() }, trials, ..Findings::default() }
    }

    /// The share of families that claim anything, and of points that are found, when the second run is `shift` higher.
    fn claims(scatters: &[f64], earlier: usize, shift: f64, runs: u32, seed: u64) -> (f64, f64) {
        let mut draws = Draws::new(seed);
        let (mut families, mut points) = (0, 0);
        for _ in 0..runs {
            let kind: Vec<Findings> = (0..earlier).map(|_| noisy("earlier", scatters, 0.0, &mut draws)).collect();
            let between = BetweenRuns::learn(std::slice::from_ref(&kind), Metric::Throughput);
            let both = [kind[0].clone(), noisy("later", scatters, shift, &mut draws)];
            let found = compare_runs(&both, Metric::Throughput, 0.0001, 0.95, between.as_ref());
            let claimed = |c: &&Comparison| matches!(c.verdict, Verdict::Better | Verdict::Worse);
            let count = found.comparisons().filter(claimed).count();
            families += u32::from(count > 0);
            points += count;
        }
        (f64::from(families) / f64::from(runs), points as f64 / f64::from(runs) / scatters.len() as f64)
    }

    /// The noisy point among quiet ones used to be judged by the scatter of all: ten false verdicts of thirty-three.
    #[test]
    fn families_of_points_that_did_not_change_claim_a_difference_in_five_of_a_hundred_at_most() {
        let worlds: [&[f64]; 5] = [
            &[0.02],
            &[0.02; 8],
            &[0.02, 0.02, 0.02, 0.02, 0.10],
            &[0.01, 0.01, 0.05],
            &[0.01, 0.02, 0.03, 0.04, 0.05, 0.06],
        ];
        let seen: Vec<_> =
            worlds.iter().flat_map(|world| [3, 5].map(|n| (n, claims(world, n, 0.0, 1000, 31).0))).collect();
        assert!(seen.iter().all(|(_, share)| *share <= 0.06), "{seen:?}");
    }

    #[test]
    fn what_points_have_in_common_finds_more_than_each_would_alone() {
        let (_, together) = claims(&[0.02; 8], 4, 0.15, 200, 32);
        let (_, alone) = claims(&[0.02], 4, 0.15, 200, 33);
        assert!(together > 0.6, "{together} found among eight points, {alone} of one alone");
    }

    #[test]
    fn one_run_teaches_nothing_about_the_next() {
        assert_eq!(BetweenRuns::learn(&[vec![run("one", 1.0)]], Metric::Throughput), None);
    }
}
