//! Servers that lie: whatever they say, it costs little, ends soon, and is told in words.

use super::super::load::{Into, Road, load};
use super::super::{Entrance, MariadbSession, MariadbWire, Next, Place};
use super::entering::{greeting, packet};
use super::feeding::{OK, column, inside, left, place, texts};
use crate::conversation::{Blocking, Stream};
use crate::{DatabaseError, FailureKind, Progress, Rows, Session, Texts, Wire as _};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{Engine, Protocol, Sessions};
use workload::transaction::{Answers, Batch, Value};

/// What the way in comes to when a server says this behind its greeting, and how much of it was heard.
fn greeted_and(plugin: &str, said: &[u8]) -> DatabaseError {
    let place = place();
    let mut entrance = Entrance::new(&place);
    assert_eq!(entrance.feed(&greeting("10.11.1-MariaDB", plugin)).unwrap(), Next::Send);
    for _ in 0..1_000_000 {
        match entrance.feed(said) {
            Ok(Next::In) => panic!("it is in"),
            Ok(_) => {}
            Err(error) => return error,
        }
    }
    panic!("it never ends");
}

#[test]
fn a_way_in_that_never_ends_is_left() {
    let switch = packet(2, b"\xfemysql_native_password\0abcdefghijklmnopqrst\0");
    for (plugin, said) in [
        ("caching_sha2_password", packet(2, &[1, 3])),
        ("mysql_native_password", switch),
        ("mysql_native_password", packet(2, b"\x02what?")),
        ("mysql_native_password", packet(2, b"")),
        // A packet that is never whole.
        ("mysql_native_password", [&b"\xfe\xff\xff\x02"[..], &[7; 4096]].concat()),
    ] {
        let error = greeted_and(plugin, &said);
        assert!(matches!(error, DatabaseError::Refused { .. }), "{error:?}");
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
}

#[test]
fn a_greeting_that_is_none_and_an_early_yes_are_refused() {
    let place = place();
    let old = [&b"\x09"[..], &greeting("3.20", "x")[5..]].concat();
    for said in [packet(0, OK), packet(0, b""), packet(0, &old), packet(0, b"HTTP/1.1 400 Bad Request\r\n")] {
        let error = Entrance::new(&place).feed(&said).unwrap_err();
        assert!(error.to_string().contains("no MariaDB"), "{error}");
    }
    let full = Entrance::new(&place).feed(&packet(0, b"\xff\x10\x04Too many connections")).unwrap_err();
    assert!(matches!(full, DatabaseError::ServerFull { .. }), "{full:?}");
    let repeated = Entrance::new(&place).feed(&packet(0, b"\xff\x15\x04#28000no s3cret")).unwrap_err();
    assert!(!repeated.to_string().contains("s3cret"), "{repeated}");
}

/// TLS could be agreed on with whoever sits between, who has said something in its place already.
#[test]
fn what_is_said_before_tls_begins_is_not_believed() {
    let place = Place::read("mysql://me:s3cret@far/db").unwrap();
    let mut offers = greeting("10.11.1-MariaDB", "mysql_native_password");
    // The capabilities stand behind the version, the number, the salt and a zero byte.
    let at = 4 + 1 + "10.11.1-MariaDB".len() + 1 + 4 + 8 + 1;
    offers[at + 1] |= 0x08;
    let mut entrance = Entrance::new(&place);
    assert_eq!(entrance.feed(&offers).unwrap(), Next::Secure);
    assert_eq!(entrance.outgoing().len(), 4 + 32, "who asks is not told yet");
    entrance.secured();
    assert!(entrance.outgoing().ends_with(b"mysql_native_password\0"));
    let error = Entrance::new(&place).feed(&[offers, packet(2, OK)].concat()).unwrap_err();
    assert!(matches!(error, DatabaseError::Secure { .. }), "{error:?}");
}

/// What a query comes to when the server says this again and again.
fn asked_and(said: &[u8]) -> (Progress, MariadbWire) {
    let mut wire = inside(Protocol::Simple, texts(&["SELECT 1"]));
    let mut batch = Batch::default();
    batch.call(0, []);
    wire.stage(&batch);
    let mut answers = Answers::default();
    for _ in 0..1000 {
        left(&mut wire);
        match wire.feed(said, &mut answers) {
            Progress::More | Progress::SendMore => {}
            ended => return (ended, wire),
        }
    }
    (Progress::More, wire)
}

fn failed(said: &[u8]) -> (FailureKind, String) {
    let Progress::Failed(failure) = asked_and(said).0 else { panic!("it did not fail") };
    (failure.kind, failure.text)
}

#[test]
fn counts_and_sizes_that_nobody_can_mean_are_refused() {
    for body in [
        // Columns: 2^64 - 1, a million, none; a count that is cut.
        &b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff"[..],
        b"\xfd\x40\x42\x0f",
        b"\xfc\0\0",
        b"\xfe\xff",
        b"",
        // An answer without its state.
        b"\0\0",
    ] {
        let (kind, text) = failed(&packet(1, body));
        assert!(kind == FailureKind::Lost && text.contains("not understood"), "{body:?}: {text}");
    }
    // A field that claims to be longer than its row, and a definition that does.
    let end = b"\xfe\0\0\x02\0";
    let row = b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f";
    let long = [packet(1, b"\x01"), packet(2, &column("a", 253)), packet(3, end), packet(4, row)].concat();
    assert!(failed(&long).1.contains("not understood"));
    assert!(
        failed(&[packet(1, b"\x01"), packet(2, b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f")].concat()).0
            == FailureKind::Lost
    );
    // As many columns as can be claimed, of which none comes, take no memory.
    let (waits, _) = asked_and(&packet(1, b"\xfc\xff\xff"));
    assert!(matches!(waits, Progress::Failed(_)), "the same again is no definition");
}

#[test]
fn definitions_and_rows_without_end_are_cut_off() {
    let name = "x".repeat(250);
    let definition = packet(2, &column(&name, 253));
    let mut wire = asked_and(&[]).1;
    let mut answers = Answers::default();
    wire.feed(&packet(1, b"\xfc\xff\xff"), &mut answers);
    let many = definition.repeat(1000);
    let ended = (0..1000).map(|_| wire.feed(&many, &mut answers)).find(|progress| *progress != Progress::More);
    assert!(matches!(ended, Some(Progress::Failed(_))));
}

#[test]
fn an_error_in_the_midst_of_rows_fails_and_the_session_goes_on() {
    let end = b"\xfe\0\0\x02\0";
    let error = b"\xff\x25\x05#70100Query execution was interrupted";
    let rows = [packet(1, b"\x01"), packet(2, &column("a", 253)), packet(3, end), packet(4, b"\x01x")].concat();
    let mut wire = asked_and(&[]).1;
    let mut answers = Answers::default();
    assert_eq!(wire.feed(&[rows, packet(5, error)].concat(), &mut answers), Progress::SendMore);
    assert_eq!(left(&mut wire), packet(0, b"\x03ROLLBACK"));
    let Progress::Failed(failure) = wire.feed(&packet(1, OK), &mut answers) else { panic!("it did not fail") };
    assert!(failure.text.contains("1317"), "{failure}");
    // One that cannot even undo is of no use any more.
    let (kind, text) = failed(&packet(1, error));
    assert!(kind == FailureKind::Lost && text.ends_with("; and the connection is gone"), "{text}");
}

#[test]
fn a_server_that_asks_for_a_file_unbidden_gets_an_empty_one_and_a_refusal() {
    let mut wire = asked_and(&[]).1;
    let mut answers = Answers::default();
    assert_eq!(wire.feed(&packet(1, b"\xfb/etc/passwd"), &mut answers), Progress::SendMore);
    assert_eq!(left(&mut wire), packet(2, b""));
    assert_eq!(wire.feed(&packet(3, OK), &mut answers), Progress::SendMore);
    assert_eq!(left(&mut wire), packet(0, b"\x03ROLLBACK"));
    let Progress::Failed(failure) = wire.feed(&packet(1, OK), &mut answers) else { panic!("it did not fail") };
    assert!(failure.kind == FailureKind::Refused && failure.text.contains("asks for a file"), "{failure}");
    // Again and again it is lost.
    assert_eq!(failed(&packet(1, b"\xfb/etc/passwd")).0, FailureKind::Lost);
}

/// A server that lets one guest in, and what it does then.
fn lets_in(then: impl FnOnce(TcpStream) + Send + 'static) -> Place {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut guest, _) = listener.accept().unwrap();
        guest.write_all(&greeting("10.11.1-MariaDB", "mysql_native_password")).unwrap();
        let _ = guest.read(&mut [0; 4096]);
        guest.write_all(&packet(2, OK)).unwrap();
        then(guest);
    });
    Place::read(&format!("mysql://me:s3cret@127.0.0.1:{port}/db")).unwrap()
}

/// It was let in, and waited without a limit for the answer to its first statement.
#[test]
fn a_server_that_lets_in_and_says_nothing_more_is_given_up() {
    let place = lets_in(|mut guest| while guest.read(&mut [0; 4096]).is_ok_and(|count| count > 0) {});
    let stopped = place.enter_until(&Texts::none(Engine::Mariadb), &Sessions::default(), &AtomicBool::new(true));
    assert!(matches!(stopped, Err(DatabaseError::Stopped)));
}

/// The library reserved memory for as many columns as a server claimed, which ended the program.
#[test]
fn a_lie_over_a_socket_costs_neither_memory_nor_time() {
    let place = lets_in(|mut guest| {
        let _ = guest.read(&mut [0; 4096]);
        guest.write_all(&packet(1, b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff")).unwrap();
        let _ = guest.read(&mut [0; 4096]);
    });
    let error = MariadbSession::open(&place, &Texts::none(Engine::Mariadb), &Sessions::default()).err().unwrap();
    assert!(matches!(error, DatabaseError::Refused { .. }) && error.to_string().contains("not understood"), "{error}");
}

fn session_on(stream: UnixStream) -> MariadbSession {
    MariadbSession::from(Blocking::new(Stream::Raw(stream), inside(Protocol::Simple, texts(&[])), String::new(), 7))
}

/// Ctrl-C while the server waited for another's lock was told as a connection that cannot be had.
#[test]
fn a_stop_while_a_statement_waits_is_a_stop_and_in_a_transaction_a_lost_connection() {
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let mut session = session_on(ours);
    session.inside.stop_by(Arc::new(AtomicBool::new(true)));
    assert_eq!(session.script("truncate trade").unwrap_err().kind, FailureKind::Stopped);
    let mut batch = Batch::default();
    batch.commit();
    let failure = session.run(&batch, &mut Answers::default()).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Lost, "whether it was carried out is not known");
}

/// A session with a server that says each of these after it was said something, and leaves.
fn session_with(answers: Vec<Vec<u8>>) -> MariadbSession {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    std::thread::spawn(move || {
        for answer in answers {
            let _ = theirs.read(&mut [0; 4096]);
            let _ = theirs.write_all(&answer);
        }
    });
    session_on(ours)
}

struct NoRows;

impl Rows for NoRows {
    fn next(&mut self, _: &mut Vec<Value>) -> bool {
        false
    }
}

#[test]
fn a_server_that_lies_while_rows_are_loaded_keeps_none_and_says_why() {
    let (ok, into) = (packet(1, OK), Into { table: "t", columns: &["a"] });
    let nonsense = [&b"\xff\xff\xff\x02"[..], &[0; 64]].concat();
    let file = packet(1, b"\xfbrows");
    let warned = packet(2, b"\0\0\0\x02\0\x01\0");
    let denied = packet(1, b"\xff\x3c\x10#42000loading is disabled");
    for (answers, kind, words) in [
        // It does not ask for the rows; it refuses them; it says what is not whole, and leaves; it did not like one.
        (vec![ok.clone(), ok.clone()], FailureKind::Lost, "does not ask for the rows"),
        (vec![ok.clone(), denied, ok.clone()], FailureKind::Refused, "4156"),
        (vec![ok.clone(), file.clone(), nonsense], FailureKind::Lost, "the server closed the connection"),
        (vec![ok.clone(), file, warned, ok.clone(), ok.clone()], FailureKind::Refused, "took 0 of 0 rows"),
    ] {
        let mut session = session_with(answers);
        let failure = load(&mut session.inside, Road::File, &into, &mut NoRows).unwrap_err();
        assert!(failure.kind == kind && failure.text.contains(words), "{failure:?}");
    }
}

#[test]
fn a_session_that_is_cut_waits_no_longer_for_its_answer() {
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let mut session = session_on(ours);
    let cut = session.cut().unwrap();
    let asks = std::thread::spawn(move || session.query("SELECT 1").unwrap_err());
    cut();
    assert_eq!(asks.join().unwrap().kind, FailureKind::Lost);
}
