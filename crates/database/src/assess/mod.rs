//! What a server shows of its work to one who asks whether it is ready for a mirror.
//!
//! The one idea: only statistics and catalogues are read, within the limits of [`crate::tier`]. What a server or a user's rights do not show
//! is told with what would show it, and the rest is shown all the same.
//!
//! What it does not do: it judges nothing; `advisor::assess` does.

mod mariadb;
mod postgres;

use crate::limited::Limited;
use crate::{Database, DatabaseError, Failure, Session, tier};
use advisor::assess::{Rows, Session as Seen, Tally};
use study::Engine;
use workload::transaction::Value;

/// What is known of a server beside its counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Its version, in its own words.
    pub version: String,
    /// The database, or that all of the server is looked at.
    pub database: String,
    /// How transactions that write are told from others.
    pub written_from: String,
    /// Sequences in the database.
    pub sequences: Option<u64>,
    /// Its first process, where it runs on this machine.
    pub process: Option<u32>,
    /// What cannot be seen, each with what would show it.
    pub lacking: Vec<String>,
}

/// What it is asked for.
const STATISTICS: &str = "read the statistics";

/// One who looks at the work of a server and changes nothing.
pub struct Watcher {
    server: Limited,
    /// The leading number of the version.
    major: u32,
    /// The place in the log where the window began.
    log: Option<String>,
}

impl Watcher {
    /// Opens a session that can change nothing.
    ///
    /// # Errors
    /// When it cannot be opened, or the engine has no mirrors.
    pub fn open(database: &dyn Database) -> Result<Watcher, DatabaseError> {
        let only = "a mirror is one of a PostgreSQL or a MariaDB";
        let mut server = Limited::open(database, [mariadb::LIMITS, postgres::LIMITS], only)?;
        let major = server.ask(STATISTICS, |_| Ok(0), tier::postgres_major)?;
        Ok(Watcher { server, major, log: None })
    }

    /// Which server it is, and what it does not show.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn standing(&mut self) -> Result<Standing, DatabaseError> {
        self.server.ask(STATISTICS, mariadb::standing, |session| postgres::standing(session, self.major))
    }

    /// What it has counted so far.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn tally(&mut self) -> Result<Tally, DatabaseError> {
        if self.server.engine == Engine::Postgres && self.log.is_none() {
            self.log = postgres::end_of_log(self.server.session.as_mut());
        }
        self.server.ask(STATISTICS, mariadb::tally, |session| postgres::tally(session, self.major))
    }

    /// All sessions but this one, at this moment.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn sessions(&mut self) -> Result<Vec<Seen>, DatabaseError> {
        self.server.ask(STATISTICS, mariadb::sessions, postgres::sessions)
    }

    /// Statements that one look at the sessions sends, each of which the server counts as a transaction.
    pub fn sends(&self) -> u32 {
        if self.server.engine == Engine::Mariadb { 3 } else { 1 }
    }

    /// Counts records of the log between both tallies, where the server lets this user read it; says whether it did.
    pub fn refine(&mut self, before: &mut Tally, after: &mut Tally) -> bool {
        let log = self.log.take();
        log.is_some_and(|log| postgres::refine(self.server.session.as_mut(), &log, before, after))
    }
}

/// Rows that were read, inserted, updated and deleted, behind what they are of.
fn rows(row: &[Value]) -> Rows {
    let [read, inserted, updated, deleted] = [1, 2, 3, 4].map(|at| tier::number(row, at));
    Rows { read, inserted, updated, deleted }
}

/// Totals of the first row of an answer, in this order; what is null is not counted.
fn totals(
    session: &mut dyn Session,
    names: &[advisor::assess::Total],
    sql: &str,
) -> Result<Vec<(advisor::assess::Total, f64)>, Failure> {
    let values = session.row(sql)?;
    Ok(names.iter().zip(values).filter_map(|(name, value)| Some((*name, value.number()?))).collect())
}
