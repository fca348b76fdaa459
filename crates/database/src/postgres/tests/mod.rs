//! On a real private server, where one is installed.

mod connecting;
mod conversing;
mod feeding;
mod loading;

use super::{Connect, PostgresSession};
use crate::server::postgres::Server;
use crate::{Session, Texts};
use std::path::PathBuf;
use std::sync::Arc;
use study::{Engine, Protocol, Sessions};
use workload::transaction::Statement;

/// A private server in a scratch folder, which goes with it.
pub(super) struct Private {
    pub(super) server: Server,
    folder: PathBuf,
}

impl Drop for Private {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A server for one test; none where none is installed.
pub(super) fn private(name: &str) -> Option<Private> {
    // Not a `tempdir`, which only its maker may pass.
    let folder = std::env::temp_dir().join(format!("prony-pg-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    match Server::find(&folder, "s", Arc::default()) {
        Ok(server) => {
            server.up(&[("fsync".into(), "off".into())]).unwrap();
            Some(Private { server, folder })
        }
        Err(why) => {
            crate::tests::skip::skipped(&why.to_string());
            None
        }
    }
}

pub(super) fn statement(sql: &str) -> Statement {
    Statement { name: format!("test: {sql}"), sql: sql.into(), rows: true }
}

pub(super) fn texts(list: &[&str]) -> Texts {
    let list: Vec<Statement> = list.iter().map(|sql| statement(sql)).collect();
    Texts::of(Engine::Postgres, &list)
}

pub(super) fn how(protocol: Protocol, pipeline: bool) -> Sessions {
    Sessions { protocol, pipeline, ..Sessions::default() }
}

/// All ways to talk.
pub(super) fn ways() -> impl Iterator<Item = Sessions> {
    let protocols = [Protocol::Simple, Protocol::Extended, Protocol::Prepared];
    protocols.into_iter().flat_map(|protocol| [false, true].map(|pipeline| how(protocol, pipeline)))
}

pub(super) fn plain(connect: &Connect) -> PostgresSession {
    connect.open(Arc::new(Texts::none(Engine::Postgres)), &Sessions::default()).unwrap()
}

pub(super) fn run(connect: &Connect, sql: &str) {
    plain(connect).script(sql).unwrap();
}
