//! Rows such as a statement gives, for a database that holds none.
//!
//! The one idea: a transaction takes the path that it takes on real data when it sees rows of the right shape and about the
//! right number of them; their values need only be plausible.
//!
//! What it does not do: rows do not depend on the parameters of a call, and nothing that was changed is seen again.

use super::{Answers, Names, Value};

/// The rows that one statement gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    rows_per_call: f64,
    rows: Vec<Vec<Value>>,
    names: Option<Names>,
}

/// How far a session is with the rows of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Turn {
    /// The part of a row that calls so far have left over.
    owed: f64,
    next: usize,
}

impl Sample {
    /// So many rows a call on average (not whole: some calls give one more), taken from these in turn.
    pub fn new(rows_per_call: f64, rows: Vec<Vec<Value>>) -> Sample {
        Sample { rows_per_call, rows, names: None }
    }

    /// The same, with what its columns are called.
    #[must_use]
    pub fn named(mut self, names: Names) -> Sample {
        self.names = Some(names);
        self
    }

    /// The rows that it gives in turn.
    pub fn rows(&self) -> &[Vec<Value>] {
        &self.rows
    }

    /// How many rows a call gives on average.
    pub fn rows_per_call(&self) -> f64 {
        self.rows_per_call
    }

    /// What its columns are called, when a session is to say so.
    pub fn names(&self) -> Option<&Names> {
        self.names.as_ref()
    }

    /// Adds the answer to one call.
    pub fn answer(&self, turn: &mut Turn, answers: &mut Answers) {
        answers.begin(self.rows.first().map_or(0, Vec::len));
        if let Some(names) = &self.names {
            answers.named(names.clone());
        }
        turn.owed += self.rows_per_call;
        while turn.owed >= 1.0 && !self.rows.is_empty() {
            turn.owed -= 1.0;
            self.rows[turn.next % self.rows.len()].iter().for_each(|value| answers.push(value.clone()));
            turn.next += 1;
        }
        answers.end(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_give_on_average_as_many_rows_as_the_sample_says_and_take_them_in_turn() {
        let sample = Sample::new(0.25, vec![vec![Value::Int(1), "a".into()], vec![Value::Int(2), "b".into()]]);
        let (mut answers, mut turn) = (Answers::default(), Turn::default());
        (0..8).for_each(|_| sample.answer(&mut turn, &mut answers));
        let counts: Vec<usize> = (0..8).map(|call| answers.get(call).row_count()).collect();
        assert_eq!(counts, [0, 0, 0, 1, 0, 0, 0, 1]);
        assert_eq!((answers.get(3).text(0, 1), answers.get(7).text(0, 1)), ("a", "b"));
    }
}
