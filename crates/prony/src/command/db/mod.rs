//! `prony db`: private servers, data sets and their checks, without a run.

mod ledger;

use crate::args::{Db, DbCheck, DbDown, DbFill, DbUp, StudyChoice};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::output;
use crate::{cache, passwords, run, study_file};
use database::dataset::{self, CheckOutcome, Depth, Filled};
use database::server::SCRIPTS;
use database::{DataSet, Database, DatabaseError, OpenOptions, Profiling};
use recorder::{Clock, WallClock};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use study::{At, DatabaseSpec, Engine, Place, Study, server_settings};

/// Carries out one of the commands.
pub fn run(asked: &Db) -> Result<Outcome, Failure> {
    match asked {
        Db::Up(asked) => up(asked),
        Db::Fill(asked) => fill(asked),
        Db::Check(asked) => check(asked),
        Db::Down(asked) => down(asked),
    }
}

fn up(asked: &DbUp) -> Result<Outcome, Failure> {
    let passwords = passwords::given(asked.password_file.as_deref())?;
    warn(std::slice::from_ref(&asked.target));
    let spec = target(&asked.target)?;
    let spec = spec.with_password_of(&passwords);
    let settings: Result<Vec<(String, String)>, Failure> = asked.server.iter().map(|text| setting(text)).collect();
    let settings = settings?;
    if !asked.allow_server_settings {
        may_be_given(&spec, &settings)?;
    }
    let stop = run::listen()?;
    let database = open(&spec, None, settings, stop)?;
    let facts = database.facts();
    output::print(&format!("{} {} is up: {}\n", facts.engine.word(), facts.version, facts.place))?;
    // Not below the cache, when the server's user could not pass it or others could change it.
    if let Some(private) = database.private() {
        let socket = private.socket_folder();
        output::note_line(&format!("its socket is in {}", socket.display()));
        database.admit_scripts().map_err(|error| failed("making the role of scripts".to_owned(), &error))?;
        let client = match facts.engine {
            Engine::Postgres => format!("psql -h {} -U {SCRIPTS} postgres", socket.display()),
            _ => format!("mariadb -S {}/socket -u {SCRIPTS} {SCRIPTS}", socket.display()),
        };
        output::note_line(&format!("make tables for scripts of your own with: {client}"));
    }
    Ok(Outcome::Fine)
}

pub(super) fn warn(targets: &[String]) {
    if passwords::typed(targets) {
        output::note_line(passwords::SEEN);
    }
}

/// Without the option for it, only what moves the performance of a private server.
fn may_be_given(spec: &DatabaseSpec, settings: &[(String, String)]) -> Result<(), Failure> {
    let refused = settings.iter().find_map(|(name, value)| server_settings::refusal(spec, name, value));
    refused.map_or(Ok(()), |refused| Err(Failure::new(format!("reading --server: {refused}"))))
}

fn setting(text: &str) -> Result<(String, String), Failure> {
    let parts = text.split_once('=').filter(|(key, _)| !key.trim().is_empty());
    let (key, value) = parts.ok_or_else(|| Failure::new(format!("reading --server: SETTING=VALUE, got `{text}`")))?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// The databases of a study with the data sets that its trials need.
fn needed(choice: &StudyChoice) -> Result<Vec<(DatabaseSpec, Vec<DataSet>)>, Failure> {
    warn(&choice.changes.on);
    let text = study_file::find(&choice.study)?;
    let study = study_file::read_or_fail(&text, &choice.changes, &[])?;
    let plan = run::plan(&text.origin, &study, 1)?;
    let trials = || plan.trials.iter().chain(plan.searches.iter().map(study::Search::template));
    let sets = |name: &str, spec: &DatabaseSpec| {
        let streams = trials().filter(|trial| trial.label.system == name).flat_map(|trial| &trial.streams);
        let mut sets: Vec<DataSet> = Vec::new();
        for set in streams.filter_map(|stream| engine::data_set(stream.transactions()?.0, spec)) {
            if !sets.contains(&set) {
                sets.push(set);
            }
        }
        sets
    };
    Ok(databases(&study).map(|(name, spec)| (spec.clone(), sets(name, spec))).collect())
}

fn databases(study: &Study) -> impl Iterator<Item = (&str, &DatabaseSpec)> {
    study.systems().iter().filter_map(|system| match &system.place {
        Place::Database(spec) => Some((system.name.as_str(), spec)),
        _ => None,
    })
}

fn fill(asked: &DbFill) -> Result<Outcome, Failure> {
    let stop = run::listen()?;
    for (spec, sets) in needed(&asked.choice)? {
        for set in sets {
            let opened = || open(&spec, Some(set.clone()), Vec::new(), stop.clone()).map(Opened);
            let doing = |error| failed(format!("filling {} in `{}`", set.name(), spec.shown()), &error);
            let mut database = opened()?;
            let mut claim = database.claim(&set).map_err(doing)?;
            if let Some(aside) = dataset::put_aside(database.as_ref(), &set).map_err(doing)? {
                output::note_line(&format!("a check found it broken; it is kept in {}", aside.display()));
                drop((claim, database));
                database = opened()?;
                claim = database.claim(&set).map_err(doing)?;
            }
            let tell = |progress: dataset::Progress| {
                let (stage, done, of) = (progress.stage.word(), progress.done, progress.of);
                if asked.verbose {
                    output::note_line(&format!("{stage}: {done} of about {of}"));
                }
            };
            let filled = dataset::fill(database.as_ref(), &set, false, &tell, &stop).map_err(doing)?;
            let words = match filled {
                Filled::Reused { .. } => "is there already".to_owned(),
                Filled::Restored => "was restored".to_owned(),
                Filled::Copied => "was copied from the fill of all layouts and laid out".to_owned(),
                Filled::Anew { rows } => format!("was filled with {rows} rows"),
            };
            drop(claim);
            output::print(&format!("{} in `{}` {words}\n", set.name(), spec.shown()))?;
        }
    }
    Ok(Outcome::Fine)
}

/// One data set with what its checks found.
struct Checked {
    place: String,
    name: String,
    outcomes: Vec<CheckOutcome>,
}

fn check(asked: &DbCheck) -> Result<Outcome, Failure> {
    let stop = run::listen()?;
    let all = match (&asked.ledger, &asked.study) {
        (Some(run), _) => ledger::check(run, asked, &stop)?,
        (None, Some(study)) => check_all(&StudyChoice { study: study.clone(), changes: asked.changes.clone() }, &stop)?,
        (None, None) => Vec::new(),
    };
    if all.is_empty() {
        return Err(Failure::new("checking data sets: none is filled there")
            .hint("fill one: prony db fill STUDY, with the same `--on` and `--set`"));
    }
    output::answer(asked.json, || checks_json(&all), || checks_text(&all))?;
    let passed = all.iter().flat_map(|checked| &checked.outcomes).all(|outcome| outcome.passed);
    Ok(if passed { Outcome::Fine } else { Outcome::Failed })
}

fn check_all(choice: &StudyChoice, stop: &Arc<AtomicBool>) -> Result<Vec<Checked>, Failure> {
    let chosen = !choice.changes.set.is_empty();
    let (mut all, mut others) = (Vec::new(), Vec::new());
    for (spec, wanted) in needed(choice)? {
        // Without a choice, all that is there of the study's kinds is checked: nobody has to remember what was filled.
        let kinds: Vec<&str> = wanted.iter().map(|set| set.kind()).collect();
        let sets = if chosen { wanted.iter().cloned().map(Ok).collect() } else { present(&spec, &wanted, stop)? };
        for set in sets {
            if let Some(other) = set.as_ref().ok().filter(|set| !kinds.contains(&set.kind())) {
                others.push(format!("{} in `{}`", other.name(), spec.shown()));
                continue;
            }
            all.push(match set {
                Ok(set) => check_one(&spec, set, stop)?,
                Err(error) => not_checked(&spec, &error),
            });
        }
    }
    if all.is_empty() && !others.is_empty() {
        let (study, there) = (&choice.study, others.join(", "));
        return Err(Failure::new(format!("checking data sets: no data set of {study} is there; there are: {there}"))
            .hint("name the study whose data set it is, or fill one: prony db fill STUDY, with the same `--on` and `--set`"));
    }
    Ok(all)
}

/// What bears Prony's mark and cannot be held to anything has not passed.
fn not_checked(spec: &DatabaseSpec, error: &DatabaseError) -> Checked {
    let name = match error {
        DatabaseError::Planted { name, .. } | DatabaseError::OtherFormat { name, .. } => name.clone(),
        _ => "a data set".to_owned(),
    };
    let outcome = CheckOutcome {
        name: "not checked".to_owned(),
        says: "it is as Prony makes it, and can be looked at".to_owned(),
        passed: false,
        violations: vec![error.to_string()],
        took: Duration::ZERO,
    };
    Checked { place: spec.shown(), name, outcomes: vec![outcome] }
}

type Present = Vec<Result<DataSet, DatabaseError>>;

fn present(spec: &DatabaseSpec, wanted: &[DataSet], stop: &Arc<AtomicBool>) -> Result<Present, Failure> {
    if spec.at == At::Local && spec.layout.is_none() {
        return on_private_servers(spec, stop);
    }
    // An embedded database is named after a data set; any will do to look around.
    let any = wanted.first().cloned().filter(|_| spec.at == At::Cache);
    let database = Opened(open(spec, any, Vec::new(), stop.clone())?);
    database.datasets().map_err(|error| failed(format!("looking for data sets in `{}`", spec.shown()), &error))
}

/// Each data set on a private server has one to itself.
fn on_private_servers(spec: &DatabaseSpec, stop: &Arc<AtomicBool>) -> Result<Present, Failure> {
    let doing = |error| failed(format!("looking for data sets in `{}`", spec.shown()), &error);
    let options = options(None, Vec::new(), stop.clone());
    let mut all = Vec::new();
    for server in database::private_servers(spec.engine, &options).map_err(doing)? {
        all.extend(server.and_then(|server| server.datasets()).map_err(doing)?);
    }
    Ok(all)
}

fn check_one(spec: &DatabaseSpec, set: DataSet, stop: &Arc<AtomicBool>) -> Result<Checked, Failure> {
    let doing = |error| failed(format!("checking {} in `{}`", set.name(), spec.shown()), &error);
    let database = Opened(open(spec, Some(set.clone()), Vec::new(), stop.clone())?);
    let found = dataset::recognise(database.as_ref(), &set).map_err(doing)?;
    let missing = match found {
        dataset::Recognised::Nothing => Some("nothing is there"),
        dataset::Recognised::Unfinished => Some("its fill did not end"),
        _ => None,
    };
    if let Some(state) = missing {
        return Err(doing(DatabaseError::NotFilled { place: spec.shown(), name: set.name(), state }));
    }
    let clock = WallClock::new();
    let now = || Duration::from_nanos(clock.now().0);
    let mut outcomes = dataset::check_database(database.as_ref(), &set, Depth::All, &now).map_err(doing)?;
    outcomes.push(dataset::check_added(database.as_ref(), &set, &now).map_err(doing)?);
    Ok(Checked { place: spec.shown(), name: set.name(), outcomes })
}

fn checks_text(all: &[Checked]) -> String {
    let mut text = String::new();
    for checked in all {
        text.push_str(&format!("{} in {}\n", checked.name, checked.place));
        for outcome in &checked.outcomes {
            let (word, took) = (if outcome.passed { "holds " } else { "BROKEN" }, outcome.took.as_secs_f64());
            text.push_str(&format!("  {word}  {}: {} ({took:.2} s)\n", outcome.name, outcome.says));
            for violation in &outcome.violations {
                text.push_str(&format!("          {violation}\n"));
            }
        }
    }
    text
}

fn checks_json(all: &[Checked]) -> Value {
    let outcome = |outcome: &CheckOutcome| {
        json!({
            "name": outcome.name,
            "says": outcome.says,
            "passed": outcome.passed,
            "violations": outcome.violations,
            "took_s": outcome.took.as_secs_f64(),
        })
    };
    let set = |checked: &Checked| {
        json!({
            "place": checked.place,
            "dataset": checked.name,
            "passed": checked.outcomes.iter().all(|outcome| outcome.passed),
            "took_s": checked.outcomes.iter().map(|outcome| outcome.took.as_secs_f64()).sum::<f64>(),
            "checks": checked.outcomes.iter().map(outcome).collect::<Vec<_>>(),
        })
    };
    json!({ "schema": "prony/db-check/1", "datasets": all.iter().map(set).collect::<Vec<_>>() })
}

fn down(asked: &DbDown) -> Result<Outcome, Failure> {
    let stop = run::listen()?;
    let engines = match &asked.target {
        Some(text) => vec![server(text)?],
        None => vec![Engine::Postgres, Engine::Mariadb],
    };
    for engine in engines {
        let doing = |error| failed(format!("stopping the private {} server", engine.word()), &error);
        let ended = match database::server::down(engine, &cache::folder(), &stop, asked.remove) {
            // Nobody asked for this engine, and what is not installed does not run.
            Err(DatabaseError::MissingPackage { .. }) if asked.target.is_none() => continue,
            ended => ended.map_err(doing)?,
        };
        for place in ended {
            output::print(&format!("{place}\n"))?;
        }
    }
    Ok(Outcome::Fine)
}

/// The engine of a target that may have a private server.
fn server(text: &str) -> Result<Engine, Failure> {
    let spec = target(text)?;
    match spec.engine {
        Engine::Sqlite => {
            let what = format!("stopping a private server: `{}` is a file and has none", spec.shown());
            Err(Failure::new(what).hint("to have its data set anew, remove the file, then `prony db fill STUDY`"))
        }
        engine => Ok(engine),
    }
}

pub(super) fn target(text: &str) -> Result<DatabaseSpec, Failure> {
    let parsed = study::target(text).map_err(|problem| Failure::new(format!("reading the target: {problem}")))?;
    match parsed.place {
        Place::Database(spec) => Ok(spec),
        other => Err(Failure::new(format!("reading the target: a database, got `{}`", other.word()))
            .hint("name one: `local:postgres`, `local:mariadb`, `sqlite:FILE` or a URL")),
    }
}

pub(super) fn open(
    spec: &DatabaseSpec,
    dataset: Option<DataSet>,
    settings: Vec<(String, String)>,
    stop: Arc<AtomicBool>,
) -> Result<Box<dyn Database>, Failure> {
    let options = options(dataset, settings, stop);
    database::open(spec, &options).map_err(|error| failed(format!("opening the database `{}`", spec.shown()), &error))
}

/// As a run would start it, so that a run need not start it again.
fn options(dataset: Option<DataSet>, settings: Vec<(String, String)>, stop: Arc<AtomicBool>) -> OpenOptions {
    let profiling = Profiling { on: true, pages: None };
    OpenOptions { cache_dir: cache::folder(), dataset, settings, profiling, stop }
}

/// A database; a server with a layout ends with it, as with a run.
pub(super) struct Opened(Box<dyn Database>);

impl std::ops::Deref for Opened {
    type Target = Box<dyn Database>;

    fn deref(&self) -> &Box<dyn Database> {
        &self.0
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if let Some(server) = self.0.private().filter(|server| server.is_laid_out()) {
            // One that does not end is ended by its next start.
            let _ = server.end();
        }
    }
}

pub(super) fn failed(doing: String, error: &DatabaseError) -> Failure {
    Failure::caused(doing, error).hints(error.hint())
}
