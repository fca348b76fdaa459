//! The null database behind a socket: what a system call each way and the encoding of parameters cost.
//!
//! A request is its length, the count of calls and the calls; the reply is the count of calls. A thread of the session's own
//! serves the other end; its CPU is the server's, although it runs in this process.

use super::session::{nothing, swallow};
use crate::{Failure, FailureKind, Rows, Session};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use workload::transaction::{Answers, Batch, Call, Value};

/// A session whose other end is a thread that counts calls.
#[derive(Debug)]
pub(super) struct Socketed {
    stream: UnixStream,
    request: Vec<u8>,
}

impl Socketed {
    /// Opens a pair of sockets and starts the thread of the other end; it ends when this end is dropped.
    pub(super) fn open() -> std::io::Result<Socketed> {
        let (stream, other) = UnixStream::pair()?;
        std::thread::Builder::new().name("null-database".to_owned()).spawn(move || serve(other))?;
        Ok(Socketed { stream, request: Vec::new() })
    }

    fn ask(&mut self) -> std::io::Result<u32> {
        let length = self.request.len() as u32 - 4;
        self.request[..4].copy_from_slice(&length.to_le_bytes());
        self.stream.write_all(&self.request)?;
        let mut reply = [0; 4];
        self.stream.read_exact(&mut reply)?;
        Ok(u32::from_le_bytes(reply))
    }
}

/// Answers requests until the other end is gone.
fn serve(mut stream: UnixStream) -> std::io::Result<()> {
    let (mut head, mut body) = ([0; 4], Vec::new());
    loop {
        stream.read_exact(&mut head)?;
        body.resize(u32::from_le_bytes(head) as usize, 0);
        stream.read_exact(&mut body)?;
        let calls = body.get(..4).unwrap_or(&[0; 4]);
        stream.write_all(calls)?;
    }
}

fn encode(batch: &Batch, request: &mut Vec<u8>) {
    request.clear();
    request.extend([0; 4]);
    request.extend((batch.len() as u32).to_le_bytes());
    for call in batch.calls() {
        match call {
            Call::Begin { write } => request.extend([0, u8::from(write)]),
            Call::Commit => request.push(1),
            Call::Rollback => request.push(2),
            Call::Statement { statement, parameters } => {
                request.push(3);
                request.extend(statement.to_le_bytes());
                parameters.iter().for_each(|value| parameter(value, request));
            }
        }
    }
}

fn parameter(value: &Value, request: &mut Vec<u8>) {
    match value {
        Value::Null => request.push(0),
        Value::Int(number) => request.extend(number.to_le_bytes()),
        Value::Float(number) => request.extend(number.to_le_bytes()),
        Value::Text(text) => {
            request.extend((text.len() as u32).to_le_bytes());
            request.extend(text.as_bytes());
        }
    }
}

impl Session for Socketed {
    fn run(&mut self, batch: &Batch, answers: &mut Answers) -> Result<(), Failure> {
        encode(batch, &mut self.request);
        let calls = self.ask().map_err(|error| Failure::new(FailureKind::Lost, error.to_string()))?;
        nothing(calls as usize, answers);
        Ok(())
    }

    fn script(&mut self, _sql: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn query(&mut self, _sql: &str) -> Result<Vec<Vec<Value>>, Failure> {
        Ok(Vec::new())
    }

    fn load(&mut self, _table: &str, _columns: &[&str], rows: &mut dyn Rows) -> Result<u64, Failure> {
        Ok(swallow(rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_goes_through_the_socket_and_comes_back_with_as_many_answers() {
        let mut session = Socketed::open().unwrap();
        let (mut batch, mut answers) = (Batch::default(), Answers::default());
        for round in 1..=3_usize {
            batch.clear();
            answers.clear();
            batch.begin(false);
            (0..round).for_each(|n| batch.call(n as u16, ["x".into(), Value::Int(7), Value::Null, Value::Float(0.5)]));
            batch.commit();
            session.run(&batch, &mut answers).unwrap();
            assert_eq!(answers.len(), round + 2);
        }
    }
}
