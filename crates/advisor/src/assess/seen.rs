//! What was seen of a server over a window: two tallies of what it counts, and samples of its sessions between them.
//!
//! The one idea: whatever a server or a user does not show is missing here, never zero, so that what follows from it is missing too.

use std::collections::BTreeMap;

observation::words! {
    /// What a server counts as a whole.
    pub enum Total {
        /// Transactions that ended with a commit.
        Commits = "commits",
        /// Transactions that were rolled back.
        Rollbacks = "rollbacks",
        /// Transactions that wrote, which are the ones that wait for a mirror.
        Written = "written",
        /// Statements that were committed, where nobody counts how many of them were transactions of their own.
        StatementCommits = "statement-commits",
        /// Rows that were changed in other databases of the server.
        RowsElsewhere = "rows-elsewhere",
        /// Connections that were opened.
        Connections = "connections",
        /// Bytes of the log.
        LogBytes = "log-bytes",
        /// Flushes of the log.
        Flushes = "flushes",
        /// Seconds that they took.
        FlushSeconds = "flush-seconds",
        /// Seconds that all sessions spent in transactions.
        BusySeconds = "busy-seconds",
        /// Rows that were locked without being changed, where the log or statements show them.
        LockedRows = "locked-rows",
        /// Statements that were carried out.
        Statements = "statements",
        /// Of them, executions of prepared ones.
        Prepared = "prepared",
        /// Rows that were read.
        RowsRead = "rows-read",
        /// Rows that were inserted.
        RowsInserted = "rows-inserted",
        /// Rows that were updated.
        RowsUpdated = "rows-updated",
        /// Rows that were deleted.
        RowsDeleted = "rows-deleted",
    }
}

/// Rows by what was done to them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rows {
    /// Read.
    pub read: f64,
    /// Inserted.
    pub inserted: f64,
    /// Updated.
    pub updated: f64,
    /// Deleted.
    pub deleted: f64,
}

impl Rows {
    /// Rows that a mirror has to be told of.
    pub fn changed(&self) -> f64 {
        self.inserted + self.updated + self.deleted
    }

    /// Another sum of rows on top.
    #[must_use]
    pub fn and(self, more: Rows) -> Rows {
        self.with(more, |a, b| a + b)
    }

    pub(super) fn with(self, other: Rows, f: impl Fn(f64, f64) -> f64) -> Rows {
        Rows {
            read: f(self.read, other.read),
            inserted: f(self.inserted, other.inserted),
            updated: f(self.updated, other.updated),
            deleted: f(self.deleted, other.deleted),
        }
    }
}

observation::words! {
    /// How a table is kept.
    pub enum Kept {
        /// Its changes go into the log.
        Logged = "logged",
        /// Its changes do not: no mirror has them, and a crash empties it.
        Unlogged = "unlogged",
        /// It is one session's own.
        Temporary = "temporary",
        /// By an engine without transactions.
        Foreign = "no-transactions",
    }
}

/// A table, with what was counted of it so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// What was done to its rows.
    pub rows: Rows,
    /// Rows that it holds, as far as the server knows.
    pub live: f64,
    /// The number of its file, which a truncation changes.
    pub file: f64,
    /// Whether rows are told apart by a key.
    pub keyed: bool,
    /// How it is kept.
    pub kept: Kept,
}

/// The statements of one text and user, as they were counted so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statement {
    /// Who sent them.
    pub user: String,
    /// Their text without values; empty where this user is not shown it.
    pub text: String,
    /// Executions.
    pub calls: f64,
    /// Rows returned or changed.
    pub rows: f64,
    /// Seconds that they took.
    pub seconds: f64,
    /// Times that they were planned, and the seconds of it; none where that is not counted.
    pub planned: Option<(f64, f64)>,
}

/// What a server has counted at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// As a whole.
    pub totals: BTreeMap<Total, f64>,
    /// By the name of the table.
    pub tables: BTreeMap<String, Table>,
    /// By whatever tells statements apart.
    pub statements: BTreeMap<String, Statement>,
    /// Rows by user, where the server counts them.
    pub users: BTreeMap<String, Rows>,
}

/// What a session was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Nothing, for so many seconds or longer.
    Idle,
    /// A statement.
    Working,
    /// Nothing, within a transaction.
    Holding,
    /// This user is not shown it.
    Hidden,
}

/// What a session was waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Nothing that the server names.
    None,
    /// A lock of another transaction.
    Lock,
    /// The flush of the log, which one session does for all.
    Flush,
    /// Anything else.
    Other,
}

/// One session in one sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// What tells it from all others.
    pub id: String,
    /// Whether it is in the database that is assessed.
    pub here: bool,
    /// Its user.
    pub user: String,
    /// Its application, by its own word.
    pub application: String,
    /// What it was doing.
    pub doing: Doing,
    /// What it was waiting for.
    pub wait: Wait,
    /// Whether its transaction had written.
    pub writes: bool,
    /// Seconds since its transaction began, where that is known.
    pub age_s: Option<f64>,
    /// Seconds since it began to do what it does.
    pub since_s: f64,
}

/// All sessions at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Seconds since the window began.
    pub at_s: f64,
    /// The sessions.
    pub sessions: Vec<Session>,
}

/// The machine of the server, where it is this one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Its cores.
    pub cores: f64,
    /// The share of them that was busy with anything.
    pub busy: f64,
    /// Cores that the server kept busy.
    pub server_cores: f64,
}

/// Everything that was seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Seconds between both tallies.
    pub window_s: f64,
    /// What was counted when the window began.
    pub before: Tally,
    /// When it ended.
    pub after: Tally,
    /// Sessions between.
    pub samples: Vec<Sample>,
    /// Statements of the one who looked, each a transaction of its own, which are no part of the work.
    pub own: f64,
    /// How transactions that wrote were told from others.
    pub written_from: String,
    /// Sequences in the database, where they are counted.
    pub sequences: Option<f64>,
    /// The machine.
    pub machine: Option<Machine>,
}

impl Seen {
    /// How much of something was counted a second; none where it is not counted.
    pub fn rate(&self, total: Total) -> Option<f64> {
        let (before, after) = (self.before.totals.get(&total)?, self.after.totals.get(&total)?);
        Some(grown(*before, *after) / self.window_s.max(1e-9))
    }

    /// What was done to the rows of each table, a second.
    pub fn tables(&self) -> BTreeMap<&str, Rows> {
        let before = |name| self.before.tables.get(name).map(|table| table.rows);
        self.after.tables.iter().map(|(name, table)| (name.as_str(), self.since(before(name), table.rows))).collect()
    }

    /// What each user did to rows, a second.
    pub fn users(&self) -> BTreeMap<String, Rows> {
        let before = |name| self.before.users.get(name).copied();
        self.after.users.iter().map(|(name, rows)| (name.clone(), self.since(before(name), *rows))).collect()
    }

    fn since(&self, before: Option<Rows>, after: Rows) -> Rows {
        before.unwrap_or_default().with(after, |then, now| grown(then, now) / self.window_s.max(1e-9))
    }

    /// The statements of the window, a second.
    pub fn statements(&self) -> Vec<Statement> {
        let none = Statement::default();
        let since = |(key, now): (&String, &Statement)| {
            let then = self.before.statements.get(key).filter(|then| then.calls <= now.calls).unwrap_or(&none);
            let less = |now: f64, then: f64| (now - then).max(0.0) / self.window_s.max(1e-9);
            let planned = |(plans, seconds)| {
                let (then_plans, then_seconds) = then.planned.unwrap_or_default();
                (less(plans, then_plans), less(seconds, then_seconds))
            };
            Statement {
                user: now.user.clone(),
                text: now.text.clone(),
                calls: less(now.calls, then.calls),
                rows: less(now.rows, then.rows),
                seconds: less(now.seconds, then.seconds),
                planned: now.planned.map(planned),
            }
        };
        self.after.statements.iter().map(since).filter(|one| one.calls > 0.0).collect()
    }
}

/// What a counter grew by; one that was reset counts what it has since.
fn grown(before: f64, after: f64) -> f64 {
    if after < before { after } else { after - before }
}
