//! PostgreSQL: our own session over the wire protocol.
//!
//! The one idea: a session is a stream around a conversation, which is a pure state machine ([`PostgresWire`]). Messages of the start
//! and of authentication come from the crate `postgres-protocol`.
//!
//! What it does not do: it changes no SQL (that is the dialect's business), and it retries nothing.

mod address;
mod authentication;
mod connect;
mod copy;
mod costs;
mod counters;
mod database;
mod layout;
mod passfile;
mod scripts;
mod session;
mod standing;
#[cfg(test)]
mod tests;
pub(crate) mod two_phase;
mod wire;

pub(crate) use address::Connect;
use counters::counters;
pub(crate) use database::here;
pub use database::{known, open};
pub(crate) use session::PostgresSession;
pub use wire::PostgresWire;
