//! What came back for a batch: one answer a call, rows as one flat list that is reused.

use super::Value;
use std::sync::Arc;

/// Names of the columns of an answer, shared by all answers to one statement.
pub type Names = Arc<[String]>;

/// The answers to a batch, in the order of its calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    marks: Vec<Mark>,
    values: Vec<Value>,
    /// Which answers have names; few statements ask for them.
    names: Vec<(u32, Names)>,
}

/// Where one answer's values lie.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mark {
    from: u32,
    to: u32,
    columns: u32,
    changed: u64,
}

/// One answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer<'a> {
    values: &'a [Value],
    columns: usize,
    /// Rows that the statement changed.
    pub changed: u64,
}

impl Answers {
    /// Forgets all answers and keeps the memory.
    pub fn clear(&mut self) {
        self.marks.clear();
        self.values.clear();
        self.names.clear();
    }

    /// Begins the next answer.
    pub fn begin(&mut self, columns: usize) {
        let at = self.values.len() as u32;
        self.marks.push(Mark { from: at, to: at, columns: columns as u32, changed: 0 });
    }

    /// Says what the columns of the answer that was begun last are called. Only for statements whose workload asks for
    /// names; a session keeps one list a statement.
    pub fn named(&mut self, names: Names) {
        if let Some(last) = self.marks.len().checked_sub(1) {
            self.names.push((last as u32, names));
        }
    }

    /// What the columns of an answer are called, when the session said so.
    pub fn names(&self, index: usize) -> Option<&Names> {
        self.names.iter().find(|(answer, _)| *answer as usize == index).map(|(_, names)| names)
    }

    /// Adds the next field of the answer that was begun last.
    pub fn push(&mut self, value: Value) {
        self.values.push(value);
        if let Some(mark) = self.marks.last_mut() {
            mark.to += 1;
        }
    }

    /// Ends the answer that was begun last.
    pub fn end(&mut self, changed: u64) {
        if let Some(mark) = self.marks.last_mut() {
            mark.changed = changed;
        }
    }

    /// How many answers there are.
    pub fn len(&self) -> usize {
        self.marks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// The answer to one call, counted from 0; an empty one when there is none.
    pub fn get(&self, index: usize) -> Answer<'_> {
        match self.marks.get(index) {
            Some(mark) => Answer {
                values: &self.values[mark.from as usize..mark.to as usize],
                columns: mark.columns as usize,
                changed: mark.changed,
            },
            None => Answer { values: &[], columns: 0, changed: 0 },
        }
    }

    /// The answer to the last call.
    pub fn last(&self) -> Answer<'_> {
        self.get(self.marks.len().wrapping_sub(1))
    }
}

impl<'a> Answer<'a> {
    /// The rows.
    pub fn rows(&self) -> impl Iterator<Item = &'a [Value]> + use<'a> {
        self.values.chunks_exact(self.columns.max(1))
    }

    /// How many rows there are.
    pub fn row_count(&self) -> usize {
        self.values.len() / self.columns.max(1)
    }

    /// One field; null when there is no such row or column.
    pub fn field(&self, row: usize, column: usize) -> &'a Value {
        const NULL: &Value = &Value::Null;
        if column >= self.columns { NULL } else { self.values.get(row * self.columns + column).unwrap_or(NULL) }
    }

    /// A whole number; 0 when the field is missing or holds none.
    pub fn int(&self, row: usize, column: usize) -> i64 {
        self.field(row, column).int().unwrap_or(0)
    }

    /// A text; empty when the field is missing or holds none.
    pub fn text(&self, row: usize, column: usize) -> &'a str {
        self.field(row, column).text().unwrap_or("")
    }
}

// Rows such as a statement gives, for a database that holds none.
//
// The one idea: a transaction takes the path that it takes on real data when it sees rows of the right shape and about the
// right number of them; their values need only be plausible.
//
// What it does not do: rows do not depend on the parameters of a call, and nothing that was changed is seen again.

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
