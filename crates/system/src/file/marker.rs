//! The marker in a scratch folder: whose it is, and by its lock whether the maker still lives.
//!
//! The one idea: a lock of the kernel ends with the process that holds it, even after `kill -9` and across containers
//! that see different process numbers. The text is for people.

use rustix::fs::FlockOperation;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// How the name of every scratch folder begins.
pub(super) const FOLDER_PREFIX: &str = "prony-scratch-";
/// The marker's name inside.
pub(super) const FILE_NAME: &str = "made-by-prony";

/// What lies in a scratch folder and is not Prony's, by name.
pub(super) fn foreign(folder: &Path) -> Vec<String> {
    let mut found: Vec<String> = names(folder).filter(|name| !is_ours(name)).collect();
    found.sort();
    found
}

/// The names of all that lies in a folder, as far as it can be read.
pub(super) fn names(folder: &Path) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned())
}

/// Whether a name in a scratch folder is one that Prony gives: the marker, a module, a file of file work.
pub(super) fn is_ours(name: &str) -> bool {
    let numbered = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let file = |rest: &str| {
        rest.split_once('-').is_some_and(|(at, end)| numbered(at) && ["source.dat", "target.dat"].contains(&end))
    };
    name == FILE_NAME
        || name.strip_prefix("module-").and_then(|rest| rest.strip_suffix(".dat")).is_some_and(numbered)
        || name.strip_prefix("copy-").is_some_and(file)
}
const FIRST_LINE: &str = "This folder was made by Prony for a run. It may be removed when that run has ended.";

/// What a marker says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marker {
    pub run_id: String,
    pub pid: u32,
    /// Clock ticks from boot to the start of the process (field 22 of `/proc/PID/stat`), which tells it from a later
    /// one with the same number.
    pub started_ticks: Option<u64>,
}

impl Marker {
    pub fn of_this_process(run_id: &str) -> Self {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        Self { run_id: run_id.replace('\n', " "), pid: std::process::id(), started_ticks: started_ticks(&stat) }
    }

    /// Writes itself and takes the lock, which the returned file holds.
    pub fn write_locked(&self, mut file: File) -> io::Result<File> {
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        file.write_all(self.text().as_bytes())?;
        Ok(file)
    }

    fn text(&self) -> String {
        let started = self.started_ticks.map_or_else(|| "unknown".to_owned(), |ticks| ticks.to_string());
        format!("{FIRST_LINE}\nrun {}\npid {}\nstarted_ticks {started}\n", self.run_id, self.pid)
    }

    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        (lines.next()? == FIRST_LINE).then_some(())?;
        let run_id = lines.next()?.strip_prefix("run ")?.to_owned();
        let pid = lines.next()?.strip_prefix("pid ")?.parse().ok()?;
        let started_ticks = lines.next().and_then(|line| line.strip_prefix("started_ticks ")?.parse().ok());
        Some(Self { run_id, pid, started_ticks })
    }

    /// Reads a marker; none when the file is not one.
    pub fn read(mut file: &File) -> Option<Self> {
        let mut text = String::new();
        // A marker is short; a large file of that name is not one.
        Read::take(&mut file, 4096).read_to_string(&mut text).ok()?;
        Self::parse(&text)
    }
}

fn started_ticks(stat: &str) -> Option<u64> {
    // The name of the process may hold spaces and parentheses; the fields are counted behind its last parenthesis.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_prony_gives_are_its_own() {
        for name in [FILE_NAME, "module-0.dat", "module-12.dat", "copy-3-source.dat", "copy-10-target.dat"] {
            assert!(is_ours(name), "{name}");
        }
        for name in
            ["thesis.txt", "module-.dat", "module-x.dat", "copy-source.dat", "copy-1-other.dat", "made-by-pronys"]
        {
            assert!(!is_ours(name), "{name}");
        }
    }

    #[test]
    fn a_marker_reads_back_and_another_text_is_no_marker() {
        let marker = Marker { run_id: "2026-11-21T2130-flash".to_owned(), pid: 4711, started_ticks: Some(99) };
        assert_eq!(Marker::parse(&marker.text()), Some(marker));
        assert_eq!(Marker::parse("run x\npid 1\n"), None);
    }

    #[test]
    fn the_start_of_a_process_with_a_strange_name_is_found() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 184467 11 22";
        assert_eq!(started_ticks(stat), Some(184_467));
    }
}
