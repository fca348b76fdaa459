//! A bank's day: postings, orders and questions of users, with payment runs and standing orders beside them.
//!
//! The one idea: whatever is posted goes one way. All accounts of an order are locked in the order of their numbers, the payer's
//! limit is checked, and then the order and its items are written; so nothing waits in a circle, and an order that is over the
//! limit is kept as rejected.
//!
//! What it does not do: a period that the night has settled stays settled; nothing is posted with a value date in it.

mod business;
mod choose;
mod mix;
mod post;
mod reads;
mod spec;
mod statements;
mod workload;

pub use business::Day;
pub use mix::{MIXES, classes};
pub use spec::{KEYS, Spec, read};
pub use statements::{samples, statements};
