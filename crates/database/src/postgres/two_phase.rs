//! A session on two PostgreSQL servers in lock step.
//!
//! The one idea: a transaction that writes runs on both, the first one first wherever it came in, so that rows are locked on both in one order; it is
//! prepared on both and then committed on both, again the near one first. So what a crash leaves prepared can be told apart without a
//! log of decisions: what the far one has prepared and the near one has not was committed there, and what only the near one has was
//! never prepared on the far one.
//!
//! What it does not do: reads that lock nothing ask the server alone where the session came in, and so do writes to tables that are left out,
//! whose sessions all come in at the first server. It looks at the beginning of a statement's text, not at what a
//! function in it does, and makes no value once for both: a text that calls a clock or a sequence gives two values.

use super::PostgresSession;
use crate::server::postgres::PREPARED;
use crate::{Cut, Failure, FailureKind, Session, Texts};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use workload::dataset::Rows;
use workload::transaction::{Answers, Batch, Call, Value};

/// Two sessions as one, that of the first server before that of the second.
pub(crate) struct TwoPhase {
    sessions: [PostgresSession; 2],
    /// The server where this session came in: it answers, and reads that lock nothing ask it alone.
    own: usize,
    /// Whether a statement, by its place, asks the own server alone.
    alone: Vec<bool>,
    /// The transaction that is open, and whether it writes.
    open: Option<bool>,
    begun: u64,
    calls: [Batch; 2],
    /// What the other one answers, which is the same.
    unread: Answers,
    /// How often the far one was waited for.
    trips: Arc<AtomicU64>,
}

/// Whether a text only reads and locks nothing.
fn only_reads(sql: &str) -> bool {
    let text = sql.trim_start().to_ascii_lowercase();
    let locks = ["for update", "for share", "for no key update", "for key share"];
    text.starts_with("select") && !locks.iter().any(|lock| text.contains(lock))
}

/// Which statements, by their places, ask the own server alone: what only reads, and what writes to nothing but tables that are left out, which the
/// first server alone has whole. Of tables it is said whether they are left out.
///
/// # Errors
/// The text of a statement that writes and names tables of both kinds.
pub(crate) fn alone(texts: &Texts, tables: &[(&str, bool)]) -> Result<Vec<bool>, String> {
    let names = |sql: &str, left_out: bool| {
        let mut words = sql.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| tables.contains(&(word, left_out)))
    };
    let each = texts.iter().map(|text| match (only_reads(&text.sql), names(&text.sql, true)) {
        (true, _) => Ok(true),
        (false, true) if names(&text.sql, false) => Err(text.sql.clone()),
        (false, left_out) => Ok(left_out),
    });
    each.collect()
}

impl TwoPhase {
    pub(crate) fn new(sessions: [PostgresSession; 2], own: usize, alone: Vec<bool>, trips: Arc<AtomicU64>) -> TwoPhase {
        TwoPhase {
            sessions,
            own,
            alone,
            open: None,
            begun: 0,
            calls: Default::default(),
            unread: Answers::default(),
            trips,
        }
    }

    fn asks_one(&self, statement: u16) -> bool {
        self.alone.get(usize::from(statement)).is_some_and(|alone| *alone)
    }

    /// Gathers a call for both, or for the own one alone.
    fn gather(&mut self, both: bool, call: impl Fn(&mut Batch)) {
        let own = self.own;
        self.calls.iter_mut().enumerate().filter(|(at, _)| both || *at == own).for_each(|(_, batch)| call(batch));
    }

    /// The second server carries out a text, as the first one did before.
    fn there(&mut self, sql: &str) -> Result<(), Failure> {
        self.trips.fetch_add(1, Ordering::Relaxed);
        self.sessions[1].script(sql)
    }

    /// Carries out what was gathered, on the first server first.
    fn flush(&mut self, answers: &mut Answers) -> Result<(), Failure> {
        let mut done = Ok(());
        for (at, (session, calls)) in self.sessions.iter_mut().zip(&mut self.calls).enumerate() {
            let heard = if at == self.own { &mut *answers } else { &mut self.unread };
            let asked = at != self.own && done.is_ok() && calls.calls().next().is_some();
            self.trips.fetch_add(u64::from(asked), Ordering::Relaxed);
            done = done.and_then(|()| session.run(calls, heard));
            calls.clear();
        }
        self.unread.clear();
        done.map_err(|failure| self.undone(failure))
    }

    /// Neither of both keeps anything of a transaction that failed on one.
    fn undone(&mut self, failure: Failure) -> Failure {
        self.open = None;
        for session in &mut self.sessions {
            // One that is gone keeps nothing either, unless it was prepared.
            if session.in_transaction() == Some(true) {
                let _ = session.script("ROLLBACK");
            }
        }
        failure
    }

    /// Prepares on both, then commits on both.
    fn commit(&mut self) -> Result<(), Failure> {
        self.begun += 1;
        let name = format!("{PREPARED}{}_{}_{}", std::process::id(), self.sessions[0].number, self.begun);
        let said = |what: &str| format!("{what} '{name}'");
        self.sessions[0].script(&said("PREPARE TRANSACTION")).map_err(|failure| self.undone(failure))?;
        if let Err(failure) = self.there(&said("PREPARE TRANSACTION")) {
            // Where this fails too, it is found as what only the near one has.
            let _ = self.sessions[0].script(&said("ROLLBACK PREPARED"));
            return Err(self.undone(failure));
        }
        self.open = None;
        // From here on it will be committed, and nobody knows whether it is when a connection ends.
        let lost = |failure: Failure| Failure { kind: FailureKind::Lost, ..failure };
        self.sessions[0].script(&said("COMMIT PREPARED")).map_err(lost)?;
        self.there(&said("COMMIT PREPARED")).map_err(lost)
    }

    /// A statement that writes, outside of any transaction. The far server hears of its beginning with it, which saves a round trip; the
    /// own one, whose answers are those that are asked for, hears of it before.
    fn write(&mut self, statement: u16, parameters: &[Value], answers: &mut Answers) -> Result<(), Failure> {
        self.sessions[self.own].script("BEGIN")?;
        self.calls[1 - self.own].begin(true);
        self.open = Some(true);
        self.gather(true, |batch| batch.call(statement, parameters.iter().cloned()));
        self.flush(answers)?;
        self.commit()
    }
}

impl Session for TwoPhase {
    fn run(&mut self, batch: &Batch, answers: &mut Answers) -> Result<(), Failure> {
        for call in batch.calls() {
            match (call, self.open) {
                (Call::Begin { write }, _) => {
                    self.open = Some(write);
                    self.gather(write, |batch| batch.begin(write));
                }
                (Call::Statement { statement, parameters }, None) if !self.asks_one(statement) => {
                    self.flush(answers)?;
                    self.write(statement, parameters, answers)?;
                }
                (Call::Statement { statement, parameters }, open) => {
                    let both = open == Some(true) && !self.asks_one(statement);
                    self.gather(both, |batch| batch.call(statement, parameters.iter().cloned()));
                }
                (Call::Commit, Some(true)) => {
                    self.flush(answers)?;
                    self.commit()?;
                    answers.begin(0);
                    answers.end(0);
                }
                (Call::Commit, _) => {
                    self.open = None;
                    self.gather(false, Batch::commit);
                }
                (Call::Rollback, open) => {
                    self.open = None;
                    self.gather(open == Some(true), Batch::rollback);
                }
            }
        }
        self.flush(answers)
    }

    fn script(&mut self, sql: &str) -> Result<(), Failure> {
        self.sessions.iter_mut().try_for_each(|session| session.script(sql))
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, Failure> {
        self.sessions[self.own].query(sql)
    }

    fn load(&mut self, _table: &str, _columns: &[&str], _rows: &mut dyn Rows) -> Result<u64, Failure> {
        Err(Failure::new(FailureKind::Refused, "two servers in lock step are filled by a copy of the first"))
    }

    fn in_transaction(&self) -> Option<bool> {
        Some(self.open.is_some())
    }

    fn cut(&self) -> Option<Cut> {
        let (near, far) = (self.sessions[0].cut()?, self.sessions[1].cut()?);
        Some(Box::new(move || {
            near();
            far();
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_locks_or_writes_is_no_read() {
        for sql in ["SELECT a FROM t WHERE id = $1", "  select count(*) from t"] {
            assert!(only_reads(sql), "{sql}");
        }
        for sql in [
            "SELECT a FROM t WHERE id = $1 FOR UPDATE",
            "select 1 for share",
            "UPDATE t SET a = 1",
            "WITH x AS (SELECT 1) DELETE FROM t",
        ] {
            assert!(!only_reads(sql), "{sql}");
        }
    }

    #[test]
    fn what_writes_to_tables_that_are_left_out_asks_one_server_and_what_names_both_kinds_is_refused() {
        let of = |sql: &str| workload::transaction::Statement { name: "one".into(), sql: sql.into(), rows: false };
        let texts =
            |all: &[&str]| Texts::of(study::Engine::Postgres, &all.iter().map(|sql| of(sql)).collect::<Vec<_>>());
        let tables = [("account", false), ("item", true)];
        let all = [
            "SELECT a FROM account",
            "UPDATE account SET a = 1",
            "INSERT INTO s.item VALUES (1)",
            "UPDATE items SET a = 1",
        ];
        assert_eq!(alone(&texts(&all), &tables), Ok(vec![true, false, true, false]));
        let mixed = "INSERT INTO item SELECT a FROM account";
        assert_eq!(alone(&texts(&[mixed]), &tables), Err(mixed.to_owned()));
        assert_eq!(alone(&texts(&[mixed]), &[("account", false), ("item", false)]), Ok(vec![false]));
    }
}
