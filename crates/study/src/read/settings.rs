//! Settings: the keys of the key table, as they stand in workloads, streams, experiments and systems.

use crate::definition::{Given, Parameter, Setting};
use crate::keys::{self, Group, Key, keys, load as load_keys, other};
use reading::{AnyKey, Entry, Form, Node, Problems, Section, did_you_mean};
use workload::block::keys::READ;
use workload::{Interface, Row};

/// A table that takes keys.
#[derive(Clone, Copy)]
pub(super) enum Tables {
    System,
    Layout,
    /// A workload whose kind is not known.
    AnyWorkload,
    Workload(&'static Row),
    Stream,
    Load,
    Experiment,
}

impl Tables {
    fn holds(self, key: Key) -> bool {
        let work = matches!(key.group, Group::Workload(_) | Group::Session | Group::Access);
        match self {
            Tables::System => {
                matches!(key.group, Group::System | Group::Opening | Group::Placing | Group::Layout | Group::Mirror)
            }
            Tables::Layout => key.group == Group::Layout,
            Tables::AnyWorkload | Tables::Stream => work,
            Tables::Workload(row) => match key.group {
                Group::Workload(_) => key.applies(row),
                Group::Session => row.interface == Interface::Database,
                Group::Access => true,
                _ => false,
            },
            Tables::Load => key.group == Group::Load,
            Tables::Experiment => work || matches!(key.group, Group::System | Group::State | Group::Phases),
        }
    }

    fn what(self) -> String {
        match self {
            Tables::System => "a system".to_owned(),
            Tables::Layout => "a layout".to_owned(),
            Tables::AnyWorkload => "a workload".to_owned(),
            Tables::Workload(row) => format!("a workload of kind `{}`", row.word),
            Tables::Stream => "a stream".to_owned(),
            Tables::Load => "`load`".to_owned(),
            Tables::Experiment => "an experiment".to_owned(),
        }
    }

    pub fn names(self) -> Vec<&'static str> {
        keys().filter(|key| self.holds(*key)).map(|key| key.name()).collect()
    }

    /// Where keys of a group stand, for hints.
    pub fn home(group: Group) -> String {
        let home = match group {
            Group::Workload(row) => return format!("a workload of kind `{}`, a stream or an experiment", row.word),
            Group::System => "`[system.NAME]` or an experiment",
            Group::Opening | Group::Placing | Group::Mirror => "`[system.NAME]`",
            Group::Layout => "`[layout.NAME]` or `[system.NAME]`",
            Group::Session => "a workload that asks a database, a stream or an experiment",
            Group::Access => "a workload, a stream or an experiment",
            Group::Load => "the `load` table of a stream or an experiment",
            Group::State | Group::Phases => "an experiment or `[defaults]`",
        };
        home.to_owned()
    }

    /// The hint for a key that exists and does not belong here.
    pub fn elsewhere(self, name: &str) -> Option<String> {
        let key = keys::find(name)?;
        Some(format!("{} does not take it: it stands in {}", self.what(), Tables::home(key.group)))
    }
}

/// Takes the settings of a table, `load` not among them.
pub(super) fn settings(
    section: &mut Section,
    tables: Tables,
    parameters: &[Parameter],
    problems: &mut Problems,
) -> Vec<Setting> {
    let mut said = both(section, tables, problems);
    let taken = section.take_all(|name| keys::find(name).filter(|key| tables.holds(*key)));
    said.extend(
        taken.into_iter().filter_map(|(key, entry)| setting(key, section.key(key.name()), entry, parameters, problems)),
    );
    said
}

/// Both keys for which a word of another tool stands.
fn both(section: &mut Section, tables: Tables, problems: &mut Problems) -> Vec<Setting> {
    if !keys::find(READ.name).is_some_and(|key| tables.holds(key)) {
        return Vec::new();
    }
    let Some(entry) = section.take(other::RW) else { return Vec::new() };
    let (at, name) = (entry.node.at.clone(), section.key(other::RW));
    let said = match &entry.node.form {
        Form::Text(text) => other::rw(text),
        _ => other::rw(entry.node.noun()),
    };
    let said = problems.kept(&at, &name, said).into_iter().flatten();
    let setting = |(key, text): (&dyn AnyKey, &str)| {
        let (key, number) = (keys::find(key.name())?, key.check(text).ok()?);
        Some(Setting { key, given: Given::Value(text.to_owned(), number), at: at.clone() })
    };
    said.filter_map(setting).collect()
}

/// Takes the settings of the `load` table.
pub(super) fn load(section: &mut Section, parameters: &[Parameter], problems: &mut Problems) -> Vec<Setting> {
    let Some(entry) = section.take("load") else { return Vec::new() };
    let Some(mut inner) = Section::of(section.key("load"), entry.node, problems) else { return Vec::new() };
    let settings = settings(&mut inner, Tables::Load, parameters, problems);
    inner.finish(&Tables::Load.names(), |name| Tables::Load.elsewhere(name), problems);
    let open = settings.iter().find(|setting| setting.key.is(&load_keys::RATE));
    let closed = settings.iter().find(|setting| setting.key.is(&load_keys::OUTSTANDING));
    if let (Some(_), Some(closed)) = (open, closed) {
        let message = "a load is closed (`outstanding`) or open (`rate`), got both";
        problems.add(&closed.at, &section.key("load.outstanding"), message);
    }
    settings
}

fn setting(key: Key, name: String, entry: Entry, parameters: &[Parameter], problems: &mut Problems) -> Option<Setting> {
    let at = entry.node.at.clone();
    let given = problems.kept(&at, &name, given(key, entry.node, parameters))?;
    Some(Setting { key, given, at })
}

/// Reads one value of a key: a text, or one of the tables that spell a text out.
pub(super) fn given(key: Key, node: Node, parameters: &[Parameter]) -> Result<Given, String> {
    let noun = node.noun();
    match node.form {
        Form::Text(text) => match text.strip_prefix('$') {
            Some(name) => parameter(name, parameters),
            None => key.check(&text).map(|number| Given::Value(text, number)),
        },
        Form::Table(entries) => match key.spelled(&entries) {
            Some(spelled) => {
                let text = spelled?;
                key.check(&text).map(|number| Given::Value(text, number))
            }
            None => Err(format!("{}, got {noun}", key.allowed())),
        },
        Form::List(_) => {
            Err(format!("{}, got {noun}; to vary it, write `factor.{} = [..]`", key.allowed(), key.name()))
        }
    }
}

fn parameter(name: &str, parameters: &[Parameter]) -> Result<Given, String> {
    if parameters.iter().any(|parameter| parameter.name == name) {
        return Ok(Given::Parameter(name.to_owned()));
    }
    let known = parameters.iter().map(|parameter| parameter.name.as_str());
    let hint = did_you_mean(name, known).map(|hint| format!("; {hint}")).unwrap_or_default();
    Err(format!("the name of a parameter, got `${name}`{hint}"))
}
