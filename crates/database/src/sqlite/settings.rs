//! Settings of SQLite that a study may vary, and those of a fill.

use crate::{DatabaseError, Failure, Session};
use observation::{Counted, Counter};
use study::server_settings;

/// What makes a fill fast. A fill that is cut off leaves a file whose head still says that it is ours and unfinished, so
/// that nothing in it needs to be saved; one writer fills it alone.
pub(super) const FILL: &str = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; \
                               PRAGMA cache_size = -262144; PRAGMA locking_mode = EXCLUSIVE; PRAGMA threads = 2";

/// One setting: its name, what SQLite itself would take or what we prefer, and whether it is a number.
const KNOWN: &[(&str, &str, &[&str])] = &[
    ("synchronous", "FULL", &["OFF", "NORMAL", "FULL", "EXTRA"]),
    // SQLite's own default is 2 MB, which no server would be given either.
    ("cache_size", "-65536", &[]),
    ("mmap_size", "0", &[]),
    ("wal_autocheckpoint", "1000", &[]),
    ("journal_size_limit", "-1", &[]),
    ("temp_store", "MEMORY", &["DEFAULT", "FILE", "MEMORY"]),
];

/// Modes of the journal that a study may ask for. `OFF` and `MEMORY` lose data with the process, so that no trial says
/// anything with them.
const MODES: &[&str] = &["DELETE", "TRUNCATE", "PERSIST", "WAL"];

/// Settings of the sessions of one database, by their SQLite names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// The journal mode that sessions set, which changes the file for good; none leaves the file's own.
    journal: Option<String>,
    values: Vec<(&'static str, String)>,
}

impl Settings {
    /// The defaults with what the user asked for. A file of `ours` has a write-ahead log; that of somebody else keeps the
    /// journal that it has, unless he asks for another.
    pub(super) fn read(asked: &[(String, String)], ours: bool) -> Result<Settings, DatabaseError> {
        let mut journal = ours.then(|| "WAL".to_owned());
        let mut values: Vec<(&str, String)> = KNOWN.iter().map(|(key, value, _)| (*key, (*value).to_owned())).collect();
        for (key, value) in asked {
            if key == "journal_mode" {
                journal = Some(checked(key, value, MODES)?);
                continue;
            }
            let Some(place) = KNOWN.iter().position(|(known, ..)| known == key) else {
                return Err(refused(key, value, server_settings::sqlite()));
            };
            values[place].1 = checked(key, value, KNOWN[place].2)?;
        }
        Ok(Settings { journal, values })
    }

    /// What a session says first.
    pub(super) fn pragmas(&self) -> String {
        let settings = self.values.iter().map(|(key, value)| format!("PRAGMA {key} = {value}; "));
        let journal = self.journal.iter().map(|mode| format!("PRAGMA journal_mode = {mode}; ")).collect::<String>();
        format!("{journal}PRAGMA foreign_keys = ON; {}", settings.collect::<String>())
    }

    /// The data beside the buffer that each session has, and the log that makes a commit write it back; in bytes.
    ///
    /// # Errors
    /// The failure.
    pub(super) fn standing(&self, session: &mut dyn Session) -> Result<Counted, Failure> {
        let mut ask = |pragma: &str| {
            let found = session.one(&format!("PRAGMA {pragma}"))?;
            Ok::<f64, Failure>(found.and_then(|value| value.int()).unwrap_or(0) as f64)
        };
        let (page, pages) = (ask("page_size")?, ask("page_count")?);
        let (cache, due) = (ask("cache_size")?, ask("wal_autocheckpoint")?);
        // Pages when it is positive, KiB when it is negative.
        let cache = if cache < 0.0 { -cache * 1024.0 } else { cache * page };
        Ok(vec![
            (Counter::Data, page * pages),
            (Counter::BufferOfEachSession, cache),
            (Counter::LogBeforeCheckpoint, due.max(0.0) * page),
        ])
    }

    /// For the fingerprint. `found` is the journal mode of the file as it is.
    pub(super) fn facts(&self, found: &str) -> Vec<(String, String)> {
        let journal = self.journal.clone().unwrap_or_else(|| format!("{found}, as the file has it"));
        let fixed = [("journal_mode", journal), ("foreign_keys", "ON".to_owned())];
        fixed.into_iter().chain(self.values.iter().cloned()).map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

fn checked(key: &str, value: &str, words: &[&str]) -> Result<String, DatabaseError> {
    let upper = value.to_uppercase();
    match words {
        [] if value.parse::<i64>().is_ok() => Ok(value.to_owned()),
        [] => Err(refused(key, value, "must be a whole number".to_owned())),
        words if words.contains(&upper.as_str()) => Ok(upper),
        words => Err(refused(key, value, format!("must be one of {}", words.join(", ")))),
    }
}

fn refused(key: &str, value: &str, problem: String) -> DatabaseError {
    DatabaseError::Setting { key: key.to_owned(), value: value.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(key: &str, value: &str) -> Result<Settings, DatabaseError> {
        Settings::read(&[(key.to_owned(), value.to_owned())], true)
    }

    #[test]
    fn settings_are_known_words_and_numbers_only() {
        assert!(read("synchronous", "normal").unwrap().pragmas().contains("synchronous = NORMAL;"));
        assert!(read("cache_size", "-8000").unwrap().facts("WAL").contains(&("cache_size".into(), "-8000".into())));
        assert!(read("cache_size", "1; DROP TABLE trade").is_err());
        assert!(read("synchronous", "sometimes").unwrap_err().to_string().contains("OFF, NORMAL, FULL, EXTRA"));
        assert!(read("shared_buffers", "1").unwrap_err().to_string().contains("here are journal_mode, synchronous, "));
        assert!(read("journal_mode", "off").is_err());
    }

    #[test]
    fn a_study_may_give_what_sessions_take_and_nothing_else() {
        let ours = ["journal_mode"].into_iter().chain(KNOWN.iter().map(|(known, ..)| *known));
        assert!(ours.eq(server_settings::SQLITE.iter().copied()));
    }

    #[test]
    fn only_a_file_of_ours_is_given_a_write_ahead_log_unasked() {
        assert!(Settings::read(&[], true).unwrap().pragmas().contains("journal_mode = WAL"));
        let users = Settings::read(&[], false).unwrap();
        assert!(!users.pragmas().contains("journal_mode"));
        assert!(users.facts("DELETE").contains(&("journal_mode".into(), "DELETE, as the file has it".into())));
        let asked = [("journal_mode".to_owned(), "wal".to_owned())];
        assert!(Settings::read(&asked, false).unwrap().pragmas().contains("journal_mode = WAL"));
    }
}
