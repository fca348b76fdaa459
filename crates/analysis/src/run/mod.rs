//! The trials of a run together: points, and what is concluded from them.

mod answer;
mod doubts;
mod judge;
mod metric;
mod point;
mod select;

pub use judge::judge;
