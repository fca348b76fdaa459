//! Why a database cannot be used, and what to do next.

use crate::{Failure, FailureKind};
use std::path::PathBuf;

/// Why a database or its data set cannot be used. Nothing here ever holds a password.
/// `place` is where the database is, `text` what the system or the server said, `name` the schema, database or file.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum DatabaseError {
    /// A server's program is not installed.
    #[error("a private {engine} server needs the program {program}, which is not installed")]
    MissingPackage { engine: &'static str, program: String, package: &'static str },
    /// The address cannot be understood.
    #[error("{place}: {problem}")]
    Address { place: String, problem: String },
    /// Nobody answers there.
    #[error("{place}: no connection: {text}")]
    Refused { place: String, text: String },
    /// The server takes no more sessions, of this user or at all.
    #[error("{place}: no connection: {text}; {}, or ask for fewer sessions", limit(text).raise())]
    ServerFull { place: String, text: String },
    /// The server does not know this user, or not with this password.
    #[error("{place}: the server does not let this user in: {text}")]
    Password { place: String, text: String },
    /// The connection cannot be made secure as the address asks.
    #[error("{place}: no secure connection: {text}")]
    Secure { place: String, text: String },
    /// The server lets nobody, or not this user, in without TLS.
    #[error("{place}: the server may demand TLS, and this connection has none: {text}")]
    NotSecure { place: String, text: String },
    /// The user may not do what is needed.
    #[error("{place}: the user lacks the privilege to {action}: {text}")]
    Privilege { place: String, action: String, text: String },
    /// The user may not force the checkpoint before a trial.
    #[error("{place}: the user lacks the privilege to {action}: {text}")]
    Checkpoint { place: String, action: String, text: String },
    /// The server does not count what is asked for.
    #[error("{place}: reads and their times by table are not counted there")]
    Uncounted { place: String, remedy: &'static str },
    /// The server is too old, or something else than it seems.
    #[error("{place}: needs {needed}, the server is {found}")]
    Version { place: String, needed: String, found: String },
    /// A setting that the engine does not take.
    #[error("setting {key}: {problem}, got {value:?}")]
    Setting { key: String, value: String, problem: String },
    /// Something of that name exists and does not carry our mark.
    #[error("{place}: {name} exists and was not made by Prony; it was left untouched")]
    NotOurs { place: String, name: String },
    /// Something does not lie where the layout says.
    #[error("{place}: {what} does not lie where the layout says")]
    NotLaidOut { place: String, what: String },
    /// Something there is not as Prony makes it, and could run code of its maker.
    #[error("{place}: {name}: {what} was not made by Prony; it was left untouched")]
    Planted { place: String, name: String, what: String },
    /// The journal of moves is another role's, who could have code run with the rights of whoever reads it.
    #[error(
        "{place}: the journal of moves in the schema prony_tier was made by prony tier as the role {owner}, and is not read as {user}; \
         nothing was changed"
    )]
    OthersJournal { place: String, owner: String, user: String },
    /// A file of ours that was whole once cannot be read any more.
    #[error("{place}: {name} is damaged: {text}; it was left untouched")]
    Damaged { place: String, name: String, text: String },
    /// A file that a session needs is not there; no session makes one.
    #[error("{place}: the file {name} is not there: it vanished with its folder or mount, was removed, or never was")]
    Vanished { place: String, name: String },
    /// What a database keeps on its disk cannot be read or written.
    #[error("{place}: pages cannot be read or written: {text}")]
    Unreadable { place: String, text: String },
    /// A data set of ours would have to go, and something of somebody else's would go with it.
    #[error("{place}: {name} holds `{what}`, which was not made by Prony; it was left untouched")]
    Foreign { place: String, name: String, what: String },
    /// Another version of Prony made it.
    #[error(
        "{place}: {name} holds a data set of format {format}, and this version of Prony reads format {}; it was left untouched",
        crate::mark::FORMAT
    )]
    OtherFormat { place: String, name: String, format: String },
    /// A data set of ours is there, but another one.
    #[error("{place}: {name} holds the data set {found}, not {wanted}")]
    OtherDataSet { place: String, name: String, found: String, wanted: String },
    /// Another Prony fills it, restores it or runs on it.
    #[error("{place}: {name} is in use by {holder}")]
    Claimed { place: String, name: String, holder: String },
    /// The data set is not there, or only a part of it.
    #[error("{place}: the data set {name} is not filled: {state}")]
    NotFilled { place: String, name: String, state: &'static str },
    /// There is no way to bring the data set back.
    #[error("{place}: the data set cannot be restored: {reason}")]
    NoRestore { place: String, reason: String },
    /// No room is left.
    #[error("{place}: no room left on the disk: {text}")]
    Full { place: String, text: String },
    /// A private server did not start, or went away.
    #[error("the private {engine} server in {folder}: {text}")]
    Server { engine: &'static str, folder: PathBuf, text: String },
    /// Somebody else started a server on the data of a private one.
    #[error("process {pid} serves the data in {folder}, and Prony did not start it; it was left alone")]
    Occupied { pid: u32, folder: PathBuf },
    /// The system knows no socket of such a path.
    #[error("the path {path} has {length} bytes, and that of a socket {most} at most")]
    LongPath { path: PathBuf, length: usize, most: usize },
    /// A file or folder of ours cannot be used.
    #[error("cannot {action} {path}")]
    File { action: &'static str, path: PathBuf, source: std::io::Error },
    /// The database refused a statement.
    #[error("{place}: cannot {action}")]
    Statement { place: String, action: String, source: Failure },
    /// The user stopped it.
    #[error("stopped before it was finished; what it made is marked as unfinished and begun anew next time")]
    Stopped,
}

impl DatabaseError {
    /// What a failed statement means while something was done at a place.
    pub fn statement(place: &str, action: &str, source: Failure) -> DatabaseError {
        let place = place.to_owned();
        match source.kind {
            FailureKind::Full => DatabaseError::Full { place, text: source.text },
            FailureKind::Unreadable => DatabaseError::Unreadable { place, text: source.text },
            FailureKind::Stopped => DatabaseError::Stopped,
            FailureKind::Lost => DatabaseError::Refused { place, text: source.text },
            FailureKind::Privilege => DatabaseError::Privilege { place, action: action.to_owned(), text: source.text },
            _ => DatabaseError::Statement { place, action: action.to_owned(), source },
        }
    }

    /// What a failed file operation means.
    pub fn file(action: &'static str, path: impl Into<PathBuf>, source: std::io::Error) -> DatabaseError {
        let path = path.into();
        match source.kind() {
            std::io::ErrorKind::StorageFull => {
                DatabaseError::Full { place: path.display().to_string(), text: source.to_string() }
            }
            _ => DatabaseError::File { action, path, source },
        }
    }

    /// What it means that no checkpoint could be forced before a trial, which may do without one.
    #[must_use]
    pub fn before_a_trial(self) -> DatabaseError {
        match self {
            DatabaseError::Privilege { place, action, text } => DatabaseError::Checkpoint { place, action, text },
            other => other,
        }
    }

    /// The same outcome, but that of a checkpoint which the user may not ask for: a fill needs none, since the commit of its mark
    /// makes all commits before it durable, too.
    pub fn unless_not_allowed(asked: Result<(), DatabaseError>) -> Result<(), DatabaseError> {
        asked.or_else(|error| if matches!(error, DatabaseError::Privilege { .. }) { Ok(()) } else { Err(error) })
    }

    /// Whether a server that is starting, recovering or restarting may say so, and another try a moment later help.
    pub fn may_pass(&self) -> bool {
        use DatabaseError::{Claimed, File, Refused, Server, ServerFull, Statement};
        matches!(
            self,
            Refused { .. } | ServerFull { .. } | Claimed { .. } | Server { .. } | Statement { .. } | File { .. }
        )
    }

    /// Whether the server takes no more sessions of anybody.
    pub fn server_is_full(&self) -> bool {
        matches!(self, DatabaseError::ServerFull { text, .. } if limit(text) == Limit::Server)
    }

    /// The same without that password: no server is known to repeat it, but a proxy might.
    #[must_use]
    pub(crate) fn hiding(mut self, password: Option<&str>) -> DatabaseError {
        use DatabaseError::{NotSecure, Password, Privilege, Refused, Secure, ServerFull};
        let Some(password) = password.filter(|password| !password.is_empty()) else { return self };
        if let Password { text, .. }
        | Privilege { text, .. }
        | Refused { text, .. }
        | Secure { text, .. }
        | NotSecure { text, .. }
        | ServerFull { text, .. } = &mut self
        {
            *text = text.replace(password, study::password::LEFT_OUT);
        }
        self
    }

    /// What to do next.
    pub fn hint(&self) -> Option<String> {
        use DatabaseError::*;
        let hint = match self {
            MissingPackage { package, .. } => return Some(format!("install it: apt-get install {package}")),
            Address { .. } => "write postgres://USER@HOST:PORT/DATABASE or mysql://USER@HOST:PORT/DATABASE",
            Refused { .. } => "check that the server runs and that host, port and database are right",
            Password { .. } => {
                "check user and password; a password may stand in the address, in the file that PGPASSFILE names, or, for a \
                 server that --on names on this command line, in that of --password-file or in PGPASSWORD or MYSQL_PWD"
            }
            Secure { .. } => "check the server's certificate, or ask for no TLS in the address",
            NotSecure { .. } => {
                "ask for TLS in the address: sslmode=require (postgres://) or ssl-mode=required (mysql://), with sslrootcert=FILE or \
                 ssl-ca=FILE where its certificate is your own; otherwise check user, database and pg_hba.conf"
            }
            Privilege { .. } => "grant it, or name a user who has it",
            Checkpoint { .. } => {
                "grant it (in PostgreSQL the role pg_checkpoint), or leave checkpoints alone: --set checkpoints=leave"
            }
            Uncounted { remedy, .. } => remedy,
            Version { .. } => "name a newer server, or use a private one: --on local:postgres, --on local:mariadb",
            Setting { .. } => "give a value that the message allows",
            Damaged { .. } => {
                "keep it for whoever looks for the cause; move it away, or remove it yourself, and its data set is filled anew"
            }
            Vanished { .. } => "mount it again or bring the file back, and run again; or name another path",
            Unreadable { .. } => {
                "look for the disk in the kernel log (`dmesg`); keep the file for whoever looks for the cause"
            }
            NotOurs { .. } => "name another database or file, or remove this one yourself",
            NotLaidOut { .. } => {
                "this server lays nothing apart so; take another layout, or remove the server: prony db down --remove"
            }
            Planted { .. } => {
                "connect as the role that filled it, remove what is not Prony's, or name another database or file"
            }
            OthersJournal { owner, user, .. } => {
                return Some(format!(
                    "connect as {owner}; or have a superuser hand it over with all that it holds, and run it again: ALTER SCHEMA prony_tier OWNER \
                     TO {user}; ALTER TABLE prony_tier.moved OWNER TO {user}"
                ));
            }
            Foreign { what, .. } => return Some(format!("move `{what}` elsewhere, or name another database or file")),
            OtherFormat { name, .. } => {
                return Some(format!(
                    "name another database or file, or remove {name} yourself and fill it anew: prony db fill"
                ));
            }
            OtherDataSet { name, found, .. } => {
                return Some(format!(
                    "name another database or file, ask for {found}, or remove {name} yourself and fill it anew: prony db fill"
                ));
            }
            Claimed { .. } => "wait until that one has ended, or name another database or file",
            NotFilled { .. } => "fill it: prony db fill STUDY, with the same `--on` and `--set`",
            NoRestore { .. } => "use sqlite: or a private server, or state = \"left\"",
            Full { .. } => {
                "free space there, raise its limit, or choose less data: fewer `accounts` of a bank, `rows` of a warehouse, `customers` of \
                 a brokerage house, or `days`"
            }
            Occupied { pid, .. } => return Some(format!("end it, and say it again: kill {pid}")),
            Server { .. } => "read its log in that folder; prony db down stops and removes the server",
            LongPath { .. } => "choose a shorter cache folder (`PRONY_CACHE`)",
            File { .. } => "check that the folder exists and may be written",
            // What to raise stands in the message.
            ServerFull { .. } | Statement { .. } | Stopped => return None,
        };
        Some(hint.to_owned())
    }
}

/// Which limit on sessions a server has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Server,
    Role,
    Database,
    User,
    UserAnHour,
}

impl Limit {
    fn raise(self) -> &'static str {
        match self {
            Limit::Server => "raise max_connections there",
            Limit::Role => "that is the limit of this role alone: raise it with ALTER ROLE .. CONNECTION LIMIT",
            Limit::Database => {
                "that is the limit of this database alone: raise it with ALTER DATABASE .. CONNECTION LIMIT"
            }
            Limit::User => "that is the limit of one user: raise max_user_connections, his own or the server's",
            Limit::UserAnHour => "that is the limit of this user for an hour: raise his MAX_CONNECTIONS_PER_HOUR",
        }
    }
}

/// By what the server said. PostgreSQL has one code for all of its limits; MariaDB and MySQL name theirs, in any language.
fn limit(text: &str) -> Limit {
    let signs = [
        ("too many connections for role", Limit::Role),
        ("too many connections for database", Limit::Database),
        ("max_user_connections", Limit::User),
        ("max_connections_per_hour", Limit::UserAnHour),
    ];
    signs.iter().find(|(sign, _)| text.contains(sign)).map_or(Limit::Server, |(_, limit)| *limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_limit_is_reached_tells_what_to_raise() {
        let full = |text: &str| DatabaseError::ServerFull { place: "p".to_owned(), text: text.to_owned() };
        for (text, raise) in [
            ("too many connections for role \"me\", SQLSTATE 53300", "ALTER ROLE .. CONNECTION LIMIT"),
            ("too many connections for database \"d\", SQLSTATE 53300", "ALTER DATABASE .. CONNECTION LIMIT"),
            (
                "error 1203 (42000): User me already has more than 'max_user_connections' active",
                "max_user_connections,",
            ),
            ("error 1226 (42000): User 'me' has exceeded the 'max_user_connections' resource", "max_user_connections,"),
            ("error 1226 (42000): User 'me' has exceeded the 'max_connections_per_hour' resource", "PER_HOUR"),
        ] {
            let told = full(text).to_string();
            assert!(told.contains(raise) && !told.contains("raise max_connections"), "{told}");
            assert!(told.ends_with(", or ask for fewer sessions") && !full(text).server_is_full(), "{told}");
        }
        let clients = full("sorry, too many clients already, SQLSTATE 53300");
        assert!(clients.server_is_full() && clients.to_string().contains("; raise max_connections there, or"));
    }

    #[test]
    fn a_checkpoint_that_may_not_be_forced_has_a_way_around_it() {
        let action = "ask for a checkpoint".to_owned();
        let refused = DatabaseError::Privilege { place: "p".to_owned(), action, text: "no".to_owned() };
        let told = refused.before_a_trial();
        assert_eq!(told.to_string(), "p: the user lacks the privilege to ask for a checkpoint: no");
        assert!(told.hint().is_some_and(|hint| hint.contains("--set checkpoints=leave")));
    }
}
