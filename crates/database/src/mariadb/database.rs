//! MariaDB behind the door that all engines share: a server by its URL, or a private one.

use super::checkpoint::checkpoint;
use super::standing::{files, standing};
use super::{MariadbSession, MariadbWire, Place, costs, counters, scripts};
use crate::conversation::Blocking;
use crate::database::origin::of_data_set;
use crate::database::{Conversation, place};
use crate::opening::within;
use crate::server::mariadb::Server;
use crate::server::{Mirror, Private, SCRIPTS};
use crate::{DataSet, Database, DatabaseError, Facts, OpenOptions, Servers, Session, StatementCost, Texts};
use observation::Counted;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use study::{At, DatabaseSpec, Engine, Pairing, Protocol, Sessions, Voter};
use workload::transaction::Value;

/// Variables of the server that move a number.
const MATTERS: &str = include_str!("database_matters.sql");

/// A MariaDB or MySQL.
struct Mariadb {
    place: Place,
    dataset: Option<DataSet>,
    /// What it was opened with.
    options: OpenOptions,
    /// The server, when it is a private one.
    server: Option<Server>,
    shown: String,
    facts: Facts,
    stop: Arc<AtomicBool>,
    /// Whether sessions may go to the second server of a pair.
    both: AtomicBool,
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

    /// A session in a database, or outside of all of them where none is named, which waits no more once it shall stop.
    pub(crate) fn within(&self, database: &str, stop: &Arc<AtomicBool>) -> Result<Box<dyn Session>, DatabaseError> {
        let place = if database.is_empty() { self.place() } else { self.place().with_database(database) };
        let mut inside = place.enter_until(&Texts::none(Engine::Mariadb), &Sessions::default(), stop)?;
        inside.stop_by(stop.clone());
        Ok(Box::new(MariadbSession::from(inside)))
    }

    /// A session outside of all databases.
    pub(crate) fn entered(&self) -> Result<Box<dyn Session>, DatabaseError> {
        Ok(Box::new(MariadbSession::open(&self.place(), &Texts::none(Engine::Mariadb), &Sessions::default())?))
    }
}

/// Opens it. A private server is started; nothing is filled.
///
/// # Errors
/// When it cannot be reached, is too old, or does not take the settings.
pub fn open(spec: &DatabaseSpec, options: &OpenOptions) -> Result<Box<dyn Database>, DatabaseError> {
    match &spec.at {
        At::Url(url) => Ok(Box::new(opened(spec.shown(), at_url(url, options)?, None, options)?)),
        At::Local => {
            let name = options.dataset.as_ref().map_or("server".to_owned(), DataSet::schema);
            let server = Server::laid_out(&options.cache_dir, &name, spec.layout.as_ref(), options.stop.clone())?;
            Ok(Box::new(private(spec.shown(), server, options)?))
        }
        _ => {
            let problem = "MariaDB is a server: name it by its URL, or local:mariadb for a private one".to_owned();
            Err(DatabaseError::Address { place: spec.shown(), problem })
        }
    }
}

/// A private server, started.
fn private(shown: String, server: Server, options: &OpenOptions) -> Result<Mariadb, DatabaseError> {
    let counts = options.profiling.on;
    server.galera(Voter::None).alone()?;
    server.up(&if counts { costs::counting(&options.settings) } else { options.settings.clone() })?;
    opened(shown, server.place(), Some(server), options)
}

/// The private servers that were made for data sets, started.
///
/// # Errors
/// When MariaDB is not installed; of each, when it does not start.
pub fn known(options: &OpenOptions) -> Result<Servers, DatabaseError> {
    let mut servers = Server::known(&options.cache_dir, &options.stop)?;
    servers.retain(|server| of_data_set(server.folder()));
    let opened = |server| Ok(Box::new(private("local:mariadb".to_owned(), server, options)?) as Box<dyn Database>);
    Ok(servers.into_iter().map(opened).collect())
}

fn opened(
    shown: String,
    place: Place,
    server: Option<Server>,
    options: &OpenOptions,
) -> Result<Mariadb, DatabaseError> {
    let (inside, name) = (place.clone(), shown.clone());
    let facts = within(&shown, place.patience(), &options.stop, move || {
        let inside = inside.enter(&Texts::none(Engine::Mariadb), &Sessions::default())?;
        facts(&name, &mut MariadbSession::from(inside))
    })?;
    let (dataset, stop, watcher) = (options.dataset.clone(), options.stop.clone(), Mutex::new(None));
    let both = AtomicBool::new(false);
    let costs = options.profiling.on.then(costs::Total::default);
    Ok(Mariadb { place, dataset, options: options.clone(), server, shown, facts, stop, both, watcher, costs })
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
    let word = |value: &Value| match value {
        Value::Text(text) => text.clone(),
        Value::Null => String::new(),
        number => number.to_string(),
    };
    let rows = session.query(MATTERS).map_err(failed)?;
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

    /// A session on the server that it is meant for; on the first where the second of a pair lets nobody in.
    fn on_node(&self, texts: &Texts, sessions: &Sessions) -> Result<Blocking<MariadbWire>, DatabaseError> {
        let first = self.inside(texts);
        let second = self.server.as_ref().filter(|_| sessions.node > 0 && self.both.load(Ordering::Acquire));
        let second = second.map(|server| server.second_socket().to_string_lossy().into_owned());
        let second = second.map(|socket| Place { socket: Some(socket), ..first.clone() });
        let entered = second.and_then(|second| self.entered(&second, texts, sessions).ok());
        entered.map_or_else(|| self.entered(&first, texts, sessions), Ok)
    }

    /// Where a session with these statements leaves what they cost, which nobody else is told: when it is one of prepared
    /// statements on a server that counts.
    fn total(&self, texts: &Texts, sessions: &Sessions) -> Option<&costs::Total> {
        let counts = self.facts.settings.iter().any(|(name, value)| name == "performance_schema" && value == "ON");
        let leaves = counts && sessions.protocol == Protocol::Prepared && !texts.is_empty();
        self.costs.as_ref().filter(|_| leaves)
    }

    /// Where sessions of these statements are: in the data set, where there is one, and foreign ones on a private server elsewhere
    /// in the database of their role.
    fn inside(&self, texts: &Texts) -> Place {
        let foreign = texts.foreign && self.server.is_some();
        let place = if foreign { Place { user: SCRIPTS.to_owned(), ..self.place.clone() } } else { self.place.clone() };
        match &self.dataset {
            Some(dataset) => place.with_database(&dataset.schema()),
            None if foreign => place.with_database(SCRIPTS),
            None => place,
        }
    }
}

impl Database for Mariadb {
    fn engine(&self) -> Engine {
        Engine::Mariadb
    }

    fn statement_costs(&self) -> Result<Vec<StatementCost>, String> {
        let none = Texts::none(Engine::Mariadb);
        let inside = self.entered(&self.inside(&none), &none, &Sessions::default());
        let mut session = MariadbSession::from(inside.map_err(|error| error.to_string())?);
        let found = session.text("SELECT database()").map_err(|failure| failure.text)?;
        // Where nothing is filled on a private server, only scripts are there to be counted.
        let scripts = self.server.as_ref().map_or("", |_| SCRIPTS);
        let schema = found.as_deref().unwrap_or(scripts);
        costs::read(&mut session, schema, self.costs.as_ref().unwrap_or(&costs::Total::default()))
    }

    fn session(&self, texts: &Texts, sessions: &Sessions) -> Result<Box<dyn Session>, DatabaseError> {
        let inside = self.on_node(texts, sessions)?;
        Ok(Box::new(MariadbSession { inside, total: self.total(texts, sessions).cloned() }))
    }

    fn conversation(&self, texts: &Texts, sessions: &Sessions) -> Result<Option<Conversation>, DatabaseError> {
        // Who serves many has nobody ask a session for its costs when it ends.
        if self.total(texts, sessions).is_some() {
            return Ok(None);
        }
        // What travels encrypted must pass through this process's own code.
        let parts = self.on_node(texts, sessions)?.into_parts().ok();
        Ok(parts.map(|(stream, wire)| -> Conversation { (stream.into(), Box::new(wire)) }))
    }

    fn admit_scripts(&self) -> Result<(), DatabaseError> {
        if self.server.is_none() {
            return Ok(());
        }
        let made = scripts::admit(&mut *self.outside()?);
        made.map_err(|failure| DatabaseError::statement(&self.shown, "make the user of scripts", failure))
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

    fn on_both(&self, spec: Option<&DatabaseSpec>) {
        self.both.store(spec.is_some(), Ordering::Release);
    }

    fn mirror(&self, spec: &DatabaseSpec) -> Option<Arc<dyn Mirror>> {
        let server =
            self.server.as_ref().filter(|server| server.layout().is_none() && spec.pairing == Pairing::Galera)?;
        Some(Arc::new(server.galera(spec.voter)))
    }

    fn seed(&self) -> Result<Option<Box<dyn Database>>, DatabaseError> {
        let (Some(dataset), Some(_)) = (&self.dataset, self.server.as_ref().and_then(Server::layout)) else {
            return Ok(None);
        };
        let OpenOptions { cache_dir, stop, .. } = &self.options;
        let server = Server::find(cache_dir, &format!("{}-fill", dataset.schema()), stop.clone())?;
        Ok(Some(Box::new(private(self.shown.clone(), server, &self.options)?)))
    }

    fn lay_out(&self) -> Result<(), DatabaseError> {
        let Some((server, layout, tables)) = self.server.as_ref().and_then(|server| {
            let (layout, tables) = server.layout()?;
            Some((server, layout, tables))
        }) else {
            return Ok(());
        };
        if !server.undoes_apart() {
            // Undo logs move when there is nothing in them.
            let slowly = self.outside()?.script("SET GLOBAL innodb_fast_shutdown = 0");
            slowly.map_err(|failure| DatabaseError::statement(&self.shown, "move the undo logs", failure))?;
            server.begun_anew()?;
        }
        let schema = self.dataset.as_ref().map(DataSet::schema);
        let file = |name: &str| Some(tables.as_ref()?.join(schema.as_ref()?).join(format!("{name}.ibd")));
        let elsewhere = layout.objects.iter().filter(|(_, tier)| *tier != layout.data);
        let missing = elsewhere.map(|(name, _)| name).find(|name| file(name).is_some_and(|file| !file.is_file()));
        let wrong = match missing {
            Some(name) => format!("the table `{name}`"),
            None if !server.undoes_apart() => "the undo logs".to_owned(),
            None => return Ok(()),
        };
        let place = format!("{}, {}", self.shown, layout.shown());
        Err(DatabaseError::NotLaidOut { place, what: wrong })
    }

    fn counters(&self) -> Counted {
        let Ok(mut watcher) = self.watcher.lock() else { return Vec::new() };
        let inside = self.inside(&Texts::none(Engine::Mariadb)).database.unwrap_or_default();
        let shared = Some(inside.as_str()).filter(|_| self.server.is_none());
        if let Some(counted) = watcher.as_mut().and_then(|session| counters(&mut **session, shared).ok()) {
            return counted;
        }
        // There was none yet, or the server was started anew.
        *watcher = self.outside().ok();
        watcher.as_mut().and_then(|session| counters(&mut **session, shared).ok()).unwrap_or_default()
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
