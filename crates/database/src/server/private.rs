//! A private server for those who do not care which engine it is of.

use super::kind::ServerKind;
use super::laid::{self, Laid};
use super::life::Server;
use super::{folder, process};
use crate::{Claim, DatabaseError};
use std::path::{Path, PathBuf};

/// What a database that is a private server can do beyond what it says.
pub trait Private {
    /// Its folder.
    fn folder(&self) -> &Path;

    /// The folder of its socket.
    fn socket_folder(&self) -> PathBuf;

    /// Its process, when it has come so far as to write its number.
    fn pid(&self) -> Option<u32>;

    /// A failure of work on this server, with what only the server's own log and folder tell: where it is full, and that a
    /// connection was lost because it is.
    fn explain(&self, error: DatabaseError) -> DatabaseError;

    /// Keeps every other Prony from filling, restoring or changing what is in this server.
    ///
    /// # Errors
    /// When another one was first.
    fn claim(&self, name: &str) -> Result<Claim, DatabaseError>;

    /// Whether it has a layout.
    fn is_laid_out(&self) -> bool;

    /// Ends it in order; it can be started again with all its data.
    ///
    /// # Errors
    /// When another Prony uses it, it does not end, or nobody shall wait for that any more.
    fn end(&self) -> Result<(), DatabaseError>;

    /// Ends it and removes all its data, that on tiers too.
    ///
    /// # Errors
    /// When another Prony uses it, it does not end, or a file stays.
    fn remove(&self) -> Result<(), DatabaseError>;

    /// Ends another server, and puts what is in it in the place of what is in this one, each part on its tier.
    ///
    /// # Errors
    /// When one does not end, or there is no room.
    fn take(&self, other: &dyn Private) -> Result<(), DatabaseError>;

    /// Ends it and puts its data aside, those on tiers too, in the place of what was put aside before; answers with where they are now.
    /// The next start makes new ones.
    ///
    /// # Errors
    /// When it does not end, or a folder cannot be moved.
    fn put_aside(&self) -> Result<PathBuf, DatabaseError>;

    /// Keeps a copy of all data under this name. The server is stopped meanwhile, and runs again afterwards.
    ///
    /// # Errors
    /// When it does not stop or start, or there is no room.
    fn keep_copy(&self, name: &str) -> Result<(), DatabaseError>;

    /// Whether a copy of this name was kept.
    fn has_copy(&self, name: &str) -> bool;

    /// Removes the copy of this name, if there is one.
    ///
    /// # Errors
    /// When a file stays.
    fn forget_copy(&self, name: &str) -> Result<(), DatabaseError>;

    /// Brings all data back to the copy of this name. The server is stopped meanwhile, and runs again afterwards.
    ///
    /// # Errors
    /// When there is no such copy, or the server does not stop or start.
    fn restore(&self, name: &str) -> Result<(), DatabaseError>;
}

impl<K: ServerKind> Private for Server<K> {
    fn folder(&self) -> &Path {
        &self.folder
    }

    fn socket_folder(&self) -> PathBuf {
        self.run()
    }

    fn pid(&self) -> Option<u32> {
        process::number(&K::pid_file(&self.folder)).filter(|pid| process::runs(*pid, &self.mark()))
    }

    fn explain(&self, error: DatabaseError) -> DatabaseError {
        match error {
            DatabaseError::Full { text, .. } => DatabaseError::Full { place: self.folder.display().to_string(), text },
            error @ DatabaseError::Refused { .. } => self.out_of_room().unwrap_or(error),
            error => error,
        }
    }

    fn claim(&self, name: &str) -> Result<Claim, DatabaseError> {
        Claim::file(&self.claimed(), &self.shown(), name)
    }

    fn is_laid_out(&self) -> bool {
        self.laid.is_some()
    }

    fn end(&self) -> Result<(), DatabaseError> {
        self.free()?;
        self.down().map(drop)
    }

    fn remove(&self) -> Result<(), DatabaseError> {
        self.free()?;
        Server::remove(self).map(drop)
    }

    fn take(&self, other: &dyn Private) -> Result<(), DatabaseError> {
        other.end()?;
        self.stopped(|| {
            let half = self.half()?;
            folder::remove(&half)?;
            folder::given(&half, &self.owner)?;
            folder::copied(&other.folder().join(laid::DATA), &half, &self.owner, &self.stop)?;
            self.spread(&half)
        })
    }

    fn put_aside(&self) -> Result<PathBuf, DatabaseError> {
        self.down()?;
        let apart = self.laid.iter().flat_map(Laid::apart).map(|(_, path)| path);
        // Parts without data are those of a server that is still to be made.
        [self.data()].into_iter().chain(apart).try_for_each(|part| {
            let aside = folder::beside(&part, folder::ASIDE);
            folder::remove(&aside)?;
            std::fs::rename(&part, &aside).map_err(|source| DatabaseError::file("put aside", &part, source))
        })?;
        Ok(folder::beside(&self.data(), folder::ASIDE))
    }

    fn keep_copy(&self, name: &str) -> Result<(), DatabaseError> {
        folder::ours(&self.copies(), &self.owner)?;
        self.forget_copy(name)?;
        self.stopped(|| {
            self.parts(name).try_for_each(|(part, copy)| self.copy(&part, &copy))?;
            self.copy(&self.data(), &self.copies().join(name))
        })
    }

    fn has_copy(&self, name: &str) -> bool {
        // It comes last and goes first, so that a copy has all parts or is none.
        self.copies().join(name).is_dir()
    }

    fn forget_copy(&self, name: &str) -> Result<(), DatabaseError> {
        folder::remove(&self.copies().join(name))?;
        self.parts(name).try_for_each(|(_, copy)| folder::remove(&copy))
    }

    fn restore(&self, name: &str) -> Result<(), DatabaseError> {
        if !self.has_copy(name) {
            let reason = format!("no copy of {name} was kept");
            return Err(DatabaseError::NoRestore { place: self.folder.display().to_string(), reason });
        }
        self.stopped(|| {
            folder::write(&self.restoring(), name)?;
            self.brought_back()
        })
    }
}

impl<K: ServerKind> Server<K> {
    /// All parts but the data, each with its place in the copy of this name.
    fn parts(&self, name: &str) -> impl Iterator<Item = (PathBuf, PathBuf)> {
        let copies = self.copies();
        let apart = self.laid.iter().flat_map(Laid::apart).filter(|(part, _)| *part != laid::TEMPORARY);
        apart.map(move |(part, path)| (path, copies.join(format!("{name}.{part}"))))
    }

    /// Says which copy is being brought back, until all parts of it are: what is cut off in between is gone on with by the next start.
    pub(super) fn restoring(&self) -> PathBuf {
        self.folder.join("restoring")
    }

    /// Brings the copy back that was begun with, if one was.
    pub(super) fn brought_back(&self) -> Result<(), DatabaseError> {
        let Some(name) = folder::read(&self.restoring()) else { return Ok(()) };
        self.copy(&self.copies().join(&name), &self.data())?;
        self.parts(&name).try_for_each(|(part, copy)| self.copy(&copy, &part))?;
        folder::gone(&self.restoring())
    }
}
