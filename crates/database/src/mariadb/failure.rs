//! What a server's errors mean.
//!
//! The one idea: a number becomes a kind that tells whether to try again, to open a new session or to give up.
//!
//! What it does not do: it tries nothing again.

use crate::{DatabaseError, Failure, FailureKind};
use mysql::{DriverError, Error, MySqlError};

/// The oldest versions that are spoken to: older ones lack parts of SQL that the workloads use.
const OLDEST_MARIADB: (u16, u16, u16) = (10, 6, 0);
const OLDEST_MYSQL: (u16, u16, u16) = (8, 0, 0);

/// The same in words.
pub(super) const OLDEST: &str = "MariaDB 10.6 or MySQL 8.0 at least";

const UNPROTECTED: &str = "the server wants the password itself, and nothing verified protects it on its way; ask for \
    ssl-mode=verify-identity, name its key with server-public-key-path=FILE, or take any key that it names with \
    get-server-public-key=true";

/// What it means that no session came about.
pub(super) fn open_error(shown: &str, error: Error) -> DatabaseError {
    let place = shown.to_owned();
    match error {
        Error::MySqlError(said) => match said.code {
            1045 | 1698 | 1130 | 1251 | 1275 | 1524 | 3118 | 4151 => {
                DatabaseError::Password { place, text: spoken(&said) }
            }
            1044 => DatabaseError::Privilege { place, action: "use the database".to_owned(), text: spoken(&said) },
            1040 | 1203 | 1226 => DatabaseError::ServerFull { place, text: spoken(&said) },
            _ => DatabaseError::Refused { place, text: spoken(&said) },
        },
        Error::TlsError(why) => DatabaseError::Secure { place, text: why.to_string() },
        Error::DriverError(DriverError::TlsNotSupported) => {
            DatabaseError::Secure { place, text: "the server offers no TLS".to_owned() }
        }
        Error::DriverError(DriverError::CouldNotConnect(Some((_, text, _)))) => DatabaseError::Refused { place, text },
        // The library reports a certificate that it refused as an error of the stream.
        Error::IoError(why) if tls_said(&why.to_string()) => DatabaseError::Secure { place, text: why.to_string() },
        Error::CodecError(why) if tls_said(&why.to_string()) => DatabaseError::Secure { place, text: why.to_string() },
        // The key without which the password is not sent is not there.
        Error::IoError(why) if why.kind() == std::io::ErrorKind::NotADirectory => {
            DatabaseError::Secure { place, text: UNPROTECTED.to_owned() }
        }
        Error::IoError(why) => DatabaseError::Refused { place, text: why.to_string() },
        other => DatabaseError::Refused { place, text: failure(other).text },
    }
}

fn tls_said(why: &str) -> bool {
    ["certificate", "Certificate", "handshake", "TLS"].iter().any(|word| why.contains(word))
}

/// What an error in the middle of a session means.
pub(super) fn failure(error: Error) -> Failure {
    let text = match &error {
        Error::MySqlError(said) => return Failure::new(kind(said), spoken(said)),
        Error::IoError(why) => return Failure::new(FailureKind::Lost, format!("the connection is gone: {why}")),
        Error::CodecError(why) if why.to_string().contains("large") => {
            "a statement or row is larger than max_allowed_packet of the server".to_owned()
        }
        Error::CodecError(why) => return Failure::new(FailureKind::Lost, format!("the connection is gone: {why}")),
        Error::TlsError(why) => return Failure::new(FailureKind::Lost, format!("the connection is gone: {why}")),
        Error::DriverError(DriverError::PacketTooLarge) => {
            "a statement or row is larger than max_allowed_packet of the server".to_owned()
        }
        Error::DriverError(why @ (DriverError::PacketOutOfSync | DriverError::UnexpectedPacket)) => {
            return Failure::new(FailureKind::Lost, format!("the connection is of no use any more: {why}"));
        }
        Error::DriverError(why) => why.to_string(),
        // Its text is the URL's, which may hold a password.
        Error::UrlError(_) => "the URL of the server is not understood".to_owned(),
        Error::FromValueError(_) | Error::FromRowError(_) => {
            "a value of the server's answer is not understood".to_owned()
        }
    };
    Failure::new(FailureKind::Refused, text)
}

fn spoken(said: &MySqlError) -> String {
    format!("error {} ({}): {}", said.code, said.state, said.message)
}

/// Numbers are those of both servers' error lists.
fn kind(said: &MySqlError) -> FailureKind {
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
        1044 | 1095 | 1142 | 1143 | 1227 | 1370 | 1410 => FailureKind::Privilege,
        _ if disk_full(&said.message) => FailureKind::Full,
        _ if said.state == "40001" => FailureKind::Serialization,
        _ => FailureKind::Refused,
    }
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

    fn said(code: u16, state: &str, message: &str) -> Failure {
        failure(Error::MySqlError(MySqlError { code, state: state.to_owned(), message: message.to_owned() }))
    }

    #[test]
    fn a_number_tells_whether_to_try_again_to_reopen_or_to_give_up() {
        assert_eq!(said(1213, "40001", "Deadlock found").kind, FailureKind::Deadlock);
        assert_eq!(said(1205, "HY000", "Lock wait timeout exceeded").kind, FailureKind::Deadlock);
        assert_eq!(said(1020, "HY000", "Record has changed").kind, FailureKind::Serialization);
        assert_eq!(said(1927, "70100", "Connection was killed").kind, FailureKind::Lost);
        assert_eq!(said(1114, "HY000", "The table 'trade' is full").kind, FailureKind::Full);
        assert_eq!(
            said(1026, "HY000", "Error writing file (errno: 28 \"No space left on device\")").kind,
            FailureKind::Full
        );
        let grown = "Can't change size of file (Errcode: 872759872 \"Unknown error 872759872\")";
        assert_eq!(said(14, "HY000", grown).kind, FailureKind::Full);
        for code in [1044, 1142, 1227] {
            assert_eq!(said(code, "42000", "no").kind, FailureKind::Privilege, "{code}");
        }
        assert_eq!(said(1062, "23000", "Duplicate entry 'denied'").kind, FailureKind::Refused);
        assert!(said(1142, "42000", "INSERT command denied").text.contains("1142"));
    }

    #[test]
    fn what_keeps_a_session_from_opening_is_told_apart() {
        let open = |code: u16| {
            let said = MySqlError { code, state: "28000".to_owned(), message: "no".to_owned() };
            open_error("mysql://me@h/d", Error::MySqlError(said))
        };
        assert!(matches!(open(1045), DatabaseError::Password { .. }));
        assert!(matches!(open(1044), DatabaseError::Privilege { .. }));
        assert!(matches!(open(1040), DatabaseError::ServerFull { .. }));
        assert!(matches!(open(1203), DatabaseError::ServerFull { .. }));
        assert!(open(1040).to_string().contains("max_connections"));
        assert!(matches!(open(1049), DatabaseError::Refused { .. }));
        let bad = std::io::Error::other("invalid peer certificate: UnknownIssuer");
        assert!(matches!(open_error("h", Error::IoError(bad)), DatabaseError::Secure { .. }));
    }

    #[test]
    fn a_server_that_is_too_old_is_named_with_its_version() {
        assert_eq!(too_old("10.3.39-MariaDB-0+deb10u2"), Some("MariaDB 10.3.39".to_owned()));
        assert_eq!(too_old("5.7.44-log"), Some("MySQL 5.7.44".to_owned()));
        assert_eq!(too_old("10.11.19-MariaDB-0+deb12u1"), None);
        assert_eq!(too_old("8.0.36"), None);
    }
}
