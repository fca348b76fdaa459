//! The conversation without a server: bytes in any pieces give the same answers.

use super::{how, texts};
use crate::postgres::PostgresWire;
use crate::{FailureKind, Progress, Wire as _};
use std::sync::Arc;
use study::Protocol;
use workload::transaction::{Answers, Batch, Value};

/// A message of the server.
fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    bytes.extend((body.len() as u32 + 4).to_be_bytes());
    bytes.extend(body);
    bytes
}

fn described(name: &str, oid: i32) -> Vec<u8> {
    let mut body = b"\0\x01".to_vec();
    body.extend(name.as_bytes());
    body.extend(b"\0\0\0\0\0\0\0");
    body.extend(oid.to_be_bytes());
    body.extend(b"\0\x08\xff\xff\xff\xff\0\0");
    message(b'T', &body)
}

fn row(text: &str) -> Vec<u8> {
    let mut body = b"\0\x01".to_vec();
    body.extend((text.len() as u32).to_be_bytes());
    body.extend(text.as_bytes());
    message(b'D', &body)
}

/// What a server says to a batch of one prepared statement, with what may come in between.
fn said() -> Vec<u8> {
    let parts = [
        message(b'1', b""),
        message(b't', b"\0\x01\0\0\0\x14"),
        described("n", 20),
        message(b'N', b"SNOTICE\0C00000\0Mhello\0\0"),
        message(b'2', b""),
        row("41"),
        message(b'S', b"TimeZone\0UTC\0"),
        row("42"),
        message(b'C', b"SELECT 2\0"),
        message(b'Z', b"I"),
    ];
    parts.concat()
}

fn staged() -> PostgresWire {
    let mut wire =
        PostgresWire::new(Arc::new(texts(&["SELECT n FROM t WHERE n > $1"])), &how(Protocol::Prepared, true));
    let mut batch = Batch::default();
    batch.call(0, [Value::Int(40)]);
    wire.stage(&batch);
    wire.advance(wire.outgoing().len());
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

#[test]
fn bytes_may_come_one_by_one() {
    let (mut wire, mut answers, bytes) = (staged(), Answers::default(), said());
    for at in 0..bytes.len() - 1 {
        assert_eq!(wire.feed(&bytes[at..=at], &mut answers), Progress::More);
    }
    assert_eq!(wire.feed(&bytes[bytes.len() - 1..], &mut answers), Progress::Complete);
    assert_eq!(answers, expected());
}

proptest::proptest! {
    #[test]
    fn bytes_may_come_in_any_pieces(cuts in proptest::collection::vec(0usize..said().len(), 0..6)) {
        let (mut wire, mut answers, bytes) = (staged(), Answers::default(), said());
        let mut cuts = cuts;
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let (mut from, mut last) = (0, Progress::More);
        for cut in cuts {
            proptest::prop_assert_eq!(&last, &Progress::More);
            if cut > from {
                last = wire.feed(&bytes[from..cut], &mut answers);
            }
            from = cut;
        }
        proptest::prop_assert_eq!(last, Progress::Complete);
        proptest::prop_assert_eq!(answers, expected());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..80), at in 0usize..said().len()) {
        let (mut wire, mut answers) = (staged(), Answers::default());
        wire.feed(&said()[..at], &mut answers);
        wire.feed(&bytes, &mut answers);
    }

    #[test]
    fn no_letters_and_lengths_make_it_panic(parts in proptest::collection::vec(("[12CDEGINSTZnt]", ".{0,9}"), 0..8)) {
        let (mut wire, mut answers) = (staged(), Answers::default());
        for (tag, body) in parts {
            wire.feed(&message(tag.as_bytes()[0], body.as_bytes()), &mut answers);
        }
    }
}

#[test]
fn a_statement_is_prepared_once_and_a_second_call_only_binds() {
    let (mut wire, mut answers) = (staged(), Answers::default());
    assert_eq!(wire.feed(&said(), &mut answers), Progress::Complete);
    let mut batch = Batch::default();
    batch.call(0, [Value::Int(7)]);
    wire.stage(&batch);
    let tags: Vec<u8> = tags(wire.outgoing());
    assert_eq!(tags, b"BES");
    let again = [message(b'2', b""), row("8"), message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat();
    answers.clear();
    assert_eq!(wire.feed(&again, &mut answers), Progress::Complete);
    assert_eq!(answers.get(0).int(0, 0), 8);
}

fn tags(mut bytes: &[u8]) -> Vec<u8> {
    let mut tags = Vec::new();
    while let [tag, a, b, c, d, ..] = *bytes {
        tags.push(tag);
        bytes = &bytes[u32::from_be_bytes([a, b, c, d]) as usize + 1..];
    }
    tags
}

#[test]
fn a_transaction_travels_at_once_and_what_follows_it_waits() {
    let list = Arc::new(texts(&["SELECT 1"]));
    let mut wire = PostgresWire::new(list, &how(Protocol::Extended, true));
    let mut batch = Batch::default();
    batch.begin(true);
    batch.call(0, []);
    batch.commit();
    batch.call(0, []);
    wire.stage(&batch);
    assert_eq!(tags(wire.outgoing()), b"PBDEPBDEPBDES");
    wire.advance(wire.outgoing().len());
    let mut answers = Answers::default();
    let none = |tag: &[u8]| [message(b'1', b""), message(b'2', b""), message(b'n', b""), message(b'C', tag)].concat();
    let one =
        [message(b'1', b""), message(b'2', b""), described("x", 23), row("1"), message(b'C', b"SELECT 1\0")].concat();
    let first = [none(b"BEGIN\0"), one.clone(), none(b"COMMIT\0"), message(b'Z', b"I")].concat();
    assert_eq!(wire.feed(&first, &mut answers), Progress::SendMore);
    assert_eq!(tags(wire.outgoing()), b"PBDES");
    wire.advance(wire.outgoing().len());
    assert_eq!(wire.feed(&[one, message(b'Z', b"I")].concat(), &mut answers), Progress::Complete);
    assert_eq!((answers.len(), answers.get(3).int(0, 0)), (4, 1));
    assert!(wire.outgoing().is_empty());
}

#[test]
fn a_statement_that_the_server_leaves_without_an_answer_fails() {
    let (mut wire, mut answers) = (staged(), Answers::default());
    let Progress::Failed(failure) = wire.feed(&message(b'Z', b"I"), &mut answers) else { panic!("it did not fail") };
    assert_eq!(failure.kind, FailureKind::Refused);
    // Inside a transaction it is undone first.
    let mut wire = staged();
    assert_eq!(wire.feed(&message(b'Z', b"T"), &mut answers), Progress::SendMore);
    assert_eq!(wire.outgoing(), b"Q\0\0\0\x0dROLLBACK\0");
}

#[test]
fn a_failure_inside_a_transaction_asks_for_a_rollback_first() {
    let (mut wire, mut answers) = (staged(), Answers::default());
    let error = message(b'E', b"SERROR\0VERROR\0C40001\0Mtry again\0\0");
    assert_eq!(wire.feed(&[error, message(b'Z', b"E")].concat(), &mut answers), Progress::SendMore);
    assert_eq!(wire.outgoing(), b"Q\0\0\0\x0dROLLBACK\0");
    wire.advance(wire.outgoing().len());
    let undone = [message(b'C', b"ROLLBACK\0"), message(b'Z', b"I")].concat();
    let Progress::Failed(failure) = wire.feed(&undone, &mut answers) else { panic!("it did not fail") };
    assert!(failure.kind == FailureKind::Serialization && answers.is_empty());
    // The statement was not described, so that it is prepared anew.
    let mut batch = Batch::default();
    batch.call(0, [Value::Int(1)]);
    wire.stage(&batch);
    assert_eq!(tags(wire.outgoing()), b"PDBES");
}
