//! Databases as systems, and how sessions talk to them.
//!
//! The one idea: which database and how it is asked are plain values; whoever opens sessions is handed them.
//!
//! What it does not do: it opens nothing, and it knows no password beyond the URL that it was given.

use observation::{OVER_SOCKET, SystemKind};
use workload::dataset::Language;

/// A kind of database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Engine {
    /// SQLite, inside this process.
    Sqlite,
    /// PostgreSQL.
    Postgres,
    /// MariaDB, and MySQL by the same protocol.
    Mariadb,
    /// Answers at once with nothing: what is measured is the generator.
    Null,
}

impl Engine {
    /// The word in targets and reports.
    pub fn word(self) -> &'static str {
        match self {
            Engine::Sqlite => SystemKind::Sqlite.word(),
            Engine::Postgres => SystemKind::Postgres.word(),
            Engine::Mariadb => SystemKind::Mariadb.word(),
            Engine::Null => SystemKind::NullDatabase.word(),
        }
    }

    /// The language of its stored procedures; none where it has none.
    pub fn language(self) -> Option<Language> {
        match self {
            Engine::Postgres => Some(Language::Postgres),
            Engine::Mariadb => Some(Language::Mariadb),
            Engine::Sqlite | Engine::Null => None,
        }
    }
}

/// Where a database is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum At {
    /// An embedded one in the cache folder, made by Prony.
    Cache,
    /// An embedded one in a file; Prony makes it, or finds one that it made.
    File(String),
    /// A private server that Prony starts from installed packages.
    Local,
    /// A server that is running already. May hold a password: show it only through [`DatabaseSpec::shown`].
    Url(String),
    /// Inside the generator, or behind a socket of its own: only the null database.
    Nowhere {
        /// Behind a loopback socket.
        socket: bool,
    },
}

/// A database as a system under test.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct DatabaseSpec {
    /// Its kind.
    pub engine: Engine,
    /// Where it is.
    pub at: At,
}

impl DatabaseSpec {
    /// The place in words, without a password.
    pub fn shown(&self) -> String {
        match &self.at {
            At::Cache => format!("{}:", self.engine.word()),
            At::File(path) => format!("{}:{path}", self.engine.word()),
            At::Local => format!("local:{}", self.engine.word()),
            At::Url(url) => without_password(url),
            At::Nowhere { socket: false } => "answers at once, in this process".to_owned(),
            At::Nowhere { socket: true } => OVER_SOCKET.to_owned(),
        }
    }
}

impl std::fmt::Debug for DatabaseSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DatabaseSpec").field("engine", &self.engine).field("at", &self.shown()).finish()
    }
}

/// A URL with its password, if it has one, replaced, and passwords among its parameters too.
pub fn without_password(url: &str) -> String {
    let (base, query) = match url.split_once('?') {
        Some((base, query)) => (base, Some(query)),
        None => (url, None),
    };
    let mut shown = match base.split_once("://") {
        Some((scheme, rest)) => {
            // Only the authority can hold a password, and the last @ ends it even when the password holds one.
            let (authority, path) = rest.split_at(rest.rfind('@').map_or(0, |at| at + 1));
            let user = authority.split(':').next().unwrap_or_default().trim_end_matches('@');
            match authority {
                "" => base.to_owned(),
                with if with.contains(':') => format!("{scheme}://{user}:***@{path}"),
                _ => format!("{scheme}://{user}@{path}"),
            }
        }
        None => base.to_owned(),
    };
    if let Some(query) = query {
        let hide = |pair: &str| match pair.split_once('=') {
            Some((key, _)) if key.to_lowercase().contains("password") || key.to_lowercase().contains("token") => {
                format!("{key}=***")
            }
            _ => pair.to_owned(),
        };
        shown.push('?');
        shown.push_str(&query.split('&').map(hide).collect::<Vec<_>>().join("&"));
    }
    shown
}

/// How statements travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Text with the values in it.
    Simple,
    /// Parsed anew each time, values apart.
    Extended,
    /// Parsed once a session, values apart.
    #[default]
    Prepared,
}

/// How far transactions are kept apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Isolation {
    /// What the server does when nobody says anything.
    #[default]
    Default,
    /// Read committed.
    ReadCommitted,
    /// Repeatable read.
    RepeatableRead,
    /// Serializable.
    Serializable,
}

impl Isolation {
    /// The words of SQL; nothing for the server's own choice.
    pub fn sql(self) -> Option<&'static str> {
        match self {
            Isolation::Default => None,
            Isolation::ReadCommitted => Some("READ COMMITTED"),
            Isolation::RepeatableRead => Some("REPEATABLE READ"),
            Isolation::Serializable => Some("SERIALIZABLE"),
        }
    }
}

/// How the sessions of a stream talk to the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sessions {
    /// How statements travel.
    pub protocol: Protocol,
    /// Whether calls of one batch travel together, where the protocol can.
    pub pipeline: bool,
    /// How far transactions are kept apart.
    pub isolation: Isolation,
    /// How often a transaction is tried at most when the engine aborts it for a conflict.
    pub tries: u32,
}

impl Default for Sessions {
    fn default() -> Sessions {
        Sessions { protocol: Protocol::Prepared, pipeline: true, isolation: Isolation::Default, tries: 10 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_never_leaves_a_url() {
        assert_eq!(without_password("postgres://me:s3@cret@host:5432/db"), "postgres://me:***@host:5432/db");
        assert_eq!(without_password("postgres://me@host/db"), "postgres://me@host/db");
        assert_eq!(without_password("mysql://host/db?password=x&a=b"), "mysql://host/db?password=***&a=b");
        let spec = DatabaseSpec { engine: Engine::Postgres, at: At::Url("postgres://me:secret@host/db".into()) };
        assert!(!format!("{spec:?}").contains("secret"));
    }
}
