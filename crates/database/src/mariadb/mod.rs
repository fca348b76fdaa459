//! MariaDB, and MySQL by the same protocol: where a server is, sessions on it, bulk loads and its counters.
//!
//! The one idea: the protocol is a library's; what is ours is the meaning of it, that is, values that are the same on every
//! engine and failures that say whether a transaction may be tried again.
//!
//! What it does not do: it starts no server (that is `server`), and it translates no portable SQL beyond the places of
//! parameters (that is the dialect).

mod checkpoint;
mod costs;
mod counters;
mod database;
mod failure;
mod line;
mod load;
mod place;
mod session;
mod standing;
mod value;

#[cfg(test)]
mod tests;

pub use counters::counters;
pub use database::open;
pub use place::{Place, Tls};
pub use session::MariadbSession;
