//! The work of a PostgreSQL: its statistics views, its sessions, and its log where it may be read.

use super::{Standing, rows, totals};
use crate::tier::{number, text};
use crate::{Failure, Session, fingerprint, tier};
use advisor::assess::{Doing, Kept, Session as Seen, Statement, Table, Tally, Total, Wait};
use study::Engine;
use workload::transaction::Value;

pub(super) const LIMITS: &str = "SET default_transaction_read_only = on; SET statement_timeout = '5s'; \
    SET lock_timeout = '100ms'; SET jit = off; SET application_name = 'prony assess'";

/// Reading more of the log than this for counting its records takes too long.
const LOG_MAX: f64 = 256.0 * 1024.0 * 1024.0;

const TABLES: &str = include_str!("postgres_tables.sql");

const SESSIONS: &str = include_str!("postgres_sessions.sql");

fn yes(row: &[Value], at: usize) -> bool {
    number(row, at) != 0.0
}

pub(super) fn standing(session: &mut dyn Session, major: u32) -> Result<Standing, Failure> {
    let row = session.row(include_str!("postgres_standing.sql"))?;
    let extension = |session: &mut dyn Session, name| extension(session, name).is_some();
    let (statements, log) = (extension(session, "pg_stat_statements"), extension(session, "pg_walinspect"));
    let user = text(&row, 8);
    let mut lacking = Vec::new();
    let mut lacks = |missing: bool, what: &str| lacking.extend(missing.then(|| what.to_owned()));
    lacks(yes(&row, 2), "writes: this server is a standby, where nothing is written; assess its primary");
    lacks(text(&row, 3) != "on", "rows by table: ALTER SYSTEM SET track_counts = on, then pg_reload_conf()");
    lacks(!yes(&row, 4), &format!("what sessions and statements of other users do: GRANT pg_monitor TO {user}"));
    lacks(
        !statements,
        "statements, reads for update, rows by user and planning: shared_preload_libraries = 'pg_stat_statements', a restart, and \
         CREATE EXTENSION pg_stat_statements",
    );
    lacks(
        statements && text(&row, 6) != "on",
        "how often statements are planned: ALTER SYSTEM SET pg_stat_statements.track_planning = on, then pg_reload_conf()",
    );
    lacks(
        text(&row, 5) != "on" && major >= 14,
        "the time of a flush as the server measures it: ALTER SYSTEM SET track_wal_io_timing = on, then pg_reload_conf()",
    );
    let steps = [
        (!log, "CREATE EXTENSION pg_walinspect".to_owned()),
        (!yes(&row, 11), format!("GRANT pg_read_server_files TO {user}")),
    ];
    let steps: Vec<String> = steps.into_iter().filter(|(missing, _)| *missing).map(|(_, step)| step).collect();
    lacks(
        !steps.is_empty() && major >= 15,
        &format!("exact commits and row locks from the log: {}", steps.join(", and ")),
    );
    lacks(
        text(&row, 10) == "off",
        "the flush of a commit: synchronous_commit is off here, so that commits wait neither for the disk nor for a mirror; the prediction is of \
         commits that wait for the mirror, and lacks their own flush: set it to on in a test, and assess again",
    );
    lacks(
        major < 14,
        "sessions opened, time in transactions and flushes of the log: PostgreSQL 14 or later counts them",
    );
    Ok(Standing {
        version: format!("PostgreSQL {}", text(&row, 0)),
        database: text(&row, 1),
        written_from:
            "transaction ids of the server, shared out by changed rows; subtransactions and rollbacks count too"
                .to_owned(),
        sequences: Some(number(&row, 7) as u64),
        process: crate::postgres::here(number(&row, 9) as u32),
        lacking,
    })
}

/// The schema of an extension that is there, quoted.
fn extension(session: &mut dyn Session, name: &str) -> Option<String> {
    let found = session.text(&format!(
        "SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = '{name}'"
    ));
    found.ok()?
}

pub(super) fn tally(session: &mut dyn Session, major: u32) -> Result<Tally, Failure> {
    use Total::*;
    let later = if major >= 14 { "sessions, (active_time + idle_in_transaction_time) / 1000" } else { "NULL, NULL" };
    let database = format!(
        "SELECT xact_commit, xact_rollback, tup_returned, tup_inserted, tup_updated, tup_deleted, \
         (SELECT sum(tup_inserted + tup_updated + tup_deleted)::float8 FROM pg_stat_database WHERE datname <> current_database()), {later} \
         FROM pg_stat_database WHERE datname = current_database()"
    );
    let names =
        [Commits, Rollbacks, RowsRead, RowsInserted, RowsUpdated, RowsDeleted, RowsElsewhere, Connections, BusySeconds];
    let mut tally = Tally::default();
    tally.totals.extend(totals(session, &names, &database)?);
    // A standby writes nothing.
    let log = "SELECT txid_snapshot_xmax(txid_current_snapshot()), pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 \
        WHERE NOT pg_is_in_recovery()";
    tally.totals.insert(Written, 0.0);
    tally.totals.extend(totals(session, &[Written, LogBytes], log)?);
    if major >= 14 {
        let (flushes, seconds) = tier::postgres_flushes(session, major)?;
        tally.totals.insert(Flushes, flushes);
        tally.totals.extend(seconds.map(|seconds| (FlushSeconds, seconds)));
    }
    for row in session.query(TABLES)? {
        let kept = match text(&row, 8).as_str() {
            "t" => Kept::Temporary,
            "u" => Kept::Unlogged,
            _ => Kept::Logged,
        };
        let rows = rows(&row);
        let table = Table { rows, live: number(&row, 5), file: number(&row, 6), keyed: yes(&row, 7), kept };
        tally.tables.insert(text(&row, 0), table);
    }
    // Without the right to read it there is none, which the standing tells.
    for row in statements(session, major).unwrap_or_default() {
        let shown = Some(text(&row, 1)).filter(|text| text != "<insufficient privilege>").unwrap_or_default();
        let one = Statement {
            user: text(&row, 2),
            text: fingerprint(Engine::Postgres, &shown),
            calls: number(&row, 3),
            rows: number(&row, 4),
            seconds: number(&row, 5),
            planned: Some((number(&row, 6), number(&row, 7))),
        };
        tally.statements.insert(text(&row, 0), one);
    }
    Ok(tally)
}

fn statements(session: &mut dyn Session, major: u32) -> Option<Vec<Vec<Value>>> {
    let schema = extension(session, "pg_stat_statements")?;
    let (seconds, planned, top) = match major {
        0..=12 => ("total_time", "0, 0", ""),
        13 => ("total_exec_time", "plans, total_plan_time / 1000", ""),
        _ => ("total_exec_time", "plans, total_plan_time / 1000", "AND toplevel"),
    };
    let sql = format!(
        "SELECT userid::text || ' ' || queryid::text, query, pg_get_userbyid(userid)::text, calls, rows, {seconds} / 1000, {planned} \
         FROM {schema}.pg_stat_statements WHERE queryid IS NOT NULL {top} \
         AND query NOT LIKE '%FROM pg_stat_activity WHERE pid <> pg_backend_pid()%' \
         AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())"
    );
    session.query(&sql).ok()
}

pub(super) fn sessions(session: &mut dyn Session) -> Result<Vec<Seen>, Failure> {
    let rows = session.query(SESSIONS)?;
    let one = |row: &Vec<Value>| Seen {
        id: text(row, 0),
        here: yes(row, 1),
        user: text(row, 2),
        application: text(row, 3),
        doing: match text(row, 4).as_str() {
            "active" | "fastpath function call" => Doing::Working,
            _ if yes(row, 10) => Doing::Hidden,
            // One that has only just come says nothing yet.
            "idle" | "" => Doing::Idle,
            _ => Doing::Holding,
        },
        wait: match (text(row, 5).as_str(), text(row, 6).as_str()) {
            ("Lock", _) => Wait::Lock,
            ("IO", "WALSync" | "WalSync") => Wait::Flush,
            ("", _) => Wait::None,
            _ => Wait::Other,
        },
        writes: yes(row, 7),
        age_s: row.get(8).and_then(Value::number),
        since_s: number(row, 9),
    };
    Ok(rows.iter().map(one).collect())
}

/// Where the log ends that is on the disk.
pub(super) fn end_of_log(session: &mut dyn Session) -> Option<String> {
    session.text("SELECT pg_current_wal_flush_lsn()::text WHERE NOT pg_is_in_recovery()").ok()?
}

/// Exact commits, and rows that were locked, from the records of the log since a place in it.
pub(super) fn refine(session: &mut dyn Session, since: &str, before: &mut Tally, after: &mut Tally) -> bool {
    let bytes = |tally: &Tally| tally.totals.get(&Total::LogBytes).copied().unwrap_or(0.0);
    let Some(schema) = extension(session, "pg_walinspect").filter(|_| bytes(after) - bytes(before) < LOG_MAX) else {
        return false;
    };
    let sql = format!(
        "SELECT coalesce(sum(count) FILTER (WHERE name LIKE 'Transaction/COMMIT%'), 0)::float8, \
         coalesce(sum(count) FILTER (WHERE name LIKE 'Heap/LOCK%'), 0)::float8 \
         FROM {schema}.pg_get_wal_stats('{since}', pg_current_wal_flush_lsn(), true) AS s(name, count)"
    );
    let Ok(counted) = totals(session, &[Total::Written, Total::LockedRows], &sql) else { return false };
    before.totals.extend(counted.iter().map(|(name, _)| (*name, 0.0)));
    after.totals.extend(counted);
    true
}
