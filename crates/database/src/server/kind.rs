//! What one engine's private server has of its own.
//!
//! The one idea: servers of all engines live one life; an engine only answers a few questions about it.

use super::laid::Laid;
use super::owner::Owner;
use crate::DatabaseError;
use rustix::process::Signal;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::process::Command;
use study::{Layout, Tier};

/// An engine's own part in the life of its private servers. The value is the programs of the installed package.
pub trait ServerKind: Clone + Debug {
    /// The engine's word.
    const ENGINE: &'static str;
    /// The package of the system that holds its programs.
    const PACKAGE: &'static str;
    /// As whom servers run when root asks for them: the users that packages make.
    const USERS: &'static [&'static str];
    /// Ends a server in order.
    const END: Signal;
    /// Looks at a server that has written its number and is not ready, before it is taken for hung; none when its starts
    /// never hang.
    const PATIENCE: Option<u32>;
    /// Whether it speaks over Unix sockets alone, whatever it is started for: such a server gets a network of its own.
    const UNIX_ALONE: bool;

    /// The programs that are installed.
    ///
    /// # Errors
    /// When there are none, or none that is new enough.
    fn find() -> Result<Self, DatabaseError>;

    /// The folder of all servers whose files this version takes.
    fn family(&self) -> String;

    /// The whole configuration file of a server in that folder.
    ///
    /// # Errors
    /// When a setting is none that a study may change.
    fn configuration(&self, folder: &Path, settings: &[(String, String)]) -> Result<String, DatabaseError>;

    /// The argument that names the configuration file; no other process has it.
    fn mark(conf: &Path) -> String;

    /// Its socket.
    fn socket(folder: &Path) -> PathBuf;

    /// Where it writes its number.
    fn pid_file(folder: &Path) -> PathBuf;

    /// Files of a crashed one that would be taken for the new one's.
    fn left_behind(folder: &Path) -> Vec<PathBuf>;

    /// What makes the first files of a server in `data`: the first command that succeeds is enough.
    fn making(&self, owner: &Owner, folder: &Path, data: &Path) -> Vec<Command>;

    /// What a layout lays apart from the data, each with its tier.
    fn parts(layout: &Layout) -> Vec<(&'static str, Tier)>;

    /// The lines of the configuration file by which a server finds its parts.
    fn places(laid: &Laid) -> String;

    /// What moves the parts out of new data in `data`; all of these must succeed.
    fn spreading(&self, owner: &Owner, data: &Path, laid: &Laid) -> Vec<Command>;

    /// What starts it; the mark is added.
    fn starting(&self, owner: &Owner, folder: &Path) -> Command;

    /// Whether one that runs is ready to serve.
    fn is_ready(folder: &Path) -> bool;

    /// Whether a start that failed so is worth another try a moment later.
    fn passes(words: &str) -> bool;

    /// The setting that a log blames for a server that did not start.
    fn blamed(&self, log: &str) -> Option<DatabaseError>;
}
