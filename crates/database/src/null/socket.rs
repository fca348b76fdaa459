//! The way to the null database and back: what a system call each way and the encoding of parameters and rows cost.
//!
//! A request is its length, the count of calls, a number for each (a statement's place, or that it is none) and all
//! parameters; the reply is its length and the answers. A thread of the session's own serves the other end; its CPU is the
//! server's, although it runs in this process.

use super::replies::{Replies, asked};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use workload::transaction::{Answers, Batch, Call, Names, Sample, Value};

/// Stands for a call that is no statement.
const NONE: u16 = u16::MAX;

/// This end.
#[derive(Debug)]
pub(super) struct Socket {
    stream: UnixStream,
    /// What the columns of answers are called, by statement, as a client knows it since it prepared them.
    names: Vec<Option<Names>>,
    request: Vec<u8>,
    reply: Vec<u8>,
}

impl Socket {
    /// Opens a pair of sockets and starts the thread of the other end; it ends when this end is dropped.
    pub(super) fn open(samples: &[Option<Sample>]) -> io::Result<Socket> {
        let (stream, other) = UnixStream::pair()?;
        let replies = Replies::new(samples);
        std::thread::Builder::new().name("null-database".to_owned()).spawn(move || serve(other, replies))?;
        let names = samples.iter().map(|sample| sample.as_ref().and_then(Sample::names).cloned()).collect();
        Ok(Socket { stream, names, request: Vec::new(), reply: Vec::new() })
    }

    /// One request and one reply for all calls of a batch.
    pub(super) fn run(&mut self, batch: &Batch, answers: &mut Answers) -> io::Result<()> {
        encode(batch, &mut self.request);
        self.stream.write_all(&self.request)?;
        receive(&mut self.stream, &mut self.reply)?;
        let mut bytes = Bytes(&self.reply);
        for call in batch.calls() {
            let names = asked(call).and_then(|statement| self.names.get(usize::from(statement))?.as_ref());
            decode(&mut bytes, names, answers).ok_or(io::ErrorKind::InvalidData)?;
        }
        Ok(())
    }
}

/// Answers requests until the other end is gone.
fn serve(mut stream: UnixStream, mut replies: Replies) -> io::Result<()> {
    let (mut request, mut reply, mut answers) = (Vec::new(), Vec::new(), Answers::default());
    loop {
        receive(&mut stream, &mut request)?;
        answers.clear();
        let mut bytes = Bytes(&request);
        let calls = bytes.take().map_or(0, u32::from_le_bytes);
        for _ in 0..calls {
            let statement = bytes.take().map_or(NONE, u16::from_le_bytes);
            replies.answer((statement != NONE).then_some(statement), &mut answers);
        }
        begin(&mut reply);
        (0..answers.len()).for_each(|index| answer(&answers, index, &mut reply));
        end(&mut reply);
        stream.write_all(&reply)?;
    }
}

fn receive(stream: &mut UnixStream, message: &mut Vec<u8>) -> io::Result<()> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    message.resize(u32::from_le_bytes(length) as usize, 0);
    stream.read_exact(message)
}

/// Leaves room for the length.
fn begin(message: &mut Vec<u8>) {
    message.clear();
    message.extend([0; 4]);
}

fn end(message: &mut [u8]) {
    let length = message.len() as u32 - 4;
    message[..4].copy_from_slice(&length.to_le_bytes());
}

fn encode(batch: &Batch, request: &mut Vec<u8>) {
    begin(request);
    request.extend((batch.len() as u32).to_le_bytes());
    batch.calls().for_each(|call| request.extend(asked(call).unwrap_or(NONE).to_le_bytes()));
    for call in batch.calls() {
        if let Call::Statement { parameters, .. } = call {
            parameters.iter().for_each(|parameter| value(parameter, request));
        }
    }
    end(request);
}

fn answer(answers: &Answers, index: usize, reply: &mut Vec<u8>) {
    let answer = answers.get(index);
    let columns = answer.rows().next().map_or(0, <[Value]>::len);
    reply.extend((columns as u16).to_le_bytes());
    reply.extend((answer.row_count() as u32).to_le_bytes());
    reply.extend(answer.changed.to_le_bytes());
    answer.rows().flatten().for_each(|field| value(field, reply));
}

fn value(value: &Value, message: &mut Vec<u8>) {
    match value {
        Value::Null => message.push(0),
        Value::Int(number) => {
            message.push(1);
            message.extend(number.to_le_bytes());
        }
        Value::Float(number) => {
            message.push(2);
            message.extend(number.to_le_bytes());
        }
        Value::Text(text) => {
            message.push(3);
            message.extend((text.len() as u32).to_le_bytes());
            message.extend(text.as_bytes());
        }
    }
}

/// What is left of a message.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, left) = self.0.split_first_chunk()?;
        self.0 = left;
        Some(*taken)
    }

    fn value(&mut self) -> Option<Value> {
        Some(match self.take::<1>()? {
            [0] => Value::Null,
            [1] => Value::Int(i64::from_le_bytes(self.take()?)),
            [2] => Value::Float(f64::from_le_bytes(self.take()?)),
            _ => {
                let length = u32::from_le_bytes(self.take()?) as usize;
                let (text, left) = self.0.split_at_checked(length)?;
                self.0 = left;
                Value::Text(std::str::from_utf8(text).ok()?.to_owned())
            }
        })
    }
}

/// Adds one answer; nothing when the message ends too early.
fn decode(bytes: &mut Bytes, names: Option<&Names>, answers: &mut Answers) -> Option<()> {
    let columns = usize::from(u16::from_le_bytes(bytes.take()?));
    let rows = u32::from_le_bytes(bytes.take()?) as usize;
    let changed = u64::from_le_bytes(bytes.take()?);
    answers.begin(columns);
    names.into_iter().for_each(|names| answers.named(names.clone()));
    for _ in 0..rows * columns {
        answers.push(bytes.value()?);
    }
    answers.end(changed);
    Some(())
}
