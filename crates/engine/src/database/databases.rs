//! A database as a system: opened for the data set and the settings of a trial, filled, and checked afterwards.
//!
//! The one idea: what a trial needs (data set, server settings) is compared with what is open; only a difference costs a
//! restart or a fill. Data that earlier trials changed is reused unless the state policy brings it back.

use crate::database::beside::Beside;
use crate::database::checks;
use crate::database::held::Held;
use crate::database::mirrored::Mirrored;
use crate::database::outage::Served;
use crate::database::plans;
use crate::database::waits::Waits;
use crate::observer::{Found, Live, Observer, Phase, watch};
use crate::told::Happens;
use crate::{OpenError, TrialError};
use database::dataset::{self, Asking, Filled, Progress, State};
use database::server::Mirror;
use database::{Claim, DataSet, Database, DatabaseError, OpenOptions, Profiling, StatementCost, Texts};
use observation::{Event, Series};
use recorder::{Clock, WallClock};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use study::{At, Checkpoints, DatabaseSpec, Pairing, Pool, Stream, Trial};
use units::Nanos;
use workload::brokerage::data_set::seeded;
use workload::brokerage::{Preset, Scale};
use workload::kind::{self, Transactions};

/// Sessions that every private server takes.
const SERVER_SESSIONS: u32 = 1_000;

/// Sessions that a server needs beside those of a trial.
const OTHER_SESSIONS: u32 = 50;

/// What is told of a server that went away.
pub(crate) const LOST: &str = "the server was lost";

/// Between two tries to reach a server that was lost.
const BETWEEN_TRIES: Duration = Duration::from_millis(250);

/// How often a running fill is reported.
const GLANCE: Duration = Duration::from_millis(200);

/// A database with what it is opened for.
pub(crate) struct Databases {
    system: String,
    pub(crate) spec: DatabaseSpec,
    /// Whether trials bring tables of Prony's own.
    ours: bool,
    cache_dir: PathBuf,
    pub(crate) stop: Arc<AtomicBool>,
    open: Option<Opening>,
    /// The last that was opened, where it ends with the run, whatever became of it.
    ends: Option<Arc<dyn Database>>,
    /// What statements had cost before the trial; in words, why that is not known.
    pub(crate) costs: Result<Vec<StatementCost>, String>,
    /// The processes of the server that counted them.
    pub(crate) counted_by: Vec<u32>,
    /// The mirror that follows in the trial.
    pub(crate) mirrored: Option<Mirrored>,
    /// What its servers may use of the processors, in the trial.
    pub(crate) held: Option<Held>,
    /// The mirror that a running server has, in the trial.
    pub(crate) beside: Option<Beside>,
    /// Who looks at what sessions wait for, in the trial.
    pub(crate) waits_seen: Option<Waits>,
    /// The statements of the trial, where their costs are counted.
    pub(crate) texts: Mutex<Vec<Texts>>,
    /// Whether anybody takes sessions.
    pub(crate) served: Served,
    /// How faults are made on the devices of the mirror and of the server, where these are emulated.
    pub(crate) devices: [Option<Happens>; 2],
}

impl Drop for Databases {
    fn drop(&mut self) {
        let last = self.ends.clone().filter(|_| self.spec.layout.as_ref().is_some_and(|layout| layout.passing));
        if let Some(mirrored) = self.mirrored.take() {
            mirrored.forget();
        }
        // Its slot would keep the log of the first server for ever. What stays is removed by `prony db down --remove`.
        let _ = self.mirror().filter(|_| self.spec.mirror.is_some()).map(|mirror| mirror.forget());
        self.close();
        if let Some(server) = last.as_deref().and_then(Database::private) {
            // What stays is removed by `prony db down --remove`.
            let _ = server.remove();
        }
    }
}

/// What is open now.
struct Opening {
    dataset: Option<DataSet>,
    settings: Vec<(String, String)>,
    profile: bool,
    /// Shared with workers, who open a session again when theirs was lost.
    database: Arc<dyn Database>,
    /// What the trial found in the data.
    found: kind::Found,
    /// Keeps others from the data set; none before a trial needs that.
    claim: Option<Claim>,
}

impl Databases {
    /// A database that will be opened by the first trial, or by [`Databases::first_facts`].
    /// `ours` says that trials bring tables of Prony's own.
    pub(crate) fn new(
        system: &str,
        spec: &DatabaseSpec,
        ours: bool,
        cache_dir: PathBuf,
        stop: Arc<AtomicBool>,
    ) -> Databases {
        let (system, spec) = (system.to_owned(), spec.clone());
        let (costs, served) = (Ok(Vec::new()), Arc::new(AtomicBool::new(true)));
        Databases {
            system,
            spec,
            ours,
            cache_dir,
            stop,
            open: None,
            ends: None,
            costs,
            counted_by: Vec::new(),
            mirrored: None,
            held: None,
            beside: None,
            waits_seen: None,
            texts: Mutex::default(),
            served,
            devices: [None, None],
        }
    }

    /// Opens it without a data set, and says what could change a number.
    pub(crate) fn first_facts(&mut self) -> Result<database::Facts, OpenError> {
        // An embedded one in the cache has a file for each data set; which one does not matter to its version. A file of the
        // user's with tables of ours has the settings of ours, also before it is made.
        let any = seeded(Scale { preset: Preset::Desk, customers: 10, days: 1 }, 1);
        let holds_ours = match self.spec.at {
            At::Cache => true,
            At::File(_) => self.ours,
            _ => false,
        };
        let dataset = holds_ours.then_some(any);
        let facts = match self.spec.layout {
            // What they say is the same for all layouts, and not worth a start on slow folders.
            Some(_) => {
                let mut plain =
                    Databases::new(&self.system, &self.spec, self.ours, self.cache_dir.clone(), self.stop.clone());
                plain.spec.layout = None;
                plain.opening(dataset, &[], true).map(|opening| opening.database.facts())
            }
            None => self.opening(dataset, &[], true).map(|opening| opening.database.facts()),
        };
        match facts {
            Ok(facts) => Ok(facts),
            Err(source) => Err(OpenError::Database { system: self.system.clone(), source: Box::new(source) }),
        }
    }

    /// Where what Prony starts or makes itself will lie, before it is there: its disk is known all the same.
    pub(crate) fn will_be_at(&self) -> Option<PathBuf> {
        match &self.spec.at {
            At::Cache | At::Local => Some(self.cache_dir.clone()),
            At::File(path) => std::path::absolute(path).ok()?.parent().map(PathBuf::from),
            At::Url(_) | At::Nowhere { .. } => None,
        }
    }

    /// Lets go of what is open. A server with a layout ends with it: its folders may lie on devices that end with the run.
    fn close(&mut self) {
        if let Some(mirrored) = self.mirrored.take() {
            mirrored.forget();
        }
        self.open = None;
        if let Some(server) = self.ends.take().as_deref().and_then(Database::private) {
            // One that does not end is ended, or waited for, by its next start; one that another Prony uses goes on.
            let _ = server.end();
        }
    }

    /// What is open: a database for the trial that was prepared last.
    pub(crate) fn current(&self) -> Result<(&dyn Database, &kind::Found), TrialError> {
        let opening = self.open.as_ref();
        let what = || "be used before it was prepared".to_owned();
        opening
            .map(|opening| (opening.database.as_ref(), &opening.found))
            .ok_or_else(|| TrialError::Unsupported { system: self.system.clone(), what: what() })
    }

    /// The same to keep, for one who may have to open a session again; none of an engine without connections to lose.
    pub(crate) fn lasting(&self) -> Option<Arc<dyn Database>> {
        let database = self.shared()?;
        matches!(database.engine(), study::Engine::Postgres | study::Engine::Mariadb).then_some(database)
    }

    /// What is open, when anything is, for another thread.
    pub(crate) fn shared(&self) -> Option<Arc<dyn Database>> {
        self.open.as_ref().map(|opening| opening.database.clone())
    }

    /// What is open with its mirror, where it may have one.
    pub(crate) fn mirror(&self) -> Option<Arc<dyn Mirror>> {
        self.open()?.mirror(&self.spec)
    }

    /// Where the mirror lies, apart from the server.
    pub(crate) fn mirror_on(&self) -> Option<&study::TierFolder> {
        self.spec.mirror_on.as_deref().filter(|_| self.spec.mirror.is_some())
    }

    /// What is open, when anything is.
    pub(crate) fn open(&self) -> Option<&dyn Database> {
        self.open.as_ref().map(|opening| opening.database.as_ref())
    }

    /// What statements have cost so far, when the open database counts for its trial; in words, why not.
    pub(crate) fn statement_costs(&self) -> Result<Vec<StatementCost>, String> {
        match &self.open {
            Some(opening) if opening.profile => opening.database.statement_costs(),
            _ => Ok(Vec::new()),
        }
    }

    /// Opens the database for a trial, with its data set filled and in the state that the trial asks for. Answers with
    /// remarks for the events of the trial.
    pub(crate) fn make_ready(
        &mut self,
        trial: &Trial,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Vec<String>, TrialError> {
        let dataset = self.dataset_of(trial)?;
        let refused = self.refused();
        let settings = with_room(&self.spec, trial);
        let aside = dataset.as_ref().map_or(Ok(None), |dataset| self.claimed(dataset, &settings, trial));
        let mut remarks = Vec::from_iter(aside.map_err(&refused)?);
        let opening = self.opening(dataset.clone(), &settings, profiled(trial)).map_err(&refused)?;
        if let Some(dataset) = &dataset {
            observer.phase(trial, Phase::Fill, Nanos::ZERO);
            let filled = fill(opening.database.as_ref(), dataset, trial, observer, stop).map_err(&refused)?;
            remarks.push(filled_words(opening.database.as_ref(), dataset, filled));
            // What was filled or brought back just now needs no look.
            if matches!(filled, Filled::Reused { .. }) && asked(trial).any(|(_, pool)| pool.check) {
                let checks = checks::fingerprint(opening.database.as_ref(), dataset).map_err(&refused)?;
                let events = checks::altered(&checks);
                events.iter().for_each(|event| observer.note(Some(trial), &event.text));
                observer.found(trial, &Found { events: &events, checks: &checks, ..Found::default() });
            }
            if asked(trial).any(|(asked, _)| asked.calls_procedures()) {
                database::procedures::see_to(opening.database.as_ref(), dataset).map_err(&refused)?;
            }
            if filled != (Filled::Reused { state: State::Broken }) {
                dataset::use_up(opening.database.as_ref(), dataset).map_err(&refused)?;
            }
            opening.begin(trial).map_err(&refused)?;
        }
        if asked(trial).any(|(asked, _)| asked.is_foreign()) {
            opening.database.admit_scripts().map_err(&refused)?;
        }
        remarks.extend(self.see_to_mirror(trial, &settings)?);
        remarks.extend(self.see_to_beside()?);
        let Some(database) = self.shared() else { return Ok(remarks) };
        if trial.state.checkpoints == Checkpoints::Leave {
            remarks.push("no checkpoint was forced before the warm-up".to_owned());
            return Ok(remarks);
        }
        database.checkpoint().map_err(DatabaseError::before_a_trial).map_err(&refused)?;
        if matches!(database.engine(), study::Engine::Postgres | study::Engine::Mariadb) {
            remarks.push("a checkpoint was forced before the warm-up".to_owned());
        }
        Ok(remarks)
    }

    /// Opens it and keeps others from the data set of a trial. One that a check found broken is put aside, which is told in words,
    /// unless the trial has its data brought back to a copy.
    fn claimed(
        &mut self,
        dataset: &DataSet,
        settings: &[(String, String)],
        trial: &Trial,
    ) -> Result<Option<String>, DatabaseError> {
        let claim = |opening: &mut Opening| {
            let claimed = opening.claim.take().map_or_else(|| opening.database.claim(dataset), Ok);
            claimed.map(|claim| opening.claim = Some(claim))
        };
        let opening = self.opening(Some(dataset.clone()), settings, profiled(trial))?;
        claim(opening)?;
        if trial.state.restore {
            return Ok(None);
        }
        let Some(aside) = dataset::put_aside(opening.database.as_ref(), dataset)? else { return Ok(None) };
        self.close();
        claim(self.opening(Some(dataset.clone()), settings, profiled(trial))?)?;
        let (name, aside) = (dataset.name(), aside.display());
        Ok(Some(format!(
            "data set {name}: the check of an earlier trial found it broken; it is kept in {aside} until another one is, or `prony clean` \
             removes it"
        )))
    }

    /// What ended a trial whose system is gone, in words that a sentence can begin with.
    pub(crate) fn what_happened(&self, gone: &TrialError) -> &'static str {
        match gone {
            TrialError::Gone { source, .. } if source.raw_os_error() == Some(libc::ENOSPC) => {
                "the database had no room left on its disk"
            }
            _ if self.lasting().is_none() => "the database failed",
            _ => LOST,
        }
    }

    /// Why the system is gone, with what the log of a private server tells, which a new start empties: a server that ends for
    /// want of room only closes its connections.
    pub(crate) fn explained(&self, gone: TrialError) -> TrialError {
        let TrialError::Gone { place, words, source, .. } = &gone else { return gone };
        let refused = DatabaseError::Refused { place: place.clone(), text: words.clone() };
        match self.open().filter(|_| source.raw_os_error() == Some(libc::ENOTCONN)) {
            Some(database) => without_room(gone, &database.explain(refused)),
            None => gone,
        }
    }

    /// The same when only the look at what it kept tells: a disk that is full has no room for the last words of a log either.
    pub(crate) fn explained_by(gone: TrialError, looked: &TrialError) -> TrialError {
        let TrialError::Database { source: looked, .. } = looked else { return gone };
        without_room(gone, looked)
    }

    /// Opens the database again after its server went away; a private server is started anew. A server that recovers or is
    /// started by somebody else is waited for so long.
    pub(crate) fn reopen(&mut self, patience: Nanos, clock: &WallClock) -> Result<(), TrialError> {
        let Some(opening) = self.open.take() else { return Ok(()) };
        let Opening { dataset, settings, profile, found, claim, database } = opening;
        let refused = self.refused();
        // A lock of a session's went with its server; one of a file must be let go before it can be taken again.
        drop((claim, database));
        let until = clock.now().saturating_add(patience);
        loop {
            let lost = match self.entered(dataset.clone(), &settings, profile, until, clock) {
                Ok(()) => break,
                Err(lost) => lost,
            };
            self.open = None;
            if self.stop.load(Ordering::Relaxed) {
                return Err(TrialError::Stopped);
            }
            if !lost.may_pass() || clock.now() >= until {
                return Err(refused(lost));
            }
            std::thread::sleep(BETWEEN_TRIES);
        }
        if let Some(opening) = &mut self.open {
            opening.found = found;
        }
        Ok(())
    }

    /// One try to open the database and its data set, cut off when the time is over.
    fn entered(
        &mut self,
        dataset: Option<DataSet>,
        settings: &[(String, String)],
        profile: bool,
        until: Nanos,
        clock: &WallClock,
    ) -> Result<(), DatabaseError> {
        let (over, outer) = (Arc::new(AtomicBool::new(false)), self.stop.clone());
        self.stop = over.clone();
        let done = AtomicBool::new(false);
        let entered = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    if outer.load(Ordering::Relaxed) || clock.now() >= until {
                        return over.store(true, Ordering::Relaxed);
                    }
                    std::thread::sleep(GLANCE);
                }
            });
            let entered = self.opening(dataset, settings, profile).and_then(|opening| {
                // A server may be up, and let nobody in yet.
                opening.database.outside()?;
                if let Some(dataset) = &opening.dataset {
                    opening.claim = Some(opening.database.claim(dataset)?);
                }
                Ok(())
            });
            done.store(true, Ordering::Relaxed);
            entered
        });
        self.stop = outer;
        entered.map_err(|error| match error {
            DatabaseError::Stopped => {
                let text = "it was still starting when the time to wait for it was over".to_owned();
                DatabaseError::Refused { place: self.spec.shown(), text }
            }
            error => error,
        })
    }

    /// Where a mirror is about to take over, waits until it has, or cannot.
    pub(crate) fn wait_for_mirror(&self) {
        while !self.served.load(Ordering::Acquire) {
            std::thread::sleep(GLANCE);
        }
    }

    /// The open database with its data set, for checks.
    pub(crate) fn checked(&self) -> Option<(&dyn Database, &DataSet)> {
        let opening = self.open.as_ref()?;
        Some((opening.database.as_ref(), opening.dataset.as_ref()?))
    }

    /// The statements whose costs are counted in the trial.
    pub(crate) fn texts(&self) -> MutexGuard<'_, Vec<Texts>> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How its dearest statements are planned.
    pub(crate) fn plans(&self, series: &[Series], at: Nanos) -> Vec<Event> {
        let open = self.open.as_ref().filter(|opening| opening.profile);
        open.map_or_else(Vec::new, |opening| {
            let data = opening.dataset.as_ref().map(|data| data.name()).unwrap_or_default();
            plans::events(&*opening.database, &self.texts(), series, (&self.cache_dir, &data, at))
        })
    }

    /// An error of this database.
    pub(crate) fn refused(&self) -> impl Fn(DatabaseError) -> TrialError + use<> {
        let system = self.system.clone();
        move |source| match source {
            DatabaseError::Stopped => TrialError::Stopped,
            source => TrialError::Database { system: system.clone(), source: Box::new(source) },
        }
    }

    fn opening(
        &mut self,
        dataset: Option<DataSet>,
        settings: &[(String, String)],
        profile: bool,
    ) -> Result<&mut Opening, DatabaseError> {
        let fits = self
            .open
            .as_ref()
            .is_some_and(|open| open.dataset == dataset && open.settings == settings && open.profile == profile);
        if !fits {
            self.close();
            let options = OpenOptions {
                cache_dir: self.cache_dir.clone(),
                dataset: dataset.clone(),
                settings: settings.to_vec(),
                profiling: Profiling { on: profile, pages: Some(crate::database::pages::pages) },
                stop: self.stop.clone(),
            };
            let database: Arc<dyn Database> = database::open(&self.spec, &options)?.into();
            self.ends = self.spec.layout.is_some().then(|| database.clone());
            let (settings, found) = (settings.to_vec(), kind::Found::default());
            self.open = Some(Opening { dataset, settings, profile, database, found, claim: None });
        }
        Ok(self.open.as_mut().expect("it was opened above"))
    }

    /// The data set of a trial. Streams that run at once share one.
    fn dataset_of(&self, trial: &Trial) -> Result<Option<DataSet>, TrialError> {
        if self.spec.engine == study::Engine::Null {
            return Ok(None);
        }
        let mut sets = asked(trial).filter_map(|(asked, _)| data_set(asked, &self.spec));
        let first = sets.next();
        if sets.any(|other| Some(&other) != first.as_ref()) {
            let what = "hold two data sets at once: give the streams the same scale, or run them apart".to_owned();
            return Err(TrialError::Unsupported { system: self.system.clone(), what });
        }
        Ok(first)
    }
}

/// Gone for want of room, if that is what was learnt.
fn without_room(gone: TrialError, learnt: &DatabaseError) -> TrialError {
    match (gone, learnt) {
        (TrialError::Gone { system, place, done, .. }, DatabaseError::Full { text, .. }) => {
            let source = std::io::Error::from_raw_os_error(libc::ENOSPC);
            TrialError::Gone { system, place, done, words: text.clone(), source }
        }
        (gone, _) => gone,
    }
}

/// Whether any stream wants costs by statement.
pub(crate) fn profiled(trial: &Trial) -> bool {
    asked(trial).any(|(_, pool)| pool.profile)
}

/// The data set that transactions need on a database; none when they bring none of their own.
pub fn data_set(asked: &dyn Transactions, spec: &DatabaseSpec) -> Option<DataSet> {
    asked.data_set(matches!(spec.at, At::Url(_)))
}

/// The transactions of a trial, with the sessions that carry them.
pub(crate) fn asked(trial: &Trial) -> impl Iterator<Item = (&dyn Transactions, &Pool)> {
    trial.streams.iter().filter_map(Stream::transactions)
}

/// The setting of every server that says how many sessions it takes.
pub(crate) const MAX_CONNECTIONS: &str = "max_connections";

/// The setting that says how many transactions may be prepared at once.
const PREPARED: &str = "max_prepared_transactions";

/// The settings of a trial's server; a private one takes as many sessions as the trial has, unless the study says how many
/// it takes.
fn with_room(spec: &DatabaseSpec, trial: &Trial) -> Vec<(String, String)> {
    let mut settings = trial.server.clone();
    let said = settings.iter().any(|(key, _)| key.trim().to_lowercase().replace('-', "_") == MAX_CONNECTIONS);
    let sessions: u32 = trial.streams.iter().map(Stream::sessions).sum();
    // Beside them a few of our own, and those that a server keeps for its administrator. In thousands, so that not every
    // level of a sweep is a server of its own.
    if spec.at == At::Local && !said && sessions + OTHER_SESSIONS > SERVER_SESSIONS {
        let room = (sessions + OTHER_SESSIONS).next_multiple_of(SERVER_SESSIONS);
        settings.push((MAX_CONNECTIONS.to_owned(), room.to_string()));
    }
    // The server alone is the same one.
    let prepares = settings.iter().any(|(key, _)| key == PREPARED);
    if spec.at == At::Local && spec.pairing == Pairing::TwoPhase && !prepares {
        settings.push((PREPARED.to_owned(), (sessions + OTHER_SESSIONS).next_multiple_of(SERVER_SESSIONS).to_string()));
    }
    if spec.logical {
        settings.push(("wal_level".to_owned(), "logical".to_owned()));
    }
    settings
}

impl Opening {
    /// Clears away what an earlier trial left, and remembers what this one finds. Streams that run at once share one data set,
    /// so that the first stands for all.
    fn begin(&mut self, trial: &Trial) -> Result<(), DatabaseError> {
        let Some((asked, pool)) = asked(trial).next() else { return Ok(()) };
        let database = self.database.as_ref();
        self.found = Asking::on(database, |queries| asked.begin(queries, pool.sessions, pool.check))?;
        Ok(())
    }
}

/// Fills on a thread of its own, while this one tells the observer.
fn fill(
    database: &dyn Database,
    dataset: &DataSet,
    trial: &Trial,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Filled, DatabaseError> {
    let latest = Mutex::new(None::<Progress>);
    let now = || latest.lock().unwrap_or_else(PoisonError::into_inner);
    let tell = |progress: Progress| *now() = Some(progress);
    let mut told = None;
    let work = || dataset::fill(database, dataset, trial.state.restore, &tell, stop);
    watch(GLANCE, work, |at| {
        let Some(Progress { stage, done, .. }) = *now() else { return };
        if told.replace(stage) != Some(stage) {
            observer.note(Some(trial), &format!("filling the data set: {}", stage.word()));
        }
        let done_per_s = done as f64 / at.seconds().max(1e-3);
        observer.live(trial, &Live { at, phase: Phase::Fill, done_per_s, p50_ms: None, p99_ms: None, failed: 0 });
    })
}

fn filled_words(database: &dyn Database, dataset: &DataSet, filled: Filled) -> String {
    let name = dataset.name();
    match filled {
        Filled::Reused { state: State::Ready } => format!("data set {name}: reused as it was filled"),
        Filled::Reused { state: State::Broken } => {
            let (own, place) = (database.name_of(dataset), database.place());
            let next = match database.engine() {
                study::Engine::Sqlite => format!("remove the file {own}"),
                study::Engine::Mariadb => format!("say DROP DATABASE {own} in {place}"),
                _ => format!("say DROP SCHEMA {own} CASCADE in {place}"),
            };
            format!(
                "data set {name}: the check of an earlier trial found it broken, and this trial finds the same; it is yours, so nothing is \
                 dropped: to have it filled anew, {next}"
            )
        }
        Filled::Reused { .. } => format!("data set {name}: reused as earlier trials left it"),
        Filled::Restored => format!("data set {name}: restored to what it was after the fill"),
        Filled::Copied => format!("data set {name}: copied from the fill of all layouts and laid out"),
        Filled::Anew { rows } => format!("data set {name}: filled with {}", units::counted(rows, "rows")),
    }
}
