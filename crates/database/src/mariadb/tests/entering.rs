//! Ways in that are refused or secured: TLS whose certificate is verified, and a server that is too old.

use super::super::{MariadbSession, Place};
use super::{Own, own};
use crate::server::Private;
use crate::tests::certificates;
use crate::{DatabaseError, Session, Texts};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use study::{Engine, Sessions};
use workload::transaction::Value;

fn opened(url: &str) -> Result<MariadbSession, DatabaseError> {
    MariadbSession::open(&Place::read(url)?, &Texts::none(Engine::Mariadb), &Sessions::default())
}

fn refused(url: &str) -> DatabaseError {
    match opened(url) {
        Ok(_) => panic!("{url} came in"),
        Err(error) => error,
    }
}

/// Starts the server again so that it listens on a port, with these further lines of configuration.
fn listens(own: &Own, lines: &str) -> u16 {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let conf = own.server.folder().join("server.conf");
    let text = std::fs::read_to_string(&conf).unwrap();
    let bare: String = text.lines().filter(|line| !ours(line)).map(|line| format!("{line}\n")).collect();
    own.server.down().unwrap();
    std::fs::write(&conf, format!("{bare}bind-address=127.0.0.1\nport={port}\n{lines}")).unwrap();
    own.server.start().unwrap();
    port
}

fn ours(line: &str) -> bool {
    ["skip-networking", "bind-address", "port=", "ssl-"].iter().any(|start| line.starts_with(start))
}

#[test]
fn tls_trusts_only_the_authority_that_it_was_told_of_and_only_for_the_name_of_the_host() {
    let Some(own) = own("TLS") else { return };
    let folder = own.server.folder();
    let made = certificates::authority(folder, "good") && certificates::authority(folder, "other");
    if !(made && certificates::signed(folder, "server", "good")) {
        return crate::tests::skip::skipped("openssl 3 is not installed");
    }
    for name in ["server.crt", "server.key", "good.crt"] {
        certificates::own(&folder.join("data"), &folder.join(name));
    }
    let make = "CREATE USER 'guest'@'%' IDENTIFIED BY 's3cret'; GRANT SELECT ON test.* TO 'guest'@'%'";
    MariadbSession::open(&own.server.place(), &Texts::none(Engine::Mariadb), &Sessions::default())
        .unwrap()
        .script(make)
        .unwrap();
    let at = |port: u16, host: &str, more: &str| format!("mysql://guest:s3cret@{host}:{port}/test?{more}");
    let file = |name: &str| format!("ssl-ca={}", folder.join(name).display());
    // A server without TLS gives nobody a connection who asks for it.
    let port = listens(&own, "");
    let bare = refused(&at(port, "localhost", "tls=true"));
    assert!(bare.to_string().contains("offers no TLS"), "{bare}");
    let path = |name: &str| folder.join(name).display().to_string();
    let lines =
        format!("ssl-ca={}\nssl-cert={}\nssl-key={}\n", path("good.crt"), path("server.crt"), path("server.key"));
    let port = listens(&own, &lines);
    for (host, mode) in [("localhost", "verify-identity"), ("localhost", "required"), ("127.0.0.1", "verify-ca")] {
        let mut inside = opened(&at(port, host, &format!("ssl-mode={mode}&{}", file("good.crt"))))
            .unwrap_or_else(|error| panic!("{host} {mode}: {error}"));
        let cipher = inside.query("SHOW SESSION STATUS LIKE 'Ssl_cipher'").unwrap();
        assert!(matches!(&cipher[0][1], Value::Text(name) if name.contains("TLS")), "{cipher:?}");
    }
    for (host, more) in [
        ("127.0.0.1", format!("ssl-mode=verify-identity&{}", file("good.crt"))),
        ("localhost", format!("ssl-mode=verify-identity&{}", file("other.crt"))),
        ("localhost", format!("ssl-mode=verify-ca&{}", file("other.crt"))),
        ("localhost", "tls=true".to_owned()),
        ("localhost", "ssl-mode=verify-ca&ssl-ca=/nowhere.pem".to_owned()),
    ] {
        let error = refused(&at(port, host, &more));
        assert!(matches!(error, DatabaseError::Secure { .. }), "{host} {more}: {error:?}");
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
}

/// A packet of the protocol.
pub(super) fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = (payload.len() as u32).to_le_bytes()[..3].to_vec();
    packet.push(sequence);
    packet.extend(payload);
    packet
}

/// What a server of this version says first.
pub(super) fn greeting(version: &str, plugin: &str) -> Vec<u8> {
    // Protocol 4.1, authentication by plugin, a database at once.
    let able: u32 = 0x0008_a20b;
    let mut said = vec![10];
    said.extend(version.as_bytes());
    said.extend(b"\0\x01\0\0\0saltsalt\0");
    said.extend(&able.to_le_bytes()[..2]);
    said.extend([45, 2, 0]);
    said.extend(&able.to_le_bytes()[2..]);
    said.push(21);
    said.extend([0; 10]);
    said.extend(format!("saltsaltsalt\0{plugin}\0").bytes());
    packet(0, &said)
}

/// One row with one text.
fn row(value: &str) -> Vec<u8> {
    let mut column = b"\x03def\0\0\0\x01v\0\x0c\x2d\0\xff\0\0\0\xfd\0\0\0\0\0".to_vec();
    column.shrink_to_fit();
    let mut text = vec![value.len() as u8];
    text.extend(value.as_bytes());
    let end = b"\xfe\0\0\x02\0";
    [packet(1, &[1]), packet(2, &column), packet(3, end), packet(4, &text), packet(5, end)].concat()
}

fn pretend(mut guest: TcpStream, version: &str) -> std::io::Result<()> {
    guest.write_all(&greeting(version, "mysql_native_password"))?;
    let mut said = [0; 4096];
    // How the guest names itself does not matter, as long as he says something.
    if guest.read(&mut said)? == 0 {
        return Ok(());
    }
    guest.write_all(&packet(2, b"\0\0\0\x02\0\0\0"))?;
    loop {
        let length = guest.read(&mut said)?;
        if length < 5 || said[4] == 1 {
            return Ok(());
        }
        let asked = String::from_utf8_lossy(&said[5..length]).to_lowercase();
        if asked.contains("silence") || asked.contains("show global variables") {
            std::thread::sleep(Duration::from_secs(600));
        }
        if asked.contains("endless") {
            let whole = row(&"x".repeat(200));
            let text = packet(3, &[&[200][..], &[b'x'; 200]].concat());
            guest.write_all(&whole[..whole.len() - text.len() - 9])?;
            // Numbers of packets count on and wrap.
            for number in (0u8..=255).cycle().skip(4) {
                let mut text = text.clone();
                text[3] = number;
                guest.write_all(&text)?;
            }
        }
        guest.write_all(&row(if asked.contains("version()") { version } else { "16777216" }))?;
    }
}

#[test]
fn a_server_that_is_too_old_is_refused_with_both_versions() {
    for (version, found) in [("5.7.44-log", "MySQL 5.7.44"), ("10.3.39-MariaDB-log", "MariaDB 10.3.39")] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (guest, _) = listener.accept().unwrap();
            let _ = pretend(guest, version);
        });
        let error = refused(&format!("mysql://me:s3cret@127.0.0.1:{port}/db"));
        assert!(matches!(error, DatabaseError::Version { .. }), "{error:?}");
        let words = error.to_string();
        assert!(words.contains(found) && words.contains("MariaDB 10.6 or MySQL 8.0"), "{words}");
        assert!(!words.contains("s3cret") && error.hint().is_some(), "{words}");
    }
}

/// A server that wants the password itself, offers a key when it is asked for one, and gives back all that it heard.
fn curious() -> (u16, std::thread::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut guest, _) = listener.accept().unwrap();
        guest.write_all(&greeting("8.0.36", "caching_sha2_password")).unwrap();
        let (mut heard, mut said) = (Vec::new(), [0; 4096]);
        let _ = guest.read(&mut said);
        guest.write_all(&packet(2, &[1, 4])).unwrap();
        while let Ok(count @ 1..) = guest.read(&mut said) {
            heard.extend_from_slice(&said[..count]);
            let _ = guest.write_all(&packet(4, b"\x01a key"));
        }
        heard
    });
    (port, server)
}

#[test]
fn a_server_is_not_told_the_password_by_a_key_that_it_chose_itself() {
    let (port, server) = curious();
    let error = refused(&format!("mysql://me:s3cret@127.0.0.1:{port}/db"));
    assert!(matches!(error, DatabaseError::Secure { .. }), "{error:?}");
    assert!(error.to_string().contains("ask for ssl-mode=verify-identity"), "{error}");
    // Not even the key was asked for.
    assert_eq!(server.join().unwrap(), b"");
}

#[test]
fn an_address_that_would_take_a_key_of_the_servers_is_refused_with_what_is_known() {
    for key in ["get-server-public-key=true", "server-public-key-path=/k.pem"] {
        let error = refused(&format!("mysql://me:s3cret@127.0.0.1:1/db?{key}"));
        assert!(matches!(error, DatabaseError::Address { .. }), "{error:?}");
        assert!(error.to_string().contains("known are socket"), "{error}");
    }
}

fn pretending() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for guest in listener.incoming().flatten() {
            std::thread::spawn(move || pretend(guest, "10.11.1-MariaDB"));
        }
    });
    format!("mysql://me@127.0.0.1:{port}/db")
}

#[test]
fn rows_without_end_are_cut_off() {
    let mut session = opened(&pretending()).unwrap();
    let failure = session.query("SELECT endless").unwrap_err();
    assert!(failure.text.contains("more than 256 MiB"), "{failure:?}");
}

#[test]
fn a_stop_ends_every_wait_for_a_server_that_says_nothing() {
    let stop = Arc::new(AtomicBool::new(true));
    let at = study::At::Url(pretending());
    let spec = study::DatabaseSpec::new(Engine::Mariadb, at);
    let options = crate::OpenOptions {
        cache_dir: "/nowhere".into(),
        dataset: None,
        settings: Vec::new(),
        profiling: crate::Profiling::default(),
        stop: stop.clone(),
    };
    assert!(matches!(crate::open(&spec, &options), Err(DatabaseError::Stopped)));
    // One that is in already, and one that is not.
    stop.store(false, Ordering::Relaxed);
    let mut session = opened(&pretending()).unwrap();
    session.inside.stop_by(stop.clone());
    stop.store(true, Ordering::Relaxed);
    let failure = session.query("SELECT silence").unwrap_err();
    assert_eq!(failure.kind, crate::FailureKind::Stopped);
}
