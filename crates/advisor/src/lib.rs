//! Which tables and indexes belong on the fast tier: from counters of a server to a ranked list, a curve and a plan.
//!
//! The one idea: an object's gain is the time that sessions would wait less for storage if it lay on the fast tier. Objects are
//! ranked by gain for each byte; how much is saved by the first of them is the sweet-spot curve, and "nothing is gained" is one
//! of the answers.
//!
//! Beside it, [`assess`] says of the same server what a synchronous mirror would cost it.
//!
//! What it does not do: it asks no server and moves nothing; it takes what was counted and says what follows.

mod advice;
pub mod assess;
mod balance;
mod choice;
mod cost;
mod curve;
mod gain;
mod object;
mod reach;
mod rival;

pub use advice::{Advice, Answer, Reason, advise};
pub use balance::{Balancer, Decided, Decision, Left, Rules, Why};
pub use choice::chosen;
pub use cost::{Cost, How, Move, moves};
pub use curve::{Band, Curve, Point};
pub use gain::{Gain, Tiers, Times};
pub use object::{Counts, Described, Kind, Look, Object, observed};
pub use reach::{Reach, Way};
pub use rival::{Rival, placed, rivals};

/// Bytes of a block: PostgreSQL's own, and what one read of a tier is taken for.
pub const BLOCK: f64 = 8192.0;
