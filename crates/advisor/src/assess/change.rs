//! What costs excess, what to leave out of a mirror, what stands in its way, and what each change is worth.
//!
//! The one idea: a change is worth the seconds that sessions wait less in each second. What is only a hint (a name) is said to be one,
//! and is worth nothing by itself.

use super::mix::{Caller, Class, Mix};
use super::predict::{Kind, Pair, Prediction};
use super::seen::{Doing, Kept, Rows, Seen, Total};
use super::span::Span;
use std::collections::BTreeMap;

/// Seconds of a new session (a process or thread, authentication, the first look at the catalogue): an assumption.
const CONNECT: Span = Span::new(1e-3, 2e-3, 5e-3);
/// Seconds for parsing a short statement that is not prepared: an assumption.
const PARSE: Span = Span::new(5e-6, 1.5e-5, 5e-5);
/// Rows in one commit that replace as many commits of one row.
const BLOCKED: f64 = 10.0;
/// A transaction that is longer holds back both nodes.
const LONG_S: f64 = 5.0;
/// A row of a work table lives for less than this.
const SHORT_LIFE_S: f64 = 60.0;
/// Less than this share of all changes is not worth a rule.
const SHARE_MIN: f64 = 0.01;

/// One change of the application or its settings, and what it is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What to do.
    pub what: String,
    /// Why.
    pub why: String,
    /// Seconds that sessions wait less in each second.
    pub saved: Span,
    /// The same as a share of all that the mirror adds; none where it saves something else.
    pub of_added: Option<f64>,
}

/// A table that need not be mirrored.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// Its name.
    pub table: String,
    /// Why.
    pub reason: String,
    /// Whether that was measured, or is its definition; otherwise it is only a hint.
    pub certain: bool,
    /// The share of all changed rows that it has.
    pub share: f64,
}

/// Something that stands in the way of a mirror, or that it will not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Obstacle {
    /// What it is.
    pub what: String,
    /// What follows.
    pub means: String,
    /// The names, where it is about tables.
    pub tables: Vec<String>,
}

/// The changes, the most worth first.
pub fn changes(seen: &Seen, mix: &Mix, pair: &Pair, prediction: &Prediction) -> Vec<Change> {
    let added = mix.waiting() * prediction.wait_s.value;
    let mut all: Vec<Change> = batches(mix, prediction).collect();
    all.extend(locks(seen, mix, pair, prediction));
    all.extend(connections(seen, mix));
    all.extend(unprepared(seen));
    all.extend(unmirrored(seen, mix, pair, prediction));
    let share = |change: &mut Change| {
        if let Some(share) = &mut change.of_added {
            *share = if added > 0.0 { (change.saved.value / added).min(1.0) } else { 0.0 };
        }
    };
    all.iter_mut().for_each(share);
    all.sort_by(|a, b| b.saved.value.total_cmp(&a.saved.value).then(a.what.cmp(&b.what)));
    all
}

/// Applications that commit row after row in one session, so that nothing hides the wait.
fn batches(mix: &Mix, prediction: &Prediction) -> impl Iterator<Item = Change> {
    let serial = |one: &&Caller| one.at_once == 1 && one.busy > 0.3 && one.writing > 0.1;
    mix.callers.iter().filter(serial).filter_map(move |one| {
        let each = one.transaction_s().filter(|each| each.value < 0.1)?;
        let commits = one.busy / each.value;
        let commits = commits.min(mix.waiting());
        let slower = 1.0 + prediction.wait_s.value / each.value;
        let saved = 1.0 - 1.0 / BLOCKED;
        Some(Change {
            what: format!("commit {BLOCKED} rows at a time in {}", one.shown()),
            why: format!(
                "one session commits about {} times a second with nobody beside it: its batch takes {} times as long with the mirror",
                short(commits),
                short(slower)
            ),
            saved: prediction.wait_s.times(saved * commits),
            of_added: Some(0.0),
        })
    })
}

/// Rows that are locked and then not changed, by table where the texts name them.
fn locks(seen: &Seen, mix: &Mix, pair: &Pair, prediction: &Prediction) -> Option<Change> {
    let locked = mix.classes.get(&Class::ReadForUpdate).filter(|done| done.rows > 0.0)?;
    let mut by_table: BTreeMap<Option<&str>, f64> = BTreeMap::new();
    for one in seen.statements().iter().filter(|one| Class::of(&one.text) == Class::ReadForUpdate) {
        let names =
            |table: &&str| one.text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == bare(table));
        let named = seen.after.tables.keys().map(String::as_str).find(names);
        *by_table.entry(named).or_default() += one.rows;
    }
    let changed_in = |table: Option<&str>| {
        let rows = table.map_or(mix.rows, |table| seen.tables().get(table).copied().unwrap_or_default());
        rows.updated + rows.deleted
    };
    let needless: f64 = by_table.iter().map(|(table, rows)| (rows - changed_in(*table)).max(0.0)).sum();
    let tables = by_table.iter().filter(|(table, rows)| **rows > changed_in(**table)).filter_map(|(table, _)| *table);
    let tables = tables.collect::<Vec<_>>().join(", ");
    if needless < 0.05 * locked.rows {
        return None;
    }
    let saved = match pair.kind {
        Kind::Row => prediction.round_trip_s.times(needless),
        // A transaction that only locked waits once; how many of them change something else is not known.
        Kind::Commit => {
            let alone = (locked.calls * needless / locked.rows).min(mix.waiting());
            prediction.wait_s.times(alone).by(Span::new(0.0, 0.5, 1.0))
        }
        Kind::WriteSet => Span::default(),
    };
    Some(Change {
        what: "read without a lock what is not changed".to_owned(),
        why: format!(
            "of {} rows that are read for update each second, at least {} are not changed{}",
            short(locked.rows),
            short(needless),
            if tables.is_empty() { tables } else { format!(" ({tables})") }
        ),
        saved,
        of_added: Some(0.0),
    })
}

/// Sessions that are opened again and again.
fn connections(seen: &Seen, mix: &Mix) -> Option<Change> {
    let rate = seen.rate(Total::Connections).filter(|rate| *rate > 0.2 && *rate > 0.02 * mix.transactions())?;
    Some(Change {
        what: "keep connections open: a pool".to_owned(),
        why: format!("{} sessions a second are opened for {} transactions", short(rate), short(mix.transactions())),
        saved: CONNECT.times(rate),
        of_added: None,
    })
}

/// Statements that are planned for each execution.
fn unprepared(seen: &Seen) -> Option<Change> {
    let planned = seen
        .statements()
        .iter()
        .filter_map(|one| one.planned.map(|(plans, s)| (plans.min(one.calls), s)))
        .fold((0.0, 0.0), |sum: (f64, f64), one| (sum.0 + one.0, sum.1 + one.1));
    let (each, saved) = if planned.1 > 0.0 {
        (planned.0, Span::exact(planned.1))
    } else {
        let (all, prepared) = seen.rate(Total::Statements).zip(seen.rate(Total::Prepared))?;
        let each = (all - prepared - seen.own / seen.window_s.max(1e-9)).max(0.0);
        (each, PARSE.times(each))
    };
    (each > 10.0 && saved.value > 1e-3).then(|| Change {
        what: "prepare statements once a session".to_owned(),
        why: format!("{} statements a second are parsed and planned for one execution", short(each)),
        saved,
        of_added: None,
    })
}

/// What leaving tables out is worth where rows are waited for; a commit waits no less if anything else in it is mirrored.
fn unmirrored(seen: &Seen, mix: &Mix, pair: &Pair, prediction: &Prediction) -> Option<Change> {
    let logged = |one: &LeftOut| seen.after.tables.get(&one.table).is_some_and(|table| table.kept == Kept::Logged);
    let out = left_out(seen, mix).into_iter().filter(|one| one.certain && logged(one));
    let share: f64 = out.map(|one| one.share).sum();
    (share > SHARE_MIN && pair.kind == Kind::Row).then(|| Change {
        what: "leave work tables out of the mirror".to_owned(),
        why: format!(
            "{}% of the changed rows are in tables of which nobody needs the rows for long (see below)",
            short(100.0 * share)
        ),
        saved: prediction.round_trip_s.times(share * mix.rows.changed()),
        of_added: Some(0.0),
    })
}

/// Tables that need not be mirrored, the most changed first, and at the end those that only their names speak of.
pub fn left_out(seen: &Seen, mix: &Mix) -> Vec<LeftOut> {
    let all = mix.rows.changed();
    let rows = seen.tables();
    let mut found = Vec::new();
    for (name, table) in &seen.after.tables {
        let own: Rows = rows.get(name.as_str()).copied().unwrap_or_default();
        let share = if all > 0.0 { own.changed() / all } else { 0.0 };
        let truncated = seen.before.tables.get(name).is_some_and(|before| before.file != table.file);
        let gone = own.deleted.min(own.inserted);
        let life_s = if gone > 0.0 { table.live / gone } else { f64::INFINITY };
        let (reason, certain) = match table.kept {
            Kept::Temporary => ("temporary: it is one session's own".to_owned(), true),
            Kept::Unlogged => {
                ("unlogged: a pair by log does not have it, and a take-over finds it empty".to_owned(), true)
            }
            _ if truncated && share > SHARE_MIN => {
                ("it was emptied or written anew within the window".to_owned(), true)
            }
            _ if life_s < SHORT_LIFE_S && share > SHARE_MIN => {
                (format!("its rows live for about {} s: it is a queue or a work table", short(life_s.max(0.01))), true)
            }
            _ if named_like_work(name) => {
                ("its name alone says so: look whether anybody needs it after a take-over".to_owned(), false)
            }
            _ => continue,
        };
        found.push(LeftOut { table: name.clone(), reason, certain, share });
    }
    found.sort_by(|a, b| b.certain.cmp(&a.certain).then(b.share.total_cmp(&a.share)).then(a.table.cmp(&b.table)));
    found
}

/// The name of a table without its schema and quotes.
fn bare(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name).trim_matches('"')
}

fn named_like_work(name: &str) -> bool {
    const HINTS: [&str; 9] = ["tmp", "temp", "work", "stage", "staging", "log", "queue", "session", "cache"];
    let table = bare(name).to_lowercase();
    table.split(|c: char| !c.is_alphanumeric()).any(|part| {
        let part = part.trim_end_matches(|c: char| c.is_ascii_digit());
        HINTS.contains(&part) || HINTS.contains(&part.trim_end_matches('s'))
    })
}

/// What stands in the way.
pub fn obstacles(seen: &Seen, mix: &Mix, pair: &Pair) -> Vec<Obstacle> {
    let of = |which: &dyn Fn(&super::Table) -> bool| -> Vec<String> {
        seen.after.tables.iter().filter(|(_, table)| which(table)).map(|(name, _)| name.clone()).collect()
    };
    let mut all = Vec::new();
    let mut put = |what: &str, means: &str, tables: Vec<String>| {
        all.push(Obstacle { what: what.to_owned(), means: means.to_owned(), tables });
    };
    let keyless = of(&|table| !table.keyed && table.kept == Kept::Logged);
    if !keyless.is_empty() {
        let means = match pair.kind {
            Kind::Commit => "a pair by log holds them; one by row or write set cannot update or delete in them",
            Kind::WriteSet | Kind::Row => "their rows cannot be updated or deleted by row: give them a key first",
        };
        put("tables without a primary key", means, keyless);
    }
    let foreign = of(&|table| table.kept == Kept::Foreign);
    if !foreign.is_empty() {
        put("tables without transactions", "they are not mirrored in step: move them to InnoDB first", foreign);
    }
    let unlogged = of(&|table| table.kept == Kept::Unlogged);
    if !unlogged.is_empty() {
        put("unlogged tables", "no pair by log has their rows", unlogged);
    }
    if seen.sequences.is_some_and(|count| count > 0.0) && pair.kind == Kind::Row {
        put("sequences", "both nodes must not draw the same numbers: draw them on one node", Vec::new());
    }
    for one in mix.callers.iter().filter(|one| one.longest_s > LONG_S) {
        put(
            &format!("a transaction of {} s by {}", short(one.longest_s), one.shown()),
            "it holds back a resync and a change of roles, and is lost with a take-over: end it sooner",
            Vec::new(),
        );
    }
    let hidden =
        seen.samples.iter().flat_map(|sample| &sample.sessions).any(|one| one.here && one.doing == Doing::Hidden);
    if hidden {
        put(
            "sessions that this user is not shown",
            "figures by user and application lack them, and sessions to compensate are too few",
            Vec::new(),
        );
    }
    all
}

impl Caller {
    /// Its user and application.
    pub fn shown(&self) -> String {
        match self.application.as_str() {
            "" => self.user.clone(),
            application => format!("{application} ({})", self.user),
        }
    }

    /// Seconds of one of its transactions. What is seen at random moments is on the median half of one that always takes the same,
    /// and ln 2 of one of a memoryless law.
    fn transaction_s(&self) -> Option<Span> {
        let age = self.age_s.filter(|age| *age > 0.0)?;
        Some(Span::new(age / std::f64::consts::LN_2, age * 1.7, age * 2.0))
    }
}

/// Three digits at most.
fn short(value: f64) -> String {
    let digits = 2 - usize::from(value >= 10.0) - usize::from(value >= 100.0);
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
