//! What the performance schema knows of statements.
//!
//! The one idea: what is sent as text is counted by digest, for as long as the server lives; what is prepared is counted with
//! its session, which reads its own rows right before it ends and leaves them in a total that the database keeps.
//!
//! What it does not do: it sets nothing on a server that is not ours, it counts neither pages nor log bytes, which the server
//! does not know by statement, and a statement that is closed after each call (the extended protocol) takes its counts along.

use super::wire::MariadbWire;
use crate::conversation::Blocking;
use crate::cost::StatementCost;
use crate::{Session, fingerprint};
use observation::OfStatement;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use study::Engine;
use workload::transaction::Value;

/// What a private server has beside a performance schema that the study asks for. Prepared statements are counted only while
/// the current statement of each thread is kept; times of waits are read by nobody here.
const SETTINGS: &[(&str, &str)] =
    &[("performance_schema_consumer_events_statements_current", "ON"), ("performance_schema_instrument", "wait/%=OFF")];

/// How the statistics come to a server that has none.
const REMEDY: &str = "a private server counts with server = \"performance_schema=ON\", which costs it more than a tenth of its \
    rate; another with performance_schema=ON and performance_schema_consumer_events_statements_current=ON in its configuration, and grant SELECT on performance_schema to \
    this user";

const AMOUNTS: [OfStatement; 3] =
    [OfStatement::ServerExecutions, OfStatement::ExecutionSeconds, OfStatement::RowsExamined];

/// The prepared statements of this session. Its own number for each is what the protocol calls it by.
const OWN: &str = "SELECT STATEMENT_ID, COUNT_EXECUTE, SUM_TIMER_EXECUTE / 1e12, SUM_ROWS_EXAMINED \
    FROM performance_schema.prepared_statements_instances WHERE COUNT_EXECUTE > 0 AND OWNER_THREAD_ID = \
    (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID())";

/// What prepared statements of all sessions that ended have cost, by fingerprint.
pub(super) type Total = Arc<Mutex<BTreeMap<String, [f64; 3]>>>;

/// The study's settings behind those with which a performance schema that it asks for counts prepared statements. It is not
/// turned on unasked: that changes the figures.
pub(super) fn counting(settings: &[(String, String)]) -> Vec<(String, String)> {
    let on = |value: &str| ["on", "1", "true"].iter().any(|word| value.trim().eq_ignore_ascii_case(word));
    let named = |key: &str| key.trim().to_lowercase().replace('-', "_") == "performance_schema";
    let asked = settings.iter().any(|(key, value)| named(key) && on(value));
    let ours = SETTINGS.iter().filter(|_| asked).map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    ours.chain(settings.iter().cloned()).collect()
}

/// Adds what this session's prepared statements have cost. A session that cannot say (it was lost, or the server does not count)
/// adds nothing.
pub(super) fn leave(inside: &mut Blocking<MariadbWire>, total: &Total) {
    if inside.wire.prepared().next().is_none() {
        return;
    }
    let Ok(rows) = inside.rows(OWN) else { return };
    let keys: BTreeMap<i64, &str> = inside.wire.prepared().map(|(number, sql)| (i64::from(number), sql)).collect();
    let Ok(mut total) = total.lock() else { return };
    for row in rows {
        let Some(sql) = row.first().and_then(Value::int).and_then(|number| keys.get(&number)) else { continue };
        let sums = total.entry(fingerprint(Engine::Mariadb, sql)).or_default();
        sums.iter_mut().zip(&row[1..]).for_each(|(sum, more)| *sum += more.number().unwrap_or(0.0));
    }
}

/// What statements have cost in this database so far: those sent as text, and those of prepared sessions that ended.
///
/// # Errors
/// In words, why it is not known.
pub(super) fn read(session: &mut dyn Session, schema: &str, total: &Total) -> Result<Vec<StatementCost>, String> {
    let on = session.number("SELECT @@global.performance_schema").map_err(|failure| failure.text)?;
    if on != Some(1.0) {
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
    let mut costs: Vec<StatementCost> =
        rows.iter().filter_map(|row| StatementCost::shown(Engine::Mariadb, &AMOUNTS, row)).collect();
    if let Ok(total) = total.lock() {
        let prepared = |(key, sums): (&String, &[f64; 3])| StatementCost {
            key: key.clone(),
            amounts: AMOUNTS.iter().copied().zip(*sums).collect(),
        };
        costs.extend(total.iter().map(prepared));
    }
    Ok(costs)
}
