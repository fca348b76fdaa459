//! One trial with everything resolved: what the engine, or the model, is given to run.

use crate::Sessions;
use load::{Pacing, Ramp, Spec as LoadSpec};
use observation::TrialLabel;
use units::{Bytes, Nanos};
use workload::Workload;

/// One point of the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// What it is called; goes into the run file as it is. `label.streams` is parallel to `streams`.
    pub label: TrialLabel,
    /// The streams, all at once.
    pub streams: Vec<Stream>,
    /// How many modules of the system take part, from the first.
    pub modules: u32,
    /// Size of each module.
    pub module_bytes: Bytes,
    /// What the trial finds when it starts.
    pub state: State,
    /// How long each phase takes.
    pub phases: Phases,
    /// Settings of the database server, by their own names.
    pub server: Vec<(String, String)>,
    /// Every random choice of the trial follows from this.
    pub seed: u64,
}

/// One workload with its own load.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// What is asked.
    pub workload: Workload,
    /// How fast, or how many at once. For `files` the width is the load, and this is closed with as many slots.
    pub load: LoadSpec,
    /// How the load begins.
    pub ramp: Ramp,
    /// How operations reach the system.
    pub access: Access,
    /// Block work of a fixed amount: the stream ends after so many operations, all its workers together, and the trial
    /// is one of fixed work ([`Phases::fixed_work`]). None when time ends the stream, and for `files`, whose amount
    /// follows from its own spec.
    pub operations: Option<u64>,
    /// The sessions that carry the transactions of a database workload; none for storage.
    pub pool: Option<Pool>,
}

/// Sessions that a stream's transactions share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// How many there are.
    pub sessions: u32,
    /// How they talk to the database.
    pub how: Sessions,
    /// Whether invariants and the ledger are checked after the trial.
    pub check: bool,
    /// Whether costs of statements are counted.
    pub profile: bool,
}

/// How operations reach the system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    /// Past the page cache.
    pub direct: bool,
    /// When written data is made durable.
    pub sync: SyncMode,
    /// How operations reach the system.
    pub driver: Driver,
    /// Poll the device for completions instead of waiting for its interrupt.
    pub poll: bool,
    /// Threads of the generator that share the load.
    pub workers: u32,
    /// Whether each worker stays on a core of its own.
    pub pin: bool,
    /// I/O priority of the stream.
    pub priority: Option<Priority>,
    /// How the driver waits for an open load's next arrival.
    pub pacing: Pacing,
    /// Check every read against the stamps.
    pub validate: bool,
}

impl Access {
    /// The access of work to which none of it applies.
    pub const fn plain() -> Access {
        Access {
            direct: false,
            sync: SyncMode::Never,
            driver: Driver::Auto,
            poll: false,
            workers: 1,
            pin: false,
            priority: None,
            pacing: Pacing::Sleep,
            validate: false,
        }
    }
}

/// When written data is made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncMode {
    /// Never during the trial.
    Never,
    /// Every write returns only when its data is durable; the time is the write's.
    Each,
    /// A data sync after every so many writes, as an operation of its own class.
    Every(u32),
}

/// How operations reach files and devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// io_uring where it is allowed, else pread and pwrite; the report names which.
    Auto,
    /// io_uring or an error.
    Uring,
    /// Threads with pread and pwrite.
    Plain,
}

/// I/O priority as the kernel knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priority {
    /// The class.
    pub class: PriorityClass,
    /// 0 (first) to 7 inside the class.
    pub level: u8,
}

/// I/O priority classes of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriorityClass {
    /// Before all others; needs privilege.
    RealTime,
    /// The ordinary class.
    BestEffort,
    /// Only when nobody else asks.
    Idle,
}

/// What a trial finds when it starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Fill every module again before the trial.
    pub refill: bool,
    /// Tell the device that the modules hold nothing, then fill them again.
    pub trim: bool,
    /// Write the modules over and over before the trial.
    pub precondition: Option<Precondition>,
    /// What the page cache holds at the start.
    pub cache: Cache,
    /// Pause before the warm-up, in which burst credit returns.
    pub settle: Nanos,
    /// Bring the data set of a database back to what it was after the fill.
    pub restore: bool,
    /// What is done about the checkpoints of a database's server.
    pub checkpoints: Checkpoints,
}

/// What is done about the checkpoints of a database's server, and what they do to the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checkpoints {
    /// One is forced before the warm-up; a window that holds whole cycles of them is cut to these.
    #[default]
    Cycles,
    /// One is forced before the warm-up; the window stays as it was asked for.
    Force,
    /// None is forced; the window stays as it was asked for.
    Leave,
}

/// Preconditioning: a sequential fill several times over, then the trial's own workload until it is steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precondition {
    /// How many times the capacity is written, in order.
    pub fills: f64,
    /// Whether the trial's workload then runs in rounds until five of them are steady.
    pub until_steady: bool,
    /// Length of a round.
    pub round: Nanos,
    /// After so many rounds it gives up and says so (SNIA: 25).
    pub rounds_max: u32,
}

/// What the page cache holds of the modules at the start of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    /// Whatever the last trial left.
    AsLeft,
    /// Nothing: dropped before the trial.
    Cold,
    /// All that fits: read once before the trial.
    Warm,
}

/// How long each phase takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phases {
    /// Load before the window; recorded, not counted.
    pub warm_up: Nanos,
    /// The measured window. For a fixed amount of work it is the longest time that the work may take.
    pub measure: Nanos,
    /// Length of an interval; the window and the warm-up are whole multiples of it.
    pub interval: Nanos,
    /// Length of a round for the steady-state rule.
    pub round: Nanos,
    /// Whether the work is fixed and the time follows from it (`files`).
    pub fixed_work: bool,
    /// How long outstanding operations may take to end after the window before they are censored.
    pub drain: Nanos,
}

impl Trial {
    /// The largest number of outstanding operations over all streams.
    pub fn slots(&self) -> u32 {
        self.streams.iter().map(|stream| stream.slots()).sum()
    }

    /// Whether any stream changes data.
    pub fn writes(&self) -> bool {
        self.streams.iter().any(|stream| stream.writes())
    }
}

impl Stream {
    /// How many operations may be outstanding at once.
    pub fn slots(&self) -> u32 {
        match self.load {
            LoadSpec::Closed { slots, .. } | LoadSpec::Open { slots, .. } => slots,
        }
    }

    /// Whether it changes data.
    pub fn writes(&self) -> bool {
        self.workload.writes()
    }
}
