//! Settings: the keys of the key table, as they stand in workloads, streams, experiments and systems.

use crate::definition::{Given, Parameter, Setting, WorkloadKind};
use crate::key::{Group, Key};
use crate::keys::{self, KEYS};
use crate::value::{self, Value};
use reading::{Entry, Form, Node, Section};
use reading::{Problems, did_you_mean};

/// What a workload, or a stream, may be given.
const WORK: [Group; 7] =
    [Group::Block, Group::Files, Group::Brokerage, Group::Sql, Group::Rows, Group::Session, Group::Access];

/// Which groups of keys a table takes.
#[derive(Clone, Copy)]
pub(super) struct Tables {
    groups: &'static [Group],
    what: &'static str,
}

impl Tables {
    pub const SYSTEM: Tables = Tables { groups: &[Group::System, Group::Opening], what: "a system" };
    pub const ANY_WORKLOAD: Tables = Tables { groups: &WORK, what: "a workload" };
    pub const STREAM: Tables = Tables { groups: &WORK, what: "a stream" };
    pub const LOAD: Tables = Tables { groups: &[Group::Load], what: "`load`" };
    pub const EXPERIMENT: Tables = Tables {
        groups: &[
            Group::System,
            Group::Block,
            Group::Files,
            Group::Brokerage,
            Group::Sql,
            Group::Rows,
            Group::Session,
            Group::Access,
            Group::State,
            Group::Phases,
        ],
        what: "an experiment",
    };

    pub fn workload(kind: WorkloadKind) -> Tables {
        let (groups, what): (&[Group], _) = match kind {
            WorkloadKind::Block => (&[Group::Block, Group::Access], "a workload of kind `block`"),
            WorkloadKind::Files => (&[Group::Files, Group::Access], "a workload of kind `files`"),
            WorkloadKind::Brokerage => {
                (&[Group::Brokerage, Group::Session, Group::Access], "a workload of kind `brokerage`")
            }
            WorkloadKind::Sql => (&[Group::Sql, Group::Session, Group::Access], "a workload of kind `sql`"),
            WorkloadKind::Rows => (&[Group::Rows, Group::Session, Group::Access], "a workload of kind `rows`"),
        };
        Tables { groups, what }
    }

    fn holds(&self, key: &Key) -> bool {
        self.groups.contains(&key.group)
    }

    pub fn names(&self) -> Vec<&'static str> {
        KEYS.iter().filter(|key| self.holds(key)).map(|key| key.name).collect()
    }

    /// Where keys of a group stand, for hints.
    pub fn home(group: Group) -> &'static str {
        match group {
            Group::System => "`[system.NAME]` or an experiment",
            Group::Opening => "`[system.NAME]`",
            Group::Block => "a workload of kind `block`, a stream or an experiment",
            Group::Files => "a workload of kind `files`, a stream or an experiment",
            Group::Brokerage => "a workload of kind `brokerage`, a stream or an experiment",
            Group::Sql => "a workload of kind `sql`, a stream or an experiment",
            Group::Rows => "a workload of kind `rows`, a stream or an experiment",
            Group::Session => "a workload that asks a database, a stream or an experiment",
            Group::Access => "a workload, a stream or an experiment",
            Group::Load => "the `load` table of a stream or an experiment",
            Group::State | Group::Phases => "an experiment or `[defaults]`",
        }
    }

    /// The hint for a key that exists and does not belong here.
    pub fn elsewhere(&self, name: &str) -> Option<String> {
        let key = keys::find(name)?;
        Some(format!("{} does not take it: it stands in {}", self.what, Tables::home(key.group)))
    }
}

/// Takes the settings of a table, `load` not among them.
pub(super) fn settings(
    section: &mut Section,
    tables: Tables,
    parameters: &[Parameter],
    problems: &mut Problems,
) -> Vec<Setting> {
    let taken = section.take_all(|name| keys::find(name).filter(|key| tables.holds(key)));
    taken
        .into_iter()
        .filter_map(|(key, entry)| setting(key, section.key(key.name), entry, parameters, problems))
        .collect()
}

/// Takes the settings of the `load` table.
pub(super) fn load(section: &mut Section, parameters: &[Parameter], problems: &mut Problems) -> Vec<Setting> {
    let Some(entry) = section.take("load") else { return Vec::new() };
    let Some(mut inner) = Section::of(section.key("load"), entry.node, problems) else { return Vec::new() };
    let settings = settings(&mut inner, Tables::LOAD, parameters, problems);
    inner.finish(&Tables::LOAD.names(), |name| Tables::LOAD.elsewhere(name), problems);
    let open = settings.iter().find(|setting| setting.key.name == "rate");
    let closed = settings.iter().find(|setting| setting.key.name == "outstanding");
    if let (Some(_), Some(closed)) = (open, closed) {
        let message = "a load is closed (`outstanding`) or open (`rate`), got both";
        problems.add(&closed.at, &section.key("load.outstanding"), message);
    }
    settings
}

fn setting(
    key: &'static Key,
    name: String,
    entry: Entry,
    parameters: &[Parameter],
    problems: &mut Problems,
) -> Option<Setting> {
    let at = entry.node.at.clone();
    match given(key, entry.node, parameters) {
        Ok(given) => Some(Setting { key, given, at }),
        Err(message) => {
            problems.add(&at, &name, message);
            None
        }
    }
}

/// Reads one value of a key: a text, or one of the tables that spell a text out.
pub(super) fn given(key: &'static Key, node: Node, parameters: &[Parameter]) -> Result<Given, String> {
    let noun = node.noun();
    match node.form {
        Form::Text(text) => match text.strip_prefix('$') {
            Some(name) => parameter(name, parameters),
            None => key.kind.parse(&text).map(|value| Given::Value(value, text)),
        },
        Form::Table(entries) if key.name == "offsets" => offsets(entries),
        Form::Table(_) | Form::List(_) => {
            let hint = if matches!(node.form, Form::List(_)) {
                format!("; to vary it, write `factor.{} = [..]`", key.name)
            } else {
                String::new()
            };
            Err(format!("{}, got {noun}{hint}", key.kind.allowed()))
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

/// `{ zipf = 0.99 }` and `{ hotspot = { operations = "90%", blocks = "10%" } }`.
fn offsets(entries: Vec<Entry>) -> Result<Given, String> {
    let form =
        "`uniform`, `{ zipf = 0.99 }` or `{ hotspot = { operations = \"90%\", blocks = \"10%\" } }`, got another table";
    let [entry] = <[Entry; 1]>::try_from(entries).map_err(|_| form.to_owned())?;
    match (entry.name.as_str(), entry.node.form) {
        ("zipf", Form::Text(exponent)) => {
            value::zipf(&exponent).map(|offsets| Given::Value(Value::Offsets(offsets), format!("zipf {exponent}")))
        }
        ("hotspot", Form::Table(shares)) => {
            let share = |name: &str| shares.iter().find(|entry| entry.name == name).map(|entry| &entry.node.form);
            let (Some(Form::Text(operations)), Some(Form::Text(blocks)), 2) =
                (share("operations"), share("blocks"), shares.len())
            else {
                return Err(form.to_owned());
            };
            let text = format!("hotspot {operations} to {blocks}");
            value::hotspot(operations, blocks).map(|offsets| Given::Value(Value::Offsets(offsets), text))
        }
        _ => Err(form.to_owned()),
    }
}
