//! Calls as outgoing messages, by the three protocols.
//!
//! Parameters travel as text: the server reads them as the type that it finds for each place, as it would a literal.

use bytes::{BufMut, BytesMut};
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend;
use std::fmt::Write;
use std::io;
use workload::transaction::Value;

/// Sends a prepared statement's name and text to the server, and asks what its rows will be.
pub(super) fn prepare(name: &str, sql: &str, out: &mut BytesMut) -> io::Result<()> {
    frontend::parse(name, sql, [], out)?;
    frontend::describe(b'S', name, out)
}

/// Binds parameters to a prepared statement and executes it.
pub(super) fn execute(name: &str, parameters: &[Value], out: &mut BytesMut) -> io::Result<()> {
    bind(name, parameters, out)?;
    frontend::execute("", 0, out)
}

/// The whole way of a statement that is parsed anew: parse, bind, describe, execute.
pub(super) fn anew(sql: &str, parameters: &[Value], out: &mut BytesMut) -> io::Result<()> {
    frontend::parse("", sql, [], out)?;
    bind("", parameters, out)?;
    frontend::describe(b'P', "", out)?;
    frontend::execute("", 0, out)
}

fn bind(name: &str, parameters: &[Value], out: &mut BytesMut) -> io::Result<()> {
    let bound = frontend::bind("", name, [], parameters, |value, out| Ok(parameter(value, out)), [], out);
    bound.map_err(|problem| match problem {
        frontend::BindError::Serialization(source) => io::Error::other(source),
        frontend::BindError::Conversion(source) => io::Error::other(source),
    })
}

fn parameter(value: &Value, out: &mut BytesMut) -> IsNull {
    match value {
        Value::Null => return IsNull::Yes,
        Value::Int(number) => out.put_slice(itoa::Buffer::new().format(*number).as_bytes()),
        // Writing to memory cannot fail.
        Value::Float(number) => drop(write!(out, "{number}")),
        Value::Text(text) => out.put_slice(text.as_bytes()),
    }
    IsNull::No
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_travel_as_text() {
        let mut out = BytesMut::new();
        execute("s1", &[Value::Int(-5), Value::Null, "ab".into(), Value::Float(0.5)], &mut out).unwrap();
        let mut expected = b"B\0\0\0\x29\0s1\0\0\0\0\x04".to_vec();
        expected.extend(b"\0\0\0\x02-5\xff\xff\xff\xff\0\0\0\x02ab\0\0\0\x030.5\0\0");
        expected[4] = (expected.len() - 1) as u8;
        expected.extend(b"E\0\0\0\x09\0\0\0\0\0");
        assert_eq!(&out[..], &expected[..]);
    }
}
