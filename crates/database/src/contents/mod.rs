//! What data sets hold, as values, and the mark by which one is known again.
//!
//! What it does not do: it asks no database; filling, checking and dropping are matters of [`crate::dataset`].

mod content;
pub(crate) mod mark;
mod set;

pub use content::Table;
pub use mark::{Found, Mark, State};
pub use set::DataSet;
