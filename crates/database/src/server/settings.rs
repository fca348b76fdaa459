//! The settings of a study beside those that every private server of an engine has.

use crate::DatabaseError;

/// What an engine takes.
pub(super) struct Rules {
    /// Settings that keep the server private and findable, with white space between; a study may not change them.
    pub(super) ours: &'static str,
    /// What all servers have unless a study says otherwise.
    pub(super) settings: &'static [(&'static str, &'static str)],
    /// The letter that parts words otherwise, and the one that does in the file.
    pub(super) spelt: (char, char),
    /// Which letters a name may have, and the same in words.
    pub(super) letters: fn(u8) -> bool,
    pub(super) name: &'static str,
}

impl Rules {
    /// All settings of a server, by name.
    ///
    /// # Errors
    /// When a setting is none that a study may change.
    pub(super) fn checked<'a>(&self, asked: &'a [(String, String)]) -> Result<Vec<(String, &'a str)>, DatabaseError> {
        let mut all: Vec<(String, &str)> =
            self.settings.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect();
        for (key, value) in asked {
            let name = key.trim().to_lowercase().replace(self.spelt.0, &self.spelt.1.to_string());
            let problem = if name.is_empty() || !name.bytes().all(self.letters) {
                Some(self.name)
            } else if self.keeps_private(&name) {
                Some("it keeps the private server private, so that a study cannot change it")
            } else {
                value.chars().any(char::is_control).then_some("a value is one line")
            };
            if let Some(problem) = problem {
                let (key, value) = (key.clone(), value.clone());
                return Err(DatabaseError::Setting { key, value, problem: problem.to_owned() });
            }
            all.retain(|(other, _)| *other != name);
            all.push((name, value));
        }
        all.sort();
        Ok(all)
    }

    /// Whether this is one of ours, or a beginning of one: MariaDB takes any beginning that only one name has, and all names
    /// with some words before them.
    fn keeps_private(&self, name: &str) -> bool {
        const BEFORE: [&str; 5] = ["loose-", "skip-", "enable-", "disable-", "maximum-"];
        let mut bare = name;
        while let Some(rest) = BEFORE.iter().find_map(|word| bare.strip_prefix(word)) {
            bare = rest;
        }
        let ours =
            |known: &str| known.starts_with(bare) || known.strip_prefix("skip-").is_some_and(|k| k.starts_with(bare));
        self.ours.split_whitespace().any(ours)
    }
}
