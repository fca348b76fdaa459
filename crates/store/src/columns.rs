//! Values on their way into and out of columns, which hold texts, doubles, and integers that are signed and 64 bits wide.
//!
//! The one idea: which field of a value stands in which column is said once ([`stored`]), and the statement that writes a row
//! and the one that reads it are both made of that.

use crate::blob::COUNT_MAX;
use observation::{Provenance, Searched, StatePolicy};
use rusqlite::types::{FromSqlError, ToSql, ToSqlOutput, Type, Value};
use rusqlite::{Connection, Error, Params, Row, params_from_iter};
use units::{Nanos, PerSecond};

/// The largest sum of times, ns: more operations than are counted, each as long as no trial lasts.
const SUM_MAX: u128 = 1 << 100;

/// What stands in one column.
pub(crate) trait Saved: Sized {
    fn save(&self) -> Result<ToSqlOutput<'_>, Error>;
    fn load(row: &Row<'_>, column: usize) -> Result<Self, Error>;
}

/// The names of columns, each with what goes there.
pub(crate) type Columns<'a> = Vec<(&'static str, ToSqlOutput<'a>)>;

/// What stands in columns of its own.
pub(crate) trait Stored: Default {
    /// Their names.
    const NAMES: &'static [&'static str];

    fn save(&self) -> Result<Columns<'_>, Error>;

    /// Reads them from the first columns of a row.
    fn load(row: &Row<'_>) -> Result<Self, Error>;
}

/// Says in which columns types are stored, in order: `column` holds the field of that name, `column = path` another.
macro_rules! stored {
    (@field $value:ident $column:ident) => { $value.$column };
    (@field $value:ident $column:ident $($path:ident).+) => { $value.$($path).+ };
    ($($type:ty { $($column:ident $(= $($path:ident).+)?),+ $(,)? })+) => {
        $(impl $crate::columns::Stored for $type {
            const NAMES: &'static [&'static str] = &[$(stringify!($column)),+];

            fn save(&self) -> Result<$crate::columns::Columns<'_>, rusqlite::Error> {
                use $crate::columns::Saved;
                Ok(vec![$((stringify!($column), stored!(@field self $column $($($path).+)?).save()?)),+])
            }

            fn load(row: &rusqlite::Row<'_>) -> Result<Self, rusqlite::Error> {
                let (mut value, mut place) = (Self::default(), 0..);
                $(
                    let column = place.next().unwrap_or_default();
                    stored!(@field value $column $($($path).+)?) = $crate::columns::Saved::load(row, column)?;
                )+
                Ok(value)
            }
        })+
    };
}

pub(crate) use stored;

/// Writes a row into a table.
pub(crate) fn insert<'a>(
    connection: &Connection,
    table: &str,
    columns: impl IntoIterator<Item = (&'static str, ToSqlOutput<'a>)>,
) -> Result<(), Error> {
    let (names, values): (Vec<&str>, Vec<ToSqlOutput<'_>>) = columns.into_iter().unzip();
    let (names, places) = (names.join(", "), vec!["?"; values.len()].join(", "));
    let sql = format!("INSERT INTO {table} ({names}) VALUES ({places})");
    connection.prepare_cached(&sql)?.execute(params_from_iter(values)).map(|_| ())
}

/// Reads what is stored, from the rows that `from` names and orders.
pub(crate) fn select<T: Stored>(connection: &Connection, from: &str, params: impl Params) -> Result<Vec<T>, Error> {
    read(connection, &format!("SELECT {} FROM {from}", T::NAMES.join(", ")), params, T::load)
}

/// Reads all rows that a statement finds.
pub(crate) fn read<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    one: impl FnMut(&Row<'_>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    connection.prepare_cached(sql)?.query_map(params, one)?.collect()
}

/// What a column holds as it is.
macro_rules! plain {
    ($($type:ty),+) => {
        $(impl Saved for $type {
            fn save(&self) -> Result<ToSqlOutput<'_>, Error> {
                self.to_sql()
            }

            fn load(row: &Row<'_>, column: usize) -> Result<Self, Error> {
                row.get(column)
            }
        })+
    };
}

plain!(bool, u16, u32, i64, String, Option<u32>, Option<f64>);

/// What is written as another value that has a form.
macro_rules! written_as {
    ($($type:ty: $value:ident => $written:expr, ($row:ident, $column:ident) => $read:expr;)+) => {
        $(impl Saved for $type {
            fn save(&self) -> Result<ToSqlOutput<'_>, Error> {
                let $value = self;
                Ok(ToSqlOutput::Owned(Value::from($written)))
            }

            fn load($row: &Row<'_>, $column: usize) -> Result<Self, Error> {
                $read
            }
        })+
    };
}

written_as! {
    // Keeps all 64 bits; values from 2^63 on show as negative to people who look into the table.
    u64: value => *value as i64, (row, column) => row.get::<_, i64>(column).map(|value| value as u64);
    // A sum that may exceed 63 bits, written as decimal digits.
    u128: value => value.to_string(), (row, column) => digits(row, column);
    // A float that may be missing: not-a-number is stored as nothing.
    f64: value => *value, (row, column) => row.get::<_, Option<f64>>(column).map(|value| value.unwrap_or(f64::NAN));
    Nanos: value => value.0 as i64, (row, column) => Saved::load(row, column).map(Nanos);
    Option<PerSecond>: value => value.map(|rate| rate.0),
        (row, column) => row.get::<_, Option<f64>>(column).map(|rate| rate.map(PerSecond));
    Provenance: value => value.word().to_owned(), (row, column) => word(row, column, Provenance::of_word);
    StatePolicy: value => value.to_string(), (row, column) => Ok(StatePolicy::read(&row.get::<_, String>(column)?));
    Option<Searched>: value => value.as_ref().map(|search| search.words.clone()),
        (row, column) => Ok(row.get::<_, Option<String>>(column)?.map(Searched::read));
}

fn digits(row: &Row<'_>, column: usize) -> Result<u128, Error> {
    let text: String = row.get(column)?;
    let parsed = text.parse().ok().filter(|sum| *sum <= SUM_MAX);
    parsed.ok_or_else(|| Error::FromSqlConversionFailure(column, Type::Text, Box::new(FromSqlError::InvalidType)))
}

/// A count of operations: never negative, and small enough that sums over a file stay inside 64 bits.
pub(crate) fn count(row: &Row<'_>, column: usize, shift: u32) -> Result<u64, Error> {
    let value = row.get::<_, i64>(column)?;
    match u64::try_from(value) {
        Ok(count) if count >> shift <= COUNT_MAX => Ok(count),
        _ => Err(Error::IntegralValueOutOfRange(column, value)),
    }
}

/// One of a few words, or the error that the column holds none of them.
pub(crate) fn word<T>(row: &Row<'_>, column: usize, read: impl Fn(&str) -> Option<T>) -> Result<T, Error> {
    let text: String = row.get(column)?;
    read(&text).ok_or_else(|| {
        let unknown = format!("unknown word `{}`", text.chars().take(40).collect::<String>());
        Error::FromSqlConversionFailure(column, Type::Text, unknown.into())
    })
}
