//! MariaDB behind the door that all engines share: a server by its URL, or a private one.

use super::checkpoint::checkpoint;
use super::standing::{files, standing};
use super::{MariadbSession, MariadbWire, Place, costs, counters};
use crate::conversation::Blocking;
use crate::database::{Conversation, place};
use crate::opening::within;
use crate::server::Private;
use crate::server::mariadb::Server;
use crate::{DataSet, Database, DatabaseError, Facts, OpenOptions, Session, StatementCost, Texts};
use observation::Counted;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use study::{At, DatabaseSpec, Engine, Protocol, Sessions};
use workload::transaction::Value;

/// Variables of the server that move a number.
const MATTERS: &[&str] = &[
    "binlog_format",
    "innodb_adaptive_hash_index",
    "innodb_buffer_pool_size",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_log_file_size",
    "innodb_page_size",
    "innodb_read_io_threads",
    "innodb_redo_log_capacity",
    "innodb_snapshot_isolation",
    "innodb_write_io_threads",
    "log_bin",
    "max_connections",
    "performance_schema",
    "query_cache_type",
    "sync_binlog",
    "thread_handling",
    "transaction_isolation",
    "tx_isolation",
];

/// A MariaDB or MySQL.
struct Mariadb {
    place: Place,
    dataset: Option<DataSet>,
    /// The server, when it is a private one.
    server: Option<Server>,
    shown: String,
    facts: Facts,
    stop: Arc<AtomicBool>,
    /// The session that reads counters, kept so that reading them does not open one each time.
    watcher: Mutex<Option<Box<dyn Session>>>,
    /// What prepared statements of sessions that ended have cost; none where costs are not counted.
    costs: Option<costs::Total>,
}

impl Server {
    /// How sessions reach it.
    pub fn place(&self) -> Place {
        Place::behind(&self.socket().to_string_lossy(), "root")
    }
}

/// Opens it. A private server is started; nothing is filled.
///
/// # Errors
/// When it cannot be reached, is too old, or does not take the settings.
pub fn open(spec: &DatabaseSpec, options: &OpenOptions) -> Result<Box<dyn Database>, DatabaseError> {
    let (place, server) = match &spec.at {
        At::Url(url) => (at_url(url, options)?, None),
        At::Local => {
            let name = options.dataset.as_ref().map_or("server".to_owned(), DataSet::schema);
            let server = Server::find(&options.cache_dir, &name, options.stop.clone())?;
            let counts = options.profiling.on;
            server.up(&if counts { costs::counting(&options.settings) } else { options.settings.clone() })?;
            (server.place(), Some(server))
        }
        _ => {
            let problem = "MariaDB is a server: name it by its URL, or local:mariadb for a private one".to_owned();
            return Err(DatabaseError::Address { place: spec.shown(), problem });
        }
    };
    let (inside, shown) = (place.clone(), spec.shown());
    let facts = within(&spec.shown(), place.patience(), &options.stop, move || {
        let inside = inside.enter(&Texts::none(Engine::Mariadb), &Sessions::default())?;
        facts(&shown, &mut MariadbSession::from(inside))
    })?;
    let (dataset, stop, watcher) = (options.dataset.clone(), options.stop.clone(), Mutex::new(None));
    let costs = options.profiling.on.then(costs::Total::default);
    Ok(Box::new(Mariadb { place, dataset, server, shown: spec.shown(), facts, stop, watcher, costs }))
}

fn at_url(url: &str, options: &OpenOptions) -> Result<Place, DatabaseError> {
    if let Some((key, value)) = options.settings.first() {
        let problem = "only a private server takes settings; change it on the server itself".to_owned();
        return Err(DatabaseError::Setting { key: key.clone(), value: value.clone(), problem });
    }
    Place::read(url)
}

fn facts(shown: &str, session: &mut MariadbSession) -> Result<Facts, DatabaseError> {
    let failed = |failure| DatabaseError::statement(shown, "read the server's variables", failure);
    let version = session.inside.version.clone();
    let names: Vec<String> = MATTERS.iter().map(|name| format!("'{name}'")).collect();
    let sql = format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})", names.join(", "));
    let word = |value: &Value| match value {
        Value::Text(text) => text.clone(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Null => String::new(),
    };
    let rows = session.query(&sql).map_err(failed)?;
    let mut settings: Vec<(String, String)> =
        rows.iter().filter_map(|row| Some((word(row.first()?), word(row.get(1)?)))).collect();
    settings.sort();
    Ok(Facts { engine: Engine::Mariadb, version, place: shown.to_owned(), settings })
}

impl Mariadb {
    fn entered(
        &self,
        place: &Place,
        texts: &Texts,
        sessions: &Sessions,
    ) -> Result<Blocking<MariadbWire>, DatabaseError> {
        let mut inside = place.enter_until(texts, sessions, &self.stop)?;
        inside.stop_by(self.stop.clone());
        Ok(inside)
    }

    /// Where a session with these statements leaves what they cost, which nobody else is told: when it is one of prepared
    /// statements on a server that counts.
    fn total(&self, texts: &Texts, sessions: &Sessions) -> Option<&costs::Total> {
        let counts = self.facts.settings.iter().any(|(name, value)| name == "performance_schema" && value == "ON");
        let leaves = counts && sessions.protocol == Protocol::Prepared && !texts.is_empty();
        self.costs.as_ref().filter(|_| leaves)
    }

    /// Where the data set is.
    fn inside(&self) -> Place {
        let dataset = self.dataset.as_ref();
        dataset.map_or_else(|| self.place.clone(), |dataset| self.place.with_database(&dataset.schema()))
    }
}

impl Database for Mariadb {
    fn engine(&self) -> Engine {
        Engine::Mariadb
    }

    fn statement_costs(&self) -> Result<Vec<StatementCost>, String> {
        let inside = self.entered(&self.inside(), &Texts::none(Engine::Mariadb), &Sessions::default());
        let mut session = MariadbSession::from(inside.map_err(|error| error.to_string())?);
        let found = session.one("SELECT database()").map_err(|failure| failure.text)?;
        let schema = found.as_ref().and_then(Value::text).unwrap_or_default();
        costs::read(&mut session, schema, self.costs.as_ref().unwrap_or(&costs::Total::default()))
    }

    fn session(&self, texts: &Texts, sessions: &Sessions) -> Result<Box<dyn Session>, DatabaseError> {
        let inside = self.entered(&self.inside(), texts, sessions)?;
        Ok(Box::new(MariadbSession { inside, total: self.total(texts, sessions).cloned() }))
    }

    fn conversation(&self, texts: &Texts, sessions: &Sessions) -> Result<Option<Conversation>, DatabaseError> {
        // Who serves many has nobody ask a session for its costs when it ends.
        if self.total(texts, sessions).is_some() {
            return Ok(None);
        }
        // What travels encrypted must pass through this process's own code.
        let parts = self.entered(&self.inside(), texts, sessions)?.into_parts().ok();
        Ok(parts.map(|(stream, wire)| -> Conversation { (stream.into(), Box::new(wire)) }))
    }

    fn outside(&self) -> Result<Box<dyn Session>, DatabaseError> {
        let inside = self.entered(&self.place, &Texts::none(Engine::Mariadb), &Sessions::default())?;
        Ok(Box::new(MariadbSession::from(inside)))
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }

    fn private(&self) -> Option<&dyn Private> {
        self.server.as_ref().map(|server| server as &dyn Private)
    }

    fn counters(&self) -> Counted {
        let Ok(mut watcher) = self.watcher.lock() else { return Vec::new() };
        if let Some(counted) = watcher.as_mut().and_then(|session| counters(&mut **session).ok()) {
            return counted;
        }
        // There was none yet, or the server was started anew.
        *watcher = self.outside().ok();
        watcher.as_mut().and_then(|session| counters(&mut **session).ok()).unwrap_or_default()
    }

    fn standing(&self) -> Counted {
        let schema = self.dataset.as_ref().map(DataSet::schema);
        let asked = self.outside().map(|mut session| standing(&mut *session, schema.as_deref()));
        asked.ok().and_then(Result::ok).unwrap_or_default()
    }

    fn data_files(&self) -> Vec<PathBuf> {
        // A path says nothing where the server runs elsewhere.
        let (Some(dataset), Some(_)) = (&self.dataset, &self.server) else { return Vec::new() };
        let asked = self.outside().map(|mut session| files(&mut *session, &dataset.schema()));
        asked.ok().and_then(Result::ok).unwrap_or_default()
    }

    fn checkpoint(&self) -> Result<(), DatabaseError> {
        let mut session = self.outside()?;
        checkpoint(&mut *session, &self.stop)
            .map_err(|failure| DatabaseError::statement(&self.shown, "write all changed pages", failure))
    }

    fn clear(&self, dataset: &DataSet) -> Result<(), DatabaseError> {
        place::clear(self, dataset)?;
        // A copy of what is gone would be one of another making.
        self.server.as_ref().map_or(Ok(()), |server| server.forget_copy(&dataset.name()))
    }
}
