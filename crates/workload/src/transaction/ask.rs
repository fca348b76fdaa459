//! A transaction that only reads, and knows all its questions beforehand.
//!
//! The one idea: all questions travel in one batch. One statement needs no transaction around it; several that must
//! agree do.
//!
//! What it does not do: it does not look at the answers.

use super::texts::Place;
use super::{Batch, Step, Value};

/// Questions, asked at once.
#[derive(Debug, Default)]
pub(crate) struct Ask {
    questions: Vec<(u16, Vec<Value>)>,
    asked: bool,
}

impl Ask {
    /// The same with one more question.
    pub(crate) fn with<const N: usize>(mut self, statement: impl Place, parameters: [Value; N]) -> Ask {
        self.questions.push((statement.place(), parameters.into()));
        self
    }

    /// What is asked: the places of the statements, with their parameters.
    pub(crate) fn questions(self) -> Vec<(u16, Vec<Value>)> {
        self.questions
    }

    /// The next step.
    pub(crate) fn step(&mut self, batch: &mut Batch) -> Step {
        if std::mem::replace(&mut self.asked, true) {
            return Step::Done { rolled_back: false };
        }
        let agree = self.questions.len() > 1;
        if agree {
            batch.begin(false);
        }
        for (statement, parameters) in self.questions.drain(..) {
            batch.call(statement, parameters);
        }
        if agree {
            batch.commit();
        }
        Step::Send
    }
}
