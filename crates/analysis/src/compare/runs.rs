//! Two separate runs, between which everything may have changed that a run holds still.
//!
//! The one idea: replicates of one run say nothing about what differs between runs (another day, another placement of
//! files, another neighbour). A difference between two runs is therefore held against how much runs of the *same* system
//! differed before; without such runs there is no verdict, however many replicates each run has.

use super::comparisons::verdict;
use crate::statistics::moments::squares_about_mean;
use crate::statistics::student::{half_width, t_two_sided};
use crate::{Caveat, CaveatKind, Comparison, Estimate, Finding, Findings, PointSummary, Verdict};
use observation::Point;
use study::Metric;
use study::pairs::{POWER, noncentrality_for};
use units::counted;

/// How much the same point differs from run to run, learnt from runs of the same system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetweenRuns {
    /// Standard deviation of the logarithm of a point's value between runs, its own noise included.
    pub deviation: f64,
    /// Degrees of freedom behind it.
    pub freedom: f64,
}

impl BetweenRuns {
    /// Learns from runs of the same systems: the scatter of each point over the runs that have it, pooled. Nothing when no
    /// point occurs in two runs.
    pub fn learn(runs: &[Findings], metric: Metric) -> Option<BetweenRuns> {
        let (mut squares, mut freedom) = (0.0, 0.0);
        let mut seen: Vec<&PointSummary> = Vec::new();
        for point in runs.iter().flat_map(|run| &run.points) {
            if seen.iter().any(|known| known.at == point.at) {
                continue;
            }
            seen.push(point);
            let logarithms: Vec<f64> = runs
                .iter()
                .filter_map(|run| run.points.iter().find(|p| p.at == point.at))
                .filter_map(|p| value_of(p, metric).map(|e| e.value))
                .filter(|value| *value > 0.0)
                .map(f64::ln)
                .collect();
            if logarithms.len() > 1 {
                squares += squares_about_mean(&logarithms);
                freedom += logarithms.len() as f64 - 1.0;
            }
        }
        (freedom > 0.0).then(|| BetweenRuns { deviation: (squares / freedom).sqrt(), freedom })
    }
}

/// Compares the points of the second and later runs with those of the first, metric by metric. The findings of the answer
/// are comparisons only; every run's own findings stay with it.
pub fn compare_runs(
    runs: &[Findings],
    metric: Metric,
    margin: f64,
    confidence: f64,
    between: Option<BetweenRuns>,
) -> Findings {
    let Some((first, others)) = runs.split_first() else { return Findings::default() };
    let mut result = Findings { run: first.run.clone(), ..Findings::default() };
    for run in runs {
        result.points.extend(run.points.iter().map(|point| PointSummary { at: named(point, run), ..point.clone() }));
    }
    for run in others {
        for point in &run.points {
            let Some(base) = first.points.iter().find(|p| p.at.same_elsewhere(&point.at)) else { continue };
            let pair = RunPair { first, base, run, point, metric };
            result.findings.extend(pair.compare(margin, confidence, between).map(Finding::Comparison));
        }
    }
    result.answer = vec![answer(&result.findings, between.is_some())];
    if between.is_none() {
        result.caveats.push(Caveat { kind: CaveatKind::FewReplicates, trial: None, text: unknown_variance() });
    }
    result
}

fn unknown_variance() -> String {
    "how much two runs of the same system differ is not known here, so that no difference between runs can be told from \
     it; run both systems in one run (--on A --on B), or run the same study on the same system at least three times first"
        .to_owned()
}

fn answer(findings: &[Finding], known: bool) -> String {
    if findings.is_empty() {
        return "The runs have no point in common: nothing can be compared.".to_owned();
    }
    let verdicts = findings.iter().filter_map(Comparison::of).map(|comparison| comparison.verdict);
    let count = verdicts.filter(|verdict| *verdict != Verdict::Inconclusive).count();
    let points = counted(findings.len() as u64, "points");
    match (known, count) {
        (false, _) => format!("No verdict: {}.", unknown_variance()),
        (true, 0) => format!("None of {points} differs beyond what runs of the same system differ."),
        (true, n) => {
            let have = if n == 1 { "has" } else { "have" };
            format!("{n} of {points} {have} a verdict against how much runs of the same system differ.")
        }
    }
}

/// A point under the name of its run, so that two runs of one system stay apart.
fn named(point: &PointSummary, run: &Findings) -> Point {
    Point { system: format!("{} ({})", point.at.system, run.run.id), ..point.at.clone() }
}

struct RunPair<'a> {
    first: &'a Findings,
    base: &'a PointSummary,
    run: &'a Findings,
    point: &'a PointSummary,
    metric: Metric,
}

impl RunPair<'_> {
    fn compare(&self, margin: f64, confidence: f64, between: Option<BetweenRuns>) -> Option<Comparison> {
        let base = value_of(self.base, self.metric)?.value;
        let value = value_of(self.point, self.metric)?.value / base;
        let ratio = Estimate { n: 1, confidence, ..Estimate::single(value) };
        let direction = self.metric.direction();
        let mut comparison = Comparison {
            point: named(self.point, self.run),
            baseline: named(self.base, self.first).system,
            metric: self.metric.word(),
            primary: false,
            direction,
            ratio,
            margin,
            detectable: None,
            interleaved: false,
            adjusted: false,
            p_value: f64::NAN,
            verdict: Verdict::Inconclusive,
            reason: Some(unknown_variance()),
        };
        if let Some(between) = between.filter(|_| value > 0.0) {
            judge_between(&mut comparison, &between);
        }
        Some(comparison)
    }
}

/// Two runs differ by twice the variance of one.
fn judge_between(comparison: &mut Comparison, between: &BetweenRuns) {
    let error = between.deviation * std::f64::consts::SQRT_2;
    let effect = comparison.ratio.value.ln();
    let half = half_width(error, between.freedom, comparison.ratio.confidence);
    comparison.ratio.low = (effect - half).exp();
    comparison.ratio.high = (effect + half).exp();
    comparison.p_value = t_two_sided(effect / error.max(f64::MIN_POSITIVE), between.freedom);
    comparison.detectable =
        Some((noncentrality_for(POWER, between.freedom, comparison.ratio.confidence) * error).exp_m1());
    comparison.verdict = verdict(&comparison.ratio, comparison.direction, comparison.margin);
    comparison.reason = (comparison.verdict == Verdict::Inconclusive)
        .then(|| "runs of the same system have differed by as much before".to_owned());
}

/// A metric of a point, in base units.
fn value_of(point: &PointSummary, metric: Metric) -> Option<Estimate> {
    let near = |q: f64, wanted: f64| (q - wanted).abs() < 1e-9;
    let estimate = match metric {
        Metric::Throughput => Some(point.throughput_per_s),
        Metric::Bandwidth => Some(point.bytes_per_s),
        Metric::ResponseMean => Some(point.response_mean_ms.scaled(1e-3)),
        Metric::ResponseQuantile(q) if near(q, 0.5) => Some(point.response_p50_ms.scaled(1e-3)),
        Metric::ResponseQuantile(q) if near(q, 0.99) => Some(point.response_p99_ms.scaled(1e-3)),
        Metric::ResponseQuantile(q) if near(q, 0.999) => Some(point.response_p999_ms.scaled(1e-3)),
        Metric::ResponseQuantile(_) => None,
        Metric::ServiceMean => Some(point.service_mean_ms.scaled(1e-3)),
        Metric::Elapsed => point.elapsed_s,
        Metric::CpuPerOperation => point.cpu_us.map(|estimate| estimate.scaled(1e-6)),
    };
    estimate.filter(|estimate| estimate.value.is_finite() && estimate.value > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge;
    use crate::run::tests::{judgement, trial};
    use observation::RunFacts;

    fn run(id: &str, throughput: f64) -> Findings {
        let facts = RunFacts { id: id.to_owned(), finished: true, ..RunFacts::default() };
        judge(facts, (0..5).map(|k| trial(k, "a", k, throughput + f64::from(k % 3))).collect(), &judgement())
    }

    fn verdict(before: f64, after: f64, between: Option<BetweenRuns>) -> Comparison {
        let runs = [run("one", before), run("two", after)];
        let found = compare_runs(&runs, Metric::Throughput, 0.05, 0.95, between);
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
        let between = BetweenRuns::learn(&earlier, Metric::Throughput).unwrap();
        assert_eq!(between.freedom, 4.0);
        assert!((between.deviation - 0.0143).abs() < 0.0005, "{}", between.deviation);
        assert_eq!(verdict(1000.0, 900.0, Some(between)).verdict, Verdict::Worse);
        assert_eq!(verdict(1000.0, 1100.0, Some(between)).verdict, Verdict::Better);
        assert_eq!(verdict(1000.0, 970.0, Some(between)).verdict, Verdict::Inconclusive);
    }

    #[test]
    fn one_run_teaches_nothing_about_the_next() {
        assert_eq!(BetweenRuns::learn(&[run("one", 1.0)], Metric::Throughput), None);
    }
}
