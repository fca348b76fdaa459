//! The work of a MariaDB: its status, its sessions, and its performance schema or user statistics where they are on.
//!
//! The one idea: the status is counted for the whole server, and a pair mirrors the whole server, so that all of it is looked at.

use super::{Standing, rows};
use crate::tier::{self, number, text};
use crate::{Failure, Session, fingerprint};
use advisor::assess::{Doing, Kept, Rows, Session as Seen, Statement, Table, Tally, Total, Wait};
use std::collections::BTreeMap;
use std::path::Path;
use study::Engine;
use workload::transaction::Value;

pub(super) const LIMITS: &str = tier::MARIADB_LIMITS;

/// The counter, and the server's name. A transaction that writes takes two numbers: when it begins to write, and when it ends.
const STATUS: [(Total, &str, f64); 12] = [
    (Total::Commits, "Com_commit", 1.0),
    (Total::Rollbacks, "Com_rollback", 1.0),
    (Total::Written, "Innodb_max_trx_id", 0.5),
    (Total::Connections, "Connections", 1.0),
    (Total::LogBytes, "Innodb_os_log_written", 1.0),
    (Total::Statements, "Questions", 1.0),
    (Total::Prepared, "Com_stmt_execute", 1.0),
    (Total::RowsRead, "Innodb_rows_read", 1.0),
    (Total::RowsInserted, "Innodb_rows_inserted", 1.0),
    (Total::RowsUpdated, "Innodb_rows_updated", 1.0),
    (Total::RowsDeleted, "Innodb_rows_deleted", 1.0),
    (Total::StatementCommits, "Handler_commit", 1.0),
];

const OWN: &str = "('mysql', 'information_schema', 'performance_schema', 'sys')";

pub(super) fn standing(session: &mut dyn Session) -> Result<Standing, Failure> {
    let row = session
        .row(&format!("SELECT @@version, @@performance_schema, @@userstat, @@log_bin, {}", tier::MARIADB_WHO))?;
    let sees_all = session.one("SELECT count(*) FROM information_schema.INNODB_TRX").is_ok();
    let counted = session.one("SELECT 1 FROM performance_schema.setup_instruments LIMIT 1").is_ok();
    let untimed = tier::mariadb_flushes(session)?.1.is_none();
    let sequences = session.number("SELECT count(*) FROM information_schema.TABLES WHERE TABLE_TYPE = 'SEQUENCE'");
    let mut lacking = Vec::new();
    let mut lacks = |missing: bool, what: &str| lacking.extend(missing.then(|| what.to_owned()));
    lacks(
        !sees_all,
        &format!("sessions of other users and their transactions: GRANT PROCESS ON *.* TO {}", text(&row, 4)),
    );
    lacks(
        number(&row, 1) == 0.0,
        "rows by table, statements, reads for update, applications and, before MariaDB 10.8, the time of a flush: performance_schema = ON in \
         the configuration, and a restart",
    );
    lacks(
        number(&row, 1) != 0.0 && !counted,
        &format!(
            "rows by table, statements, reads for update and applications: GRANT SELECT ON performance_schema.* TO {}",
            text(&row, 4)
        ),
    );
    lacks(untimed, "the time of a flush: MariaDB times none since 10.8; --mirror-flush gives that of the mirror");
    lacks(number(&row, 2) == 0.0, "rows by user: SET GLOBAL userstat = 1");
    lacks(number(&row, 3) == 0.0, "bytes of the binary log, which a semi-synchronous replica receives: log_bin is off");
    Ok(Standing {
        version: format!("MariaDB {}", text(&row, 0)),
        database: "all databases of the server".to_owned(),
        written_from: "numbers that InnoDB gave to transactions, two for each that writes".to_owned(),
        sequences: sequences.ok().flatten().map(|count| count as u64),
        process: here(session),
        lacking,
    })
}

/// The server's process, where it says that it is on this machine and one of its name is there under its number.
fn here(session: &mut dyn Session) -> Option<u32> {
    let row = session.row("SELECT @@hostname, @@datadir, @@pid_file").ok()?;
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let file = Path::new(&text(&row, 1)).join(text(&row, 2));
    let process = std::fs::read_to_string(file).ok().filter(|_| own.trim() == text(&row, 0))?.trim().parse().ok()?;
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
    matches!(name.trim(), "mariadbd" | "mysqld").then_some(process)
}

pub(super) fn tally(session: &mut dyn Session) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    tally.totals.extend(crate::mariadb::status(session, &STATUS)?);
    // A commit that is sent is committed by InnoDB behind its statements.
    let sent = tally.totals.get(&Total::Commits).copied().unwrap_or(0.0);
    tally.totals.entry(Total::StatementCommits).and_modify(|all| *all = (*all - sent).max(0.0));
    let (flushes, flush_s) = tier::mariadb_flushes(session)?;
    tally.totals.insert(Total::Flushes, flushes);
    tally.totals.extend(flush_s.map(|seconds| (Total::FlushSeconds, seconds)));
    tables(session, &mut tally)?;
    statements(session, &mut tally);
    let users = session.query(
        "SELECT USER, ROWS_READ, ROWS_INSERTED, ROWS_UPDATED, ROWS_DELETED FROM information_schema.USER_STATISTICS",
    );
    for row in users.unwrap_or_default() {
        tally.users.insert(text(&row, 0), rows(&row));
    }
    Ok(tally)
}

fn tables(session: &mut dyn Session, tally: &mut Tally) -> Result<(), Failure> {
    let counted = session.query(
        "SELECT concat(OBJECT_SCHEMA, '.', OBJECT_NAME), COUNT_FETCH, COUNT_INSERT, COUNT_UPDATE, COUNT_DELETE \
         FROM performance_schema.table_io_waits_summary_by_table WHERE OBJECT_TYPE IN ('TABLE', 'TEMPORARY TABLE')",
    );
    let counted = counted.unwrap_or_default();
    let counted: BTreeMap<String, Rows> = counted.iter().map(|row| (text(row, 0), rows(row))).collect();
    let found = session.query(&format!(
        "SELECT concat(t.TABLE_SCHEMA, '.', t.TABLE_NAME), coalesce(t.TABLE_ROWS, 0), t.ENGINE, \
         EXISTS (SELECT 1 FROM information_schema.STATISTICS s WHERE s.TABLE_SCHEMA = t.TABLE_SCHEMA \
         AND s.TABLE_NAME = t.TABLE_NAME AND s.INDEX_NAME = 'PRIMARY'), coalesce(unix_timestamp(t.CREATE_TIME), 0) \
         FROM information_schema.TABLES t WHERE t.TABLE_TYPE IN ('BASE TABLE', 'TEMPORARY') AND t.TABLE_SCHEMA NOT IN {OWN}"
    ))?;
    for row in found {
        let name = text(&row, 0);
        let kept = if text(&row, 2).eq_ignore_ascii_case("innodb") { Kept::Logged } else { Kept::Foreign };
        let rows = counted.get(&name).copied().unwrap_or_default();
        let table = Table { rows, live: number(&row, 1), file: number(&row, 4), keyed: number(&row, 3) != 0.0, kept };
        tally.tables.insert(name, table);
    }
    Ok(())
}

fn statements(session: &mut dyn Session, tally: &mut Tally) {
    let rows = session.query(
        "SELECT concat(coalesce(SCHEMA_NAME, ''), ' ', DIGEST), DIGEST_TEXT, COUNT_STAR, SUM_ROWS_SENT + SUM_ROWS_AFFECTED, \
         SUM_TIMER_WAIT / 1e12 FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST IS NOT NULL \
         AND DIGEST_TEXT NOT REGEXP 'PROCESSLIST|INNODB_TRX|session_connect_attrs'",
    );
    for row in rows.unwrap_or_default() {
        let one = Statement {
            user: String::new(),
            text: fingerprint(Engine::Mariadb, &text(&row, 1)),
            calls: number(&row, 2),
            rows: number(&row, 3),
            seconds: number(&row, 4),
            planned: None,
        };
        tally.statements.insert(text(&row, 0), one);
    }
}

pub(super) fn sessions(session: &mut dyn Session) -> Result<Vec<Seen>, Failure> {
    let rows = session.query(
        "SELECT ID, USER, COMMAND, TIME_MS / 1000 FROM information_schema.PROCESSLIST WHERE ID <> connection_id() \
         AND COMMAND NOT IN ('Daemon', 'Binlog Dump', 'Slave_IO', 'Slave_SQL', 'Slave_worker', 'Connect') AND USER <> 'system user'",
    )?;
    // Both need rights of their own; who lacks them sees less.
    let transactions = session.query(
        "SELECT trx_mysql_thread_id, trx_rows_modified > 0, trx_state = 'LOCK WAIT', timestampdiff(SECOND, trx_started, now()) \
         FROM information_schema.INNODB_TRX",
    );
    let programs = session.query(
        "SELECT PROCESSLIST_ID, ATTR_VALUE FROM performance_schema.session_connect_attrs WHERE ATTR_NAME = 'program_name'",
    );
    let by_id = |rows: Result<Vec<Vec<Value>>, Failure>| -> BTreeMap<u64, Vec<Value>> {
        rows.unwrap_or_default().into_iter().map(|row| (number(&row, 0) as u64, row)).collect()
    };
    let (transactions, programs) = (by_id(transactions), by_id(programs));
    let one = |row: &Vec<Value>| {
        let id = number(row, 0) as u64;
        let (transaction, since_s) = (transactions.get(&id), number(row, 3));
        let doing = match (text(row, 2) == "Sleep", transaction) {
            (false, _) => Doing::Working,
            (true, Some(_)) => Doing::Holding,
            (true, None) => Doing::Idle,
        };
        let is = |at| transaction.is_some_and(|row| number(row, at) != 0.0);
        // When a transaction began is known to the second alone.
        let begun_s = transaction.map(|row| number(row, 3)).filter(|age| *age > 1.0);
        Seen {
            id: id.to_string(),
            here: true,
            user: text(row, 1),
            application: programs.get(&id).map(|row| text(row, 1)).unwrap_or_default(),
            doing,
            wait: if is(2) { Wait::Lock } else { Wait::None },
            writes: is(1),
            age_s: begun_s.or((doing == Doing::Working).then_some(since_s)),
            since_s,
        }
    };
    Ok(rows.iter().map(one).collect())
}
