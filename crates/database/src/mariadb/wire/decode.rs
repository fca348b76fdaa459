//! Columns and fields of answers as values.
//!
//! The one idea: a field comes out the same by the text and by the binary protocol, so that the protocol is a factor of
//! speed and never of meaning.
//!
//! What it does not do: it keeps no types of the server; dates, times and fractions are texts.

use crate::conversation::Fields;
use workload::transaction::{Answers, Value};

/// Numbers of types that are looked at in more than one place.
const DATE: u8 = 10;
const BIT: u8 = 16;

/// What is known of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// The server's number of the type.
    kind: u8,
    unsigned: bool,
    decimals: u8,
}

/// A column with its name, from its definition.
pub(super) fn column(body: &[u8]) -> Option<(Column, &[u8])> {
    let mut fields = Fields(body);
    for _catalog_schema_table_and_its_own_name in 0..4 {
        fields.counted()?;
    }
    let name = fields.counted()?;
    fields.counted()?;
    let mut fixed = Fields(fields.counted()?);
    fixed.take(6)?;
    let (kind, flags, decimals) = (fixed.u8()?, fixed.little(2)?, fixed.u8()?);
    Some((Column { kind, unsigned: flags & 32 != 0, decimals }, name))
}

/// Adds the fields of a row that came as text; whether it was one.
pub(super) fn text_row(body: &[u8], columns: &[Column], answers: &mut Answers) -> bool {
    let mut fields = Fields(body);
    columns.iter().all(|column| {
        let value = match fields.0.first() {
            Some(0xfb) => fields.take(1).map(|_| Value::Null),
            _ => fields.counted().map(|bytes| text_field(bytes, *column)),
        };
        value.map(|value| answers.push(value)).is_some()
    })
}

/// The same of a prepared statement's row.
pub(super) fn binary_row(body: &[u8], columns: &[Column], answers: &mut Answers) -> bool {
    let mut fields = Fields(body);
    // The first two bits stand for no column.
    let nulls = fields.take(1).and_then(|_| fields.take((columns.len() + 2).div_ceil(8)));
    let Some(nulls) = nulls else { return false };
    columns.iter().enumerate().all(|(at, column)| {
        let null = nulls[(at + 2) / 8] & 1 << ((at + 2) % 8) != 0;
        let value = if null { Some(Value::Null) } else { binary_field(&mut fields, *column) };
        value.map(|value| answers.push(value)).is_some()
    })
}

/// Types are TINY 1, SHORT 2, LONG 3, FLOAT 4, DOUBLE 5, NULL 6, TIMESTAMP 7, LONGLONG 8, INT24 9, DATE 10, TIME 11, DATETIME 12 and
/// YEAR 13; all others travel as texts.
fn binary_field(fields: &mut Fields<'_>, column: Column) -> Option<Value> {
    Some(match column.kind {
        1 => whole_of(fields.little(1)?, 1, column),
        2 | 13 => whole_of(fields.little(2)?, 2, column),
        3 | 9 => whole_of(fields.little(4)?, 4, column),
        8 => whole_of(fields.little(8)?, 8, column),
        4 => Value::Float(six_digits(f32::from_bits(fields.little(4)? as u32))),
        5 => Value::Float(f64::from_bits(fields.little(8)?)),
        6 => Value::Null,
        7 | DATE | 12 => moment(fields.counted()?, column),
        11 => time(fields.counted()?, column),
        _ => text_field(fields.counted()?, column),
    })
}

/// A whole number of so many bytes, with its sign.
fn whole_of(number: u64, bytes: u32, column: Column) -> Value {
    let shift = 64 - 8 * bytes;
    match column.unsigned {
        true => i64::try_from(number).map_or_else(|_| Value::Text(number.to_string()), Value::Int),
        false => Value::Int((number << shift) as i64 >> shift),
    }
}

/// What is zero from some place on does not travel.
fn moment(bytes: &[u8], column: Column) -> Value {
    let mut fields = Fields(bytes);
    let mut part = |bytes| fields.little(bytes).unwrap_or(0);
    let date = format!("{:04}-{:02}-{:02}", part(2), part(1), part(1));
    if column.kind == DATE {
        return Value::Text(date);
    }
    let time = format!("{:02}:{:02}:{:02}", part(1), part(1), part(1));
    Value::Text(format!("{date} {time}{}", fraction(part(4) as u32, column.decimals)))
}

fn time(bytes: &[u8], column: Column) -> Value {
    let mut fields = Fields(bytes);
    let mut part = |bytes| fields.little(bytes).unwrap_or(0);
    let sign = if part(1) == 0 { "" } else { "-" };
    let hours = part(4) * 24 + part(1);
    let time = format!("{sign}{hours:02}:{:02}:{:02}", part(1), part(1));
    Value::Text(format!("{time}{}", fraction(part(4) as u32, column.decimals)))
}

fn text_field(bytes: &[u8], column: Column) -> Value {
    if column.kind == BIT {
        let number = bytes.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        return whole_of(number, 8, Column { unsigned: true, ..column });
    }
    let text = String::from_utf8_lossy(bytes);
    match column.kind {
        // Whole numbers, and the two kinds of decimals.
        1 | 2 | 3 | 8 | 9 | 13 | 0 | 246 => whole(&text),
        4 | 5 => text.parse().map_or_else(|_| Value::Text(text.into_owned()), Value::Float),
        _ => Value::Text(text.into_owned()),
    }
}

/// A decimal as a whole number when it is one and fits, and as it stands otherwise.
fn whole(text: &str) -> Value {
    let (before, behind) = text.split_once('.').unwrap_or((text, ""));
    match before.parse() {
        Ok(number) if behind.bytes().all(|byte| byte == b'0') => Value::Int(number),
        _ => Value::Text(text.to_owned()),
    }
}

/// A float as the server would have printed it: by the text protocol it sends no more than six digits.
fn six_digits(number: f32) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(f64::from(number))
}

/// A fraction of a second with as many digits as the column has.
fn fraction(micros: u32, digits: u8) -> String {
    match digits {
        1..=6 => format!(".{:0width$}", micros / 10u32.pow(6 - u32::from(digits)), width = usize::from(digits)),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: Column = Column { kind: 253, unsigned: false, decimals: 0 };

    fn of(kind: u8, decimals: u8) -> Column {
        Column { kind, unsigned: false, decimals }
    }

    #[test]
    fn a_decimal_is_a_whole_number_when_it_is_one() {
        assert_eq!(whole("-12"), Value::Int(-12));
        assert_eq!(whole("12.000"), Value::Int(12));
        assert_eq!(whole("12.500"), Value::from("12.500"));
        assert_eq!(whole("99999999999999999999"), Value::from("99999999999999999999"));
    }

    #[test]
    fn a_fraction_of_a_second_has_the_digits_of_its_column() {
        assert_eq!(
            (fraction(120_000, 3), fraction(5, 6), fraction(5, 0)),
            (".120".into(), ".000005".into(), String::new())
        );
    }

    #[test]
    fn whole_numbers_have_the_sign_of_their_column() {
        assert_eq!(whole_of(0xff, 1, TEXT), Value::Int(-1));
        assert_eq!(whole_of(0xff, 1, Column { unsigned: true, ..TEXT }), Value::Int(255));
        assert_eq!(whole_of(u64::MAX, 8, TEXT), Value::Int(-1));
        assert_eq!(whole_of(u64::MAX, 8, Column { unsigned: true, ..TEXT }), Value::from("18446744073709551615"));
    }

    #[test]
    fn dates_and_times_are_what_the_server_would_have_printed_and_nothing_is_zero() {
        assert_eq!(moment(b"", of(DATE, 0)), Value::from("0000-00-00"));
        assert_eq!(moment(b"", of(12, 3)), Value::from("0000-00-00 00:00:00.000"));
        assert_eq!(moment(b"\xea\x07\x01\x02", of(12, 0)), Value::from("2026-01-02 00:00:00"));
        let long = b"\xea\x07\x01\x02\x03\x04\x05\x40\xe2\x01\0";
        assert_eq!(moment(long, of(7, 6)), Value::from("2026-01-02 03:04:05.123456"));
        assert_eq!(time(b"", of(11, 0)), Value::from("00:00:00"));
        assert_eq!(time(b"\x01\x01\0\0\0\x01\0\x01", of(11, 0)), Value::from("-25:00:01"));
    }

    #[test]
    fn a_row_that_is_cut_is_no_row() {
        let columns = [of(3, 0), TEXT, TEXT];
        let binary = b"\0\x10\x07\0\0\0\x02ab";
        let text = b"\x017\x02ab\xfb";
        type Read = fn(&[u8], &[Column], &mut Answers) -> bool;
        for (body, row) in [(&binary[..], binary_row as Read), (&text[..], text_row)] {
            let mut answers = Answers::default();
            answers.begin(3);
            assert!(row(body, &columns, &mut answers));
            let expected = [Value::Int(7), Value::from("ab"), Value::Null];
            assert_eq!(answers.last().rows().collect::<Vec<_>>(), [&expected[..]]);
            for length in 0..body.len() {
                assert!(!row(&body[..length], &columns, &mut Answers::default()), "{length}");
            }
        }
    }

    #[test]
    fn a_column_says_its_type_and_its_name() {
        let body = b"\x03def\x01s\x01t\x01t\x04name\x01n\x0c\x21\0\xff\0\0\0\x08\x20\0\x02\0\0";
        assert_eq!(column(body), Some((Column { kind: 8, unsigned: true, decimals: 2 }, &b"name"[..])));
        for length in 0..body.len() - 2 {
            assert_eq!(column(&body[..length]), None);
        }
    }
}
