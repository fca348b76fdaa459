//! What the performance schema knows of statements.
//!
//! The one idea: its summary by digest counts executions, time and rows that were looked at for every text.
//!
//! What it does not do: it turns nothing on. The performance schema costs a server time and memory, so that it is the study's
//! choice; pages and log bytes are not counted by statement here.

use crate::cost::{StatementCost, amount};
use crate::{Session, fingerprint};
use study::Engine;
use workload::transaction::Value;

/// How the statistics come to a server that has none.
const REMEDY: &str = "a private server counts with server = \"performance_schema=ON\", which costs it time; another with \
    performance_schema=ON in its configuration, and SELECT on performance_schema for this user";

const AMOUNTS: [&str; 3] = [amount::SERVER_EXECUTIONS, amount::EXECUTION_SECONDS, amount::ROWS_EXAMINED];

/// What statements have cost in this database so far.
///
/// # Errors
/// In words, why it is not known.
pub(super) fn read(session: &mut dyn Session, schema: &str) -> Result<Vec<StatementCost>, String> {
    let on = session.query("SELECT @@global.performance_schema").map_err(|failure| failure.text)?;
    if on.first().and_then(|row| row.first()).and_then(number) != Some(1.0) {
        return Err(format!("the performance schema is off: {REMEDY}"));
    }
    let sql = format!(
        "SELECT DIGEST_TEXT, COUNT_STAR, SUM_TIMER_WAIT / 1e12, SUM_ROWS_EXAMINED \
         FROM performance_schema.events_statements_summary_by_digest \
         WHERE DIGEST_TEXT IS NOT NULL AND SCHEMA_NAME = '{}'",
        schema.replace('\\', "\\\\").replace('\'', "''")
    );
    let rows = session.query(&sql);
    let rows = rows.map_err(|failure| format!("the performance schema cannot be read ({}): {REMEDY}", failure.text))?;
    Ok(rows.iter().filter_map(|row| cost(row)).collect())
}

fn cost(row: &[Value]) -> Option<StatementCost> {
    let key = fingerprint(Engine::Mariadb, row.first()?.text()?);
    let amounts = AMOUNTS.iter().zip(&row[1..]).filter_map(|(name, value)| Some((*name, number(value)?)));
    Some(StatementCost { key, amounts: amounts.collect() })
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Text(text) => text.parse().ok(),
        Value::Null => None,
    }
}
