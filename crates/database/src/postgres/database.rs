//! PostgreSQL behind the door that all databases share: a server given by URL, or a private one.

use super::standing::{files, standing};
use super::two_phase::{self, TwoPhase};
use super::{Connect, PostgresSession, costs, counters, layout, scripts};
use crate::database::Conversation;
use crate::database::origin::of_data_set;
use crate::opening::within;
use crate::server::postgres::{Server, Standby, USER};
use crate::server::{Mirror, Private, SCRIPTS};
use crate::{DataSet, Database, DatabaseError, Facts, Failure, OpenOptions, Servers, Session, StatementCost, Texts};
use observation::Counted;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use study::{At, DatabaseSpec, Engine, Pairing, Sessions};
use workload::transaction::Value;

/// Settings of a server that can change a number.
const MATTER: &str = include_str!("database_matter.sql");

/// The schema of a private server that belongs to no data set.
const PUBLIC: &str = "public";
/// Where sessions that ask catalogues look for names: no function or operator of anybody's stands in the way of the server's.
const CATALOGUE: &str = "pg_catalog";

/// A PostgreSQL.
#[derive(Debug)]
struct Postgres {
    connect: Connect,
    server: Option<Server>,
    schema: Option<String>,
    /// What it was opened with.
    options: OpenOptions,
    facts: Facts,
    /// The first process of a server that is not ours and runs on this machine, 0 for none; another one once it was started anew.
    process: AtomicU32,
    stop: Arc<AtomicBool>,
    /// The session that reads counters, kept so that a reading costs one answer and no connection.
    watcher: Mutex<Option<PostgresSession>>,
    /// Both servers, where sessions work on both in lock step.
    both: Mutex<Option<Standby>>,
    /// How often they have waited for the second one.
    trips: Arc<AtomicU64>,
}

impl Server {
    /// How sessions reach it.
    pub fn connect(&self) -> Connect {
        Connect::socket_in(&self.run(), USER, "postgres")
    }
}

/// Opens a PostgreSQL. A private one is started with the options' settings.
///
/// # Errors
/// When it cannot be reached or started, is too old, or a setting is not taken.
pub fn open(spec: &DatabaseSpec, options: &OpenOptions) -> Result<Box<dyn Database>, DatabaseError> {
    match &spec.at {
        At::Url(url) => {
            if let Some((key, value)) = options.settings.first() {
                let problem = "only a private server takes settings: --on local:postgres".to_owned();
                return Err(DatabaseError::Setting { key: key.clone(), value: value.clone(), problem });
            }
            Ok(Box::new(opened(Connect::parse(url)?.with_environment()?, None, options)?))
        }
        At::Local => {
            let name = options.dataset.as_ref().map_or("server".to_owned(), DataSet::schema);
            let server = Server::laid_out(&options.cache_dir, &name, spec.layout.as_ref(), options.stop.clone())?;
            Ok(Box::new(private(server, options)?))
        }
        _ => {
            let problem = "a PostgreSQL is local:postgres or postgres://USER@HOST:PORT/DATABASE".to_owned();
            Err(DatabaseError::Address { place: spec.shown(), problem })
        }
    }
}

/// A private server, started.
fn private(server: Server, options: &OpenOptions) -> Result<Postgres, DatabaseError> {
    server.up(&counting(options, &server))?;
    server.mirror(false).alone()?;
    let opened = opened(server.connect(), Some(server), options)?;
    opened.laid_out("make a tablespace", layout::tablespace)?;
    Ok(opened)
}

/// The private servers that were made for data sets, started.
///
/// # Errors
/// When PostgreSQL is not installed; of each, when it does not start.
pub fn known(options: &OpenOptions) -> Result<Servers, DatabaseError> {
    let mut servers = Server::known(&options.cache_dir, &options.stop)?;
    servers.retain(|server| of_data_set(server.folder()));
    Ok(servers.into_iter().map(|server| Ok(Box::new(private(server, options)?) as Box<dyn Database>)).collect())
}

fn opened(connect: Connect, server: Option<Server>, options: &OpenOptions) -> Result<Postgres, DatabaseError> {
    let place = match &server {
        Some(_) => "local:postgres".to_owned(),
        None => format!("{}/{}", connect.place(), connect.database),
    };
    let (inside, shown) = (connect.clone(), place.clone());
    let (facts, process) = within(&place, connect.patience, &options.stop, move || looked(&inside, shown))?;
    let schema = options.dataset.as_ref().map(DataSet::schema);
    let (stop, watcher) = (options.stop.clone(), Mutex::new(None));
    Ok(Postgres {
        connect,
        server,
        schema,
        options: options.clone(),
        facts,
        process: AtomicU32::new(process.unwrap_or_default()),
        stop,
        watcher,
        both: Mutex::default(),
        trips: Arc::default(),
    })
}

/// The study's settings behind those that have a server count costs, which a study may replace.
fn counting(options: &OpenOptions, server: &Server) -> Vec<(String, String)> {
    let counts = options.profiling.on && server.has_library("pg_stat_statements");
    let ours = costs::SETTINGS.iter().filter(|_| counts).map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    ours.chain(options.settings.iter().cloned()).collect()
}

impl Postgres {
    fn connected(
        &self,
        texts: &Texts,
        sessions: &Sessions,
        schema: Option<String>,
    ) -> Result<PostgresSession, DatabaseError> {
        self.connected_at(self.connect.clone(), texts, sessions, schema)
    }

    /// The same on another server with the same data.
    fn connected_at(
        &self,
        mut connect: Connect,
        texts: &Texts,
        sessions: &Sessions,
        mut schema: Option<String>,
    ) -> Result<PostgresSession, DatabaseError> {
        if self.server.is_some() {
            // Where our own statements look for functions, scripts may make none.
            let ours = schema.unwrap_or_else(|| PUBLIC.to_owned());
            schema = Some(if texts.foreign { format!("{SCRIPTS}, {ours}") } else { ours });
            connect.user = if texts.foreign { SCRIPTS.to_owned() } else { connect.user };
        }
        let mut session = connect.open_until(Arc::new(texts.clone()), sessions, schema, &self.stop)?;
        session.stop_by(self.stop.clone());
        Ok(session)
    }

    fn both(&self) -> Option<Standby> {
        self.both.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A session on both servers that came in at one of them, and reaches the other over the wire.
    fn in_step(&self, both: &Standby, texts: &Texts, sessions: &Sessions) -> Result<Box<dyn Session>, DatabaseError> {
        let tables: Vec<_> = self.options.dataset.iter().flat_map(|set| set.tables()).collect();
        let left_out = |name: &str| both.published.as_ref().is_some_and(|published| !published.mirrors(name));
        let tables: Vec<(&str, bool)> = tables.iter().map(|it| (it.name.as_ref(), left_out(&it.name))).collect();
        let alone = two_phase::alone(texts, &tables).map_err(|text| DatabaseError::Refused {
            place: self.facts.place.clone(),
            text: format!("a statement that writes names tables that are mirrored and tables that are left out (`leave_out`); leave out both or none: {text}"),
        })?;
        let own = sessions.node as usize % 2;
        let far = Connect::socket_in(&both.wire_run(own == 1), USER, "postgres");
        let near = if own == 0 { self.connect.clone() } else { Connect::socket_in(&both.sockets(), USER, "postgres") };
        let ends = if own == 0 { [near, far] } else { [far, near] };
        let [first, second] = ends.map(|connect| self.connected_at(connect, texts, sessions, self.schema.clone()));
        Ok(Box::new(TwoPhase::new([first?, second?], own, alone, self.trips.clone())))
    }

    fn plain(&self) -> Result<PostgresSession, DatabaseError> {
        self.connected(&Texts::none(Engine::Postgres), &Sessions::default(), Some(CATALOGUE.to_owned()))
    }

    /// Work on a server with a layout.
    fn laid_out(
        &self,
        action: &str,
        work: impl FnOnce(&mut PostgresSession, &Server) -> Result<(), Failure>,
    ) -> Result<(), DatabaseError> {
        let Some(server) = self.server.as_ref().filter(|server| server.layout().is_some()) else { return Ok(()) };
        work(&mut self.plain()?, server).map_err(|failure| DatabaseError::statement(&self.facts.place, action, failure))
    }

    fn script(&self, session: &mut PostgresSession, sql: &str, action: &str) -> Result<(), DatabaseError> {
        session.script(sql).map_err(|failure| DatabaseError::statement(&self.facts.place, action, failure))
    }
}

/// What does not change while a server runs, and its first process where that is here, as long as it serves the one who asks.
fn looked(connect: &Connect, place: String) -> Result<(Facts, Option<u32>), DatabaseError> {
    let mut session = connect.begin(Arc::new(Texts::none(Engine::Postgres)), &Sessions::default(), Some(CATALOGUE))?;
    let rows = session.query(MATTER);
    let rows = rows.map_err(|failure| DatabaseError::statement(&place, "read its settings", failure))?;
    let text = |value: Option<&Value>| value.and_then(Value::text).unwrap_or_default().to_owned();
    let settings = rows.iter().map(|row| (text(row.first()), text(row.get(1)))).collect();
    let process = here(session.number);
    Ok((Facts { engine: Engine::Postgres, version: session.version, place, settings }, process))
}

/// The server's first process, when the one that serves a session runs on this machine: its parent.
pub(crate) fn here(process: u32) -> Option<u32> {
    let line = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (name, rest) = line.rsplit_once(") ")?;
    let parent = rest.split(' ').nth(1)?.parse().ok()?;
    name.ends_with("(postgres").then_some(parent)
}

impl Database for Postgres {
    fn engine(&self) -> Engine {
        Engine::Postgres
    }

    fn session(&self, texts: &Texts, sessions: &Sessions) -> Result<Box<dyn Session>, DatabaseError> {
        if let Some(both) = self.both() {
            return self.in_step(&both, texts, sessions);
        }
        Ok(Box::new(self.connected(texts, sessions, self.schema.clone())?))
    }

    fn admit_scripts(&self) -> Result<(), DatabaseError> {
        if self.server.is_none() {
            return Ok(());
        }
        let schema = self.schema.as_deref().unwrap_or(PUBLIC);
        self.script(&mut self.plain()?, &scripts::role(schema), "make the role of scripts")
    }

    fn conversation(&self, texts: &Texts, sessions: &Sessions) -> Result<Option<Conversation>, DatabaseError> {
        if self.both().is_some() {
            return Ok(None);
        }
        // What travels encrypted must pass through this process's own code.
        let parts = self.connected(texts, sessions, self.schema.clone())?.into_parts().ok();
        Ok(parts.map(|(stream, wire)| -> Conversation { (stream.into(), Box::new(wire)) }))
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }

    fn private(&self) -> Option<&dyn Private> {
        self.server.as_ref().map(|server| server as &dyn Private)
    }

    fn on_both(&self, spec: Option<&DatabaseSpec>) {
        let both =
            self.server.as_ref().zip(spec).map(|(server, spec)| server.mirror(true).published(spec.published.clone()));
        *self.both.lock().unwrap_or_else(PoisonError::into_inner) = both;
    }

    fn round_trips(&self) -> u64 {
        self.trips.load(Ordering::Relaxed)
    }

    fn mirror(&self, spec: &DatabaseSpec) -> Option<Arc<dyn Mirror>> {
        let server =
            self.server.as_ref().filter(|_| spec.layout.as_ref().is_none_or(|layout| layout.moving.is_none()))?;
        let serves = counting(&self.options, server);
        let mirror = server.mirror(spec.pairing == Pairing::TwoPhase).on(spec.mirror_on.as_deref());
        Some(Arc::new(mirror.published(spec.published.clone()).serving(serves)))
    }

    fn seed(&self) -> Result<Option<Box<dyn Database>>, DatabaseError> {
        let (Some(schema), Some(_)) = (&self.schema, self.server.as_ref().and_then(Server::layout)) else {
            return Ok(None);
        };
        let OpenOptions { cache_dir, stop, .. } = &self.options;
        let server = Server::find(cache_dir, &format!("{schema}-fill"), stop.clone())?;
        Ok(Some(Box::new(private(server, &self.options)?)))
    }

    fn lay_out(&self) -> Result<(), DatabaseError> {
        self.laid_out("move objects to their tiers", |session, server| {
            layout::tablespace(session, server)?;
            match (server.layout(), &self.schema) {
                (Some((layout, _)), Some(schema)) => layout::place(session, schema, layout),
                _ => Ok(()),
            }
        })
    }

    fn server_processes(&self) -> Vec<u32> {
        let known = || Some(self.process.load(Ordering::Relaxed)).filter(|process| *process > 0);
        self.server.as_ref().map_or_else(known, Server::pid).into_iter().collect()
    }

    fn counters(&self) -> Counted {
        let Ok(mut watcher) = self.watcher.lock() else { return Vec::new() };
        if let Some(counted) = watcher.as_mut().and_then(|session| counters(session).ok()) {
            return counted;
        }
        // There was none yet, or the server was started anew.
        *watcher = self.plain().ok();
        if let Some(process) = watcher.as_ref().and_then(|session| here(session.number)) {
            self.process.store(process, Ordering::Relaxed);
        }
        watcher.as_mut().and_then(|session| counters(session).ok()).unwrap_or_default()
    }

    fn standing(&self) -> Counted {
        let asked =
            self.plain().map(|mut session| standing(&mut session, self.schema.as_deref(), self.server.is_some()));
        asked.ok().and_then(Result::ok).unwrap_or_default()
    }

    fn data_files(&self) -> Vec<PathBuf> {
        // A path says nothing where the server runs elsewhere.
        let (Some(schema), Some(_)) = (&self.schema, self.server_processes().first()) else { return Vec::new() };
        let asked = self.plain().map(|mut session| files(&mut session, schema));
        asked.ok().and_then(Result::ok).unwrap_or_default()
    }

    fn statement_costs(&self) -> Result<Vec<StatementCost>, String> {
        let mut session = self.plain().map_err(|error| error.to_string())?;
        if self.server.is_some() {
            costs::make(&mut session)?;
        }
        costs::read(&mut session)
    }

    fn checkpoint(&self) -> Result<(), DatabaseError> {
        self.script(&mut self.plain()?, "CHECKPOINT", "ask for a checkpoint")
    }

    fn catalogue(&self) -> Result<Box<dyn Session>, DatabaseError> {
        Ok(Box::new(self.plain()?))
    }

    fn outside(&self) -> Result<Box<dyn Session>, DatabaseError> {
        Ok(Box::new(self.connected(&Texts::none(Engine::Postgres), &Sessions::default(), None)?))
    }

    fn fill_session(&self, dataset: &DataSet) -> Result<Box<dyn Session>, DatabaseError> {
        let mut session = self.plain()?;
        // What is written so is on the disk after the checkpoint that ends a fill.
        let fast = "SET synchronous_commit = off; SET maintenance_work_mem = '256MB'";
        let script = format!("{fast}; SET search_path TO {}", dataset.schema());
        self.script(&mut session, &script, "prepare a fill")?;
        Ok(Box::new(session))
    }

    /// Gathers what the planner needs and marks rows as visible to all, which a run would do otherwise while it is measured.
    fn settle(&self, dataset: &DataSet) -> Result<(), DatabaseError> {
        let mut session = self.plain()?;
        for table in dataset.tables() {
            let sql = format!("VACUUM (ANALYZE) {}.{}", dataset.schema(), table.name);
            self.script(&mut session, &sql, "settle a fill")?;
        }
        DatabaseError::unless_not_allowed(self.checkpoint())
    }
}
