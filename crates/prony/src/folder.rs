//! RUN on the command line, and the runs in a folder.
//!
//! The one idea: a run is named by what a person remembers of it: the path of its file, its id, the beginning of its id, or
//! `latest`. Choosing one of several is a pure function of what lies in the folder.

use crate::failure::Failure;
use observation::RunFacts;
use std::fs;
use std::path::{Path, PathBuf};
use store::{RunFile, StoreError, TrialState};

/// The ending of run files.
pub const ENDING: &str = "prony";

/// A run file in a folder, as far as it could be read.
#[derive(Debug)]
pub struct Entry {
    /// The file.
    pub path: PathBuf,
    /// The run, or why it could not be read.
    pub content: Result<Content, StoreError>,
}

/// What `list` says of a run.
#[derive(Debug)]
pub struct Content {
    /// Its facts.
    pub facts: RunFacts,
    /// Trials that ended as planned.
    pub trials: u32,
}

impl Entry {
    /// The name of the file without its ending: what `latest` and prefixes are matched against, beside the id.
    fn stem(&self) -> String {
        self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn id(&self) -> Option<&str> {
        self.content.as_ref().ok().map(|content| content.facts.id.as_str())
    }

    fn started(&self) -> Option<i64> {
        self.content.as_ref().ok().map(|content| content.facts.started_unix_ns)
    }
}

/// All run files in a folder, oldest first; those that cannot be read come last, by name.
///
/// # Errors
/// When the folder cannot be listed.
pub fn scan(dir: &Path) -> Result<Vec<Entry>, Failure> {
    let listing = |error| Failure::caused(format!("listing the runs in `{}`", dir.display()), &error);
    let mut entries = Vec::new();
    for entry in fs::read_dir(dir).map_err(listing)? {
        let path = entry.map_err(listing)?.path();
        if path.extension().is_some_and(|ending| ending == ENDING) && path.is_file() {
            let content = look(&path);
            entries.push(Entry { path, content });
        }
    }
    entries.sort_by(|a, b| {
        let key = |entry: &Entry| (entry.started().unwrap_or(i64::MAX), entry.path.clone());
        key(a).cmp(&key(b))
    });
    Ok(entries)
}

/// The path of the run that `word` names.
///
/// # Errors
/// When nothing, or more than one run, has this name.
pub fn find(word: &str) -> Result<PathBuf, Failure> {
    if Path::new(word).is_file() {
        return Ok(PathBuf::from(word));
    }
    let dir = Path::new(".");
    let entries = scan(dir)?;
    match choose(word, &entries).as_slice() {
        [entry] => Ok(entry.path.strip_prefix(dir).unwrap_or(&entry.path).to_path_buf()),
        [] if word == "latest" => Err(Failure::new(
            "looking for the latest run: a run file is needed in this folder, got none that can be read",
        )
        .hint("make one with `prony quick`, or give the path of a run file")),
        [] => Err(Failure::new(format!(
            "looking for the run `{word}`: no file has this name, and no run in this folder an id that begins so"
        ))
        .hint("see what is here with `prony list`, or give the path of a run file")),
        several => {
            let names: Vec<String> = several.iter().map(|entry| entry.stem()).collect();
            let (count, names) = (names.len(), names.join(", "));
            Err(Failure::new(format!("looking for the run `{word}`: {count} runs begin so: {names}"))
                .hint("give more of the id"))
        }
    }
}

/// Opens the run that `word` names, for reading.
///
/// # Errors
/// When it is not found, or cannot be read.
pub fn open(word: &str) -> Result<RunFile, Failure> {
    let path = find(word)?;
    RunFile::open(&path).map_err(|error| Failure::caused(format!("opening the run `{}`", path.display()), &error))
}

/// The run of that name, or all whose names begin so.
fn choose<'a>(word: &str, entries: &'a [Entry]) -> Vec<&'a Entry> {
    if word == "latest" {
        return entries.iter().rfind(|entry| entry.started().is_some()).into_iter().collect();
    }
    let exact = |entry: &&Entry| entry.stem() == word || entry.id() == Some(word);
    if let Some(entry) = entries.iter().find(exact) {
        return vec![entry];
    }
    let begins = |entry: &&Entry| entry.stem().starts_with(word) || entry.id().is_some_and(|id| id.starts_with(word));
    entries.iter().filter(begins).collect()
}

fn look(path: &Path) -> Result<Content, StoreError> {
    let file = RunFile::glance(path)?;
    let facts = file.facts()?;
    let trials = file.trials()?.iter().filter(|trial| trial.state == TrialState::Finished).count() as u32;
    Ok(Content { facts, trials })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(stem: &str, id: &str, started: i64) -> Entry {
        let facts = RunFacts { id: id.to_owned(), started_unix_ns: started, ..RunFacts::default() };
        Entry { path: PathBuf::from(format!("./{stem}.prony")), content: Ok(Content { facts, trials: 1 }) }
    }

    fn broken(stem: &str) -> Entry {
        let path = PathBuf::from(format!("./{stem}.prony"));
        Entry { content: Err(StoreError::NotARunFile(path.clone())), path }
    }

    fn chosen(word: &str, entries: &[Entry]) -> String {
        match choose(word, entries).as_slice() {
            [] => "none".to_owned(),
            found => found.iter().map(|entry| entry.stem()).collect::<Vec<_>>().join("|"),
        }
    }

    #[test]
    fn a_run_is_found_by_id_by_its_beginning_and_by_the_name_of_its_file() {
        let entries = [entry("before", "2026-11-20T1000-flash", 1), entry("x", "2026-11-21T1000-flash", 2)];
        assert_eq!(chosen("2026-11-20T1000-flash", &entries), "before");
        assert_eq!(chosen("2026-11-21", &entries), "x");
        assert_eq!(chosen("bef", &entries), "before");
    }

    #[test]
    fn a_whole_id_wins_over_one_that_only_begins_so() {
        let entries = [entry("2026-flash", "2026-flash", 1), entry("2026-flash-2", "2026-flash-2", 2)];
        assert_eq!(chosen("2026-flash", &entries), "2026-flash");
        assert_eq!(chosen("2026-fl", &entries), "2026-flash|2026-flash-2");
        assert_eq!(chosen("2027", &entries), "none");
    }

    #[test]
    fn the_latest_is_the_last_that_began_and_can_be_read() {
        let entries = [entry("b", "b", 1), entry("a", "a", 2), broken("z")];
        assert_eq!(chosen("latest", &entries), "a");
        assert_eq!(chosen("latest", &[]), "none");
    }
}
