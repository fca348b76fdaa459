//! One trial: what it was, and all that was seen while it ran.

use crate::{Account, Cell, Histogram};
use units::{Nanos, PerSecond};

/// Where numbers come from. Charts and tables never draw two of these alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Provenance {
    /// An engine loaded a real system.
    #[default]
    Measured,
    /// A model ran in virtual time, or a scripted system answered on a simulated clock.
    Simulated,
    /// Another tool's output was read.
    Imported,
    /// A published table was read.
    Published,
}

impl Provenance {
    /// The word that stands in files and reports.
    pub fn word(self) -> &'static str {
        match self {
            Provenance::Measured => "measured",
            Provenance::Simulated => "simulated",
            Provenance::Imported => "imported",
            Provenance::Published => "published",
        }
    }
}

/// The value of a factor: a number in base units (bytes, seconds, shares, counts) or a word.
#[derive(Clone, Debug, PartialEq)]
pub enum Level {
    /// A number; `text` is how the study wrote it.
    Number {
        /// In base units: bytes, seconds, shares of 1, operations a second, or a count.
        value: f64,
        /// As written, for people: `4 KiB`.
        text: String,
    },
    /// A word, such as `never` or `cold`.
    Word(String),
}

impl Level {
    /// How people read it.
    pub fn text(&self) -> &str {
        match self {
            Level::Number { text, .. } => text,
            Level::Word(word) => word,
        }
    }

    /// The number in base units, when it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Level::Number { value, .. } => Some(*value),
            Level::Word(_) => None,
        }
    }
}

/// A factor with the level that a trial has.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// The key as used in `--set`.
    pub name: String,
    /// The value in this trial.
    pub level: Level,
}

/// What kind of work a class is: whether it moves data decides whether it counts as throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClassKind {
    /// Counts as throughput.
    Work,
    /// Housekeeping of the workload (a data sync); reported, not counted as throughput.
    Upkeep,
}

/// What one stream of a trial was asked to do, as far as analysis and report need it.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamLabel {
    /// Name of the stream; the workload's name when the experiment has one stream.
    pub name: String,
    /// Name of the workload.
    pub workload: String,
    /// The load in words: `closed, 32 outstanding`.
    pub load: String,
    /// Outstanding operations or sessions of a closed load, all modules together; none when open.
    pub slots: Option<u32>,
    /// Mean think time of a closed load.
    pub think_mean: Nanos,
    /// The rate that an open load asks for; none when closed.
    pub offered: Option<PerSecond>,
    /// Names of the workload's classes with what they are; cells point here.
    pub classes: Vec<(String, ClassKind)>,
}

/// Which trial this is: enough to group, order and name it without the study.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialLabel {
    /// Place in the order of execution, from 0.
    pub index: u32,
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the system.
    pub system: String,
    /// Which repeat, from 0.
    pub replicate: u32,
    /// Which randomised block; systems alternate inside a block.
    pub block: u32,
    /// Factors in the order in which the study declares them.
    pub factors: Vec<Factor>,
    /// The streams that ran together.
    pub streams: Vec<StreamLabel>,
    /// The state policy in words, as the report shows it.
    pub state: String,
    /// What a search was probing for, when a search planned this trial.
    pub search: Option<String>,
}

/// A span on the trial's clock: from `start` up to, not including, `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// First moment inside.
    pub start: Nanos,
    /// First moment after.
    pub end: Nanos,
}

impl Window {
    /// How long it is.
    pub fn length(&self) -> Nanos {
        self.end.saturating_sub(self.start)
    }

    /// How much of the span from `from` to `to` lies inside.
    #[inline]
    pub fn overlap(&self, from: Nanos, to: Nanos) -> Nanos {
        to.min(self.end).saturating_sub(from.max(self.start))
    }

    /// Whether `at` lies inside.
    #[inline]
    pub fn contains(&self, at: Nanos) -> bool {
        self.start <= at && at < self.end
    }
}

/// User and system CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuTime {
    /// In user mode, seconds.
    pub user_s: f64,
    /// In the kernel on behalf of the process, seconds.
    pub system_s: f64,
}

impl CpuTime {
    /// Both together, seconds.
    pub fn total_s(&self) -> f64 {
        self.user_s + self.system_s
    }
}

/// One probe's readings. What was not observed has no series; zero means that zero was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Dotted name: `machine.cpu.iowait`, `disk.vda.utilisation`, `generator.cpu.user`.
    pub probe: String,
    /// Unit of the values: `share`, `1/s`, `B/s`, `ms`, `B`, `cores`.
    pub unit: String,
    /// Reading times on the trial's clock, and the value over the time since the reading before.
    pub points: Vec<(Nanos, f64)>,
}

/// What kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A phase began.
    Phase,
    /// The clock or the whole machine paused.
    Pause,
    /// Damage was found in the data.
    Damage,
    /// An operation failed.
    Failure,
    /// Something else that a reader should see on the time axis.
    Note,
}

impl EventKind {
    /// The word that stands in files and reports.
    pub fn word(self) -> &'static str {
        match self {
            EventKind::Phase => "phase",
            EventKind::Pause => "pause",
            EventKind::Damage => "damage",
            EventKind::Failure => "failure",
            EventKind::Note => "note",
        }
    }
}

/// Something that happened at a moment of the trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// On the trial's clock.
    pub at: Nanos,
    /// What kind.
    pub kind: EventKind,
    /// In words.
    pub text: String,
}

/// All that one trial recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observations {
    /// Where the numbers come from.
    pub provenance: Provenance,
    /// Wall-clock start of the trial's clock, nanoseconds since 1970 in UTC.
    pub started_unix_ns: i64,
    /// The measured window on the trial's clock; what lies before is warm-up.
    pub window: Window,
    /// Length of an interval.
    pub interval: Nanos,
    /// Names of the endpoints that cells point to.
    pub endpoints: Vec<String>,
    /// How many workers the generator had.
    pub generators: u16,
    /// Everything by interval; order is free, equal keys add up.
    pub cells: Vec<Cell>,
    /// One account a stream, all its classes and workers together.
    pub accounts: Vec<Account>,
    /// CPU of the generator's process in the measured window.
    pub generator_cpu: CpuTime,
    /// Seconds that the fixed work of the trial took, when the work and not the time was given.
    pub elapsed_s: Option<f64>,
    /// Reads that were checked against the stamps of what was written; 0 when none was.
    pub validated_reads: u64,
    /// Readings of the probes.
    pub series: Vec<Series>,
    /// What happened when.
    pub events: Vec<Event>,
}

impl Observations {
    /// All cells of a stream whose intended interval starts inside the measured window, merged.
    pub fn stream_total(&self, stream: u16) -> Cell {
        let mut total = Cell::default();
        for cell in self.window_cells().filter(|cell| cell.key.stream == stream) {
            total.merge(cell);
        }
        total
    }

    /// The cells of the measured window. The window begins and ends on interval borders.
    pub fn window_cells(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(|cell| self.window.contains(self.interval_start(cell.key.interval)))
    }

    /// When interval `index` begins on the trial's clock.
    pub fn interval_start(&self, index: u32) -> Nanos {
        Nanos(self.interval.0 * u64::from(index))
    }

    /// The response histogram of one stream and class over the measured window.
    pub fn class_response(&self, stream: u16, class: u16) -> Histogram {
        let mut total = Histogram::default();
        for cell in self.window_cells().filter(|c| c.key.stream == stream && c.key.class == class) {
            total.merge(&cell.response);
        }
        total
    }
}
