//! What a PostgreSQL writes down of what its clients say.

use super::log::Form;
use super::{Found, Source, Words};
use crate::tier::{number, text};
use crate::{Failure, FailureKind, Session};
use std::path::{Path, PathBuf};

pub(super) const LIMITS: &str = "SET default_transaction_read_only = on; SET statement_timeout = '60s'; \
    SET lock_timeout = '100ms'; SET jit = off; SET application_name = 'prony capture'";

/// Microseconds of the clock that the log shows: the time of its zone, as if it were one without a zone.
pub(super) const NOW: &str =
    "SELECT (extract(epoch FROM clock_timestamp() AT TIME ZONE current_setting('log_timezone')) * 1e6)::int8";

/// The database of each session, which every user may see.
pub(super) const WHERE: &str = "SELECT pid::text, datname::text FROM pg_stat_activity WHERE datname IS NOT NULL";

/// A log is read in pieces of so many bytes.
const PIECE: u64 = 8 << 20;

pub(super) fn found(session: &mut dyn Session, log: Option<&Path>) -> Result<Found, Failure> {
    let mut lacking = Vec::new();
    let row = session.row(
        "SELECT pg_backend_pid()::text, version(), current_setting('log_min_duration_statement'), \
         current_setting('log_line_prefix'), current_setting('log_parameter_max_length', true), quote_ident(current_user), \
         pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')",
    )?;
    let user = text(&row, 5);
    let (own, server) = (text(&row, 0), text(&row, 1).split(" on ").next().unwrap_or_default().to_owned());
    let all = text(&row, 2) == "0";
    if !all {
        lacking.push(
            "the log does not have every statement: ALTER SYSTEM SET log_min_duration_statement = 0; SELECT pg_reload_conf()"
                .to_owned(),
        );
    }
    if !matches!(text(&row, 4).as_str(), "" | "-1") {
        lacking.push("values of statements are cut off or left out: SET log_parameter_max_length = -1".to_owned());
    }
    let source = if all { written(session, log, (&text(&row, 3), &user), &mut lacking) } else { Source::Sessions };
    if source == Source::Sessions {
        lacking.push("values that were sent beside a text are not in the list of sessions".to_owned());
        if number(&row, 6) != 1.0 {
            lacking.push(format!("texts of other users' sessions: GRANT pg_read_all_stats TO {user}"));
        }
    }
    Ok(((server, own, source), lacking))
}

fn written(
    session: &mut dyn Session,
    log: Option<&Path>,
    (prefix, user): (&str, &str),
    lacking: &mut Vec<String>,
) -> Source {
    let found = match log {
        Some(path) => Ok(Some((path.to_owned(), true))),
        None => current(session).map(|path| path.map(|path| (path, false))),
    };
    let found = match found {
        Ok(found) => found,
        Err(failure) => {
            lacking.push(refused("this user is not told where the log is", &failure, user));
            return Source::Sessions;
        }
    };
    let Some((path, here)) = found else {
        lacking.push(
            "the server collects no log that it can read for others: name its file with --log on the server's own machine, or set \
             `logging_collector = on` and `log_destination = 'jsonlog'` and start it again"
                .to_owned(),
        );
        return Source::Sessions;
    };
    let form = Form::of(&path);
    if form == Form::Plain && !prefix.starts_with("%m [%p]") {
        lacking.push(format!("lines of the log begin with `{prefix}`, and only `%m [%p] ..` can be read"));
        return Source::Sessions;
    }
    if !here && let Err(failure) = size(session, &path) {
        lacking.push(refused("the log cannot be read", &failure, user));
        return Source::Sessions;
    }
    Source::Log { path, form, here, prefix: prefix.to_owned() }
}

/// What takes a user who is no superuser to the log that the server collects; `pg_read_server_files` alone does not.
const READS: &str =
    "EXECUTE ON FUNCTION pg_current_logfile(text), pg_stat_file(text), pg_read_binary_file(text, bigint, bigint)";

/// Why a log is not read, and what would help: a right is asked for only where it is what lacks.
fn refused(what: &str, failure: &Failure, user: &str) -> String {
    let grants =
        if failure.kind == FailureKind::Privilege { format!("GRANT {READS} TO {user}, or ") } else { String::new() };
    format!("{what} ({}): {grants}name its file with --log on the server's own machine", failure.text)
}

/// The log that the server writes now, in the form that says most.
fn current(session: &mut dyn Session) -> Result<Option<PathBuf>, Failure> {
    let mut refused = None;
    for form in ["jsonlog", "csvlog", "stderr"] {
        match session.text(&format!("SELECT pg_current_logfile('{form}')")) {
            Ok(path) => {
                if let Some(path) = path.filter(|path| !path.is_empty()) {
                    return Ok(Some(PathBuf::from(path)));
                }
            }
            // A server that is older than a form does not know it.
            Err(failure) => refused = Some(failure).filter(|failure| failure.kind == FailureKind::Privilege),
        }
    }
    refused.map_or(Ok(None), Err)
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "''"))
}

/// Bytes of the log so far.
pub(super) fn size(session: &mut dyn Session, path: &Path) -> Result<u64, Failure> {
    let size = session.number(&format!("SELECT size FROM pg_stat_file({})", quoted(path)))?;
    Ok(size.unwrap_or(0.0) as u64)
}

/// A piece of the log.
pub(super) fn read(session: &mut dyn Session, path: &Path, from: u64, to: u64) -> Result<String, Failure> {
    let (mut bytes, mut at) = (Vec::new(), from);
    while at < to {
        let next = PIECE.min(to - at);
        // A piece may end inside of a letter, so that bytes are asked for.
        let sql = format!("SELECT encode(pg_read_binary_file({}, {at}, {next}), 'hex')", quoted(path));
        let hex = session.text(&sql)?.unwrap_or_default();
        let byte = |at: usize| hex.get(at..at + 2).and_then(|byte| u8::from_str_radix(byte, 16).ok());
        bytes.extend((0..hex.len() / 2).filter_map(|place| byte(2 * place)));
        at += next;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What each session of this database said last. The text of one that is as long as the server keeps may be cut off.
pub(super) fn sessions(session: &mut dyn Session) -> Result<Vec<Words>, Failure> {
    let zone = "AT TIME ZONE current_setting('log_timezone')";
    let rows = session.query(&format!(
        "SELECT (extract(epoch FROM query_start {zone}) * 1e6)::int8, \
         (extract(epoch FROM CASE WHEN state = 'active' THEN clock_timestamp() ELSE state_change END - query_start) * 1e6)::int8, \
         pid::text, query, datname::text \
         FROM pg_stat_activity WHERE backend_type = 'client backend' AND datname = current_database() AND query_start IS NOT NULL \
         AND pid <> pg_backend_pid() AND octet_length(query) < pg_size_bytes(current_setting('track_activity_query_size')) - 1"
    ))?;
    Ok(rows.iter().filter_map(|row| Words::of(row)).collect())
}
