//! The values that analysis hands to reports.

use crate::{Caveat, CaveatKind, ClassMix, GeneratorSummary, ServerSummary};
use observation::{
    Account, CpuTime, Event, EventKind, Factor, Histogram, MirrorState, Mishap, Point, Provenance, RunFacts,
    TrialCheck, TrialLabel, Window, words,
};
use study::{Direction, Metric, StorageAsked};

/// A value with its interval. Never a bare number where an estimate is meant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The point.
    pub value: f64,
    /// Lower end of the interval, or lower bound; not a number when the sample is too small to give one.
    pub low: f64,
    /// Upper end of the interval; infinite where there is only a lower bound.
    pub high: f64,
    /// How many independent samples stand behind it (replicates, or effective intervals of one trial).
    pub n: u32,
    /// Confidence of the interval, 0.95 for 95 percent.
    pub confidence: f64,
}

/// Everything a report needs, of one run or of several that are compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The run.
    pub run: RunFacts,
    /// One a trial, in order of execution.
    pub trials: Vec<TrialSummary>,
    /// Replicates of the same point pooled; the rows of tables and the marks of charts.
    pub points: Vec<PointSummary>,
    /// What was concluded.
    pub findings: Vec<Finding>,
    /// Caveats of the run as a whole and of its trials.
    pub caveats: Vec<Caveat>,
    /// What checks of the data found, of all attempts at all trials.
    pub checks: Vec<TrialCheck>,
    /// The points that the answer is about.
    pub answered: Vec<Point>,
    /// The kind of the caveat that the answer tells.
    pub doubted: Option<CaveatKind>,
    /// One to three sentences: the answer to the study's question, in plain words.
    pub answer: Vec<String>,
    /// What numbers of the storage are typical of, where one system's were measured.
    pub typical: Option<Typical>,
    /// The metric that the study declared primary.
    pub metric: Option<Metric>,
    /// What its streams ask of storage.
    pub storage: Vec<StorageAsked>,
    /// What would change a decision by it, in sentences that say what to do; empty where nothing would.
    pub doubts: Vec<String>,
}

/// Numbers of one system, each as far as it was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Typical {
    /// Median latency of a random read of 4 KiB at queue depth 1, ms.
    pub read_ms: Option<f64>,
    /// The most random reads of 4 KiB a second.
    pub most_per_s: Option<f64>,
    /// Median latency of a write that is durable when it returns, ms.
    pub durable_ms: Option<f64>,
    /// The most bytes a second of any load, which says what cable it cannot be.
    pub bytes_per_s: Option<f64>,
}

/// How long jobs that share fixed work had of it to do, until they waited for others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jobs {
    /// Seconds of the longest.
    pub longest_s: f64,
    /// Seconds of all, on the mean.
    pub mean_s: f64,
}

/// One trial, reduced.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialSummary {
    /// Which trial.
    pub label: TrialLabel,
    /// Where its numbers come from.
    pub provenance: Provenance,
    /// Wall-clock start, nanoseconds since 1970 in UTC.
    pub started_unix_ns: i64,
    /// The measured window on the trial's clock; of an interrupted trial, the part of it that was finished; where whole cycles
    /// of checkpoints are counted, these.
    pub window: Window,
    /// Whether it ended before its time. It is shown, and nothing is concluded from it.
    pub interrupted: bool,
    /// One a stream, in the order of the label.
    pub streams: Vec<StreamSummary>,
    /// Seconds of the fixed work, or of the window.
    pub elapsed_s: f64,
    /// Whether the work was fixed and the time followed (then `elapsed_s` is the result).
    pub fixed_work: bool,
    /// Whether the window ended with jobs that ran beside other work, before its time.
    pub jobs_ended: bool,
    /// How evenly several jobs shared the work; none of one job, and of none.
    pub jobs: Option<Jobs>,
    /// CPU of the generator's process in the window; where the window was cut to whole cycles of checkpoints, the share that
    /// the work in them has of all that was measured.
    pub generator_cpu: CpuTime,
    /// What the generator says of itself.
    pub generator: GeneratorSummary,
    /// What the probes saw of machine and disks in the window.
    pub machine: MachineSummary,
    /// What the database's server did in the window; none of a trial that asks no database.
    pub server: Option<ServerSummary>,
    /// The whole trial by interval, for charts.
    pub timeline: Vec<TimePoint>,
    /// What happened when, for the time axis of charts: the events of the observations as they are.
    pub events: Vec<Event>,
    /// What went wrong, counted by kind.
    pub mishaps: Vec<Mishap>,
    /// Checks of its data that did not hold.
    pub checks_failed: u64,
    /// How a database and its mirror stood, where somebody looked after them.
    pub pair: Option<PairCourse>,
    /// Caveats of this trial.
    pub caveats: Vec<Caveat>,
}

impl TrialSummary {
    /// Whether it was recorded that both servers of its pair had a network of their own each.
    pub fn own_networks(&self) -> bool {
        self.events.iter().any(|event| event.kind == EventKind::Parted)
    }
}

/// One stream of one trial, reduced. Latencies in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSummary {
    /// Index into the label's streams.
    pub stream: u16,
    /// Completions of work (not upkeep) a second in the window; the interval is over the trial's own intervals, by batch means.
    pub throughput_per_s: Estimate,
    /// What an open load asked for.
    pub offered_per_s: Option<f64>,
    /// Bytes moved a second in the window.
    pub bytes_per_s: f64,
    /// What its transactions gave those who asked for them.
    pub yields: Vec<YieldSummary>,
    /// What missed its limit of latency; none without one.
    pub limit: Option<LimitSummary>,
    /// Completed minus intended.
    pub response: LatencySummary,
    /// Completed minus issued.
    pub service: LatencySummary,
    /// Issued minus intended.
    pub lateness: LatencySummary,
    /// The same by class.
    pub classes: Vec<ClassSummary>,
    /// The books, closed.
    pub account: Account,
    /// Attempts beyond the first, and operations that rolled back on purpose.
    pub retried: u64,
    /// Part of done.
    pub rolled_back: u64,
    /// Generator CPU an operation, when this is the only stream.
    pub cpu: Option<CpuPerOperation>,
    /// Whether the window was steady.
    pub steady: Steady,
    /// 100 x (N - X(service + think)) / N of a closed load.
    pub little_gap_pct: Option<f64>,
    /// At most against sustained.
    pub sustained: Option<Sustained>,
    /// The longest time in which nothing of a closed load ended, when it is longer than chance explains.
    pub stall: Option<Stall>,
    /// The response distribution as `(quantile, milliseconds)`, for charts: dense in the tail.
    pub distribution: Vec<(f64, f64)>,
    /// Response with the uncertainty that one trial can give for itself; none where the work is fixed or too little ended.
    pub response_estimates: Option<ResponseEstimates>,
}

impl StreamSummary {
    /// How old the data was that its transactions saw, in the trial of that label; none where nothing tells.
    pub fn age(&self, label: &TrialLabel) -> Option<&ClassSummary> {
        let name = label.streams.get(usize::from(self.stream))?.age()?;
        self.classes.iter().find(|class| class.name == name)
    }

    /// `151 ms old at the median, older than the trial at p99`: how old what users saw was; none where they saw nothing that was loaded.
    pub fn age_says(&self, label: &TrialLabel) -> Option<String> {
        let class = self.age(label).filter(|class| class.done > 0)?;
        let told = |q: f64, ms: f64| match class.is_known(q) {
            true => format!("{} old", units::milliseconds(ms)),
            false => OLDER.to_owned(),
        };
        let (median, p99) = (told(0.5, class.response.p50_ms), told(0.99, class.response.p99_ms));
        Some(if median == p99 {
            format!("{median} at the median and at p99")
        } else {
            format!("{median} at the median, {p99} at p99")
        })
    }
}

/// What is said of data of which nothing was loaded in a trial: longer than that nobody looked.
pub const OLDER: &str = "older than the trial";

impl ClassSummary {
    /// Whether a quantile of its times is known; beyond the known ones there are only lower bounds.
    pub fn is_known(&self, q: f64) -> bool {
        self.bound_from.is_none_or(|from| q <= from)
    }
}

/// What bounds the transactions of a trial, and the shares that say so.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// What is full, or is waited for most of the time.
    pub by: BoundBy,
    /// The busiest station of a model, and how busy it is; none of what is real.
    pub station: Option<(String, f64)>,
    /// Busy cores of the machine as a share of all.
    pub cpu: Option<f64>,
    /// The part of these that the study kept busy itself, as a share of all cores: the generator and what it started, the server and
    /// its mirror.
    pub own_cpu: Option<f64>,
    /// The share of the time in all sessions that commits take, which wait for the log.
    pub commits: Option<f64>,
    /// Whether that is the most that it can be: the server times no commits, and they have what no statement took.
    pub commits_at_most: bool,
    /// The same of reads from storage. It, commits and locks are no more than the whole.
    pub reads: Option<f64>,
    /// The same of waits for locks: as the server counts them, or what its statements took beyond CPU and reads.
    pub locks: Option<f64>,
    /// The share of the sessions that had work, on the mean.
    pub sessions: Option<f64>,
    /// The share of responses that was spent waiting for a session.
    pub waits: Option<f64>,
}

words! {
    /// What bounds transactions.
    pub enum BoundBy {
        Processors = "processors" "The machine has no core left.",
        Others = "other programs" "The machine has no core left, and more than half of them work for others.",
        Log = "log" "Sessions wait for commits most of the time.",
        Reads = "reads" "Sessions wait for reads most of the time.",
        Locks = "locks" "Sessions wait for each other most of the time.",
        Station = "station" "A station of the model has no time left.",
        Sessions = "sessions" "Users wait for a session longer than they are served.",
        Nothing = "nothing" "None of these is full.",
    }
}

/// What the transactions of one stream of one trial gave those who asked for them.
#[derive(Clone, Debug, PartialEq)]
pub struct YieldSummary {
    /// What, in the words of those who ask: `postings`.
    pub what: String,
    /// How many a second; the interval as that of throughput.
    pub per_s: Estimate,
    /// How many one transaction gives at most.
    pub most: f64,
}

/// What missed a limit of latency, by the moments at which it was due.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitSummary {
    /// The limit in words: `over 50 ms`.
    pub words: String,
    /// How many took longer.
    pub late: u64,
    /// The same as a share of those that ended well, with an interval over the trial's own intervals.
    pub late_share: Estimate,
    /// How many were skipped, because they could only begin later; none of a load that waits.
    pub skipped: Option<u64>,
    /// The same as a share of all that were due.
    pub skipped_share: Option<Estimate>,
}

/// A time in which nothing of a closed load ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stall {
    /// When it began, seconds into the window.
    pub at_s: f64,
    /// How long it lasted, seconds, to within an interval.
    pub lasted_s: f64,
    /// Sessions or operations that waited: all that there are.
    pub slots: u32,
    /// Mean completions a second over the window.
    pub rate_per_s: f64,
    /// p99 of response, milliseconds, had arrivals come at that rate whatever the system did.
    pub open_p99_ms: f64,
}

/// Response of one trial in milliseconds, with the uncertainty that the trial can give by itself. Replicates, when there are
/// any, are pooled from what stands here.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseEstimates {
    /// Mean.
    pub mean_ms: Estimate,
    /// At 0.5, 0.95, 0.99 and 0.999.
    pub quantiles: Vec<QuantileEstimate>,
    /// All times of the window, those that never ended at the age that they had reached.
    pub times: Histogram,
    /// The least of these ages; from there on times are only lower bounds.
    pub censored_from_ns: Option<u64>,
}

/// A quantile of one trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantileEstimate {
    /// Which: 0.99 is p99.
    pub q: f64,
    /// Its value in milliseconds with an interval, or with a lower bound alone.
    pub ms: Estimate,
    /// Standard error of the share of operations at or below it.
    pub share_error: f64,
    /// Degrees of freedom of that error.
    pub freedom: f64,
}

/// A latency distribution in milliseconds, with censored operations in their place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LatencySummary {
    /// How many operations stand behind it.
    pub count: u64,
    /// Mean.
    pub mean_ms: f64,
    /// Median.
    pub p50_ms: f64,
    /// 90th percentile, at which response limits of transactions are held.
    pub p90_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
    /// 99.9th percentile.
    pub p999_ms: f64,
    /// Exact maximum.
    pub max_ms: f64,
    /// Which of the tail quantiles have at least 100 samples beyond them, and which are lower bounds.
    pub tail: Tail,
}

/// How far a tail can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// At least 100 samples beyond p99, of at least ten moments; where it was asked, p99 then has an interval.
    pub p99_firm: bool,
    /// The same of p99.9.
    pub p999_firm: bool,
    /// Some operations never ended, so that p99.9 and max are lower bounds.
    pub censored: bool,
}

/// One class of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassSummary {
    /// Name of the class.
    pub name: String,
    /// Completions a second in the window.
    pub throughput_per_s: f64,
    /// How many a second the workload asks for by its own clock, where it says.
    pub offered_per_s: Option<f64>,
    /// Completed well, of those intended in the window.
    pub done: u64,
    /// Failed, of those completed in the window.
    pub failed: u64,
    /// Tries beyond the first of those that completed well in the window: each was thrown away for a conflict or a deadlock.
    pub retried: u64,
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Completed minus intended.
    pub response: LatencySummary,
    /// Completed minus issued.
    pub service: LatencySummary,
    /// The share of its times beyond which quantiles of response are only lower bounds; none where all are known.
    pub bound_from: Option<f64>,
    /// Its part of all work, against what is planned.
    pub mix: ClassMix,
}

/// Generator CPU an operation, microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuPerOperation {
    /// User mode.
    pub user_us: f64,
    /// Kernel mode.
    pub system_us: f64,
}

/// Means over the window of what the probes saw; `None` is not observed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineSummary {
    /// Cores busy in user mode, all processes.
    pub cpu_user_cores: Option<f64>,
    /// Cores busy in the kernel.
    pub cpu_system_cores: Option<f64>,
    /// Cores idle while I/O was waited for.
    pub cpu_iowait_cores: Option<f64>,
    /// Cores that the hypervisor took.
    pub cpu_steal_cores: Option<f64>,
    /// Share of the time in which any task that could have run waited for a core.
    pub waited_for_cpu: Option<f64>,
    /// How many cores there are.
    pub cores: Option<u32>,
    /// The busiest station of a model, and the share of the time in which it had work.
    pub busiest: Option<(String, f64)>,
    /// `(disk, utilisation share, mean wait in ms, operations a second, bytes a second)` by disk, as probes name them.
    pub disks: Vec<DiskSummary>,
}

/// One disk over the window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiskSummary {
    /// Kernel name.
    pub name: String,
    /// Share of the time in which the disk had work.
    pub utilisation: f64,
    /// Mean wait of an operation, milliseconds.
    pub wait_ms: f64,
    /// Operations a second.
    pub operations_per_s: f64,
    /// Bytes a second.
    pub bytes_per_s: f64,
}

/// One interval of a trial, all streams together unless said.
#[derive(Clone, Debug, PartialEq)]
pub struct TimePoint {
    /// Start of the interval on the trial's clock, seconds.
    pub at_s: f64,
    /// Completions a second by stream.
    pub throughput_per_s: Vec<f64>,
    /// Failures by stream.
    pub failed: Vec<u64>,
    /// p99 of response in milliseconds by stream, when anything was intended in it.
    pub p99_ms: Vec<Option<f64>>,
}

/// The answer of the steady-state rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Steady {
    /// The answer.
    pub answer: SteadyAnswer,
    /// The rounds that it was decided on.
    pub rounds: Option<RoundsTrace>,
}

words! {
    /// The answer of the steady-state rule.
    pub enum SteadyAnswer {
        Yes = "yes" "Five parts of the window agree.",
        Never = "never" "The window held enough parts, and they disagreed by more than chance explains.",
        CannotTell = "cannot tell" "Noise between the parts is too large to tell.",
        TooShort = "too short" "The window was too short for the parts that the rule compares.",
    }
}

/// The evidence of a steady-state decision.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundsTrace {
    /// Mean of each round.
    pub means: Vec<f64>,
    /// Greatest less least, as a share of the mean.
    pub range: f64,
    /// Rise of the fitted line across the rounds, as a share of the mean; negative when it falls.
    pub slope: f64,
    /// How far chance alone moves a round, as a share of the mean: one standard error.
    pub noise: f64,
    /// Degrees of freedom of that error.
    pub freedom: f64,
}

/// The replicates of one point pooled.
#[derive(Clone, Debug, PartialEq)]
pub struct PointSummary {
    /// Which point.
    pub at: Point,
    /// What its work is counted in.
    pub work: Work,
    /// Where the numbers come from.
    pub provenance: Provenance,
    /// Indices of the trials behind it.
    pub trials: Vec<u32>,
    /// Completions a second.
    pub throughput_per_s: Estimate,
    /// Bytes a second.
    pub bytes_per_s: Estimate,
    /// The most transactions a second that its users start, where these think in between.
    pub asked_most_per_s: Option<f64>,
    /// What its transactions gave those who asked for them, with how many a second.
    pub yields: Vec<(String, Estimate)>,
    /// Response, ms.
    pub response_mean_ms: Estimate,
    /// Response p50, ms.
    pub response_p50_ms: Estimate,
    /// Response p99, ms.
    pub response_p99_ms: Estimate,
    /// Response p99.9, ms.
    pub response_p999_ms: Estimate,
    /// Service, ms.
    pub service_mean_ms: Estimate,
    /// Seconds of fixed work.
    pub elapsed_s: Option<Estimate>,
    /// Elapsed seconds times busy cores over the width or work: CPU-normalised elapsed, core-seconds.
    pub cpu_elapsed_s: Option<Estimate>,
    /// Generator CPU an operation, microseconds.
    pub cpu_us: Option<Estimate>,
    /// Mean utilisation of the busiest disk.
    pub disk_utilisation: Option<Estimate>,
    /// Mean wait of that disk, milliseconds.
    pub disk_wait_ms: Option<Estimate>,
    /// The worst steady-state answer among the trials.
    pub steady: SteadyAnswer,
    /// Caveats of its trials, each once.
    pub caveats: Vec<Caveat>,
}

words! {
    /// What the work of a stream is counted in.
    #[derive(Default)]
    pub enum Work {
        #[default]
        Operations = "operations" "Operations on storage.",
        Files = "file operations" "Work on whole files.",
        Transactions = "transactions" "Transactions on a database.",
    }
}

impl Work {
    /// The unit of its rate, as people of the field say it.
    pub fn unit(self) -> &'static str {
        match self {
            Work::Operations => "IOPS",
            Work::Files => "file operations/s",
            Work::Transactions => "TPS",
        }
    }

    /// A rate of it: `397 k IOPS`, `1912 TPS`.
    pub fn rate(self, per_s: f64) -> String {
        format!("{} {}", units::per_second(per_s), self.unit())
    }
}

macro_rules! findings {
    ($($variant:ident($type:ident $(. $point:ident)?) $is:literal,)+) => {
        /// What was concluded.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Finding {
            $(#[doc = $is] $variant($type),)+
        }

        impl Finding {
            /// What it is about; none of a threshold, which any point may decide, and of what is about the data.
            pub fn point(&self) -> Option<&Point> {
                match self {
                    $($(Finding::$variant(found) => Some(&found.$point),)?)+
                    _ => None,
                }
            }
        }

        $(impl $type {
            /// What a finding found, when it is of this kind.
            pub fn of(finding: &Finding) -> Option<&$type> {
                if let Finding::$variant(found) = finding { Some(found) } else { None }
            }
        })+
    };
}

findings! {
    Damage(DamageFinding) "Damaged data, or acknowledged work that is missing.",
    Outage(OutageFinding) "A server that was lost in a trial.",
    Comparison(Comparison.point) "A system against the baseline.",
    Footprint(FootprintFinding.point) "What two systems take to run, beside what they do.",
    Tier(TierFinding.point) "What objects gave on the fast tier, beside what was promised.",
    Mirror(MirrorFinding.point) "What a mirror costs beyond a ratio.",
    Beside(Beside.point) "What a stream loses to what goes on beside it.",
    Knee(Knee.point) "Where a curve bends.",
    HighestRate(HighestRate.point) "The highest rate that holds a bound on a quantile.",
    ServiceFit(ServiceFit.point) "Service time against transfer size.",
    Scaling(Scaling.point) "Throughput against modules or width.",
    Sustained(SustainedFinding.point) "At most against sustained.",
    Pair(PairFinding.point) "What the loss of a mirror, or of its first server, came to.",
    Felt(Felt.point) "How long a stream felt what happened in a trial.",
    Deadline(DeadlineFinding.point) "Whether a job is over in time.",
    Threshold(ThresholdOutcome) "A threshold of the study or of `--fail-if`.",
}

/// How a database and its mirror stood in a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairCourse {
    /// One behind the other.
    pub phases: Vec<PairPhase>,
    /// Whether the ledger of acknowledged work agrees with the data; none where it was not asked.
    pub kept: Option<bool>,
    /// Whether both servers hold the same rows behind the load; none where that was not asked.
    pub equal: Option<bool>,
}

/// A time in which they stood in one way. Seconds on the trial's clock, bytes of log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairPhase {
    /// How.
    pub state: MirrorState,
    /// When it began.
    pub from_s: f64,
    /// When it ended, or was seen last.
    pub to_s: f64,
    /// What was kept for the mirror at its beginning and at its end.
    pub kept: (f64, f64),
    /// What the wire carried to the mirror meanwhile.
    pub sent: f64,
    /// Commits that waited for the mirror at its beginning.
    pub waiting: f64,
}

/// What the loss of a mirror, or of its first server, came to for a stream. Rates are means over the intervals of a phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairFinding {
    /// Which stream.
    pub point: Point,
    /// The trial.
    pub trial: u32,
    /// What happened.
    pub event: String,
    /// When, in seconds from the beginning of the window.
    pub at_s: f64,
    /// The longest time behind it, and before the next event, in which nothing ended, in whole intervals.
    pub freeze_s: f64,
    /// The length of an interval.
    pub interval_s: f64,
    /// What failed behind it.
    pub errors: u64,
    /// When one of both went on alone, seconds behind the event, and how it stood; none where it never did.
    pub alone: Option<(f64, MirrorState)>,
    /// Commits that waited then: they stand, acknowledged without the mirror.
    pub released: u64,
    /// Completions a second before the event.
    pub rate_before_per_s: Option<f64>,
    /// The same while one was alone.
    pub rate_alone_per_s: Option<f64>,
    /// Bytes of log that were kept for the mirror when it came back.
    pub kept_bytes: Option<f64>,
    /// How fast they grew, bytes a second.
    pub kept_per_s: Option<f64>,
    /// How long the mirror took to catch up.
    pub resync_s: Option<f64>,
    /// What the wire carried to it meanwhile.
    pub resync_bytes: Option<f64>,
    /// Completions a second meanwhile, and since.
    pub rate_resync_per_s: Option<f64>,
    /// The same once commits waited again.
    pub rate_after_per_s: Option<f64>,
    /// As in [`PairCourse`].
    pub kept: Option<bool>,
    /// As in [`PairCourse`].
    pub equal: Option<bool>,
}

/// What happened in a trial, as a stream felt it. Times count from the beginning of the window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Felt {
    /// Which stream.
    pub point: Point,
    /// The trial.
    pub trial: u32,
    /// What happened.
    pub event: String,
    /// When, in seconds.
    pub at_s: f64,
    /// Completions a second before anything happened, in the middle of its intervals.
    pub rate_before_per_s: f64,
    /// The same of the p99 of their response.
    pub p99_before_ms: Option<f64>,
    /// The least rate of an interval while it was felt; none where it was not.
    pub rate_least_per_s: Option<f64>,
    /// The greatest p99 of an interval meanwhile.
    pub p99_most_ms: Option<f64>,
    /// What failed from its interval on until the next event's, or the end of the window.
    pub failed: u64,
    /// How long.
    pub until: FeltUntil,
}

/// How long an event was felt: until rate, response and failures were back within their range before anything happened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum FeltUntil {
    /// There were too few intervals before it to say what is usual.
    #[default]
    CannotTell,
    /// Nothing left that range.
    Never,
    /// So many seconds behind the event.
    After(f64),
    /// Longer than the window went on.
    NotInTheWindow,
}

impl FeltUntil {
    /// As JSON says it.
    pub fn word(self) -> &'static str {
        match self {
            FeltUntil::CannotTell => "cannot tell",
            FeltUntil::Never => "not felt",
            FeltUntil::After(_) => "felt",
            FeltUntil::NotInTheWindow => "not back within the window",
        }
    }

    /// How many seconds, where it ended.
    pub fn seconds(self) -> Option<f64> {
        if let FeltUntil::After(seconds) = self { Some(seconds) } else { None }
    }
}

/// A job against its deadline.
#[derive(Clone, Debug, PartialEq)]
pub struct DeadlineFinding {
    /// Which job.
    pub point: Point,
    /// What its work is counted in.
    pub what: String,
    /// How much of it was measured.
    pub measured: f64,
    /// How much the whole job is.
    pub work: f64,
    /// How long the whole job takes.
    pub takes_s: Estimate,
    /// How long it may take.
    pub within_s: f64,
    /// When it begins, seconds after midnight.
    pub begins_s: Option<f64>,
    /// Whether it is over in time.
    pub in_time: InTime,
    /// Whether it is of a point that the answer is about: then it decides how a run ends.
    pub decides: bool,
    /// Why what was measured may tell less of the whole job than the interval says.
    pub doubts: Vec<String>,
}

words! {
    /// Whether a job is over in time.
    pub enum InTime {
        Yes = "in time" "Its whole interval is.",
        No = "late" "Its whole interval is not.",
        CannotTell = "undecided" "Part of its interval is, or it has none.",
    }
}

/// What a mirror costs beyond a ratio of rates.
#[derive(Clone, Debug, PartialEq)]
pub struct MirrorFinding {
    /// The first point with the mirror.
    pub point: Point,
    /// The system without.
    pub baseline: String,
    /// What of a transaction waits for the mirror, as a sentence.
    pub unit: &'static str,
    /// Whether both servers had a network of their own each in all trials with the mirror.
    pub own_networks: bool,
    /// What it adds to a response and what that is made of, for each point that both systems have.
    pub added: Vec<AddedTime>,
    /// What this stream gives beside the slowest one of its experiment, where that has several.
    pub tuning: Option<Tuning>,
    /// How many sessions make up for it, for each number of sessions without.
    pub compensations: Vec<Compensation>,
    /// How many cores make up for it, for each number of cores without, where servers are held to some.
    pub core_compensations: Vec<CoreCompensation>,
    /// How often a transaction waits for the way to the mirror and back, where the distance is varied.
    pub round_trips: Option<Estimate>,
    /// What the second server gives or costs, for each way to spread sessions over both, the highest rate first.
    pub spreads: Vec<Spreading>,
}

/// A way to spread sessions over two servers that both take writes, against one server alone at the same levels.
#[derive(Clone, Debug, PartialEq)]
pub struct Spreading {
    /// The levels of all that is varied.
    pub at: String,
    /// The rate, times that of one server alone.
    pub rate: Estimate,
    /// The mean response, times that of one server alone.
    pub response: Option<Estimate>,
    /// CPU of both servers a transaction, times that of one server alone.
    pub cpu: Option<f64>,
    /// The share of all tries that were thrown away for a conflict or a deadlock.
    pub again: f64,
}

/// One way to do the same work beside another: ratios of throughput, of which the mirror takes no part or its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// The other way.
    pub against: String,
    /// This one over the other, without a mirror.
    pub alone: Estimate,
    /// The same where both have it.
    pub mirrored: Estimate,
    /// This one with a mirror over the other without.
    pub across: Estimate,
}

/// What a mirror adds to the mean response of a transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct AddedTime {
    /// Where.
    pub factors: Vec<Factor>,
    /// The response without the mirror, ms.
    pub alone_ms: f64,
    /// What is added to it, ms.
    pub added_ms: Estimate,
    /// How many times the throughput there is without it.
    pub times: Estimate,
    /// What that is made of; the parts add up to it.
    pub parts: Vec<AddedPart>,
    /// How often a transaction waited for the second server in lock step; none elsewhere.
    pub round_trips: Option<f64>,
    /// One flush of the first server's log without the mirror and with it, ms.
    pub own_flush_ms: Option<(f64, f64)>,
    /// One flush of the mirror's log as its server times it, ms.
    pub mirror_flush_ms: Option<f64>,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AddedPart {
    /// Which.
    pub part: PartOf,
    /// For each transaction, ms.
    pub ms: f64,
}

words! {
    /// A part of the time that a mirror adds to a transaction.
    pub enum PartOf {
        Wire = "on the wire" "The way there and back, as long as the wire held what it carried.",
        Written = "sent and written" "Sender, receiver and the mirror's write, which nothing tells apart.",
        Flushed = "flushed by the mirror" "From the word that it was written to the word that it was flushed.",
        Applied = "applied by the mirror" "From there to the word that it was applied.",
        Decoded = "decoded, sent, applied and in queues" "What a commit of a publication waits for beyond the wire, of which nothing tells one from another.",
        Queued = "in the queue for it" "What the commit waited beyond that, for what was sent before it and to be woken.",
        Second = "on the second server and in queues" "Its work and all waits for processors, which nothing tells apart.",
        Elsewhere = "outside of the wait" "Own flushes on a shared disk, shared processors, rows locked for longer.",
    }
}

impl PartOf {
    /// Where its figure comes from.
    pub fn source(self) -> &'static str {
        match self {
            PartOf::Wire => "the relay: from when a piece was read until it was handed over, both ways",
            PartOf::Written => "write_lag of pg_stat_replication, less the wire",
            PartOf::Flushed => "flush_lag less write_lag",
            PartOf::Applied => "replay_lag less flush_lag",
            PartOf::Queued => {
                "sessions that wait for SyncRep over transactions a second, less the lag that they wait for"
            }
            PartOf::Decoded => "sessions that wait for SyncRep over transactions a second, less the wire",
            PartOf::Second => "what is added, less the wire",
            PartOf::Elsewhere => "what is added, less the wait for SyncRep",
        }
    }
}

/// How many sessions with a mirror do what so many do without.
#[derive(Clone, Debug, PartialEq)]
pub struct Compensation {
    /// Sessions without.
    pub sessions: f64,
    /// Sessions with, by the response-time law with waits for processors; without these waits where no number of sessions is enough.
    pub predicted: Estimate,
    /// CPU that the study takes for a transaction, ms, and the cores that it has for that; none where processors were not watched, or each
    /// server is held to some.
    pub cpu: Option<(f64, f64)>,
    /// Whether commits were predicted to share flushes: where it is known how long these take.
    pub flushes: bool,
    /// Sessions with, between the measured levels around the rate; none where it was not crossed.
    pub observed: Option<f64>,
    /// The level with the highest rate that was measured, and its share of the wanted rate.
    pub tried: (f64, f64),
    /// The most sessions that were measured.
    pub up_to: f64,
    /// The share of the wanted rate that all cores of the machine would carry, each transaction taking of them what it took there, or that
    /// users start by the law with any number of sessions; none where neither is known. Below 1, no number of sessions is enough.
    pub ceiling: Option<f64>,
    /// What sets the ceiling.
    pub limit: Option<SessionLimit>,
}

words! {
    /// What more sessions do not lift.
    pub enum SessionLimit {
        Cores = "cores" "All cores carry no more.",
        Users = "users" "Users who think start no more.",
    }
}

/// How many cores each server needs with a mirror to do what the first does with so many without.
#[derive(Clone, Debug, PartialEq)]
pub struct CoreCompensation {
    /// Cores without.
    pub cores: f64,
    /// CPU a transaction of the server alone, of the first with a mirror, and of the mirror, ms.
    pub cpu_ms: [f64; 3],
    /// Cores with, by CPU a transaction and the response-time law; none where no number is enough.
    pub predicted: Option<Estimate>,
    /// The share of the wanted rate that is left by that law with any number of cores.
    pub ceiling: f64,
    /// Cores with, between the measured levels around the rate; none where it was not crossed. Without an upper end where the rate
    /// may not have been reached.
    pub observed: Option<Estimate>,
    /// The level with the highest rate that was measured, and its share of the wanted rate.
    pub tried: (f64, f64),
    /// The most cores that were measured.
    pub up_to: f64,
}

/// What objects gave that went to the fast tier in steps, beside what was promised of them.
#[derive(Clone, Debug, PartialEq)]
pub struct TierFinding {
    /// The point with everything on the slow tier.
    pub point: Point,
    /// What is counted: transactions, or what users count first.
    pub what: String,
    /// How much of it a second, with everything on the slow tier.
    pub per_s: Estimate,
    /// How many times that with every table and index on the fast tier.
    pub times: Estimate,
    /// The steps, the last with every table and index.
    pub steps: Vec<TierStep>,
}

/// One step of it, with all before.
#[derive(Clone, Debug, PartialEq)]
pub struct TierStep {
    /// The system.
    pub system: String,
    /// What it adds, each with its bytes.
    pub objects: Vec<(String, f64)>,
    /// Bytes on the fast tier.
    pub bytes: f64,
    /// Their share of the bytes of all tables and indexes.
    pub of_bytes: f64,
    /// The share of the whole gain that was promised.
    pub promised: Estimate,
    /// The share that was measured; none where the whole gain is not beyond doubt.
    pub delivered: Option<Estimate>,
    /// How much is done a second.
    pub per_s: Estimate,
}

impl PointSummary {
    /// What is counted, and how much of it a second: what its transactions give those who ask for them, or else its work.
    pub fn counted(&self) -> (&str, Estimate) {
        let given = self.yields.first().map(|(what, per_s)| (what.as_str(), *per_s));
        given.unwrap_or((self.work.word(), self.throughput_per_s))
    }
}

/// Damage of one kind in one trial.
#[derive(Clone, Debug, PartialEq)]
pub struct DamageFinding {
    /// Number of the trial.
    pub trial: u32,
    /// Which attempt at it; none when it is the one that is shown.
    pub attempt: Option<u32>,
    /// What found it: `reads`, or the kind of a check.
    pub source: String,
    /// Which kind: `torn`, or the name of the check.
    pub what: String,
    /// How many reads found it, or rows break it, ten at most.
    pub count: u64,
    /// In words.
    pub text: String,
}

/// A server that was lost.
#[derive(Clone, Debug, PartialEq)]
pub struct OutageFinding {
    /// Number of the trial.
    pub trial: u32,
    /// Which attempt at it.
    pub attempt: u32,
    /// Whether it took connections again in time, so that its data could be checked.
    pub recovered: bool,
    /// In words.
    pub text: String,
}

/// One metric of one system against the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The point on the compared system.
    pub point: Point,
    /// Name of the baseline system.
    pub baseline: String,
    /// `throughput`, `response p99` and so on.
    pub metric: String,
    /// The same in a sentence, as people of the field say it: `p99 latency`.
    pub said: String,
    /// Whether it is the study's declared primary metric.
    pub primary: bool,
    /// Which way is better.
    pub direction: Direction,
    /// System over baseline.
    pub ratio: Estimate,
    /// The margin of `equivalent`, as a share.
    pub margin: f64,
    /// The difference that this many pairs can detect with 80 percent power, as a share; none when unknown.
    pub detectable: Option<f64>,
    /// Whether trials of the two alternated within blocks of one run.
    pub interleaved: bool,
    /// Whether the verdict is adjusted for the number of exploratory comparisons (Holm).
    pub adjusted: bool,
    /// Two-sided p value before adjustment.
    pub p_value: f64,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is inconclusive, in words, when it is.
    pub reason: Option<String>,
    /// The same in a few words, to stand beside the verdict.
    pub because: Option<String>,
}

words! {
    /// The verdict of a comparison.
    pub enum Verdict {
        Better = "better" "The interval lies on the better side of 1.",
        Worse = "worse" "The interval lies on the worse side of 1.",
        Equivalent = "equivalent" "The interval lies inside the margin.",
        Inconclusive = "inconclusive" "None of these.",
    }
}

/// What two systems take to run, beside what they do.
#[derive(Clone, Debug, PartialEq)]
pub struct FootprintFinding {
    /// The point on the compared system.
    pub point: Point,
    /// Name of the baseline system.
    pub baseline: String,
    /// What is counted: `transactions`, `postings`.
    pub what: String,
    /// Whether it belongs to the study's declared primary metric.
    pub primary: bool,
    /// Whether both do the same.
    pub same: Same,
    /// How much is done, system over baseline.
    pub ratio: Estimate,
    /// What both state.
    pub amounts: Vec<FootprintAmount>,
    /// The price at which the system does as much for its money as the baseline; none where the baseline states none.
    pub break_even: Option<Estimate>,
    /// The price of the system, where it is stated.
    pub price: Option<f64>,
}

words! {
    /// Whether two systems do the same.
    pub enum Same {
        Yes = "yes" "They are equivalent.",
        NoneFound = "no difference found" "The interval of their ratio holds 1, and is wider than the margin.",
        No = "no" "Neither.",
    }
}

/// Something that two systems take, such as drives.
#[derive(Clone, Debug, PartialEq)]
pub struct FootprintAmount {
    /// Its name, as in a footprint.
    pub amount: &'static str,
    /// How much of it the system takes.
    pub of_system: f64,
    /// How much of it the baseline takes.
    pub of_baseline: f64,
    /// What the system does a second for each.
    pub rate_for_each: Estimate,
    /// What the baseline does a second for each.
    pub baseline_for_each: Estimate,
    /// The first over the second.
    pub ratio: Estimate,
}

/// A stream at two points of one run: alone and beside others, or without loads and with the most of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// Where something goes on beside it.
    pub point: Point,
    /// Where nothing does.
    pub baseline: Point,
    /// The other streams; empty where it is what its own workload loads.
    pub beside: Vec<String>,
    /// What its transactions give: `postings`; none where operations are counted.
    pub what: Option<String>,
    /// How much of that is done, over the baseline.
    pub ratio: Estimate,
    /// Mean response over that of the baseline.
    pub response: Option<Estimate>,
}

/// Where a curve bends.
#[derive(Clone, Debug, PartialEq)]
pub struct Knee {
    /// What its curve is of.
    pub point: Point,
    /// The factor that was swept: `outstanding`, `sessions`.
    pub factor: String,
    /// The fewest that reach 95 percent of the peak: one level, or more than the lower end and no more than the upper one; none is
    /// "no knee in this range".
    pub at: Option<Estimate>,
    /// Whether there is none because the levels scatter too much to say where it is, or whether there is one.
    pub scatters: bool,
    /// The peak of the curve, operations a second, freed of what chance adds to the highest of several levels.
    pub peak_per_s: Estimate,
    /// `(level, throughput)` of the curve.
    pub curve: Vec<(f64, Estimate)>,
}

impl Knee {
    /// The level that the knee is at, where its interval is no wider than that.
    pub fn stated(&self) -> Option<f64> {
        self.at.filter(|at| at.low == at.high).map(|at| at.value)
    }

    /// Whether all that was tried lies in its interval.
    pub fn anywhere(&self) -> bool {
        let levels = || self.curve.iter().map(|(level, _)| *level);
        let [least, most] = [levels().fold(f64::INFINITY, f64::min), levels().fold(f64::NEG_INFINITY, f64::max)];
        self.at.is_some_and(|at| at.low < at.high && at.low <= least && at.high >= most)
    }

    /// Whether it is the best of those tried, because no level gave more.
    pub fn is_best(&self) -> bool {
        self.stated().is_some_and(|at| self.highest_seen().is_some_and(|(level, _)| level == at))
    }

    /// What it is called on a page.
    pub fn word(&self) -> &'static str {
        if self.is_best() { "best" } else { "knee" }
    }

    /// The level with the highest mean, and that.
    pub fn highest_seen(&self) -> Option<(f64, Estimate)> {
        self.curve.iter().copied().max_by(|a, b| a.1.value.total_cmp(&b.1.value))
    }
}

/// The highest rate with a quantile of response under a bound.
#[derive(Clone, Debug, PartialEq)]
pub struct HighestRate {
    /// What was searched on: its factors are those that the search did not choose.
    pub point: Point,
    /// Which quantile: 0.99.
    pub quantile: f64,
    /// The bound, milliseconds.
    pub bound_ms: f64,
    /// The rate that passed three times, without an interval; none when no rate passed.
    pub rate_per_s: Option<Estimate>,
    /// The lowest rate above it that failed: how far the steps of the search leave the answer open.
    pub failed_per_s: Option<f64>,
    /// `(rate, quantile in ms, passed)` of every probe, in order.
    pub probes: Vec<(f64, f64, bool)>,
    /// What stopped the search, in words.
    pub reason: String,
}

/// Service time against transfer size.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceFit {
    /// What its curve is of.
    pub point: Point,
    /// The form that fits.
    pub form: ServiceForm,
    /// Time of an operation of no size, milliseconds.
    pub base_ms: Estimate,
    /// Bytes a second beyond that.
    pub rate_bytes_per_s: Estimate,
    /// Internal unit in bytes, of a stepped form.
    pub step_bytes: Option<u64>,
    /// Root of the mean squared relative error of the fit.
    pub error: f64,
    /// `(bytes, milliseconds)` as measured.
    pub points: Vec<(f64, Estimate)>,
}

words! {
    /// How service time grows with the transfer size.
    pub enum ServiceForm {
        Affine = "affine" "A straight line.",
        Stepped = "stepped" "Steps of an internal unit.",
        Neither = "neither" "Neither describes the points.",
    }
}

/// Throughput (or work) against modules, workers or width.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    /// What its curve is of.
    pub point: Point,
    /// `modules` or `width`.
    pub factor: String,
    /// How it scales.
    pub kind: ScalingKind,
    /// Throughput at the largest level over the linear expectation from the smallest.
    pub efficiency: Estimate,
    /// `(level, throughput)`.
    pub curve: Vec<(f64, Estimate)>,
}

words! {
    /// How throughput grows with a factor.
    pub enum ScalingKind {
        Linear = "linear" "In proportion, within the interval.",
        Saturating = "saturating" "Something shared saturates.",
        Retrograde = "retrograde" "It falls again.",
        Unclear = "unclear" "Too few points or too wide intervals.",
    }
}

/// At most against sustained, of one stream of one trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Sustained {
    /// Highest mean over any window of `peak_window_s`, operations a second.
    pub peak_per_s: f64,
    /// Length of that window, seconds.
    pub peak_window_s: f64,
    /// Mean over the last fifth of the measured window.
    pub late_per_s: f64,
    /// Its fall, when it falls once for good; none of a window that was steady.
    pub burst: Option<Burst>,
    /// `(window seconds, highest mean over any such window)`.
    pub averages: Vec<(f64, f64)>,
}

/// A fall for good. Where it is the end of burst credit, the average rate over a window T is s + C/T.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// Rate before the fall, operations a second.
    pub before_per_s: f64,
    /// Sustained rate s, operations a second.
    pub sustained_per_s: f64,
    /// Credit C, operations.
    pub credit_operations: f64,
    /// When the rate fell, seconds into the window.
    pub lasted_s: f64,
    /// Chance that a series without a step shows one like this.
    pub p_value: f64,
    /// Whether both levels last ten correlation times.
    pub apart: bool,
}

/// At most against sustained, over trials.
#[derive(Clone, Debug, PartialEq)]
pub struct SustainedFinding {
    /// Which point.
    pub point: Point,
    /// What is said of the fall; nothing where there is none that stands beside all series of the run.
    pub claim: Option<FallClaim>,
    /// The figures; without the fall where nothing is said of it.
    pub sustained: Sustained,
}

words! {
    /// What is said of a rate that fell for good.
    pub enum FallClaim {
        Fell = "fell" "It fell inside a window too short to say more.",
        MayBe = "may be burst credit" "It fell in one trial, or too close to an end of the window.",
        Credit = "burst credit" "It fell alike in two trials, with a settle pause before each.",
    }
}

/// A threshold with its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdOutcome {
    /// As written.
    pub text: String,
    /// What is held against the limit.
    pub metric: Metric,
    /// Which point decided, in words.
    pub at: String,
    /// The value that was held against the limit.
    pub value: Option<Estimate>,
    /// What would give the value an interval, where it has none: `needs --set measure=7s`.
    pub needs: Option<String>,
    /// The outcome.
    pub state: ThresholdState,
}

impl ThresholdOutcome {
    /// Why it is inconclusive, and what would decide it; nothing where it is decided.
    pub fn open(&self) -> Option<String> {
        let value = self.value.filter(|_| self.state == ThresholdState::Inconclusive)?;
        if value.has_interval() {
            return Some("the interval contains the limit".to_owned());
        }
        let needs = self.needs.as_deref().unwrap_or("run with --set replicates=4 or more");
        Some(if value.lower_bound() {
            format!("only a lower bound is known; {needs}")
        } else {
            format!("a single trial gives it no interval; {needs}")
        })
    }
}

words! {
    /// Outcome of a threshold.
    pub enum ThresholdState {
        Passed = "passed" "The whole interval is on the good side: the condition is false.",
        Failed = "failed" "The whole interval is on the bad side: the condition is true.",
        Inconclusive = "inconclusive" "The interval contains the limit, or there is none, or only a lower bound below it.",
        NotMeasured = "not measured" "No trial matched.",
    }
}

/// Ends of an interval that are further apart than so many times tell nothing.
const WIDEST: f64 = 100.0;

/// What stands in place of such an interval; its ends are in the JSON.
pub const CANNOT_TELL: &str = "interval unknown: too noisy";

/// What stands in place of a percentile of which nothing but a value was seen.
pub const TOO_FEW: &str = "unknown: too few independent samples";

impl Estimate {
    /// A value that stands alone: one sample, no interval.
    pub fn single(value: f64) -> Estimate {
        Estimate { value, low: f64::NAN, high: f64::NAN, n: 1, confidence: 0.95 }
    }

    /// The same in other units.
    pub fn scaled(&self, factor: f64) -> Estimate {
        Estimate { value: self.value * factor, low: self.low * factor, high: self.high * factor, ..*self }
    }

    /// Whether it has an interval.
    pub fn has_interval(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// Whether somebody can read its interval: ends that lie further apart than a factor of 100 tell nothing.
    pub fn tells(&self) -> bool {
        let least = if self.low > 0.0 { self.low } else { self.value };
        !self.has_interval() || self.low < 0.0 || self.value <= 0.0 || self.high <= WIDEST * least
    }

    /// ` (0.9 to 1.2)` behind its value, or in words that nobody knows; nothing without an interval.
    pub fn ends(&self, figure: impl Fn(f64) -> String) -> String {
        match (self.has_interval(), self.tells()) {
            (false, _) => String::new(),
            (true, false) => format!(" ({CANNOT_TELL})"),
            (true, true) => format!(" ({})", self.range(figure)),
        }
    }

    /// `0.9 to 1.2`: both ends, in the unit of the value where they can be read in that.
    pub(crate) fn range(&self, figure: impl Fn(f64) -> String) -> String {
        let [low, high] = [self.low, self.high].map(&figure);
        let [low, high] = units::ends_as(&figure(self.value), &low, &high).unwrap_or([low, high]);
        units::range(&low, " to ", &high)
    }

    /// Whether two intervals overlap, so that no difference is shown; what has none overlaps with nothing.
    pub fn overlaps(&self, other: &Estimate) -> bool {
        self.has_interval() && other.has_interval() && self.low <= other.high && other.low <= self.high
    }

    /// How many times another one it is, where both are independent; the interval is by ratio, as those of both are.
    pub fn over(&self, other: &Estimate) -> Estimate {
        let half = |one: &Estimate| (one.high / one.low).ln() / 2.0;
        let (value, half) = (self.value / other.value, half(self).hypot(half(other)));
        Estimate { value, low: value * (-half).exp(), high: value * half.exp(), n: self.n.min(other.n), ..*self }
    }

    /// Whether all that is known of it is how low it cannot be: an end below, at the confidence of one side, and none above.
    pub fn lower_bound(&self) -> bool {
        self.low.is_finite() && self.high == f64::INFINITY
    }

    /// Whether only its value was seen, and samples are too few to say anything of it: no end below, and none above.
    pub fn not_known(&self) -> bool {
        self.low.is_nan() && self.high == f64::INFINITY
    }

    /// A tail beside the median of the same times: a bound that is no higher than the median was known before anybody looked, and
    /// is none.
    pub(crate) fn beside_median(self, median: &Estimate) -> Estimate {
        let alike = !self.value.is_finite() || self.value <= median.value;
        let says = alike || self.has_interval() || self.lower_bound() && self.low > median.value;
        if says { self } else { Estimate { low: f64::NAN, high: f64::INFINITY, ..self } }
    }
}

impl Findings {
    /// The comparisons among the findings.
    pub fn comparisons(&self) -> impl Iterator<Item = &Comparison> {
        self.findings.iter().filter_map(Comparison::of)
    }

    /// The trial of this number, when it ended.
    pub fn ended(&self, index: u32) -> Option<&TrialSummary> {
        // They are in the order of their numbers, but where somebody put them together otherwise.
        let near = self.trials.partition_point(|trial| trial.label.index < index);
        let is = |trial: &&TrialSummary| trial.label.index == index && !trial.interrupted;
        self.trials.get(near).filter(is).or_else(|| self.trials.iter().find(is))
    }
}
