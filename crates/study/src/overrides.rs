//! What the command line changes: `--on`, `--set`, `--only`, `--fail-if`.
//!
//! The one idea: an override is checked against the study like a line of its file, with the same limits and the same
//! hints; only its place is the option as it was typed.
//!
//! What it does not do: it applies nothing; see [`crate::resolve`].

use crate::definition::Definition;
use crate::experiment::LEVELS_MAX;
use crate::keys::layout::LAYOUT;
use crate::keys::mirror::MIRROR_DEVICE;
use crate::keys::{self, Key, keys, other};
use crate::password::Secret;
use crate::placing::places;
use crate::shipped::{Shipped, shipped};
use crate::{Engine, Folder};
use reading::{Origin, Problems, did_you_mean, known_names, listed, nearest};
use std::collections::BTreeSet;

/// Everything that the command line may change, as it was typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--on`: systems that take the place of the study's.
    pub targets: Vec<String>,
    /// `--set`: `KEY=VALUE`, a comma between levels.
    pub settings: Vec<String>,
    /// `--only`: experiments or workloads that are kept.
    pub only: Vec<String>,
    /// `--fail-if`: more thresholds.
    pub fail_if: Vec<String>,
    /// Whether private servers are given only settings that move their performance: always for a run, unless
    /// `--allow-server-settings` is given, and never for a look at one that was made.
    pub listed_settings: bool,
    /// The targets that were typed on this command line, with or without passwords: no other server is told a password of
    /// `passwords`.
    pub named: Vec<String>,
    /// Passwords of servers whose URLs say none, those of `--password-file` before those of the environment.
    pub passwords: Vec<(Engine, Secret)>,
}

impl Overrides {
    /// The same, with `--set workload=NAME` as the `--only NAME` that it is; a parameter of that name is the study's own.
    pub(crate) fn with_workload(&self, definition: &Definition) -> Overrides {
        let mut all = self.clone();
        if definition.parameters.iter().all(|parameter| parameter.name != "workload") {
            let named = |text: &String| {
                Some(text.split_once('=').filter(|(key, _)| key.trim() == "workload")?.1.trim().to_owned())
            };
            all.only.extend(self.settings.iter().filter_map(named));
            all.settings.retain(|text| named(text).is_none());
        }
        all
    }

    /// Whether everything that the study measures is measured, as it says.
    pub fn leaves_all(&self) -> bool {
        self.targets.is_empty() && self.settings.is_empty() && self.only.is_empty()
    }
}

/// What a `--set` is narrowed to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scope {
    /// Every experiment that the key applies to.
    All,
    /// One experiment.
    Experiment(String),
    /// One workload.
    Workload(String),
    /// One system.
    System(String),
}

/// A `--set` of a key, checked.
#[derive(Clone, Debug)]
pub(crate) struct SetKey {
    pub scope: Scope,
    pub key: Key,
    /// Texts that the key has accepted, with their numbers.
    pub levels: Vec<(String, Option<f64>)>,
    pub at: Origin,
}

/// All `--set`, checked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sets {
    pub keys: Vec<SetKey>,
    pub parameters: Vec<(String, String, Origin)>,
}

/// Checks every `--set` against the keys and names of a study.
pub(crate) fn sets(
    definition: &Definition,
    systems: &[String],
    overrides: &Overrides,
    problems: &mut Problems,
) -> Sets {
    let mut sets = Sets::default();
    for text in &overrides.settings {
        let at = Origin::Option(format!("--set {text}"));
        let Some((name, value)) = text.split_once('=') else {
            problems.add(&at, "", format!("KEY=VALUE, got `{text}`"));
            continue;
        };
        let (name, value) = (name.trim(), value.trim());
        if definition.parameters.iter().any(|parameter| parameter.name == name) {
            sets.parameters.push((name.to_owned(), value.to_owned(), at));
        } else {
            let said = both(name, value, &at, problems);
            let set = |(name, value): (String, String)| set_key(definition, systems, &name, &value, &at, problems);
            sets.keys.extend(said.into_iter().filter_map(set));
        }
    }
    sets
}

/// What a setting says: one key, or both that a word of another tool stands for.
fn both(name: &str, value: &str, at: &Origin, problems: &mut Problems) -> Vec<(String, String)> {
    let place = match name.rsplit_once('.') {
        Some((place, other::RW)) => format!("{place}."),
        None if name == other::RW => String::new(),
        _ => return vec![(name.to_owned(), value.to_owned())],
    };
    let said = problems.kept(at, name, other::rw(value)).into_iter().flatten();
    said.map(|(key, text)| (format!("{place}{}", key.name()), text.to_owned())).collect()
}

fn set_key(
    definition: &Definition,
    systems: &[String],
    name: &str,
    value: &str,
    at: &Origin,
    problems: &mut Problems,
) -> Option<SetKey> {
    let (scope, name) = match name.rsplit_once('.') {
        None => (Scope::All, name),
        Some((place, key)) => (scope(definition, systems, place, at, problems)?, key),
    };
    let Some(key) = keys::find(name) else {
        let parameters = definition.parameters.iter().map(|parameter| parameter.name.as_str());
        // Keys that some workload of the study has a use for come first: of `rows` and `row` only one may be meant.
        let used = |key: &Key| definition.workloads.iter().any(|workload| key.applies(workload.kind));
        let of_study: Vec<&str> = keys().filter(used).map(|key| key.name()).chain(parameters).collect();
        let hint = elsewhere(name).or_else(|| did_you_mean(name, of_study));
        problems.add_with(at, name, "unknown key", Some(hint.unwrap_or_else(|| any_key(name))));
        return None;
    };
    let mut levels: Vec<(String, Option<f64>)> = Vec::new();
    // A folder on a device, and a list of names, have commas of their own.
    let whole = places(key.group) && !key.is(&LAYOUT);
    let texts: Vec<String> = match key.is(&MIRROR_DEVICE) {
        true => Folder::listed(value),
        false => value.split(if whole { '\0' } else { ',' }).map(|text| text.trim().to_owned()).collect(),
    };
    let given = texts.len();
    if given > LEVELS_MAX {
        problems.add(at, name, format!("a list of at most {LEVELS_MAX} levels, got {given}"));
        return None;
    }
    for text in &texts {
        if levels.iter().any(|(earlier, _)| key.same(earlier, text)) {
            problems.add_if_new(at, name, format!("every level once, got `{text}` twice"));
        }
        levels.extend(problems.kept(at, name, key.check(text)).map(|number| (text.to_owned(), number)));
    }
    (!levels.is_empty()).then(|| SetKey { scope, key, levels, at: at.clone() })
}

/// The shipped studies that have a parameter of that name: it stands in no other one.
fn elsewhere(name: &str) -> Option<String> {
    let table = format!("[parameter.{name}]");
    let has = |study: &&Shipped| study.text.lines().any(|line| line.trim() == table);
    let studies: Vec<&str> = shipped().iter().filter(has).map(|study| study.name).collect();
    let of = if studies.len() == 1 { "the shipped study" } else { "the shipped studies" };
    (!studies.is_empty()).then(|| format!("it is a parameter of {of} {}, and not of this one", listed(studies)))
}

/// The key that was meant, or the few that are nearest, once each: several workloads may have one of the same name. Words of other
/// tools are keys, too.
fn any_key(name: &str) -> String {
    let names: BTreeSet<&str> = keys().map(|key| key.name()).chain(other::WORDS).collect();
    did_you_mean(name, names.iter().copied()).unwrap_or_else(|| {
        let near = listed(nearest(name, names, 3));
        format!(
            "did you mean one of {near}? `prony reference keys` prints all keys; of other tools {} are understood",
            listed(other::WORDS)
        )
    })
}

fn scope(
    definition: &Definition,
    systems: &[String],
    place: &str,
    at: &Origin,
    problems: &mut Problems,
) -> Option<Scope> {
    let experiments = definition.experiments.iter().map(|experiment| experiment.name.as_str());
    let workloads = definition.workloads.iter().map(|workload| workload.name.as_str());
    if experiments.clone().any(|name| name == place) {
        return Some(Scope::Experiment(place.to_owned()));
    }
    if workloads.clone().any(|name| name == place) {
        return Some(Scope::Workload(place.to_owned()));
    }
    if systems.iter().any(|name| name == place) {
        return Some(Scope::System(place.to_owned()));
    }
    let known: Vec<&str> = experiments.chain(workloads).chain(systems.iter().map(String::as_str)).collect();
    problems.add_with(at, place, "the name of an experiment, a workload or a system", Some(known_names(place, known)));
    None
}
