//! The load of a delta: one transaction.
//!
//! The one idea: which delta comes next is asked of the database, so that one that an earlier trial left is loaded first. What
//! was changed is the difference between the source and the active state, so that no change is lost or loaded twice.
//!
//! What it does not do: a delta that does not come out as it must is rolled back, never mended.

use super::super::scale::Scale;
use super::Delta;
use super::texts::{Said, aggregate, facts};
use crate::transaction::texts::say;
use crate::transaction::{Answer, Answers, Batch, Step, Value};

/// A load under way.
#[derive(Clone, Copy, Debug)]
pub(in crate::warehouse) struct Load {
    scale: Scale,
    stream: u64,
    /// The greatest delta before the trial: moments of it and of those before are on another clock.
    before: i64,
    found: Option<Delta>,
    sent: u32,
}

/// Places of the answers that a load looks at.
const LOGGED: usize = 1;
const FACTS: usize = 3;

impl Load {
    pub(in crate::warehouse) fn new(scale: Scale, stream: u64, before: u64) -> Load {
        Load { scale, stream, before: before as i64, found: None, sent: 0 }
    }

    pub(in crate::warehouse) fn restart(&mut self) {
        (self.sent, self.found) = (0, None);
    }

    /// The delta that it loaded; none when there was none to load.
    pub(in crate::warehouse) fn loaded(&self) -> Option<i64> {
        self.found.map(|delta| delta.id)
    }

    /// Facts that it wrote, given that it was committed; none when there was no delta to load.
    pub(in crate::warehouse) fn rows(&self) -> u64 {
        self.found.map_or(0, |delta| delta.orders as u64)
    }

    pub(in crate::warehouse) fn step(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        match self.sent {
            0 => {
                batch.begin(true);
                say(batch, Said::FindDelta, [Value::Int(self.stream as i64)]);
            }
            1 => {
                self.found = found(&answers.last());
                match self.found {
                    Some(delta) => self.write(&delta, batch),
                    None => batch.commit(),
                }
            }
            2 if self.found.is_some_and(|delta| !whole(&delta, answers)) => return Step::Fail,
            2 if self.found.is_some() => batch.commit(),
            _ => return Step::Done { rolled_back: false },
        }
        self.sent += 1;
        Step::Send
    }

    fn write(&self, delta: &Delta, batch: &mut Batch) {
        let cube = delta.cube as i64 + 1;
        let (first, end) = (delta.first_order, delta.first_order + delta.orders);
        let moment = if delta.id > self.before { delta.moment } else { 0 };
        say(batch, Said::MoveMarker, [delta.orders, self.before, moment, delta.id, cube].map(Value::Int));
        say(batch, Said::LogChanges, [delta.id, cube, delta.day, first, end].map(Value::Int));
        say(batch, Said::Activate, [delta.id, first, end].map(Value::Int));
        batch.call(facts(delta.cube), [delta.offset(), delta.id].map(Value::Int));
        for level in 0..self.scale.levels().len() {
            batch.call(aggregate(&self.scale, delta.cube, level), [Value::Int(delta.id)]);
        }
        say(batch, Said::Apply, [Value::Int(delta.id)]);
    }

    pub(in crate::warehouse) fn complaint(&self) -> String {
        match self.found {
            Some(Delta { id, orders, .. }) => format!(
                "delta {id} of {orders} orders was not loaded: an order, a product or a customer is missing, or it was loaded \
                 before"
            ),
            None => "no delta was found".to_owned(),
        }
    }
}

fn found(answer: &Answer<'_>) -> Option<Delta> {
    let number = |column| answer.int(0, column);
    (answer.row_count() > 0).then(|| Delta {
        id: number(0),
        cube: (number(1) - 1) as u64,
        first_order: number(2),
        orders: number(3),
        day: number(4),
        moment: number(5),
    })
}

/// Whether each order was logged and became a fact, and the delta was not loaded before.
fn whole(delta: &Delta, answers: &Answers) -> bool {
    let orders = delta.orders as u64;
    answers.get(LOGGED).changed == orders && answers.get(FACTS).changed == orders && answers.last().changed == 1
}

// A change of orders in the source, in a transaction of its own, as users of the source make it.
//
// What it does not do: nothing of the warehouse is touched but the list of deltas that are to be loaded. Whether all orders
// were there is seen by the load.

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
