//! From a request to findings: what `run` and `quick` do.
//!
//! The one idea: nothing is touched before everything is known. The study is read, the machine surveyed, the plan made
//! and said in plain words, the space checked; only then a run file is made, systems are opened, and trials run.

mod ahead;
mod beside;
mod client_cost;
pub mod devices;
mod emulated;
mod execute;
mod finish;
pub mod planned;
mod processors;
mod progress;
mod request;
mod sameness;
mod space;
pub mod stop;
pub mod survey;
pub mod tiers;
pub mod verdict;
mod watch;

pub use beside::{Beside, Makes};
pub use emulated::Devices;
pub use finish::tell;
pub use request::study as asked;
pub use sameness::trials_again;
pub use space::reserve;
pub use stop::listen;

use crate::args::Run;
use crate::failure::Failure;
use crate::folder;
use crate::judged;
use crate::study_file::StudyText;
use crate::{build, checked, passwords, study_file};
use analysis::{Findings, TrialSummary};
use engine::{Need, Opened};
use execute::{Broken, Execution};
use model::file::Description;
use observation::{Ceiling, Fact, RunFacts, SystemFacts};
use progress::Progress;
use recorder::WallClock;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use store::{RunFile, StoreError};
use study::{Place, Plan, Planner, Study, SystemSpec};
use system::consent::Consent;
use units::Bytes;

/// A run that went to its end.
#[derive(Debug)]
pub struct Ended {
    /// What was concluded.
    pub findings: Findings,
    /// The run file.
    pub path: PathBuf,
    /// Whether the study itself lets an inconclusive threshold pass.
    pub allow_inconclusive: bool,
    /// Why it ended early, when its trial was lost and what was found of it is told.
    pub broken: Option<Failure>,
}

/// Runs a study into a new file. `consents` are to the destruction of what devices hold.
///
/// # Errors
/// Anything that keeps the run from its end; what was finished is then in the file that the failure names.
pub fn start(text: &StudyText, asked: &Run, consents: &[Consent], beside: Makes) -> Result<Ended, Failure> {
    let stop = listen()?;
    let clock = WallClock::new();
    let study = request::study(text, asked)?;
    let seed = asked.seed.map_or_else(fresh_seed, Ok)?;
    crate::scripts::named(&study)?;
    let plan = plan_to_run(&text.origin, &study, seed)?;
    space::check(&study, &plan)?;
    let progress = Progress::new(asked.voice, planned::expected_in_all(&plan));
    progress.say(&planned::words(&study, &plan));
    if passwords::typed(&asked.changes.on) {
        progress.say(passwords::SEEN);
    }
    let facts = passwords::left_out(facts(text, asked, &study, seed, &clock));
    let (file, facts) = new_file(asked.output.as_deref(), facts, reserve(&study, &plan))?;
    let run = Prepared {
        asked,
        consents,
        file,
        facts,
        study: &study,
        plan,
        summaries: Vec::new(),
        fresh: true,
        devices: Devices::of(study.systems())?,
        beside,
    };
    run.go(progress, &stop, &clock)
}

/// Goes on with a run that was cut short.
///
/// # Errors
/// As [`start`]; also when the file holds a finished run, or the plan made from it is another one now.
pub fn resume(word: &str, asked: &Run, consents: &[Consent], beside: Makes) -> Result<Ended, Failure> {
    let stop = listen()?;
    let clock = WallClock::new();
    let path = folder::find(word)?;
    let doing = |error| Failure::caused(format!("going on with the run `{}`", path.display()), &error);
    let facts = RunFile::open(&path).and_then(|file| file.facts()).map_err(doing)?;
    let study = judged::study_with(&facts, study_file::overrides_or_fail(&asked.changes, &asked.fail_if)?)?;
    confirmed(&study, &asked.changes.on)?;
    asked.html.as_deref().map_or(Ok(()), request::page)?;
    let facts = passwords::left_out(facts);
    let plan = plan_to_run(&facts.study, &study, facts.seed)?;
    space::check(&study, &plan)?;
    let file = RunFile::resume(&path, reserve(&study, &plan)).map_err(doing)?;
    let summaries = judged::summaries(&file, study.judgement())?;
    sameness::same_plan(&facts.id, &plan, &summaries)?;
    let progress = Progress::new(asked.voice, planned::expected_in_all(&plan));
    if passwords::typed(&asked.changes.on) {
        progress.say(passwords::SEEN);
    }
    let finished = units::counted(summaries.len() as u64, "finished trials");
    // The file says where to, and it may have come from somebody else.
    let systems = planned::systems(&study).join(" and ");
    progress.say(&format!("going on with {} after {finished}, on {systems}", facts.id));
    if !asked.keep {
        clear_leftovers(&study, &facts.id, &progress);
    }
    let run = Prepared {
        asked,
        consents,
        file,
        facts,
        study: &study,
        plan,
        summaries,
        fresh: false,
        devices: Devices::of(study.systems())?,
        beside,
    };
    run.go(progress, &stop, &clock)
}

/// Refuses to confirm a server that the run is not on.
fn confirmed(study: &Study, named: &[String]) -> Result<(), Failure> {
    let is = |system: &SystemSpec, text: &str| matches!(&system.place, Place::Database(spec) if spec.named_by(text).is_some());
    match named.iter().find(|text| !study.systems().iter().any(|system| is(system, text))) {
        None => Ok(()),
        Some(text) => Err(Failure::new(format!(
            "going on with a run: --on repeats a server of the run, on which are {}, got `{}`",
            planned::systems(study).join(" and "),
            study::without_password(text)
        ))
        .hint("leave --on away: the systems come from the file")),
    }
}

/// Removes the scratch folders that a killed part of this run left behind. The run file is ours alone now, so nobody works
/// in them. One that cannot be removed is named, and does not keep the run from going on.
fn clear_leftovers(study: &Study, run_id: &str, progress: &Progress) {
    let dirs = study.systems().iter().flat_map(|system| match &system.place {
        Place::File { dirs } => dirs.clone(),
        _ => Vec::new(),
    });
    let left = dirs.filter_map(|dir| system::file::abandoned(Path::new(&dir.path)).ok()).flatten();
    for folder in left.filter(|folder| folder.run_id() == run_id) {
        let path = folder.path().display().to_string();
        match folder.remove() {
            Ok(()) => progress.say(&format!("removed {path}, which the killed run had left")),
            Err(error) => progress.say(&format!("left {path}, which cannot be removed: {error}")),
        }
    }
}

/// The plan of a study on this machine, as it is now.
///
/// # Errors
/// When a script cannot be read or has problems, a place is not there, or the plan does not fit it.
pub fn plan(origin: &str, study: &Study, seed: u64) -> Result<Plan, Failure> {
    crate::scripts::check(study)?;
    tiers::check(study.systems())?;
    let survey = survey::survey(study.systems())?;
    let plan = study::plan(study, &survey, seed).map_err(|problems| study_file::failure(origin, &problems))?;
    processors::check(study, &plan)?;
    Ok(plan)
}

/// The same for who runs it.
///
/// # Errors
/// As [`plan`], and when a state of its data cannot be made there.
pub fn plan_to_run(origin: &str, study: &Study, seed: u64) -> Result<Plan, Failure> {
    study::runnable(study, plan(origin, study, seed)?).map_err(|problems| study_file::failure(origin, &problems))
}

/// The plan of a study as if every system had as much of everything as is asked for; nothing is looked at.
///
/// # Errors
/// When the study cannot be planned anywhere.
pub fn plan_anywhere(origin: &str, study: &Study, seed: u64) -> Result<Plan, Failure> {
    study::plan(study, &survey::anything(study.systems()), seed)
        .map_err(|problems| study_file::failure(origin, &problems))
}

/// The plan of a study for a described machine, as if it had as much of everything as is asked for; nothing is looked at.
///
/// # Errors
/// When the study asks what the kind does not answer.
pub fn plan_for(origin: &str, study: &Study, model: &Description) -> Result<Plan, Failure> {
    let spec = study.systems().first().ok_or_else(|| Failure::new(format!("planning `{origin}`: it has no system")))?;
    let survey = survey::unlimited(spec, model);
    study::plan(study, &survey, 1).map_err(|problems| study_file::failure(origin, &problems))
}

/// A seed that nobody chose.
///
/// # Errors
/// When the kernel has no randomness to give.
pub fn fresh_seed() -> Result<u64, Failure> {
    // 48 bits: enough that two runs never share one, and exact in JSON, where numbers are doubles.
    getrandom::u64()
        .map(|seed| seed >> 16)
        .map_err(|error| Failure::new(format!("drawing a seed: {error}")).hint("give one with --seed"))
}

/// A run file with all that is needed to fill it.
struct Prepared<'a> {
    asked: &'a Run,
    consents: &'a [Consent],
    file: RunFile,
    facts: RunFacts,
    study: &'a Study,
    plan: Plan,
    summaries: Vec<TrialSummary>,
    /// Whether the file was made by this process.
    fresh: bool,
    /// What the folders of systems lie on; they go when nothing is open on them any more.
    devices: Devices,
    beside: Makes,
}

impl Prepared<'_> {
    fn go(mut self, progress: Progress, stop: &Arc<AtomicBool>, clock: &WallClock) -> Result<Ended, Failure> {
        let opened = match self.open_systems(&progress, stop) {
            Ok(opened) => opened,
            Err(failure) => {
                let _ = abandon(self.file, self.fresh);
                return Err(failure);
            }
        };
        // The plan has said them.
        let remarks = self.plan.notes.clone();
        let execution = Execution {
            file: self.file,
            fail_if: &self.asked.fail_if,
            planner: Planner::new(self.plan),
            devices: &self.devices,
            systems: self.study.systems(),
            beside: self.beside,
            opened,
            judgement: self.study.judgement(),
            progress,
            stop,
            summaries: self.summaries,
            clock,
            remarks,
            fresh: self.fresh,
            recorded: false,
            looked: false,
        };
        let (mut file, summaries) = match execution.run() {
            Ok(whole) => whole,
            Err(Broken { failure, found_in }) => return told(failure, found_in),
        };
        let closing = |error: StoreError| Failure::caused("closing the run file", &error);
        file.set_finished().map_err(closing)?;
        self.facts.finished = true;
        let path = file.path().to_path_buf();
        let checks = file.checks().map_err(closing)?;
        file.close().map_err(closing)?;
        let judgement = self.study.judgement();
        let findings = analysis::judge(self.facts, summaries, judgement).with_checks(checks, &judgement.mirrored);
        let allow_inconclusive = judgement.allow_inconclusive;
        Ok(Ended { findings, path, allow_inconclusive, broken: None })
    }

    /// Makes every system ready and writes what it is into the file.
    fn open_systems(&mut self, progress: &Progress, stop: &Arc<AtomicBool>) -> Result<Vec<(String, Opened)>, Failure> {
        // A resumed run is judged against what the generator could do when it began, like the trials that it has.
        if self.facts.ceiling.is_none() {
            self.facts.ceiling = ceiling(self.study.systems(), stop)?;
        }
        let mut opened = Vec::new();
        let mut systems: Vec<SystemFacts> = Vec::new();
        let (run_id, seed, keep) = (self.facts.id.as_str(), self.facts.seed, self.asked.keep);
        let wants = Wants { run_id, seed, keep, plan: &self.plan, consents: self.consents, stop };
        for spec in self.study.systems() {
            let system = open(spec, &wants, &mut self.devices)?;
            systems.push(system.facts.clone());
            opened.push((spec.name.clone(), system));
        }
        for line in sameness::same_systems(&self.facts.id, &self.facts.systems, &systems)? {
            progress.say(&format!("note: since the run began, {line}"));
        }
        client_cost::add(&self.plan, &mut systems, stop)?;
        self.facts.systems = systems;
        let writing = |error: StoreError| Failure::caused("writing the facts of the run", &error);
        self.file.set_facts(&self.facts).map_err(writing)?;
        Ok(opened)
    }
}

/// For whom systems are opened.
pub struct Wants<'a> {
    /// The run.
    pub run_id: &'a str,
    /// Its seed.
    pub seed: u64,
    /// Whether scratch files stay.
    pub keep: bool,
    /// What is to be run.
    pub plan: &'a Plan,
    /// Consents to the destruction of what devices hold.
    pub consents: &'a [Consent],
    /// Set by a signal.
    pub stop: &'a Arc<AtomicBool>,
}

/// Makes one system ready; the devices on which its folders lie are mounted, and end with `devices`.
///
/// # Errors
/// When it cannot be opened, or a device not be mounted.
pub fn open(spec: &SystemSpec, wants: &Wants<'_>, devices: &mut Devices) -> Result<Opened, Failure> {
    let (described, cache_dir) = (crate::models::of(spec)?, crate::cache::folder());
    let need = Need {
        modules: modules(spec),
        filled: largest(wants.plan, spec, |trial| trial.modules),
        module_bytes: module_bytes(wants.plan, spec),
        run_id: wants.run_id,
        seed: wants.seed,
        keep: wants.keep,
        data_set: brings_data(wants.plan, spec),
        consents: wants.consents,
        model: described.as_ref(),
        cache_dir: &cache_dir,
        stop: wants.stop,
    };
    let reached = devices.reached(spec)?;
    let mut system = Opened::open(&reached, &need).map_err(|error| refused(spec, &error))?;
    if let Place::File { dirs } = &spec.place {
        // As they are written, and not where a device of them is mounted.
        system.facts.place = study::folders_shown(dirs);
        let devices = dirs.iter().enumerate().filter_map(|(i, dir)| Some(Fact::emulated(i, &emulated::model(dir)?)));
        system.facts.fingerprint.extend(devices);
    }
    system.facts.fingerprint.extend(devices.kept_awake());
    system.happens = emulated::happens(&reached);
    system.on_devices(devices.of_nodes(&reached));
    Ok(system)
}

/// The size of each module: the one that the study names, and of a device that is used whole the one that its plan found.
fn module_bytes(plan: &Plan, system: &SystemSpec) -> Bytes {
    let whole = matches!(system.place, Place::Device { .. });
    let found = || if whole { largest(plan, system, |trial| trial.module_bytes) } else { Bytes(0) };
    system.size.unwrap_or_else(found)
}

/// The most that any trial on a system with modules of a size asks for, also those of searches.
fn largest<T: Ord + Default>(plan: &Plan, system: &SystemSpec, of: fn(&study::Trial) -> T) -> T {
    let trials = plan.trials.iter().chain(plan.searches.iter().map(study::Search::template));
    let own = trials.filter(|trial| trial.label.system == system.name && trial.module_bytes.0 > 0);
    own.map(of).max().unwrap_or_default()
}

/// Whether any trial on a system brings tables of Prony's own.
fn brings_data(plan: &Plan, system: &SystemSpec) -> bool {
    let Place::Database(spec) = &system.place else { return false };
    let trials = plan.trials.iter().chain(plan.searches.iter().map(study::Search::template));
    let streams = trials.filter(|trial| trial.label.system == system.name).flat_map(|trial| &trial.streams);
    streams.filter_map(|stream| stream.transactions()).any(|(asked, _)| engine::data_set(asked, spec).is_some())
}

/// What a run that ended early has to tell nevertheless.
fn told(failure: Failure, found_in: Option<PathBuf>) -> Result<Ended, Failure> {
    let Some(path) = found_in else { return Err(failure) };
    let Ok(findings) = RunFile::open(&path).map_err(|_| ()).and_then(|file| judged::findings(&file).map_err(|_| ()))
    else {
        return Err(failure);
    };
    Ok(Ended { findings, path, allow_inconclusive: false, broken: Some(failure) })
}

/// Closes a file in which this process recorded nothing. One that it made itself is of no use to anybody and is removed.
fn abandon(file: RunFile, fresh: bool) -> Result<(), StoreError> {
    let path = file.path().to_path_buf();
    file.close()?;
    if fresh {
        let _ = std::fs::remove_file(&path);
    }
    Ok(())
}

/// How many modules a system is opened with: as many as its largest trial needs; of devices, those that are named; none
/// where file work needs only the folders.
fn modules(spec: &SystemSpec) -> u32 {
    match &spec.place {
        Place::Device { paths, .. } => spec.modules.unwrap_or(paths.len() as u32),
        Place::File { .. } if spec.size.is_none() => 0,
        _ => spec.modules.unwrap_or_default(),
    }
}

/// What the generator can do, unless no system of the study runs in real time.
fn ceiling(systems: &[SystemSpec], stop: &AtomicBool) -> Result<Option<Ceiling>, Failure> {
    let simulated = systems.iter().all(|system| system.place.simulated());
    if simulated {
        return Ok(None);
    }
    let doing = |error| Failure::caused("measuring the load generator itself", &error);
    engine::measure_ceiling(stop).map(Some).map_err(doing)
}

/// A system that cannot be opened, with what may help.
fn refused(spec: &SystemSpec, error: &engine::OpenError) -> Failure {
    let failure = Failure::caused(format!("opening the system `{}`", spec.name), error);
    match (&spec.place, refusal_of(error)) {
        (Place::Device { fill: true, .. }, _) => {
            failure.hint("`prony run --help` says how consent to write a device is given")
        }
        (Place::Device { .. }, Some(ErrorKind::PermissionDenied)) => {
            failure.hint("run as root, or as a member of the group that owns the device")
        }
        (Place::Database(_), _) => match error {
            engine::OpenError::Database { source, .. } => failure.hints(source.hint()),
            _ => failure,
        },
        (Place::File { .. }, Some(ErrorKind::ReadOnlyFilesystem)) => {
            failure.hint("remount it for writing, or name a folder on another filesystem with `--on file:DIR`")
        }
        (Place::File { .. }, Some(ErrorKind::PermissionDenied)) => {
            failure.hint("name a folder that you may write to with `--on file:DIR`")
        }
        (Place::File { .. }, Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded)) => failure
            .hint("free some space, make the files smaller with `--set size=..`, or fewer with `--set modules=..`"),
        _ => failure,
    }
}

/// What the kernel said, at the end of the chain of causes.
fn refusal_of(error: &engine::OpenError) -> Option<ErrorKind> {
    let mut causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
    causes.find_map(|cause| cause.downcast_ref::<std::io::Error>()).map(std::io::Error::kind)
}

/// Makes the run file under the name that was asked for, or under the first free one, and gives the run its id.
fn new_file(
    named: Option<&Path>,
    mut facts: RunFacts,
    reserve: store::Reserve,
) -> Result<(RunFile, RunFacts), Failure> {
    for n in 1..1000 {
        facts.id = match named {
            Some(path) => checked::id_of(path),
            None => checked::run_id(facts.started_unix_ns, jiff::tz::TimeZone::system(), &facts.study, n),
        };
        let path = named.map_or_else(|| PathBuf::from(format!("{}.{}", facts.id, folder::ENDING)), Path::to_path_buf);
        match RunFile::create(&path, &facts, reserve) {
            Ok(file) => return Ok((file, facts)),
            Err(StoreError::Exists { .. }) if named.is_none() => {}
            Err(error) => {
                let failure = Failure::caused(format!("making the run file `{}`", path.display()), &error);
                return Err(match error {
                    StoreError::Unreachable(..) => failure.hint("write it into another folder: -o DIR/NAME.prony"),
                    _ => failure,
                });
            }
        }
    }
    Err(Failure::new("making the run file: 999 runs began in this minute, and every name is taken")
        .hint("name it with -o"))
}

/// What is known of a run before it has an id.
fn facts(text: &StudyText, asked: &Run, study: &Study, seed: u64, clock: &WallClock) -> RunFacts {
    RunFacts {
        id: String::new(),
        study: study.name.clone(),
        title: study.title.clone(),
        question: study.question.clone(),
        started_unix_ns: clock.unix_start_ns(),
        seed,
        version: build::VERSION.to_owned(),
        commit: build::COMMIT.to_owned(),
        study_text: text.text.clone(),
        targets: asked.changes.on.clone(),
        settings: asked.changes.set.clone(),
        only: asked.changes.only.clone(),
        tags: asked.tag.clone(),
        note: asked.note.as_deref().unwrap_or_default().trim().to_owned(),
        finished: false,
        ..RunFacts::default()
    }
}
