//! What a server counts of its tables and indexes, where they lie, and how they are brought elsewhere.
//!
//! The one idea: watching asks for statistics and catalogues alone, within limits of its own; only [`Mover`] changes anything, and
//! it writes down where an object lay before it touches it.
//!
//! What it does not do: it judges nothing; `advisor` does.

mod exchange;
mod journal;
mod mariadb;
mod mover;
mod postgres;

pub(crate) use mariadb::{LIMITS as MARIADB_LIMITS, WHO as MARIADB_WHO, flushes as mariadb_flushes};
pub(crate) use postgres::{flushes as postgres_flushes, major as postgres_major};

pub use journal::Kept;
pub use mover::{Mover, Outcome, Relation};

use crate::limited::Limited;
use crate::{Database, DatabaseError, Failure, FailureKind, Session};
use advisor::{Described, Look};
use std::collections::BTreeSet;
use std::path::PathBuf;
use study::Engine;
use workload::transaction::Value;

/// Which server and database it is, and where its tiers are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// What no other server has.
    pub system: String,
    /// The database.
    pub database: String,
    /// The number of the fast tablespace, or the folder; none when there is none of that name.
    pub fast: Option<String>,
    /// The tablespace of the database, to which goes what leaves the fast one, and its number; none for the folder of the data.
    pub slow: (String, String),
    /// Bytes of its buffer.
    pub buffer: u64,
    /// What the advice lacks, each with what would bring it.
    pub lacking: Vec<String>,
}

/// One who watches a server: reads its statistics, within limits that keep it out of everybody's way.
pub struct Watch {
    server: Limited,
    fast: String,
    /// Whether the server runs on this machine.
    here: bool,
}

impl Watch {
    /// Opens a session that can change nothing. `fast` is the tablespace of the fast tier, with MariaDB its folder.
    ///
    /// # Errors
    /// When it cannot be opened, or the engine has no tiers.
    pub fn open(database: &dyn Database, fast: &str) -> Result<Watch, DatabaseError> {
        let mut server = Limited::open(database, [mariadb::LIMITS, postgres::LIMITS], NO_TIERS)?;
        let here = is_here(database, server.session.as_mut());
        Ok(Watch { server, fast: fast.to_owned(), here })
    }

    /// Which server it is.
    ///
    /// # Errors
    /// When it cannot be asked, or does not count what is needed.
    pub fn standing(&mut self) -> Result<Standing, DatabaseError> {
        let Watch { server, fast, .. } = self;
        match server.engine {
            Engine::Mariadb => mariadb::standing(server.session.as_mut(), &server.place, fast),
            _ => server.asked("read the catalogue", |session| postgres::standing(session, fast)),
        }
    }

    /// What the server has counted so far; the caller says when it was.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn look(&mut self) -> Result<Look, DatabaseError> {
        self.server.ask("read the statistics", mariadb::look, postgres::look)
    }

    /// The objects that are there now; the sizes of those in `read` are looked up, others as the catalogue has them.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn described(&mut self, read: &BTreeSet<String>) -> Result<Vec<Described>, DatabaseError> {
        let Watch { server, fast, .. } = self;
        let of_mariadb = |session: &mut dyn Session| mariadb::described(session, fast, read);
        server.ask("read the catalogue", of_mariadb, |session| postgres::described(session, fast, read))
    }

    /// Why a MariaDB on this machine can make no files in the folder of its fast tier, and what would help; none where nothing is seen that
    /// keeps it from that.
    pub fn shut(&mut self) -> Option<[String; 2]> {
        let folder = self.fast.starts_with('/') && self.here && self.server.engine == Engine::Mariadb;
        if folder { mariadb::shut(self.server.session.as_mut(), &self.fast) } else { None }
    }

    /// The folders of the data, as far as the server shows them to this user.
    pub fn folders(&mut self) -> Vec<PathBuf> {
        self.server.ask("look for folders", mariadb::folders, postgres::folders).unwrap_or_default()
    }
}

const NO_TIERS: &str = "tiers are those of PostgreSQL or MariaDB";

pub(crate) fn text(row: &[Value], at: usize) -> String {
    row.get(at).and_then(Value::text).unwrap_or_default().to_owned()
}

pub(crate) fn number(row: &[Value], at: usize) -> f64 {
    row.get(at).and_then(Value::number).unwrap_or(0.0)
}

/// A server's number for an object.
fn oid(row: &[Value], at: usize) -> u32 {
    number(row, at) as u32
}

/// Whether the server runs on this machine.
fn is_here(database: &dyn Database, session: &mut dyn Session) -> bool {
    let named = database.engine() == Engine::Mariadb
        && std::fs::read_to_string("/proc/sys/kernel/hostname")
            .is_ok_and(|own| session.text("SELECT @@hostname").ok().flatten().as_deref() == Some(own.trim()));
    named || !database.server_processes().is_empty()
}

/// Whether a statement was refused because somebody else holds a lock.
fn locked(failure: &Failure) -> bool {
    failure.kind == FailureKind::Deadlock
}
