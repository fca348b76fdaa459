//! A second private server that holds what a first one holds, whichever engine both are of.
//!
//! The one idea: whoever runs a trial brings it up, disturbs it, looks at it and ends it in the same way; how both are kept equal is
//! an engine's own.
//!
//! What it does not do: it decides nothing about a pair's life, and carries nothing between both: a wire does.

use super::network::Shared;
use crate::{DatabaseError, Session};
use study::Waits;
use units::Nanos;

/// What the first server knows at one moment. Positions are bytes of log since the server was made, or transactions of Galera.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Look {
    /// Its own position.
    pub written: u64,
    /// What the mirror has confirmed of it, in the way in which commits wait; none while it is not connected.
    pub confirmed: Option<u64>,
    /// Whether the mirror follows and no more catches up.
    pub streaming: bool,
    /// Bytes that are kept for the mirror.
    pub kept: u64,
    /// Commits that wait for the mirror.
    pub waiting: u64,
    /// Whether the first server goes on alone by itself.
    pub alone: bool,
}

/// Who looks at a mirror from the first server.
pub trait Watch: Send {
    /// How the mirror stands.
    ///
    /// # Errors
    /// When the first server does not answer.
    fn look(&mut self) -> Result<Look, DatabaseError>;

    /// The mirror of a first server that is gone takes writes from now on, and is reached where that was, by whoever looks here too.
    ///
    /// # Errors
    /// When it does not, or the address cannot be given to it.
    fn take_over(&mut self) -> Result<(), DatabaseError>;

    /// Both servers change their roles; whoever looks here looks at the new first one.
    ///
    /// # Errors
    /// When one of both does not end or start, or servers of this pair have no roles.
    fn swap(&mut self, settings: &[(String, String)]) -> Result<(), DatabaseError>;

    /// Commits wait for the mirror from now on, or for nobody.
    ///
    /// # Errors
    /// When the first server refuses.
    fn wait(&mut self, waits: bool) -> Result<(), DatabaseError>;
}

/// What the primary tells at one moment. Seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lags {
    /// From when log was handed to the sender's socket until the mirror's word came that it was written, flushed and applied; none
    /// while nothing is new.
    pub heard: [Option<f64>; 3],
    /// Commits that wait for the mirror.
    pub waiting: f64,
    /// Transactions that have changed or locked something since the server was made; those that were undone are among them.
    pub changing: f64,
}

/// Who looks at what commits of a primary wait for.
pub trait WatchLags: Send {
    /// How they stand now.
    ///
    /// # Errors
    /// When the primary does not answer.
    fn look(&mut self) -> Result<Lags, DatabaseError>;
}

/// A server and its mirror.
pub trait Mirror: Send + Sync {
    /// Of each wire between both, where it is entered and where it leads, as addresses that a relay takes; every second one
    /// leads from the mirror to the first server. Folders are made.
    ///
    /// # Errors
    /// When a folder cannot be made, or there is no free port.
    fn wires(&self) -> Result<Vec<[String; 2]>, DatabaseError>;

    /// Where a wire of its own for what the mirror lacks behind an outage is entered and leads; none where it knows no such wire.
    fn resync_wire(&self) -> Option<[String; 2]> {
        None
    }

    /// Starts the mirror again as [`Mirror::start`] does, or tells one that runs, to follow by that wire.
    ///
    /// # Errors
    /// As [`Mirror::start`].
    fn start_apart(&self, settings: &[(String, String)]) -> Result<(), DatabaseError> {
        self.start(settings)
    }

    /// Lets only the server's user enter a wire that is there now.
    ///
    /// # Errors
    /// When it cannot be given away.
    fn wired(&self, _near: &str) -> Result<(), DatabaseError> {
        Ok(())
    }

    /// Starts the mirror with these settings, with all that the first server has; commits wait as they are to. Servers that give a silent
    /// one up by themselves do so after `patience`, where that is said.
    ///
    /// # Errors
    /// When there is no copy, or the mirror does not start or does not catch up.
    fn begin(&self, waits: Waits, settings: &[(String, String)], patience: Option<Nanos>) -> Result<(), DatabaseError>;

    /// Behind a load: waits until the first server shows what was committed on the mirror, where that takes writes.
    ///
    /// # Errors
    /// When it does not come so far.
    fn gathered(&self) -> Result<(), DatabaseError> {
        Ok(())
    }

    /// Behind a load: waits until both have all of it. Answers with what is to be told of it.
    ///
    /// # Errors
    /// When they do not come so far.
    fn level(&self) -> Result<String, DatabaseError>;

    /// The statement that stands for the content of a table.
    fn content(&self, table: &str) -> String;

    /// The mirror's process, when it runs.
    fn pid(&self) -> Option<u32>;

    /// Whether both have a network of their own each, once both run.
    ///
    /// # Errors
    /// Why they have not.
    fn parted(&self) -> Result<(), Shared>;

    /// A session on the mirror, which may read.
    ///
    /// # Errors
    /// When it does not let us in.
    fn reader(&self) -> Result<Box<dyn Session>, DatabaseError>;

    /// Starts the mirror again with these settings, as it was left.
    ///
    /// # Errors
    /// When it does not start.
    fn start(&self, settings: &[(String, String)]) -> Result<(), DatabaseError>;

    /// Ends the mirror in order, without a word to the first server.
    ///
    /// # Errors
    /// When it does not end.
    fn stop(&self) -> Result<(), DatabaseError>;

    /// Ends all processes of the mirror at once.
    ///
    /// # Errors
    /// When one is still there after a while.
    fn kill(&self) -> Result<(), DatabaseError>;

    /// Ends all processes of the first server at once.
    ///
    /// # Errors
    /// When one is still there after a while.
    fn kill_primary(&self) -> Result<(), DatabaseError>;

    /// Somebody who looks at the mirror from the first server.
    ///
    /// # Errors
    /// When that takes no session.
    fn watch(&self, waits: Waits) -> Result<Box<dyn Watch>, DatabaseError>;

    /// Somebody who looks at what commits wait for; none where the server does not tell.
    ///
    /// # Errors
    /// When the first server takes no session.
    fn lag_watch(&self) -> Result<Option<Box<dyn WatchLags>>, DatabaseError> {
        Ok(None)
    }

    /// Seconds that one flush of the mirror's log took on the mean since it was started; none where it does not say.
    fn flush_s(&self) -> Option<f64> {
        None
    }

    /// How often a client was told that its commit stands although the mirror did not confirm it.
    fn unconfirmed(&self) -> u64 {
        0
    }

    /// The first server waits for nobody from now on.
    ///
    /// # Errors
    /// When it refuses.
    fn released(&self) -> Result<(), DatabaseError>;

    /// The first server goes on alone, and the mirror ends.
    ///
    /// # Errors
    /// When the first server does not answer, or the mirror does not end.
    fn leave(&self) -> Result<(), DatabaseError>;

    /// The first server begins a trial alone.
    ///
    /// # Errors
    /// As [`Mirror::leave`].
    fn stand_alone(&self) -> Result<(), DatabaseError> {
        if self.pid().is_some() { self.leave() } else { Ok(()) }
    }

    /// Behind a take-over: brings the first server back as one of the pair. False where that cannot be: then the mirror is gone with all
    /// that only it holds, and the first can be started with what it had when it was lost.
    ///
    /// # Errors
    /// When it does not come back, or something of the mirror stays.
    fn come_back(&self) -> Result<bool, DatabaseError>;

    /// Ends the mirror for good: its files are gone, and the first server keeps nothing for it.
    ///
    /// # Errors
    /// When something of it stays.
    fn forget(&self) -> Result<(), DatabaseError>;
}
