//! Whatever a PostgreSQL says in a conversation, a batch ends with answers or a failure, or more is waited for; and what is kept of it
//! is no more than what was said.
//!
//! The first byte of an input chooses how statements travel and how the bytes are cut, the next bytes choose the batch, and the rest
//! are messages: a letter, a length and a body, so that the fuzzer gets behind the framing.

use database::postgres::PostgresWire;
use database::{Progress, Texts, Wire};
use std::sync::Arc;
use study::{Engine, Protocol, Sessions};
use workload::transaction::{Answers, Batch, Statement, Value};

/// The letters of messages that a server may send, and one that is none.
const LETTERS: &[u8] = b"RSKZTDCEI123nstNAGHWVcdv\0";

/// More than a conversation asks for, whatever it hears.
const OUT_MAX: usize = 64 << 10;

/// Stages batches one after the other, and feeds the bytes to each until it has ended.
pub fn postgres_wire(bytes: &[u8]) {
    let [how, shape, rest @ ..] = bytes else { return };
    let protocol = [Protocol::Simple, Protocol::Extended, Protocol::Prepared][usize::from(how % 3)];
    let statements = ["SELECT a FROM t WHERE b = $1", "UPDATE t SET a = $1", "COMMIT"];
    let statements = statements.map(|sql| Statement { name: sql.to_owned(), sql: sql.to_owned(), rows: true });
    let texts = Texts::of(Engine::Postgres, &statements).naming(|place| place == 0);
    let sessions = Sessions { protocol, pipeline: how & 4 != 0, ..Sessions::default() };
    let mut wire = PostgresWire::new(Arc::new(texts), &sessions);
    let (mut batch, mut answers) = (Batch::default(), Answers::default());
    fill(&mut batch, *shape);
    wire.stage(&batch);
    for piece in said(rest).chunks(1 + usize::from(how >> 3)) {
        // Everything that was to be sent has left: a wire is not fed before.
        wire.advance(wire.outgoing().len());
        match wire.feed(piece, &mut answers) {
            Progress::More | Progress::SendMore => {}
            Progress::Complete => {
                assert!(answers.len() >= batch.calls().count(), "a call without an answer");
                again(&mut wire, &batch, &mut answers);
            }
            Progress::Failed(failure) if failure.kind == database::FailureKind::Lost => {
                return assert!(!failure.text.is_empty(), "a loss without a word");
            }
            Progress::Failed(_) => again(&mut wire, &batch, &mut answers),
        }
        assert!(wire.outgoing().len() < OUT_MAX, "a server is asked for more and more");
    }
}

fn again(wire: &mut PostgresWire, batch: &Batch, answers: &mut Answers) {
    answers.clear();
    wire.stage(batch);
}

fn fill(batch: &mut Batch, shape: u8) {
    if shape & 1 != 0 {
        batch.begin(true);
    }
    for statement in 0..=u16::from(shape >> 1 & 3) {
        batch.call(statement % 3, [Value::Int(i64::from(shape))]);
    }
    if shape & 8 != 0 {
        batch.commit();
    }
}

/// The input as messages: a byte for the letter, one for the length, and the body. A letter with its highest bit set leaves the length
/// to the bytes behind it, so that lengths that lie are said too.
pub fn said(mut rest: &[u8]) -> Vec<u8> {
    let mut said = Vec::new();
    while let [letter, length, more @ ..] = rest {
        let (body, after) = more.split_at((*length as usize).min(more.len()));
        said.push(LETTERS[usize::from(letter & 0x7f) % LETTERS.len()]);
        if letter & 0x80 == 0 {
            said.extend((body.len() as u32 + 4).to_be_bytes());
        }
        said.extend(body);
        rest = after;
    }
    said
}
