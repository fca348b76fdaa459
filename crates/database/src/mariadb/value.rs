//! Values between the server and us.
//!
//! The one idea: a field comes out the same by the text and by the binary protocol, so that the protocol is a factor of
//! speed and never of meaning.
//!
//! What it does not do: it keeps no types of the server; dates, times and fractions are texts.

use mysql::Column;
use mysql::consts::ColumnType::{
    self, MYSQL_TYPE_BIT, MYSQL_TYPE_DATE, MYSQL_TYPE_DECIMAL, MYSQL_TYPE_DOUBLE, MYSQL_TYPE_FLOAT, MYSQL_TYPE_INT24,
    MYSQL_TYPE_LONG, MYSQL_TYPE_LONGLONG, MYSQL_TYPE_NEWDECIMAL, MYSQL_TYPE_SHORT, MYSQL_TYPE_TINY, MYSQL_TYPE_YEAR,
};
use workload::transaction::Value;

/// A parameter for the server.
pub(super) fn out(value: &Value) -> mysql::Value {
    match value {
        Value::Null => mysql::Value::NULL,
        Value::Int(number) => mysql::Value::Int(*number),
        Value::Float(number) => mysql::Value::Double(*number),
        Value::Text(text) => mysql::Value::Bytes(text.as_bytes().to_vec()),
    }
}

/// A field of an answer.
pub(super) fn back(value: mysql::Value, column: &Column) -> Value {
    match value {
        mysql::Value::NULL => Value::Null,
        mysql::Value::Int(number) => Value::Int(number),
        mysql::Value::UInt(number) => whole(&number.to_string()),
        mysql::Value::Float(number) => Value::Float(six_digits(number)),
        mysql::Value::Double(number) => Value::Float(number),
        mysql::Value::Bytes(bytes) => bytes_back(bytes, column.column_type()),
        mysql::Value::Date(year, month, day, hour, minute, second, micros) => {
            let date = format!("{year:04}-{month:02}-{day:02}");
            if column.column_type() == MYSQL_TYPE_DATE {
                return Value::Text(date);
            }
            Value::Text(format!("{date} {hour:02}:{minute:02}:{second:02}{}", fraction(micros, column.decimals())))
        }
        mysql::Value::Time(negative, days, hours, minutes, seconds, micros) => {
            let sign = if negative { "-" } else { "" };
            let hours = u64::from(days) * 24 + u64::from(hours);
            Value::Text(format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{}", fraction(micros, column.decimals())))
        }
    }
}

fn bytes_back(bytes: Vec<u8>, kind: ColumnType) -> Value {
    if kind == MYSQL_TYPE_BIT {
        let number = bytes.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        return whole(&number.to_string());
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(not) => String::from_utf8_lossy(not.as_bytes()).into_owned(),
    };
    match kind {
        MYSQL_TYPE_TINY
        | MYSQL_TYPE_SHORT
        | MYSQL_TYPE_INT24
        | MYSQL_TYPE_LONG
        | MYSQL_TYPE_LONGLONG
        | MYSQL_TYPE_YEAR
        | MYSQL_TYPE_DECIMAL
        | MYSQL_TYPE_NEWDECIMAL => whole(&text),
        MYSQL_TYPE_FLOAT | MYSQL_TYPE_DOUBLE => text.parse().map_or(Value::Text(text), Value::Float),
        _ => Value::Text(text),
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

/// Adds a value as a field of a tab-separated file.
pub(super) fn field(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.extend_from_slice(b"\\N"),
        Value::Int(number) => out.extend_from_slice(number.to_string().as_bytes()),
        Value::Float(number) => out.extend_from_slice(format!("{number:e}").as_bytes()),
        Value::Text(text) => {
            for byte in text.bytes() {
                match byte {
                    b'\\' => out.extend_from_slice(b"\\\\"),
                    b'\t' => out.extend_from_slice(b"\\t"),
                    b'\n' => out.extend_from_slice(b"\\n"),
                    0 => out.extend_from_slice(b"\\0"),
                    byte => out.push(byte),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_field_of_a_file_holds_no_separator() {
        let mut out = Vec::new();
        field(&mut out, &Value::from("a\tb\nc\\N\0é"));
        assert_eq!(out, "a\\tb\\nc\\\\N\\0é".as_bytes());
    }
}
