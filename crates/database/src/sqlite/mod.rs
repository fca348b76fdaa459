//! SQLite inside this process: one file a data set, one writer at a time.
//!
//! The one idea: SQLite lets one writer in and makes the others poll. Here they stand in a fair queue instead, so that nobody
//! sleeps in a busy handler and the tail of response times is SQLite's and not that of a lottery.
//!
//! What it does not do: it writes to no file that does not carry our mark.

mod costs;
mod enter;
mod file;
mod lock;
mod queue;
mod session;
mod settings;
#[cfg(test)]
mod tests;

use crate::database::place::present;
use crate::mark::{Found, Mark, State};
use crate::{DataSet, DatabaseError, Facts, OpenOptions, Profiling, StatementCost, Texts};
pub use rusqlite;

use costs::{Samples, Total};
use file::Place;
use observation::Counted;
use queue::Queue;
use session::Connected;
use settings::Settings;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use study::{At, DatabaseSpec, Engine, Sessions};

/// A SQLite file and the queue of those who write to it.
#[derive(Debug)]
pub struct Database {
    place: Place,
    shown: String,
    settings: Settings,
    queue: Arc<Queue>,
    profiling: Profiling,
    costs: Total,
    stop: Arc<AtomicBool>,
    /// A session found the file: if it is gone now, it vanished.
    stood: AtomicBool,
}

impl Database {
    /// The database of a spec: the user's file, or one in the cache folder that is named after the data set.
    ///
    /// # Errors
    /// When a setting is unknown, or there is neither a file nor a data set.
    pub fn of(spec: &DatabaseSpec, options: &OpenOptions) -> Result<Database, DatabaseError> {
        let folder = || match &spec.layout {
            Some(layout) => crate::server::embedded(&options.cache_dir, layout),
            None => Ok(options.cache_dir.clone()),
        };
        let path = match (&spec.at, &options.dataset) {
            (At::File(path), _) => path.into(),
            (_, Some(dataset)) => folder()?.join(format!("{}.sqlite", dataset.name())),
            (_, None) => {
                let problem = "a workload of your own needs a file: --on sqlite:PATH".to_owned();
                return Err(DatabaseError::Address { place: spec.shown(), problem });
            }
        };
        // In a file of the user's with his own tables nothing is changed for good unless he asks for it.
        let ours = options.dataset.is_some() || spec.at == At::Cache;
        Ok(Database {
            shown: format!("sqlite:{}", path.display()),
            place: if spec.at == At::Cache {
                Place::in_cache(path, options.stop.clone())
            } else {
                Place::at(path, options.stop.clone())
            },
            settings: Settings::read(&options.settings, ours)?,
            queue: Arc::default(),
            profiling: options.profiling,
            costs: Total::default(),
            stop: options.stop.clone(),
            stood: AtomicBool::default(),
        })
    }

    fn connected(&self, texts: &Texts, sessions: &Sessions, fill: bool) -> Result<Box<Connected>, DatabaseError> {
        let (queue, stop) = (self.queue.clone(), self.stop.clone());
        // The first one may make a file of the user's; what stood once is not made anew, and empty, where its mount went away.
        let new = !self.stood.load(Ordering::Relaxed);
        let opened = Connected::open(self.place.path(), new, texts, sessions, queue, stop).and_then(|mut session| {
            let pragmas = if fill { settings::FILL.to_owned() } else { self.settings.pragmas() };
            crate::Session::script(&mut session, &pragmas)?;
            session.measured(|connection| Samples::of(&self.profiling, &self.costs, texts, connection));
            Ok(session)
        });
        self.stood.fetch_or(opened.is_ok(), Ordering::Relaxed);
        opened.map(Box::new).map_err(|failure| match self.place.path().exists() {
            true => DatabaseError::statement(&self.shown, "open the database", failure),
            false => self.vanished(),
        })
    }

    fn vanished(&self) -> DatabaseError {
        DatabaseError::Vanished { place: self.shown.clone(), name: self.place.path().display().to_string() }
    }

    fn filling(&self, dataset: &DataSet) -> Result<bool, DatabaseError> {
        let filling = |mark: &Mark| mark.state == State::Filling && mark.dataset == *dataset;
        Ok(matches!(self.place.find(&self.shown)?, Found::Ours(mark) if filling(&mark)))
    }
}

impl crate::Database for Database {
    fn engine(&self) -> Engine {
        Engine::Sqlite
    }

    fn session(&self, texts: &Texts, sessions: &Sessions) -> Result<Box<dyn crate::Session>, DatabaseError> {
        Ok(self.connected(texts, sessions, false)?)
    }

    fn facts(&self) -> Facts {
        let (version, place) = (rusqlite::version().to_owned(), self.shown.clone());
        Facts { engine: Engine::Sqlite, version, place, settings: self.settings.facts(self.place.journal()) }
    }

    fn statement_costs(&self) -> Result<Vec<StatementCost>, String> {
        Ok(costs::read(&self.costs))
    }

    fn folder(&self) -> Option<std::path::PathBuf> {
        Some(self.place.path().to_path_buf())
    }

    fn alone(&self) -> bool {
        self.place.chosen()
    }

    fn standing(&self) -> Counted {
        let asked = self.connected(&Texts::none(Engine::Sqlite), &Sessions::default(), false);
        asked.ok().and_then(|mut session| self.settings.standing(&mut *session).ok()).unwrap_or_default()
    }

    fn data_files(&self) -> Vec<std::path::PathBuf> {
        vec![self.place.path().to_path_buf()]
    }

    fn checkpoint(&self) -> Result<(), DatabaseError> {
        let mut session = self.connected(&Texts::none(Engine::Sqlite), &Sessions::default(), false)?;
        let done = crate::Session::query(&mut *session, "PRAGMA wal_checkpoint(TRUNCATE)");
        done.map(drop).map_err(|failure| DatabaseError::statement(&self.shown, "write a checkpoint", failure))
    }

    // One connection: a second one would only wait for the first.
    fn fill_session(&self, _dataset: &DataSet) -> Result<Box<dyn crate::Session>, DatabaseError> {
        Ok(self.connected(&Texts::none(Engine::Sqlite), &Sessions::default(), true)?)
    }

    fn fill_sessions(&self) -> usize {
        1
    }

    fn claim(&self, dataset: &DataSet) -> Result<crate::Claim, DatabaseError> {
        crate::Claim::file(&self.place.beside(".claim"), &self.shown, &self.name_of(dataset))
    }

    fn find(&self, _dataset: &DataSet) -> Result<Found, DatabaseError> {
        match self.place.find(&self.shown)? {
            Found::Nothing if self.stood.load(Ordering::Relaxed) => Err(self.vanished()),
            found => Ok(found),
        }
    }

    fn datasets(&self) -> Result<Vec<Result<DataSet, DatabaseError>>, DatabaseError> {
        let look = |place: &Place| {
            let name = place.path().display().to_string();
            present(place.find(&self.shown), &self.shown, &name)
        };
        if self.place.path().exists() {
            return Ok(look(&self.place).into_iter().collect());
        }
        let Some(Ok(folder)) = self.place.path().parent().map(std::fs::read_dir) else { return Ok(Vec::new()) };
        let paths = folder.flatten().map(|entry| entry.path());
        let ours = paths.filter(|path| path.extension().is_some_and(|ending| ending == "sqlite"));
        Ok(ours.filter_map(|path| look(&Place::at(path, self.stop.clone()))).collect())
    }

    fn make(&self, dataset: &DataSet) -> Result<(), DatabaseError> {
        self.place.make(&self.shown, dataset)
    }

    fn clear(&self, dataset: &DataSet) -> Result<(), DatabaseError> {
        self.stood.store(false, Ordering::Relaxed);
        self.place.clear(&self.shown, dataset)
    }

    fn settle(&self, dataset: &DataSet) -> Result<(), DatabaseError> {
        if self.filling(dataset)? { self.place.settle(&self.shown) } else { Ok(()) }
    }

    fn name_of(&self, _dataset: &DataSet) -> String {
        self.place.path().display().to_string()
    }

    fn has_copy(&self, dataset: &DataSet) -> bool {
        self.place.has_copy(&self.shown, dataset)
    }

    fn keep_copy(&self, _dataset: &DataSet) -> Result<(), DatabaseError> {
        self.checkpoint()?;
        self.place.keep_copy()
    }

    fn put_aside(&self) -> Result<std::path::PathBuf, DatabaseError> {
        self.checkpoint()?;
        self.place.put_aside()
    }

    fn restore(&self, dataset: &DataSet) -> Result<(), DatabaseError> {
        self.place.restore(&self.shown, dataset)
    }
}
