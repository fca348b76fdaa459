//! Pairs that are mirrored row by row: two independent servers, of which the primary tells what changed.
//!
//! The one idea: what a node does when it is written on is a number in each of its databases, its mode. A transaction keeps the mode that it
//! began with, and who changes it waits for those; so each is wholly shipped, or wholly noted.

use crate::act::name;
use crate::compare::LEFT_OUT;
use crate::doubt::PREPARED_SECONDS;
use crate::nodes::{Nodes, Rows, Settings, asked, said};
use crate::rows::{KIND, PREPARED, SETTINGS, SQL, quoted};
use crate::{MirrorError, Pair};
use database::{FailureKind, Session};
use pair::{Action, Event, Node, State};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Looks for those who write to end, each half a second: then they are ended, and then it is given up.
const LOCK_LOOKS: [u32; 2] = [10, 40];

impl<N: Nodes> Pair<N> {
    /// Whether it is mirrored row by row.
    pub(crate) fn by_rows(&self) -> bool {
        self.record.kind == KIND
    }

    /// A session that may write, and reads texts as they were written.
    pub(crate) fn hand(&mut self, node: Node, database: &str) -> Result<Box<dyn Session>, MirrorError> {
        let mut session = self.nodes.session(node, database)?;
        let set = SETTINGS.map(|(name, value)| format!("SELECT set_config('{name}', '{value}', false)"));
        said(&mut *session, node, "prepare a session", &set.join("; ")).map(|()| session)
    }

    /// Asks a question in a database of a node.
    pub(crate) fn ask_in(
        &mut self,
        node: Node,
        database: &str,
        doing: &'static str,
        sql: &str,
    ) -> Result<Rows, MirrorError> {
        asked(&mut *self.hand(node, database)?, node, doing, sql)
    }

    /// Carries out statements in every database of a node.
    pub(crate) fn everywhere(&mut self, node: Node, doing: &'static str, sql: &str) -> Result<(), MirrorError> {
        self.databases(node)?.iter().try_for_each(|database| said(&mut *self.hand(node, database)?, node, doing, sql))
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

    pub(crate) fn installs(&mut self, node: Node) -> Result<(), MirrorError> {
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
            if asked(&mut *session, node, "look for its triggers", sql)?.concat().concat() != mark {
                said(&mut *session, node, "give its tables triggers", &script)?;
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
            let (mut session, sql) = (self.hand(node, &database)?, "SELECT last_value FROM prony_pair.mode");
            if asked(&mut *session, node, "ask for its mode", sql)?.concat().concat() != mode {
                self.alone(&mut session, node)?;
                self.sets(&mut session, node, &mode)?;
            }
        }
        Ok(())
    }

    pub(crate) fn sets(&mut self, session: &mut Box<dyn Session>, node: Node, mode: &str) -> Result<(), MirrorError> {
        let sql = format!(
            "SELECT setval('prony_pair.mode', {mode}), \
             setval('prony_pair.turn', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint); COMMIT"
        );
        said(&mut **session, node, "change its mode", &sql)
    }

    /// Begins a transaction of a session beside which nobody writes. Who does not end is ended after a while.
    pub(crate) fn alone(&mut self, session: &mut Box<dyn Session>, node: Node) -> Result<(), MirrorError> {
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
                    asked(&mut **session, node, "end who writes", sql)?;
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Rows that wait for the mirror by table, and their bytes.
    fn listed(&mut self) -> Result<Vec<(String, u64, u64)>, MirrorError> {
        let (primary, mut all) = (self.life().primary(), Vec::new());
        let sql = "SELECT relation, count(*), sum(octet_length(item) + 1) FROM prony_pair.changed GROUP BY 1 \
            UNION ALL SELECT 'definitions', count(*), sum(octet_length(said)) FROM prony_pair.defined HAVING count(*) > 0 ORDER BY 1";
        for database in self.databases(primary)?.into_iter().filter(|database| !database.starts_with("template")) {
            for row in self.ask_in(primary, &database, "look at its list", sql)? {
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

    /// Takes down which tables are on the primary alone; what cannot be read stays as it was seen last.
    pub(crate) fn sees_alone(&mut self) {
        let primary = self.life().primary();
        let mut seen = Vec::new();
        let Ok(databases) = self.databases(primary) else { return };
        for database in databases.into_iter().filter(|database| !database.starts_with("template")) {
            let Ok(rows) = self.ask_in(primary, &database, "look at what is left out", LEFT_OUT) else { return };
            let named = |row: Vec<String>| (format!("{database}: {}", row[0]), row[1].clone(), row[2].starts_with('t'));
            seen.extend(rows.into_iter().map(named));
        }
        self.record.alone = seen;
    }

    /// Says which tables stay on a primary that is one no more; an error when they have rows, unless that is accepted.
    pub(crate) fn says_alone(&mut self, accepted: bool) -> Result<(), MirrorError> {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        let alone: Vec<_> = self.record.alone.iter().filter(|(.., rows)| *rows).cloned().collect();
        for (table, why, _) in &alone {
            self.nodes.say(&format!("the rows of {table} are on node {primary} alone: {why}"));
        }
        let first = alone.into_iter().next().filter(|_| !accepted);
        first.map_or(Ok(()), |(table, ..)| Err(MirrorError::Alone(table, primary, mirror)))
    }

    /// Says what the mirror lacks as far as it was seen, before it takes over.
    pub(crate) fn says_missing(&mut self) {
        for (table, rows) in self.record.lacks.clone() {
            let mirror = self.life().mirror();
            self.nodes.say(&format!(
                "node {mirror} lacks at least {} of {table}, as last seen",
                units::counted(rows, "rows")
            ));
        }
    }

    /// Names the sequences that the lost primary used while it was alone and no column owns: numbers of theirs may be given again.
    pub(crate) fn says_free_sequences(&mut self) -> Result<(), MirrorError> {
        let primary = self.life().primary();
        let sql = "SELECT oid::regclass::text FROM prony_pair.free ORDER BY 1";
        for database in self.databases(primary)? {
            let free = self.ask_in(primary, &database, "list its sequences", sql)?.concat();
            if free.is_empty() {
                continue;
            }
            self.nodes.say(&format!(
                "database {database}: node {} was alone, and node {primary} does not know how far it came in the sequences {}, which no column \
                 owns: they may hand out numbers again; set them with `setval` before clients come back",
                primary.other(),
                free.join(", ")
            ));
        }
        Ok(())
    }

    /// Empties the lists of a node.
    pub(crate) fn clears(&mut self, node: Node) -> Result<(), MirrorError> {
        let all = "DELETE FROM prony_pair.changed; DELETE FROM prony_pair.defined; DELETE FROM prony_pair.verdict";
        self.everywhere(node, "empty its list", all)
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

    /// A copy of everything.
    fn row_fill(&mut self) -> Result<Event, MirrorError> {
        let mirror = self.life().mirror();
        self.resolve()?;
        self.nodes.say(&format!("everything is copied to node {mirror}"));
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

    /// Nobody writes; the new primary goes on with the sequences of the old one.
    fn exchanges(&mut self) -> Result<Event, MirrorError> {
        let (old, new) = (self.life().primary(), self.life().mirror());
        self.row_tells(old, true)?;
        self.resolve()?;
        let none =
            format!("SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM pg_prepared_xacts WHERE starts_with(gid, '{PREPARED}'))");
        for node in [old, new] {
            if !self.comes_true(node, PREPARED_SECONDS, &none)? {
                return Err(MirrorError::Late("transactions that are prepared did not end", PREPARED_SECONDS));
            }
        }
        let values = "SELECT format('SELECT setval(%L, %s, %L);', c.oid::regclass, s.last, s.given) FROM pg_class c, \
            LATERAL prony_pair.stands(c.oid) s WHERE relkind = 'S' AND relpersistence <> 't' AND relnamespace <> 'prony_pair'::regnamespace";
        for database in self.databases(old)? {
            let script = self.ask_in(old, &database, "read its sequences", values)?.concat().concat();
            let script = script + "SELECT prony_pair.lift()";
            said(&mut *self.hand(new, &database)?, new, "set its sequences", &script)?;
        }
        Ok(Event::Swapped)
    }
}
