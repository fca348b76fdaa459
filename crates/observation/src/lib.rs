//! What a trial recorded, before anybody judged it.
//!
//! The one idea: the engine on a real system and the model in virtual time produce the same [`Observations`], and
//! nothing downstream can tell which of the two it was given, but by the [`Provenance`] that is printed beside every
//! number. Observations are never edited after the trial; every later window is cut from the cells kept here.
//!
//! What it does not do: it measures nothing, stores nothing and judges nothing.

mod bucket;
mod ceiling;
mod cell;
mod check;
mod counter;
mod histogram;
mod label;
mod places;
mod probe;
mod run;
mod state;
mod trial;

pub use bucket::{BUCKET_COUNT, BUCKET_WIDTH, bucket_high, bucket_index, bucket_low, bucket_middle};
pub use ceiling::{Alone, Carrier, Ceiling, CeilingUnit, DriverCost, ModelCeiling};
pub use cell::{Account, Cell, CellKey, CellSource, Tally};
pub use check::{Check, CheckKind, CheckMoment, CheckResult, Ledger, Mishap, TrialCheck};
pub use counter::{Counted, Counter};
pub use histogram::{Entries, Histogram};
pub use label::{
    Asks, BY_THE_TRACE, ClassKind, Factor, Gives, Level, Point, READ, SYSTEMS_MAX, StreamLabel, TRIALS_MAX, TrialLabel,
    factor, level_of,
};
pub use places::Places;
pub use probe::{COMMIT, MirrorState, OfCore, OfDisk, OfStatement, OfThreads, Probe, Resource, Spent, Stalled, Whole};
pub use run::{
    DiskKind, Fact, Footprint, NOT_OBSERVED, OVER_SOCKET, Reached, RunFacts, SystemFacts, SystemKind, URING_REFUSED,
};
pub use state::{PlainState, SearchGoal, Searched, StatePart, StatePolicy};
pub use trial::{CpuTime, Event, EventKind, Observations, Provenance, Series, Window};
pub use units::words;
