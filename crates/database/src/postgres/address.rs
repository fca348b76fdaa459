//! Where a PostgreSQL is, and as whom we ask: a URL and what it means.
//!
//! Of the environment it reads `PGPASSFILE` alone, whose lines say for which server each password is.

use super::passfile;
use crate::DatabaseError;
use crate::opening::{SECONDS, SECONDS_HERE, host_and_port, loopback, named};
use percent_encoding::percent_decode_str;
use std::path::PathBuf;
use study::Secret;
use study::password::LEFT_OUT;

units::words! {
    /// What a connection wants of TLS.
    pub enum Tls {
        Disable = "disable" "None.",
        /// Encrypts when the server can and checks nothing, as PostgreSQL's own clients do: it protects from nobody who
        /// can change what travels.
        Prefer = "prefer",
        /// Encrypts, and verifies the certificate and its name. PostgreSQL's own clients verify nothing here; whoever wants no
        /// check of the name says `verify-ca`.
        Require = "require",
        VerifyCa = "verify-ca" "Encrypts and verifies that the certificate was issued by the given root, not the name in it.",
        VerifyFull = "verify-full" "Encrypts, and verifies the certificate and its name.",
    }
}

/// The server's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// A host name or address, by TCP.
    Name(String),
    /// The folder of a Unix socket.
    Socket(PathBuf),
}

/// Which of several servers is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The first that lets us in.
    Any,
    /// One that takes changes.
    ReadWrite,
    /// One that takes none.
    ReadOnly,
    /// One that follows nobody.
    Primary,
    /// One that follows another.
    Standby,
}

impl Wanted {
    const ALL: [(&'static str, Wanted, &'static str); 5] = [
        ("any", Wanted::Any, "true"),
        ("read-write", Wanted::ReadWrite, "current_setting('transaction_read_only') = 'off'"),
        ("read-only", Wanted::ReadOnly, "current_setting('transaction_read_only') = 'on'"),
        ("primary", Wanted::Primary, "NOT pg_is_in_recovery()"),
        ("standby", Wanted::Standby, "pg_is_in_recovery()"),
    ];

    /// The word of a URL, and what holds on a server that is meant.
    pub(super) fn told(self) -> (&'static str, &'static str) {
        let [(_, _, any), ..] = Wanted::ALL;
        let found = Wanted::ALL.iter().find(|(_, wanted, _)| *wanted == self);
        found.map_or(("any", any), |(word, _, holds)| (word, holds))
    }
}

/// Everything that a connection needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connect {
    /// The server's end.
    pub host: Host,
    /// Port, of the Unix socket's name too.
    pub port: u16,
    /// Other servers that are tried in order when that one does not let us in, or is not the one that is meant.
    pub others: Vec<(Host, u16)>,
    /// Which of them is meant.
    pub wanted: Wanted,
    /// The role.
    pub user: String,
    pub(super) password: Option<Secret>,
    /// The database; the role's name when the URL names none.
    pub database: String,
    /// What is wanted of TLS. A URL that names root certificates gets [`Tls::VerifyFull`], one that says nothing [`Tls::Require`], and
    /// none on the loopback, where it protects nothing and would be measured.
    pub tls: Tls,
    /// Whether the server may be told the password itself where nothing verified protects it on its way.
    pub cleartext: bool,
    /// A file of root certificates in PEM, instead of the public ones.
    pub root: Option<PathBuf>,
    /// How many seconds it may take to be let in.
    pub patience: u64,
}

impl Connect {
    /// Reads a URL such as `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full`. Parameters: `host` (a folder
    /// means a Unix socket), `port`, `user`, `password`, `dbname`, `sslmode`, `sslrootcert`, `connect_timeout`,
    /// `cleartext_password`. Several hosts stand with a comma between (`a:5432,b:5433`); `target_session_attrs` says which of them.
    ///
    /// # Errors
    /// What the URL lacks or says wrong, without the URL's password.
    pub fn parse(url: &str) -> Result<Connect, DatabaseError> {
        let place = study::without_password(url);
        read(url).map_err(|problem| DatabaseError::Address { place, problem })
    }

    /// A server whose Unix socket lies in a folder, without a password.
    pub fn socket_in(folder: &std::path::Path, user: &str, database: &str) -> Connect {
        Connect {
            host: Host::Socket(folder.to_owned()),
            port: 5432,
            others: Vec::new(),
            wanted: Wanted::Any,
            user: user.to_owned(),
            password: None,
            database: database.to_owned(),
            tls: Tls::Disable,
            cleartext: false,
            root: None,
            patience: SECONDS_HERE,
        }
    }

    /// The same with a password, when the URL had none.
    #[must_use]
    pub fn with_password(mut self, password: String) -> Connect {
        self.password.get_or_insert(Secret(password));
        self
    }

    /// The same with the password of the file that `PGPASSFILE` names, when the URL had none. It is not for a URL that lets a
    /// password go in the clear: a study may have brought that one.
    ///
    /// # Errors
    /// When the file cannot be read, or others may read it too.
    pub(super) fn with_environment(self) -> Result<Connect, DatabaseError> {
        let file = std::env::var_os("PGPASSFILE").filter(|_| self.password.is_none() && !self.cleartext);
        let password = file.map(|file| passfile::password(file.as_ref(), &self)).transpose()?.flatten();
        Ok(password.into_iter().fold(self, Connect::with_password))
    }

    /// Each server by itself, in the order in which they are tried, with its part of the patience.
    pub(super) fn each(&self) -> impl Iterator<Item = Connect> + '_ {
        let all = std::iter::once((&self.host, self.port)).chain(self.others.iter().map(|(host, port)| (host, *port)));
        let patience = (self.patience / (self.others.len() as u64 + 1)).max(1);
        all.map(move |(host, port)| Connect { host: host.clone(), port, others: Vec::new(), patience, ..self.clone() })
    }

    /// The place in words; of several servers all.
    pub fn place(&self) -> String {
        let own = match &self.host {
            Host::Name(name) if name.contains(':') => format!("[{name}]:{}", self.port),
            Host::Name(name) => format!("{name}:{}", self.port),
            Host::Socket(_) => self.socket().unwrap_or_default().display().to_string(),
        };
        let others = self.each().skip(1).map(|other| other.place());
        std::iter::once(own).chain(others).collect::<Vec<String>>().join(",")
    }

    /// The Unix socket itself.
    pub fn socket(&self) -> Option<PathBuf> {
        match &self.host {
            Host::Socket(folder) => Some(folder.join(format!(".s.PGSQL.{}", self.port))),
            Host::Name(_) => None,
        }
    }
}

fn read(url: &str) -> Result<Connect, String> {
    let rest = url.strip_prefix("postgres://").or_else(|| url.strip_prefix("postgresql://"));
    let rest = rest.ok_or_else(|| wrong("it begins with neither postgres:// nor postgresql://"))?;
    let (base, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (who, place) = base.rsplit_once('@').unwrap_or(("", base));
    let (authority, database) = place.split_once('/').unwrap_or((place, ""));
    let mut read = Reading::default();
    let (user, password) = who.split_once(':').map_or((who, None), |(user, password)| (user, Some(password)));
    read.user = decoded(user)?;
    read.password = password.map(decoded).transpose()?;
    read.database = decoded(database)?;
    read.authority(authority)?;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').ok_or_else(|| wrong("it has a parameter without a value"))?;
        read.parameter(key, decoded(value)?)?;
    }
    read.finished()
}

fn wrong(what: &str) -> String {
    what.to_owned()
}

fn decoded(text: &str) -> Result<String, String> {
    let text = percent_decode_str(text).decode_utf8().map_err(|_| wrong("it has percent signs that are no UTF-8"))?;
    if text.contains('\0') { Err(wrong("it holds a zero byte")) } else { Ok(text.into_owned()) }
}

/// What was read of a URL so far; empty means that nothing was said.
#[derive(Default)]
struct Reading {
    hosts: Vec<String>,
    /// One for all, or one for each host; 0 is the usual one.
    ports: Vec<u16>,
    wanted: Option<Wanted>,
    user: String,
    password: Option<String>,
    database: String,
    tls: Option<Tls>,
    root: Option<PathBuf>,
    patience: Option<u64>,
    cleartext: bool,
}

impl Reading {
    fn authority(&mut self, authority: &str) -> Result<(), String> {
        for one in authority.split(',') {
            let (host, port) = host_and_port(one);
            self.hosts.push(decoded(host)?);
            self.ports.push(port.map_or(Ok(0), read_port)?);
        }
        Ok(())
    }

    fn parameter(&mut self, key: &str, value: String) -> Result<(), String> {
        match key {
            "host" => self.hosts = value.split(',').map(str::to_owned).collect(),
            "port" => self.ports = value.split(',').map(read_port).collect::<Result<_, _>>()?,
            "target_session_attrs" => self.wanted = Some(wanted(&value)?),
            "user" => self.user = value,
            "password" => self.password = Some(value),
            "dbname" => self.database = value,
            "sslmode" => self.tls = Some(tls(&value)?),
            "sslrootcert" => self.root = Some(value.into()),
            "connect_timeout" => {
                let seconds = value.parse().ok().filter(|seconds| *seconds > 0);
                self.patience =
                    Some(seconds.ok_or_else(|| wrong("it has a connect_timeout that is no whole seconds"))?);
            }
            "cleartext_password" => {
                self.cleartext =
                    value.parse().map_err(|_| wrong("it has a cleartext_password that is neither true nor false"))?;
            }
            other => {
                let other = named(other);
                let known = "host, port, user, password, dbname, sslmode, sslrootcert, connect_timeout, cleartext_password, \
                     target_session_attrs";
                return Err(format!("it has the parameter {other}; known are {known}"));
            }
        }
        Ok(())
    }

    fn finished(self) -> Result<Connect, String> {
        if self.user.is_empty() {
            return Err(wrong("it names no user; write postgres://USER@HOST:PORT/DATABASE"));
        }
        if self.ports.len() > 1 && self.ports.len() != self.hosts.len() {
            return Err(format!("it has {} hosts and {} ports", self.hosts.len(), self.ports.len()));
        }
        let port =
            |at: usize| self.ports.get(at).or(self.ports.first()).copied().filter(|port| *port > 0).unwrap_or(5432);
        let host = |host: &String| match host {
            host if host.starts_with('/') => Host::Socket(host.into()),
            host if host.is_empty() => Host::Name("localhost".into()),
            host => Host::Name(host.clone()),
        };
        let mut others: Vec<(Host, u16)> =
            self.hosts.iter().enumerate().map(|(at, name)| (host(name), port(at))).collect();
        let sockets = others.iter().filter(|(host, _)| matches!(host, Host::Socket(_))).count();
        let socket = sockets == others.len();
        let here = others
            .iter()
            .all(|(host, _)| matches!(host, Host::Name(name) if loopback(name)) || matches!(host, Host::Socket(_)));
        let (host, port) = if others.is_empty() { (Host::Name("localhost".into()), 5432) } else { others.remove(0) };
        let unsaid = match self.root {
            Some(_) => Tls::VerifyFull,
            None if here => Tls::Disable,
            None => Tls::Require,
        };
        let tls = self.tls.unwrap_or(unsaid);
        let verified = !matches!(tls, Tls::Disable | Tls::Prefer);
        if sockets > 0 && verified {
            return Err(wrong("it asks for TLS on a Unix socket, which has none; leave sslmode and sslrootcert out"));
        }
        if self.root.is_some() && !verified {
            let what = "it names sslrootcert, and an sslmode that verifies nothing; leave one of them out, or write sslmode=verify-full";
            return Err(wrong(what));
        }
        let database = if self.database.is_empty() { self.user.clone() } else { self.database };
        let password = self.password.filter(|password| password != LEFT_OUT).map(Secret);
        let patience = self.patience.unwrap_or(if socket { SECONDS_HERE } else { SECONDS });
        let (cleartext, wanted) = (self.cleartext, self.wanted.unwrap_or(Wanted::Any));
        let (user, root) = (self.user, self.root);
        Ok(Connect { host, port, others, wanted, user, password, database, tls, cleartext, root, patience })
    }
}

fn read_port(text: &str) -> Result<u16, String> {
    text.parse().ok().filter(|port| *port > 0).ok_or_else(|| bad_port(text))
}

fn wanted(word: &str) -> Result<Wanted, String> {
    let found = Wanted::ALL.iter().find(|(known, ..)| *known == word);
    found.map(|(_, wanted, _)| *wanted).ok_or_else(|| {
        let known: Vec<&str> = Wanted::ALL.iter().map(|(known, ..)| *known).collect();
        format!("it has target_session_attrs={word}; known are {}", known.join(", "))
    })
}

/// What is wrong with a port. What is no number may be a password whose host was forgotten.
fn bad_port(text: &str) -> String {
    match text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => format!("it has the port {text}; it is 1 to 65535"),
        false => "its port is no number; write postgres://USER:PASSWORD@HOST:PORT/DATABASE".to_owned(),
    }
}

fn tls(word: &str) -> Result<Tls, String> {
    let known = || Tls::ALL.iter().map(|tls| tls.word()).collect::<Vec<_>>().join(", ");
    Tls::of_word(word).ok_or_else(|| format!("it has sslmode={word}; known are {}", known()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_who_asks_whom_and_how() {
        let connect =
            Connect::parse("postgres://me:s3%40@cret@db.example:6543/shop?sslmode=verify-ca&sslrootcert=/r.pem");
        let connect = connect.unwrap();
        assert_eq!((connect.user.as_str(), connect.database.as_str(), connect.port), ("me", "shop", 6543));
        assert_eq!(connect.password, Some(Secret("s3@@cret".into())));
        assert_eq!((connect.tls, connect.place()), (Tls::VerifyCa, "db.example:6543".into()));
        assert_eq!(connect.root, Some("/r.pem".into()));
        assert!(!format!("{connect:?}").contains("cret"));
    }

    #[test]
    fn a_folder_as_host_is_a_unix_socket() {
        for url in ["postgresql://me@/db?host=/run/pg&port=5433", "postgres://me@%2Frun%2Fpg:5433/db"] {
            let connect = Connect::parse(url).unwrap();
            assert_eq!(connect.socket(), Some("/run/pg/.s.PGSQL.5433".into()));
            assert_eq!((connect.database.as_str(), connect.tls), ("db", Tls::Disable));
        }
    }

    #[test]
    fn several_hosts_are_tried_in_order_each_with_its_port() {
        let places = |url: &str| {
            let connect = Connect::parse(url).unwrap();
            let each: Vec<String> = connect.each().map(|one| one.place()).collect();
            assert_eq!(connect.place(), each.join(","));
            (each, connect.wanted.told().0, connect.tls)
        };
        let (each, wanted, tls) = places("postgres://me@a:6000,b,[::1]:6002/db?target_session_attrs=read-write");
        assert_eq!((each.join(" ").as_str(), wanted, tls), ("a:6000 b:5432 [::1]:6002", "read-write", Tls::Require));
        let (each, wanted, tls) = places("postgres://me@/db?host=/run/a,/run/b&port=5433");
        assert_eq!(each, ["/run/a/.s.PGSQL.5433", "/run/b/.s.PGSQL.5433"]);
        assert_eq!((wanted, tls), ("any", Tls::Disable));
    }

    #[test]
    fn what_is_left_out_has_a_value() {
        let connect = Connect::parse("postgres://me@[::1]").unwrap();
        assert_eq!((connect.place().as_str(), connect.database.as_str()), ("[::1]:5432", "me"));
        assert_eq!(connect.tls, Tls::Disable);
        assert!(!connect.cleartext && Connect::parse("postgres://me@h?cleartext_password=true").unwrap().cleartext);
        // What stands for a password that was not kept is none.
        assert_eq!(Connect::parse("postgres://me:***@h").unwrap().password, None);
        assert_eq!(Connect::parse("postgres://me@far/db").unwrap().tls, Tls::Require);
    }

    #[test]
    fn who_names_root_certificates_has_them_held_against_the_server() {
        for host in ["localhost", "far"] {
            let connect = Connect::parse(&format!("postgres://me@{host}/db?sslrootcert=/r.pem")).unwrap();
            assert_eq!(connect.tls, Tls::VerifyFull, "{host}");
        }
        for mode in ["disable", "prefer"] {
            let refused = Connect::parse(&format!("postgres://me@localhost/db?sslmode={mode}&sslrootcert=/r.pem"));
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("an sslmode that verifies nothing; leave one of them out"), "{refused}");
        }
        let refused = Connect::parse("postgres://me@/db?host=/run/a&sslrootcert=/r.pem").unwrap_err().to_string();
        assert!(refused.contains("leave sslmode and sslrootcert out"), "{refused}");
    }

    #[test]
    fn what_is_wrong_is_named_and_no_password_with_it() {
        let wrong = |url: &str| Connect::parse(url).unwrap_err().to_string();
        assert!(wrong("mysql://me@host/db").contains("postgres://"));
        assert!(wrong("postgres://host/db").contains("names no user"));
        assert!(wrong("postgres://me:secret@host:99999/db").contains("99999"));
        assert!(wrong("postgres://me:secret@host/db?sslmode=maybe").contains("verify-full"));
        assert!(wrong("postgres://me:secret@host/db?colour=red").contains("colour"));
        assert!(wrong("postgres://me:secret@a:1,b:2,c/db?port=5,6").contains("3 hosts and 2 ports"));
        assert!(wrong("postgres://me:secret@a,b/db?target_session_attrs=best").contains("read-write"));
        assert!(wrong("postgres://me@/db?host=/run&sslmode=require").contains("Unix socket"));
        assert!(!wrong("postgres://me:secret@host/db?sslmode=maybe").contains("secret"));
        for url in
            ["me:secret/db", "me:sec?ret@host/db", "host/db?password:secret", "host/db?user=me&secret", "me:secret"]
        {
            let said = wrong(&format!("postgres://{url}"));
            assert!(!said.contains("secret") && !said.contains("ret@"), "{said}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,40}") {
            let _ = Connect::parse(&format!("postgres://{text}"));
        }
    }
}
