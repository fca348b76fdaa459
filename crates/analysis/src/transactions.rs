//! What analysis says of transactions: the mix of their classes, and the server that carried them out.
//!
//! The one idea: what the generator counted and what the server spent are put side by side, so that each transaction has
//! its price. What was not observed stays unknown.

use crate::{Checkpoints, WorkingSet};
use observation::{Counted, Counter, OfStatement, Spent, words};

/// A class against its plan. Storage plans no shares; then only the share itself is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassMix {
    /// Its completions as a share of all work of the stream; none of upkeep, and where nothing ended.
    pub share: Option<f64>,
    /// The share that is planned.
    pub planned_share: Option<f64>,
    /// Whether the share is within the tolerance of the planned one.
    pub mix_ok: Option<bool>,
    /// Seconds within which nine of ten should answer.
    pub limit_s: Option<f64>,
    /// Whether the 90th percentile of response is within that limit.
    pub response_ok: Option<bool>,
}

/// The server of a database over the window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerSummary {
    /// Whether the database runs inside the generator's process: their CPU and I/O cannot be told apart.
    pub embedded: bool,
    /// Cores that the server's processes kept busy in user mode.
    pub cpu_user_cores: Option<f64>,
    /// The same in the kernel.
    pub cpu_system_cores: Option<f64>,
    /// Cores that it kept busy, where the modes are not told apart.
    pub cpu_busy_cores: Option<f64>,
    /// Cores that the server that follows it kept busy, where one does.
    pub mirror_cpu_cores: Option<f64>,
    /// What was seen of waits for it.
    pub mirror: MirrorWaits,
    /// Bytes a second that the disk below the data read, for whomever; where it is not watched, that its processes read.
    pub bytes_read_per_s: Option<f64>,
    /// The same of writes.
    pub bytes_written_per_s: Option<f64>,
    /// How many processes it has.
    pub processes: Option<f64>,
    /// What it counted itself, as rates a second over the window.
    pub counters: Counted,
    /// Pages that were found in its buffer, as a share of all that were asked for.
    pub buffer_hit_share: Option<f64>,
    /// The sessions of all streams together: what it counted is of all of them.
    pub in_sessions: InSessions,
    /// What one transaction took.
    pub per_transaction: PerTransaction,
    /// What one transaction asked of it, by statement.
    pub profile: Option<StatementsProfile>,
    /// Transactions a second for each core of the machine.
    pub per_machine_core_per_s: Option<f64>,
    /// Transactions a second for each core that the server kept busy.
    pub per_server_core_per_s: Option<f64>,
    /// Its checkpoints and the window; none where nothing is known of them.
    pub checkpoints: Option<Checkpoints>,
    /// The data beside the memories that may hold it.
    pub working_set: Option<WorkingSet>,
}

/// What transactions waited for at a mirror, on the mean over the window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MirrorWaits {
    /// Commits that waited for it at once.
    pub waiting: Option<f64>,
    /// Transactions that changed or locked something, a second.
    pub changing_per_s: Option<f64>,
    /// From when log was sent until the mirror's word came that it was written, ms.
    pub written_ms: Option<f64>,
    /// The same of flushed.
    pub flushed_ms: Option<f64>,
    /// The same of applied.
    pub applied_ms: Option<f64>,
    /// One flush of the mirror's log, as its server times it, ms.
    pub flush_ms: Option<f64>,
    /// The way there and back on the wire, ms.
    pub wire_ms: Option<f64>,
    /// Round trips of sessions to a second server in lock step, a second.
    pub trips_per_s: Option<f64>,
}

/// All sessions of a trial, with those that carry what nobody asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InSessions {
    /// Sessions with work on the mean; what never ended has been in one as long as it was seen there.
    pub busy: f64,
    /// Transactions that ended a second.
    pub per_s: f64,
}

/// What one transaction took of the server, on average over the window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PerTransaction {
    /// CPU time, milliseconds.
    pub cpu_ms: Option<f64>,
    /// CPU time of the mirror, milliseconds.
    pub mirror_cpu_ms: Option<f64>,
    /// Bytes read, as those of the server.
    pub bytes_read: Option<f64>,
    /// Bytes written, as those of the server.
    pub bytes_written: Option<f64>,
    /// Bytes written to the log.
    pub log_bytes: Option<f64>,
    /// Reads of the disk below the data, whoever asked for them.
    pub device_reads: Option<f64>,
    /// Writes of it, those of the log among them where it is on the same disk.
    pub device_writes: Option<f64>,
}

/// What one transaction asks of the database, over the whole trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatementsProfile {
    /// Every statement that was executed, the one with the most CPU first.
    pub statements: Vec<StatementProfile>,
    /// Where the CPU of statements comes from.
    pub cpu: CpuBasis,
    /// Whether log bytes are an estimate: those of the server, shared out by changed rows.
    pub log_shared_out: bool,
}

words! {
    /// Where the CPU of statements comes from.
    #[derive(Default)]
    pub enum CpuBasis {
        #[default]
        Unknown = "unknown" "It is not known.",
        Sampled = "sampled" "Some executions were measured on their thread's clock, and stand for all.",
        /// An estimate: the server's CPU, shared out by time of execution and planning less waits for I/O.
        SharedOut = "shared out",
    }
}

macro_rules! statement {
    ({ $($counted:ident $count:ident $is:literal,)+ } { $($known:ident $amount:ident * $unit:literal $what:literal,)+ }) => {
        /// One statement; all amounts are for each transaction.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct StatementProfile {
            /// What the workload calls it; `(commit)` is the end of a transaction.
            pub name: String,
            $(#[doc = $is] pub $counted: f64,)+
            $(#[doc = $what] pub $known: Option<f64>,)+
            /// Where sessions were seen at it, by the server's name of what they waited for, or `CPU`; microseconds. Empty
            /// where nobody looked.
            pub seen: Vec<(String, f64)>,
        }

        impl StatementProfile {
            /// One of which the amounts were read.
            pub(crate) fn read(name: &str, of: impl Fn(OfStatement) -> Option<f64>) -> StatementProfile {
                StatementProfile {
                    name: name.to_owned(),
                    $($counted: of(OfStatement::$count).unwrap_or(0.0),)+
                    $($known: of(OfStatement::$amount).map(|amount| $unit * amount),)+
                    seen: Vec::new(),
                }
            }

            /// Several statements as one; an amount that none of them knows stays unknown.
            pub fn sum(name: &str, statements: &[StatementProfile]) -> StatementProfile {
                StatementProfile {
                    name: name.to_owned(),
                    $($counted: statements.iter().map(|one| one.$counted).sum(),)+
                    $($known: statements.iter().filter_map(|one| one.$known).reduce(|sum, amount| sum + amount),)+
                    seen: summed(statements.iter().flat_map(|one| &one.seen)),
                }
            }
        }
    };
}

statement! {
    {
        executions Executions "Executions that were answered.",
        rows Rows "Rows that came back.",
        changed Changed "Rows that were changed.",
    }
    {
        server_executions ServerExecutions * 1.0 "As the database counts them; repeated attempts that failed are among them.",
        cpu_us CpuSeconds * 1e6 "CPU, microseconds.",
        execution_us ExecutionSeconds * 1e6 "Time of execution in the server, waits included, microseconds.",
        planning_us PlanningSeconds * 1e6 "Time of planning, microseconds.",
        io_us IoSeconds * 1e6 "Time of execution that was spent on I/O, microseconds.",
        lookups Lookups * 1.0 "Pages that were asked of the buffer.",
        reads Reads * 1.0 "Pages of these that were not in it.",
        rows_examined RowsExamined * 1.0 "Rows that were looked at, where pages are not counted.",
        log_bytes LogBytes * 1.0 "Bytes of log.",
    }
}

fn summed<'a>(seen: impl Iterator<Item = &'a (String, f64)>) -> Vec<(String, f64)> {
    let mut sums = std::collections::BTreeMap::<&str, f64>::new();
    seen.for_each(|(event, us)| *sums.entry(event).or_default() += us);
    let mut sums: Vec<(String, f64)> = sums.into_iter().map(|(event, us)| (event.to_owned(), us)).collect();
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    sums
}

impl StatementProfile {
    /// Microseconds that its sessions were seen there; none where nobody looked.
    pub fn spent(&self, on: Spent) -> Option<f64> {
        let those = self.seen.iter().filter(|(event, _)| Spent::of(event) == on).map(|(_, us)| us).sum();
        (!self.seen.is_empty()).then_some(those)
    }
}

impl StatementsProfile {
    /// Whether anybody looked at what sessions wait for.
    pub fn looked_at(&self) -> bool {
        self.statements.iter().any(|one| !one.seen.is_empty())
    }

    /// The sum over all statements.
    pub fn total(&self) -> StatementProfile {
        StatementProfile::sum("sum", &self.statements)
    }
}

impl ServerSummary {
    /// A counter as a rate, where the server has it.
    pub fn counter(&self, wanted: Counter) -> Option<f64> {
        self.counters.iter().find(|(counter, _)| *counter == wanted).map(|(_, rate)| *rate)
    }

    /// User and kernel together, where both were observed, or whatever kept cores busy where they are not told apart.
    pub fn cpu_cores(&self) -> Option<f64> {
        let both = self.cpu_user_cores.zip(self.cpu_system_cores).map(|(user, system)| user + system);
        both.or(self.cpu_busy_cores)
    }
}
