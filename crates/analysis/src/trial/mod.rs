//! One trial reduced to figures: each file is one question to its observations.

mod books;
mod bound;
mod caveats;
mod checkpoints;
mod cut;
mod generator;
mod interrupted;
pub(crate) mod latency;
mod loads;
mod machine;
mod mix;
mod outcome;
mod pair_course;
mod server;
mod stall;
mod statements;
mod steady;
mod summarise;
mod sustained;
mod timeline;
pub(crate) mod uncertainty;
mod working_set;

pub use bound::bound;
pub(crate) use bound::busy_with_others;
pub use caveats::{ROOM, measure_of, more_work};
pub(crate) use generator::starved;
pub use interrupted::summarise_interrupted;
pub use mix::MIX_TOLERANCE;
pub use outcome::outcome;
pub use summarise::summarise_from;
pub use sustained::STEP_ALPHA;
pub use working_set::fits;

#[cfg(test)]
mod checkpoints_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod transactions_tests;
