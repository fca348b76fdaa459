//! A read-only look at the places that a study names, for the planner.
//!
//! The one idea: the planner is pure, so that what it must know of the machine (how large, how much is free, how many) is
//! gathered here beforehand, and nothing is opened or written for it.

use crate::failure::Failure;
use std::path::{Path, PathBuf};
use study::{Place, Survey, SurveyedSystem, SystemSpec};
use system::survey::{self, DeviceSurvey, FolderSurvey};
use units::Bytes;

/// Looks at every system of a study.
///
/// # Errors
/// When a folder or device is not there, or is something else.
pub fn survey(specs: &[SystemSpec]) -> Result<Survey, Failure> {
    let systems = specs.iter().map(look).collect::<Result<_, _>>()?;
    Ok(Survey { systems })
}

fn look(spec: &SystemSpec) -> Result<SurveyedSystem, Failure> {
    match &spec.place {
        Place::File { dirs } => folders(spec, dirs),
        Place::Device { paths, .. } => devices(spec, paths),
        Place::Model { .. } => described(spec),
        Place::Null | Place::Scripted(_) | Place::Database(_) => Ok(SurveyedSystem {
            null_or_scripted: true,
            transactions: matches!(spec.place, Place::Database(_)),
            ..real(spec)
        }),
    }
}

/// A system of storage without limits, to begin with.
fn real(spec: &SystemSpec) -> SurveyedSystem {
    SurveyedSystem {
        name: spec.name.clone(),
        modules_max: None,
        size_max: None,
        sector: Bytes(512),
        free: None,
        null_or_scripted: false,
        transactions: false,
        ring: engine::ring_allowed(),
    }
}

/// A model says itself how many modules it has, and some how large one is; it is no device with sectors.
fn described(spec: &SystemSpec) -> Result<SurveyedSystem, Failure> {
    let found = crate::models::of(spec)?;
    let size_max = found.as_ref().and_then(|found| model::module_bytes(&found.description)).map(Bytes);
    let transactions = found.as_ref().is_some_and(|found| model::transactions(&found.description));
    let modules_max = match found {
        None => None,
        Some(found) => match model::modules(&found.description) {
            None if !transactions => return Err(lawful(spec, &found.description)),
            Some(max) if spec.modules.is_some_and(|asked| asked > max) => return Err(beyond(spec, max)),
            modules => modules,
        },
    };
    Ok(SurveyedSystem { modules_max, size_max, sector: Bytes(1), null_or_scripted: true, transactions, ..real(spec) })
}

/// The model says how many modules there are; more of them would be another machine.
fn beyond(spec: &SystemSpec, max: u32) -> Failure {
    let asked = spec.modules.unwrap_or_default();
    let what = format!("looking at the model of system `{}`: at most {max} modules, got {asked}", spec.name);
    Failure::new(what).hint("ask for fewer with `--set modules=..`, or describe a larger machine in a model file")
}

/// A model that answers rows and cannot be loaded.
fn lawful(spec: &SystemSpec, description: &model::file::Description) -> Failure {
    let setting = model::Setting { modules: 1, slots: 1, seed: 0, module_bytes: 0 };
    let doing = format!("looking at the model of system `{}`", spec.name);
    let failure = match model::machine(description, &setting) {
        Err(error) => Failure::caused(doing, &error),
        Ok(_) => Failure::new(doing),
    };
    let runnable = crate::models::runnable();
    failure.hint(format!("studies run on {}", reading::listed(runnable)))
}

fn folders(spec: &SystemSpec, dirs: &[String]) -> Result<SurveyedSystem, Failure> {
    let look = |dir: &String| {
        survey::folder(Path::new(dir)).map_err(|error| {
            Failure::caused(format!("looking at the folder `{dir}` of system `{}`", spec.name), &error)
                .hint(format!("make it with `mkdir -p {dir}`, or name another place with --on"))
        })
    };
    let seen: Vec<FolderSurvey> = dirs.iter().map(look).collect::<Result<_, _>>()?;
    Ok(SurveyedSystem {
        sector: seen.iter().map(|folder| folder.sector).max().unwrap_or(Bytes(512)),
        // Modules alternate between folders, so that the fullest decides for all.
        free: seen.iter().map(|folder| folder.free).min().map(|free| Bytes(free.0.saturating_mul(distinct(&seen)))),
        ..real(spec)
    })
}

/// How many different folders there are: two names of one folder do not double its space.
fn distinct(seen: &[FolderSurvey]) -> u64 {
    let mut paths: Vec<&PathBuf> = seen.iter().map(|folder| &folder.path).collect();
    paths.sort();
    paths.dedup();
    paths.len() as u64
}

fn devices(spec: &SystemSpec, paths: &[String]) -> Result<SurveyedSystem, Failure> {
    let look = |path: &String| {
        survey::device(Path::new(path)).map_err(|error| {
            Failure::caused(format!("looking at the device `{path}` of system `{}`", spec.name), &error)
                .hint("list the block devices of this machine with `lsblk`")
        })
    };
    let seen: Vec<DeviceSurvey> = paths.iter().map(look).collect::<Result<_, _>>()?;
    Ok(SurveyedSystem {
        modules_max: Some(seen.len() as u32),
        size_max: seen.iter().map(|device| device.size).min(),
        sector: seen.iter().map(|device| device.sector).max().unwrap_or(Bytes(512)),
        ..real(spec)
    })
}
