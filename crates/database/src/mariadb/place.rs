//! Where a MariaDB or MySQL server is, read from a URL.
//!
//! The one idea: a URL says everything that is needed to open a session, and what it says is either understood or refused;
//! nothing in it is passed over.
//!
//! What it does not do: it opens nothing, and it shows no password.

use crate::DatabaseError;
use crate::opening::{SECONDS, SECONDS_HERE, host_and_port, loopback, named};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str};
use std::path::PathBuf;
use study::password::LEFT_OUT;

/// The port of both servers when a URL names none.
const PORT: u16 = 3306;

/// Letters of a part of a URL that stand for themselves.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.');

/// How a connection is protected on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tls {
    /// Not at all.
    #[default]
    Off,
    /// By TLS with a certificate that a known authority signed, whatever name it holds.
    Authority,
    /// By TLS with a certificate that a known authority signed for this host.
    Host,
}

/// A server, a database on it, and who asks. Shown without its password.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    /// Host name or address; not used when there is a socket.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Path of a Unix socket.
    pub socket: Option<String>,
    /// Who asks.
    pub user: String,
    /// The password, when there is one.
    pub password: Option<String>,
    /// The database; none only for work on the server itself.
    pub database: Option<String>,
    /// Protection on the way. A URL that says nothing gets [`Tls::Host`], and none on the loopback, where it protects nothing
    /// and would be measured.
    pub tls: Tls,
    /// A file of certificates of authorities, in place of those that the world knows.
    pub authorities: Option<PathBuf>,
}

impl Place {
    /// Reads `mysql://user:password@host:port/database?socket=PATH&tls=true`, or the same with `mariadb://`. Further keys:
    /// `ssl-mode` with the words of the servers' own client, of which `required` checks the host too, and `ssl-ca`.
    ///
    /// # Errors
    /// What is not understood. The text holds no password.
    pub fn read(url: &str) -> Result<Place, DatabaseError> {
        let bad = |problem: String| DatabaseError::Address { place: study::without_password(url), problem };
        let rest = url.strip_prefix("mysql://").or_else(|| url.strip_prefix("mariadb://"));
        let rest = rest.ok_or_else(|| bad("it begins with neither mysql:// nor mariadb://".to_owned()))?;
        let (base, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (who, at) = base.rsplit_once('@').unwrap_or(("", base));
        let (host, database) = at.split_once('/').unwrap_or((at, ""));
        let (user, password) = match who.split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (who, None),
        };
        let (host, port) = host_and_port(host);
        let port = port.map_or(Ok(PORT), |port| port.parse().map_err(|_| bad(bad_port(port))))?;
        let mut place = Place {
            host: if host.is_empty() { "localhost".to_owned() } else { plain(host).map_err(&bad)? },
            port,
            socket: None,
            user: plain(user).map_err(&bad)?,
            password: password.map(plain).transpose().map_err(&bad)?.filter(|password| password != LEFT_OUT),
            database: Some(plain(database).map_err(&bad)?).filter(|name| !name.is_empty()),
            tls: Tls::Off,
            authorities: None,
        };
        let mut protected = false;
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let lacking = || bad("it has a parameter without a value".to_owned());
            let (key, value) = pair.split_once('=').ok_or_else(lacking)?;
            protected |= matches!(key, "tls" | "ssl-mode");
            place.set(key, plain(value).map_err(&bad)?).map_err(&bad)?;
        }
        if place.authorities.is_some() && (place.socket.is_some() || protected && place.tls == Tls::Off) {
            return Err(bad("it names ssl-ca, where there is no TLS; leave it out".to_owned()));
        }
        if !protected && (place.authorities.is_some() || !place.is_here()) {
            place.tls = Tls::Host;
        }
        Ok(place)
    }

    /// A server behind a Unix socket that lets this user in without a password.
    pub fn behind(socket: &str, user: &str) -> Place {
        Place {
            host: "localhost".to_owned(),
            port: PORT,
            socket: Some(socket.to_owned()),
            user: user.to_owned(),
            password: None,
            database: None,
            tls: Tls::Off,
            authorities: None,
        }
    }

    /// Whether it is on this machine, as far as the URL tells.
    fn is_here(&self) -> bool {
        self.socket.is_some() || loopback(&self.host)
    }

    /// How many seconds it may take to be let in.
    pub(super) fn patience(&self) -> u64 {
        if self.socket.is_some() { SECONDS_HERE } else { SECONDS }
    }

    fn set(&mut self, key: &str, value: String) -> Result<(), String> {
        match key {
            "socket" => self.socket = Some(value),
            "user" => self.user = value,
            "password" => self.password = Some(value).filter(|password| password != LEFT_OUT),
            "ssl-ca" => self.authorities = Some(PathBuf::from(value)),
            "tls" => {
                self.tls = match value.as_str() {
                    "true" => Tls::Host,
                    "false" => Tls::Off,
                    _ => return Err(format!("tls is true or false, got {value}")),
                }
            }
            "ssl-mode" => {
                self.tls = match value.to_lowercase().replace('_', "-").as_str() {
                    "disabled" => Tls::Off,
                    "verify-ca" => Tls::Authority,
                    "required" | "verify-identity" => Tls::Host,
                    _ => {
                        return Err(format!(
                            "ssl-mode is disabled, required, verify-ca or verify-identity, got {value}"
                        ));
                    }
                }
            }
            _ => {
                let known = "socket, user, password, tls, ssl-mode, ssl-ca";
                return Err(format!("the key {} is not known; known are {known}", named(key)));
            }
        }
        Ok(())
    }

    /// The server in words, without who asks.
    pub fn server(&self) -> String {
        match &self.socket {
            Some(socket) => format!("the socket {socket}"),
            None => format!("{}:{}", self.host, self.port),
        }
    }

    /// The same server and user with another database.
    pub fn with_database(&self, database: &str) -> Place {
        Place { database: Some(database.to_owned()), ..self.clone() }
    }

    /// The whole place as a URL, without a password.
    pub fn shown(&self) -> String {
        let word = |text: &str| percent_encoding::utf8_percent_encode(text, PLAIN).to_string();
        let password = if self.password.is_some() { format!(":{LEFT_OUT}") } else { String::new() };
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let database = word(self.database.as_deref().unwrap_or_default());
        let mut keys = Vec::new();
        keys.extend(self.socket.as_deref().map(|path| format!("socket={}", word(path))));
        keys.extend(self.authorities.as_deref().map(|path| format!("ssl-ca={}", word(&path.to_string_lossy()))));
        match self.tls {
            Tls::Off if self.is_here() => {}
            Tls::Off => keys.push("ssl-mode=disabled".to_owned()),
            Tls::Authority => keys.push("ssl-mode=verify-ca".to_owned()),
            Tls::Host => keys.push("ssl-mode=verify-identity".to_owned()),
        }
        let query = if keys.is_empty() { String::new() } else { format!("?{}", keys.join("&")) };
        format!("mysql://{}{password}@{host}:{}/{database}{query}", word(&self.user), self.port)
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}/{}", self.user, self.server(), self.database.as_deref().unwrap_or_default())
    }
}

fn plain(text: &str) -> Result<String, String> {
    let decoded = percent_decode_str(text).decode_utf8();
    let text = decoded.map_err(|_| "a part of it is not UTF-8 once %XX is read".to_owned())?;
    if text.contains('\0') { Err("it holds a zero byte".to_owned()) } else { Ok(text.into_owned()) }
}

/// What is wrong with a port. What is no number may be a password whose host was forgotten.
fn bad_port(text: &str) -> String {
    match text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => format!("a port is a number up to 65535, got {text}"),
        false => "a port is a number up to 65535; write mysql://USER:PASSWORD@HOST:PORT/DATABASE".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_read_part_by_part() {
        let place =
            Place::read("mysql://me:p%40ss@db.example:3307/shop?ssl-mode=VERIFY_CA&ssl-ca=/etc/ca.pem").unwrap();
        assert_eq!((place.host.as_str(), place.port, place.user.as_str()), ("db.example", 3307, "me"));
        assert_eq!((place.password.as_deref(), place.database.as_deref()), (Some("p@ss"), Some("shop")));
        assert_eq!(
            (place.tls, place.authorities.as_deref()),
            (Tls::Authority, Some(std::path::Path::new("/etc/ca.pem")))
        );
        let place = Place::read("mariadb://me@[::1]:4000/db?tls=true").unwrap();
        assert_eq!((place.host.as_str(), place.port, place.tls), ("::1", 4000, Tls::Host));
        let place = Place::read("mariadb:///db?socket=%2Frun%2Fa.sock").unwrap();
        assert_eq!(
            (place.host.as_str(), place.port, place.socket.as_deref()),
            ("localhost", 3306, Some("/run/a.sock"))
        );
    }

    #[test]
    fn another_machine_is_asked_by_tls_unless_the_url_says_otherwise() {
        for (url, tls) in [
            ("mysql://me@far/d", Tls::Host),
            ("mysql://me@far/d?ssl-mode=disabled", Tls::Off),
            ("mysql://me@127.0.0.1/d", Tls::Off),
            ("mysql://me@/d?socket=/s", Tls::Off),
            ("mysql://me@localhost/d?ssl-ca=/ca.pem", Tls::Host),
        ] {
            assert_eq!(Place::read(url).unwrap().tls, tls, "{url}");
        }
        assert!(Place::read("mysql://me:***@far/d").unwrap().password.is_none());
    }

    #[test]
    fn a_place_that_is_shown_reads_back_as_itself_without_its_password() {
        for url in [
            "mysql://a:b%2F%3F@h:1/d?tls=true",
            "mysql://a@[::1]:1/d?ssl-ca=/x%20y&ssl-mode=verify-ca",
            "mysql://a@/d?socket=/s",
            "mysql://a@far/d?ssl-mode=disabled",
        ] {
            let place = Place::read(url).unwrap();
            assert!(Place::read(&place.shown()).unwrap() == Place { password: None, ..place }, "{url}");
        }
    }

    #[test]
    fn what_a_url_says_wrongly_is_named_and_its_password_is_not() {
        for (url, what) in [
            ("mysql://me:secret@h/d?ssl-mode=maybe", "maybe"),
            ("mysql://me:secret@h/d?ssl-mode=disabled&ssl-ca=/ca", "it names ssl-ca, where there is no TLS"),
            ("mysql://me:secret@h/d?pool=3", "the key pool"),
            ("mysql://me:secret@h/d%00", "a zero byte"),
            ("mysql://me:secret@h:99999/d", "99999"),
            ("oracle://me:secret@h/d", "neither"),
            ("mysql://me:secret/d", "PASSWORD@HOST"),
            ("mysql://me:sec?secret@h/d", "a port is a number"),
            ("mysql://h/d?sec@secret=1", "the key ***"),
        ] {
            let error = Place::read(url).unwrap_err().to_string();
            assert!(error.contains(what) && !error.contains("secret"), "{error}");
        }
        assert!(!format!("{:?}", Place::read("mysql://me:secret@h/d").unwrap()).contains("secret"));
    }
}
