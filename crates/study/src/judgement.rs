//! What a study wants to know of its observations: the primary metric, margins, thresholds and the steady-state rule.

use crate::{Deadline, Mirrored, Proof, StorageAsked, Trial};
use observation::{Factor, Point, TrialLabel};
use units::Nanos;
use workload::kind::Yield;

/// Everything that analysis needs of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The one metric that the study was made to compare; all others are exploratory.
    pub primary: Option<Primary>,
    /// Name of the system that others are compared with.
    pub baseline: Option<String>,
    /// Those that others are compared with where the baseline takes no part, the first one first.
    pub other_baselines: Vec<String>,
    /// The smallest difference worth finding, as a share; also the bound of `equivalent`.
    pub margin: f64,
    /// Confidence of every interval.
    pub confidence: f64,
    /// Findings that must hold.
    pub thresholds: Vec<Threshold>,
    /// When a window counts as steady.
    pub steady: SteadyRule,
    /// When a job must be over.
    pub deadline: Option<Deadline>,
    /// Whether the study asks for a deadline, given or not.
    pub asks_deadline: bool,
    /// What was promised of the tiers of its systems.
    pub proof: Option<Proof>,
    /// The systems that have a mirror.
    pub mirrored: Vec<Mirrored>,
    /// What its streams ask of storage, each once.
    pub storage: Vec<StorageAsked>,
    /// Every point with all settings resolved, as a machine that can do everything is asked; none where there is a single experiment.
    pub points: Vec<Trial>,
    /// The length of a round, by name of the experiments that state one.
    pub rounds: Vec<(String, Nanos)>,
    /// Whether an inconclusive threshold is accepted.
    pub allow_inconclusive: bool,
    /// How many trials are certain, where somebody has planned; what repeats and searches add is not known before.
    pub planned: Option<u32>,
    /// Whether the run that is judged has not finished: what it still has to do is not advised.
    pub unfinished: bool,
}

impl Judgement {
    /// Whether two points of a single stream ask the same, whatever their experiments vary and under whichever keys; not where it is not known.
    pub fn asks_alike(&self, points: [&Point; 2]) -> bool {
        let of = |point: &Point| {
            let named = |label: &TrialLabel| (&label.experiment, &label.system) == (&point.experiment, &point.system);
            self.points.iter().find(|trial| named(&trial.label) && trial.label.factors == point.factors)
        };
        let [one, two] = points.map(of);
        one.zip(two).is_some_and(|(one, two)| one.asks_alike(two))
    }

    /// The length of a round that an experiment states.
    pub fn round(&self, experiment: &str) -> Option<Nanos> {
        self.rounds.iter().find(|(name, _)| name == experiment).map(|(_, round)| *round)
    }
}

/// The primary metric, and where it is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Primary {
    /// What is compared.
    pub metric: Metric,
    /// Which trials it is read from.
    pub selector: Selector,
}

/// A choice of trials.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selector {
    /// Only this experiment.
    pub experiment: Option<String>,
    /// Only this stream.
    pub stream: Option<String>,
    /// Only trials with these levels.
    pub factors: Vec<Factor>,
}

impl Selector {
    /// Whether a trial is among the chosen.
    pub fn chooses(&self, label: &TrialLabel) -> bool {
        let experiment = self.experiment.as_ref().is_none_or(|name| *name == label.experiment);
        let stream = self.stream.as_ref().is_none_or(|name| label.streams.iter().any(|stream| stream.name == *name));
        experiment && stream && self.factors.iter().all(|wanted| has_level(label, wanted))
    }
}

/// Levels are equal by value: `1024 B` is `1 KiB`.
fn has_level(label: &TrialLabel, wanted: &Factor) -> bool {
    let Some(factor) = label.factors.iter().find(|factor| factor.name == wanted.name) else { return false };
    match (factor.level.number(), wanted.level.number()) {
        (Some(a), Some(b)) => a == b,
        _ => factor.level.text() == wanted.level.text(),
    }
}

/// What can be compared or bounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// Completions a second.
    Throughput,
    /// Bytes a second.
    Bandwidth,
    /// Mean response time.
    ResponseMean,
    /// A quantile of response time: 0.99 is p99.
    ResponseQuantile(f64),
    /// Mean service time.
    ServiceMean,
    /// Seconds that fixed work took.
    Elapsed,
    /// Generator CPU an operation.
    CpuPerOperation,
    /// CPU of the server and its mirror together, a transaction; only compared, and asked for by nobody.
    ServerCpu,
    /// What the transactions give those who ask for them, a second.
    Yield(Yield),
    /// Reads that found damaged data, and checks of the data that did not hold.
    Damage,
    /// Failed operations, as a share of those planned.
    Failed,
    /// Attempts beyond the first, as a share of the operations that ended well.
    Retried,
}

impl Metric {
    /// Those that can be asked for and are neither a quantile nor a yield.
    pub(crate) const PLAIN: [Metric; 9] = {
        use Metric::{Bandwidth, CpuPerOperation, Elapsed, ResponseMean, ServiceMean, Throughput};
        [
            Throughput,
            Bandwidth,
            Elapsed,
            ResponseMean,
            ServiceMean,
            CpuPerOperation,
            Metric::Damage,
            Metric::Failed,
            Metric::Retried,
        ]
    };

    /// Whether it is a count of what went wrong: exact as it stands, added up over trials, and nothing to compare systems by.
    pub fn counts(self) -> bool {
        matches!(self, Metric::Damage | Metric::Failed | Metric::Retried)
    }

    /// Which way is better.
    pub fn direction(self) -> Direction {
        match self {
            Metric::Throughput | Metric::Bandwidth | Metric::Yield(_) => Direction::HigherIsBetter,
            _ => Direction::LowerIsBetter,
        }
    }

    /// The word that stands in files and reports: `throughput`, `response p99`, `elapsed`.
    pub fn word(self) -> String {
        match self {
            Metric::Throughput => "throughput".into(),
            Metric::Bandwidth => "bandwidth".into(),
            Metric::ResponseMean => "response mean".into(),
            Metric::ResponseQuantile(q) => format!("response p{}", (q * 1e6).round() / 1e4),
            Metric::ServiceMean => "service mean".into(),
            Metric::Elapsed => "elapsed".into(),
            Metric::CpuPerOperation => "cpu per operation".into(),
            Metric::ServerCpu => "cpu of server and mirror per transaction".into(),
            Metric::Yield(what) => what.word().into(),
            Metric::Damage => "damage".into(),
            Metric::Failed => "failed".into(),
            Metric::Retried => "retried".into(),
        }
    }
}

impl Metric {
    /// In a sentence, as people of the field say it: `p99 latency`.
    pub fn said(self) -> String {
        match self {
            Metric::ResponseMean => "mean latency".into(),
            Metric::ResponseQuantile(q) => format!("p{} latency", (q * 1e6).round() / 1e4),
            Metric::ServiceMean => "mean service time".into(),
            Metric::Elapsed => "elapsed time".into(),
            Metric::CpuPerOperation => "CPU per operation".into(),
            Metric::ServerCpu => "CPU of server and mirror per transaction".into(),
            other => other.word(),
        }
    }
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// More is better.
    HigherIsBetter,
    /// Less is better.
    LowerIsBetter,
}

/// A finding that must hold, from the study or `--fail-if`.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// As written: `throughput < 10k/s`. The threshold fails when this is true.
    pub text: String,
    /// What is bounded.
    pub metric: Metric,
    /// True when it fails above the limit, false when it fails below.
    pub fails_above: bool,
    /// The limit in base units (operations a second, bytes a second, seconds, ratio).
    pub limit: f64,
    /// Which trials it is read from.
    pub selector: Selector,
}

/// SNIA's steady-state rule with its lengths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyRule {
    /// Rounds that must agree.
    pub rounds: u32,
    /// Shortest round; the planner takes a fifth of the window or this, whichever is longer.
    pub round_min: Nanos,
    /// Greatest less least, as a share of the mean.
    pub range_max: f64,
    /// Rise of the fitted line across the rounds, as a share of the mean.
    pub slope_max: f64,
}

impl Default for SteadyRule {
    fn default() -> SteadyRule {
        SteadyRule { rounds: 5, round_min: Nanos::from_secs(1), range_max: 0.20, slope_max: 0.10 }
    }
}

/// What the steady-state rule sees in a row of rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundsEvidence {
    /// Mean over the rounds.
    pub mean: f64,
    /// Greatest less least, as a share of the mean.
    pub range: f64,
    /// Rise of the least-squares line from the first round to the last, as a share of the mean.
    pub slope: f64,
}

impl RoundsEvidence {
    /// Looks at a row of rounds; nothing for fewer than two, or when nothing happened in them.
    pub fn of(rounds: &[f64]) -> Option<RoundsEvidence> {
        let n = rounds.len() as f64;
        let mean = rounds.iter().sum::<f64>() / n;
        if rounds.len() < 2 || mean <= 0.0 || !mean.is_finite() {
            return None;
        }
        let (least, greatest) =
            rounds.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(*x), hi.max(*x)));
        let middle = (n - 1.0) / 2.0;
        let covariance: f64 = rounds.iter().enumerate().map(|(i, x)| (i as f64 - middle) * (x - mean)).sum();
        let variance: f64 = (0..rounds.len()).map(|i| (i as f64 - middle).powi(2)).sum();
        let rise = covariance / variance * (n - 1.0);
        Some(RoundsEvidence { mean, range: (greatest - least) / mean, slope: rise / mean })
    }
}

impl SteadyRule {
    /// Whether the last rounds of a row agree (SNIA SSS PTS 2.0.2, definition of steady state): range and slope both.
    pub fn holds(&self, rounds: &[f64]) -> bool {
        let wanted = self.rounds as usize;
        rounds.len() >= wanted
            && RoundsEvidence::of(&rounds[rounds.len() - wanted..])
                .is_some_and(|seen| seen.range <= self.range_max && seen.slope.abs() <= self.slope_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_keeps_its_decimal_point() {
        assert_eq!(Metric::ResponseQuantile(0.99).word(), "response p99");
        assert_eq!(Metric::ResponseQuantile(0.999).word(), "response p99.9");
        assert_eq!(Metric::ResponseQuantile(0.9999).word(), "response p99.99");
    }

    #[test]
    fn rounds_are_steady_only_when_range_and_slope_both_agree() {
        let rule = SteadyRule::default();
        assert!(rule.holds(&[100.0, 101.0, 99.0, 100.5, 99.5]));
        assert!(!rule.holds(&[100.0, 101.0, 99.0, 100.5]), "four rounds are too few");
        assert!(!rule.holds(&[90.0, 112.0, 90.0, 100.0, 100.0]), "a range of 22 percent");
        assert!(!rule.holds(&[94.0, 97.0, 100.0, 103.0, 106.0]), "a rise of 12 percent inside a range of 12");
        assert!(rule.holds(&[10.0, 96.0, 98.0, 100.0, 102.0, 104.0]), "only the last five count");
        assert!(!rule.holds(&[0.0; 5]), "nothing happened");
    }
}
