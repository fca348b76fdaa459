//! Settings of SQLite that a study may vary, and those of a fill.

use crate::DatabaseError;

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

/// Settings of the sessions of one database, by their SQLite names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    values: Vec<(&'static str, String)>,
}

impl Settings {
    /// The defaults with what the user asked for.
    pub(super) fn read(asked: &[(String, String)]) -> Result<Settings, DatabaseError> {
        let mut values: Vec<(&str, String)> = KNOWN.iter().map(|(key, value, _)| (*key, (*value).to_owned())).collect();
        for (key, value) in asked {
            let Some(place) = KNOWN.iter().position(|(known, ..)| known == key) else {
                let known: Vec<&str> = KNOWN.iter().map(|(known, ..)| *known).collect();
                return Err(refused(key, value, format!("SQLite's settings here are {}", known.join(", "))));
            };
            values[place].1 = checked(key, value, KNOWN[place].2)?;
        }
        Ok(Settings { values })
    }

    /// What a session says first.
    pub(super) fn pragmas(&self) -> String {
        let settings = self.values.iter().map(|(key, value)| format!("PRAGMA {key} = {value}; "));
        format!("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; {}", settings.collect::<String>())
    }

    /// For the fingerprint.
    pub(super) fn facts(&self) -> Vec<(String, String)> {
        let fixed = [("journal_mode", "WAL"), ("foreign_keys", "ON")].map(|(key, value)| (key, value.to_owned()));
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
        Settings::read(&[(key.to_owned(), value.to_owned())])
    }

    #[test]
    fn settings_are_known_words_and_numbers_only() {
        assert!(read("synchronous", "normal").unwrap().pragmas().contains("synchronous = NORMAL;"));
        assert!(read("cache_size", "-8000").unwrap().facts().contains(&("cache_size".into(), "-8000".into())));
        assert!(read("cache_size", "1; DROP TABLE trade").is_err());
        assert!(read("synchronous", "sometimes").unwrap_err().to_string().contains("OFF, NORMAL, FULL, EXTRA"));
        assert!(read("shared_buffers", "1").is_err());
    }
}
