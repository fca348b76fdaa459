//! Batch jobs as a workload: what they supply, and how their tallies are held against the data.
//!
//! The one idea: each job counts the rows whose commit it heard of; the database is asked once before the trial and once
//! after.

use super::{Access, Mode, Rows, Spec, Update, classes, data_set, statements, tally_statement};
use crate::dataset::{DataSet, Language};
use crate::kind::{
    Around, Class, Found, Ledger, Queries, Ready, Refused, Share, Told, Transactions, Unready, Verdict, workers,
};
use crate::transaction::{Business, Statement};
use std::any::Any;
use std::sync::Arc;
use units::Bytes;

impl Transactions for Spec {
    fn classes(&self) -> Vec<Class> {
        classes(self).into_iter().map(Class::plain).collect()
    }

    fn data_set(&self, _theirs: bool) -> Option<DataSet> {
        Some(data_set::data_set(self))
    }

    /// Tables of jobs that nobody does are asked for nothing.
    fn asks_alike(&self, other: &dyn Transactions) -> bool {
        let other = (other as &dyn Any).downcast_ref::<Spec>();
        other.is_some_and(|other| Spec { jobs: self.jobs, ..*other } == *self)
    }

    fn work(&self) -> Option<u64> {
        self.total.map(|rows| rows.div_ceil(self.rows_per_arrival()))
    }

    /// The data set may have tables for more jobs than this trial has sessions.
    fn ready(&self, around: &Around<'_>) -> Result<Arc<dyn Ready>, Unready> {
        Ok(Arc::new(Spec { jobs: around.sessions.clamp(1, self.jobs.max(1)), ..*self }))
    }

    /// What one operation is, from which rows a second follow.
    fn unit(&self) -> Option<String> {
        let rows = self.rows_per_arrival();
        let counted = if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
        Some(match self.mode {
            Mode::Copy { block_bytes } => format!("{counted}, a block of {},", units::bytes(Bytes(block_bytes))),
            _ => format!("{counted} of {} B", self.row_bytes),
        })
    }

    fn calls_procedures(&self) -> bool {
        matches!(self.mode, Mode::Update(Update { access: Access::Procedure, .. }))
    }

    /// Empties the tables into which earlier trials brought rows, and counts what the data holds of each job that will run.
    fn begin(&self, queries: &mut dyn Queries, sessions: u32, counts: bool) -> Result<Found, Refused> {
        if self.has_target() {
            for job in 0..self.jobs {
                queries.empty("clean up after the last trial", &data_set::target(job))?;
            }
        }
        let counts = if counts { held(self, queries, sessions)? } else { Vec::new() };
        Ok(Found { epoch: 0, counts })
    }

    fn ledger(&self, sessions: u32, found: &Found, businesses: &[&dyn Business]) -> Option<Ledger> {
        let mut ledger = Ledger::default();
        for (job, before) in (0..sessions.min(self.jobs)).zip(&found.counts) {
            ledger.counts.insert(format!("{job} before"), *before);
        }
        for (job, told) in workers(businesses).flat_map(Rows::tallies) {
            *ledger.counts.entry(format!("{job} done")).or_default() += told.done as i64;
            *ledger.counts.entry(format!("{job} unknown")).or_default() += told.unknown as i64;
        }
        (!found.counts.is_empty()).then_some(ledger)
    }

    fn hold(&self, queries: &mut dyn Queries, ledger: &Ledger) -> Result<Vec<Verdict>, Refused> {
        let jobs = (0..self.jobs).take_while(|job| ledger.counts.contains_key(&format!("{job} before")));
        let told: Vec<(Told, i64)> = jobs
            .map(|job| {
                let count = |what: &str| ledger.count(&format!("{job} {what}"));
                (Told { done: count("done") as u64, unknown: count("unknown") as u64 }, count("before"))
            })
            .collect();
        let after = held(self, queries, told.len() as u32)?;
        let grown = told.iter().zip(after).map(|((told, before), after)| (*told, after - before));
        Ok(vec![verdict(&grown.collect::<Vec<_>>())])
    }
}

impl Ready for Spec {
    fn statements(&self, _language: Option<Language>) -> Vec<Statement> {
        statements(self)
    }

    /// The mean over a round, whose last block may be short.
    fn bytes(&self) -> u32 {
        let (round, arrival) = (self.rows_per_round(), self.rows_per_arrival());
        let rows = if self.ends_with_table() { round as f64 / round.div_ceil(arrival) as f64 } else { arrival as f64 };
        (rows * f64::from(self.row_bytes)).round() as u32
    }

    fn business(&self, share: &Share) -> Box<dyn Business> {
        Box::new(Rows::new(*self, share.first, share.slots))
    }
}

/// What the data holds of the work of each job that runs.
fn held(spec: &Spec, queries: &mut dyn Queries, sessions: u32) -> Result<Vec<i64>, Refused> {
    let mut one = |job| queries.number("count the rows of a job", &tally_statement(spec, job));
    (0..sessions.min(spec.jobs)).map(&mut one).collect()
}

/// Holds what was told of each job against how its data grew.
fn verdict(jobs: &[(Told, i64)]) -> Verdict {
    let name = "count";
    let mut wrong = jobs.iter().enumerate().filter(|(_, (told, grown))| !told.allows(*grown));
    let Some((job, (told, grown))) = wrong.next() else {
        let all: Told = jobs.iter().map(|(told, _)| *told).sum();
        let text = format!("all {} acknowledged rows are there{}", all.done, all.doubt());
        return Verdict { name, damaged: false, text };
    };
    let text = format!(
        "{} of {} jobs do not agree; job {job} was told of {} rows and its data grew by {grown}",
        1 + wrong.count(),
        jobs.len(),
        told.done,
    );
    Verdict { name, damaged: true, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_was_acknowledged_and_is_not_there_is_damage() {
        let told =
            |grown: [i64; 2]| [(Told { done: 10, unknown: 0 }, grown[0]), (Told { done: 5, unknown: 2 }, grown[1])];
        assert!(!verdict(&told([10, 7])).damaged);
        let Verdict { damaged, text, .. } = verdict(&told([9, 7]));
        assert!(damaged && text.contains("job 0 was told of 10 rows and its data grew by 9"), "{text}");
        assert!(verdict(&told([10, 8])).damaged);
    }
}
