//! Statistics of a MariaDB: reads and their times by file, which its performance schema counts.
//!
//! The one idea: InnoDB reads around the page cache, so that what is counted here is what the device did. A file holds a table
//! with its indexes: there is nothing smaller to move. Flushes of the log are timed up to MariaDB 10.7, and counted since.

use super::{Standing, exchange, number, text};
use crate::{DatabaseError, Failure, FailureKind, Session};
use advisor::{Counts, Described, Kind, Look};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

pub(crate) const LIMITS: &str = "SET SESSION TRANSACTION READ ONLY; SET SESSION lock_wait_timeout = 1; \
    SET SESSION max_statement_time = 5";

const DATA: &str = "wait/io/file/innodb/innodb_data_file";
const FLUSHES: &str = "wait/io/file/innodb/innodb_log_file";
/// The id of the log.
const LOG: &str = "log";

/// How the counts come to a server that has none.
const REMEDY: &str = "set performance_schema = ON in its configuration, start it anew, and if they were switched off, UPDATE \
    performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE 'wait/io/file/innodb/%'";

pub(super) fn standing(session: &mut dyn Session, place: &str, fast: &str) -> Result<Standing, DatabaseError> {
    may(session, place)?;
    let failed = |failure| DatabaseError::statement(place, "read the settings", failure);
    let sql = "SELECT concat(@@hostname, ':', @@port, @@datadir), coalesce(database(), ''), @@innodb_buffer_pool_size";
    let row = session.row(sql).map_err(failed)?;
    let fast = Some(fast).filter(|fast| fast.starts_with('/'));
    let folder = "moves: name the folder of the fast tier, in which the server may make files: --fast /FOLDER";
    let mut lacking: Vec<String> = fast.is_none().then(|| folder.to_owned()).into_iter().collect();
    lacking.extend(untimed(session).map_err(failed)?);
    Ok(Standing {
        system: text(&row, 0),
        database: text(&row, 1),
        fast: fast.map(|fast| fast.trim_end_matches('/').to_owned()),
        slow: ("the folder of the data".to_owned(), String::new()),
        buffer: number(&row, 2) as u64,
        lacking,
    })
}

/// Refuses a server that does not count by file, and a user who may not read what it counts.
fn may(session: &mut dyn Session, place: &str) -> Result<(), DatabaseError> {
    match counts(session, DATA) {
        Ok(Some(true)) => {}
        Ok(_) => return Err(DatabaseError::Uncounted { place: place.to_owned(), remedy: REMEDY }),
        Err(failure) => {
            let action = "read performance_schema";
            return Err(without(session, place, (action, failure), "SELECT ON performance_schema.*"));
        }
    }
    let sizes = session.one("SELECT 1 FROM information_schema.INNODB_SYS_TABLESPACES LIMIT 1");
    sizes.map(drop).map_err(|failure| without(session, place, ("read the sizes of tables", failure), "PROCESS ON *.*"))
}

/// What the advice lacks of the log; none where its flushes are timed.
fn untimed(session: &mut dyn Session) -> Result<Option<String>, Failure> {
    let step = match counts(session, FLUSHES)? {
        Some(true) => return Ok(None),
        Some(false) => REMEDY,
        None => "MariaDB times none since 10.8; give the time of one with --slow-flush",
    };
    Ok(Some(format!(
        "times of flushes, without which the wait for the log is a guess from the times of the tier: {step}"
    )))
}

/// The connected user as a GRANT names it.
pub(crate) const WHO: &str = "concat(quote(left(current_user(), char_length(current_user()) - char_length(substring_index(current_user(), '@', -1)) - 1)), \
    '@', quote(substring_index(current_user(), '@', -1)))";

/// What failed, with the statement that grants what the user may lack.
fn without(session: &mut dyn Session, place: &str, (action, failure): (&str, Failure), right: &str) -> DatabaseError {
    let who = session.text(&format!("SELECT {WHO}")).ok().flatten().filter(|_| failure.kind == FailureKind::Privilege);
    let text = who.map_or_else(|| failure.text.clone(), |who| format!("{}: GRANT {right} TO {who}", failure.text));
    DatabaseError::statement(place, action, Failure { text, ..failure })
}

/// Whether the server counts and times this; none where it does not know it.
fn counts(session: &mut dyn Session, name: &str) -> Result<Option<bool>, Failure> {
    let of = "SELECT ENABLED = 'YES' AND TIMED = 'YES' FROM performance_schema.setup_instruments WHERE NAME";
    Ok(session.number(&format!("{of} = '{name}'"))?.map(|on| on == 1.0))
}

/// Flushes of the log that sessions waited for, and their time, where the server times them.
pub(crate) fn flushes(session: &mut dyn Session) -> Result<(f64, Option<f64>), Failure> {
    // Who may not read that is told so elsewhere.
    if counts(session, FLUSHES).is_ok_and(|on| on == Some(true)) {
        let row = session.row(&format!(
            "SELECT sum(COUNT_MISC), sum(SUM_TIMER_WRITE + SUM_TIMER_MISC) / 1e12 FROM performance_schema.file_summary_by_instance WHERE EVENT_NAME = '{FLUSHES}'"
        ))?;
        return Ok((number(&row, 0), Some(number(&row, 1))));
    }
    // Each flush follows a write, and files of the data are flushed as well. Where commits do not wait for one, nobody does.
    let count = session.number(
        "SELECT min(CAST(VARIABLE_VALUE AS DOUBLE)) * (@@GLOBAL.innodb_flush_log_at_trx_commit IN (1, 3)) \
         FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME IN ('INNODB_LOG_WRITES', 'INNODB_DATA_FSYNCS', \
         'INNODB_OS_LOG_FSYNCS')",
    )?;
    Ok((count.unwrap_or(0.0), None))
}

pub(super) fn look(session: &mut dyn Session) -> Result<Look, Failure> {
    let rows = session.query(&format!(
        "SELECT FILE_NAME, COUNT_READ, SUM_TIMER_READ / 1e12, COUNT_WRITE \
         FROM performance_schema.file_summary_by_instance WHERE EVENT_NAME = '{DATA}'"
    ))?;
    let of = |row: &Vec<workload::transaction::Value>| {
        let (reads, read_s, writes) = (number(row, 1), Some(number(row, 2)), number(row, 3));
        (text(row, 0), Counts { reads, rows_by_key: reads, read_s, writes, ..Counts::default() })
    };
    let mut counts: BTreeMap<String, Counts> = rows.iter().map(of).collect();
    let (flushes, flush_s) = flushes(session)?;
    counts.insert(LOG.to_owned(), Counts { flushes, flush_s, ..Counts::default() });
    Ok(Look { counts, ..Look::default() })
}

/// Of tables in `read`, and of those on the fast tier, the catalogue is asked what keeps them where they are.
pub(super) fn described(
    session: &mut dyn Session,
    fast: &str,
    read: &BTreeSet<String>,
) -> Result<Vec<Described>, Failure> {
    let spaces = session.query("SELECT NAME, FILE_SIZE FROM information_schema.INNODB_SYS_TABLESPACES")?;
    let size: BTreeMap<String, f64> = spaces.iter().map(|row| (text(row, 0), number(row, 1))).collect();
    let files = session.query(&format!(
        "SELECT FILE_NAME FROM performance_schema.file_summary_by_instance WHERE EVENT_NAME = '{DATA}'"
    ))?;
    let known = |row: &Vec<workload::transaction::Value>| {
        let file = text(row, 0);
        let path = Path::new(&file);
        let part = |name: Option<&std::ffi::OsStr>| name.unwrap_or_default().to_string_lossy().into_owned();
        let (table, folder) = (part(path.file_stem()), part(path.parent().and_then(Path::file_name)));
        // Files of the server's own stay where they are.
        let bytes = size.get(&format!("{folder}/{table}")).copied().filter(|_| folder != "mysql")?;
        let place = part(path.parent().map(Path::as_os_str));
        let name = format!("{folder}.{table}");
        Some(of_file(file.clone(), Kind::File, name, bytes, (path.starts_with(fast), place)))
    };
    let mut found: Vec<Described> = files.iter().filter_map(known).collect();
    let row = session.row("SELECT @@innodb_log_file_size, @@innodb_log_group_home_dir")?;
    let (bytes, place) = (number(&row, 0), text(&row, 1));
    let lies = (Path::new(&place).starts_with(fast), place);
    found.push(of_file(LOG.to_owned(), Kind::Log, "log (redo)".to_owned(), bytes, lies));
    let key = |one: &Described| exchange::key(&one.id).filter(|_| one.kind == Kind::File);
    for one in found.iter_mut().filter(|one| read.contains(&one.id) || (one.fast && !read.is_empty())) {
        one.stays = key(one).map_or(Ok(String::new()), |key| exchange::stays(session, &key))?;
    }
    // Letters beyond those of every file system are written otherwise there.
    let coded: Vec<usize> =
        (0..found.len()).filter(|at| found[*at].name.contains('@') && key(&found[*at]).is_some()).collect();
    let keys: Vec<String> = coded.iter().filter_map(|at| key(&found[*at])).collect();
    for (at, name) in coded.into_iter().zip(exchange::named(session, &keys)?) {
        found[at].name = name;
    }
    Ok(found)
}

fn of_file(id: String, kind: Kind, name: String, bytes: f64, (fast, place): (bool, String)) -> Described {
    let (rows_per_block, stays) = (1.0, String::new());
    Described { id, kind, name, bytes, table: None, rows_per_block, fast, place, logged: true, held: false, stays }
}

/// Why a server on this machine can make no files in a folder, and the command that mends it; none where nothing is seen that keeps it from that.
pub(super) fn shut(session: &mut dyn Session, folder: &str) -> Option<[String; 2]> {
    let data = session.text("SELECT @@datadir").ok()??;
    // The server's user is who owns its data.
    let server = std::fs::metadata(&data).ok()?;
    let [own, folder_word] = [&data, folder].map(|path| format!("'{}'", path.replace('\'', r"'\''")));
    let owned = format!("chown --reference={own} {folder_word}");
    let (what, help) = match std::fs::metadata(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            ("there is no such folder on the server's machine", format!("make it: mkdir -p {folder_word} && {owned}"))
        }
        Ok(found) if !found.is_dir() => ("it is no folder", "name another with --fast".to_owned()),
        Ok(found) if !writes(&server, &found) => {
            ("the server's user may make no files in it", format!("give it to the owner of the data: {owned}"))
        }
        _ => return None,
    };
    Some([what.to_owned(), help])
}

/// Whether the owner of one folder may make files in another, as far as its mode says.
fn writes(who: &Metadata, folder: &Metadata) -> bool {
    let bits = match () {
        () if who.uid() == 0 => return true,
        () if who.uid() == folder.uid() => 0o300,
        () if who.gid() == folder.gid() => 0o030,
        () => 0o003,
    };
    folder.mode() & bits == bits
}

pub(super) fn folders(session: &mut dyn Session) -> Result<Vec<PathBuf>, Failure> {
    Ok(session.text("SELECT @@datadir")?.map(PathBuf::from).into_iter().collect())
}
