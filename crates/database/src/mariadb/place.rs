//! Where a MariaDB or MySQL server is, read from a URL.
//!
//! The one idea: a URL says everything that is needed to open a session, and what it says is either understood or refused;
//! nothing in it is passed over.
//!
//! What it does not do: it opens nothing, and it shows no password.

use crate::DatabaseError;
use mysql::consts::CapabilityFlags;
use mysql::{OptsBuilder, SslOpts};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str};
use std::path::PathBuf;
use std::time::Duration;

/// The port of both servers when a URL names none.
const PORT: u16 = 3306;

/// Letters of a part of a URL that stand for themselves.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.');

/// How long a server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(10);

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
    /// Protection on the way.
    pub tls: Tls,
    /// A file of certificates of authorities, beside those that the world knows.
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
        let (host, port) = host_and_port(host).map_err(&bad)?;
        let mut place = Place {
            host,
            port,
            socket: None,
            user: plain(user).map_err(&bad)?,
            password: password.map(plain).transpose().map_err(&bad)?,
            database: Some(plain(database).map_err(&bad)?).filter(|name| !name.is_empty()),
            tls: Tls::Off,
            authorities: None,
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            place.set(key, plain(value).map_err(&bad)?).map_err(&bad)?;
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

    fn set(&mut self, key: &str, value: String) -> Result<(), String> {
        match key {
            "socket" => self.socket = Some(value),
            "user" => self.user = value,
            "password" => self.password = Some(value),
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
                return Err(format!(
                    "the key {key} is not known; known are socket, user, password, tls, ssl-mode, ssl-ca"
                ));
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

    /// The whole place in words, without a password.
    pub fn shown(&self) -> String {
        study::without_password(&self.url())
    }

    /// The same server and user with another database.
    pub fn with_database(&self, database: &str) -> Place {
        Place { database: Some(database.to_owned()), ..self.clone() }
    }

    /// The same as a URL, password included: for the one who opens sessions, never for showing.
    pub fn url(&self) -> String {
        let word = |text: &str| percent_encoding::utf8_percent_encode(text, PLAIN).to_string();
        let password = self.password.as_deref().map_or(String::new(), |password| format!(":{}", word(password)));
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let database = word(self.database.as_deref().unwrap_or_default());
        let mut keys = Vec::new();
        keys.extend(self.socket.as_deref().map(|path| format!("socket={}", word(path))));
        keys.extend(self.authorities.as_deref().map(|path| format!("ssl-ca={}", word(&path.to_string_lossy()))));
        match self.tls {
            Tls::Off => {}
            Tls::Authority => keys.push("ssl-mode=verify-ca".to_owned()),
            Tls::Host => keys.push("ssl-mode=verify-identity".to_owned()),
        }
        let query = if keys.is_empty() { String::new() } else { format!("?{}", keys.join("&")) };
        format!("mysql://{}{password}@{host}:{}/{database}{query}", word(&self.user), self.port)
    }

    /// Refuses a file of authorities that cannot be read: the library would say only that some file is missing.
    pub(super) fn authorities_are_there(&self) -> Result<(), DatabaseError> {
        let Some(path) = self.authorities.as_ref().filter(|_| self.tls != Tls::Off) else { return Ok(()) };
        let failed = |error| DatabaseError::Secure {
            place: self.shown(),
            text: format!("the certificates in {} cannot be read: {error}", path.display()),
        };
        std::fs::File::open(path).map(drop).map_err(failed)
    }

    /// The same for the library that speaks the protocol.
    pub(super) fn options(&self) -> OptsBuilder {
        let tls = (self.tls != Tls::Off && self.socket.is_none()).then(|| {
            SslOpts::default()
                .with_danger_skip_domain_validation(self.tls == Tls::Authority)
                .with_root_cert_path(self.authorities.clone().map(std::borrow::Cow::Owned))
        });
        OptsBuilder::new()
            .ip_or_hostname(Some(self.host.clone()))
            .tcp_port(self.port)
            .socket(self.socket.clone())
            .prefer_socket(false)
            .user(Some(self.user.clone()))
            .pass(self.password.clone())
            .db_name(self.database.clone())
            .ssl_opts(tls)
            .tcp_connect_timeout(Some(CONNECT))
            // A session keeps its own statements; the library must not close one of them behind its back.
            .stmt_cache_size(0)
            // An update counts the rows that it met, as on the other engines, and not those that it made different.
            .additional_capabilities(CapabilityFlags::CLIENT_FOUND_ROWS)
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}/{}", self.user, self.server(), self.database.as_deref().unwrap_or_default())
    }
}

fn plain(text: &str) -> Result<String, String> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(|text| text.into_owned()).map_err(|_| "a part of it is not UTF-8 once %XX is read".to_owned())
}

/// Host and port; an IPv6 address stands in brackets.
fn host_and_port(text: &str) -> Result<(String, u16), String> {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, rest)) => (host, rest.strip_prefix(':')),
        None => match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let port = match port {
        None | Some("") => PORT,
        Some(port) => port.parse().map_err(|_| format!("a port is a number up to 65535, got {port}"))?,
    };
    Ok((if host.is_empty() { "localhost".to_owned() } else { plain(host)? }, port))
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
    fn a_place_as_a_url_reads_back_as_itself() {
        for url in [
            "mysql://a:b%2F%3F@h:1/d?tls=true",
            "mysql://a@[::1]:1/d?ssl-ca=/x%20y&ssl-mode=verify-ca",
            "mysql://a@/d?socket=/s",
        ] {
            let place = Place::read(url).unwrap();
            assert!(Place::read(&place.url()).unwrap() == place, "{url}");
        }
    }

    #[test]
    fn what_a_url_says_wrongly_is_named_and_its_password_is_not() {
        for (url, what) in [
            ("mysql://me:secret@h/d?ssl-mode=maybe", "maybe"),
            ("mysql://me:secret@h/d?pool=3", "the key pool"),
            ("mysql://me:secret@h:99999/d", "99999"),
            ("oracle://me:secret@h/d", "neither"),
        ] {
            let error = Place::read(url).unwrap_err().to_string();
            assert!(error.contains(what) && !error.contains("secret"), "{error}");
        }
        assert!(!format!("{:?}", Place::read("mysql://me:secret@h/d").unwrap()).contains("secret"));
    }
}
