//! Pairs that are mirrored row by row: two independent servers, of which the primary tells what changed.
//!
//! The one idea: what a node does when it is written on is a number in each of its databases, its mode. A transaction keeps the mode that it
//! began with, and who changes it waits for those; so each is wholly shipped, or wholly noted.

pub(crate) mod send;
mod resync;

use crate::act::name;
use crate::nodes::{Nodes, Rows, Settings, texts};
use crate::{MirrorError, Pair};
use database::{Failure, FailureKind, Session};
use pair::{Action, Event, Node, State};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The word for this kind.
pub(crate) const KIND: &str = "two-phase-pair";

/// The superuser of the servers.
pub(crate) const USER: &str = database::server::postgres::USER;

/// How prepared transactions of ours are called: the number of the session on the primary follows.
pub(crate) const PREPARED: &str = database::server::postgres::PREPARED;

/// How sessions on the other node are called: the same number follows.
pub(crate) const SERVES: &str = "prony pair ";

/// What every database of a node holds.
const SQL: &str = include_str!("pair.sql");

/// Looks for those who write to end, each half a second: then they are ended, and then it is given up.
const LOCK_LOOKS: [u32; 2] = [10, 40];

/// How long prepared transactions may take to their end.
const PREPARED_SECONDS: u64 = 30;

/// Whoever answers to a statement with rows of texts.
pub(crate) trait Asks {
    /// Asks, and waits for the answer.
    fn ask(&mut self, sql: &str) -> Result<Rows, Failure>;
}

impl Asks for Box<dyn Session> {
    fn ask(&mut self, sql: &str) -> Result<Rows, Failure> {
        self.query(sql).map(texts)
    }
}

/// A text as a literal.
pub(crate) fn quoted(text: &str) -> String {
    let doubled = text.replace('\'', "''");
    if doubled.contains('\\') { format!(" E'{}'", doubled.replace('\\', "\\\\")) } else { format!("'{doubled}'") }
}

/// A definition on the other node, in the schemas and as whom it was said on the primary.
pub(crate) fn defining(sql: &str, path: &str, role: &str) -> [String; 6] {
    let set = |path: &str| format!("SELECT set_config('search_path', {}, true)", quoted(path));
    [
        format!("SET LOCAL ROLE \"{}\"", role.replace('"', "\"\"")),
        set(path),
        sql.to_owned(),
        "SET LOCAL ROLE NONE".to_owned(),
        set("pg_catalog"),
        "SELECT prony_pair.adopt()".to_owned(),
    ]
}

/// A prepared transaction, and the database in which it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Doubt {
    gid: String,
    database: String,
}

impl Doubt {
    /// The number of the session on the primary.
    fn owner(&self) -> &str {
        self.gid.trim_start_matches(PREPARED).split('_').next().unwrap_or("")
    }
}

impl<N: Nodes> Pair<N> {
    /// Whether it is mirrored row by row.
    pub(crate) fn by_rows(&self) -> bool {
        self.record.kind == KIND
    }

    /// A session that may write, and reads texts as they were written.
    pub(crate) fn hand(&mut self, node: Node, database: &str) -> Result<Box<dyn Session>, MirrorError> {
        let mut session = self.nodes.session(node, database)?;
        let set = crate::serve::SETTINGS.map(|(name, value)| format!("SELECT set_config('{name}', '{value}', false)"));
        session.script(&set.join("; ")).map_err(|failure| MirrorError::Statement(node, "prepare a session", failure))?;
        Ok(session)
    }

    fn asked_by(&mut self, session: &mut Box<dyn Session>, node: Node, doing: &'static str, sql: &str) -> Result<Rows, MirrorError> {
        crate::nodes::asked(&mut **session, node, doing, sql)
    }

    pub(crate) fn row_settings(&self, node: Node) -> Settings {
        let may_write = self.record.writes[node as usize] && node == self.life().primary();
        [
            ("cluster_name", name(node)),
            ("default_transaction_read_only", if may_write { "off" } else { "on" }.to_owned()),
            ("max_replication_slots", "10".to_owned()),
            ("max_wal_senders", "10".to_owned()),
            ("wal_level", "replica".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// What a node does when it is written on: 1 ships, 2 notes, 3 refuses, 4 neither.
    fn mode(&self, node: Node) -> u8 {
        match self.life().state() {
            _ if node != self.life().primary() || !self.record.writes[node as usize] => 3,
            State::CopyNeeded(_) => 4,
            _ if self.record.waits => 1,
            _ => 2,
        }
    }

    /// Its databases; new ones are made of the first template.
    pub(crate) fn databases(&mut self, node: Node) -> Result<Vec<String>, MirrorError> {
        let sql = "SELECT datname FROM pg_database WHERE datallowconn ORDER BY 1";
        Ok(self.nodes.ask(node, "list its databases", sql)?.concat())
    }

    /// Starts a node, and gives it what it needs for its part.
    pub(crate) fn row_serves(&mut self, node: Node) -> Result<(), MirrorError> {
        let settings = self.row_settings(node);
        self.nodes.serve(node, &settings, false)?;
        self.installs(node)?;
        self.row_tells(node, true)
    }

    fn installs(&mut self, node: Node) -> Result<(), MirrorError> {
        let mut script = SQL.to_owned();
        let choices = self.record.left_out.iter().map(|(pattern, reason)| (pattern, reason.as_str(), false));
        for (pattern, reason, mirrored) in choices.chain(self.record.added.iter().map(|name| (name, "", true))) {
            script += &format!(
                "INSERT INTO prony_pair.choice VALUES ({}, {}, {mirrored}) ON CONFLICT (pattern) DO UPDATE SET reason = excluded.reason, mirrored = excluded.mirrored;\n",
                quoted(pattern),
                quoted(reason)
            );
        }
        let mut hasher = DefaultHasher::new();
        script.hash(&mut hasher);
        let mark = format!("{:016x}", hasher.finish());
        script += &format!(
            "SELECT set_config('prony.adopting', 'on', true); SELECT prony_pair.adopt(); COMMENT ON SCHEMA prony_pair IS '{mark}';\
             SELECT set_config('prony.adopting', '', true);"
        );
        for database in self.databases(node)? {
            let mut session = self.hand(node, &database)?;
            let sql = "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = 'prony_pair'";
            if self.asked_by(&mut session, node, "look for its triggers", sql)?.concat().concat() != mark {
                session.script(&script).map_err(|failure| MirrorError::Statement(node, "give its tables triggers", failure))?;
            }
        }
        Ok(())
    }

    /// Hands a node its settings and, where it answers, its mode.
    pub(crate) fn row_tells(&mut self, node: Node, answers: bool) -> Result<(), MirrorError> {
        let settings = self.row_settings(node);
        self.nodes.told(node, &settings, answers)?;
        if !answers {
            return Ok(());
        }
        let mode = self.mode(node).to_string();
        for database in self.databases(node)? {
            let mut session = self.hand(node, &database)?;
            if self.asked_by(&mut session, node, "ask for its mode", "SELECT last_value FROM prony_pair.mode")?.concat().concat() != mode {
                self.alone(&mut session, node)?;
                self.sets(&mut session, node, &mode)?;
            }
        }
        Ok(())
    }

    fn sets(&mut self, session: &mut Box<dyn Session>, node: Node, mode: &str) -> Result<(), MirrorError> {
        let sql = format!("SELECT setval('prony_pair.mode', {mode})");
        self.asked_by(session, node, "change its mode", &sql)?;
        session.script("COMMIT").map_err(|failure| MirrorError::Statement(node, "change its mode", failure))
    }

    /// Begins a transaction of a session beside which nobody writes. Who does not end is ended after a while.
    fn alone(&mut self, session: &mut Box<dyn Session>, node: Node) -> Result<(), MirrorError> {
        let lock = "BEGIN; SET LOCAL lock_timeout = '500ms'; SELECT pg_advisory_xact_lock(7766, 1)";
        for look in 0.. {
            // What nobody coordinates any more would never end.
            self.resolves(node == self.life().mirror() || self.life().is_up(self.life().mirror()))?;
            match session.script(lock) {
                Ok(()) => break,
                Err(failure) if failure.kind == FailureKind::Lost || look >= LOCK_LOOKS[1] => {
                    return Err(MirrorError::Statement(node, "keep writers out for a moment", failure));
                }
                Err(_) if look == LOCK_LOOKS[0] => {
                    self.nodes.say("transactions that have not ended within 5 s are undone");
                    let sql = "SELECT pg_terminate_backend(pid)::text FROM pg_locks WHERE locktype = 'advisory' AND classid = 7766 AND objid = 1 \
                        AND granted AND pid IS NOT NULL AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
                    self.asked_by(session, node, "end who writes", sql)?;
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn doubts(&mut self, node: Node) -> Result<Vec<Doubt>, MirrorError> {
        let sql = format!("SELECT gid, database FROM pg_prepared_xacts WHERE starts_with(gid, '{PREPARED}') ORDER BY 1");
        let rows = self.nodes.ask(node, "look for what is in doubt", &sql)?;
        Ok(rows.into_iter().map(|row| Doubt { gid: row[0].clone(), database: row[1].clone() }).collect())
    }

    /// Ends what was left prepared by who coordinates no more.
    pub(crate) fn resolve(&mut self) -> Result<(), MirrorError> {
        self.resolves(self.life().is_up(self.life().mirror()))
    }

    /// The same, whether the mirror is there or not.
    fn resolves(&mut self, there: bool) -> Result<(), MirrorError> {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        let mut all = self.doubts(primary)?;
        all.extend(if there { self.doubts(mirror)? } else { Vec::new() });
        if all.is_empty() {
            return Ok(());
        }
        let live = self.nodes.ask(primary, "list its sessions", "SELECT pid FROM pg_stat_activity")?.concat();
        all.retain(|doubt| !live.iter().any(|pid| pid == doubt.owner()));
        all.sort();
        all.dedup();
        if there {
            for doubt in &all {
                self.parts(mirror, doubt)?;
            }
        }
        // Only now nobody can prepare it any more.
        let on_near = self.doubts(primary)?;
        let on_far = if there { Some(self.doubts(mirror)?) } else { None };
        for doubt in all {
            let far = on_far.as_ref().map(|on_far| on_far.contains(&doubt));
            self.decides(&doubt, on_near.contains(&doubt), far)?;
        }
        Ok(())
    }

    /// Ends the sessions of a coordinator on the other node.
    fn parts(&mut self, mirror: Node, doubt: &Doubt) -> Result<(), MirrorError> {
        let which = format!("FROM pg_stat_activity WHERE application_name = '{SERVES}{}'", doubt.owner());
        self.nodes.ask(mirror, "end a session", &format!("SELECT pg_terminate_backend(pid)::text {which}"))?;
        let gone = format!("SELECT 1 WHERE NOT EXISTS (SELECT 1 {which})");
        if self.comes_true(mirror, PREPARED_SECONDS, &gone)? { Ok(()) } else { Err(MirrorError::Late("a session did not end", PREPARED_SECONDS)) }
    }

    /// What is prepared on both was to be committed; what only the primary has was never prepared on the mirror; what only the mirror
    /// has was committed on the primary, unless that wrote down that it was undone, or the mirror was a primary that was lost.
    fn decides(&mut self, doubt: &Doubt, near: bool, far: Option<bool>) -> Result<(), MirrorError> {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        let mut session = self.hand(primary, &doubt.database)?;
        let gid = &doubt.gid;
        let verdict = format!("SELECT commits::text FROM prony_pair.verdict WHERE gid = '{gid}'");
        let verdict = self.asked_by(&mut session, primary, "look what became of a transaction", &verdict)?.concat().concat();
        let stale = self.record.returns[mirror as usize];
        let commits = match (verdict.as_str(), near, far) {
            ("true", ..) => true,
            ("false", ..) | (_, true, Some(false) | None) => false,
            (_, true, Some(true)) => true,
            (_, false, _) => !stale,
        };
        if !commits && far.is_none() {
            let undone = format!("SELECT prony_pair.undone('{gid}')");
            self.asked_by(&mut session, primary, "write down that a transaction is undone", &undone)?;
        }
        let what = format!("{} PREPARED '{gid}'", if commits { "COMMIT" } else { "ROLLBACK" });
        let failed = |node| move |failure| MirrorError::Statement(node, "end what is in doubt", failure);
        if near {
            session.script(&what).map_err(failed(primary))?;
        }
        if far == Some(true) {
            self.hand(mirror, &doubt.database)?.script(&what).map_err(failed(mirror))?;
        }
        Ok(())
    }

    /// Rows that wait for the mirror by table, and their bytes.
    fn listed(&mut self) -> Result<Vec<(String, u64, u64)>, MirrorError> {
        let (primary, mut all) = (self.life().primary(), Vec::new());
        let sql = "SELECT relation, count(*), sum(octet_length(item) + 1) FROM prony_pair.changed GROUP BY 1 \
            UNION ALL SELECT 'definitions', count(*), sum(octet_length(said)) FROM prony_pair.defined HAVING count(*) > 0 ORDER BY 1";
        for database in self.databases(primary)?.into_iter().filter(|database| !database.starts_with("template")) {
            let mut session = self.hand(primary, &database)?;
            for row in self.asked_by(&mut session, primary, "look at its list", sql)? {
                let number = |at: usize| row[at].parse().unwrap_or(0);
                all.push((format!("{database}: {}", row[0]), number(1), number(2)));
            }
        }
        Ok(all)
    }

    /// Takes down how much that is, and in how many tables.
    pub(crate) fn row_measure(&mut self) -> Result<Event, MirrorError> {
        let listed = self.listed()?;
        let (bytes, objects) = (listed.iter().map(|(.., bytes)| bytes).sum(), Some(listed.len() as u64));
        self.record.lacks = listed.into_iter().map(|(name, rows, _)| (name, rows)).collect();
        Ok(if bytes > self.record.list_bytes { Event::Full } else { Event::Noted { bytes, objects } })
    }

    /// Bytes on the list, and those that it has room for.
    pub(crate) fn row_kept(&mut self) -> Result<(u64, u64), MirrorError> {
        let bytes = self.listed()?.iter().map(|(.., bytes)| bytes).sum();
        Ok((bytes, self.record.list_bytes.saturating_sub(bytes)))
    }

    /// Says what the mirror lacks as far as it was seen, before it takes over.
    pub(crate) fn says_missing(&mut self) {
        for (table, rows) in self.record.lacks.clone() {
            let mirror = self.life().mirror();
            self.nodes.say(&format!("node {mirror} lacks {} of {table}, as last seen", units::counted(rows, "rows")));
        }
    }

    /// Empties the lists of a node.
    fn clears(&mut self, node: Node) -> Result<(), MirrorError> {
        for database in self.databases(node)? {
            self.hand(node, &database)?
                .script("DELETE FROM prony_pair.changed; DELETE FROM prony_pair.defined; DELETE FROM prony_pair.verdict")
                .map_err(|failure| MirrorError::Statement(node, "empty its list", failure))?;
        }
        Ok(())
    }

    /// Carries out one order, as [`Pair::carry_out`].
    pub(crate) fn row_carries_out(&mut self, action: Action) -> Result<Option<Event>, MirrorError> {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        match action {
            Action::Wait(waits) => {
                self.record.waits = waits;
                self.row_tells(primary, self.life().is_up(primary))?;
            }
            Action::Writes(node, may) => {
                self.record.writes[node as usize] = may;
                self.row_tells(node, self.life().is_up(node))?;
            }
            // The list is always there; what it lacks because nothing was noted is asked for as a copy.
            Action::Track => self.row_tells(primary, self.life().is_up(primary))?,
            Action::Forget if matches!(self.life().state(), State::CopyNeeded(_)) => {
                self.row_tells(primary, true)?;
                self.clears(primary)?;
            }
            Action::Forget => self.clears(mirror)?,
            Action::Promote(node) => {
                self.nodes.bar(node.other(), false)?;
                self.row_serves(node)?;
                self.takes_on(node)?;
            }
            Action::Rewind(node) => self.rewinds(node)?,
            Action::Send => return self.sends().map(Some),
            Action::Copy => return self.row_fill().map(Some),
            Action::Exchange => return self.exchanges().map(Some),
            Action::Compare => return self.compares().map(Some),
        }
        Ok(None)
    }

    /// What a lost primary may have acknowledged is committed, and sequences go on behind what is there.
    fn takes_on(&mut self, node: Node) -> Result<(), MirrorError> {
        let failed = |failure| MirrorError::Statement(node, "commit what was prepared", failure);
        for doubt in self.doubts(node)? {
            self.parts(node, &doubt)?;
            let mut session = self.hand(node, &doubt.database)?;
            let gid = &doubt.gid;
            session.script(&format!("INSERT INTO prony_pair.verdict VALUES ('{gid}', true) ON CONFLICT DO NOTHING")).map_err(failed)?;
            session.script(&format!("COMMIT PREPARED '{gid}'")).map_err(failed)?;
        }
        for database in self.databases(node)? {
            self.hand(node, &database)?.script("SELECT prony_pair.lift()").map_err(failed)?;
        }
        Ok(())
    }

    /// A copy of everything.
    fn row_fill(&mut self) -> Result<Event, MirrorError> {
        let mirror = self.life().mirror();
        self.resolve()?;
        self.row_copy(mirror)?;
        self.sends()
    }

    pub(crate) fn row_copy(&mut self, mirror: Node) -> Result<(), MirrorError> {
        let primary = self.life().primary();
        self.record.waits = false;
        self.row_tells(primary, true)?;
        self.nodes.copy(mirror, None, "")?;
        self.record.returns[mirror as usize] = false;
        self.row_serves(mirror)?;
        self.clears(mirror)
    }

    /// Lets the user of the system in who runs this command, on both nodes, as one who may do everything.
    ///
    /// # Errors
    /// When a node refuses.
    pub fn lets_in(&mut self) -> Result<(), MirrorError> {
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let number = rustix::process::geteuid().as_raw().to_string();
        let name = users.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|user| user.get(2) == Some(&number.as_str()));
        let Some(name) = name.map(|user| user[0].to_owned()) else { return Ok(()) };
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        let there = format!("SELECT 1 FROM pg_roles WHERE rolname = {}", quoted(&name));
        let make = format!("CREATE ROLE \"{}\" LOGIN SUPERUSER", name.replace('"', "\"\""));
        if self.nodes.ask(primary, "look for a role", &there)?.is_empty() {
            let mut session = self.hand(primary, "postgres")?;
            self.asked_by(&mut session, primary, "make a role", &make)?;
            if !self.life().is_up(mirror) {
                let noted = format!("INSERT INTO prony_pair.defined (said, path, role, inside) VALUES ({}, '', '{USER}', true)", quoted(&make));
                self.asked_by(&mut session, primary, "note a role", &noted)?;
            }
        }
        if self.life().is_up(mirror) && self.nodes.ask(mirror, "look for a role", &there)?.is_empty() {
            let mut session = self.hand(mirror, "postgres")?;
            self.asked_by(&mut session, mirror, "make a role", &make)?;
        }
        Ok(())
    }

    /// A table that was left out is left out no more. Its rows are not mirrored yet.
    pub(crate) fn adds(&mut self, table: &str) -> Result<(), MirrorError> {
        let (primary, mut found) = (self.life().primary(), false);
        let sql = format!(
            "SELECT 1 FROM prony_pair.tables t JOIN pg_class c ON c.oid = t.oid JOIN pg_namespace n ON n.oid = c.relnamespace \
             WHERE why_not IS NOT NULL AND {} IN (relation, n.nspname || '.' || c.relname)",
            quoted(table)
        );
        for database in self.databases(primary)? {
            let mut session = self.hand(primary, &database)?;
            found |= !self.asked_by(&mut session, primary, "look for the table", &sql)?.is_empty();
        }
        if found { Ok(()) } else { Err(MirrorError::NotLeftOut(table.to_owned())) }
    }

    /// Its triggers come, while nothing is shipped, and all of it is on the list.
    pub(crate) fn marks_added(&mut self, table: &str) -> Result<(), MirrorError> {
        self.record.added.push(table.replace('"', ""));
        self.save()?;
        let primary = self.life().primary();
        for node in Node::ALL {
            self.installs(node)?;
        }
        for database in self.databases(primary)? {
            let mut session = self.hand(primary, &database)?;
            let sql = format!("SELECT prony_pair.whole(relation) FROM prony_pair.mirrored WHERE replace(relation, '\"', '') = {}", quoted(&table.replace('"', "")));
            self.asked_by(&mut session, primary, "put the table on its list", &sql)?;
        }
        Ok(())
    }

    /// Nobody writes; the new primary goes on with the sequences of the old one.
    fn exchanges(&mut self) -> Result<Event, MirrorError> {
        let (old, new) = (self.life().primary(), self.life().mirror());
        self.row_tells(old, true)?;
        self.resolve()?;
        let none = format!("SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM pg_prepared_xacts WHERE starts_with(gid, '{PREPARED}'))");
        for node in [old, new] {
            if !self.comes_true(node, PREPARED_SECONDS, &none)? {
                return Err(MirrorError::Late("transactions that are prepared did not end", PREPARED_SECONDS));
            }
        }
        let values = "SELECT format('SELECT setval(%L, %s, true);', format('%I.%I', schemaname, sequencename), last_value) FROM pg_sequences \
            WHERE last_value IS NOT NULL AND schemaname <> 'prony_pair'";
        for database in self.databases(old)? {
            let mut session = self.hand(old, &database)?;
            let script = self.asked_by(&mut session, old, "read its sequences", values)?.concat().concat() + "SELECT prony_pair.lift()";
            self.hand(new, &database)?.script(&script).map_err(|failure| MirrorError::Statement(new, "set its sequences", failure))?;
        }
        Ok(Event::Swapped)
    }
}
