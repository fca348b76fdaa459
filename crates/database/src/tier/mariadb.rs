//! Statistics of a MariaDB: reads and their times by file, which its performance schema counts.
//!
//! The one idea: InnoDB reads around the page cache, so that what is counted here is what the device did. A file holds a table
//! with its indexes: there is nothing smaller to move.

use super::{Standing, exchange, number, text};
use crate::{DatabaseError, Failure, Session};
use advisor::{Counts, Described, Kind, Look};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(crate) const LIMITS: &str = "SET SESSION TRANSACTION READ ONLY; SET SESSION lock_wait_timeout = 1; \
    SET SESSION max_statement_time = 5";

const DATA: &str = "wait/io/file/innodb/innodb_data_file";
const LOG: &str = "wait/io/file/innodb/innodb_log_file";

/// How the counts come to a server that has none.
const REMEDY: &str = "set performance_schema = ON in its configuration, start it anew, and if they were switched off, UPDATE \
    performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE 'wait/io/file/innodb/%'";

pub(super) fn standing(session: &mut dyn Session, place: &str, fast: &str) -> Result<Standing, DatabaseError> {
    let failed = |failure| DatabaseError::statement(place, "read performance_schema", failure);
    let counted = session.number(&format!(
        "SELECT count(*) FROM performance_schema.setup_instruments WHERE NAME = '{DATA}' AND ENABLED = 'YES' AND TIMED = 'YES'"
    ));
    if counted.map_err(failed)?.unwrap_or(0.0) < 1.0 {
        return Err(DatabaseError::Uncounted { place: place.to_owned(), remedy: REMEDY });
    }
    let sql = "SELECT concat(@@hostname, ':', @@port, @@datadir), coalesce(database(), ''), @@innodb_buffer_pool_size";
    let row = session.row(sql).map_err(failed)?;
    let fast = Some(fast).filter(|fast| fast.starts_with('/'));
    let lacking = match fast {
        Some(_) => Vec::new(),
        None => vec![
            "moves: name the folder of the fast tier, in which the server may make files: --fast /FOLDER".to_owned(),
        ],
    };
    Ok(Standing {
        system: text(&row, 0),
        database: text(&row, 1),
        fast: fast.map(|fast| fast.trim_end_matches('/').to_owned()),
        slow: ("the folder of the data".to_owned(), String::new()),
        buffer: number(&row, 2) as u64,
        lacking,
    })
}

pub(super) fn look(session: &mut dyn Session) -> Result<Look, Failure> {
    let rows = session.query(&format!(
        "SELECT FILE_NAME, EVENT_NAME, COUNT_READ, SUM_TIMER_READ / 1e12, COUNT_WRITE, COUNT_MISC, \
         (SUM_TIMER_WRITE + SUM_TIMER_MISC) / 1e12 \
         FROM performance_schema.file_summary_by_instance WHERE EVENT_NAME IN ('{DATA}', '{LOG}')"
    ))?;
    let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
    for row in rows {
        let log = text(&row, 1) == LOG;
        let reads = number(&row, 2);
        let one = match log {
            true => Counts { flushes: number(&row, 5), flush_s: Some(number(&row, 6)), ..Counts::default() },
            false => Counts {
                reads,
                rows_by_key: reads,
                read_s: Some(number(&row, 3)),
                writes: number(&row, 4),
                ..Counts::default()
            },
        };
        counts.insert(text(&row, 0), one);
    }
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
    let log = session.number("SELECT @@innodb_log_file_size")?.unwrap_or(0.0);
    let files = session.query(&format!(
        "SELECT FILE_NAME, EVENT_NAME FROM performance_schema.file_summary_by_instance WHERE EVENT_NAME IN ('{DATA}', '{LOG}')"
    ))?;
    let known = |row: &Vec<workload::transaction::Value>| {
        let (file, is_log) = (text(row, 0), text(row, 1) == LOG);
        let path = Path::new(&file);
        let part = |name: Option<&std::ffi::OsStr>| name.unwrap_or_default().to_string_lossy().into_owned();
        let (table, folder) = (part(path.file_stem()), part(path.parent().and_then(Path::file_name)));
        let bytes = size.get(&format!("{folder}/{table}")).copied();
        // Files of the server's own stay where they are.
        let bytes = if is_log { Some(log) } else { bytes.filter(|_| folder != "mysql") }?;
        Some(Described {
            kind: if is_log { Kind::Log } else { Kind::File },
            name: if is_log { "log (redo)".to_owned() } else { format!("{folder}.{table}") },
            bytes,
            table: None,
            rows_per_block: 1.0,
            fast: path.starts_with(fast),
            place: part(path.parent().map(Path::as_os_str)),
            logged: true,
            held: false,
            stays: String::new(),
            id: file,
        })
    };
    let mut found: Vec<Described> = files.iter().filter_map(known).collect();
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

pub(super) fn folders(session: &mut dyn Session) -> Result<Vec<PathBuf>, Failure> {
    Ok(session.text("SELECT @@datadir")?.map(PathBuf::from).into_iter().collect())
}
