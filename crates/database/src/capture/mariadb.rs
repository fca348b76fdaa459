//! What a MariaDB writes down of what its clients say.

use super::{Found, Source, Words};
use crate::tier::{self, text};
use crate::{Failure, Session};
use workload::transaction::Value;

pub(super) const LIMITS: &str =
    "SET SESSION TRANSACTION READ ONLY; SET SESSION max_statement_time = 60; SET SESSION lock_wait_timeout = 1";

/// Where every statement goes with its time.
const SLOW: &str = "mysql.slow_log";
/// Where every statement goes without it.
pub(super) const GENERAL: &str = "mysql.general_log";

/// Microseconds of the server's clock.
pub(super) const NOW: &str = "SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 AS SIGNED)";

/// The database of each session that this user may see.
pub(super) const WHERE: &str = "SELECT CAST(ID AS CHAR), IFNULL(DB, '') FROM information_schema.PROCESSLIST";

pub(super) fn found(session: &mut dyn Session) -> Result<Found, Failure> {
    let row = session.row(
        "SELECT CAST(CONNECTION_ID() AS CHAR), VERSION(), @@GLOBAL.log_output LIKE '%TABLE%', @@GLOBAL.slow_query_log AND \
         @@GLOBAL.long_query_time = 0 AND @@GLOBAL.min_examined_row_limit = 0 AND NOT @@GLOBAL.log_queries_not_using_indexes, \
         @@GLOBAL.general_log",
    )?;
    let holds = |at: usize| row.get(at).and_then(Value::int) == Some(1);
    let who = session.text(&format!("SELECT {}", tier::MARIADB_WHO))?.unwrap_or_default();
    let (mut lacking, mut table) = (Vec::new(), None);
    for (one, _) in [(SLOW, 3), (GENERAL, 4)].into_iter().filter(|(_, on)| holds(2) && holds(*on)) {
        if table.is_none() && session.query(&format!("SELECT 1 FROM {one} LIMIT 1")).is_ok() {
            table = Some(one);
        } else if table.is_none() {
            lacking.push(format!("statements that the server writes down: GRANT SELECT ON {one} TO {who}"));
        }
    }
    if !(holds(2) && holds(3)) {
        lacking.push(
            "the server keeps no time of every statement in a table: SET GLOBAL log_output = 'TABLE', long_query_time = 0, slow_query_log = 1 \
             (sessions that are open keep their own long_query_time)"
                .to_owned(),
        );
    }
    // Who lacks this right is not shown the sessions of others.
    if table.is_none() && session.one("SELECT count(*) FROM information_schema.INNODB_TRX").is_err() {
        lacking.push(format!("sessions of other users: GRANT PROCESS ON *.* TO {who}"));
    }
    let source = table.map_or(Source::Sessions, Source::Table);
    Ok(((format!("MariaDB {}", text(&row, 1)), text(&row, 0), source), lacking))
}

/// What a table of statements has since a moment.
pub(super) fn table(session: &mut dyn Session, table: &str, since_us: i64, own: &str) -> Result<Vec<Words>, Failure> {
    let of_time = |column: &str| format!("CAST(UNIX_TIMESTAMP({column}) * 1000000 AS SIGNED)");
    let since = format!("FROM_UNIXTIME({} / 1000000)", since_us);
    let sql = match table {
        SLOW => format!(
            "SELECT {}, CAST(TIME_TO_SEC(query_time) * 1000000 AS SIGNED), CAST(thread_id AS CHAR), CONVERT(sql_text USING utf8mb4), db \
             FROM {SLOW} WHERE start_time >= {since} AND thread_id <> {own}",
            of_time("start_time")
        ),
        _ => format!(
            "SELECT {}, NULL, CAST(thread_id AS CHAR), CONVERT(argument USING utf8mb4) FROM {GENERAL} \
             WHERE event_time >= {since} AND thread_id <> {own} AND command_type IN ('Query', 'Execute')",
            of_time("event_time")
        ),
    };
    let mut found: Vec<Words> = session.query(&sql)?.iter().filter_map(|row| Words::of(row)).collect();
    found.sort_by_key(|one| one.at_us);
    Ok(found)
}

/// What each session says at the moment.
pub(super) fn sessions(session: &mut dyn Session, own: &str) -> Result<Vec<Words>, Failure> {
    let rows = session.query(&format!(
        "SELECT CAST(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 - TIME_MS * 1000 AS SIGNED), CAST(TIME_MS * 1000 AS SIGNED), \
         CAST(ID AS CHAR), INFO, IFNULL(DB, '') FROM information_schema.PROCESSLIST WHERE COMMAND IN ('Query', 'Execute') AND ID <> {own} \
         AND INFO IS NOT NULL"
    ))?;
    Ok(rows.iter().filter_map(|row| Words::of(row)).collect())
}
