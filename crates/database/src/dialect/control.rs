//! The words that begin, end and separate transactions.

use study::{Engine, Isolation};

/// Begins a transaction on a server.
pub const BEGIN: &str = "BEGIN";

/// Keeps what a transaction did, on every engine.
pub const COMMIT: &str = "COMMIT";

/// Undoes what a transaction did, on every engine.
pub const ROLLBACK: &str = "ROLLBACK";

/// Begins a transaction. SQLite hears at once that something will be written, because a reader that turns writer
/// cannot wait its turn there.
pub fn begin(engine: Engine, write: bool) -> &'static str {
    match engine {
        Engine::Sqlite if write => "BEGIN IMMEDIATE",
        _ => BEGIN,
    }
}

/// What a session says once, so that its transactions are kept apart as asked; nothing when the engine has no choice or
/// its own is wanted.
pub fn isolation(engine: Engine, isolation: Isolation) -> Option<String> {
    let words = isolation.sql()?;
    match engine {
        Engine::Postgres => Some(format!("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL {words}")),
        Engine::Mariadb => Some(format!("SET SESSION TRANSACTION ISOLATION LEVEL {words}")),
        // SQLite's transactions are always serializable; the null database has none.
        Engine::Sqlite | Engine::Null => None,
    }
}

/// What a session says before it reads whole tables against each other. PostgreSQL joins by nested loops where it has no statistics
/// yet (a night has just filled a table) and only ten rows are wanted of many that it expects: the check of 100,000
/// settlements took minutes then, and takes seconds without. What it thinks a join costs that has no other way would have it
/// compile the query, which takes longer than to run it.
pub fn whole_tables(engine: Engine) -> &'static [&'static str] {
    if engine == Engine::Postgres { &["SET enable_nestloop = off", "SET jit = off"] } else { &[] }
}
