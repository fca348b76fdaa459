//! One who brings tables and indexes to another tablespace or, with MariaDB, another folder, and back.
//!
//! The one idea: each object changes its place by one statement that the server carries out whole or not at all, under a lock timeout.
//! Only one mover at a time works in a database: it holds a lock that ends with its session, so that whoever comes after a killed one
//! waits until the server has let go of its last statement.

use super::journal::{self, Kept, Place};
use super::{exchange, is_here, locked, number, oid, postgres, text};
use crate::{Database, DatabaseError, Failure, FailureKind, Session};
use advisor::{Cost, Kind, Tiers};
use rustix::fs::statvfs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use study::Engine;

/// Between two looks whether another mover has ended.
const LOOK: Duration = Duration::from_millis(200);

/// What is done to the journal before anything else is.
const JOURNAL: &str = "make the journal of moves";

/// Why what lay in a tablespace that was dropped since does not come back.
const GONE: &str = "the tablespace where it lay is gone: bring it elsewhere by hand (SET TABLESPACE), and forget it by DELETE FROM prony_tier.moved";

/// What a session is opened with.
const PREPARE: &str = "prepare a session that moves";

const WRITE: &str = "write the journal of moves";
const PRIVILEGES: &str = "read the user's privileges";

/// Room that is left on a tier beside what is moved there, of the size of the object and at least.
const MARGIN: (f64, f64) = (0.05, 1e6);

/// What became of an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was brought there: bytes before and after. An index is built anew, and so loses its bloat.
    Moved {
        /// Bytes before.
        before: f64,
        /// Bytes after.
        after: f64,
    },
    /// It was there already.
    There,
    /// It is not in the database any more.
    Gone,
    /// It is not, and another one has its name.
    Another,
    /// It is not found, and one of these, which lie on another tier, may be it.
    Lost(String),
    /// An index of a plan is not found, and one of these of its table may be it.
    Unknown(String),
    /// Somebody has moved it since we did.
    Elsewhere {
        /// Where we had put it.
        put: String,
        /// Where it lies.
        now: String,
        /// Where it lay before we moved it.
        home: String,
    },
    /// Somebody held it for longer than was waited: what, in words.
    Locked(String),
    /// There is not enough room.
    NoRoom(String),
    /// The server refused it.
    Refused(String),
}

/// An object as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct Relation {
    /// Where the journal finds it.
    pub kept: Kept,
    pub(super) kind: Kind,
    /// The tablespace, or folder, in which it lies.
    pub space: String,
    pub(super) bytes: f64,
    /// What keeps the user from moving it because it is somebody else's, and what would help; empty for its owner.
    pub(super) strange: String,
    /// Whether it is built anew beside the work of others, and not copied under a lock.
    pub(super) anew: bool,
    /// Whether changes of it go into the log.
    pub(super) logged: bool,
    /// What keeps it where it is; empty when nothing does.
    pub(super) stays: String,
}

impl Relation {
    /// Whether it is this table, by its number, or an index of it.
    pub fn is_of(&self, table: &str) -> bool {
        self.kept.table == table
    }
}

/// A session that moves.
pub struct Mover<'a> {
    database: &'a dyn Database,
    session: Box<dyn Session>,
    place: String,
    engine: Engine,
    lock_timeout: Duration,
    major: u32,
    /// The server's process behind the session.
    pub process: u32,
    /// The tablespace or folder for which it has found everything ready.
    ready: Option<String>,
    /// What was found of unfinished indexes and not told yet.
    notes: Vec<String>,
}

impl<'a> Mover<'a> {
    /// Opens a session that waits for no lock of a table longer than `lock_timeout`, and waits until no other mover works in this
    /// database; `waits` is told once, with the other's process.
    ///
    /// # Errors
    /// When it cannot be opened, was stopped, or the engine has nothing to move.
    pub fn open(
        database: &'a dyn Database,
        lock_timeout: Duration,
        stop: &AtomicBool,
        waits: &dyn Fn(u32),
    ) -> Result<Mover<'a>, DatabaseError> {
        let mut mover = Mover::looking(database, lock_timeout)?;
        let mut told = false;
        loop {
            let Some(other) = mover.asked(PREPARE, journal::claimed)? else { return Ok(mover) };
            if stop.load(Ordering::Relaxed) {
                return Err(DatabaseError::Stopped);
            }
            if !std::mem::replace(&mut told, true) {
                waits(other);
            }
            std::thread::sleep(LOOK);
        }
    }

    /// The same for one who only looks, and so waits for nobody.
    ///
    /// # Errors
    /// When it cannot be opened, or the engine has nothing to move.
    pub fn looking(database: &'a dyn Database, lock_timeout: Duration) -> Result<Mover<'a>, DatabaseError> {
        let (place, engine) = (database.place(), database.engine());
        if matches!(engine, Engine::Sqlite | Engine::Null) {
            return Err(DatabaseError::Address { place, problem: super::NO_TIERS.to_owned() });
        }
        let mut session = database.catalogue()?;
        let failed = |failure| DatabaseError::statement(&place, PREPARE, failure);
        let major = prepared(session.as_mut(), engine, lock_timeout).map_err(failed)?;
        let own = if engine == Engine::Mariadb { "SELECT connection_id()" } else { "SELECT pg_backend_pid()" };
        let process = session.number(own).map_err(failed)?.unwrap_or(0.0) as u32;
        Ok(Mover { database, session, place, engine, lock_timeout, major, process, ready: None, notes: Vec::new() })
    }

    fn failed(&self, action: &str, failure: Failure) -> DatabaseError {
        DatabaseError::statement(&self.place, action, failure)
    }

    fn asked<T>(
        &mut self,
        action: &str,
        ask: impl FnOnce(&mut dyn Session, Engine) -> Result<T, Failure>,
    ) -> Result<T, DatabaseError> {
        ask(self.session.as_mut(), self.engine).map_err(|failure| self.failed(action, failure))
    }

    /// The objects that were moved and where they lay; none where nothing was.
    ///
    /// # Errors
    /// When a schema of the journal's name is not ours, or cannot be read.
    pub fn kept(&mut self) -> Result<Vec<Kept>, DatabaseError> {
        let action = "read the journal of moves";
        match self.asked(action, journal::place)? {
            Place::Nothing => Ok(Vec::new()),
            Place::Strange(what) => Err(self.not_ours(what)),
            Place::Others(roles) => Err(self.of_others(roles)),
            Place::Ours => self.asked(action, journal::read),
        }
    }

    fn lacks(&self, action: &str, text: &str) -> DatabaseError {
        self.failed(action, Failure::new(FailureKind::Privilege, text))
    }

    fn not_ours(&self, what: String) -> DatabaseError {
        DatabaseError::Planted { place: self.place.clone(), name: "prony_tier".to_owned(), what }
    }

    fn of_others(&self, [owner, user]: [String; 2]) -> DatabaseError {
        DatabaseError::OthersJournal { place: self.place.clone(), owner, user }
    }

    /// Refuses before anything is changed what the user may not do with these objects, and makes the journal.
    ///
    /// # Errors
    /// The first thing that the user may not do.
    pub fn prepare(&mut self, objects: &[Relation], space: &str) -> Result<(), DatabaseError> {
        let Some(place) = self.allowed(objects, space)? else { return Ok(()) };
        self.asked(JOURNAL, if place { journal::renew } else { journal::make })?;
        if self.engine == Engine::Mariadb {
            self.usable()?;
        }
        self.ready = Some(space.to_owned());
        Ok(())
    }

    /// Refuses a user who may make the journal of a MariaDB and not write it; what was made for nothing goes.
    fn usable(&mut self) -> Result<(), DatabaseError> {
        let action = "write the journal of moves in the database prony_tier";
        let Err(error) = self.asked(action, |session, _| journal::usable(session)) else { return Ok(()) };
        // Who lacks a right may lack the one to drop it, too: then an empty journal stays.
        let _ = self.emptied();
        Err(error)
    }

    /// Refuses the same and changes nothing. Whether there is a journal; none where all was found ready before.
    ///
    /// # Errors
    /// The first thing that the user may not do.
    pub fn allowed(&mut self, objects: &[Relation], space: &str) -> Result<Option<bool>, DatabaseError> {
        let ready = self.ready.as_deref() == Some(space);
        if !ready {
            self.writable()?;
        }
        if let Some(strange) = objects.iter().find(|object| !object.strange.is_empty() && object.stays.is_empty()) {
            return Err(self.lacks(&format!("move {}", strange.kept.name), &strange.strange));
        }
        if ready {
            return Ok(None);
        }
        // With MariaDB there is no right to a folder, and the right to the journal is asked for by making it.
        let sql = match self.engine {
            Engine::Mariadb => "SELECT 1, 1".to_owned(),
            _ => format!(
                "SELECT has_tablespace_privilege({space}::oid, 'CREATE'), has_database_privilege(current_database(), 'CREATE')"
            ),
        };
        let row = self.asked(PRIVILEGES, |session, _| session.row(&sql))?;
        // What leaves the fast tier needs no right to it.
        if number(&row, 0) != 1.0 && objects.iter().any(|object| object.space != space) {
            return Err(self.lacks("put tables into the fast tablespace", "it needs CREATE on the tablespace"));
        }
        match self.asked(JOURNAL, journal::place)? {
            Place::Ours => Ok(Some(true)),
            Place::Strange(what) => Err(self.not_ours(what)),
            Place::Others(roles) => Err(self.of_others(roles)),
            Place::Nothing if number(&row, 1) != 1.0 => Err(self.lacks(JOURNAL, "it needs CREATE on the database")),
            Place::Nothing => Ok(Some(false)),
        }
    }

    /// Why the user, or the object itself, keeps one from being brought to a tablespace or folder; none where nothing does. What a
    /// MariaDB allows is seen when it is tried.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn forbidden(&mut self, object: &Relation, space: &str) -> Result<Option<String>, DatabaseError> {
        if !object.stays.is_empty() {
            return Ok(Some(object.stays.clone()));
        }
        if !object.strange.is_empty() {
            return Ok(Some(object.strange.clone()));
        }
        if let Some(what) = self.changes_nothing()? {
            return Ok(Some(what.to_owned()));
        }
        if self.engine == Engine::Mariadb {
            let (key, moved) = (&object.kept.table, !self.kept()?.is_empty());
            return self.asked("look for tables beside it", |session, _| {
                // What a journal of an earlier version does not know is seen when it is tried.
                let numbers = if moved { journal::numbers(session, key).ok() } else { None };
                exchange::in_the_way(session, key, numbers)
            });
        }
        let sql = format!(include_str!("mover_lacking.sql"), journal::quoted(self.engine, space), GONE = GONE);
        Ok(self.asked(PRIVILEGES, |session, _| session.text(&sql))?.filter(|lacks| !lacks.is_empty()))
    }

    /// The bytes of an object as it is now, and what it costs to bring it to a tablespace or folder by the times of both tiers; `fast` is
    /// the place of the fast one, and `before` are the objects that go before it, each with its place by then.
    pub fn cost(
        &mut self,
        object: &Relation,
        space: &str,
        fast: &str,
        tiers: &Tiers,
        before: &[(Relation, String)],
    ) -> (f64, Cost) {
        let on = |space: &str| if space == fast { &tiers.fast } else { &tiers.slow };
        // Who alters it holds it; what the catalogue says will do.
        let bytes = self.size(object).unwrap_or(object.bytes);
        let table = &object.kept.table;
        let asked = object.anew.then(|| {
            format!(
                "SELECT pg_relation_size(c.oid)::float8, (CASE c.reltablespace WHEN 0 THEN d.dattablespace ELSE c.reltablespace END)::int8 \
                 FROM pg_class c, pg_database d WHERE c.oid = {table} AND d.datname = current_database()"
            )
        });
        let rows = asked.map(|sql| {
            let row = self.session.row(&sql).unwrap_or_default();
            // An index is built from its rows where they are by then.
            let moved = before.iter().rfind(|(one, _)| one.kept.index.is_empty() && one.is_of(table));
            let lies = moved.map_or_else(|| oid(&row, 1).to_string(), |(_, space)| space.clone());
            (number(&row, 0).max(bytes), on(&lies))
        });
        (bytes, Cost::of(bytes, [on(&object.space), on(space)], rows, object.logged))
    }

    /// Makes a journal of an earlier version, in which these are kept, like one of this.
    ///
    /// # Errors
    /// When it cannot be changed.
    pub fn renew(&mut self, kept: &[Kept]) -> Result<(), DatabaseError> {
        if kept.is_empty() { Ok(()) } else { self.asked("renew the journal of moves", journal::renew) }
    }

    /// Refuses a server or a session that changes nothing.
    ///
    /// # Errors
    /// What keeps it from changing anything.
    pub fn writable(&mut self) -> Result<(), DatabaseError> {
        let Some(what) = self.changes_nothing()? else { return Ok(()) };
        Err(self.failed("move anything", Failure::refused(what)))
    }

    /// Why the server or the session changes nothing, and what would help; none where it may.
    fn changes_nothing(&mut self) -> Result<Option<&'static str>, DatabaseError> {
        if self.engine == Engine::Mariadb {
            return Ok(None);
        }
        let sql = "SELECT pg_is_in_recovery(), current_setting('transaction_read_only') = 'on'";
        let row = self.asked("ask whether it may write", |session, _| session.row(sql))?;
        Ok(match (number(&row, 0) == 1.0, number(&row, 1) == 1.0) {
            (true, _) => Some("this server is a standby: run the same command on its primary"),
            (_, true) => Some(
                "its sessions are read-only (default_transaction_read_only = on): ALTER ROLE .. IN DATABASE .. SET \
                 default_transaction_read_only = off, or name another user",
            ),
            _ => None,
        })
    }

    /// An object as it is now, by its number, or by its name when it is an index that was built anew; none when it is gone.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn find(&mut self, id: &str, index: Option<&str>) -> Result<Option<Relation>, DatabaseError> {
        if self.engine == Engine::Mariadb {
            return exchange::key(id).map_or(Ok(None), |key| self.found_table(&key));
        }
        let Ok(id) = id.parse::<u32>() else { return Ok(None) };
        let own = self.found(&format!("c.oid = {id}"))?;
        match index.filter(|_| own.is_none()) {
            // To look a name up otherwise takes a right to its schema.
            Some(name) => {
                self.found(&format!("format('%I.%I', n.nspname, c.relname) = {}", journal::quoted(self.engine, name)))
            }
            None => Ok(own),
        }
    }

    /// The indexes of a table that are in place, by their names.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn indexes(&mut self, table: &str) -> Result<Vec<String>, DatabaseError> {
        let sql = "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid \
                   JOIN pg_namespace n ON n.oid = c.relnamespace WHERE i.indisvalid AND i.indrelid::text = ";
        let sql = format!("{sql}{} ORDER BY 1", journal::quoted(self.engine, table));
        let rows = self.asked("look for indexes", |session, _| session.query(&sql))?;
        Ok(rows.iter().map(|row| text(row, 0)).collect())
    }

    /// Whether anything of this name, as a plan says it, is there. With MariaDB the name is what finds a table.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn is_named(&mut self, name: &str) -> Result<bool, DatabaseError> {
        if self.engine == Engine::Mariadb {
            return Ok(false);
        }
        let named = format!("format('%I.%I', n.nspname, c.relname) = {}", journal::quoted(self.engine, name));
        Ok(self.found(&named)?.is_some())
    }

    fn found_table(&mut self, key: &str) -> Result<Option<Relation>, DatabaseError> {
        self.asked("look for a table", |session, _| exchange::found(session, key))
    }

    /// The same of an object in the journal, or what became of it.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn find_kept(&mut self, kept: &Kept) -> Result<Result<Relation, Outcome>, DatabaseError> {
        let Kept { table, index, relation, home, .. } = kept;
        if self.engine == Engine::Mariadb {
            let all = self.kept()?;
            return self.asked("look for a table", |session, _| exchange::kept(session, kept, &all));
        }
        if index.is_empty() {
            return Ok(self.found(&format!("c.oid = {table}"))?.ok_or(Outcome::Gone));
        }
        if let Some(found) = self.found(&format!("i.indrelid = {table} AND c.oid::text = '{relation}'"))? {
            return Ok(Ok(found));
        }
        // Somebody else built it anew, or we did and were killed.
        let index = journal::quoted(self.engine, index);
        let named = self.found(&format!("i.indrelid = {table} AND c.relname = {index}"))?;
        if let Some(found) = named.as_ref().filter(|found| found.space != *home) {
            return Ok(Ok(found.clone()));
        }
        // What lies elsewhere and is in no line of the journal may be this one with another name.
        let elsewhere = format!(
            "SELECT string_agg(i.indexrelid::regclass::text, ', ') FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid \
             JOIN pg_database d ON d.datname = current_database() WHERE i.indrelid = {table} AND i.indisvalid \
             AND (CASE c.reltablespace WHEN 0 THEN d.dattablespace ELSE c.reltablespace END) <> {home} \
             AND NOT EXISTS (SELECT FROM prony_tier.moved m WHERE m.in_table = {table} AND (m.index_name = c.relname \
             OR to_jsonb(m)->>'relation' = c.oid::text))"
        );
        Ok(match self.asked("look for an index", |session, _| session.text(&elsewhere))? {
            Some(names) => Err(Outcome::Lost(names)),
            None => named.ok_or(Outcome::Gone),
        })
    }

    /// Whether somebody else has moved an object of the journal since we did, in which case it stays.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn strayed(&mut self, kept: &Kept, object: &Relation) -> Result<Option<Outcome>, DatabaseError> {
        if kept.knows(&object.space) {
            return Ok(None);
        }
        let put = kept.place().unwrap_or_default();
        let (put, now, home) = (self.space(put)?, self.space(&object.space)?, self.space(&kept.home)?);
        Ok(Some(Outcome::Elsewhere { put, now, home }))
    }

    /// A tablespace or folder by its name.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn space(&mut self, space: &str) -> Result<String, DatabaseError> {
        match (self.engine, space) {
            (Engine::Mariadb, "") => return Ok("the folder of the data".to_owned()),
            (Engine::Mariadb, folder) => return Ok(folder.to_owned()),
            _ => {}
        }
        let number = journal::quoted(self.engine, space);
        let sql = format!("SELECT quote_ident(spcname) FROM pg_tablespace WHERE oid::text = {number}");
        let name = self.asked("look for a tablespace", |session, _| session.text(&sql))?;
        Ok(name.unwrap_or_else(|| format!("a tablespace that is gone (number {space})")))
    }

    /// The line of the journal of an object; none when it never was moved. Beside it stands whether that line is of another index, which
    /// had this one's name.
    fn line(&mut self, object: &Relation) -> Result<Option<(Kept, bool)>, DatabaseError> {
        let (own, kept) = (&object.kept, self.kept()?);
        let by_number = kept.iter().find(|kept| !kept.relation.is_empty() && kept.relation == own.relation);
        if let Some(kept) = by_number {
            return Ok(Some((kept.clone(), false)));
        }
        let by_name = kept.into_iter().find(|kept| (&kept.table, &kept.index) == (&own.table, &own.index));
        let Some(kept) = by_name else { return Ok(None) };
        let other = match (kept.relation.as_str(), self.engine) {
            ("", _) => false,
            (number, Engine::Mariadb) => {
                self.asked("look for a table", |session, _| exchange::holder(session, number))?.is_some()
            }
            (number, _) => self.found(&format!("c.oid = {number}"))?.is_some(),
        };
        Ok(Some((kept, other)))
    }

    /// Where an object lay before it was first moved; none when it never was.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn home(&mut self, object: &Relation) -> Result<Option<String>, DatabaseError> {
        Ok(self.line(object)?.filter(|(_, other)| !other).map(|(kept, _)| kept.home))
    }

    fn found(&mut self, which: &str) -> Result<Option<Relation>, DatabaseError> {
        let sql = format!(include_str!("mover_found.sql"), which = which);
        let row = &self.asked("look for an object", |session, _| session.row(&sql))?;
        if row.is_empty() {
            return Ok(None);
        }
        // TOAST that was never vacuumed has no size in the catalogue; who alters it holds it.
        let toast = oid(row, 9);
        let toast =
            if toast > 0 { self.session.number(&format!("SELECT pg_relation_size({toast})")).ok() } else { None };
        Ok(Some(Relation {
            kept: Kept {
                table: oid(row, 1).to_string(),
                index: text(row, 2),
                name: text(row, 3),
                home: oid(row, 4).to_string(),
                relation: text(row, 8),
                put: None,
            },
            kind: if text(row, 0) == "i" { Kind::Index } else { Kind::Table },
            space: oid(row, 4).to_string(),
            stays: text(row, 10),
            logged: number(row, 11) == 1.0,
            bytes: number(row, 5) + toast.flatten().unwrap_or(0.0),
            strange: text(row, 6),
            // Before version 14 no index is built anew elsewhere, and one of an exclusion never beside others' work.
            anew: text(row, 0) == "i" && self.major >= 14 && number(row, 7) != 1.0,
        }))
    }

    /// Brings an object to a tablespace. Where it lay is kept first.
    ///
    /// # Errors
    /// When the connection is lost, it was stopped, or the journal cannot be written.
    pub fn bring(&mut self, object: &Relation, space: &str) -> Result<Outcome, DatabaseError> {
        if object.space == space {
            return Ok(Outcome::There);
        }
        if !object.stays.is_empty() {
            return Ok(Outcome::Refused(object.stays.clone()));
        }
        // What was never analysed has no size in the catalogue.
        let before = match self.size(object) {
            Ok(bytes) => bytes,
            Err(failure) if locked(&failure) => return Ok(Outcome::Locked(held(&failure))),
            Err(failure) => return self.ended(object, failure),
        };
        if let Some(short) = self.no_room(space, before) {
            return Ok(Outcome::NoRoom(short));
        }
        let kept = match self.line(object)? {
            Some((kept, true)) => {
                let text = format!(
                    "{}, which was moved before, was renamed; `prony tier undo` puts that back first",
                    kept.name
                );
                return Ok(Outcome::Refused(text));
            }
            Some((kept, _)) => kept,
            None => {
                self.asked(WRITE, |session, engine| journal::keep(session, engine, &object.kept))?;
                object.kept.clone()
            }
        };
        // Where somebody else put it since we moved it, it belongs from now on.
        let home = if kept.knows(&object.space) || space == kept.home { &kept.home } else { &object.space };
        self.noted(&kept, &object.kept, home, &[&object.space, space])?;
        if object.anew {
            let there = self.asked(WRITE, |session, _| journal::rebuilds(session, &kept))?;
            let says =
                |names: String| format!("left {names}: invalid before this rebuild began, and not of a move of ours");
            self.notes.extend(there.into_iter().map(says));
        }
        match self.carried(&kept, object, space) {
            Ok(()) => {
                if object.anew {
                    self.asked(WRITE, |session, _| journal::rebuilt(session))?;
                }
                let now = self.now(object)?;
                // As the server says it, so that it is known again.
                let (own, place) = now.as_ref().map_or((&object.kept, space), |now| (&now.kept, now.space.as_str()));
                self.noted(&kept, own, home, &[place])?;
                let after = now.and_then(|now| self.size(&now).ok());
                Ok(Outcome::Moved { before, after: after.unwrap_or(before) })
            }
            Err(failure) => {
                let outcome = self.ended(object, failure)?;
                self.noted(&kept, &object.kept, home, &[&object.space])?;
                Ok(outcome)
            }
        }
    }

    /// Notes which number an object has, and where it is put.
    fn noted(&mut self, kept: &Kept, now: &Kept, home: &str, put: &[&str]) -> Result<(), DatabaseError> {
        self.asked(WRITE, |session, engine| journal::put(session, engine, kept, now, home, put))
    }

    /// The oldest transaction whose snapshot a rebuild waits for, where nobody who writes has a lock on its table.
    fn old_transaction(&mut self, object: &Relation) -> Option<String> {
        let sql = format!(include_str!("mover_old_transaction.sql"), object.kept.table);
        self.session.text(&sql).ok().flatten()
    }

    /// An object behind its move: an index that was built anew is found by its name of now.
    fn now(&mut self, object: &Relation) -> Result<Option<Relation>, DatabaseError> {
        let Kept { table, name, index, .. } = &object.kept;
        match index.as_str() {
            "" => self.find(table, None),
            _ => self.found(&format!("c.oid = to_regclass({})", journal::quoted(self.engine, name))),
        }
    }

    /// Carries the move out.
    fn carried(&mut self, kept: &Kept, object: &Relation, space: &str) -> Result<(), Failure> {
        if self.engine != Engine::Mariadb {
            return self.statement(object, space).and_then(|sql| self.session.script(&sql));
        }
        let opened = self.database.catalogue();
        let mut other = opened.map_err(|error| Failure::refused(error.to_string()))?;
        exchange::begin(other.as_mut(), self.lock_timeout)?;
        exchange::exchange(self.session.as_mut(), other, kept, object, space)
    }

    fn ended(&mut self, object: &Relation, failure: Failure) -> Result<Outcome, DatabaseError> {
        if matches!(failure.kind, FailureKind::Lost | FailureKind::Stopped) {
            return Err(self.failed("move an object", failure));
        }
        let old = if locked(&failure) && object.anew { self.old_transaction(object) } else { None };
        self.tidy()?;
        Ok(match failure.kind {
            FailureKind::Full => Outcome::NoRoom(failure.text),
            _ if locked(&failure) => Outcome::Locked(old.unwrap_or_else(|| held(&failure))),
            _ => Outcome::Refused(failure.text),
        })
    }

    fn size(&mut self, object: &Relation) -> Result<f64, Failure> {
        if self.engine == Engine::Mariadb {
            return Ok(object.bytes);
        }
        let of = if object.kind == Kind::Index { "pg_relation_size" } else { "pg_table_size" };
        let sql = format!("SELECT {of}(to_regclass('{}'))", object.kept.name.replace('\'', "''"));
        Ok(self.session.number(&sql)?.unwrap_or(object.bytes))
    }

    /// The one statement of a move.
    fn statement(&mut self, object: &Relation, space: &str) -> Result<String, Failure> {
        let name = self.session.text(&format!("SELECT quote_ident(spcname) FROM pg_tablespace WHERE oid = {space}"))?;
        let space = name.ok_or_else(|| Failure::refused(GONE))?;
        let relation = &object.kept.name;
        Ok(match object.kind {
            Kind::Index if object.anew => format!("REINDEX (CONCURRENTLY, TABLESPACE {space}) INDEX {relation}"),
            Kind::Index => format!("ALTER INDEX {relation} SET TABLESPACE {space}"),
            _ => format!("ALTER TABLE {relation} SET TABLESPACE {space}"),
        })
    }

    /// Why an object does not fit a tablespace; none when it does, or when its folder is not on this machine.
    fn no_room(&mut self, space: &str, bytes: f64) -> Option<String> {
        if !is_here(self.database, self.session.as_mut()) {
            return None;
        }
        let (own, data) = match self.engine {
            Engine::Mariadb => (format!("SELECT {}", journal::quoted(self.engine, space)), "SELECT @@datadir"),
            _ => (format!("SELECT pg_tablespace_location({space})"), "SELECT current_setting('data_directory')"),
        };
        let own = self.session.text(&own).ok()??;
        let own = Path::new(&own);
        let folder = if own.is_absolute() {
            own.to_path_buf()
        } else {
            // A tablespace within the data's folder.
            Path::new(&self.session.text(data).ok()??).join(own)
        };
        let room = statvfs(&folder).ok()?;
        let free = room.f_bavail as f64 * room.f_frsize as f64;
        let needed = bytes + (MARGIN.0 * bytes).max(MARGIN.1);
        let said = |bytes: f64| units::bytes(units::Bytes(bytes as u64));
        (free < needed).then(|| format!("it needs {} there, and {} are free", said(needed), said(free)))
    }

    /// Drops what a move of ours left unfinished. What somebody holds stays for the next time, and is named.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn tidy(&mut self) -> Result<Vec<String>, DatabaseError> {
        let action = "look for unfinished indexes";
        if self.asked(action, journal::place)? != Place::Ours {
            return Ok(Vec::new());
        }
        let maria = self.engine == Engine::Mariadb;
        if maria {
            self.asked(action, journal::renew)?;
        }
        let left = self.asked(action, journal::unfinished)?;
        let session = self.session.as_mut();
        let drop = |one: &String| match maria {
            true => exchange::clear(session, one).is_ok(),
            false => session.script(&format!("DROP INDEX CONCURRENTLY IF EXISTS {one}")).is_ok(),
        };
        let (dropped, left): (Vec<String>, Vec<String>) = left.into_iter().partition(drop);
        if !maria {
            self.notes
                .extend(dropped.iter().map(|name| format!("dropped {name}, which a move of ours left unfinished")));
            self.asked(action, |session, _| journal::rebuilt(session))?;
        }
        Ok(left)
    }

    /// What was found and done beside the moves since this was asked last, in words.
    pub fn notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Forgets where an object lay, because it lies there again or is gone. With the last of them the journal goes. As long as
    /// something is unfinished nothing is forgotten: the journal tells that it is ours.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn forget(&mut self, kept: &Kept) -> Result<(), DatabaseError> {
        if !self.asked(WRITE, journal::unfinished)?.is_empty() {
            return Ok(());
        }
        self.asked(WRITE, |session, engine| journal::forget(session, engine, kept))?;
        self.emptied()
    }

    /// Removes a journal in which nothing is kept, as one has it who moved nothing in the end.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn emptied(&mut self) -> Result<(), DatabaseError> {
        let action = "remove the journal of moves";
        if self.asked(action, journal::place)? == Place::Ours && self.kept()?.is_empty() {
            self.asked(action, journal::drop)?;
        }
        Ok(())
    }

    /// Ends the server's side of another session at once; what it was doing is undone by the server.
    ///
    /// # Errors
    /// When the server does not take it.
    pub fn end_other(database: &dyn Database, process: u32) -> Result<(), DatabaseError> {
        let mut session = database.catalogue()?;
        let ended = match database.engine() {
            Engine::Mariadb => {
                let there = format!("SELECT 1 FROM information_schema.processlist WHERE id = {process}");
                let there = session.one(&there);
                there.and_then(|one| one.map_or(Ok(()), |_| session.script(&format!("KILL {process}"))))
            }
            _ => session.script(&format!("SELECT pg_terminate_backend({process})")),
        };
        ended.map_err(|failure| DatabaseError::statement(&database.place(), "end a move that was stopped", failure))
    }
}

fn held(failure: &Failure) -> String {
    format!("somebody holds a lock on it ({})", failure.text)
}

/// Sets a session up that waits for no lock longer than that; the leading number of a PostgreSQL's version.
fn prepared(session: &mut dyn Session, engine: Engine, lock_timeout: Duration) -> Result<u32, Failure> {
    if engine == Engine::Mariadb {
        return exchange::begin(session, lock_timeout).map(|()| 0);
    }
    session.script(&format!(
        "SET lock_timeout = {}; SET statement_timeout = 0; SET standard_conforming_strings = on; \
         SET application_name = 'prony tier'",
        lock_timeout.as_millis()
    ))?;
    let major = postgres::major(session)?;
    if major >= 14 {
        // The server ends a copy whose client was killed.
        session.script("SET client_connection_check_interval = '1s'")?;
    }
    Ok(major)
}
