//! Databases: sessions, dialects, private local servers, data sets and their checks. The only database clients.
//!
//! The one idea: everybody else sees a database through [`Session`]: batches go in, answers or one failure come out. What
//! differs between engines (texts, types, bulk roads, servers) stays in this room.
//!
//! What it does not do: it generates no load and measures no time.

mod session;

pub use session::{Failure, FailureKind, Rows, Session};
