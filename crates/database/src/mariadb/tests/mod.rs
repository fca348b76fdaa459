//! Sessions on a real private server.

mod entering;
mod failing;
mod feeding;
mod loads;
mod lying;
mod serving;
mod values;

use super::{MariadbSession, Place};
use crate::server::mariadb::Server;
use crate::{DatabaseError, OpenOptions, Profiling, Session, Texts};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{Engine, Protocol, Sessions};
use tempfile::TempDir;
use workload::transaction::{Answers, Batch, Statement, Value};

/// A server of one test; it ends with the test, and its folder goes.
struct Own {
    server: Server,
    cache: TempDir,
}

impl Drop for Own {
    fn drop(&mut self) {
        // Data sets have servers of their own.
        let stop = Arc::new(AtomicBool::new(false));
        for server in Server::known(self.cache.path(), &stop).unwrap_or_default() {
            let _ = server.kill();
        }
    }
}

impl Own {
    fn place(&self) -> Place {
        self.server.place().with_database("test")
    }

    fn session(&self, protocol: Protocol, statements: &[&str]) -> MariadbSession {
        let statement = |sql: &&str| Statement { name: (*sql).to_owned(), sql: (*sql).to_owned(), rows: true };
        let texts = Texts::of(Engine::Mariadb, &statements.iter().map(statement).collect::<Vec<_>>())
            .naming(|place| place == 1);
        MariadbSession::open(&self.place(), &texts, &Sessions { protocol, ..Sessions::default() }).unwrap()
    }

    fn options(&self) -> OpenOptions {
        OpenOptions {
            cache_dir: self.cache.path().to_owned(),
            dataset: None,
            settings: Vec::new(),
            profiling: Profiling::default(),
            stop: Arc::new(AtomicBool::new(false)),
        }
    }
}

/// Starts a server, or notes why the test is skipped.
fn own(test: &str) -> Option<Own> {
    let cache = tempfile::tempdir().unwrap();
    // The server runs as another user when the test is root.
    std::fs::set_permissions(cache.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let server = match Server::find(cache.path(), "server", Arc::new(AtomicBool::new(false))) {
        Ok(server) => server,
        Err(missing @ DatabaseError::MissingPackage { .. }) => {
            crate::tests::skip::skipped(&format!("{test}: {missing}"));
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    server.up(&[]).unwrap();
    let own = Own { server, cache };
    let texts = Texts::none(Engine::Mariadb);
    let mut outside = MariadbSession::open(&own.server.place(), &texts, &Sessions::default()).unwrap();
    outside.script("CREATE DATABASE test").unwrap();
    Some(own)
}

fn ask(session: &mut dyn Session, statement: u16, parameters: &[Value]) -> Answers {
    let (mut batch, mut answers) = (Batch::default(), Answers::default());
    batch.call(statement, parameters.iter().cloned());
    session.run(&batch, &mut answers).unwrap();
    answers
}
