//! From the text of a study file to its definition.
//!
//! The one idea: each kind of table has its own reader, and every reader goes on after a problem.
//!
//! What it does not do: it decides nothing that depends on the command line.

mod experiment;
mod settings;
mod system;

use crate::definition::{Definition, LayoutDefinition, Parameter, WorkloadDefinition, too_many_systems};
use crate::{SteadyRule, deadline, keys, proof};
use reading::{Entry, Form, Origin, Problems, Section, did_you_mean};
use settings::{Tables, settings};
use workload::WORKLOADS;

/// Reads a study file.
pub(crate) fn definition(name: &str, text: &str, problems: &mut Problems) -> Option<Definition> {
    let entries = match reading::read(name, text) {
        Ok(entries) => entries,
        Err(errors) => {
            problems.list.extend(errors.list);
            return None;
        }
    };
    let mut root = Section::new("", Origin::File { line: 1, column: 1 }, entries);
    let parameters = parameters(&mut root, problems);
    let mut definition = head(name, &mut root, problems);
    let systems = named(&mut root, "system", problems);
    // Before anything is compared with anything.
    if too_many_systems(systems.len(), problems) {
        return None;
    }
    definition.systems = systems
        .into_iter()
        .filter_map(|(name, section)| system::system(name, section, &parameters, problems))
        .collect();
    definition.layouts = named(&mut root, "layout", problems)
        .into_iter()
        .map(|(entry, section)| layout(entry, section, &parameters, problems))
        .collect();
    definition.workloads = named(&mut root, "workload", problems)
        .into_iter()
        .filter_map(|(name, section)| workload(name, section, &parameters, problems))
        .collect();
    definition.defaults = defaults(&mut root, &parameters, problems);
    definition.experiments = experiment::experiments(&mut root, &definition.workloads, &parameters, problems);
    definition.parameters = parameters;
    root.finish(&[], elsewhere, problems);
    names_differ(&definition, problems);
    Some(definition)
}

fn head(name: &str, root: &mut Section, problems: &mut Problems) -> Definition {
    let text = |root: &mut Section, key, problems: &mut Problems| {
        root.text(key, problems).map(|placed| placed.text).unwrap_or_default()
    };
    let share = |low: f64, high: f64| {
        move |text: &str| {
            let share = units::parse_share(text).map_err(|e| e.to_string())?.0;
            let refused = || format!("a share from {} to {}, got `{text}`", units::percent(low), units::percent(high));
            if (low..=high).contains(&share) { Ok(share) } else { Err(refused()) }
        }
    };
    let title = text(root, "title", problems);
    Definition {
        name: name.to_owned(),
        title: if title.is_empty() { name.to_owned() } else { title },
        question: text(root, "question", problems),
        primary: root.text("primary", problems),
        baselines: root.texts("baseline", problems).unwrap_or_default(),
        margin: root.read("margin", problems, share(0.001, 0.5)).unwrap_or(0.05),
        confidence: root.read("confidence", problems, share(0.5, 0.999)).unwrap_or(0.95),
        fail_if: root.texts("fail_if", problems).unwrap_or_default(),
        allow_inconclusive: root.read("allow_inconclusive", problems, flag).unwrap_or(false),
        steady: SteadyRule::default(),
        deadline: deadline::definition(root, problems),
        proof: proof::definition(root, problems),
        parameters: Vec::new(),
        systems: Vec::new(),
        layouts: Vec::new(),
        workloads: Vec::new(),
        defaults: Vec::new(),
        experiments: Vec::new(),
    }
}

/// Reads `true` or `false`.
fn flag(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| format!("`true` or `false`, got `{text}`"))
}

/// The tables below `[group.NAME]`, each as a section.
fn named(root: &mut Section, group: &'static str, problems: &mut Problems) -> Vec<(Entry, Section)> {
    let Some(entry) = root.take(group) else { return Vec::new() };
    let Some(mut section) = Section::of(group, entry.node, problems) else { return Vec::new() };
    let mut list = Vec::new();
    for entry in section.rest() {
        name(&entry.name, &entry.at, group, problems);
        let section = Section::of(format!("{group}.{}", entry.name), entry.node.clone(), problems);
        list.extend(section.map(|section| (entry, section)));
    }
    list
}

/// A name is shown in tables, on terminals and in the places of primary metrics: it is there, and it can be seen.
fn name(name: &str, at: &Origin, key: &str, problems: &mut Problems) {
    if name.trim().is_empty() || name.contains(char::is_control) {
        let message = format!("a name of characters that can be seen, got `{}`", name.escape_debug());
        problems.add_if_new(at, key, message);
    }
}

fn parameters(root: &mut Section, problems: &mut Problems) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    for (entry, mut section) in named(root, "parameter", problems) {
        if keys::find(&entry.name).is_some() {
            let message = "a parameter has a name of its own, got the name of a key";
            problems.add(&entry.at, &format!("parameter.{}", entry.name), message);
        }
        let default = section.text("default", problems);
        if default.is_none() {
            problems.add(&entry.at, &section.key("default"), "a parameter needs a default, got none");
        }
        // For people who read the file.
        section.text("help", problems);
        section.finish(&[], |_| None, problems);
        parameters.push(Parameter { name: entry.name, default: default.map(|d| d.text).unwrap_or_default() });
    }
    parameters
}

/// The kinds of workloads, for messages.
fn words() -> String {
    WORKLOADS.iter().map(|row| format!("`{}`", row.word)).collect::<Vec<_>>().join(", ")
}

fn workload(
    entry: Entry,
    mut section: Section,
    parameters: &[Parameter],
    problems: &mut Problems,
) -> Option<WorkloadDefinition> {
    let placed = section.text("kind", problems);
    let given = placed.as_ref().map(|kind| kind.text.as_str());
    let kind = WORKLOADS.iter().find(|row| Some(row.word) == given);
    if kind.is_none() {
        let at = placed.as_ref().map_or(&entry.at, |kind| &kind.at);
        let hint = given.and_then(|given| did_you_mean(given, WORKLOADS.iter().map(|row| row.word)));
        let given = given.map_or("nothing".to_owned(), |given| format!("`{given}`"));
        problems.add_with(at, &section.key("kind"), format!("one of {}, got {given}", words()), hint);
    }
    let tables = kind.map_or(Tables::AnyWorkload, Tables::Workload);
    let settings = settings(&mut section, tables, parameters, problems);
    section.finish(&tables.names(), |name| tables.elsewhere(name), problems);
    Some(WorkloadDefinition { name: entry.name, kind: kind?, settings })
}

fn layout(entry: Entry, mut section: Section, parameters: &[Parameter], problems: &mut Problems) -> LayoutDefinition {
    let settings = settings(&mut section, Tables::Layout, parameters, problems);
    section.finish(&Tables::Layout.names(), |name| Tables::Layout.elsewhere(name), problems);
    LayoutDefinition { name: entry.name, settings }
}

fn defaults(root: &mut Section, parameters: &[Parameter], problems: &mut Problems) -> Vec<crate::definition::Setting> {
    let Some(entry) = root.take("defaults") else { return Vec::new() };
    let Some(mut section) = Section::of("defaults", entry.node, problems) else { return Vec::new() };
    let settings = settings(&mut section, Tables::Experiment, parameters, problems);
    section.finish(&Tables::Experiment.names(), |_| None, problems);
    settings
}

fn elsewhere(name: &str) -> Option<String> {
    if let Some(key) = keys::find(name) {
        return Some(format!("`{}` stands in {}", key.name(), Tables::home(key.group)));
    }
    let guess = match name {
        "systems" => "[system.NAME]",
        "layouts" => "[layout.NAME]",
        "workloads" => "[workload.NAME]",
        "experiments" => "[[experiment]]",
        "parameters" => "[parameter.NAME]",
        _ => return None,
    };
    Some(format!("did you mean `{guess}`?"))
}

/// `--only NAME` and `--set NAME.KEY=..` must mean one thing.
fn names_differ(definition: &Definition, problems: &mut Problems) {
    let mut seen: Vec<&str> = Vec::new();
    let workloads = definition.workloads.iter().map(|w| (w.name.as_str(), &Origin::Whole));
    let experiments = definition.experiments.iter().map(|e| (e.name.as_str(), &e.at));
    for (name, at) in workloads.chain(experiments) {
        if seen.contains(&name) {
            let message = format!("every experiment and workload has a name of its own, got `{name}` twice");
            problems.add(at, "name", message);
        }
        seen.push(name);
    }
}

/// Whether a list of tables or one table was written where tables are expected.
fn tables_of(entry: Entry, key: &str, problems: &mut Problems) -> Vec<reading::Node> {
    let noun = entry.node.noun();
    match entry.node.form {
        Form::List(nodes) => nodes,
        Form::Table(_) | Form::Text(_) => {
            problems.add(&entry.node.at, key, format!("a list of tables, got {noun}"));
            Vec::new()
        }
    }
}
