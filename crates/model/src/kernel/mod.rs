//! The event kernel: what happens when, and what repeated simulations say together.

mod agenda;
mod replicate;

pub use agenda::Agenda;
pub use replicate::{Estimate, across, of_batches};
