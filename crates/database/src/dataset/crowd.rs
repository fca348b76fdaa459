//! Sessions that share out the jobs of a fill: statements and parts of tables.
//!
//! The one idea: each takes the next job when it has done one, so that nobody waits for the slowest.

use super::{DataSet, Progress, Stage, Table};
use crate::{Database, DatabaseError, Failure, FailureKind, Rows, Session};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use workload::transaction::Value;

/// Rows between two words about progress.
const WORD: u64 = 10_000;

/// A statement that meets deadlocks is tried so many times.
const TRIES: u32 = 10;

/// One thing that one session does.
#[derive(Clone, Debug)]
pub(super) enum Job {
    Statement(String),
    Rows { table: Table, part: u32, parts: u32 },
}

/// Those who fill a data set.
pub(super) struct Crowd<'a> {
    pub(super) database: &'a dyn Database,
    pub(super) dataset: &'a DataSet,
    pub(super) progress: &'a (dyn Fn(Progress) + Sync),
    pub(super) stop: &'a AtomicBool,
}

/// What the sessions of one stage share.
struct Shared<'a> {
    stage: Stage,
    jobs: &'a [Job],
    next: AtomicUsize,
    done: AtomicU64,
    of: u64,
    failed: Mutex<Option<DatabaseError>>,
}

impl Crowd<'_> {
    /// Does all jobs with up to so many sessions, and answers how many rows or statements that were.
    pub(super) fn all(&self, stage: Stage, jobs: &[Job], sessions: usize) -> Result<u64, DatabaseError> {
        let rows = |job: &Job| matches!(job, Job::Rows { .. });
        let of = if jobs.iter().any(rows) { self.dataset.rows() } else { jobs.len() as u64 };
        let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
        let shared = Shared { stage, jobs, next, done, of, failed: Mutex::new(None) };
        std::thread::scope(|scope| {
            for _ in 0..sessions.min(jobs.len()) {
                scope.spawn(|| self.work(&shared));
            }
        });
        match shared.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            _ if self.stop.load(Ordering::Relaxed) => Err(DatabaseError::Stopped),
            Some(error) => Err(error),
            None => Ok(shared.done.into_inner()),
        }
    }

    fn work(&self, shared: &Shared<'_>) {
        if let Err(error) = self.jobs(shared) {
            // The others find no more jobs.
            shared.next.store(shared.jobs.len(), Ordering::Relaxed);
            shared.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }

    fn jobs(&self, shared: &Shared<'_>) -> Result<(), DatabaseError> {
        let mut session = self.database.fill_session(self.dataset)?;
        while !self.stop.load(Ordering::Relaxed) {
            let Some(job) = shared.jobs.get(shared.next.fetch_add(1, Ordering::Relaxed)) else { break };
            self.job(&mut *session, job, shared)?;
        }
        Ok(())
    }

    fn job(&self, session: &mut dyn Session, job: &Job, shared: &Shared<'_>) -> Result<(), DatabaseError> {
        let place = self.database.place();
        match job {
            Job::Statement(sql) => {
                let done = until_no_deadlock(|| session.script(sql));
                done.map_err(|failure| DatabaseError::statement(&place, &format!("carry out {sql}"), failure))?;
                let done = shared.done.fetch_add(1, Ordering::Relaxed) + 1;
                (self.progress)(Progress { stage: shared.stage, done, of: shared.of });
            }
            Job::Rows { table, part, parts } => {
                let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
                let made = self.dataset.part(table, *part, *parts);
                let mut rows = Counted { rows: made, since: 0, shared, crowd: self };
                let loaded = session.load(&table.name, &columns, &mut rows);
                let action = format!("load rows into {}", table.name);
                loaded.map_err(|failure| DatabaseError::statement(&place, &action, failure))?;
                rows.tell();
            }
        }
        Ok(())
    }
}

/// Sessions that add references lock several tables each, in orders of their own, so that the server may have to end one of
/// them. What it ended is undone and tried again; the others have gone on meanwhile.
fn until_no_deadlock(mut statement: impl FnMut() -> Result<(), Failure>) -> Result<(), Failure> {
    for _ in 1..TRIES {
        match statement() {
            Err(failure) if failure.kind == FailureKind::Deadlock => {}
            ended => return ended,
        }
    }
    statement()
}

/// Rows that are counted on their way, and end early when the user stops the fill.
struct Counted<'a> {
    rows: Box<dyn Rows>,
    since: u64,
    shared: &'a Shared<'a>,
    crowd: &'a Crowd<'a>,
}

impl Counted<'_> {
    fn tell(&mut self) {
        let done = self.shared.done.fetch_add(self.since, Ordering::Relaxed) + self.since;
        self.since = 0;
        // The count of rows beforehand is an estimate for some tables.
        let of = self.shared.of.max(done);
        (self.crowd.progress)(Progress { stage: self.shared.stage, done, of });
    }
}

impl Rows for Counted<'_> {
    fn next(&mut self, row: &mut Vec<Value>) -> bool {
        let more = !self.crowd.stop.load(Ordering::Relaxed) && self.rows.next(row);
        self.since += u64::from(more);
        if self.since == WORD {
            self.tell();
        }
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_that_ended_a_deadlock_is_tried_again_and_any_other_failure_is_told_at_once() {
        let failing = |kind: FailureKind, failures: u32| {
            let mut tries = 0;
            let ended = until_no_deadlock(|| {
                tries += 1;
                if tries <= failures { Err(Failure::new(kind, "no")) } else { Ok(()) }
            });
            (tries, ended.is_ok())
        };
        assert_eq!(failing(FailureKind::Deadlock, 2), (3, true));
        assert_eq!(failing(FailureKind::Deadlock, 99), (TRIES, false));
        assert_eq!(failing(FailureKind::Refused, 99), (1, false));
    }
}
