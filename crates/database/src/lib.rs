//! Databases: sessions, dialects, private local servers, data sets and their checks. The only database clients.
//!
//! The one idea: everybody else sees a database through [`Session`]: batches go in, answers or one failure come out. What
//! differs between engines (texts, types, bulk roads, servers) stays in this room.
//!
//! What it does not do: it generates no load and measures no time.

#[cfg(test)]
mod across;
#[cfg(test)]
mod certificates;
mod claim;
mod contents;
mod conversation;
pub mod cost;
#[cfg(test)]
mod cost_tests;
mod database;
pub mod dataset;
pub mod dialect;
mod error;
pub mod mariadb;
pub mod null;
mod open;
pub mod postgres;
pub mod procedures;
pub mod server;
mod session;
#[cfg(test)]
mod skip;
pub mod sqlite;

pub use claim::Claim;
pub use contents::{DataSet, Found, Mark};
pub use cost::{Pages, Profiling, StatementCost};
pub use database::{Database, Facts, OpenOptions};
pub use dialect::{Text, Texts, fingerprint};
pub use error::DatabaseError;
pub use open::open;
pub use session::{Failure, FailureKind, Rows, Session};
