//! What a private MariaDB does as one node of a pair that lies in a folder of its own.
//!
//! The one idea: with Galera's lines in its configuration it is a node, which founds a pair or joins one; without them it is a server
//! alone that nobody writes on. What it lacks Galera sends when it joins, or copies where its files have no place in the order.

use super::galera::PLACE;
use super::group::MARK;
use super::{Mariadb, Server};
use crate::server::kind::ServerKind as _;
use crate::server::member::{Member, Settings};
use crate::server::owner::Owner;
use crate::server::{folder, life};
use crate::{DatabaseError, Session};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A node of a group that was killed while another copied it may hear nothing of an end; what it has is kept when it is ended at once.
const GROUP_ENDS_S: u64 = 60;

/// How often it is waited for a node's greeting, for half a second each time.
const GREETINGS: u32 = 6;

/// The setting that makes a server a node, and that which says whom it finds.
const ON: &str = "wsrep_on";
const PEERS: &str = "wsrep_cluster_address";

impl Server {
    /// The server in this very folder, whether it runs or not. Starts nothing.
    ///
    /// # Errors
    /// When MariaDB is not installed.
    pub fn at(folder: &Path, stop: Arc<AtomicBool>) -> Result<Server, DatabaseError> {
        let (kind, owner) = (Mariadb::find()?, Owner::of(Mariadb::USERS));
        Ok(Server { folder: folder.to_owned(), kind, owner, stop, laid: None })
    }

    /// The configuration with these lines; without any, that by which a crash is recovered from.
    fn text(&self, settings: &Settings) -> Result<String, DatabaseError> {
        let lines: String = settings.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
        Ok(format!("{}{MARK}{lines}", self.kind.configuration(&self.folder, &[])?))
    }

    /// Makes its files ready for a start with these settings, and answers with the configuration.
    fn prepared(&self, settings: &Settings) -> Result<String, DatabaseError> {
        let conf = self.text(settings)?;
        let founds = settings.iter().any(|(key, value)| key == PEERS && value == "gcomm://");
        let joins = settings.iter().any(|(key, _)| key == PEERS) && !founds;
        if joins && !self.has_data() {
            folder::given(&self.data(), &self.owner)?;
        } else {
            self.make()?;
        }
        let (is_node, placed) = (founds || joins, self.data().join(PLACE).exists());
        if is_node && !placed {
            return Ok(conf);
        }
        if founds {
            // Who founds it anew was chosen by the life of the pair.
            let mut mark = self.owner.command(Path::new("sed"));
            mark.args(["-i", "s/^safe_to_bootstrap:.*/safe_to_bootstrap: 1/"]).arg(self.data().join(PLACE));
            if let Some(text) = self.carried_out(mark)? {
                return Err(self.says(format!("its place in the order could not be marked: {text}")));
            }
        }
        folder::write(&self.conf(), &if is_node { conf.clone() } else { self.text(&[])? })?;
        let place = self.starts_at()?;
        Ok(if is_node { conf + &place } else { conf })
    }
}

impl Member for Server {
    fn folder(&self) -> &Path {
        &self.folder
    }

    fn url(&self) -> String {
        self.place().shown()
    }

    fn reached_by(&self, _via: Option<&str>, _name: &str) -> String {
        String::new()
    }

    fn session(&self, database: &str) -> Result<Box<dyn Session>, DatabaseError> {
        // One that is there and says nothing is not waited for as one that recovers is.
        if self.process().is_some() && !(0..GREETINGS).any(|_| Mariadb::is_ready(&self.folder)) {
            let text = "its process is there, and it let nobody in".to_owned();
            return Err(DatabaseError::Refused { place: self.url(), text });
        }
        self.within(database, &self.stop)
    }

    fn has_data(&self) -> bool {
        self.data().is_dir()
    }

    fn first_process(&self) -> Option<u32> {
        self.process()
    }

    fn told(&self, settings: &Settings, _answers: bool) -> Result<(), DatabaseError> {
        if self.folder.exists() { folder::write(&self.conf(), &self.text(settings)?) } else { Ok(()) }
    }

    fn serve(&self, settings: &Settings, _stands_by: bool) -> Result<(), DatabaseError> {
        let is_node = settings.iter().any(|(key, _)| key == ON);
        let was_node = folder::read(&self.conf()).is_some_and(|conf| conf.contains(ON));
        if self.process().is_some() && Mariadb::is_ready(&self.folder) && is_node == was_node {
            return self.told(settings, true);
        }
        self.end_stopped()?;
        self.may_be_reached()?;
        folder::ours(&self.folder, &self.owner)?;
        let _held = folder::hold(&self.folder, &self.stop)?;
        self.end()?;
        folder::given(&life::run(&self.folder), &self.owner)?;
        let conf = self.prepared(settings)?;
        folder::write(&self.conf(), &conf)?;
        self.start()
    }

    fn unoccupied(&self) -> Result<(), DatabaseError> {
        self.free_of_strangers()
    }

    fn ended(&self) -> Result<(), DatabaseError> {
        self.end_stopped()?;
        self.down_within(GROUP_ENDS_S).map(drop)
    }

    fn copied_from(&self, _source: &str, _slot: &str) -> Result<(), DatabaseError> {
        self.down_within(GROUP_ENDS_S)?;
        self.forgets_group()
    }

    fn back_to(&self, source: &str) -> Result<(), DatabaseError> {
        self.copied_from(source, "")
    }

    fn removed(&self) -> Result<(), DatabaseError> {
        self.down()?;
        self.forgets_group()?;
        self.remove().map(drop)
    }

    fn closed_at(&self) -> Result<Option<String>, DatabaseError> {
        if self.process().is_some() || !self.has_data() {
            return Ok(None);
        }
        let _held = folder::hold(&self.folder, &self.stop)?;
        self.position()
    }

    fn barred(&self, _stands_by: bool) -> Result<(), DatabaseError> {
        if self.folder.exists() { self.kill() } else { Ok(()) }
    }
}
