//! Fields of answers, which travel as text, as values.
//!
//! Text and not binary: a small number is shorter so, any type can be read, and no parameter needs a type that the server
//! would have to tell first.

use crate::conversation::Fields;
use workload::transaction::{Answers, Names, Value};

/// What a column holds, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    Numeric,
    Bool,
    /// A text of any length.
    Text,
    /// Anything else; it is read as text.
    Other,
}

impl Kind {
    /// By the server's number of the type, which is fixed for the built-in ones.
    pub(super) fn of(oid: i32) -> Kind {
        match oid {
            16 => Kind::Bool,
            20 => Kind::Int8,
            21 => Kind::Int2,
            23 => Kind::Int4,
            700 => Kind::Float4,
            701 => Kind::Float8,
            1700 => Kind::Numeric,
            25 | 1042 | 1043 => Kind::Text,
            _ => Kind::Other,
        }
    }
}

/// Reads the kinds of columns from a description of rows; whether it was one.
pub(super) fn columns(body: &[u8], kinds: &mut Vec<Kind>) -> bool {
    kinds.clear();
    let mut fields = Fields(body);
    for _ in 0..fields.i16().unwrap_or(-1) {
        let oid = fields.text().and_then(|_| fields.take(6)).and_then(|_| fields.i32());
        let (Some(oid), Some(_)) = (oid, fields.take(8)) else { return false };
        kinds.push(Kind::of(oid));
    }
    body.len() >= 2
}

/// Reads the names of columns from a description of rows.
pub(super) fn names(body: &[u8]) -> Names {
    let mut fields = Fields(body);
    let count = fields.i16().unwrap_or(0);
    let name = |_| {
        let name = fields.text().map(text);
        fields.take(18)?;
        name
    };
    (0..count).map_while(name).collect()
}

/// Adds the fields of one row to the answer that was begun last; whether it was a row.
pub(super) fn row(body: &[u8], kinds: &[Kind], answers: &mut Answers) -> bool {
    let mut fields = Fields(body);
    let Some(count) = fields.i16() else { return false };
    if count as usize != kinds.len() {
        return false;
    }
    for kind in kinds {
        let field = match fields.i32() {
            Some(-1) => Value::Null,
            Some(length) if length >= 0 => match fields.take(length as usize) {
                Some(bytes) => value(bytes, *kind),
                None => return false,
            },
            _ => return false,
        };
        answers.push(field);
    }
    true
}

fn value(bytes: &[u8], kind: Kind) -> Value {
    let number = match kind {
        Kind::Int2 | Kind::Int4 | Kind::Int8 | Kind::Numeric => parsed(bytes).map(Value::Int),
        Kind::Float4 | Kind::Float8 => parsed(bytes).map(Value::Float),
        Kind::Bool => Some(Value::Int(i64::from(bytes == b"t"))),
        Kind::Text | Kind::Other => None,
    };
    number.unwrap_or_else(|| Value::Text(text(bytes)))
}

fn parsed<T: std::str::FromStr>(bytes: &[u8]) -> Option<T> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// How many rows a statement changed, by the words at its end, such as `INSERT 0 5`.
pub(super) fn changed(body: &[u8]) -> u64 {
    let words = body.strip_suffix(b"\0").unwrap_or(body);
    if !matches!(words.first(), Some(b'I' | b'U' | b'D' | b'M')) {
        return 0;
    }
    words.rsplit(|byte| *byte == b' ').next().and_then(parsed).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_becomes_the_value_that_it_is() {
        assert_eq!(value(b"-7", Kind::Int8), Value::Int(-7));
        assert_eq!(value(b"-9223372036854775808", Kind::Int8), Value::Int(i64::MIN));
        assert_eq!(value(b"12.50", Kind::Numeric), Value::Text("12.50".into()));
        assert_eq!(value(b"12", Kind::Numeric), Value::Int(12));
        assert_eq!(value(b"1.5e10", Kind::Float8), Value::Float(1.5e10));
        assert_eq!(value(b"-Infinity", Kind::Float8), Value::Float(f64::NEG_INFINITY));
        assert_eq!(value(b"t", Kind::Bool), Value::Int(1));
        assert_eq!(value(b"17", Kind::Text), Value::Text("17".into()));
    }

    #[test]
    fn only_statements_that_change_rows_count_them() {
        assert_eq!(changed(b"INSERT 0 5\0"), 5);
        assert_eq!(changed(b"UPDATE 3\0"), 3);
        assert_eq!(changed(b"MERGE 2\0"), 2);
        assert_eq!(changed(b"SELECT 7\0"), 0);
        assert_eq!(changed(b"DROP TABLE\0"), 0);
    }

    #[test]
    fn a_row_that_is_cut_is_no_row() {
        let body = b"\0\x02\0\0\0\x017\xff\xff\xff\xff";
        let mut answers = Answers::default();
        answers.begin(2);
        assert!(row(body, &[Kind::Int4, Kind::Text], &mut answers));
        assert_eq!((answers.last().int(0, 0), answers.last().field(0, 1)), (7, &Value::Null));
        assert!(!row(body, &[Kind::Int4], &mut answers));
        for length in 0..body.len() {
            assert!(!row(&body[..length], &[Kind::Int4, Kind::Text], &mut answers));
        }
    }
}
