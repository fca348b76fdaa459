//! The way in and the conversation without a server: bytes in any pieces give the same answers, and what leaves is to the letter.

use super::super::{Entrance, MariadbWire, Next, Place};
use super::entering::{greeting, packet};
use crate::{DatabaseError, FailureKind, Progress, Texts, Wire as _};
use std::sync::Arc;
use study::{Engine, Protocol, Sessions};
use workload::transaction::{Answers, Batch, Statement, Value};

pub(super) const OK: &[u8] = b"\0\x01\0\x02\0\0\0";
const END: &[u8] = b"\xfe\0\0\x02\0";

/// The end of an answer behind which another follows.
const AND_MORE: &[u8] = b"\xfe\0\0\x0a\0";

pub(super) fn place() -> Place {
    Place::read("mysql://me:s3cret@127.0.0.1/db").unwrap()
}

pub(super) fn texts(list: &[&str]) -> Texts {
    let statement = |sql: &&str| Statement { name: (*sql).to_owned(), sql: (*sql).to_owned(), rows: true };
    Texts::of(Engine::Mariadb, &list.iter().map(statement).collect::<Vec<_>>())
}

/// A conversation that was let in.
pub(super) fn inside(protocol: Protocol, texts: Texts) -> MariadbWire {
    let place = place();
    let mut entrance = Entrance::new(&place);
    let said = [greeting("10.11.1-MariaDB", "mysql_native_password"), packet(2, OK)].concat();
    assert_eq!(entrance.feed(&said).unwrap(), Next::Send);
    assert_eq!(entrance.feed(&[]).unwrap(), Next::In);
    entrance.wire(Arc::new(texts), &Sessions { protocol, ..Sessions::default() })
}

pub(super) fn column(name: &str, kind: u8) -> Vec<u8> {
    let head = [b"\x03def\0\0\0", &[name.len() as u8][..], name.as_bytes(), b"\0\x0c\x2d\0\xff\0\0\0"].concat();
    [&head[..], &[kind], b"\0\0\0\0\0"].concat()
}

fn packets(bodies: &[&[u8]]) -> Vec<u8> {
    bodies.iter().zip(1u8..).flat_map(|(body, number)| packet(number, body)).collect()
}

fn staged(wire: &mut MariadbWire, fill: impl Fn(&mut Batch)) {
    let mut batch = Batch::default();
    fill(&mut batch);
    wire.stage(&batch);
}

/// What is to be sent now, and is taken to have left.
pub(super) fn left(wire: &mut MariadbWire) -> Vec<u8> {
    let bytes = wire.outgoing().to_vec();
    wire.advance(bytes.len());
    bytes
}

#[test]
fn who_comes_in_says_so_to_the_letter() {
    let place = place();
    let mut entrance = Entrance::new(&place);
    assert_eq!(entrance.feed(&greeting("10.11.1-MariaDB", "mysql_native_password")).unwrap(), Next::Send);
    let mut said = b"\x8f\xa2\x0f\0\0\0\0\x01\x2d".to_vec();
    said.extend([0; 23]);
    said.extend(b"me\0\x14");
    said.extend(super::super::authentication::Plugin::Native.proof("s3cret", b"saltsaltsaltsaltsalt"));
    said.extend(b"db\0mysql_native_password\0");
    assert_eq!(entrance.outgoing(), packet(1, &said));
}

#[test]
fn a_server_that_forgot_the_password_is_told_it_only_on_a_socket_and_another_plugin_is_answered_once() {
    let socket = Place { socket: Some("/s".to_owned()), ..place() };
    let mut entrance = Entrance::new(&socket);
    entrance.feed(&greeting("8.0.36", "caching_sha2_password")).unwrap();
    assert_eq!(entrance.feed(&packet(2, &[1, 4])).unwrap(), Next::Send);
    assert_eq!(entrance.outgoing(), packet(3, b"s3cret\0"));
    assert_eq!(entrance.feed(&packet(4, OK)).unwrap(), Next::In);
    let place = place();
    let mut entrance = Entrance::new(&place);
    entrance.feed(&greeting("8.0.36", "caching_sha2_password")).unwrap();
    let switch = b"\xfemysql_native_password\0abcdefghijklmnopqrst\0";
    assert_eq!(entrance.feed(&packet(2, switch)).unwrap(), Next::Send);
    let proof = super::super::authentication::Plugin::Native.proof("s3cret", b"abcdefghijklmnopqrst");
    assert_eq!(entrance.outgoing(), packet(3, &proof));
    // It remembers the password of the other plugin.
    let mut entrance = Entrance::new(&place);
    entrance.feed(&greeting("8.0.36", "caching_sha2_password")).unwrap();
    assert_eq!(entrance.feed(&[packet(2, &[1, 3]), packet(3, OK)].concat()).unwrap(), Next::In);
}

#[test]
fn a_plugin_that_is_not_known_is_named() {
    for (switch, name) in [(&b"\xfeclient_ed25519\0salt\0"[..], "client_ed25519"), (b"\xfe", "mysql_old_password")] {
        let place = place();
        let mut entrance = Entrance::new(&place);
        entrance.feed(&greeting("10.11.1-MariaDB", "mysql_native_password")).unwrap();
        let error = entrance.feed(&packet(2, switch)).unwrap_err();
        assert!(matches!(error, DatabaseError::Password { .. }), "{error:?}");
        assert!(error.to_string().contains(name) && error.to_string().contains("caching_sha2_password"), "{error}");
    }
}

/// What a server says to a batch of one prepared statement: what it is, then two rows.
fn said() -> Vec<u8> {
    let prepared = packets(&[b"\0\x07\0\0\0\x01\0\x01\0\0\0\0", &column("?", 8), END, &column("n", 8), END]);
    let row = |number: u8| [b"\0\0", &[number][..], &[0; 7]].concat();
    let rows = packets(&[b"\x01", &column("n", 8), END, &row(41), &row(42), END]);
    [prepared, rows].concat()
}

fn asked() -> MariadbWire {
    let mut wire = inside(Protocol::Prepared, texts(&["SELECT n FROM t WHERE n > $1"]));
    staged(&mut wire, |batch| batch.call(0, [Value::Int(40)]));
    wire
}

fn expected() -> Answers {
    let mut answers = Answers::default();
    answers.begin(1);
    answers.push(Value::Int(41));
    answers.push(Value::Int(42));
    answers.end(0);
    answers
}

/// Feeds bytes cut at these places, and lets leave what is to leave; what they came to at last.
fn fed(wire: &mut MariadbWire, bytes: &[u8], mut cuts: Vec<usize>, answers: &mut Answers) -> Progress {
    cuts.push(bytes.len());
    cuts.sort_unstable();
    let (mut from, mut last) = (0, Progress::More);
    for cut in cuts {
        left(wire);
        last = wire.feed(&bytes[from..cut], answers);
        while last == Progress::SendMore {
            left(wire);
            last = wire.feed(&[], answers);
        }
        from = cut;
    }
    last
}

#[test]
fn a_statement_is_prepared_once_and_a_second_call_only_executes() {
    let (mut wire, mut answers) = (asked(), Answers::default());
    assert_eq!(left(&mut wire), packet(0, b"\x16SELECT n FROM t WHERE n > ?"));
    let execute = |number: u8| {
        let head = b"\x17\x07\0\0\0\0\x01\0\0\0\0\x01\x08\0";
        packet(0, &[&head[..], &i64::from(number).to_le_bytes()].concat())
    };
    let at = said().len() - 3 * 4;
    assert_eq!(wire.feed(&said()[..at], &mut answers), Progress::SendMore);
    assert_eq!(left(&mut wire), execute(40));
    assert_eq!(wire.feed(&said()[at..], &mut answers), Progress::Complete);
    assert_eq!(answers, expected());
    staged(&mut wire, |batch| batch.call(0, [Value::Int(50)]));
    assert_eq!(left(&mut wire), execute(50));
}

#[test]
fn the_extended_protocol_closes_what_it_prepared_before() {
    let mut wire = inside(Protocol::Extended, texts(&["SELECT 1"]));
    let (prepare, execute) = (packet(0, b"\x16SELECT 1"), b"\x17\x09\0\0\0\0\x01\0\0\0");
    for closed in [0, 9] {
        staged(&mut wire, |batch| batch.call(0, []));
        assert_eq!(left(&mut wire), [packet(0, &[25, closed, 0, 0, 0]), prepare.clone()].concat());
        let answers = &mut Answers::default();
        let prepared = packets(&[b"\0\x09\0\0\0\0\0\0\0\0\0\0"]);
        assert_eq!(wire.feed(&prepared, answers), Progress::SendMore);
        assert_eq!(left(&mut wire), packet(0, execute));
        assert_eq!(wire.feed(&packet(1, OK), answers), Progress::Complete);
    }
}

proptest::proptest! {
    #[test]
    fn bytes_may_come_in_any_pieces(cuts in proptest::collection::vec(0usize..said().len(), 0..6)) {
        let (mut wire, mut answers) = (asked(), Answers::default());
        proptest::prop_assert_eq!(fed(&mut wire, &said(), cuts, &mut answers), Progress::Complete);
        proptest::prop_assert_eq!(answers, expected());
    }

    #[test]
    fn the_way_in_may_come_in_any_pieces(at in 0usize..80) {
        let place = place();
        let mut entrance = Entrance::new(&place);
        let greeting = greeting("10.11.1-MariaDB", "mysql_native_password");
        let at = at.min(greeting.len() - 1);
        proptest::prop_assert_eq!(entrance.feed(&greeting[..at]).unwrap(), Next::More);
        proptest::prop_assert_eq!(entrance.feed(&greeting[at..]).unwrap(), Next::Send);
    }

    #[test]
    fn no_packets_make_it_panic(bodies in proptest::collection::vec(proptest::collection::vec(proptest::num::u8::ANY, 0..20), 0..8), at in 0usize..said().len()) {
        let (mut wire, mut answers) = (asked(), Answers::default());
        let lies: Vec<u8> = bodies.iter().flat_map(|body| packet(1, body)).collect();
        fed(&mut wire, &[&said()[..at], &lies].concat(), vec![at], &mut answers);
    }
}

#[test]
fn a_procedure_answers_several_times_and_its_first_rows_count_or_all_of_them() {
    let rows = |ends: &'static [u8], text: &'static [u8]| -> Vec<u8> {
        packets(&[b"\x01", &column("a", 253), END, text, ends])
    };
    let said = [rows(AND_MORE, b"\x01x"), rows(AND_MORE, b"\x01y"), packet(11, b"\0\x05\0\x02\0\0\0")].concat();
    for (gathers, expected) in [(false, 1), (true, 2)] {
        let mut list = texts(&["CALL p()"]);
        list.gathering = gathers;
        let mut wire = inside(Protocol::Simple, list);
        staged(&mut wire, |batch| batch.call(0, []));
        let mut answers = Answers::default();
        assert_eq!(fed(&mut wire, &said, Vec::new(), &mut answers), Progress::Complete);
        assert_eq!((answers.len(), answers.get(0).row_count(), answers.get(0).changed), (1, expected, 5));
        assert_eq!(answers.get(0).text(0, 0), "x");
    }
}

#[test]
fn columns_that_the_server_told_before_are_kept() {
    let mut wire = MariadbWire::new(Arc::new(texts(&["SELECT n"])), &Sessions::default(), true, Vec::new());
    staged(&mut wire, |batch| (batch.call(0, []), batch.call(0, [])).0);
    let prepared = packets(&[b"\0\x07\0\0\0\x01\0\0\0\0\0\0", &column("n", 253), END]);
    let rows = |text: &[u8]| packets(&[b"\x01\0", END, &[b"\0\0\x02", text].concat(), END]);
    let mut answers = Answers::default();
    let said = [prepared, rows(b"ab"), rows(b"cd")].concat();
    assert_eq!(fed(&mut wire, &said, Vec::new(), &mut answers), Progress::Complete);
    assert_eq!((answers.get(0).text(0, 0), answers.get(1).text(0, 0)), ("ab", "cd"));
}

#[test]
fn a_failure_undoes_what_was_begun_and_the_next_batch_goes_on() {
    let mut wire = inside(Protocol::Simple, texts(&["SELECT 1"]));
    staged(&mut wire, |batch| (batch.begin(true), batch.call(0, []), batch.commit()).0);
    let mut answers = Answers::default();
    assert_eq!(left(&mut wire), packet(0, b"\x03BEGIN"));
    assert_eq!(wire.feed(&packet(1, b"\0\0\0\x03\0\0\0"), &mut answers), Progress::SendMore);
    assert!(wire.in_transaction());
    assert_eq!(left(&mut wire), packet(0, b"\x03SELECT 1"));
    let deadlock = packet(1, b"\xff\xbd\x04#40001Deadlock found");
    assert_eq!(wire.feed(&deadlock, &mut answers), Progress::SendMore);
    assert_eq!(left(&mut wire), packet(0, b"\x03ROLLBACK"));
    let Progress::Failed(failure) = wire.feed(&packet(1, OK), &mut answers) else { panic!("it did not fail") };
    assert_eq!((failure.kind, failure.text.as_str()), (FailureKind::Deadlock, "error 1213 (40001): Deadlock found"));
    assert!(!wire.in_transaction());
    answers.clear();
    staged(&mut wire, |batch| batch.commit());
    assert_eq!(left(&mut wire), packet(0, b"\x03COMMIT"));
    assert_eq!(wire.feed(&packet(1, OK), &mut answers), Progress::Complete);
}

/// What follows such an end would be kept statement by statement.
#[test]
fn a_transaction_that_the_server_ended_without_saying_so_fails_and_goes_no_further() {
    let answered = |sql: &str| {
        let mut wire = inside(Protocol::Simple, texts(&[sql]));
        staged(&mut wire, |batch| (batch.begin(true), batch.call(0, []), batch.commit()).0);
        let mut answers = Answers::default();
        left(&mut wire);
        assert_eq!(wire.feed(&packet(1, b"\0\0\0\x03\0\0\0"), &mut answers), Progress::SendMore);
        left(&mut wire);
        // One row changed, and no transaction is open.
        assert_eq!(wire.feed(&packet(1, b"\0\x01\0\x02\0\0\0"), &mut answers), Progress::SendMore);
        (left(&mut wire), wire)
    };
    let (next, mut wire) = answered("UPDATE t SET n = n + 1");
    assert_eq!(next, packet(0, b"\x03ROLLBACK"));
    let Progress::Failed(failure) = wire.feed(&packet(1, OK), &mut Answers::default()) else {
        panic!("it did not fail")
    };
    assert!(failure.retryable() && failure.text.contains("without saying so"), "{}", failure.text);
    assert_eq!(answered("CREATE TABLE u (n INT)").0, packet(0, b"\x03COMMIT"), "a definition ends it as it should");
}

#[test]
fn what_the_server_would_not_take_is_not_sent() {
    let mut wire = inside(Protocol::Prepared, texts(&["SELECT $1"]));
    wire.packet_max = 40;
    staged(&mut wire, |batch| batch.call(0, ["x".repeat(50).into()]));
    assert_eq!(left(&mut wire), packet(0, b"\x03ROLLBACK"));
    let Progress::Failed(failure) = wire.feed(&packet(1, OK), &mut Answers::default()) else { panic!("it is sent") };
    assert!(failure.kind == FailureKind::Refused && failure.text.contains("max_allowed_packet"), "{failure}");
    // It was never asked for, so that it is prepared when it is called again.
    staged(&mut wire, |batch| batch.call(0, ["x".into()]));
    assert_eq!(left(&mut wire), packet(0, b"\x16SELECT ?"));
}

#[test]
fn answers_without_end_are_given_up() {
    let mut wire = inside(Protocol::Simple, texts(&[]));
    wire.stage_script("CALL p()");
    left(&mut wire);
    let more = packet(1, b"\0\0\0\x0a\0\0\0").repeat(1 << 16);
    let mut answers = Answers::default();
    let given_up = (0..1000).map(|_| wire.feed(&more, &mut answers)).find(|progress| *progress != Progress::More);
    let Some(Progress::Failed(failure)) = given_up else { panic!("{given_up:?}") };
    assert_eq!(failure.kind, FailureKind::Lost);
    assert!(failure.text.contains("256 MiB"), "{failure}");
}
