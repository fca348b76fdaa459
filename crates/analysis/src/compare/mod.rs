//! One system against another: pairs, the test on them, how many are needed, and many comparisons at once.

mod added;
mod beside;
mod comparisons;
mod cores;
mod footprint;
mod group_commit;
mod mirrors;
mod paired_test;
mod pairs;
mod runs;
#[path = "tests/same_against_same.rs"]
#[cfg(test)]
mod same_against_same;
mod session_loop;
mod sessions;
mod tiers;

pub use beside::besides;
pub use comparisons::comparisons;
pub use footprint::footprints;
pub use mirrors::{SPREAD, mirrors};
pub use pairs::Pair;
pub use runs::{BetweenRuns, compare_runs};
pub use tiers::tiers;
