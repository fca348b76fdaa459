//! One trial with everything resolved: what the engine, or the model, is given to run.

use crate::cpus::Cpus;
use crate::{Sessions, Spread, Wire};
use load::{Pacing, Ramp, Spec as LoadSpec};
use observation::TrialLabel;
use std::sync::Arc;
use units::{Bytes, Nanos, duration};
use workload::happening::Happening;
use workload::kind::{Class, Clocked, Transactions};
use workload::{Storage, block, files};

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
    /// What happens when, from the beginning of the measured window, in the order of time.
    pub events: Vec<(Nanos, Happening)>,
    /// Settings of the database server, by their own names.
    pub server: Vec<(String, String)>,
    /// Every random choice of the trial follows from this.
    pub seed: u64,
}

impl Trial {
    /// Whether another one asks the same of its system, in whichever experiment.
    pub(crate) fn asks_alike(&self, other: &Trial) -> bool {
        let streams = self.streams.len() == other.streams.len()
            && self.streams.iter().zip(&other.streams).all(|(one, two)| one.asks_alike(two));
        streams
            && (&self.state, &self.events, &self.server) == (&other.state, &other.events, &other.server)
            && (self.modules, self.module_bytes) == (other.modules, other.module_bytes)
    }
}

/// One workload with its own load.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// What is asked.
    pub work: Work,
    /// How fast, or how many at once. For `files` the width is the load, and this is closed with as many slots.
    pub load: LoadSpec,
    /// How the load begins.
    pub ramp: Ramp,
    /// What of the generator carries it.
    pub threads: Threads,
}

impl Stream {
    fn asks_alike(&self, other: &Stream) -> bool {
        let work = match (&self.work, &other.work) {
            (Work::Transactions { asked, pool }, Work::Transactions { asked: others, pool: with }) => {
                asked.asks_alike(others.as_ref()) && pool == with
            }
            (one, two) => one == two,
        };
        work && (&self.load, &self.ramp, &self.threads) == (&other.load, &other.ramp, &other.threads)
    }
}

/// What a stream asks for, and the way to it.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Storage, for operations.
    Operations(Operations),
    /// A database, for transactions.
    Transactions {
        /// Which.
        asked: Arc<dyn Transactions>,
        /// The sessions that carry them.
        pool: Pool,
    },
}

/// Operations on storage.
#[derive(Clone, Debug, PartialEq)]
pub struct Operations {
    /// On what.
    pub of: Storage,
    /// Block work of a fixed amount: the stream ends after so many operations, all its workers together, and the trial
    /// is one of fixed work ([`Phases::fixed_work`]). None when time ends the stream, and for `files`, whose amount
    /// follows from its own spec.
    pub count: Option<u64>,
    /// How they reach it.
    pub access: Access,
}

/// Threads of the generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads {
    /// How many share the load. A session that cannot be driven without blocking has one of its own besides.
    pub count: u32,
    /// Whether each stays on a core of its own.
    pub pin: bool,
    /// Which processors they run on.
    pub cpus: Cpus,
    /// How they wait for an open load's next arrival.
    pub pacing: Pacing,
}

/// Sessions that a stream's transactions share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// How many there are.
    pub sessions: u32,
    /// How they talk to the database.
    pub how: Sessions,
    /// What a refused statement does.
    pub on_error: OnError,
    /// Whether invariants and the ledger are checked after the trial.
    pub check: bool,
    /// How long a server that was lost is waited for.
    pub recovery: Nanos,
    /// Whether sessions wait for it inside of the trial, and go on.
    pub waits: bool,
    /// Whether costs of statements are counted.
    pub profile: bool,
    /// What takes longer is counted, and what of an open load would begin later is skipped; none where it is zero.
    pub limit: Nanos,
}

units::words! {
    /// What becomes of a session when the server refuses a statement.
    #[derive(Default)]
    pub enum OnError {
        #[default]
        GoOn = "go-on" "Its transaction fails, and it takes the next.",
        Stop = "stop" "The trial stops.",
    }
}

/// Operations that one io_uring holds at most: the kernel gives it 32768 entries, and its own timer needs one.
pub const RING_MAX: u32 = (1 << 15) - 1;

/// How operations reach the system.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Access {
    /// Past the page cache.
    pub direct: bool,
    /// When written data is made durable.
    pub sync: SyncMode,
    /// What carries them.
    pub driver: Driver,
    /// Poll the device for completions instead of waiting for its interrupt.
    pub poll: bool,
    /// Let a thread of the kernel look for operations instead of calling it.
    pub sqpoll: bool,
    /// I/O priority of the stream.
    pub priority: Option<Priority>,
    /// Check every read against the stamps.
    pub validate: bool,
    /// Read back what was written when the trial has ended, and check it.
    pub verify: bool,
}

/// When written data is made durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyncMode {
    /// Never during the trial.
    #[default]
    Never,
    /// Every write returns only when its data is durable; the time is the write's.
    Each,
    /// The same, with what the filesystem notes of the file.
    Whole,
    /// A data sync after every so many writes, as an operation of its own class.
    Every(u32),
}

units::words! {
    /// How operations reach files and devices.
    #[derive(Default)]
    pub enum Driver {
        #[default]
        Auto = "auto" "io_uring where it is allowed, else pread and pwrite; the report names which.",
        Uring = "io_uring" "io_uring or an error.",
        Plain = "plain" "Threads with pread and pwrite.",
    }
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
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
    /// Between a database and its mirror.
    pub wire: Wire,
    /// What a mirror catches up over behind an outage; none for that wire.
    pub resync: Option<Wire>,
    /// How long one of both may say nothing before the other goes on without it.
    pub patience: Nanos,
    /// Which server of a pair sessions go to.
    pub spread: Spread,
    /// Processors that each private server may use; none for all of the machine.
    pub cores: Option<f64>,
}

units::words! {
    /// What is done about the checkpoints of a database's server, and what they do to the measured window.
    #[derive(Default)]
    pub enum Checkpoints {
        #[default]
        Cycles = "cycles" "One is forced before the warm-up; a window that holds whole cycles of them is cut to these.",
        Force = "force" "One is forced before the warm-up; the window stays as it was asked for.",
        Leave = "leave" "None is forced; the window stays as it was asked for.",
    }
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

units::words! {
    /// What the page cache holds of the modules at the start of a trial.
    #[derive(Default)]
    pub enum Cache {
        #[default]
        AsLeft = "as-left" "Whatever the last trial left.",
        Cold = "cold" "Nothing: dropped before the trial.",
        Warm = "warm" "All that fits: read once before the trial.",
    }
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

    /// What comes by the clock so seldom that the measured window holds one at most, in sentences with the next step.
    pub fn seldom(&self) -> Vec<String> {
        let window = self.phases.measure;
        let words = |clocked: &Clocked, of: &str| {
            let (name, every) = (clocked.name, duration(clocked.every));
            let longer = format!("take measure={}s", 2 * clocked.every.0.div_ceil(1_000_000_000));
            let key = clocked.key.filter(|_| window >= Nanos::from_secs(2));
            let oftener = key.map(|key| format!(" or {key}={}s", window.0 / 2_000_000_000)).unwrap_or_default();
            let window = duration(window);
            format!(
                "{name} of `{of}` come every {every}, and the window of {window} holds one at most: {longer}{oftener}"
            )
        };
        let streams = self.streams.iter().zip(&self.label.streams).filter(|_| !self.phases.fixed_work);
        let told = streams.flat_map(|(stream, label)| {
            let clock = stream.clock().into_iter().filter(|clocked| clocked.every > window);
            clock.map(|clocked| words(&clocked, &label.name)).collect::<Vec<_>>()
        });
        told.collect()
    }

    /// The same of a window that ended with its jobs after so long, where the planned one would have held more.
    pub fn seldom_beside_jobs(&self, lasted: Nanos) -> Vec<String> {
        let words = |(clocked, of): (Clocked, &str)| {
            let (name, every) = (clocked.name, duration(clocked.every));
            let oftener = clocked.key.map(|key| format!(", or take a shorter `{key}`")).unwrap_or_default();
            format!(
                "the jobs were over after {}, and {name} of `{of}` come every {every}: whether one fell into that time decides what \
                 is told of the work beside them; give the jobs more to do{oftener}",
                duration(lasted)
            )
        };
        let streams = self.streams.iter().zip(&self.label.streams);
        let clocks =
            streams.flat_map(|(stream, label)| stream.clock().into_iter().map(|clocked| (clocked, &*label.name)));
        clocks
            .filter(|(clocked, _)| lasted < clocked.every && clocked.every <= self.phases.measure)
            .map(words)
            .collect()
    }

    /// Whether any stream changes data.
    pub fn writes(&self) -> bool {
        self.streams.iter().any(|stream| stream.writes())
    }

    /// Whether every write is noted, so that reads can be held against it.
    pub fn watched(&self) -> bool {
        self.streams.iter().any(Stream::validates) || self.read_back() > Bytes(0)
    }

    /// How much of each module, from its start, is read back and checked when the trial has ended: the range that its streams
    /// write to, where one of them asks for that.
    pub fn read_back(&self) -> Bytes {
        let asks = |stream: &Stream| stream.operations().is_some_and(|operations| operations.access.verify);
        let written = |spec: &block::Spec| Bytes(spec.usable(self.module_bytes).0 + spec.origin().0);
        let writing = self.streams.iter().filter(|stream| stream.writes()).filter_map(Stream::block);
        let all = writing.map(written).max().unwrap_or_default();
        if self.streams.iter().any(asks) { all } else { Bytes(0) }
    }

    /// The same of all its modules together.
    pub fn read_back_in_all(&self) -> Bytes {
        Bytes(self.read_back().0.saturating_mul(u64::from(self.modules)))
    }
}

impl Stream {
    /// How many operations may be outstanding at once.
    pub fn slots(&self) -> u32 {
        match self.load {
            LoadSpec::Closed { slots, .. } | LoadSpec::Open { slots, .. } => slots,
        }
    }

    /// Its operations; none of a stream of transactions.
    pub fn operations(&self) -> Option<&Operations> {
        if let Work::Operations(operations) = &self.work { Some(operations) } else { None }
    }

    /// The same, to be changed.
    pub fn operations_mut(&mut self) -> Option<&mut Operations> {
        if let Work::Operations(operations) = &mut self.work { Some(operations) } else { None }
    }

    /// Its transactions with the sessions that carry them; none of a stream of operations.
    pub fn transactions(&self) -> Option<(&dyn Transactions, &Pool)> {
        if let Work::Transactions { asked, pool } = &self.work { Some((asked.as_ref(), pool)) } else { None }
    }

    /// What of its transactions comes by the clock.
    pub fn clock(&self) -> Vec<Clocked> {
        self.transactions().map_or_else(Vec::new, |(asked, _)| asked.clock())
    }

    /// Sessions that carry its transactions: those of its pool, and one for what comes by the clock.
    pub fn sessions(&self) -> u32 {
        self.transactions().map_or(0, |(_, pool)| pool.sessions) + u32::from(!self.clock().is_empty())
    }

    /// Operations or transactions after which it ends, where nothing but its work says so; work on files has its own.
    pub fn work(&self) -> Option<u64> {
        match &self.work {
            Work::Operations(operations) => operations.count,
            Work::Transactions { asked, .. } => asked.work(),
        }
    }

    /// What its whole job gives those who ask for it, where it is one that ends and gives anything.
    pub fn amount(&self) -> Option<u64> {
        self.transactions()?.0.amount()
    }

    /// Its work on blocks, if that is what it does.
    pub fn block(&self) -> Option<&block::Spec> {
        if let Storage::Block(spec) = &self.operations()?.of { Some(spec) } else { None }
    }

    /// Its work on files, if that is what it does.
    pub fn files(&self) -> Option<&files::Spec> {
        if let Storage::Files(spec) = &self.operations()?.of { Some(spec) } else { None }
    }

    /// Its classes, by place.
    pub fn classes(&self) -> Vec<Class> {
        match &self.work {
            Work::Operations(operations) => operations.of.classes(),
            Work::Transactions { asked, .. } => asked.classes(),
        }
    }

    /// Whether it changes data.
    pub fn writes(&self) -> bool {
        self.operations().is_none_or(|operations| operations.of.writes())
    }

    /// Whether its reads are checked.
    pub fn validates(&self) -> bool {
        self.operations().is_some_and(|operations| operations.access.validate)
    }
}
