//! The variables of a statement, as parameters or as text.
//!
//! The one idea: pgbench replaces `:name` wherever it stands, in quotes and comments too, and each occurrence is a
//! parameter of its own; two colons are left alone. We do the same, so that a script means the same.
//!
//! **Simple protocol.** The values are spliced into the text without quotes, by [`splice`]. A variable that was never set
//! stays as it was written. A `$1` that the user wrote himself is a parameter with the text `$1`, so that in a spliced
//! statement every `$n` is ours. **Other protocols**: a variable that was never set is null, and what the user wrote stays.

use super::names::{Names, begins_name, continues_name};
use super::scalar::write_double;
use super::scanner::Written;
use crate::transaction::Value;
use std::fmt::Write;

/// What a place in a statement is filled with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Parameter {
    Variable(u16),
    /// What the user wrote, where it looks like a parameter.
    Literal(String),
}

/// A statement with `$1`, `$2`, ... for its variables.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Replaced {
    pub(super) sql: String,
    pub(super) parameters: Vec<Parameter>,
    /// Variables that stand in quotes or comments.
    pub(super) quoted: Vec<u16>,
    /// Whether the text had a `$1` of its own.
    pub(super) own: bool,
}

/// Replaces the variables of a statement; none when there are too many names.
pub(super) fn replace(written: &Written, textual: bool, names: &mut Names) -> Option<Replaced> {
    let text = written.sql.as_str();
    let bytes = text.as_bytes();
    let mut made = Replaced { sql: String::with_capacity(text.len()), parameters: vec![], quoted: vec![], own: false };
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        let length = match bytes[at] {
            b':' if bytes.get(at + 1).copied().is_some_and(begins_name) => 1 + run(&bytes[at + 1..], continues_name),
            b':' => {
                at += run(&bytes[at..], |byte| byte == b':');
                continue;
            }
            b'$' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                made.own = true;
                1 + run(&bytes[at + 1..], |byte| byte.is_ascii_digit())
            }
            _ => 0,
        };
        if length == 0 || (bytes[at] == b'$' && !textual) {
            at += length.max(1);
            continue;
        }
        made.sql.push_str(&text[copied..at]);
        let parameter = match bytes[at] {
            b':' => Parameter::Variable(names.number(&text[at + 1..at + length])?),
            _ => Parameter::Literal(text[at..at + length].to_owned()),
        };
        if let (Parameter::Variable(variable), true) =
            (&parameter, written.quoted.iter().any(|range| range.contains(&at)))
        {
            made.quoted.push(*variable);
        }
        made.parameters.push(parameter);
        let _ = write!(made.sql, "${}", made.parameters.len());
        at += length;
        copied = at;
    }
    made.sql.push_str(&text[copied..]);
    Some(made)
}

fn run(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !belongs(*byte)).unwrap_or(bytes.len())
}

/// Writes the text of a statement for the simple protocol, as pgbench does: each `$n` is replaced by its value as it is,
/// without quotes. Only for the statements of a [`Program`](super::Program) that was built as textual: there every `$n`
/// is a parameter.
pub fn splice(sql: &str, parameters: &[Value], text: &mut String) {
    let mut rest = sql;
    while let Some(dollar) = rest.find('$') {
        text.push_str(&rest[..dollar]);
        let digits = run(&rest.as_bytes()[dollar + 1..], |byte| byte.is_ascii_digit());
        let number = &rest[dollar + 1..dollar + 1 + digits];
        match number.parse::<usize>().ok().and_then(|number| parameters.get(number.wrapping_sub(1))) {
            Some(Value::Null) => text.push_str("NULL"),
            Some(Value::Text(value)) => text.push_str(value),
            Some(Value::Int(value)) => drop(write!(text, "{value}")),
            Some(Value::Float(value)) => drop(write_double(text, *value)),
            None => text.push_str(&rest[dollar..dollar + 1 + digits]),
        }
        rest = &rest[dollar + 1 + digits..];
    }
    text.push_str(rest);
}
