//! Order entry: a wholesaler's depots take orders, payments and deliveries, in five transactions.
//!
//! The one idea: the shape of load that people know from order-entry benchmarks (a counter of each district, stock that many orders want,
//! a queue that deliveries empty), with tables, statements and a mix of our own, of whose statements three in five read and two change.
//!
//! What it does not do: it is no official benchmark, and none of its results is a result of one.

mod business;
pub mod data_set;
mod house;
mod mix;
mod statements;
#[cfg(test)]
mod tests;
mod workload;

pub use house::House;
pub use mix::{MIXES, classes};

use reading::key::Count;
use reading::{Settings, keys};

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    /// Depots of the wholesaler, each with 10 districts of 300 customers and a stock of 10,000 articles: about 7 MB.
    /// Orders of one district wait for each other, and so do payments at one depot.
    DEPOTS "depots": Count = Count { min: 2, max: 100_000 }, Is("10");
}

/// The workload that these settings ask for.
pub fn read(settings: &mut dyn Settings) -> House {
    House { depots: settings.get(&DEPOTS) }
}
