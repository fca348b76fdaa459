//! `prony verify RUN`: what an earlier run left on its files or devices, held against the run's file.
//!
//! The one idea: every sector says by itself whose it is, where it belongs and how old it is, and the file knows which
//! generations were acknowledged when the last trial ended that checked its writes. Whatever may have been written after
//! that (a later trial, a run that was killed) may be newer, never older. Everything is opened for reading only.

use crate::args::Verify;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::{folder, judged, output, run};
use engine::{Held, Left};
use observation::{Ledger, RunFacts};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use store::{RunFile, TrialState};
use study::{Folder, Place, SystemSpec};
use system::Module;
use system::file::Abandoned;
use units::{Bytes, counted};
use workload::block::Printed;

/// A system with what was found on it.
struct Checked {
    system: String,
    places: Vec<String>,
    held: Held,
    ledger: bool,
}

/// Reads what the run left, and says what is damaged.
///
/// # Errors
/// When the run has no files or devices, or what it left is not there or cannot be read.
pub fn run(asked: &Verify) -> Result<Outcome, Failure> {
    let stop = run::listen()?;
    let file = folder::open(&asked.choice.run)?;
    let facts = judged::facts(&file)?;
    let systems = systems(&facts, &asked.on)?;
    let all = systems.iter().map(|spec| check(&file, &facts, spec, &stop)).collect::<Result<Vec<_>, _>>()?;
    output::answer(asked.json, || as_json(&facts.id, &all), || as_text(&facts.id, &all))?;
    let sound = all.iter().all(|checked| checked.held.damaged == 0);
    Ok(if sound { Outcome::Fine } else { Outcome::Failed })
}

/// The systems of the run that hold blocks, where they are now.
fn systems(facts: &RunFacts, on: &[String]) -> Result<Vec<SystemSpec>, Failure> {
    let doing = |what: &str| Failure::new(format!("looking for the data of the run `{}`: {what}", facts.id));
    let study = judged::study_of(facts)?;
    let holds = |spec: &&SystemSpec| matches!(spec.place, Place::File { .. } | Place::Device { .. });
    let mut systems: Vec<SystemSpec> = study.systems().iter().filter(holds).cloned().collect();
    if systems.is_empty() {
        return Err(doing("a system of files or devices is needed, got none")
            .hint("`prony db check --ledger RUN` holds a database against its run"));
    }
    for text in on {
        let target = study::target(text).map_err(|problem| doing(&format!("reading the target: {problem}")))?;
        let named = systems.iter().position(|spec| spec.name == target.name);
        let at = named.or((systems.len() == 1).then_some(0));
        let names = || systems.iter().map(|spec| format!("`{}`", spec.name)).collect::<Vec<_>>().join(", ");
        let at = at.ok_or_else(|| doing(&format!("NAME=TARGET with the name of one of {}, got `{text}`", names())))?;
        if !holds(&&target) {
            return Err(doing(&format!("a folder, `file:DIR` or `device:PATH`, got `{text}`")));
        }
        systems[at].place = target.place;
    }
    Ok(systems)
}

fn check(file: &RunFile, facts: &RunFacts, spec: &SystemSpec, stop: &AtomicBool) -> Result<Checked, Failure> {
    let (system, name) = (spec.name.clone(), &spec.name);
    let recorded = facts.systems.iter().find(|known| known.name == *name);
    let count = recorded.map_or(1, |known| known.modules as usize);
    let modules = match &spec.place {
        Place::Device { paths, .. } => devices(paths, count, name)?,
        Place::File { dirs } => files(facts, name, dirs, count)?,
        _ => Vec::new(),
    };
    let (ledger, newer) = ledger(file, name)?;
    let left = Left {
        system: name,
        modules: &modules,
        count,
        seed: facts.seed,
        ledger: ledger.as_ref(),
        newer,
        range: spec.size,
    };
    let mut tenths = 0;
    let mut told = |read: Bytes, of: Bytes| {
        let now = 10 * read.0 / of.0.max(1);
        if now > tenths && output::stderr_watched() {
            output::note_line(&format!("{name}: {} of {} read", units::bytes(read), units::bytes(of)));
        }
        tenths = now;
    };
    let doing = |error| Failure::caused(format!("reading what the run `{}` left on `{name}`", facts.id), &error);
    let held = engine::hold_left(&left, stop, &mut told).map_err(doing)?;
    let mut places: Vec<String> = modules.iter().map(|module| module.path().display().to_string()).collect();
    // Of files that are gone the folder is told in which they were looked for.
    if let (true, Place::File { dirs }) = (places.is_empty(), &spec.place) {
        places.extend(dirs.iter().map(|dir| dir.path.clone()));
    }
    Ok(Checked { system, places, held, ledger: ledger.is_some() })
}

/// What the last trial on a system that has one knew of its writes, and whether more may have been written since.
fn ledger(file: &RunFile, system: &str) -> Result<(Option<Ledger>, bool), Failure> {
    let reading = |error| Failure::caused(format!("reading the run `{}`", file.path().display()), &error);
    let trials = file.trials().map_err(reading)?;
    let own = trials.iter().filter(|trial| trial.label.system == system);
    let mut newer = false;
    for trial in own.rev() {
        let kept = file.ledgers(trial.label.index).map_err(reading)?.pop();
        if kept.is_some() {
            return Ok((kept, newer || trial.state != TrialState::Finished));
        }
        newer = true;
    }
    Ok((None, true))
}

fn devices(paths: &[String], count: usize, name: &str) -> Result<Vec<Module>, Failure> {
    let open = |path: &String| {
        system::device::open_read_only(Path::new(path))
            .map_err(|error| Failure::caused(format!("opening the device `{path}` of `{name}`"), &error))
    };
    paths.iter().take(count).map(open).collect()
}

/// The scratch files of a run, which lie in folders that carry its id; no living process may hold them.
fn files(facts: &RunFacts, name: &str, dirs: &[Folder], count: usize) -> Result<Vec<Module>, Failure> {
    let recorded = facts.systems.iter().find(|known| known.name == name).map_or(&[][..], |known| &known.fingerprint);
    let known = |path: &Path| recorded.iter().any(|fact| fact.key.ends_with(".path") && Path::new(&fact.value) == path);
    let mut folders: Vec<Abandoned> = dirs.iter().flat_map(|dir| folders(Path::new(&dir.path), &facts.id)).collect();
    // Two systems of a run may lie in one place, and files may have been moved since.
    if folders.iter().any(|folder| known(folder.path())) {
        folders.retain(|folder| known(folder.path()));
    }
    let file = |index: usize| {
        let name = format!("module-{index}.dat");
        folders.iter().map(|folder| folder.path().join(&name)).find(|path| path.is_file())
    };
    let paths: Vec<PathBuf> = (0..count).map_while(file).collect();
    // Where its folder is still there, its files are missing, which is damage.
    if paths.is_empty() && folders.is_empty() {
        let what = format!(
            "looking for what the run `{}` left of `{name}` in {}: got no file",
            facts.id,
            study::folders_shown(dirs)
        );
        return Err(
            Failure::new(what).hint("scratch files stay with `prony run --keep`; --on names a folder that was moved")
        );
    }
    let opened = paths.iter().map(|path| system::file::open_read_only(path));
    opened.collect::<Result<_, _>>().map_err(|error| Failure::caused(format!("opening the files of `{name}`"), &error))
}

/// Scratch folders of a run in a folder, or the folder itself.
fn folders(dir: &Path, run_id: &str) -> Vec<Abandoned> {
    let own = dir.canonicalize().unwrap_or_else(|_| dir.to_path_buf());
    let inside = system::file::abandoned(&own).unwrap_or_default();
    inside.into_iter().chain(Abandoned::look(&own)).filter(|folder| folder.run_id() == run_id).collect()
}

/// How far the run's file knows what was written.
fn held_to(checked: &Checked) -> (&'static str, &'static str) {
    match (checked.ledger, checked.held.by_write) {
        (true, true) => ("writes", "every write that the run's file knows to be acknowledged"),
        (true, false) => {
            ("fill", "checksum, place and seed, and none older than the last fill: the file knows no single writes")
        }
        (false, _) => ("stamps", "checksum, place and seed: no trial of the run checked its writes"),
    }
}

fn generations(held: &Held) -> Option<[String; 2]> {
    held.generations.map(|(oldest, newest)| [oldest, newest].map(|generation| Printed(generation).to_string()))
}

fn as_text(run: &str, all: &[Checked]) -> String {
    let mut text = String::new();
    for checked in all {
        let held = &checked.held;
        let sound = counted(held.sectors, "sectors");
        text.push_str(&format!("{run} on {} ({})\n", checked.system, checked.places.join(", ")));
        text.push_str(&format!("  checked  {}, held to {}\n", units::bytes(held.bytes), held_to(checked).1));
        let ages = generations(held)
            .map_or_else(String::new, |[oldest, newest]| format!(", generations {oldest} to {newest}"));
        text.push_str(&format!("  sound    {sound}{ages}\n"));
        if held.unjudged > 0 {
            text.push_str(&format!("  unjudged {}\n", counted(held.unjudged, "sectors")));
        }
        for damage in &held.damage {
            text.push_str(&format!(
                "  DAMAGED  {} {}; first: {}\n",
                units::count(damage.count),
                damage.what,
                damage.first
            ));
        }
    }
    text
}

fn as_json(run: &str, all: &[Checked]) -> Value {
    let system = |checked: &Checked| {
        let held = &checked.held;
        let damage = held.damage.iter();
        json!({
            "system": checked.system,
            "places": checked.places,
            "passed": held.damaged == 0,
            "bytes": held.bytes.0,
            "sectors": held.sectors,
            "unjudged": held.unjudged,
            "damaged": held.damaged,
            "generations": generations(held),
            "held_to": held_to(checked).0,
            "damage": damage.map(|one| json!({ "what": one.what, "sectors": one.count, "first": one.first })).collect::<Vec<_>>(),
        })
    };
    json!({ "schema": "prony/verify/1", "run": run, "systems": all.iter().map(system).collect::<Vec<_>>() })
}
