//! JSON for programs: plain numbers in the units that the names say, every key always there.
//!
//! The one idea: the form is a contract, written down in `docs/schema/` and held by tests. What is not known is `null`,
//! never left out and never zero, so that a reader needs no second guess about a missing key.
//!
//! What it does not do: it formats no number for people, and it is not the saved form of a run.

mod finding;
mod programs;
mod run;
mod server;
mod trial;
mod value;

pub use programs::{ListedRun, ceiling_json, check_json, list_json, plan_json, studies_json};
pub(crate) use run::kinds;
pub use run::{compare_json, json};
