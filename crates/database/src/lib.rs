//! Databases: sessions, dialects, private local servers, data sets and their checks. The only database clients.
//!
//! The one idea: everybody else sees a database through [`Session`]: batches go in, answers or one failure come out. What
//! differs between engines (texts, types, bulk roads, servers) stays in this room.
//!
//! What it does not do: it generates no load and measures no time.

mod activity;
pub mod assess;
pub mod capture;
mod claim;
mod conversation;
pub mod cost;
mod database;
pub mod dataset;
pub mod dialect;
mod error;
mod limited;
pub mod mariadb;
mod mark;
pub mod null;
mod open;
mod opening;
mod plan;
pub mod postgres;
pub mod procedures;
pub mod server;
mod session;
pub mod sqlite;
#[cfg(test)]
mod tests;
pub mod tier;

pub use activity::{Doing, LOCK, activity, holder, is_commit};
pub use claim::Claim;
pub use conversation::{Progress, Wire};
pub use cost::{Pages, Profiling, StatementCost};
pub use database::{Conversation, Database, Facts, OpenOptions, Servers};
pub use dialect::{Text, Texts, fingerprint};
pub use error::DatabaseError;
pub use mark::{Found, Mark};
pub use open::{open, private_servers};
pub use plan::plan;
pub use session::{Cut, Failure, FailureKind, Session};
pub use workload::dataset::{DataSet, Rows};
