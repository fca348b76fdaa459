//! Who serves a pair, told to other commands.
//!
//! The one idea: a file for each process in the folder of the pair, named after it; one whose process is gone means nothing.

use super::Shared;
use crate::Home;
use crate::home::SERVED;
use pair::Node;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;

/// One who serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its process.
    pub process: u32,
    /// Where it listens.
    pub address: String,
    /// Where its clients read while that node is in step; none for the primary.
    pub reads_on: Option<Node>,
}

/// Ends with whoever serves.
pub(super) struct Told(PathBuf);

impl Told {
    pub(super) fn of(shared: &Shared, address: std::io::Result<SocketAddr>) -> Told {
        let folder = shared.home.folder().join(SERVED);
        let path = folder.join(std::process::id().to_string());
        let node = shared.reads_on.map(|node| format!(" {node}")).unwrap_or_default();
        let address = address.map(|address| address.to_string()).unwrap_or_default();
        // Who cannot be told of serves all the same.
        let _ = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, format!("{address}{node}\n")));
        Told(path)
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Home {
    /// Everybody who serves the pair now, by process.
    pub fn served(&self) -> Vec<Server> {
        let entries = fs::read_dir(self.folder().join(SERVED)).into_iter().flatten().flatten();
        let server = |entry: fs::DirEntry| {
            let process: u32 = entry.file_name().to_str()?.parse().ok()?;
            let name = fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
            let text = fs::read_to_string(entry.path()).ok().filter(|_| name.trim() == "prony")?;
            let (address, node) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
            let reads_on = Node::ALL.into_iter().find(|one| one.to_string() == node);
            Some(Server { process, address: address.to_owned(), reads_on })
        };
        let mut all: Vec<Server> = entries.filter_map(server).collect();
        all.sort_by_key(|server| server.process);
        all
    }
}
