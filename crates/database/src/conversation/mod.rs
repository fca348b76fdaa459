//! A conversation with a PostgreSQL as a pure state machine: bytes in, bytes out, no I/O.
//!
//! The one idea: a blocking stream and a ring that serves many sessions drive the same code. What runs a million times a
//! minute is written here, without a copy or an allocation beyond the texts of answers.
//!
//! What it does not do: it opens nothing and authenticates nobody; see [`crate::postgres`].

mod decode;
mod encode;
mod failure;
mod fields;
mod message;
mod wire;

pub(crate) use decode::Kind;
pub(crate) use failure::Said;
pub(crate) use fields::Fields;
pub(crate) use message::{Front, front};
pub use wire::{Progress, Wire};
