//! MariaDB, and MySQL by the same protocol: where a server is, sessions on it, bulk loads and its counters.
//!
//! The one idea: the way in ([`Entrance`]) and the conversation behind it ([`MariadbWire`]) are machines without I/O; a session is a
//! stream around them.
//!
//! What it does not do: it starts no server (that is `server`), and it translates no portable SQL beyond the places of
//! parameters (that is the dialect).

mod authentication;
mod checkpoint;
mod connect;
mod costs;
mod counters;
mod database;
mod entrance;
mod failure;
mod load;
mod packet;
mod place;
mod scripts;
mod session;
mod standing;
mod wire;

#[cfg(test)]
mod tests;

pub use counters::counters;
pub(crate) use counters::status;
pub use database::{known, open};
pub use entrance::{Entrance, Next};
pub use place::{Place, Tls};
pub use session::MariadbSession;
pub use wire::MariadbWire;
