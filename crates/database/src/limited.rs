//! A session on a server that others work on: it only reads, within limits that keep it out of everybody's way.
//!
//! The one idea: who looks at a server knows two ways to ask, one for each engine, and here the one that fits is taken.

use crate::{Database, DatabaseError, Failure, Session};
use study::Engine;

pub(crate) struct Limited {
    pub(crate) session: Box<dyn Session>,
    pub(crate) engine: Engine,
    pub(crate) place: String,
}

impl Limited {
    /// Opens one within the limits of a MariaDB or of a PostgreSQL; `only` says what it takes where the engine is neither.
    ///
    /// # Errors
    /// When it cannot be opened, or the engine is another.
    pub(crate) fn open(
        database: &dyn Database,
        [mariadb, postgres]: [&str; 2],
        only: &str,
    ) -> Result<Limited, DatabaseError> {
        let (engine, place) = (database.engine(), database.place());
        if matches!(engine, Engine::Sqlite | Engine::Null) {
            return Err(DatabaseError::Address { place, problem: only.to_owned() });
        }
        let mut limited = Limited { session: database.catalogue()?, engine, place };
        let action = "limit a session that only reads";
        limited.ask(action, |session| session.script(mariadb), |session| session.script(postgres))?;
        Ok(limited)
    }

    /// Asks in the way of the engine; `action` says what for when it fails.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub(crate) fn ask<T>(
        &mut self,
        action: &str,
        mariadb: impl FnOnce(&mut dyn Session) -> Result<T, Failure>,
        postgres: impl FnOnce(&mut dyn Session) -> Result<T, Failure>,
    ) -> Result<T, DatabaseError> {
        let maria = self.engine == Engine::Mariadb;
        self.asked(action, |session| if maria { mariadb(session) } else { postgres(session) })
    }

    /// The same where both engines are asked in one way.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub(crate) fn asked<T>(
        &mut self,
        action: &str,
        ask: impl FnOnce(&mut dyn Session) -> Result<T, Failure>,
    ) -> Result<T, DatabaseError> {
        ask(self.session.as_mut()).map_err(|failure| DatabaseError::statement(&self.place, action, failure))
    }
}
