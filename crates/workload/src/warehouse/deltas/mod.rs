//! Deltas: orders that were changed in the source, on their way into a cube.
//!
//! The one idea: a delta is a number from which its cube, its orders and its day follow. Its change is committed in the source
//! first; its load activates what was changed, writes facts, rolls up aggregates and notes in the same transaction that
//! it did, so that it is there as a whole and once, whoever is killed when.
//!
//! What it does not do: it draws nothing, and knows no clock but the moments that it is handed.

mod load;
mod streams;
mod texts;

pub(super) use load::{Change, Load};
pub(super) use streams::{Errand, Streams, Unclaimed};
pub(super) use texts::{delta_samples, delta_statements};

use super::scale::{CUBES, DAYS, FIRST_LOADED, NUMBERS_A_DELTA, RECENT_DAYS, STREAMS, Scale};

/// A delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Delta {
    pub(super) id: i64,
    pub(super) cube: u64,
    pub(super) first_order: i64,
    pub(super) orders: i64,
    pub(super) day: i64,
    /// When its orders were changed, in microseconds of the trial's clock.
    pub(super) moment: i64,
}

impl Delta {
    /// Delta `nth` (from 0) of a stream in a trial before which the greatest number was `before`.
    pub(super) fn nth(scale: &Scale, asked: u64, stream: u64, nth: u64, before: u64) -> Delta {
        let id = before + 1 + nth * STREAMS + stream;
        let cubes = CUBES.len() as u64;
        let cube = (nth + stream * STREAMS) % cubes;
        let orders = scale.delta(asked);
        // From one round over all cubes to the next other orders are changed.
        let block = id / (STREAMS * cubes) % (scale.orders_a_share() / orders);
        Delta {
            id: id as i64,
            cube,
            first_order: (scale.first_order(stream, cube) + block * orders) as i64,
            orders: orders as i64,
            day: (DAYS - id % RECENT_DAYS) as i64,
            moment: 0,
        }
    }

    /// What is added to an order's number to get that of its row.
    fn offset(&self) -> i64 {
        FIRST_LOADED + self.id * NUMBERS_A_DELTA - self.first_order
    }
}
