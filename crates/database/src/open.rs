//! The door that the engine and the program come in by: it hands out one [`Database`], whichever engine it is.

use crate::{Database, DatabaseError, OpenOptions, Servers, mariadb, null, postgres, sqlite};
use study::{DatabaseSpec, Engine};

/// Opens a database. A private server is started; nothing is filled.
///
/// # Errors
/// When it cannot be reached, is too old, or does not take the settings.
pub fn open(spec: &DatabaseSpec, options: &OpenOptions) -> Result<Box<dyn Database>, DatabaseError> {
    Ok(match spec.engine {
        Engine::Sqlite => Box::new(sqlite::Database::of(spec, options)?),
        Engine::Null => Box::new(null::Database::of(spec)),
        Engine::Postgres => postgres::open(spec, options)?,
        Engine::Mariadb => mariadb::open(spec, options)?,
    })
}

/// The private servers of the cache folder that were made for a data set, started one by one as they are asked for.
///
/// # Errors
/// When no package of a server is installed; of each, when it does not start.
pub fn private_servers(engine: Engine, options: &OpenOptions) -> Result<Servers, DatabaseError> {
    match engine {
        Engine::Postgres => postgres::known(options),
        Engine::Mariadb => mariadb::known(options),
        Engine::Sqlite | Engine::Null => Ok(Vec::new()),
    }
}
