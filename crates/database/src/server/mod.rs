//! Private servers: started from installed packages in the cache folder, found again, ended, copied.
//!
//! The one idea: a server's whole being is one folder that only its user may enter; whoever looks at the folder later knows
//! whether it runs, crashed or was never there.
//!
//! What it does not do: it speaks no SQL, and it touches no server that it did not start.

mod folder;
pub mod mariadb;
mod owner;
pub mod postgres;
mod process;
mod program;
mod reach;

use crate::DatabaseError;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::Engine;

/// Ends the private servers of an engine, and removes their folders when that is asked for. Answers with a sentence for
/// each.
///
/// # Errors
/// When a server does not end, or its folder cannot be removed.
pub fn down(engine: Engine, cache: &Path, stop: &Arc<AtomicBool>, remove: bool) -> Result<Vec<String>, DatabaseError> {
    let mut told = Vec::new();
    let word = if remove { "stopped and removed" } else { "stopped" };
    match engine {
        Engine::Postgres => {
            for server in postgres::Server::known(cache, stop)? {
                if remove {
                    server.remove()?
                } else {
                    server.down()?
                }
                told.push(format!("{word} {}", server.folder().display()));
            }
        }
        Engine::Mariadb => {
            for server in mariadb::Server::known(cache, stop)? {
                if remove {
                    server.remove()?
                } else {
                    server.down()?
                }
                told.push(format!("{word} {}", server.folder().display()));
            }
        }
        Engine::Sqlite | Engine::Null => {}
    }
    Ok(told)
}
