//! A change of orders in the source, in a transaction of its own, as users of the source make it.
//!
//! What it does not do: nothing of the warehouse is touched but the list of deltas that are to be loaded. Whether all orders
//! were there is seen by the load.

use super::Delta;
use super::texts::Said;
use crate::transaction::texts::say;
use crate::transaction::{Batch, Step, Value};

/// A change under way.
#[derive(Clone, Copy, Debug)]
pub(in crate::warehouse) struct Change {
    pub(in crate::warehouse) delta: Delta,
    stream: u64,
    sent: bool,
}

impl Change {
    pub(in crate::warehouse) fn new(delta: Delta, stream: u64) -> Change {
        Change { delta, stream, sent: false }
    }

    pub(in crate::warehouse) fn restart(&mut self) {
        self.sent = false;
    }

    pub(in crate::warehouse) fn step(&mut self, batch: &mut Batch) -> Step {
        if std::mem::replace(&mut self.sent, true) {
            return Step::Done { rolled_back: false };
        }
        let Delta { id, cube, first_order, orders, day, moment } = self.delta;
        let row = [id, self.stream as i64, cube as i64 + 1, first_order, orders, day, moment];
        batch.begin(true);
        say(batch, Said::InsertDelta, row.map(Value::Int));
        say(batch, Said::ChangeOrders, [id, first_order, first_order + orders].map(Value::Int));
        batch.commit();
        Step::Send
    }
}
