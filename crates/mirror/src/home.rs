//! The folder of a pair: whose it is, what it holds, and who works on it.
//!
//! The one idea: a folder is ours when it carries our mark, and only one that was empty or not there gets it. One command at a time
//! changes a pair; the lock ends with its process.

use crate::MirrorError;
use crate::error::SIGNS;
use pair::{Action, Life, Rule, State};
use std::fs::{self, File};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use store::PairRecord;
use study::{Voter, Waits};

/// The file that says that the folder is a pair of ours.
const MARK: &str = "prony-pair";

/// The folder of files that say who serves it.
pub(crate) const SERVED: &str = "served";

/// The record of its life.
const RECORD: &str = "pair.json";

/// What keeps both nodes of a pair equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// The log of the primary.
    #[default]
    Log,
    /// Its rows, in lock step.
    Rows,
    /// Sets of changes, for which Galera gives both one order.
    Sets,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 3] = [Kind::Log, Kind::Rows, Kind::Sets];

    /// The word for such a pair.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Log => "postgres-pair",
            Kind::Rows => crate::rows::KIND,
            Kind::Sets => "galera-pair",
        }
    }
}

/// How long one waits for who works on the pair, in looks.
const HELD_LOOKS: u32 = 40;

/// Between two looks.
const LOOK: std::time::Duration = std::time::Duration::from_millis(50);

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
    /// What keeps both equal.
    pub kind: Kind,
    /// Who decides when nodes that Galera joins lose each other.
    pub voter: Voter,
    /// Tables that are left out, by pattern, each with the reason.
    pub left_out: Vec<(String, String)>,
    /// Where each node lies, as a folder or `emulated:MODEL:DIR`; none for the folder of the pair.
    pub devices: Option<[String; 2]>,
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
        let path = home.folder.to_string_lossy();
        if let Some(sign) = path.chars().find(|sign| sign.is_control() || SIGNS.contains(sign)) {
            let sign = if sign.is_control() { sign.escape_debug().to_string() } else { sign.to_string() };
            return Err(MirrorError::Sign(home.folder.clone(), sign));
        }
        if let Some(name) = home.stranger()? {
            return Err(MirrorError::NotOurs(home.folder, name));
        }
        database::server::house(&home.folder)?;
        let mark = home.folder.join(MARK);
        fs::write(&mark, "A mirrored pair of Prony's; `prony pair down --remove` removes it.\n").map_err(|source| {
            // What a full disk cut off is no mark.
            let _ = fs::remove_file(&mark);
            MirrorError::File(mark.clone(), "write", source)
        })?;
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
        // Whoever may open it could keep everybody else away.
        let file = File::options().create(true).truncate(false).write(true).mode(0o600).open(&path).map_err(failed)?;
        file.set_permissions(fs::Permissions::from_mode(0o600)).map_err(failed)?;
        // One who only looks is soon done.
        for _ in 0..HELD_LOOKS {
            match file.try_lock() {
                Ok(()) => return Ok(Held(file)),
                Err(fs::TryLockError::WouldBlock) => std::thread::sleep(LOOK),
                Err(fs::TryLockError::Error(source)) => return Err(failed(source)),
            }
        }
        Err(MirrorError::Busy(self.folder.clone()))
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

    /// Removes what is the pair's; the folder too, unless something else lies in it.
    ///
    /// # Errors
    /// When a file stays.
    pub fn remove(self) -> Result<(), MirrorError> {
        let gone = |name: &str| {
            let path = self.folder.join(name);
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            match removed {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    Err(MirrorError::File(path, "remove", source))
                }
                _ => Ok(()),
            }
        };
        // The mark goes last, so that one that was cut off is still known.
        ["a", "b", "wires", "voter", "devices", SERVED, RECORD, "pair.json.new", "lock", MARK]
            .into_iter()
            .try_for_each(gone)?;
        match fs::remove_dir(&self.folder) {
            Err(source) if source.kind() != std::io::ErrorKind::DirectoryNotEmpty => {
                Err(MirrorError::File(self.folder, "remove", source))
            }
            _ => Ok(()),
        }
    }
}

/// The record of a new pair: its mirror is still to be filled.
pub(crate) fn new(asked: &Asked) -> PairRecord {
    let waits = match asked.kind {
        Kind::Log => asked.sync.far(),
        Kind::Rows => true,
        // A node without a majority throws away what it got while it lost the other, which that one may have acknowledged.
        Kind::Sets => asked.voter == Voter::Garbd,
    };
    let rule = Rule { waits, both_write: asked.kind == Kind::Sets, by_session: asked.kind == Kind::Log };
    PairRecord {
        kind: asked.kind.word().to_owned(),
        left_out: asked.left_out.clone(),
        added: Vec::new(),
        lacks: Vec::new(),
        alone: Vec::new(),
        sent: (0, 0),
        voter: asked.voter.word().to_owned(),
        ports: Vec::new(),
        lacks_from: (0, 0),
        sync: asked.sync.word().to_owned(),
        list_bytes: asked.list_bytes,
        cores: asked.cores,
        via: asked.via.clone(),
        devices: asked.devices.clone(),
        life: Life { state: State::Copying, up: [true, false], ..Life::new(rule) },
        pending: vec![Action::Track, Action::Copy],
        waits: false,
        follows: false,
        // What nobody wrote on may be made anew.
        writes: [false; 2],
        returns: [false; 2],
        down: false,
        made: false,
        looked: None,
        checked: None,
    }
}

fn absolute(folder: &Path) -> Result<PathBuf, MirrorError> {
    std::path::absolute(folder).map_err(|source| MirrorError::File(folder.to_owned(), "find", source))
}
