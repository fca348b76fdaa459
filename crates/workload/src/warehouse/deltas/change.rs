//! A change of orders in the source, in a transaction of its own, as users of the source make it.
//!
//! What it does not do: nothing of the warehouse is touched but the list of deltas that are to be loaded.

use super::Delta;
use super::texts::Said;
use crate::transaction::texts::say;
use crate::transaction::{Answers, Batch, Step, Value};

/// A change under way.
#[derive(Clone, Copy, Debug)]
pub(in crate::warehouse) struct Change {
    pub(in crate::warehouse) delta: Delta,
    stream: u64,
    sent: u32,
}

impl Change {
    pub(in crate::warehouse) fn new(delta: Delta, stream: u64) -> Change {
        Change { delta, stream, sent: 0 }
    }

    pub(in crate::warehouse) fn restart(&mut self) {
        self.sent = 0;
    }

    pub(in crate::warehouse) fn step(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        let delta = &self.delta;
        let numbers = |numbers: [i64; 3]| numbers.map(Value::Int);
        match self.sent {
            0 => {
                batch.begin(true);
                let (stream, cube) = (self.stream as i64, delta.cube as i64 + 1);
                let row = [delta.id, stream, cube, delta.first_order, delta.orders, delta.day, delta.moment];
                say(batch, Said::InsertDelta, row.map(Value::Int));
                let end = delta.first_order + delta.orders;
                say(batch, Said::ChangeOrders, numbers([delta.id, delta.first_order, end]));
            }
            1 if answers.last().changed != delta.orders as u64 => return Step::Fail,
            1 => batch.commit(),
            _ => return Step::Done { rolled_back: false },
        }
        self.sent += 1;
        Step::Send
    }

    pub(in crate::warehouse) fn complaint(&self) -> String {
        let (first, last) = (self.delta.first_order, self.delta.first_order + self.delta.orders - 1);
        format!("source orders {first} to {last} are not all there")
    }
}
