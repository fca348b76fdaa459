//! What the work is made of: by table, by class of statement, by user and application.

use super::seen::{Doing, Rows, Seen, Session, Total, Wait};
use std::collections::{BTreeMap, BTreeSet};

observation::words! {
    /// What a statement does to rows.
    pub enum Class {
        /// It reads.
        Read = "read",
        /// It reads, and locks what it read.
        ReadForUpdate = "read-for-update",
        /// It inserts.
        Insert = "insert",
        /// It updates.
        Update = "update",
        /// It deletes.
        Delete = "delete",
        /// It ends a transaction.
        End = "end",
        /// Anything else.
        Other = "other",
    }
}

impl Class {
    /// That of a text without values and comments, in small letters.
    pub fn of(text: &str) -> Class {
        let words: Vec<&str> =
            text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect();
        let has = |wanted: &[&str]| words.windows(wanted.len()).any(|some| some == wanted);
        let locks = has(&["for", "update"])
            || has(&["for", "share"])
            || has(&["for", "no", "key", "update"])
            || has(&["for", "key", "share"])
            || has(&["lock", "in", "share", "mode"]);
        let changes = [(Class::Insert, "insert"), (Class::Update, "update"), (Class::Delete, "delete")];
        let changing = || changes.iter().find(|(_, word)| words.contains(word)).map(|(class, _)| *class);
        let reading = if locks { Class::ReadForUpdate } else { Class::Read };
        match words.first().copied().unwrap_or_default() {
            "select" | "table" | "values" => reading,
            // The words of a lock are no change.
            "with" if locks => reading,
            "with" => changing().unwrap_or(reading),
            "insert" | "replace" | "copy" | "load" => Class::Insert,
            "update" => Class::Update,
            "delete" => Class::Delete,
            "merge" => Class::Update,
            "commit" | "end" | "rollback" => Class::End,
            _ => Class::Other,
        }
    }
}

/// The statements of one class, a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Done {
    /// Executions.
    pub calls: f64,
    /// Rows returned or changed.
    pub rows: f64,
    /// Seconds that they took.
    pub seconds: f64,
}

/// One user of one application, as samples saw it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Caller {
    /// The user.
    pub user: String,
    /// The application.
    pub application: String,
    /// Sessions that worked in the window, on the mean.
    pub sessions: f64,
    /// Of them in a transaction, on the mean.
    pub busy: f64,
    /// Of them in one that had written.
    pub writing: f64,
    /// Of them waiting for a lock.
    pub locked: f64,
    /// The longest transaction, seconds.
    pub longest_s: f64,
    /// The median age of its transactions when they were seen, seconds.
    pub age_s: Option<f64>,
    /// The most sessions that were busy at once.
    pub at_once: u64,
}

/// What the work is made of. Rates are a second.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix {
    /// Transactions that were committed.
    pub commits: f64,
    /// That were rolled back.
    pub rollbacks: f64,
    /// That wrote; none where nobody counts them.
    pub written: Option<f64>,
    /// Rows of all tables.
    pub rows: Rows,
    /// Rows by table, the most changed first.
    pub tables: Vec<(String, Rows)>,
    /// Rows by user, where statements show them.
    pub users: Vec<(String, Rows)>,
    /// Statements by class; empty where they are not visible.
    pub classes: BTreeMap<Class, Done>,
    /// Rows that were locked and not changed, where they are visible.
    pub locked_rows: Option<f64>,
    /// Users and applications, the busiest first.
    pub callers: Vec<Caller>,
    /// Sessions that carry the work: one that works now and then counts for less than one that always does.
    pub sessions: f64,
    /// Sessions in a transaction, on the mean.
    pub busy: f64,
    /// Sessions that waited for a lock, on the mean.
    pub locked: f64,
    /// Sessions of others that this user is not shown, on the mean.
    pub hidden: f64,
    /// Of them, the most that may have been in a transaction, on the mean.
    pub unseen: f64,
    /// Seconds of a flush of the log, and whether the server timed it; otherwise samples of who waits for it give it.
    pub flush: Option<(f64, bool)>,
}

impl Mix {
    /// The mix of what was seen.
    pub fn of(seen: &Seen) -> Mix {
        let (classes, users) = by_statement(seen);
        let tables = ranked(seen.tables().into_iter().map(|(name, rows)| (name.to_owned(), rows)));
        let rows = whole(seen, &tables);
        let (commits, written) = committed(seen, rows);
        let locking = classes.get(&Class::ReadForUpdate).map_or(0.0, |done| done.rows);
        let by_text = (!classes.is_empty()).then_some(locking);
        let (callers, hidden, sessions) = callers(seen);
        let sum = |of: fn(&Caller) -> f64| callers.iter().map(of).sum::<f64>();
        let seen_busy = sum(|one| one.busy);
        let counted = seen.rate(Total::BusySeconds);
        let busy = counted.unwrap_or(seen_busy);
        let unseen = counted.map_or(hidden, |busy| (busy - seen_busy).clamp(0.0, hidden));
        let rollbacks = seen.rate(Total::Rollbacks).unwrap_or(0.0);
        // Servers report commits about a second late, and what wrote did end.
        let commits = commits.max(written.unwrap_or(0.0) - rollbacks);
        Mix {
            commits,
            rollbacks,
            written,
            rows,
            tables,
            users,
            classes,
            locked_rows: seen.rate(Total::LockedRows).or(by_text),
            sessions: sessions.max(busy),
            busy,
            locked: sum(|one| one.locked),
            hidden,
            unseen,
            flush: flush(seen),
            callers,
        }
    }

    /// Transactions a second that end in either way.
    pub fn transactions(&self) -> f64 {
        self.commits + self.rollbacks
    }

    /// The most sessions that may have waited for a lock, on the mean: of those that this user is not shown any may have, but one of all
    /// holds what the others wait for.
    pub fn locked_most(&self) -> f64 {
        let all = (self.sessions + self.hidden).max(1.0);
        (self.locked + self.unseen).min((self.busy.max(self.unseen) * (1.0 - 1.0 / all)).max(self.locked))
    }

    /// Transactions a second that wait for a mirror: all of them, where those that wrote are not counted.
    pub fn waiting(&self) -> f64 {
        self.written.unwrap_or(self.transactions())
    }

    /// Rows that one transaction that writes changes, or locks where that is visible.
    pub fn rows_each(&self) -> f64 {
        let rows = self.rows.changed() + self.locked_rows.unwrap_or(0.0);
        if self.waiting() > 0.0 { rows / self.waiting() } else { 0.0 }
    }

    /// Seconds of a transaction in the database; none where none ended.
    pub fn response_s(&self) -> Option<f64> {
        Some(self.transactions()).filter(|rate| *rate > 0.0).map(|rate| self.busy / rate)
    }
}

/// Statements by class, and rows by user: as the server counts them, else as its statements show them.
fn by_statement(seen: &Seen) -> (BTreeMap<Class, Done>, Vec<(String, Rows)>) {
    let mut classes: BTreeMap<Class, Done> = BTreeMap::new();
    let mut users: BTreeMap<String, Rows> = BTreeMap::new();
    for one in seen.statements().into_iter().filter(|one| !one.text.is_empty()) {
        let class = Class::of(&one.text);
        let done = classes.entry(class).or_default();
        *done = Done { calls: done.calls + one.calls, rows: done.rows + one.rows, seconds: done.seconds + one.seconds };
        let mut rows = Rows::default();
        match class {
            Class::Read | Class::ReadForUpdate => rows.read = one.rows,
            Class::Insert => rows.inserted = one.rows,
            Class::Update => rows.updated = one.rows,
            Class::Delete => rows.deleted = one.rows,
            Class::End | Class::Other => continue,
        }
        if !one.user.is_empty() {
            let sum = users.entry(one.user).or_default();
            *sum = sum.and(rows);
        }
    }
    let counted = seen.users();
    (classes, ranked(if counted.is_empty() { users } else { counted }.into_iter()))
}

/// What was read or changed, the most changed first.
fn ranked(all: impl Iterator<Item = (String, Rows)>) -> Vec<(String, Rows)> {
    let mut all: Vec<(String, Rows)> = all.filter(|(_, rows)| rows.changed() + rows.read > 0.0).collect();
    all.sort_by(|a, b| b.1.changed().total_cmp(&a.1.changed()).then(b.1.read.total_cmp(&a.1.read)));
    all
}

/// Rows of all tables; a server that does not count by table may count as a whole.
fn whole(seen: &Seen, tables: &[(String, Rows)]) -> Rows {
    if !tables.is_empty() {
        return tables.iter().fold(Rows::default(), |sum, (_, rows)| sum.and(*rows));
    }
    let total = |total| seen.rate(total).unwrap_or(0.0);
    Rows {
        read: total(Total::RowsRead),
        inserted: total(Total::RowsInserted),
        updated: total(Total::RowsUpdated),
        deleted: total(Total::RowsDeleted),
    }
}

/// Commits a second, and transactions that wrote, which are counted for the whole server.
fn committed(seen: &Seen, rows: Rows) -> (f64, Option<f64>) {
    let elsewhere = seen.rate(Total::RowsElsewhere).unwrap_or(0.0);
    let here = if elsewhere > 0.0 { rows.changed() / (rows.changed() + elsewhere) } else { 1.0 };
    let written = seen.rate(Total::Written).map(|rate| rate * here);
    let own = seen.own / seen.window_s.max(1e-9);
    let sent = seen.rate(Total::Commits).unwrap_or(0.0);
    let commits = match seen.rate(Total::StatementCommits) {
        // Who sends few commits lets each statement commit itself.
        Some(alone) if sent < 0.5 * written.unwrap_or(0.0) || sent == 0.0 => sent + alone - own,
        Some(_) => sent,
        None => sent - own,
    };
    (commits.max(0.0), written)
}

/// The time of a flush: timed by the server, or by Little's law from how many are seen waiting for one.
fn flush(seen: &Seen) -> Option<(f64, bool)> {
    let rate = seen.rate(Total::Flushes).filter(|rate| *rate > 0.0)?;
    if let Some(seconds) = seen.rate(Total::FlushSeconds).filter(|seconds| *seconds > 0.0) {
        return Some((seconds / rate, true));
    }
    let flushing = |sample: &super::Sample| sample.sessions.iter().filter(|one| one.wait == Wait::Flush).count() as f64;
    let mean = seen.samples.iter().map(flushing).sum::<f64>() / seen.samples.len().max(1) as f64;
    Some((mean / rate, false)).filter(|(seconds, _)| *seconds > 0.0)
}

/// Users and applications, how many sessions of others are hidden on the mean, and how many carry the work.
fn callers(seen: &Seen) -> (Vec<Caller>, f64, f64) {
    let here = || {
        seen.samples
            .iter()
            .flat_map(|sample| sample.sessions.iter().filter(|one| one.here).map(|one| (sample.at_s, one)))
    };
    let works = |at_s: f64, one: &Session| matches!(one.doing, Doing::Working | Doing::Holding) || one.since_s < at_s;
    let worked: BTreeSet<&str> = here()
        .filter(|(at_s, one)| one.doing != Doing::Hidden && works(*at_s, one))
        .map(|(_, one)| one.id.as_str())
        .collect();
    let samples = seen.samples.len().max(1) as f64;
    let hidden = here().filter(|(_, one)| one.doing == Doing::Hidden).count() as f64 / samples;
    let mut found: BTreeMap<(&str, &str), (Caller, Vec<f64>)> = BTreeMap::new();
    for sample in &seen.samples {
        let mut busy: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for one in sample.sessions.iter().filter(|one| one.here && worked.contains(one.id.as_str())) {
            let key = (one.user.as_str(), one.application.as_str());
            let (caller, ages) = found.entry(key).or_insert_with(|| {
                let (user, application) = (one.user.clone(), one.application.clone());
                (Caller { user, application, ..Caller::default() }, Vec::new())
            });
            caller.sessions += 1.0 / samples;
            if matches!(one.doing, Doing::Working | Doing::Holding) {
                *busy.entry(key).or_default() += 1;
                caller.busy += 1.0 / samples;
                caller.writing += f64::from(u8::from(one.writes)) / samples;
                caller.locked += f64::from(u8::from(one.wait == Wait::Lock)) / samples;
                caller.longest_s = caller.longest_s.max(one.age_s.unwrap_or(0.0));
                ages.extend(one.age_s);
            }
        }
        for (key, count) in busy {
            if let Some((caller, _)) = found.get_mut(&key) {
                caller.at_once = caller.at_once.max(count);
            }
        }
    }
    let with_age = |(mut caller, mut ages): (Caller, Vec<f64>)| {
        ages.sort_by(f64::total_cmp);
        caller.age_s = ages.get(ages.len() / 2).copied();
        caller
    };
    let mut callers: Vec<Caller> = found.into_values().map(with_age).collect();
    callers.sort_by(|a, b| b.busy.total_cmp(&a.busy).then(b.sessions.total_cmp(&a.sessions)));
    let mut by_session: BTreeMap<&str, f64> = BTreeMap::new();
    for (_, one) in here().filter(|(_, one)| matches!(one.doing, Doing::Working | Doing::Holding)) {
        *by_session.entry(one.id.as_str()).or_default() += 1.0 / samples;
    }
    let there = callers.iter().map(|one| one.sessions).sum();
    let carry = carrying(by_session.values().copied(), samples, there);
    (callers, hidden, carry)
}

/// How many alike sessions would be busy as these are: (sum of shares)^2 / sum of squares. A share that is sampled n times has its own
/// variance in its square, which is taken off, so that a pool of which each member is seldom seen counts in full.
fn carrying(shares: impl Iterator<Item = f64>, samples: f64, there: f64) -> f64 {
    let square = |share: f64| share * share - share * (1.0 - share) / (samples - 1.0).max(1.0);
    let (sum, squares) = shares.fold((0.0, 0.0), |(sum, squares), share| (sum + share, squares + square(share)));
    if squares > 1e-12 { (sum * sum / squares).min(there) } else { there }
}
