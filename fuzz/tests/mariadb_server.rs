//! Whatever a MariaDB says to who comes in and asks it something, there are answers or an error with words, or more is waited for; and
//! what is kept of it is no more than what was said.
//!
//! The first byte of an input chooses how much of a good beginning comes before what the fuzzer thinks of, how the bytes are cut and how
//! statements travel; the rest are packets, so that the fuzzer gets behind the framing.

use database::mariadb::{Entrance, Next, Place};
use database::{FailureKind, Progress, Texts, Wire};
use std::sync::Arc;
use study::{Engine, Protocol, Sessions};
use workload::transaction::{Answers, Batch, Statement, Value};

/// More than we ever have to say, whatever we hear.
const OUT_MAX: usize = 64 << 10;

/// Feeds the bytes to the way in, and what it leaves of them to batches, one after the other.
pub fn mariadb_server(bytes: &[u8]) {
    let [how, rest @ ..] = bytes else { return };
    let good = good().into_iter().take(usize::from(how % 8)).flatten();
    let says: Vec<u8> = good.chain(packets(rest)).collect();
    let mut pieces = says.chunks(1 + usize::from(how >> 3) * 8);
    let place = Place { password: Some("secret".to_owned()), ..Place::behind("/socket", "me") };
    let mut entrance = Entrance::new(&place);
    loop {
        let Some(piece) = pieces.next() else { return };
        match entrance.feed(piece) {
            Ok(Next::In) => break,
            Ok(_) => assert!(entrance.outgoing().len() < OUT_MAX),
            Err(error) => return assert!(!error.to_string().is_empty() && !error.to_string().contains("secret")),
        }
    }
    let protocol = [Protocol::Prepared, Protocol::Simple, Protocol::Extended][usize::from(how >> 3) % 3];
    let mut wire = entrance.wire(Arc::new(texts()), &Sessions { protocol, ..Sessions::default() });
    let (mut batch, mut answers) = (Batch::default(), Answers::default());
    batch.begin(true);
    batch.call(0, [Value::Int(7)]);
    batch.call(1, [Value::Text("x".to_owned())]);
    batch.call(0, [Value::Null]);
    wire.stage(&batch);
    for piece in std::iter::once(&[][..]).chain(pieces) {
        // Everything that was to be sent has left: a wire is not fed before.
        wire.advance(wire.outgoing().len());
        match wire.feed(piece, &mut answers) {
            Progress::More | Progress::SendMore => {}
            Progress::Failed(failure) if failure.kind == FailureKind::Lost => {
                return assert!(!failure.text.is_empty(), "a loss without a word");
            }
            ended => {
                assert!(ended != Progress::Complete || answers.len() == batch.len(), "a call without its answer");
                answers.clear();
                wire.stage(&batch);
            }
        }
        assert!(wire.outgoing().len() < OUT_MAX, "a server is asked for more and more");
    }
}

fn texts() -> Texts {
    let statement = |sql: &str| Statement { name: sql.to_owned(), sql: sql.to_owned(), rows: true };
    let list = [statement("SELECT a FROM t WHERE b = $1"), statement("UPDATE t SET a = $1")];
    Texts::of(Engine::Mariadb, &list).naming(|place| place == 0)
}

/// What a good server says, one exchange after the other: who it is, that we are in, that a transaction has begun, what a statement
/// looks like, its rows, and what the other looks like.
fn good() -> Vec<Vec<u8>> {
    const OK: &[u8] = b"\0\0\0\x02\0\0\0";
    const END: &[u8] = b"\xfe\0\0\x02\0";
    let mut greeting = b"\x0a10.11.8-MariaDB\0\x07\0\0\0abcdefgh\0\x0f\xa2\x21\x02\0\x08\0\x15".to_vec();
    greeting.extend([0; 10]);
    greeting.extend(b"abcdefghijkl\0mysql_native_password\0");
    let column = b"\x03def\0\0\0\x01a\0\x0c\x21\0\xff\0\0\0\xfd\0\0\0\0\0";
    let row = [packet(1, b"\x01"), packet(2, column), packet(3, END), packet(4, b"\0\0\x017"), packet(5, END)];
    let prepared = b"\0\x01\0\0\0\x01\0\x01\0\0\0\0";
    let described = [packet(2, column), packet(3, END), packet(4, column), packet(5, END)].concat();
    vec![
        packet(0, &greeting),
        packet(2, OK),
        packet(1, OK),
        [packet(1, prepared), described].concat(),
        row.concat(),
        [packet(1, b"\0\x02\0\0\0\0\0\x01\0\0\0\0"), packet(2, column), packet(3, END)].concat(),
        packet(1, OK),
    ]
}

fn packet(number: u8, body: &[u8]) -> Vec<u8> {
    let mut packet = (body.len() as u32).to_le_bytes()[..3].to_vec();
    packet.push(number);
    packet.extend(body);
    packet
}

/// The input as packets: a byte that says whether an exchange begins, one for the length, and the body. With its highest bit set the
/// first byte leaves length and number to the bytes behind it.
fn packets(mut rest: &[u8]) -> Vec<u8> {
    let (mut said, mut number) = (Vec::new(), 0u8);
    while let [first, length, more @ ..] = rest {
        let (body, after) = more.split_at((*length as usize).min(more.len()));
        number = if first & 1 == 0 { 1 } else { number.wrapping_add(1) };
        match first & 0x80 {
            0 => said.extend(packet(number, body)),
            _ => said.extend(body),
        }
        rest = after;
    }
    said
}
