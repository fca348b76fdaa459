//! What conversations with servers have in common, whichever protocol they speak.
//!
//! The one idea: a protocol is a pure state machine ([`Wire`]): bytes in, bytes out, no I/O. A blocking stream ([`Blocking`]) and a
//! ring that serves many sessions drive the same code. What runs a million times a minute is written there, without a copy or an
//! allocation beyond the texts of answers.
//!
//! What it does not do: it knows no protocol and authenticates nobody; see [`crate::postgres`] and [`crate::mariadb`].

mod blocking;
mod common_name;
mod fields;
mod stream;
pub(crate) mod tls;
mod wire;

pub(crate) use blocking::{Blocking, lost};
pub(crate) use fields::Fields;
pub(crate) use stream::{RawStream, Stream, reach};
pub use wire::{Progress, Wire};
