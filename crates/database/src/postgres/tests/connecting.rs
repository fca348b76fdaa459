//! Ways in, and what is said when there is none.

use super::{plain, private, run};
use crate::postgres::Connect;
use crate::server::Private;
use crate::{DatabaseError, FailureKind, Session, Texts};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use study::{Engine, Sessions};

fn opened(url: &str) -> Result<(), DatabaseError> {
    Connect::parse(url)?.open(Arc::new(Texts::none(Engine::Postgres)), &Sessions::default()).map(drop)
}

/// Makes the server ask for passwords by these rules.
fn rules(private: &super::Private, rules: &str) {
    let file = private.server.folder().join("data/pg_hba.conf");
    std::fs::write(file, format!("local all prony trust\n{rules}\n")).unwrap();
    run(&private.server.connect(), "SELECT pg_reload_conf()");
    // Sessions learn of it when the server has read the file.
    let shown = "SELECT count(*) FROM pg_hba_file_rules WHERE error IS NULL";
    assert!(!plain(&private.server.connect()).query(shown).unwrap().is_empty());
    std::thread::sleep(std::time::Duration::from_millis(300));
}

fn url(private: &super::Private, who: &str, database: &str) -> String {
    format!("postgres://{who}@/{database}?host={}", private.server.run().display())
}

#[test]
fn every_way_to_prove_oneself_lets_the_right_password_in_and_no_other() {
    let Some(private) = private("auth") else { return };
    run(&private.server.connect(), "SET password_encryption = 'md5'; CREATE ROLE old LOGIN PASSWORD 's3cret-1'");
    run(
        &private.server.connect(),
        "CREATE ROLE new LOGIN PASSWORD 's3cret-2'; CREATE ROLE open LOGIN PASSWORD 's3cret-3'",
    );
    rules(&private, "local all old md5\nlocal all new scram-sha-256\nlocal all open password");
    for (user, password) in [("old", "s3cret-1"), ("new", "s3cret-2"), ("open", "s3cret-3")] {
        opened(&url(&private, &format!("{user}:{password}"), "postgres")).unwrap();
        let wrong = opened(&url(&private, &format!("{user}:wr0ng-one"), "postgres")).unwrap_err();
        assert!(matches!(wrong, DatabaseError::Password { .. }), "{wrong}");
        assert!(wrong.to_string().contains(user) && !wrong.to_string().contains("wr0ng"), "{wrong}");
        let none = opened(&url(&private, user, "postgres")).unwrap_err();
        assert!(none.to_string().contains("there is none"), "{none}");
    }
}

#[test]
fn what_keeps_us_out_is_named() {
    let Some(private) = private("out") else { return };
    let missing = opened(&url(&private, "prony", "nowhere")).unwrap_err().to_string();
    assert!(missing.contains("there is no database nowhere"), "{missing}");
    let nobody = opened("postgres://me:s3cret@127.0.0.1:1/db").unwrap_err();
    assert!(matches!(nobody, DatabaseError::Refused { .. }) && !nobody.to_string().contains("s3cret"), "{nobody}");
    let stranger = opened(&url(&private, "stranger", "postgres")).unwrap_err().to_string();
    assert!(stranger.contains("stranger"), "{stranger}");
}

#[test]
fn of_several_hosts_the_first_is_taken_that_answers_and_is_meant() {
    let Some(private) = private("hosts") else { return };
    let here = private.server.run().display().to_string();
    let at = |more: &str| opened(&format!("postgres://prony@/postgres?host=/nowhere,{here}{more}"));
    at("").unwrap();
    at("&target_session_attrs=primary").unwrap();
    at("&target_session_attrs=read-write").unwrap();
    let refused = at("&target_session_attrs=standby").unwrap_err();
    let said = refused.to_string();
    assert!(matches!(refused, DatabaseError::Refused { .. }), "{said}");
    assert!(said.contains("/nowhere/.s.PGSQL.5432: ") && said.contains("it is not standby"), "{said}");
    run(&private.server.connect(), "ALTER DATABASE postgres SET default_transaction_read_only = on");
    let said = at("&target_session_attrs=read-write").unwrap_err().to_string();
    assert!(said.contains("it is not read-write"), "{said}");
    at("&target_session_attrs=read-only").unwrap();
    // Somebody who is not let in is not tried elsewhere.
    let wrong = opened(&format!("postgres://stranger@/postgres?host={here},/nowhere")).unwrap_err().to_string();
    assert!(wrong.contains("stranger") && !wrong.contains("/nowhere/.s.PGSQL.5432: "), "{wrong}");
}

/// A server that answers each connection with these bytes.
fn answering(answers: &'static [&'static [u8]]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        for answer in answers {
            let _ = stream.read(&mut [0; 1024]);
            stream.write_all(answer).unwrap();
        }
    });
    port
}

#[test]
fn what_is_too_old_or_no_postgres_at_all_is_refused() {
    let port = answering(&[b"R\0\0\0\x08\0\0\0\0S\0\0\0\x19server_version\x009.6.2\0Z\0\0\0\x05I"]);
    let refused = opened(&format!("postgres://me@127.0.0.1:{port}/db")).unwrap_err();
    assert!(matches!(refused, DatabaseError::Version { .. }), "{refused}");
    assert!(refused.to_string().contains("9.6.2") && refused.to_string().contains("12"), "{refused}");
    let port = answering(&[b"HTTP/1.1 400 Bad Request\r\n\r\n"]);
    let refused = opened(&format!("postgres://me@127.0.0.1:{port}/db")).unwrap_err().to_string();
    assert!(refused.contains("no PostgreSQL"), "{refused}");
    let port = answering(&[b"N"]);
    let refused = opened(&format!("postgres://me@127.0.0.1:{port}/db?sslmode=require")).unwrap_err();
    assert!(matches!(refused, DatabaseError::Secure { .. }), "{refused}");
}

#[test]
fn tls_trusts_only_what_it_was_told_to_trust() {
    let Some(private) = private("tls") else { return };
    let folder = private.server.folder();
    if !certificate(folder) {
        return crate::tests::skip::skipped("openssl is not installed");
    }
    let data = folder.join("data");
    for name in ["server.crt", "server.key"] {
        std::fs::copy(folder.join(name), data.join(name)).unwrap();
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    own(&data, "server.key");
    own(&data, "server.crt");
    let conf = folder.join("server.conf");
    let text = std::fs::read_to_string(&conf).unwrap();
    let text = text.replace("port = 5432\n", &format!("port = {port}\nssl = on\n"));
    let text = text.replace("listen_addresses = ''", "listen_addresses = '127.0.0.1'");
    private.server.down().unwrap();
    std::fs::write(&conf, text).unwrap();
    private.server.start().unwrap();
    crate::server::enter(crate::server::Member::first_process(&private.server).unwrap());
    let at = |host: &str, more: &str| format!("postgres://prony@{host}:{port}/postgres?{more}");
    let root = format!("sslrootcert={}", folder.join("server.crt").display());
    opened(&at("127.0.0.1", "sslmode=prefer")).unwrap();
    opened(&at("localhost", &format!("sslmode=verify-full&{root}"))).unwrap();
    opened(&at("localhost", &format!("sslmode=require&{root}"))).unwrap();
    opened(&at("127.0.0.1", &format!("sslmode=verify-ca&{root}"))).unwrap();
    for refused in [
        at("127.0.0.1", &format!("sslmode=verify-full&{root}")),
        at("localhost", "sslmode=require"),
        at("localhost", "sslmode=verify-ca"),
        at("localhost", "sslmode=verify-full&sslrootcert=/nowhere.pem"),
    ] {
        let error = opened(&refused).unwrap_err();
        assert!(matches!(error, DatabaseError::Secure { .. }), "{refused}: {error}");
    }
    // The recipe of PostgreSQL's documentation: a certificate that may issue others, and has no name but a common one.
    let usual = ["-newkey", "rsa:2048", "-text", "-out", "usual.crt"];
    assert!(self_signed(folder, &usual));
    std::fs::copy(folder.join("usual.crt"), data.join("server.crt")).unwrap();
    std::fs::copy(folder.join("server.key"), data.join("server.key")).unwrap();
    run(&Connect::parse(&at("127.0.0.1", "sslmode=prefer")).unwrap(), "SELECT pg_reload_conf()");
    std::thread::sleep(std::time::Duration::from_millis(300));
    let usual = format!("sslrootcert={}", folder.join("usual.crt").display());
    for (host, more) in [
        ("localhost", format!("sslmode=verify-full&{usual}")),
        ("127.0.0.1", format!("sslmode=verify-ca&{usual}")),
        ("LocalHost", usual.clone()),
    ] {
        let connect = Connect::parse(&at(host, &more)).unwrap();
        assert!(plain(&connect).into_parts().is_err(), "{host} {more}: TLS, and no bare socket");
    }
    for (host, more, why) in [
        ("127.0.0.1", usual, "is not for `127.0.0.1`; connect by a name that it holds"),
        ("localhost", root, "name the certificate itself with sslrootcert=FILE"),
        ("localhost", "sslmode=require".to_owned(), "name the certificate itself with sslrootcert=FILE"),
        ("localhost", "sslrootcert=/nowhere.pem".to_owned(), "the certificates in /nowhere.pem cannot be read"),
        ("localhost", format!("sslrootcert={}", conf.display()), "holds no certificate in PEM"),
    ] {
        let error = opened(&at(host, &more)).unwrap_err();
        assert!(matches!(error, DatabaseError::Secure { .. }), "{host} {more}: {error}");
        assert!(error.to_string().contains(why), "{host} {more}: {error}");
    }
    let inside = Connect::parse(&at("127.0.0.1", "sslmode=prefer")).unwrap();
    let mut inside = plain(&inside).into_parts().unwrap_err();
    assert_eq!(inside.query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").unwrap()[0][0].int(), Some(1));
    let bare = plain(&Connect::parse(&at("127.0.0.1", "sslmode=disable")).unwrap()).into_parts();
    let (bare, _) = bare.unwrap();
    assert!(std::net::TcpStream::from(std::os::fd::OwnedFd::from(bare)).peer_addr().unwrap().ip().is_loopback());
    std::fs::write(data.join("pg_hba.conf"), "hostssl all all all trust\n").unwrap();
    run(&Connect::parse(&at("127.0.0.1", "sslmode=prefer")).unwrap(), "SELECT pg_reload_conf()");
    std::thread::sleep(std::time::Duration::from_millis(300));
    let demanded = opened(&at("127.0.0.1", "sslmode=disable")).unwrap_err();
    assert!(matches!(demanded, DatabaseError::NotSecure { .. }), "{demanded}");
    assert!(demanded.to_string().contains("may demand TLS") && demanded.hint().unwrap().contains("sslmode=require"));
    opened(&at("127.0.0.1", "sslmode=prefer")).unwrap();
}

/// Makes a certificate for `localhost` that signs itself and issues no others.
fn certificate(folder: &Path) -> bool {
    let curve =
        ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-addext", "subjectAltName=DNS:localhost"];
    self_signed(
        folder,
        &[&curve[..], &["-addext", "basicConstraints=critical,CA:FALSE", "-out", "server.crt"]].concat(),
    )
}

fn self_signed(folder: &Path, more: &[&str]) -> bool {
    let made = std::process::Command::new("openssl")
        .args(["req", "-new", "-x509", "-days", "2", "-nodes", "-subj", "/CN=localhost", "-keyout", "server.key"])
        .args(more)
        .current_dir(folder)
        .output();
    made.is_ok_and(|made| made.status.success())
}

fn own(data: &Path, name: &str) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let owner = std::fs::metadata(data).unwrap();
    let file = data.join(name);
    std::os::unix::fs::chown(&file, Some(owner.uid()), Some(owner.gid())).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// A server that says each of these after it was said something, and the last of them without end when `endless`; it gives
/// back all that it heard.
fn lying(answers: Vec<Vec<u8>>, endless: bool) -> (u16, std::thread::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut heard, mut buffer) = (Vec::new(), [0; 4096]);
        for (number, answer) in answers.iter().enumerate() {
            let count = stream.read(&mut buffer).unwrap_or(0);
            heard.extend_from_slice(&buffer[..count]);
            let last = number + 1 == answers.len();
            while stream.write_all(answer).is_ok() && last && endless {}
        }
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            heard.extend_from_slice(&buffer[..count]);
        }
        heard
    });
    (port, server)
}

fn said(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut message = vec![tag];
    message.extend((body.len() as u32 + 4).to_be_bytes());
    message.extend(body);
    message
}

/// What a server says that lets somebody in.
fn let_in() -> Vec<u8> {
    [said(b'R', &[0; 4]), said(b'S', b"server_version\x0015.1\0"), said(b'Z', b"I")].concat()
}

#[test]
fn a_server_that_began_to_prove_itself_and_did_not_end_it_is_not_believed() {
    let asks = said(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0");
    let (port, server) = lying(vec![asks, let_in()], false);
    let refused = opened(&format!("postgres://me:s3cret@127.0.0.1:{port}/db")).unwrap_err();
    assert!(matches!(refused, DatabaseError::Secure { .. }), "{refused}");
    assert!(refused.to_string().contains("proved"), "{refused}");
    assert!(!String::from_utf8_lossy(&server.join().unwrap()).contains("s3cret"));
}

#[test]
fn a_password_is_told_in_clear_text_only_where_the_address_allows_it() {
    let asks = said(b'R', b"\0\0\0\x03");
    let (port, server) = lying(vec![asks.clone()], false);
    let refused = opened(&format!("postgres://me:s3cret@127.0.0.1:{port}/db")).unwrap_err();
    assert!(matches!(refused, DatabaseError::Secure { .. }), "{refused}");
    assert!(refused.to_string().contains("cleartext_password=true"), "{refused}");
    assert!(!String::from_utf8_lossy(&server.join().unwrap()).contains("s3cret"));
    let (port, server) = lying(vec![asks, let_in()], false);
    opened(&format!("postgres://me:s3cret@127.0.0.1:{port}/db?cleartext_password=true")).unwrap();
    assert!(String::from_utf8_lossy(&server.join().unwrap()).contains("s3cret"));
}

#[test]
fn a_server_that_never_comes_to_an_end_is_given_up() {
    // Before it lets us in: notices, a message that is never whole, silence.
    let notice = said(b'N', b"SNOTICE\0Mhello\0\0");
    let huge = [b"E\x0f\xff\xff\xff".to_vec(), vec![b'x'; 4096]].concat();
    for (answer, endless, words) in
        [(notice, true, "more than"), (huge, true, "more than"), (Vec::new(), false, "within 1 s")]
    {
        let (port, _) = lying(vec![answer], endless);
        let refused = opened(&format!("postgres://me@127.0.0.1:{port}/db?connect_timeout=1")).unwrap_err().to_string();
        assert!(refused.contains(words) || refused.contains("unexpected") || refused.contains("broke"), "{refused}");
    }
    // Behind it: rows.
    let described = said(b'T', b"\0\x01v\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0");
    let row = said(b'D', &[b"\0\x01\0\0\x40\0".to_vec(), vec![b'x'; 0x4000]].concat());
    let rows: Vec<u8> = row.repeat(64);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 1024]);
        stream.write_all(&let_in()).unwrap();
        let _ = stream.read(&mut [0; 1024]);
        stream.write_all(&described).unwrap();
        while stream.write_all(&rows).is_ok() {}
    });
    let mut session = plain(&Connect::parse(&format!("postgres://me@127.0.0.1:{port}/db")).unwrap());
    let failure = session.query("SELECT v FROM endless").unwrap_err();
    assert!(failure.text.contains("more than 256 MiB"), "{failure:?}");
}

#[test]
fn a_stop_ends_the_wait_for_a_server_that_says_nothing() {
    let (port, _) = lying(vec![Vec::new()], false);
    let connect = Connect::parse(&format!("postgres://me@127.0.0.1:{port}/db?connect_timeout=600")).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(true);
    let stopped = connect.open_until(Arc::new(Texts::none(Engine::Postgres)), &Sessions::default(), None, &stop);
    assert!(matches!(stopped, Err(DatabaseError::Stopped)), "{stopped:?}");
}

#[test]
fn a_session_that_is_cut_waits_no_longer_for_its_answer() {
    let (port, _) = lying(vec![let_in()], false);
    let mut session = plain(&Connect::parse(&format!("postgres://me@127.0.0.1:{port}/db")).unwrap());
    let cut = session.cut().unwrap();
    let asks = std::thread::spawn(move || session.query("SELECT 1").unwrap_err());
    cut();
    assert_eq!(asks.join().unwrap().kind, FailureKind::Lost);
}

/// A session was let in, and waited without a limit for the answer to its first statement.
#[test]
fn a_server_that_lets_in_and_says_nothing_more_is_given_up_as_well() {
    let (port, _) = lying(vec![let_in()], false);
    let connect = Connect::parse(&format!("postgres://me@127.0.0.1:{port}/db?connect_timeout=1")).unwrap();
    let (texts, go) = (Arc::new(Texts::none(Engine::Postgres)), std::sync::atomic::AtomicBool::new(false));
    let late = connect.open_until(texts, &Sessions::default(), Some("s".to_owned()), &go).unwrap_err().to_string();
    assert!(late.contains("within 1 s") || late.contains("enter the data set's schema"), "{late}");
}
