//! The load generator: one pure state machine that says when which operation is due.
//!
//! The one idea: the same code runs under wall time and under virtual time. A driver asks [`Load::next`] what to do
//! now, and tells [`Load::completed`] what ended; the machine never looks at a clock, never sleeps and never allocates
//! after it is built. Operation `n` of a stream is a function of its seed and of `n`, and a backlog is a place in a schedule, so
//! nothing is stored for each arrival.
//!
//! What it does not do: it knows no I/O, no workload and no thread.

mod clocked;
mod closed;
#[path = "tests/interleaved.rs"]
#[cfg(all(test, shuttle))]
mod interleaved;
mod machine;
mod one_queue;
mod open;
mod queue;
mod schedule;
mod spec;
mod watch;

pub use clocked::{Beat, CLOCKED, Clocked, Kept, clocked};
pub use closed::Closed;
pub use machine::{Arrival, Books, Load, Machine, Next, SPAWNED, Unissued, divided, whole};
pub use one_queue::Shared;
pub use open::Open;
pub use spec::{Arrivals, Limit, Pacing, Ramp, Spec, Think};
