//! Definition and overrides to experiments and systems.
//!
//! The one idea: parameters become values here, gated experiments fall away, `--set` becomes a layer or a factor's levels,
//! and `--only` keeps what it names; what comes out is complete.
//!
//! What it does not do: it expands nothing.

use crate::definition::{Definition, ExperimentDefinition, FactorWith, Given, Setting, StreamDefinition, SystemWith};
use crate::experiment::{Chosen, Experiment, FactorChoice, StreamChoice, SystemChoice};
use crate::keys::layout::LAYOUT;
use crate::keys::mirror::MIRROR;
use crate::keys::{Group, Key, phases, system};
use crate::mirroring::{self, mirrors};
use crate::overrides::{Overrides, Scope, SetKey, Sets, sets};
use crate::{Deadline, Place, SystemSpec, deadline, placing, target};
use reading::{Origin, Problems, known_names, listed};
use workload::Interface;

/// What a study comes down to.
pub(crate) struct Resolved {
    pub systems: Vec<SystemChoice>,
    pub experiments: Vec<Experiment>,
    pub deadline: Option<Deadline>,
    pub notes: Vec<String>,
}

/// Words that switch a gated experiment off.
const OFF: [&str; 4] = ["off", "false", "no", "0"];

/// Applies the overrides; `whole` when these are all, and not the text alone is read.
pub(crate) fn resolve(
    definition: &Definition,
    overrides: &Overrides,
    whole: bool,
    problems: &mut Problems,
) -> Resolved {
    let mut systems = systems(definition, overrides, problems);
    let names: Vec<String> = systems.iter().map(|system| system.spec.name.clone()).collect();
    let sets = sets(definition, &names, overrides, problems);
    let resolver = Resolver { definition, sets: &sets };
    resolver.system_settings(&mut systems, problems);
    let named: Vec<placing::Named> = definition
        .layouts
        .iter()
        .map(|own| placing::Named { name: own.name.clone(), settings: resolver.all(&own.settings, problems) })
        .collect();
    let as_named = systems.clone();
    let left_out = placing::leave_out(&mut systems);
    let systems = placing::apart(placing::apart(systems, &LAYOUT), &MIRROR);
    let mut systems = mirroring::apart(systems);
    // A study of tiers is sound before anybody has named its folders; whoever runs it says which are missing.
    let steps = definition.proof.is_some();
    let whole = whole && !(steps && overrides.leaves_all());
    placing::settle(&mut systems, &named, (whole, steps), problems);
    mirroring::settle(&mut systems, overrides.targets.is_empty(), problems);
    mirroring::same_log(&mut systems);
    for system in &mut systems {
        if let Place::Database(spec) = &mut system.spec.place
            && let Some(named) = overrides.named.iter().find_map(|text| spec.named_by(text))
        {
            let named = named.with_password_of(&overrides.passwords);
            (spec.engine, spec.at) = (named.engine, named.at);
        }
    }
    let mut notes = Vec::new();
    let mut experiments = resolver.experiments(&mut notes, problems);
    if let [_, ..] = left_out.as_slice() {
        // What only they could run goes with them.
        let transactions = |stream: &StreamChoice| stream.kind.interface == Interface::Database;
        let only_theirs = |experiment: &mut Experiment| experiment.variants.iter().flatten().all(transactions);
        let gone = experiments.extract_if(.., only_theirs).map(|experiment| experiment.name);
        notes.extend(gone.map(|name| {
            format!("`{name}` needs both tiers: `--set slow=emulated:disk-15k:DIR1 --set fast=emulated:nand-device:DIR2` measures it")
        }));
    }
    keep_only(definition, overrides, &mut experiments, problems);
    for set in &sets.keys {
        notes.extend(flattened(set, &experiments));
        apply(set, &mut experiments, &as_named, problems);
    }
    mirroring::wired(&systems, &experiments, problems);
    if experiments.is_empty() && problems.list.is_empty() {
        let gated = definition.experiments.iter().filter_map(|e| e.when.as_ref()).map(|when| when.text.as_str());
        let hint = format!("switch one on with `--set PARAMETER=VALUE`: {}", listed(gated));
        problems.add_with(&Origin::Whole, "experiment", "at least one experiment that is on, got none", Some(hint));
    }
    let deadline = definition.deadline.as_ref();
    let deadline = deadline.and_then(|table| deadline::resolved(table, |name| resolver.parameter(name).0, problems));
    Resolved { systems, experiments, deadline, notes }
}

/// The study's systems, or those of `--on`. Scratch files and simulated systems keep the size that the study gives to
/// its first system; a device is used whole unless `--set size` says otherwise.
fn systems(definition: &Definition, overrides: &Overrides, problems: &mut Problems) -> Vec<SystemChoice> {
    if overrides.targets.is_empty() {
        // The systems of a run stand in its run file.
        // One that cannot be read was told already.
        let told = problems.list.iter().any(|problem| problem.key.starts_with("system."));
        if definition.systems.is_empty() && !problems.has_run && !told {
            let hint = Some("add `[system.NAME]` or give `--on DIR`".to_owned());
            problems.add_with(&Origin::Whole, "system", "at least one system, got none", hint);
        }
        let plain = |system: &SystemWith<Setting>| SystemChoice { spec: system.spec.clone(), settings: Vec::new() };
        return definition.systems.iter().map(plain).collect();
    }
    let mut specs = Vec::new();
    for text in &overrides.targets {
        let at = Origin::Option(format!("--on {}", crate::password::without_password(text)));
        let Some(spec) = problems.kept(&at, "", target::parse(text)) else { continue };
        if matches!(&spec.place, Place::Scripted(script) if target::takes_no_time(script)) {
            problems.add_if_new(&at, "service", target::NO_TIME);
        }
        specs.push(spec);
    }
    target::distinct(&mut specs);
    specs.into_iter().map(|spec| SystemChoice { spec, settings: Vec::new() }).collect()
}

struct Resolver<'a> {
    definition: &'a Definition,
    sets: &'a Sets,
}

impl Resolver<'_> {
    fn parameter(&self, name: &str) -> (String, Option<Origin>) {
        let set = self.sets.parameters.iter().rev().find(|(known, ..)| known == name);
        let default = || self.definition.parameters.iter().find(|p| p.name == name).map(|p| p.default.clone());
        match set {
            Some((_, value, at)) => (value.clone(), Some(at.clone())),
            None => (default().unwrap_or_default(), None),
        }
    }

    fn chosen(&self, setting: &Setting, problems: &mut Problems) -> Option<Chosen> {
        self.levels(setting, false, problems).pop()
    }

    /// The values of a setting: one, or the list that a parameter holds where a list makes sense.
    fn levels(&self, setting: &Setting, list: bool, problems: &mut Problems) -> Vec<Chosen> {
        let make = |text, number, at, by_parameter| Chosen {
            key: setting.key,
            text,
            number,
            at,
            by_parameter,
            narrowed: false,
        };
        let name = match &setting.given {
            Given::Value(text, number) => return vec![make(text.clone(), *number, setting.at.clone(), false)],
            Given::Parameter(name) => name,
        };
        let (text, option) = self.parameter(name);
        let at = option.unwrap_or_else(|| setting.at.clone());
        let texts: Vec<&str> = if list { text.split(',').map(str::trim).collect() } else { vec![text.as_str()] };
        let mut chosen = Vec::new();
        for text in texts {
            match setting.key.check(text) {
                Ok(number) => chosen.push(make(text.to_owned(), number, at.clone(), true)),
                Err(message) => problems.add(&at, setting.key.name(), format!("through `${name}`: {message}")),
            }
        }
        chosen
    }

    fn all(&self, settings: &[Setting], problems: &mut Problems) -> Vec<Chosen> {
        settings.iter().filter_map(|setting| self.chosen(setting, problems)).collect()
    }

    fn system_settings(&self, systems: &mut [SystemChoice], problems: &mut Problems) {
        let own = |name: &str| self.definition.systems.iter().find(|system| system.spec.name == name);
        for system in systems.iter_mut() {
            system.settings = match own(&system.spec.name).filter(|own| own.spec.place == system.spec.place) {
                Some(own) => self.all(&own.settings, problems),
                None if matches!(system.spec.place, Place::Device { .. }) => Vec::new(),
                None => {
                    let first = self.definition.systems.first().map(|first| self.all(&first.settings, problems));
                    first.unwrap_or_default().into_iter().filter(|chosen| chosen.key.is(&system::SIZE)).collect()
                }
            };
            let narrowed = Scope::System(system.spec.name.clone());
            let meant =
                |set: &&SetKey| set.scope == narrowed || set.scope == Scope::All && takes(&system.spec, set.key);
            let set = self.sets.keys.iter().filter(meant);
            for set in set {
                let levels = if several(set.key) { &set.levels[..] } else { &set.levels[..1] };
                system.settings.extend(levels.iter().map(|level| chosen_of(set, level, true)));
            }
        }
    }

    fn experiments(&self, notes: &mut Vec<String>, problems: &mut Problems) -> Vec<Experiment> {
        let mut experiments = Vec::new();
        for definition in &self.definition.experiments {
            if let Some(when) = &definition.when {
                let (value, _) = self.parameter(&when.text);
                if OFF.contains(&value.as_str()) || value.is_empty() {
                    let usual = self.definition.parameters.iter().find(|known| known.name == when.text);
                    // What is on unless it is switched off has a value to paste; what else is off has its own.
                    let on = usual.map(|known| known.default.as_str()).filter(|value| !OFF.contains(value));
                    let on = on.filter(|value| !value.is_empty()).unwrap_or("..");
                    notes.push(format!("`{}` is off; `--set {}={on}` switches it on", definition.name, when.text));
                    continue;
                }
            }
            experiments.push(self.experiment(definition, problems));
        }
        experiments
    }

    fn experiment(&self, definition: &ExperimentDefinition, problems: &mut Problems) -> Experiment {
        let mut variants = Vec::new();
        for streams in &definition.streams {
            let streams: Option<Vec<StreamChoice>> =
                streams.iter().map(|stream| self.stream(definition, stream, problems)).collect();
            variants.extend(streams.filter(|streams| !streams.is_empty()));
        }
        let experiment = Experiment {
            name: definition.name.clone(),
            at: definition.at.clone(),
            question: definition.question.clone(),
            variants,
            factors: definition.factors.iter().map(|factor| self.factor(factor, problems)).collect(),
            settings: self.all(&definition.settings, problems),
            defaults: self.all(&self.definition.defaults, problems),
            set: Vec::new(),
            search: definition.search.clone(),
        };
        check_use(&experiment, problems);
        experiment
    }

    fn stream(
        &self,
        experiment: &ExperimentDefinition,
        stream: &StreamDefinition,
        problems: &mut Problems,
    ) -> Option<StreamChoice> {
        let workload = self.definition.workloads.iter().find(|workload| workload.name == stream.workload.text)?;
        let settings = self.all(&stream.settings, problems);
        for chosen in settings.iter().filter(|chosen| !chosen.key.applies(workload.kind)) {
            let key = format!("{}.{}.{}", experiment.name, stream.name, chosen.key.name());
            let message =
                format!("does not apply to a workload of kind `{}`, which `{}` is", workload.kind.word, workload.name);
            problems.add(&chosen.at, &key, message);
        }
        Some(StreamChoice {
            name: stream.name.clone(),
            workload: workload.name.clone(),
            kind: workload.kind,
            settings,
            workload_settings: self.workload_settings(workload, problems),
        })
    }

    /// A workload's own settings, with what `--set WORKLOAD.KEY=..` puts in their place.
    fn workload_settings(
        &self,
        workload: &crate::definition::WorkloadDefinition,
        problems: &mut Problems,
    ) -> Vec<Chosen> {
        let mut settings = self.all(&workload.settings, problems);
        for set in &self.sets.keys {
            if set.scope == Scope::Workload(workload.name.clone()) {
                if !set.key.applies(workload.kind) || set.levels.len() > 1 {
                    let message = format!("one value of a key that a workload of kind `{}` takes", workload.kind.word);
                    problems.add(&set.at, set.key.name(), message);
                }
                settings.push(chosen_of(set, &set.levels[0], true));
            }
        }
        settings
    }

    fn factor(&self, factor: &FactorWith<Setting>, problems: &mut Problems) -> FactorChoice {
        let levels: Vec<Chosen> =
            factor.levels.iter().flat_map(|setting| self.levels(setting, true, problems)).collect();
        for (i, level) in levels.iter().enumerate() {
            if levels[..i].iter().any(|earlier| level.key.same(&earlier.text, &level.text)) {
                let message = format!("every level once, got `{}` twice", level.text);
                problems.add(&level.at, &format!("factor.{}", factor.name), message);
            }
        }
        FactorChoice { name: factor.name.clone(), stream: factor.stream.clone(), key: factor.key, levels }
    }
}

/// Settings that no stream of the experiment has a use for are mistakes.
fn check_use(experiment: &Experiment, problems: &mut Problems) {
    for chosen in experiment.settings.iter().filter(|chosen| !experiment.uses(chosen.key)) {
        let key = format!("{}.{}", experiment.name, chosen.key.name());
        problems.add(&chosen.at, &key, "does not apply to any workload of this experiment");
    }
    for factor in &experiment.factors {
        let own = |stream: &&StreamChoice| factor.stream.as_ref().is_none_or(|name| *name == stream.name);
        let idle = experiment
            .variants
            .iter()
            .find(|streams| !streams.iter().filter(own).any(|stream| factor.key.applies(stream.kind)));
        if let (Some(idle), Some(level)) = (idle, factor.levels.first()) {
            let key = format!("{}.factor.{}", experiment.name, factor.name);
            let name = idle.first().map(|stream| stream.name.as_str()).unwrap_or_default();
            let message = format!("a factor applies to every workload of its experiment, not to `{name}`");
            problems.add(&level.at, &key, message);
        }
    }
}

fn chosen_of(set: &SetKey, level: &(String, Option<f64>), narrowed: bool) -> Chosen {
    Chosen { key: set.key, text: level.0.clone(), number: level.1, at: set.at.clone(), by_parameter: false, narrowed }
}

/// Keeps the experiments, or the variants with the workloads, that `--only` names.
fn keep_only(
    definition: &Definition,
    overrides: &Overrides,
    experiments: &mut Vec<Experiment>,
    problems: &mut Problems,
) {
    if overrides.only.is_empty() {
        // What is promised is promised of one workload.
        if definition.proof.is_some() {
            experiments.truncate(1);
        }
        return;
    }
    let names = || {
        let experiments = definition.experiments.iter().map(|experiment| experiment.name.as_str());
        experiments.chain(definition.workloads.iter().map(|workload| workload.name.as_str()))
    };
    for name in &overrides.only {
        let at = Origin::Option(format!("--only {name}"));
        let gated = definition.experiments.iter().find(|experiment| experiment.name == *name);
        if !names().any(|known| known == name) {
            let hint = Some(known_names(name, names().collect::<Vec<_>>()));
            problems.add_with(&at, "", format!("the name of an experiment or a workload, got `{name}`"), hint);
        } else if let Some(when) = gated.and_then(|gated| gated.when.as_ref())
            && !experiments.iter().any(|experiment| experiment.name == *name)
        {
            let hint = format!("switch it on with `--set {}=VALUE`", when.text);
            problems.add_with(&at, "", format!("an experiment that is on, got `{name}`, which is off"), Some(hint));
        }
    }
    for experiment in experiments.iter_mut().filter(|experiment| !overrides.only.contains(&experiment.name)) {
        experiment.variants.retain(|streams| streams.iter().any(|stream| overrides.only.contains(&stream.workload)));
    }
    experiments.retain(|experiment| !experiment.variants.is_empty());
}

/// What one value for all does to experiments that have several values of a key to compare.
fn flattened(set: &SetKey, experiments: &[Experiment]) -> Option<String> {
    let several = |experiment: &&Experiment| {
        experiment.factors.iter().any(|factor| factor.key == set.key && factor.levels.len() > 1)
    };
    let named: Vec<&str> = experiments.iter().filter(several).map(|experiment| experiment.name.as_str()).collect();
    let told = set.scope == Scope::All && set.levels.len() == 1 && !named.is_empty() && experiments.len() > 1;
    let key = observation::factor::key_said(set.key.name());
    told.then(|| {
        format!(
            "one `{key}` leaves nothing to compare in {}; `--set \"EXPERIMENT.{key}=..\"` or `--only EXPERIMENT` names one experiment",
            listed(named)
        )
    })
}

/// Applies one `--set` of a key to the experiments that it means.
fn apply(set: &SetKey, experiments: &mut [Experiment], systems: &[SystemChoice], problems: &mut Problems) {
    let narrowed = match &set.scope {
        Scope::Workload(_) => return,
        Scope::System(name) => return check_system_scope(set, name, systems, problems),
        Scope::All if set.key.group == Group::Opening || of_database(set.key) => {
            return check_opening(set, systems, problems);
        }
        Scope::All => None,
        Scope::Experiment(name) => Some(name.as_str()),
    };
    // A window for all experiments is no limit for fixed work, which it would cut off.
    let window = set.key.is(&phases::MEASURE) || set.key.is(&phases::WARM_UP);
    let meant = |experiment: &Experiment| match narrowed {
        Some(name) => experiment.name == name && experiment.uses(set.key),
        None => experiment.uses(set.key) && !(window && experiment.fixed_work()),
    };
    let factor = |experiment: &Experiment| experiment.factors.iter().any(|factor| factor.key == set.key);
    // A list replaces the levels where the key is a factor already; only where it is none anywhere it becomes one.
    let somewhere = experiments.iter().any(|experiment| meant(experiment) && factor(experiment));
    let mut used = false;
    for experiment in experiments.iter_mut().filter(|experiment| meant(experiment)) {
        used = true;
        let levels: Vec<Chosen> = set.levels.iter().map(|level| chosen_of(set, level, narrowed.is_some())).collect();
        if factor(experiment) {
            let factors = experiment.factors.iter_mut().filter(|factor| factor.key == set.key);
            factors.for_each(|factor| factor.levels = levels.clone());
        } else if levels.len() == 1 {
            experiment.set.extend(levels);
        } else if !somewhere {
            experiment.factors.push(FactorChoice {
                name: set.key.name().to_owned(),
                stream: None,
                key: set.key,
                levels,
            });
        }
    }
    // Where `--only` kept nothing, that is told, and nothing else can be held against it.
    if !used && !experiments.is_empty() {
        let hint = window.then(|| "fixed work is limited by `--set EXPERIMENT.measure=..`".to_owned());
        problems.add_with(&set.at, set.key.name(), "does not apply to any experiment that is kept", hint);
    }
    if set.levels.len() > 1 && (set.key.is(&phases::REPLICATES) || set.key.is(&phases::REPLICATES_MAX)) {
        problems.add(&set.at, set.key.name(), "one value, got a list");
    }
}

/// `--set SYSTEM.size=..` is taken up with the system's own settings.
fn check_system_scope(set: &SetKey, name: &str, systems: &[SystemChoice], problems: &mut Problems) {
    let known = systems.iter().any(|system| system.spec.name == name);
    let takes = matches!(set.key.group, Group::System | Group::Opening) || of_database(set.key);
    if !known || !takes || !one_value(set) {
        let message =
            "a system takes one value of `size`, `modules`, `fill`, and of the keys of tiers, layouts and mirrors";
        problems.add(&set.at, set.key.name(), message);
    }
}

/// Whether several values of a key are several systems.
fn several(key: Key) -> bool {
    key.is(&LAYOUT) || key.is(&MIRROR) || mirroring::VARIED.iter().any(|varied| key.is(*varied))
}

/// Several layouts or mirrors are several systems; of all other keys of a system it has one value.
fn one_value(set: &SetKey) -> bool {
    set.levels.len() == 1 || several(set.key)
}

/// `--set fill=..` is taken up by every system that can be filled, and a layout by every database that can have one.
fn check_opening(set: &SetKey, systems: &[SystemChoice], problems: &mut Problems) {
    if !one_value(set) {
        problems.add(&set.at, set.key.name(), "one value, got a list");
    }
    if !systems.iter().any(|system| takes(&system.spec, set.key)) {
        // A redacted run does not say what its systems were.
        problems.add_if_new(&set.at, set.key.name(), "does not apply to any system of the study");
    }
}

/// Whether a key says what becomes of a database as a whole.
fn of_database(key: Key) -> bool {
    placing::places(key.group) || mirrors(key.group)
}

/// Whether a key of all systems means anything to one.
fn takes(spec: &SystemSpec, key: Key) -> bool {
    key.group == Group::Opening && opens(spec) || of_database(key) && placing::meant(spec)
}

/// Whether a system is made or opened, rather than answering by itself.
fn opens(spec: &SystemSpec) -> bool {
    matches!(spec.place, Place::File { .. } | Place::Device { .. })
}
