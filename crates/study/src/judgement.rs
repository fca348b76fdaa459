//! What a study wants to know of its observations: the primary metric, margins, thresholds and the steady-state rule.

use observation::Factor;
use units::Nanos;

/// Everything that analysis needs of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The one metric that the study was made to compare; all others are exploratory.
    pub primary: Option<Primary>,
    /// Name of the system that others are compared with.
    pub baseline: Option<String>,
    /// The smallest difference worth finding, as a share; also the bound of `equivalent`.
    pub margin: f64,
    /// Confidence of every interval.
    pub confidence: f64,
    /// Findings that must hold.
    pub thresholds: Vec<Threshold>,
    /// When a window counts as steady.
    pub steady: SteadyRule,
    /// Whether an inconclusive threshold is accepted.
    pub allow_inconclusive: bool,
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
}

impl Metric {
    /// Which way is better.
    pub fn direction(self) -> Direction {
        match self {
            Metric::Throughput | Metric::Bandwidth => Direction::HigherIsBetter,
            _ => Direction::LowerIsBetter,
        }
    }

    /// The word that stands in files and reports: `throughput`, `response p99`, `elapsed`.
    pub fn word(self) -> String {
        match self {
            Metric::Throughput => "throughput".into(),
            Metric::Bandwidth => "bandwidth".into(),
            Metric::ResponseMean => "response mean".into(),
            Metric::ResponseQuantile(q) => {
                format!("response p{}", format!("{}", (q * 1e6).round() / 1e4).replace('.', ""))
            }
            Metric::ServiceMean => "service mean".into(),
            Metric::Elapsed => "elapsed".into(),
            Metric::CpuPerOperation => "cpu per operation".into(),
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
