//! The null database inside the generator's own process.

use crate::{Failure, Rows, Session};
use workload::transaction::{Answers, Batch, Value};

/// Answers at once with nothing.
#[derive(Debug)]
pub(super) struct Silent;

/// One empty answer a call.
pub(super) fn nothing(calls: usize, answers: &mut Answers) {
    for _ in 0..calls {
        answers.begin(0);
        answers.end(0);
    }
}

/// Takes all rows and keeps none.
pub(super) fn swallow(rows: &mut dyn Rows) -> u64 {
    let (mut row, mut count) = (Vec::new(), 0);
    while rows.next(&mut row) {
        row.clear();
        count += 1;
    }
    count
}

impl Session for Silent {
    fn run(&mut self, batch: &Batch, answers: &mut Answers) -> Result<(), Failure> {
        nothing(batch.len(), answers);
        Ok(())
    }

    fn script(&mut self, _sql: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn query(&mut self, _sql: &str) -> Result<Vec<Vec<Value>>, Failure> {
        Ok(Vec::new())
    }

    fn load(&mut self, _table: &str, _columns: &[&str], rows: &mut dyn Rows) -> Result<u64, Failure> {
        Ok(swallow(rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_has_one_answer_without_rows() {
        let (mut batch, mut answers) = (Batch::default(), Answers::default());
        batch.begin(true);
        batch.call(3, [Value::Int(1)]);
        batch.commit();
        Silent.run(&batch, &mut answers).unwrap();
        assert_eq!((answers.len(), answers.get(1).row_count(), answers.get(1).int(0, 0)), (3, 0, 0));
    }
}
