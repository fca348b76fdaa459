//! A private server as one node of a pair that lies in a folder of its own, whichever engine it is of.

use crate::{DatabaseError, Session};
use std::path::Path;

/// Settings of a server, by its own names.
pub type Settings = [(String, String)];

/// What a log holds behind a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behind {
    /// Where it ends, in bytes.
    pub end: u64,
    /// Commits that are there, prepared transactions among them.
    pub commits: u64,
}

/// What whoever runs a pair asks of a server of it.
pub trait Member {
    /// Its folder.
    fn folder(&self) -> &Path;

    /// Its address as a URL that commands take.
    fn url(&self) -> String;

    /// What another server says to reach this one, by way of `via` where something stands between.
    fn reached_by(&self, via: Option<&str>, name: &str) -> String;

    /// A session in one of its databases, with no patience; outside of all of them where an engine needs none.
    ///
    /// # Errors
    /// When it does not let us in within some seconds.
    fn session(&self, database: &str) -> Result<Box<dyn Session>, DatabaseError>;

    /// Whether it has data.
    fn has_data(&self) -> bool;

    /// The process that serves, or is about to.
    fn first_process(&self) -> Option<u32>;

    /// Writes these settings, and has a server that answers read those that need no start; others wait for the next one.
    ///
    /// # Errors
    /// When a setting is none that can be given, or a server that answers did not read them.
    fn told(&self, settings: &Settings, answers: bool) -> Result<(), DatabaseError>;

    /// Starts it with these settings, as one that waits for another (`stands_by`) or as what its data say. One that runs is told.
    ///
    /// # Errors
    /// When it does not start.
    fn serve(&self, settings: &Settings, stands_by: bool) -> Result<(), DatabaseError>;

    /// Sees to it that nobody else started a server on its data.
    ///
    /// # Errors
    /// When somebody did: its process.
    fn unoccupied(&self) -> Result<(), DatabaseError>;

    /// Ends it in order.
    ///
    /// # Errors
    /// When it does not end.
    fn ended(&self) -> Result<(), DatabaseError>;

    /// Ends it and puts a copy of another in the place of its data. The other keeps its log for the copy in this slot, where one is
    /// named. Where servers copy themselves when they join, its data only lose what would keep them from it.
    ///
    /// # Errors
    /// When it does not end, or the copy fails; its data are as before then.
    fn copied_from(&self, source: &str, slot: &str) -> Result<(), DatabaseError>;

    /// Ends it and takes back what it has and the other has not.
    ///
    /// # Errors
    /// When it does not end, or its data cannot go back: what is left of them may be good for nothing.
    fn back_to(&self, source: &str) -> Result<(), DatabaseError>;

    /// Where its log ends, when it ended in order: the place of the last checkpoint. Of a server that Galera joins, how far it has come in
    /// the order of all changes, as `GROUP:NUMBER`, however it ended; none while it runs.
    ///
    /// # Errors
    /// When nothing can be read there.
    fn closed_at(&self) -> Result<Option<String>, DatabaseError>;

    /// What its log holds behind a place, while it does not run; none where that cannot be read, or says nothing of what clients were told.
    ///
    /// # Errors
    /// When somebody wants an end.
    fn log_behind(&self, _from: u64) -> Result<Option<Behind>, DatabaseError> {
        Ok(None)
    }

    /// Ends it at once, and, where it `stands_by`, marks its data so that it comes back only as one that waits for another.
    ///
    /// # Errors
    /// When it is still there after a while.
    fn barred(&self, stands_by: bool) -> Result<(), DatabaseError>;

    /// Ends it and removes all its data, wherever they lie.
    ///
    /// # Errors
    /// When it does not end, or a file stays.
    fn removed(&self) -> Result<(), DatabaseError>;
}

/// Makes the folder above those of nodes, so that their user can pass it.
///
/// # Errors
/// When it cannot be made.
pub fn house(folder: &Path) -> Result<(), DatabaseError> {
    super::folder::ours(folder, &super::owner::Owner::of(&["postgres", "mysql"]))
}
