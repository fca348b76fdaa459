//! Whether a live database is ready for a synchronous mirror, and what that will cost.
//!
//! The one idea: what was seen over a window says how often a mirror will be waited for; the distance says for how long; the rest
//! follows by laws. Every figure has an interval, and says what it rests on.
//!
//! What it does not do: it asks no server and builds no pair.

mod change;
mod mix;
mod predict;
mod seen;
mod span;
#[cfg(test)]
mod tests;
mod together;

pub use change::{Change, LeftOut, Obstacle};
pub use mix::{Caller, Class, Done, Mix};
pub use predict::{FIBRE_S_PER_KM, FlushFrom, HANDLING, Home, Kind, Pair, Prediction, TARGET};
pub use seen::{Doing, Kept, Machine, Rows, Sample, Seen, Session, Statement, Table, Tally, Total, Wait};
pub use span::Span;

/// Everything that is said of a window.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// What the work is made of.
    pub mix: Mix,
    /// What a mirror will cost.
    pub prediction: Prediction,
    /// What to change first, with what it is worth.
    pub changes: Vec<Change>,
    /// What to leave out of the mirror.
    pub left_out: Vec<LeftOut>,
    /// What stands in the way.
    pub obstacles: Vec<Obstacle>,
}

/// Judges what was seen, for such a pair.
pub fn assess(seen: &Seen, pair: &Pair) -> Assessment {
    let mix = Mix::of(seen);
    let prediction = predict::predict(seen, &mix, pair);
    let changes = change::changes(seen, &mix, pair, &prediction);
    let left_out = change::left_out(seen, &mix);
    let obstacles = change::obstacles(seen, &mix, pair);
    Assessment { mix, prediction, changes, left_out, obstacles }
}
