//! A read-only look at the places that a study names, for the planner.
//!
//! The one idea: the planner is pure, so that what it must know of the machine (how large, how much is free, how many) is
//! gathered here beforehand, and nothing is opened or written for it.

use crate::failure::Failure;
use model::file::Description;
use model::kind::Reach;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use study::{DescribedKeys, Folder, Place, Survey, SurveyedSystem, SystemSpec};
use system::survey::{self, DeviceSurvey, FolderSurvey};
use units::Bytes;
use workload::happening::Happening;

/// Looks at every system of a study.
///
/// # Errors
/// When a folder or device is not there, or is something else.
pub fn survey(specs: &[SystemSpec]) -> Result<Survey, Failure> {
    let systems = specs.iter().map(look).collect::<Result<_, _>>()?;
    let cores = std::thread::available_parallelism().ok().map(|cores| cores.get() as u32);
    Ok(Survey { systems, cores, unheld: probe::Quota::refused() })
}

fn look(spec: &SystemSpec) -> Result<SurveyedSystem, Failure> {
    match &spec.place {
        Place::File { dirs } => folders(spec, dirs),
        Place::Device { paths, .. } => devices(spec, paths),
        Place::Model { .. } => described(spec),
        Place::Null | Place::Scripted(_) | Place::Database(_) => Ok(SurveyedSystem {
            null_or_scripted: true,
            transactions: matches!(spec.place, Place::Database(_)),
            happens: Some(spec.place.may_happen()),
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
        happens: Some(Vec::new()),
        loses: false,
        described: None,
    }
}

/// A model says itself how many modules it has, and some how large one is; it is no device with sectors.
fn described(spec: &SystemSpec) -> Result<SurveyedSystem, Failure> {
    let found = crate::models::of(spec)?;
    let size_max = found.as_ref().and_then(|found| model::module_bytes(&found.description)).map(Bytes);
    let transactions = found.as_ref().is_some_and(|found| model::transactions(&found.description));
    let modules_max = match found {
        None => None,
        Some(ref found) => match model::modules(&found.description) {
            None if !transactions => return Err(lawful(spec, &found.description)),
            Some(max) if spec.modules.is_some_and(|asked| asked > max) => return Err(beyond(spec, max)),
            modules => modules,
        },
    };
    let loses = found.as_ref().is_some_and(|found| model::loses(&found.description));
    let happens = found.as_ref().map(|found| model::happenings(&found.description, u32::MAX));
    let described = found.map(|found| answered(&found.description));
    let (sector, null_or_scripted) = (Bytes(1), true);
    Ok(SurveyedSystem {
        modules_max,
        size_max,
        sector,
        null_or_scripted,
        transactions,
        happens,
        loses,
        described,
        ..real(spec)
    })
}

/// What becomes of the keys of a study on a described machine.
fn answered(model: &Description) -> DescribedKeys {
    let of = |reach: Reach| study::keys().map(|key| key.name()).filter(|name| model.reach(name) == reach).collect();
    DescribedKeys { kind: model.kind.word().to_owned(), answered: of(Reach::Answered), held: of(Reach::Held) }
}

/// Systems of which nothing is known but that they do what is asked of them.
pub fn anything(specs: &[SystemSpec]) -> Survey {
    let all = |spec| SurveyedSystem {
        transactions: true,
        sector: Bytes(1),
        null_or_scripted: true,
        happens: None,
        loses: false,
        ..real(spec)
    };
    Survey { systems: specs.iter().map(all).collect(), ..Survey::default() }
}

/// A described machine of any size: it has as many modules as are asked for, unless its model only knows those that there are.
pub fn unlimited(spec: &SystemSpec, model: &Description) -> Survey {
    let system = SurveyedSystem {
        modules_max: model::modules(model).filter(|_| !model.kind.has_more()),
        size_max: model::module_bytes(model).map(Bytes),
        transactions: model::transactions(model),
        sector: Bytes(1),
        null_or_scripted: true,
        happens: Some(model::happenings(model, u32::MAX)),
        loses: model::loses(model),
        described: Some(answered(model)),
        ..real(spec)
    };
    Survey { systems: vec![system], ..Survey::default() }
}

/// The model says how many modules there are; more of them would be another machine.
fn beyond(spec: &SystemSpec, max: u32) -> Failure {
    let asked = spec.modules.unwrap_or_default();
    let what = format!("looking at the model of system `{}`: at most {max} modules, got {asked}", spec.name);
    Failure::new(what).hint("ask for fewer with `--set modules=..`, or describe a larger machine in a model file")
}

/// A model that answers rows and cannot be loaded.
fn lawful(spec: &SystemSpec, description: &Description) -> Failure {
    let setting = model::Setting { modules: 1, slots: 1, seed: 0, module_bytes: 0, ..model::Setting::default() };
    let doing = format!("looking at the model of system `{}`", spec.name);
    let failure = match model::machine(description, &setting) {
        Err(error) => Failure::caused(doing, &error),
        Ok(_) => Failure::new(doing),
    };
    let runnable = crate::models::runnable();
    failure.hint(format!("studies run on {}", reading::listed(runnable)))
}

fn folders(spec: &SystemSpec, dirs: &[Folder]) -> Result<SurveyedSystem, Failure> {
    let look = |Folder { path: dir, .. }: &Folder| {
        survey::folder(Path::new(dir)).map_err(|error| {
            Failure::caused(format!("looking at the folder `{dir}` of system `{}`", spec.name), &error).hint(
                instead(dir)
                    .unwrap_or_else(|| format!("make it with `mkdir -p {dir}`, or name another place with --on")),
            )
        })
    };
    let seen: Vec<FolderSurvey> = dirs.iter().map(look).collect::<Result<_, _>>()?;
    let (happens, loses) = emulated(dirs)?;
    Ok(SurveyedSystem {
        happens: Some(happens),
        loses,
        sector: seen.iter().map(|folder| folder.sector).max().unwrap_or(Bytes(512)),
        // Modules alternate between folders, so that the fullest decides for all.
        free: seen.iter().map(|folder| folder.free).min().map(|free| Bytes(free.0.saturating_mul(distinct(&seen)))),
        ..real(spec)
    })
}

/// How something is named that is there, and is of another kind than it was named as.
fn instead(path: &str) -> Option<String> {
    let kind = fs::metadata(path).ok()?.file_type();
    if kind.is_block_device() {
        return Some(format!("it is a block device: name it with `--on device:{path}`"));
    }
    if kind.is_dir() {
        return Some(format!("it is a folder: scratch files are made there with `--on {path}`"));
    }
    if !kind.is_file() {
        return None;
    }
    let mut first = [0; 15];
    let database =
        fs::File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok() && &first == b"SQLite format 3";
    Some(match database {
        true => format!("it is a database of SQLite: name it with `--on sqlite:{path}`"),
        false => format!(
            "it is a file: name it as one that exists with `--on device:{path}`, or its folder for scratch files"
        ),
    })
}

/// What can happen to folders: what all of the devices that they lie on know; and whether parts of one are lost from the beginning.
fn emulated(dirs: &[Folder]) -> Result<(Vec<(String, u32)>, bool), Failure> {
    let (mut common, mut loses): (Option<Vec<(String, u32)>>, bool) = (None, false);
    for dir in dirs {
        let known = match dir.device.as_deref() {
            Some(word) => {
                let model = crate::model_file::device(word)?;
                loses |= model.as_ref().is_some_and(model::loses);
                // It is mounted with one module.
                let parts = model.as_ref().map(|model| model::happenings(model, 1)).unwrap_or_default();
                Happening::of_devices().into_iter().chain(parts).collect()
            }
            None if emulate::is_device(Path::new(&dir.path)) => Happening::of_devices(),
            None => Vec::new(),
        };
        common = Some(match common {
            None => known,
            Some(all) => all.into_iter().filter(|one| known.contains(one)).collect(),
        });
    }
    Ok((common.unwrap_or_default(), loses))
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
                .hint(instead(path).unwrap_or_else(|| "list the block devices of this machine with `lsblk`".to_owned()))
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

#[cfg(test)]
mod tests {
    use super::*;
    use study::{Group, Key, Study};

    /// Two levels of every key.
    const LEVELS: &[(&str, [&str; 2])] = &[
        ("size", ["2 MiB", "1 GiB"]),
        ("modules", ["1", "2"]),
        ("pattern", ["random", "sequential"]),
        ("offsets", ["uniform", "zipf 0.9"]),
        ("transfer", ["4 KiB", "8 KiB"]),
        ("write_transfer", ["4 KiB", "8 KiB"]),
        ("read", ["100%", "50%"]),
        // So little that it fits beside reads alone, which is the default.
        ("trims", ["0%", "0.0000001%"]),
        ("offset", ["0 B", "1 MiB"]),
        ("shift", ["0 B", "512 B"]),
        ("range", ["100%", "50%"]),
        ("compressible", ["0%", "50%"]),
        ("duplicate", ["0%", "50%"]),
        ("duplicate_unit", ["4 KiB", "8 KiB"]),
        ("operations", ["unlimited", "100"]),
        ("preset", ["desk", "house"]),
        ("customers", ["1000", "2000"]),
        ("days", ["5", "6"]),
        ("market", ["by-time", "by-count"]),
        ("maintenance", ["true", "false"]),
        ("procedures", ["false", "true"]),
        ("sessions", ["1", "2"]),
        ("threads", ["1", "2"]),
        ("protocol", ["prepared", "simple"]),
        ("pipeline", ["true", "false"]),
        ("isolation", ["default", "serializable"]),
        ("tries", ["10", "11"]),
        ("reopen", ["0", "5"]),
        ("partitions", ["0", "4"]),
        ("partition_method", ["range", "hash"]),
        ("latency_limit", ["0 s", "50 ms"]),
        ("spread", ["one", "random"]),
        ("on_error", ["go-on", "stop"]),
        ("on_outage", ["end", "wait"]),
        ("recovery", ["120 s", "60 s"]),
        ("server", ["", "work_mem=8MB"]),
        ("check", ["true", "false"]),
        ("profile", ["true", "false"]),
        ("direct", ["true", "false"]),
        ("sync", ["never", "each"]),
        ("driver", ["auto", "plain"]),
        ("poll", ["false", "true"]),
        ("sqpoll", ["false", "true"]),
        ("cpus", ["any", "0"]),
        ("workers", ["1", "2"]),
        ("pin", ["false", "true"]),
        ("priority", ["off", "idle"]),
        ("validate", ["false", "true"]),
        ("verify", ["never", "after"]),
        ("outstanding", ["1", "2"]),
        ("per", ["system", "module"]),
        ("users", ["off", "5"]),
        ("think", ["0 s", "1 ms"]),
        ("think_times", ["constant", "exponential"]),
        ("rate", ["10 /s", "20 /s"]),
        ("arrivals", ["poisson", "constant"]),
        ("slots", ["256", "128"]),
        ("pacing", ["sleep", "spin"]),
        ("ramp", ["0 s", "1 s"]),
        ("precondition", ["off", "2 fills"]),
        ("trim", ["false", "true"]),
        ("refill", ["false", "true"]),
        ("cache", ["as-left", "cold"]),
        ("state", ["left", "restore"]),
        ("checkpoints", ["cycles", "force"]),
        ("distance", ["0", "10"]),
        ("link", ["plain", "capacity=1MB/s"]),
        ("resync_link", ["same", "capacity=1MB/s"]),
        ("cores", ["all", "0.5"]),
        ("fault", ["none", "cut"]),
        ("at", ["1 s", "2 s"]),
        ("resume", ["1 s", "2 s"]),
        ("patience", ["1 s", "2 s"]),
        ("settle", ["0 s", "1 s"]),
        ("warm_up", ["1 s", "2 s"]),
        ("measure", ["1 s", "2 s"]),
        ("interval", ["1 s", "2 s"]),
        ("round", ["1 s", "2 s"]),
        ("drain", ["10 s", "5 s"]),
        ("events", ["", "10 ms: fail path 0"]),
        ("replicates", ["auto", "2"]),
        ("replicates_max", ["32", "16"]),
    ];

    /// What a plan for a model says of a key that is varied, or set to its second level alone.
    fn planned(model: &Description, workload: &str, key: &str, levels: &[&str]) -> String {
        let levels: Vec<String> = levels.iter().map(|level| format!("'{level}'")).collect();
        // Several threads need as many at once to share, and only a load that waits is paced.
        let load = match (key, workload) {
            ("pacing", _) => "load = { think = '1 ms' }\n",
            ("workers" | "threads", "block") => "load = { outstanding = 4 }\n",
            ("workers" | "threads", _) => "load = { sessions = 4 }\n",
            _ => "",
        };
        let text = format!(
            "title = 'One'\nquestion = 'What?'\n[system.s]\nkind = 'model'\nname = '{}'\n[workload.w]\nkind = '{workload}'\n\
             [[experiment]]\nname = 'all'\nworkload = 'w'\n{load}factor.{key} = [{}]\n",
            model.name,
            levels.join(", ")
        );
        let study = match Study::parse("one", &text) {
            Ok(study) => study,
            Err(problems) => return problems.to_string(),
        };
        let spec = study.systems().first().expect("it has one");
        match study::plan(&study, &unlimited(spec, model), 1) {
            Ok(plan) => plan.notes.join("\n"),
            Err(problems) => problems.to_string(),
        }
    }

    /// Whether a text refuses the key as one that the kind does not answer.
    fn refused(text: &str, key: &str, kind: &str) -> bool {
        let varied = format!("`{key}` as a factor, which moves no answer of a {kind}");
        text.contains(&varied) || text.contains(&format!("`{key}`, of which a {kind} knows nothing"))
    }

    #[test]
    fn every_kind_of_model_answers_a_key_or_refuses_it_by_name() {
        let (mut kinds, mut wrong): (Vec<model::kind::ModelKind>, Vec<String>) = (Vec::new(), Vec::new());
        for shipped in model::models() {
            let Ok(model) = model::file::read(shipped.name, shipped.text) else { panic!("{}", shipped.name) };
            let (storage, transactions) = (model::modules(&model).is_some(), model::transactions(&model));
            if kinds.contains(&model.kind) || !(storage || transactions) {
                continue;
            }
            kinds.push(model.kind);
            let workload = if transactions { "brokerage" } else { "block" };
            let row = workload::WORKLOADS.iter().find(|row| row.word == workload).expect("it is one");
            let means = |key: &Key| key.group != Group::Opening && key.applies(row);
            for key in study::keys().filter(means).map(|key| key.name()) {
                let (_, levels) =
                    LEVELS.iter().find(|(known, _)| *known == key).unwrap_or_else(|| panic!("levels of {key}"));
                let kind = model.kind.word();
                // Repeats are no factor anywhere.
                if key.starts_with("replicates") {
                    assert_eq!(model.reach(key), Reach::Held);
                    continue;
                }
                let (varied, set) =
                    (planned(&model, workload, key, levels), planned(&model, workload, key, &levels[1..]));
                let found = (refused(&varied, key, kind), refused(&set, key, kind));
                let wanted = match model.reach(key) {
                    Reach::Answered => (false, false),
                    Reach::Held => (true, false),
                    Reach::Default => (true, true),
                };
                if found != wanted {
                    wrong.push(format!("{kind}: {key}: {varied} / {set}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert_eq!(kinds.len(), 9, "every kind with stations ships: {kinds:?}");
    }
}
