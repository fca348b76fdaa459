//! Private servers: started from installed packages in the cache folder, found again, ended, copied.
//!
//! The one idea: all of a server lies in one folder, whose data and socket only its user may enter; whoever looks at the folder
//! later knows whether it runs, crashed or was never there.
//!
//! What it does not do: it speaks no SQL, and it touches no server that it did not start.

mod folder;
mod kind;
mod laid;
mod life;
pub mod mariadb;
mod member;
mod mirror;
mod network;
mod owner;
pub mod postgres;
mod private;
mod process;
mod program;
mod reach;
mod settings;
mod start;

pub(crate) use folder::ASIDE;
pub use folder::fits;
pub(crate) use laid::embedded;
pub use laid::scratch;
pub use member::{Behind, Member, Settings, house};
pub use mirror::{Lags, Look, Mirror, Watch, WatchLags};
#[cfg(test)]
pub(crate) use network::enter;
pub use network::{Shared, own_network, parted};
pub use private::Private;
pub use start::End;

use crate::DatabaseError;
use kind::ServerKind as _;
use owner::Owner;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::Engine;

/// The role, and what belongs to it, that scripts of a study have on private servers: a schema in PostgreSQL, a database in
/// MariaDB.
pub const SCRIPTS: &str = "prony_script";

/// What is put aside in a cache folder, of servers and of embedded databases.
pub fn put_aside(cache: &Path) -> Vec<PathBuf> {
    let stop = Arc::default();
    let mut folders = vec![cache.to_path_buf()];
    for server in postgres::Server::known(cache, &stop).into_iter().flatten() {
        folders.extend(laid::homes(&server.folder));
    }
    for server in mariadb::Server::known(cache, &stop).into_iter().flatten() {
        folders.extend(laid::homes(&server.folder));
    }
    let all = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    all.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|ending| ending == ASIDE)).collect()
}

/// Whether a folder can be a tier of a private server: it is empty, or holds only what carries our mark; the server's user can
/// reach it, and nobody else may change it.
///
/// # Errors
/// [`DatabaseError::NotOurs`] with the first thing that does not carry it; who bars the way, or may change it.
pub fn fit(engine: Engine, folder: &Path) -> Result<(), DatabaseError> {
    let owner = match engine {
        Engine::Postgres => Owner::of(postgres::Postgres::USERS),
        Engine::Mariadb => Owner::of(mariadb::Mariadb::USERS),
        Engine::Sqlite | Engine::Null => Owner::myself(),
    };
    laid::fits(folder, &owner)
}

/// Ends the private servers of an engine, and removes their folders when that is asked for. Answers with a sentence for
/// each.
///
/// # Errors
/// When another Prony uses one, before any is ended; when a server does not end, or its folder cannot be removed.
pub fn down(engine: Engine, cache: &Path, stop: &Arc<AtomicBool>, remove: bool) -> Result<Vec<String>, DatabaseError> {
    match engine {
        Engine::Postgres => all_down(postgres::Server::known(cache, stop)?, remove),
        Engine::Mariadb => all_down(mariadb::Server::known(cache, stop)?, remove),
        Engine::Sqlite | Engine::Null => Ok(Vec::new()),
    }
}

fn all_down<K: kind::ServerKind>(servers: Vec<life::Server<K>>, remove: bool) -> Result<Vec<String>, DatabaseError> {
    let end = |server: life::Server<K>| {
        let end = if remove { server.remove()? } else { server.down()? };
        let word = match (end, remove) {
            (End::Told, true) => "stopped and removed".to_owned(),
            (End::Told, false) => "stopped".to_owned(),
            (End::Before, true) => "removed".to_owned(),
            (End::Before, false) => "was not running:".to_owned(),
            (End::Killed(seconds), true) => format!("killed, since it did not stop within {seconds} s, and removed"),
            (End::Killed(seconds), false) => format!("killed, since it did not stop within {seconds} s:"),
        };
        Ok(format!("{word} {}", server.folder().display()))
    };
    servers.iter().try_for_each(life::Server::free)?;
    servers.into_iter().map(end).collect()
}
