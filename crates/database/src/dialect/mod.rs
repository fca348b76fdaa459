//! What differs between engines in text: parameters, locks in statements, definitions of tables, transaction control.
//!
//! The one idea: a workload writes portable SQL once; here it becomes the engine's own, before anything is measured.
//!
//! What it does not do: it talks to no database. Identifiers in a workload's statements are left as they are: all names
//! of our tables are words that the three engines accept unquoted.

mod control;
mod definitions;
mod fingerprint;
mod literal;
mod scan;
mod texts;
mod upsert;

pub use control::{BEGIN, COMMIT, ROLLBACK, begin, isolation, whole_tables};
pub use definitions::{Definitions, quoted};
pub use fingerprint::fingerprint;
pub use literal::literal;
pub use texts::{Text, Texts};
