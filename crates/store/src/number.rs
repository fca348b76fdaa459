//! Numbers on their way into and out of columns, which are signed and 64 bits wide.

use crate::blob::COUNT_MAX;
use rusqlite::types::{FromSqlError, Type};
use rusqlite::{Error, Row};

/// Keeps all 64 bits; values from 2^63 on show as negative to people who look into the table.
pub(crate) fn signed(value: u64) -> i64 {
    value as i64
}

/// Undoes [`signed`].
pub(crate) fn unsigned(row: &Row<'_>, column: usize) -> Result<u64, Error> {
    row.get::<_, i64>(column).map(|value| value as u64)
}

/// A count of operations: never negative, and small enough that sums over a file stay inside 64 bits.
pub(crate) fn count(row: &Row<'_>, column: usize, shift: u32) -> Result<u64, Error> {
    let value = row.get::<_, i64>(column)?;
    match u64::try_from(value) {
        Ok(count) if count >> shift <= COUNT_MAX => Ok(count),
        _ => Err(Error::IntegralValueOutOfRange(column, value)),
    }
}

/// A sum that may exceed 63 bits, written as decimal digits.
pub(crate) fn wide(row: &Row<'_>, column: usize) -> Result<u128, Error> {
    let text: String = row.get(column)?;
    text.parse().map_err(|_| Error::FromSqlConversionFailure(column, Type::Text, Box::new(FromSqlError::InvalidType)))
}

/// A float that may be missing: not-a-number is stored as nothing.
pub(crate) fn float(row: &Row<'_>, column: usize) -> Result<f64, Error> {
    row.get::<_, Option<f64>>(column).map(|value| value.unwrap_or(f64::NAN))
}

/// One of a few words, or the error that the column holds none of them.
pub(crate) fn word<T>(row: &Row<'_>, column: usize, read: impl Fn(&str) -> Option<T>) -> Result<T, Error> {
    let text: String = row.get(column)?;
    read(&text).ok_or_else(|| {
        let unknown = format!("unknown word `{}`", text.chars().take(40).collect::<String>());
        Error::FromSqlConversionFailure(column, Type::Text, unknown.into())
    })
}
