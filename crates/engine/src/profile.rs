//! What transactions asked for, by statement: how often, how many rows came back, how many were changed.
//!
//! The one idea: answers are counted where they arrive, over the whole trial, so that a profile says what one transaction
//! asks of a database without asking the database.
//!
//! What it does not do: it knows no time; what a statement cost the server is the server's to say.

use observation::Series;
use std::sync::Arc;
use units::Nanos;
use workload::transaction::{Answers, Batch, Call};

/// Counts of one worker.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profile {
    names: Arc<Vec<String>>,
    counts: Vec<Count>,
}

/// What one statement came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    executions: u64,
    rows: u64,
    changed: u64,
}

impl Profile {
    /// No counts yet of the statements of these names.
    pub(crate) fn new(names: Arc<Vec<String>>) -> Profile {
        Profile { counts: vec![Count::default(); names.len()], names }
    }

    /// Counts a batch that was answered.
    pub(crate) fn add(&mut self, batch: &Batch, answers: &Answers) {
        for (place, call) in batch.calls().enumerate() {
            let Call::Statement { statement, .. } = call else { continue };
            let Some(count) = self.counts.get_mut(usize::from(statement)) else { continue };
            let answer = answers.get(place);
            count.executions += 1;
            count.rows += answer.row_count() as u64;
            count.changed += answer.changed;
        }
    }

    /// The profiles of all workers together, as rates over the trial up to `end`: one point a series.
    pub(crate) fn series<'a>(profiles: impl Iterator<Item = &'a Profile>, end: Nanos) -> Vec<Series> {
        let mut names: Vec<&str> = Vec::new();
        let mut sums: Vec<Count> = Vec::new();
        for profile in profiles {
            for (name, count) in profile.names.iter().zip(&profile.counts) {
                let place = names.iter().position(|known| *known == name.as_str()).unwrap_or_else(|| {
                    names.push(name);
                    sums.push(Count::default());
                    names.len() - 1
                });
                sums[place].add(count);
            }
        }
        let seconds = end.seconds().max(f64::MIN_POSITIVE);
        let used = names.into_iter().zip(sums).filter(|(_, count)| count.executions > 0);
        used.flat_map(|(name, count)| count.points(name, end, seconds)).collect()
    }
}

impl Count {
    fn add(&mut self, other: &Count) {
        self.executions += other.executions;
        self.rows += other.rows;
        self.changed += other.changed;
    }

    fn points(self, name: &str, end: Nanos, seconds: f64) -> [Series; 3] {
        [("executions", self.executions), ("rows", self.rows), ("changed", self.changed)].map(|(what, count)| Series {
            probe: format!("statement.{name}.{what}"),
            unit: "1/s".to_owned(),
            points: vec![(end, count as f64 / seconds)],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::transaction::Value;

    #[test]
    fn executions_rows_and_changes_are_counted_by_statement_over_all_workers() {
        let names = Arc::new(vec!["read".to_owned(), "write".to_owned(), "never".to_owned()]);
        let (mut batch, mut answers) = (Batch::default(), Answers::default());
        batch.begin(true);
        batch.call(0, [Value::Int(1)]);
        batch.call(1, []);
        answers.begin(0);
        answers.begin(1);
        answers.push(Value::Int(4));
        answers.push(Value::Int(5));
        answers.begin(0);
        answers.end(3);
        let mut one = Profile::new(names.clone());
        one.add(&batch, &answers);
        let two = one.clone();
        let series = Profile::series([&one, &two].into_iter(), Nanos::from_secs(2));
        let rates: Vec<(&str, f64)> = series.iter().map(|s| (s.probe.as_str(), s.points[0].1)).collect();
        assert_eq!(rates.len(), 6, "a statement that was never called has no profile");
        assert_eq!(rates[..2], [("statement.read.executions", 1.0), ("statement.read.rows", 2.0)]);
        assert_eq!(rates[5], ("statement.write.changed", 3.0));
    }
}
