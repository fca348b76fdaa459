//! All that was seen while a trial ran.

use crate::{Account, Cell, Check, Mishap, Probe};
use units::Nanos;

crate::words! {
    /// Where numbers come from. Charts and tables never draw two of these alike.
    #[derive(Default)]
    pub enum Provenance {
        #[default]
        Measured = "measured" "An engine loaded a real system.",
        Simulated = "simulated" "A model ran in virtual time, or a scripted system answered on a simulated clock.",
        Imported = "imported" "Another tool's output was read.",
        Published = "published" "A published table was read.",
    }
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
    /// What was read, in the unit of its name.
    pub probe: Probe,
    /// Reading times on the trial's clock, and the value over the time since the reading before.
    pub points: Vec<(Nanos, f64)>,
}

crate::words! {
    /// What kind of event.
    pub enum EventKind {
        Phase = "phase" "A phase began.",
        Pause = "pause" "The clock or the whole machine paused.",
        Damage = "damage" "Damage was found in the data.",
        Failure = "failure" "An operation failed.",
        Change = "change" "Something happened to the system that the study asked for.",
        Backlog = "backlog" "Work that comes by the clock did not end in time.",
        Held = "held" "Sessions waited long for a lock that somebody held.",
        Plan = "plan" "How a statement is planned: its name, and the steps in the lines behind.",
        Replanned = "replanned" "The plan of a statement is another one than before.",
        Parted = "parted" "Both servers of a pair have a network of their own each.",
        Doubt = "doubt" "Why figures of the trial may say less than they seem to.",
        Note = "note" "Something else that a reader should see on the time axis.",
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
    /// What went wrong, counted by kind.
    pub mishaps: Vec<Mishap>,
    /// What checks of the data found.
    pub checks: Vec<Check>,
}

impl Observations {
    /// The readings of a probe; none where it was not observed.
    pub fn series_of(&self, probe: &Probe) -> Option<&Series> {
        self.series.iter().find(|series| series.probe == *probe)
    }

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
}
