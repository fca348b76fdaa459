//! What repeated simulations say together, for the tests of stations and machines.

mod replicate;

pub(crate) use replicate::{across, of_batches};
