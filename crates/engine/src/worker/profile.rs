//! What transactions asked for, by statement: how often, how many rows came back, how many were changed.
//!
//! The one idea: answers are counted where they arrive, over the whole trial, so that a profile says what one transaction
//! asks of a database without asking the database.
//!
//! What it does not do: it knows no time; what a statement cost the server is the server's to say (`database::costs`).

use database::{Texts, fingerprint};
use observation::{COMMIT, OfStatement, Probe, Series, Whole};
use std::sync::Arc;
use units::Nanos;
use workload::transaction::{Answers, Batch, Call};

/// Counts of one worker, or of several together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profile {
    /// What each statement is called, and the fingerprint of its text; the last is the commit.
    names: Arc<Vec<(String, String)>>,
    counts: Vec<Count>,
    /// Transactions that were done, rolled back on purpose included.
    transactions: u64,
}

/// What one statement came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    executions: u64,
    rows: u64,
    changed: u64,
}

/// Names and fingerprints of a workload's statements, and of the commit.
pub(crate) fn names(texts: &Texts) -> Arc<Vec<(String, String)>> {
    let named = texts.iter().map(|text| (text.name.clone(), fingerprint(texts.engine(), &text.sql)));
    Arc::new(named.chain([(COMMIT.to_owned(), COMMIT.to_owned())]).collect())
}

impl Profile {
    /// No counts yet of the statements of these names.
    pub(crate) fn new(names: Arc<Vec<(String, String)>>) -> Profile {
        Profile { counts: vec![Count::default(); names.len()], names, transactions: 0 }
    }

    /// Counts a batch that was answered.
    pub(crate) fn add(&mut self, batch: &Batch, answers: &Answers) {
        for (place, call) in batch.calls().enumerate() {
            let at = match call {
                Call::Statement { statement, .. } => usize::from(statement),
                Call::Commit => self.counts.len().saturating_sub(1),
                Call::Begin { .. } | Call::Rollback => continue,
            };
            let Some(count) = self.counts.get_mut(at) else { continue };
            let answer = answers.get(place);
            count.executions += 1;
            count.rows += answer.row_count() as u64;
            count.changed += answer.changed;
        }
    }

    /// Counts a transaction that was done.
    pub(crate) fn done(&mut self) {
        self.transactions += 1;
    }

    /// Those of all workers together.
    pub(crate) fn joined<'a>(profiles: impl Iterator<Item = &'a Profile>) -> Profile {
        let mut names: Vec<(String, String)> = Vec::new();
        let (mut sums, mut transactions) = (Vec::<Count>::new(), 0);
        for profile in profiles {
            transactions += profile.transactions;
            for (name, count) in profile.names.iter().zip(&profile.counts) {
                let place = names.iter().position(|known| known == name).unwrap_or_else(|| {
                    names.push(name.clone());
                    sums.push(Count::default());
                    names.len() - 1
                });
                sums[place].add(count);
            }
        }
        Profile { names: Arc::new(names), counts: sums, transactions }
    }

    /// Name, fingerprint and executions of each statement.
    pub(crate) fn executions(&self) -> impl Iterator<Item = (&str, &str, u64)> {
        let named = self.names.iter().zip(&self.counts);
        named.map(|((name, key), count)| (name.as_str(), key.as_str(), count.executions))
    }

    /// The counts as rates over the trial up to `end`: one point a series.
    pub(crate) fn series(&self, end: Nanos) -> Vec<Series> {
        let seconds = end.seconds().max(f64::MIN_POSITIVE);
        let used = self.names.iter().zip(&self.counts).filter(|(_, count)| count.executions > 0);
        let mut series: Vec<Series> = used.flat_map(|((name, _), count)| count.points(name, end, seconds)).collect();
        if !series.is_empty() {
            series.push(point(Whole::Transactions.into(), self.transactions, end, seconds));
        }
        series
    }
}

impl Count {
    fn add(&mut self, other: &Count) {
        self.executions += other.executions;
        self.rows += other.rows;
        self.changed += other.changed;
    }

    fn points(self, name: &str, end: Nanos, seconds: f64) -> [Series; 3] {
        use OfStatement::{Changed, Executions, Rows};
        [(Executions, self.executions), (Rows, self.rows), (Changed, self.changed)]
            .map(|(what, count)| point(Probe::Statement(name.to_owned(), what), count, end, seconds))
    }
}

fn point(probe: Probe, count: u64, end: Nanos, seconds: f64) -> Series {
    Series { probe, points: vec![(end, count as f64 / seconds)] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::transaction::Value;

    impl Profile {
        /// Counts that a test made up.
        pub(crate) fn of_counts(counts: &[(&str, &str, u64)]) -> Profile {
            let names = counts.iter().map(|(name, key, _)| ((*name).to_owned(), (*key).to_owned())).collect();
            let counts = counts.iter().map(|(.., executions)| Count { executions: *executions, ..Count::default() });
            Profile { names: Arc::new(names), counts: counts.collect(), transactions: 1 }
        }
    }

    #[test]
    fn executions_rows_and_changes_are_counted_by_statement_over_all_workers() {
        let named = ["read", "write", "never", "(commit)"].map(|name| (name.to_owned(), name.to_owned()));
        let (mut batch, mut answers) = (Batch::default(), Answers::default());
        batch.begin(true);
        batch.call(0, [Value::Int(1)]);
        batch.call(1, []);
        batch.commit();
        answers.begin(0);
        answers.begin(1);
        answers.push(Value::Int(4));
        answers.push(Value::Int(5));
        answers.begin(0);
        answers.end(3);
        answers.begin(0);
        answers.end(0);
        let mut one = Profile::new(Arc::new(named.to_vec()));
        one.add(&batch, &answers);
        one.done();
        let two = one.clone();
        let series = Profile::joined([&one, &two].into_iter()).series(Nanos::from_secs(2));
        let told: Vec<(String, f64)> = series.iter().map(|s| (s.probe.to_string(), s.points[0].1)).collect();
        let rates: Vec<(&str, f64)> = told.iter().map(|(probe, rate)| (probe.as_str(), *rate)).collect();
        assert_eq!(rates.len(), 10, "a statement that was never called has no profile");
        assert_eq!(rates[..2], [("statement.read.executions", 1.0), ("statement.read.rows", 2.0)]);
        assert_eq!(rates[5], ("statement.write.changed", 3.0));
        assert_eq!((rates[6], rates[9]), (("statement.(commit).executions", 1.0), ("profile.transactions", 1.0)));
    }
}
