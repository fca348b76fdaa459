//! The trials of a run together: points, and what is concluded from them.

mod answer;
mod caveats;
mod damage;
mod deadline;
mod felt;
mod judge;
mod outages;
mod pilot;
mod sustained;
mod threshold;
mod typical;

pub use judge::judge;

#[cfg(test)]
pub(crate) mod tests;
