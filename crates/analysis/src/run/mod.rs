//! The trials of a run together: points, and what is concluded from them.

mod answer;
mod doubts;
mod judge;
mod metric;
mod point;
mod select;
mod threshold;

pub use judge::judge;
pub use metric::{own_estimate, scaled};
#[cfg(test)]
pub(crate) use point::groups;
pub use point::{Group, factors_of};
pub use select::{same_factors, selects};

#[cfg(test)]
pub(crate) mod tests;
