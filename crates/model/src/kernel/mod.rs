//! The event kernel: what happens when, chance, and what repeated simulations say together.

mod agenda;
mod random;
mod replicate;

pub use agenda::Agenda;
pub use random::Random;
pub use replicate::{Estimate, across, of_batches};
