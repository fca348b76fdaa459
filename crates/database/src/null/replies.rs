//! What the null database answers: for each statement the rows that its workload says it would give.

use std::sync::Arc;
use workload::transaction::{Answers, Call, Sample, Turn};

/// The samples of a workload, and how far this session is with each.
#[derive(Clone, Debug)]
pub(super) struct Replies {
    samples: Arc<[Option<Sample>]>,
    turns: Vec<Turn>,
}

impl Replies {
    pub(super) fn new(samples: &[Option<Sample>]) -> Replies {
        Replies { samples: samples.into(), turns: vec![Turn::default(); samples.len()] }
    }

    /// Adds the answer to a call; of a statement without a sample, that it changed a row.
    pub(super) fn answer(&mut self, statement: Option<u16>, answers: &mut Answers) {
        let place = statement.map_or(usize::MAX, usize::from);
        match (self.samples.get(place), self.turns.get_mut(place)) {
            (Some(Some(sample)), Some(turn)) => sample.answer(turn, answers),
            _ => {
                answers.begin(0);
                answers.end(u64::from(statement.is_some()));
            }
        }
    }
}

/// The statement of a call, if it is one.
pub(super) fn asked(call: Call) -> Option<u16> {
    match call {
        Call::Statement { statement, .. } => Some(statement),
        Call::Begin { .. } | Call::Commit | Call::Rollback => None,
    }
}
