//! Data sets: what they hold, where they are, how they are filled, recognised, checked and dropped.
//!
//! The one idea: a data set is a value (what it holds, how much, which seed), and its place carries a mark with that value. What
//! carries our mark and matches is reused, what carries it and was interrupted is begun anew, and what does not carry it is never
//! touched.
//!
//! What it does not do: it generates no rows and knows no invariant; those come from `workload`.

mod check;
mod crowd;
mod fill;
mod progress;
mod shape;
#[cfg(test)]
mod tests;

pub use crate::mark::{Found, Mark, State};
pub use check::{
    Asking, CheckOutcome, Depth, Since, added, check, check_added, check_database, checksums, fingerprint,
};
pub use fill::{Filled, Recognised, fill, found_broken, put_aside, recognise, use_up};
pub use progress::{Progress, Stage};
pub use workload::dataset::{DataSet, Table};
