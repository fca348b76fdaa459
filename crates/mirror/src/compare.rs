//! Whether both nodes hold the same rows, table by table.
//!
//! The one idea: for a moment nobody may write, until the mirror has replayed all that was written; then each node keeps a
//! snapshot, writers go on, and the two snapshots are read at leisure. Rows are counted and their hashes added up, so that the order
//! in which a node keeps them does not matter.

use crate::nodes::{Nodes, Rows, asked, said};
use crate::{MirrorError, Pair};
use database::Session;
use pair::{Node, Refusal, State};
use std::collections::BTreeMap;
use store::{Checked, Differing};
use units::Nanos;

/// How long the mirror may take to replay what was written before.
const REPLAY_SECONDS: u64 = 60;

/// What a node holds of a table: rows, and the sum of their hashes.
pub type Content = (u64, String);

/// A table, and what each node holds of it; none where it is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its database.
    pub database: String,
    /// Its schema and name, as they are quoted.
    pub name: String,
    /// What the nodes hold, the first first.
    pub held: [Option<Content>; 2],
}

impl Table {
    /// Whether both hold the same.
    pub fn equal(&self) -> bool {
        self.held[0] == self.held[1]
    }

    /// The same in words.
    pub fn says(&self) -> String {
        match (self.equal(), &self.held) {
            (true, [Some((a, _)), Some((b, _))]) => {
                format!("equal  {}: {}: {} on node a, {} on node b", self.database, self.name, rows(*a), rows(*b))
            }
            _ => differs(&self.differing()),
        }
    }

    /// The same without the hashes, for who keeps what differs.
    fn differing(&self) -> Differing {
        let rows = [0, 1].map(|at| self.held[at].as_ref().map(|(rows, _)| *rows));
        Differing { database: self.database.clone(), table: self.name.clone(), rows }
    }
}

/// How a table differs, in words.
pub fn differs(Differing { database, table, rows: held }: &Differing) -> String {
    let how = match held {
        [Some(a), Some(b)] if a == b => format!("{} on both, with other values", rows(*a)),
        [Some(a), Some(b)] => format!("{} on node a, {} on node b", rows(*a), rows(*b)),
        [a, _] => format!("it is not there on node {}", if a.is_none() { Node::A } else { Node::B }),
    };
    format!("DIFFERS  {database}: {table}: {how}")
}

fn rows(count: u64) -> String {
    units::counted(count, "rows")
}

/// A table that is not compared, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Its database.
    pub database: String,
    /// Its schema and name.
    pub name: String,
    /// Why.
    pub why: String,
    /// Whether both nodes use the same file, so that nothing mirrors it.
    pub shared: bool,
}

/// What was compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// All tables of all databases.
    pub tables: Vec<Table>,
    /// Tables that have no mirror.
    pub left_out: Vec<Left>,
}

impl Compared {
    /// Whether both nodes hold the same, each its own.
    pub fn equal(&self) -> bool {
        self.tables.iter().all(Table::equal) && !self.left_out.iter().any(|left| left.shared)
    }
}

/// What lies in a tablespace: a path of this machine, which both nodes of a pair have in common. One within the data of each has none.
const SHARED: &str = include_str!("compare_tablespaces.sql");

/// All tables of users with whether their rows are in the log.
const TABLES: &str = include_str!("compare_tables.sql");

/// Tables that are not mirrored, and why; and whether they hold rows.
pub(crate) const LEFT_OUT: &str = "SELECT relation, why, has_rows::text FROM prony_pair.left_out()";

/// All tables at once, or none of them: a client who waits for us is let go before it looks for deadlocks, which is after one second.
const KEPT_OUT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ; SAVEPOINT nobody_writes; SET LOCAL lock_timeout = '300ms'; \
    SET LOCAL statement_timeout = '500ms';";

/// How often writers are asked to stand still, with a pause in between as long as they were held up.
const KEPT_OUT_LOOKS: u32 = 20;
const KEPT_OUT_PAUSE: Nanos = Nanos::from_millis(500);

/// Writes into the log, and brings all before it to the disk, from where it goes to the mirror.
const MARK: &str =
    "SELECT pg_logical_emit_message(true, 'prony', set_config('synchronous_commit', 'local', true))::text";

impl<N: Nodes> Pair<N> {
    /// Compares both nodes as they are now.
    ///
    /// # Errors
    /// When a node does not answer or is a second primary, writers do not let the primary be read for a moment, or the mirror replays nothing.
    pub fn check(&mut self) -> Result<Compared, MirrorError> {
        self.look()?;
        if self.splits() {
            return Err(MirrorError::Split(self.life().mirror()));
        }
        let away = Node::ALL.into_iter().find(|node| !self.life().is_up(*node));
        away.map_or(Ok(()), |node| Err(Refusal::Away(node)))?;
        self.compare()
    }

    /// Compares both nodes, and keeps what that found.
    pub(crate) fn compare(&mut self) -> Result<Compared, MirrorError> {
        let compared = if self.by_sets() { self.set_compare() } else { self.compare_databases() }?;
        self.record.checked = Some(Checked {
            at: self.nodes.now(),
            tables: compared.tables.len() as u64,
            in_step: matches!(self.life().state(), State::Replicating | State::Comparing),
            differ: compared.tables.iter().filter(|table| !table.equal()).map(Table::differing).collect(),
        });
        self.save()?;
        Ok(compared)
    }

    fn compare_databases(&mut self) -> Result<Compared, MirrorError> {
        let sql = "SELECT datname::text FROM pg_database WHERE datallowconn AND NOT datistemplate ORDER BY 1";
        let primary = self.life().primary();
        let mut compared = Compared::default();
        for row in self.nodes.ask(primary, "list its databases", sql)? {
            self.compare_database(&row.concat(), &mut compared)?;
        }
        Ok(compared)
    }

    fn compare_database(&mut self, database: &str, compared: &mut Compared) -> Result<(), MirrorError> {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        let mut from = self.nodes.session(primary, database)?;
        let listed = asked(&mut *from, primary, "list its tables", TABLES)?;
        let (mut logged, unlogged): (Vec<_>, Vec<_>) = listed.into_iter().partition(|row| row[1] == "true");
        let reasons =
            if self.by_rows() { asked(&mut *from, primary, "list what is left out", LEFT_OUT)? } else { Rows::new() };
        logged.retain(|row| !reasons.iter().any(|left| left[0] == row[0]));
        let left = |name: &String, why: String, shared| Left {
            database: database.to_owned(),
            name: name.clone(),
            why,
            shared,
        };
        let chosen = reasons.iter().filter(|left| !unlogged.iter().any(|row| row[0] == left[0]));
        compared.left_out.extend(chosen.map(|row| left(&row[0], row[1].clone(), false)));
        let why = "it is unlogged, so that nothing of it goes to a mirror";
        compared.left_out.extend(unlogged.iter().map(|row| left(&row[0], why.to_owned(), false)));
        let shared = asked(&mut *from, primary, "list what lies in tablespaces", SHARED)?;
        logged.retain(|row| !shared.iter().any(|one| one[0] == row[0]));
        compared.left_out.extend(shared.iter().map(|row| {
            let why = format!(
                "it lies in the tablespace `{}`, which is the folder {} for both nodes: there is one copy, which both write, and nothing \
                 mirrors it; move it back with SET TABLESPACE pg_default",
                row[1], row[2]
            );
            left(&row[0], why, true)
        }));
        let names: Vec<String> = logged.into_iter().map(|row| row[0].clone()).collect();
        let mut to = self.snapshots(&mut *from, &names, database)?;
        let mut tables = BTreeMap::<String, [Option<Content>; 2]>::new();
        for name in names {
            tables.entry(name.clone()).or_default()[primary as usize] = Some(content(&mut *from, primary, &name)?);
        }
        let left = compared.left_out.clone();
        let left_out = |name: &str| left.iter().any(|left| left.database == database && left.name == name);
        let there = asked(&mut *to, mirror, "list its tables", TABLES)?;
        for row in there.into_iter().filter(|row| row[1] == "true" && !left_out(&row[0])) {
            tables.entry(row[0].clone()).or_default()[mirror as usize] = Some(content(&mut *to, mirror, &row[0])?);
        }
        let table = |(name, held)| Table { database: database.to_owned(), name, held };
        compared.tables.extend(tables.into_iter().map(table));
        Ok(())
    }

    /// Both sessions see the same moment from here on, as far as the mirror follows.
    fn snapshots(
        &mut self,
        from: &mut dyn Session,
        names: &[String],
        database: &str,
    ) -> Result<Box<dyn Session>, MirrorError> {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        let only: Vec<String> = names.iter().map(|name| format!("ONLY {name}")).collect();
        let lock =
            if only.is_empty() { String::new() } else { format!("LOCK TABLE {} IN SHARE MODE", only.join(", ")) };
        let mut looks = 1;
        while let Err(failure) = from.script(&format!("{KEPT_OUT} {lock}; SET LOCAL statement_timeout = 0")) {
            said(from, primary, "let writers go on", "ROLLBACK")?;
            if looks == KEPT_OUT_LOOKS {
                return Err(MirrorError::KeptOut(primary, looks, failure));
            }
            looks += 1;
            if self.by_rows() {
                // What nobody coordinates any more would never end.
                self.resolve()?;
            }
            self.nodes.pass(KEPT_OUT_PAUSE);
        }
        asked(from, primary, "take a snapshot", "SELECT 1")?;
        let reached = self.nodes.ask(primary, "mark its log", MARK)?.concat().concat();
        let mut to = self.nodes.session(mirror, database)?;
        if self.by_rows() && self.record.waits {
            // Whoever committed on the first is about to do so on the other.
            let none = format!(
                "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM pg_prepared_xacts WHERE database = current_database() AND starts_with(gid, '{}'))",
                crate::rows::PREPARED
            );
            self.until(REPLAY_SECONDS, "the mirror did not commit what is prepared", |_| {
                Ok(!asked(&mut *to, mirror, "look at what is prepared", &none)?.is_empty())
            })?;
        } else if self.record.follows {
            let sql = format!("SELECT (pg_last_wal_replay_lsn() >= '{reached}')::text");
            self.until(REPLAY_SECONDS, "the mirror did not replay what was written", |_| {
                Ok(asked(&mut *to, mirror, "look at what it replayed", &sql)?.concat().concat() == "true")
            })?;
        }
        said(&mut *to, mirror, "take a snapshot", "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")?;
        said(from, primary, "let writers go on", "ROLLBACK TO SAVEPOINT nobody_writes")?;
        Ok(to)
    }
}

fn content(session: &mut dyn Session, node: Node, name: &str) -> Result<Content, MirrorError> {
    let rows = asked(session, node, "read a table", &database::server::postgres::content(name))?;
    let row = rows.into_iter().next().unwrap_or_default();
    Ok((row.first().and_then(|count| count.parse().ok()).unwrap_or(0), row.into_iter().nth(1).unwrap_or_default()))
}
