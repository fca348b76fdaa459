//! The clock, the hot path from the end of an operation to the observations, and the request that keeps idle cores awake.
//!
//! The one idea: between two operations a worker reads a counter, adds to three histograms and compares with cached
//! borders, and does nothing else. Everything that allocates, sorts or sends is done elsewhere, once an interval.
//!
//! What it does not do: it runs no load, stores nothing and judges nothing.

mod awake;
mod clock;
mod collector;
mod dense;
mod drift;
mod hand_over;
#[path = "tests/interleaved.rs"]
#[cfg(all(test, shuttle))]
mod interleaved;
mod punctual;
mod recorder;

pub use awake::{Awake, Keeper, Vigil, kept_by};
pub use clock::{Clock, SimulatedClock, WallClock};
pub use collector::{Collector, Live};
pub use drift::{ClockCheck, ClockReading, ClockWatch};
pub use punctual::Lead;
pub use recorder::{Layout, Operation, Origin, Outcome, Recorder, Unbalanced};
