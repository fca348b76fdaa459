//! The trials of a run together: points, and what is concluded from them.

mod answer;
mod caveats;
mod judge;
mod metric;
mod point;
mod select;
mod threshold;

pub use judge::judge;
pub use metric::own_estimate;
pub use point::Group;
#[cfg(test)]
pub(crate) use point::groups;
pub use select::selects;

#[cfg(test)]
pub(crate) mod tests;
