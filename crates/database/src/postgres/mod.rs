//! PostgreSQL: our own session over the wire protocol.
//!
//! The one idea: [`Wire`] is one conversation as a pure state machine (bytes in, bytes out, no I/O), so that a blocking
//! stream and a ring that serves many sessions drive the same code. Messages of the start and of authentication come from
//! the crate `postgres-protocol`; what runs a million times a minute is written here, without a copy or an allocation
//! beyond the texts of answers.
//!
//! What it does not do: it changes no SQL (that is the dialect's business), and it retries nothing.

mod address;
mod authentication;
mod connect;
mod copy;
mod costs;
mod counters;
mod database;
mod decode;
mod encode;
mod failure;
mod fields;
mod message;
mod session;
mod standing;
mod stream;
#[cfg(test)]
mod tests;
mod tls;
mod wire;

pub use address::{Connect, Host, Tls};
pub use counters::{counters, force_checkpoint};
pub use database::{Postgres, open};
pub use session::PostgresSession;
pub use stream::RawStream;
pub use wire::{Progress, Wire};
