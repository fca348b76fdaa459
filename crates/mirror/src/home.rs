//! The folder of a pair: whose it is, what it holds, and who works on it.
//!
//! The one idea: a folder is ours when it carries our mark, and only one that was empty or not there gets it. One command at a time
//! changes a pair; the lock ends with its process.

use crate::MirrorError;
use pair::{Action, Life, Rule, State};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use store::PairRecord;
use study::Waits;

/// The file that says that the folder is a pair of ours.
const MARK: &str = "prony-pair";

/// The record of its life.
const RECORD: &str = "pair.json";

/// The only kind so far.
const KIND: &str = "postgres-pair";

/// What a new pair is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// How far commits must come.
    pub sync: Waits,
    /// Bytes that the list of what the mirror lacks may hold.
    pub list_bytes: u64,
    /// Cores of each node.
    pub cores: Option<[f64; 2]>,
    /// The folder of the sockets by which nodes reach one another; none when they do so directly.
    pub via: Option<String>,
}

/// The folder of a pair.
#[derive(Clone, Debug)]
pub struct Home {
    folder: PathBuf,
}

/// Kept as long as a command works on the pair.
#[derive(Debug)]
pub struct Held(#[allow(dead_code, reason = "the lock ends with the file")] File);

impl Home {
    /// The pair that lies in a folder.
    ///
    /// # Errors
    /// When none does.
    pub fn find(folder: &Path) -> Result<Home, MirrorError> {
        let home = Home { folder: absolute(folder)? };
        if home.folder.join(MARK).is_file() { Ok(home) } else { Err(MirrorError::NoPair(home.folder)) }
    }

    /// A folder for a pair: one that carries our mark, or one that is empty or not there, which gets it.
    ///
    /// # Errors
    /// When it holds something else, or cannot be made.
    pub fn make(folder: &Path) -> Result<Home, MirrorError> {
        let home = Home { folder: absolute(folder)? };
        if let Some(name) = home.stranger()? {
            return Err(MirrorError::NotOurs(home.folder, name));
        }
        database::server::postgres::Server::house(&home.folder)?;
        let mark = home.folder.join(MARK);
        fs::write(&mark, "A mirrored pair of Prony's; `prony pair down --remove` removes it.\n")
            .map_err(|source| MirrorError::File(mark, "write", source))?;
        Ok(home)
    }

    /// Something in the folder, when it does not carry our mark.
    fn stranger(&self) -> Result<Option<String>, MirrorError> {
        let failed = |source| MirrorError::File(self.folder.clone(), "list", source);
        let entries = match fs::read_dir(&self.folder) {
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            entries => entries.map_err(failed)?,
        };
        let names = entries.map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()));
        let names: Vec<String> = names.collect::<Result<_, _>>().map_err(failed)?;
        Ok(if names.iter().any(|name| name == MARK) { None } else { names.into_iter().next() })
    }

    /// Its place.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps other commands away until it is dropped.
    ///
    /// # Errors
    /// When one works on the pair.
    pub fn hold(&self) -> Result<Held, MirrorError> {
        let path = self.folder.join("lock");
        let failed = |source| MirrorError::File(path.clone(), "lock", source);
        let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Held(file)),
            Err(fs::TryLockError::WouldBlock) => Err(MirrorError::Busy(self.folder.clone())),
            Err(fs::TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// What is written of the pair; none when it was never begun.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn record(&self) -> Result<Option<PairRecord>, MirrorError> {
        match store::read_pair(&self.record_file()) {
            Err(source) if source.kind() == std::io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some).map_err(|source| MirrorError::File(self.record_file(), "read", source)),
        }
    }

    /// Where that is written.
    pub(crate) fn record_file(&self) -> PathBuf {
        self.folder.join(RECORD)
    }

    /// Removes the folder with all that is in it.
    ///
    /// # Errors
    /// When a file stays.
    pub fn remove(self) -> Result<(), MirrorError> {
        fs::remove_dir_all(&self.folder).map_err(|source| MirrorError::File(self.folder, "remove", source))
    }
}

/// The record of a new pair: its mirror is still to be filled.
pub(crate) fn new(asked: &Asked) -> PairRecord {
    let rule = Rule { waits: asked.sync.far(), both_write: false };
    PairRecord {
        kind: KIND.to_owned(),
        sync: asked.sync.word().to_owned(),
        list_bytes: asked.list_bytes,
        cores: asked.cores,
        via: asked.via.clone(),
        life: Life { state: State::Copying, up: [true, false], ..Life::new(rule) },
        pending: vec![Action::Track, Action::Copy],
        waits: false,
        follows: false,
        writes: [true, false],
        returns: [false; 2],
        down: false,
    }
}

fn absolute(folder: &Path) -> Result<PathBuf, MirrorError> {
    std::path::absolute(folder).map_err(|source| MirrorError::File(folder.to_owned(), "find", source))
}
