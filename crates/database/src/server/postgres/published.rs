//! A second private PostgreSQL that follows a first one as a subscriber: the rows of the tables that a publication names.
//!
//! The one idea: it is a server of its own with the definitions of the first, into which PostgreSQL copies the tables once and then brings what
//! changes. A slot keeps for it what it lacks, as for a mirror that follows the log, so that both live and end alike.
//!
//! What it does not do: definitions that come later and values of sequences do not follow.

use super::mirror::{NAME, Standby};
use crate::server::{Member as _, folder};
use crate::{DatabaseError, Session};
use std::path::PathBuf;
use study::{Published, Waits};
use units::counted;
use workload::transaction::Value;

/// A table of the first server.
struct Mirrorable {
    /// As SQL calls it.
    called: String,
    name: String,
    /// By which it is known again: a table that is made anew is another.
    oid: i64,
    /// Whether its rows are known by a key.
    keyed: bool,
    /// Whether they are known by all their fields.
    whole: bool,
}

impl Standby {
    /// Tables that could be mirrored, in their order.
    fn mirrorable(&self, session: &mut dyn Session) -> Result<Vec<Mirrorable>, DatabaseError> {
        let sql = include_str!("published_mirrorable.sql");
        let rows = session.query(sql).map_err(|failure| self.failed(failure))?;
        let table = |row: &Vec<_>| {
            let (text, number) = (|at: usize| row.get(at).and_then(Value::text), |at: usize| row.get(at)?.int());
            Some(Mirrorable {
                called: text(0)?.to_owned(),
                name: text(1)?.to_owned(),
                oid: number(2)?,
                keyed: number(3)? == 1,
                whole: number(4)? == 1,
            })
        };
        Ok(rows.iter().filter_map(table).collect())
    }

    /// What of it is subscribed to, by what it was made of.
    fn subscribed(&self) -> PathBuf {
        self.mirror.data().join("prony_subscribed")
    }

    /// Sees to it that a subscriber is there with a copy of these tables as they are today, and that its slot keeps what it lacks; how it
    /// answers is as commits are to wait.
    pub(super) fn subscribe(
        &self,
        session: &mut dyn Session,
        published: &Published,
        (waits, settings): (Waits, &[(String, String)]),
    ) -> Result<(), DatabaseError> {
        let mirrored: Vec<Mirrorable> =
            self.mirrorable(session)?.into_iter().filter(|table| published.mirrors(&table.name)).collect();
        let made_of: String = mirrored.iter().map(|table| format!("{} {}\n", table.called, table.oid)).collect();
        let kept = format!(
            "SELECT count(*) FROM pg_replication_slots WHERE slot_name = '{NAME}' AND slot_type = 'logical' AND wal_status <> 'lost'"
        );
        let same = folder::read(&self.subscribed()).is_some_and(|of| of == made_of);
        if !same || self.number(session, &kept)? == 0 {
            self.publish(session, &mirrored)?;
            self.mirror.down()?;
            folder::remove(&self.mirror.data())?;
            self.serve_subscriber(settings)?;
            self.fill_subscriber(session)?;
            folder::write(&self.subscribed(), &made_of)?;
        }
        self.serve_subscriber(settings)?;
        // Where nobody waits for its flush, it need not wait for it either.
        let flushes = if matches!(waits, Waits::Flushed | Waits::Applied) { "on" } else { "off" };
        self.altered("subsynccommit", flushes, &format!("SET (synchronous_commit = {flushes})"))
    }

    /// Starts the subscriber. Whoever applies there comes back soon.
    pub(super) fn serve_subscriber(&self, settings: &[(String, String)]) -> Result<(), DatabaseError> {
        let soon = ("wal_retrieve_retry_interval".to_owned(), "100ms".to_owned());
        self.mirror.serve(&[settings, &[soon]].concat(), false)
    }

    /// Alters what is subscribed, where it is otherwise. Whoever applies ends first: he would do so by himself, but later, when commits wait.
    fn altered(&self, column: &str, value: &str, how: &str) -> Result<(), DatabaseError> {
        let mut mirror = self.mirror.session("postgres")?;
        let same = format!("SELECT count(*) FROM pg_subscription WHERE {column} = '{}'", value.replace('\'', "''"));
        if self.number(&mut *mirror, &same)? > 0 {
            return Ok(());
        }
        self.run(&mut *mirror, &format!("ALTER SUBSCRIPTION {NAME} DISABLE"))?;
        let ended =
            format!("SELECT (count(*) = 0)::int::bigint FROM pg_stat_replication WHERE application_name = '{NAME}'");
        self.wait(&mut *self.session()?, &ended, "let go of its primary")?;
        self.run(&mut *mirror, &format!("ALTER SUBSCRIPTION {NAME} {how}; ALTER SUBSCRIPTION {NAME} ENABLE"))
    }

    /// Publishes tables. A server with a slot of this kind starts only with such a log, whatever it is started for next.
    fn publish(&self, session: &mut dyn Session, tables: &[Mirrorable]) -> Result<(), DatabaseError> {
        self.drop_slot(session)?;
        for table in tables.iter().filter(|table| !table.keyed && !table.whole) {
            self.run(session, &format!("ALTER TABLE {} REPLICA IDENTITY FULL", table.called))?;
        }
        let named: Vec<&str> = tables.iter().map(|table| table.called.as_str()).collect();
        let tables = if named.is_empty() { String::new() } else { format!(" FOR TABLE {}", named.join(", ")) };
        self.run(session, &format!("CREATE PUBLICATION {NAME}{tables}; ALTER SYSTEM SET wal_level = 'logical'"))
    }

    /// Nothing is published any more.
    pub(super) fn unpublish(&self, session: &mut dyn Session) -> Result<(), DatabaseError> {
        let there = format!("SELECT count(*) FROM pg_publication WHERE pubname = '{NAME}'");
        if self.number(session, &there)? == 0 {
            return Ok(());
        }
        self.run(session, &format!("ALTER SYSTEM RESET wal_level; DROP PUBLICATION {NAME}"))
    }

    /// A server that was started with a log that tells rows, only because a publication was left there, starts anew without.
    pub(super) fn plain_log(&self, session: &mut dyn Session) -> Result<(), DatabaseError> {
        let level = session.one("SHOW wal_level").map_err(|failure| self.failed(failure))?;
        let asked = folder::read(&self.primary.conf()).is_some_and(|conf| conf.contains("wal_level"));
        let tells = level.as_ref().and_then(Value::text) == Some("logical");
        if tells && !asked { self.primary.begun_anew() } else { Ok(()) }
    }

    /// Gives a server without data the definitions and a copy of the tables, past the wire.
    fn fill_subscriber(&self, session: &mut dyn Session) -> Result<(), DatabaseError> {
        let source = self.primary.reached_by(None, NAME);
        let file = self.mirror.run().join("definitions");
        folder::gone(&file)?;
        let mut dump = self.mirror.program("pg_dump");
        dump.args(["--schema-only", "--no-publications", "--no-subscriptions", "--no-password", "--file"]).arg(&file);
        dump.arg("--dbname").arg(&source);
        self.mirror.succeeds(dump, "its definitions were not copied")?;
        let mut load = self.mirror.program("psql");
        load.args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--no-password", "--file"]).arg(&file);
        load.arg("--dbname").arg(self.mirror.reached_by(None, NAME));
        self.mirror.succeeds(load, "its definitions were not made")?;
        folder::gone(&file)?;
        let mut mirror = self.mirror.session("postgres")?;
        let large = if self.mirror.major() >= 16 {
            "parallel"
        } else if self.mirror.major() >= 14 {
            "on"
        } else {
            ""
        };
        let large = if large.is_empty() { String::new() } else { format!(" WITH (streaming = {large})") };
        let source = source.replace('\'', "''");
        self.run(&mut *mirror, &format!("CREATE SUBSCRIPTION {NAME} CONNECTION '{source}' PUBLICATION {NAME}{large}"))?;
        self.wait(
            &mut *mirror,
            "SELECT (NOT EXISTS (SELECT FROM pg_subscription_rel WHERE srsubstate <> 'r'))::int::bigint",
            "copy all tables",
        )?;
        // Whoever copied has slots of his own until he ends.
        let ended = format!(
            "SELECT (count(*) = 0)::int::bigint FROM pg_replication_slots WHERE slot_name LIKE 'pg\\_%\\_sync\\_%' AND slot_name <> '{NAME}'"
        );
        self.wait(session, &ended, "let go of the slots of its copy")
    }

    /// Tells the subscriber by which way it follows.
    pub(super) fn subscribed_by(&self, conninfo: &str) -> Result<(), DatabaseError> {
        self.altered("subconninfo", conninfo, &format!("CONNECTION '{}'", conninfo.replace('\'', "''")))
    }

    /// Which tables it has and lacks, and how their rows are known.
    pub(super) fn tells(&self, published: &Published) -> Result<String, DatabaseError> {
        let (has, lacks): (Vec<Mirrorable>, Vec<Mirrorable>) =
            self.mirrorable(&mut *self.session()?)?.into_iter().partition(|table| published.mirrors(&table.name));
        let named = |tables: &[&Mirrorable]| {
            let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
            if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
        };
        let keyless: Vec<&Mirrorable> = has.iter().filter(|table| !table.keyed).collect();
        let whole = match keyless.as_slice() {
            [] => String::new(),
            some => format!(
                "; {} without a key{}, whose rows are known by all their fields (REPLICA IDENTITY FULL): each UPDATE and DELETE walks through \
                 the table on the mirror",
                counted(some.len() as u64, "tables"),
                named(some)
            ),
        };
        Ok(format!(
            "a publication mirrors {} and leaves out {}{}{whole}; definitions and values of sequences do not follow",
            counted(has.len() as u64, "tables"),
            lacks.len(),
            named(&lacks.iter().collect::<Vec<_>>())
        ))
    }
}
