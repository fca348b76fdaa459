//! Everything about the machine and the storage behind the modules that could change a number.
//!
//! The one idea: a fact is a name and a text exactly as the kernel gives it, so that two fingerprints can be compared
//! line by line. A fact that every machine should have but this one hides says `not observed`; one that does not
//! apply is left out. Names of hosts, paths and serial numbers are marked private, for a redacted copy.
//!
//! What it does not do: it knows neither Prony's own version nor the study; those come from elsewhere.

mod machine;
mod storage;

use std::fs;
use std::path::{Path, PathBuf};

use observation::{Fact, NOT_OBSERVED};

/// The fingerprint of this machine and of the storage behind modules at these paths, in order of key.
pub fn fingerprint<P: AsRef<Path>>(modules: &[P]) -> Vec<Fact> {
    let mut facts = Facts::new("/sys", "/proc");
    machine::read(&mut facts);
    storage::read(&mut facts, modules);
    facts.sorted()
}

/// Facts as they are collected, and where the kernel's files are.
struct Facts {
    sys: PathBuf,
    proc: PathBuf,
    facts: Vec<Fact>,
}

impl Facts {
    fn new(sys: impl Into<PathBuf>, proc: impl Into<PathBuf>) -> Self {
        Self { sys: sys.into(), proc: proc.into(), facts: Vec::new() }
    }

    fn sorted(mut self) -> Vec<Fact> {
        self.facts.sort();
        self.facts.dedup();
        self.facts
    }

    /// A fact that every machine has: `not observed` where it could not be read.
    fn put(&mut self, key: impl Into<String>, value: Option<String>) {
        let value = value.unwrap_or_else(|| NOT_OBSERVED.to_owned());
        self.facts.push(Fact { key: key.into(), value, private: false });
    }

    /// A fact that only some machines have: left out where it could not be read.
    fn put_if(&mut self, key: impl Into<String>, value: Option<String>) {
        self.facts.extend(value.map(|value| Fact { key: key.into(), value, private: false }));
    }

    /// A fact that tells who or where this is.
    fn put_private(&mut self, key: impl Into<String>, value: Option<String>) {
        self.facts.extend(value.map(|value| Fact { key: key.into(), value, private: true }));
    }

    fn sys(&self, path: &str) -> Option<String> {
        text(&self.sys.join(path))
    }

    fn proc(&self, path: &str) -> Option<String> {
        text(&self.proc.join(path))
    }
}

/// The text of a small file, its lines and spaces folded; none when it is missing or empty.
fn text(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let words: Vec<&str> = text.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The choice in brackets of a list such as `none [mq-deadline] kyber`; the whole text where nothing is in brackets.
fn chosen(text: &str) -> String {
    let inside = text.split_once('[').and_then(|(_, rest)| Some(rest.split_once(']')?.0));
    inside.unwrap_or(text).to_owned()
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests;
