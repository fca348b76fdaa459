//! What a trial recorded, before anybody judged it.
//!
//! The one idea: the engine on a real system and the model in virtual time produce the same [`Observations`], and
//! nothing downstream can tell which of the two it was given, but by the [`Provenance`] that is printed beside every
//! number. Observations are never edited after the trial; every later window is cut from the cells kept here.
//!
//! What it does not do: it measures nothing, stores nothing and judges nothing.

mod bucket;
mod cell;
mod histogram;
mod run;
mod trial;

pub use bucket::{BUCKET_COUNT, bucket_high, bucket_index, bucket_low, bucket_middle};
pub use cell::{Account, Cell, CellKey, CellSource, Tally};
pub use histogram::{Entries, Histogram};
pub use run::{Ceiling, Fact, Footprint, RunFacts, SystemFacts};
pub use trial::{
    ClassKind, CpuTime, Event, EventKind, Factor, Level, Observations, Provenance, Series, StreamLabel, TrialLabel,
    Window,
};
