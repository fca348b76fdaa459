//! Transactions without I/O: what a workload says to a database, and what it hears back.
//!
//! The one idea: a transaction is a step machine. It writes calls into a [`Batch`], somebody carries them out, and it is
//! stepped again with the [`Answers`]. So the same transaction runs on every engine, on a script, and in a test.
//!
//! What it does not do: it knows no connection, no dialect and no clock. Texts of statements are portable SQL with `$1`
//! for the first parameter; an engine's own text is the business of whoever carries the calls out.

mod answers;
mod batch;
mod business;
pub(crate) mod texts;
mod value;

pub use answers::{Answer, Answers, Names, Sample, Turn};
pub(crate) use batch::Ask;
pub use batch::{Batch, Call, Statement};
pub use business::{Begun, Business, Caused, Ending, Step};
pub use value::Value;
