//! What a server's errors mean.
//!
//! The one idea: a number becomes a kind that tells whether to try again, to open a new session or to give up.
//!
//! What it does not do: it tries nothing again.

use crate::conversation::Fields;
use crate::session::told;
use crate::{DatabaseError, Failure, FailureKind};

/// The server's number for a text that holds no statement.
pub(super) const EMPTY_QUERY: u16 = 1065;

/// The oldest versions that are spoken to: older ones lack parts of SQL that the workloads use.
const OLDEST_MARIADB: (u16, u16, u16) = (10, 6, 0);
const OLDEST_MYSQL: (u16, u16, u16) = (8, 0, 0);

/// The same in words.
pub(super) const OLDEST: &str = "MariaDB 10.6 or MySQL 8.0 at least";

/// An error packet, taken apart.
pub(super) struct Said {
    pub(super) code: u16,
    state: String,
    message: String,
}

impl Said {
    pub(super) fn of(body: &[u8]) -> Said {
        let mut fields = Fields(body.get(1..).unwrap_or_default());
        let code = fields.little(2).unwrap_or(0) as u16;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        // Who is refused before the greeting hears no state.
        let (state, message) = match fields.0 {
            [b'#', a, b, c, d, e, message @ ..] => (text(&[*a, *b, *c, *d, *e]), text(message)),
            message => ("HY000".to_owned(), text(message)),
        };
        Said { code, state, message }
    }

    fn text(&self) -> String {
        format!("error {} ({}): {}", self.code, self.state, told(&self.message))
    }

    /// What it means in the middle of a session.
    pub(super) fn failure(&self) -> Failure {
        Failure::new(kind(self), self.text())
    }
}

/// What it means that a server lets nobody in.
pub(super) fn refusal(shown: &str, said: &Said) -> DatabaseError {
    let (place, text) = (shown.to_owned(), said.text());
    match said.code {
        3159 => DatabaseError::NotSecure { place, text },
        1045 | 1698 | 1130 | 1251 | 1275 | 1524 | 3118 | 4151 => DatabaseError::Password { place, text },
        1044 => DatabaseError::Privilege { place, action: "use the database".to_owned(), text },
        1040 | 1203 | 1226 => DatabaseError::ServerFull { place, text },
        _ => DatabaseError::Refused { place, text },
    }
}

/// Numbers are those of both servers' error lists.
fn kind(said: &Said) -> FailureKind {
    match said.code {
        1213 | 1205 | 1614 => FailureKind::Deadlock,
        // 1020: the row was changed since it was read (snapshot isolation of MariaDB).
        1020 => FailureKind::Serialization,
        // Shutdown, aborted, killed, network errors, idle for too long, gone away, lost during a query.
        1053 | 1077 | 1079 | 1080 | 1152 | 1158..=1161 | 1184 | 1927 | 2006 | 2013 | 2055 | 3169 | 4031 => {
            FailureKind::Lost
        }
        // A file that cannot grow (EE_CANT_CHSIZE): MariaDB writes any number there as the system's.
        14 | 1021 | 1114 => FailureKind::Full,
        // On a database, to end a session, on a table, on a column, by a role of the server, on a routine, to make users.
        1044 | 1045 | 1095 | 1142 | 1143 | 1227 | 1370 | 1410 => FailureKind::Privilege,
        _ if disk_full(&said.message) => FailureKind::Full,
        // A node of a pair without a majority carries out nothing, and of a commit that it had begun nobody knows.
        1047 | 1180 if alone(&said.message) => FailureKind::Lost,
        _ if said.state == "40001" => FailureKind::Serialization,
        _ => FailureKind::Refused,
    }
}

/// Whether a node of a pair says that it does not know whether it may go on.
pub(super) fn alone(message: &str) -> bool {
    message.contains("WSREP has not yet prepared") || message.contains("Not connected to Primary Component")
}

/// Many errors of files (writing, logging, temporary tables) carry the system's number 28 in their text.
fn disk_full(message: &str) -> bool {
    message.contains("No space left on device") || message.contains("Got error 28 ") || message.contains("(errno: 28")
}

/// Whether the server is too old to be spoken to; then its version in words.
pub(super) fn too_old(words: &str) -> Option<String> {
    let mut parts = words.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    let mut part = || parts.next().unwrap_or(0);
    let got: (u16, u16, u16) = (part(), part(), part());
    let maria = words.to_lowercase().contains("mariadb");
    let (name, oldest) = if maria { ("MariaDB", OLDEST_MARIADB) } else { ("MySQL", OLDEST_MYSQL) };
    (got < oldest).then(|| format!("{name} {}.{}.{}", got.0, got.1, got.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(code: u16, state: &str, message: &str) -> Said {
        Said::of(&[b"\xff", &code.to_le_bytes()[..], b"#", state.as_bytes(), message.as_bytes()].concat())
    }

    fn said(code: u16, state: &str, message: &str) -> Failure {
        packet(code, state, message).failure()
    }

    #[test]
    fn a_number_tells_whether_to_try_again_to_reopen_or_to_give_up() {
        assert_eq!(said(1213, "40001", "Deadlock found").kind, FailureKind::Deadlock);
        assert_eq!(said(1205, "HY000", "Lock wait timeout exceeded").kind, FailureKind::Deadlock);
        assert_eq!(said(1020, "HY000", "Record has changed").kind, FailureKind::Serialization);
        assert_eq!(said(1927, "70100", "Connection was killed").kind, FailureKind::Lost);
        assert_eq!(said(1047, "08S01", "WSREP has not yet prepared node for application use").kind, FailureKind::Lost);
        assert_eq!(said(1047, "08S01", "Unknown command").kind, FailureKind::Refused);
        assert_eq!(said(1114, "HY000", "The table 'trade' is full").kind, FailureKind::Full);
        assert_eq!(
            said(1026, "HY000", "Error writing file (errno: 28 \"No space left on device\")").kind,
            FailureKind::Full
        );
        let grown = "Can't change size of file (Errcode: 872759872 \"Unknown error 872759872\")";
        assert_eq!(said(14, "HY000", grown).kind, FailureKind::Full);
        for code in [1044, 1045, 1142, 1227] {
            assert_eq!(said(code, "42000", "no").kind, FailureKind::Privilege, "{code}");
        }
        let long = said(1064, "42000", &"ä".repeat(100_000)).text;
        assert!(long.starts_with("error 1064 (42000): ää") && long.ends_with("ä ..") && long.len() < 1_100);
        assert_eq!(said(1062, "23000", "Duplicate entry 'denied'").kind, FailureKind::Refused);
        assert!(said(1142, "42000", "INSERT command denied").text.contains("1142"));
    }

    #[test]
    fn what_keeps_a_session_from_opening_is_told_apart() {
        let open = |code: u16| refusal("mysql://me@h/d", &packet(code, "28000", "no"));
        assert!(matches!(open(1045), DatabaseError::Password { .. }));
        let demanded = open(3159);
        assert!(
            demanded.to_string().contains("may demand TLS") && demanded.hint().unwrap().contains("ssl-mode=required")
        );
        assert!(matches!(open(1044), DatabaseError::Privilege { .. }));
        assert!(matches!(open(1040), DatabaseError::ServerFull { .. }));
        assert!(matches!(open(1203), DatabaseError::ServerFull { .. }));
        assert!(open(1040).to_string().contains("max_connections"));
        assert!(matches!(open(1049), DatabaseError::Refused { .. }));
        let early = Said::of(b"\xff\x10\x04Too many connections").failure();
        assert_eq!(early.text, "error 1040 (HY000): Too many connections");
        assert_eq!(Said::of(b"\xff").failure().kind, FailureKind::Refused);
    }

    #[test]
    fn a_server_that_is_too_old_is_named_with_its_version() {
        assert_eq!(too_old("10.3.39-MariaDB-0+deb10u2"), Some("MariaDB 10.3.39".to_owned()));
        assert_eq!(too_old("5.7.44-log"), Some("MySQL 5.7.44".to_owned()));
        assert_eq!(too_old("10.11.19-MariaDB-0+deb12u1"), None);
        assert_eq!(too_old("8.0.36"), None);
    }
}
