//! Databases as systems, and how sessions talk to them.
//!
//! The one idea: which database and how it is asked are plain values; whoever opens sessions is handed them.
//!
//! What it does not do: it opens nothing, and it knows no password beyond the URL that it was given.

use crate::password::{self, Secret};
use crate::{Layout, Pairing, Place, Published, TierFolder, Voter, Waits};
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
#[derive(Clone, PartialEq, Eq, Hash)]
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

impl std::fmt::Debug for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            At::Cache => f.write_str("Cache"),
            At::File(path) => f.debug_tuple("File").field(path).finish(),
            At::Local => f.write_str("Local"),
            At::Url(url) => f.debug_tuple("Url").field(&password::without_password(url)).finish(),
            At::Nowhere { socket } => f.debug_struct("Nowhere").field("socket", socket).finish(),
        }
    }
}

/// A database as a system under test.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DatabaseSpec {
    /// Its kind.
    pub engine: Engine,
    /// Where it is.
    pub at: At,
    /// Which of its data lives where; none for all of it in the server's own folder.
    pub layout: Option<Layout>,
    /// What commits wait for where a second server follows it; none for one server alone.
    pub mirror: Option<Waits>,
    /// Where the mirror lies; none for beside the first server.
    pub mirror_on: Option<Box<TierFolder>>,
    /// How a mirror is kept equal, where there is one.
    pub pairing: Pairing,
    /// Which tables the mirror has, where a publication says so, or sessions in lock step leave some out; none for all of them.
    pub published: Option<Published>,
    /// Whether the log tells rows: where a system of the study needs that, the servers of all have it.
    pub logical: bool,
    /// Who decides when they lose each other.
    pub voter: Voter,
    /// Where the mirror is that a running server has: a URL without a password.
    pub beside: Option<Box<At>>,
}

impl DatabaseSpec {
    /// A database without a layout.
    pub fn new(engine: Engine, at: At) -> DatabaseSpec {
        let (pairing, voter) = (Pairing::default(), Voter::default());
        DatabaseSpec {
            engine,
            at,
            layout: None,
            mirror: None,
            mirror_on: None,
            pairing,
            published: None,
            logical: false,
            voter,
            beside: None,
        }
    }

    /// The place in words, without a password.
    pub fn shown(&self) -> String {
        match &self.at {
            At::Cache => format!("{}:", self.engine.word()),
            At::File(path) => format!("{}:{path}", self.engine.word()),
            At::Local => format!("local:{}", self.engine.word()),
            At::Url(url) => password::without_password(url),
            At::Nowhere { socket: false } => "answers at once, in this process".to_owned(),
            At::Nowhere { socket: true } => OVER_SOCKET.to_owned(),
        }
    }

    /// The same for a command that somebody copies: without the mark of a password, which came beside the URL or has to.
    pub fn copied(&self) -> String {
        password::left_away(&self.shown())
    }

    /// Its second server and what commits wait for, in words that follow those of the first; none of one that stands alone.
    pub fn followed(&self) -> Option<String> {
        self.mirror.map(|waits| match self.pairing {
            Pairing::Postgres => {
                let follows = match &self.published {
                    None => "a mirror".to_owned(),
                    Some(published) if published.leave_out.is_empty() => "a subscriber of all tables".to_owned(),
                    Some(published) => format!("a subscriber of all tables but {}", published.leave_out.join(", ")),
                };
                format!(" with {follows}; commits wait for {}", waits.shown_by(self.published.is_some()))
            }
            Pairing::TwoPhase => {
                let but = self.published.iter().map(|out| format!(", for all tables but {}", out.leave_out.join(", ")));
                let but: String = but.collect();
                format!(" and a second one in lock step{but}; transactions that write run and are prepared on both")
            }
            Pairing::Galera => {
                " and a second one that Galera joins to it; commits wait until both have their changes".to_owned()
            }
        })
    }

    /// The same with the layout and the mirror.
    pub fn placed(&self) -> String {
        let laid = self.layout.iter().map(|layout| format!(", {}", layout.shown()));
        let mirrored = self.followed();
        let lies = self.mirror.and(self.mirror_on.as_ref()).map(|at| format!("; it lies on {}", at.folder));
        let beside = self.second().map(|it| format!(" with its mirror {}, both as they are", it.shown()));
        self.shown() + &laid.chain(mirrored).chain(lies).chain(beside).collect::<String>()
    }

    /// Whether all of the mirror, and of the first server, lies on emulated devices.
    pub fn emulated(&self) -> [bool; 2] {
        let first = |layout: &Layout| layout.used().all(|(_, at)| at.folder.device.is_some());
        [self.mirror_on.as_ref().is_some_and(|at| at.folder.device.is_some()), self.layout.as_ref().is_some_and(first)]
    }

    /// The mirror that a running server has.
    pub fn second(&self) -> Option<DatabaseSpec> {
        Some(DatabaseSpec::new(self.engine, self.beside.as_deref()?.clone()))
    }

    /// The same with the first password of its engine, when it is a running server whose URL says none.
    #[must_use]
    pub fn with_password_of(mut self, passwords: &[(Engine, Secret)]) -> DatabaseSpec {
        let found = passwords.iter().find(|(engine, _)| *engine == self.engine);
        if let (At::Url(url), Some((_, password))) = (&mut self.at, found) {
            *url = password::with_password(url, password);
        }
        self
    }

    /// The database as a target names it, when it is this one but for its password.
    pub fn named_by(&self, target: &str) -> Option<DatabaseSpec> {
        let Place::Database(named) = crate::target(target).ok()?.place else { return None };
        let bare = |spec: &DatabaseSpec| password::left_away(&spec.shown());
        (named.engine == self.engine && bare(&named) == bare(self)).then_some(named)
    }
}

units::words! {
    /// How statements travel.
    #[derive(Default)]
    pub enum Protocol {
        #[default]
        Prepared = "prepared" "Parsed once a session, values apart.",
        Extended = "extended" "Parsed anew each time, values apart.",
        Simple = "simple" "Text with the values in it.",
    }
}

units::words! {
    /// How far transactions are kept apart.
    #[derive(Default)]
    pub enum Isolation {
        #[default]
        Default = "default" "What the server does when nobody says anything.",
        ReadCommitted = "read-committed" "Read committed.",
        RepeatableRead = "repeatable-read" "Repeatable read.",
        Serializable = "serializable" "Serializable.",
    }
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
    /// Which server of a pair they go to: 0 for the first, 1 for the second.
    pub node: u32,
    /// Before every so many transactions a session is opened anew; 0 is never.
    pub reopen: u32,
}

impl Default for Sessions {
    fn default() -> Sessions {
        let (protocol, isolation) = (Protocol::Prepared, Isolation::Default);
        Sessions { protocol, pipeline: true, isolation, tries: 10, node: 0, reopen: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_shown_without_its_password() {
        let spec = DatabaseSpec::new(Engine::Postgres, At::Url("postgres://me:secret@host/db".into()));
        assert!(!format!("{spec:?}").contains("secret"));
        let other = [(Engine::Postgres, Secret("other".into()))];
        assert!(!format!("{:?}", Place::Database(spec.with_password_of(&other))).contains("secret"));
        let url = "mysql://me@host/db?tls=true";
        let beside = DatabaseSpec::new(Engine::Mariadb, At::Url(url.into()));
        assert_eq!(beside.with_password_of(&[(Engine::Mariadb, Secret("other".into()))]).copied(), url);
    }

    #[test]
    fn a_target_names_a_database_whatever_its_password_and_nothing_beside_it() {
        let of = |url: &str| DatabaseSpec::new(Engine::Postgres, At::Url(url.into()));
        let kept = of("postgres://me:***@host/db");
        for named in ["postgres://me:s3cret@host/db", "postgres://me@host/db", "there=postgres://me@host/db"] {
            assert!(kept.named_by(named).is_some() && of("postgres://me@host/db").named_by(named).is_some(), "{named}");
        }
        assert_eq!(kept.named_by("postgres://me:s3cret@host/db"), Some(of("postgres://me:s3cret@host/db")));
        for other in [
            "postgres://me@evil/db",
            "postgres://me@host/db?host=evil",
            "postgres://me@host/db?cleartext_password=true",
        ] {
            assert_eq!(of(other).named_by("postgres://me@host/db"), None, "{other}");
        }
    }
}
