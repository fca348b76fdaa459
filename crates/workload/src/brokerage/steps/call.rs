//! A transaction as one call of a stored procedure.
//!
//! The one idea: the inputs are drawn by the machine of the statements, so that both ways do the same; then one call
//! travels, and what came of it comes back as rows. An order that is taken back on purpose has its beginning and its end
//! around the call.
//!
//! What it does not do: it decides nothing; the procedure does.

use super::{Machine, Report};
use crate::transaction::{Answers, Batch, Step, Value};

/// A call on its way.
#[derive(Debug)]
pub(super) struct Called {
    place: u16,
    machine: Box<dyn Machine>,
    sent: bool,
}

impl Called {
    /// The call of this place for what a machine would do.
    pub(super) fn new(place: u16, machine: Box<dyn Machine>) -> Called {
        Called { place, machine, sent: false }
    }
}

impl Machine for Called {
    fn step(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        let rolled_back = self.machine.rolls_back();
        if std::mem::replace(&mut self.sent, true) {
            let told = self.machine.told(&answers.get(usize::from(rolled_back)));
            return if told { Step::Done { rolled_back } } else { Step::Fail };
        }
        if rolled_back {
            batch.begin(true);
        }
        batch.call(self.place, self.parameters());
        if rolled_back {
            batch.rollback();
        }
        Step::Send
    }

    fn parameters(&mut self) -> Vec<Value> {
        self.machine.parameters()
    }

    fn report(&mut self) -> Report {
        self.machine.report()
    }

    fn complaint(&self) -> Option<String> {
        self.machine.complaint()
    }
}
