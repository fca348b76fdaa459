//! The tables `[system.NAME]`.

use super::settings::{Tables, settings};
use crate::definition::{Parameter, Setting, SystemWith};
use crate::target::{self, SCRIPT_KEYS};
use crate::{At, DatabaseSpec, Engine, Folder, Place, ScriptSpec, SystemSpec, password};
use observation::{Footprint, SystemKind};
use reading::{Entry, Form, Problems, Section, did_you_mean};

/// Reads one system.
pub(super) fn system(
    entry: Entry,
    mut section: Section,
    parameters: &[Parameter],
    problems: &mut Problems,
) -> Option<SystemWith<Setting>> {
    let kind = section.text("kind", problems);
    let place = match kind.as_ref().map(|kind| kind.text.as_str()) {
        Some("file") => {
            let dirs = paths(&mut section, ["dir", "dirs"], problems);
            let read =
                |dirs: Vec<String>| dirs.iter().map(|dir| Folder::read(dir)).collect::<Result<Vec<Folder>, String>>();
            let told = |message: String| problems.add(&section.at, &section.key("dir"), message);
            dirs.and_then(|dirs| read(dirs).map_err(told).ok()).map(|dirs| Place::File { dirs })
        }
        Some("device") => {
            paths(&mut section, ["path", "paths"], problems).map(|paths| Place::Device { paths, fill: true })
        }
        Some("null") => Some(Place::Null),
        Some("scripted") => Some(Place::Scripted(script(&mut section, problems))),
        Some("model") => model(&mut section, problems),
        Some("sqlite") => database(&mut section, ("path", Engine::Sqlite, At::Cache), problems),
        Some("postgres") => database(&mut section, ("url", Engine::Postgres, At::Local), problems),
        Some("mariadb") => database(&mut section, ("url", Engine::Mariadb, At::Local), problems),
        Some("null-database") => Some(Place::Database(DatabaseSpec::new(Engine::Null, At::Nowhere { socket: false }))),
        given => {
            let at = kind.as_ref().map_or(&entry.at, |kind| &kind.at);
            let kinds: Vec<&str> = SystemKind::ALL.iter().map(|kind| kind.word()).collect();
            let hint = given.and_then(|given| did_you_mean(given, kinds.iter().copied()));
            let given = given.map_or("nothing".to_owned(), |given| format!("`{given}`"));
            let message = format!("one of `{}`, got {given}", kinds.join("`, `"));
            problems.add_with(at, &section.key("kind"), message, hint);
            None
        }
    };
    let settings = settings(&mut section, Tables::System, parameters, problems);
    let footprint = footprint(&mut section, problems);
    let known = place.is_some();
    if known {
        section.finish(&Tables::System.names(), |name| foreign(name, kind.as_ref().map(|k| k.text.as_str())), problems);
    }
    let spec = SystemSpec { name: entry.name, place: place?, size: None, modules: None, footprint };
    Some(SystemWith { spec, settings })
}

/// `path` of an embedded database, `url` of a running server; without one it is Prony's own.
fn database(
    section: &mut Section,
    (key, engine, own): (&'static str, Engine, At),
    problems: &mut Problems,
) -> Option<Place> {
    let Some(given) = section.text(key, problems) else {
        return Some(Place::Database(DatabaseSpec::new(engine, own)));
    };
    if key == "path" {
        return Some(Place::Database(DatabaseSpec::new(engine, At::File(given.text))));
    }
    match target::parse(&given.text).map(|spec| spec.place) {
        Ok(Place::Database(spec)) if spec.engine == engine => Some(Place::Database(spec)),
        _ => {
            // What is no URL may hold a password all the same, and nothing tells where.
            let url = Some(&given.text).filter(|text| text.contains("://"));
            let got = url.map_or("something else".to_owned(), |url| format!("`{}`", password::without_password(url)));
            let message = format!("a URL of `{}`, got {got}", engine.word());
            problems.add(&given.at, &section.key(key), message);
            None
        }
    }
}

/// `name` of a model that ships, or of a file; `with` holds what is otherwise.
fn model(section: &mut Section, problems: &mut Problems) -> Option<Place> {
    let Some(name) = section.text("name", problems) else {
        let message = "the name of a model that ships, or of a model file, got nothing";
        problems.add(&section.at, &section.key("name"), message);
        return None;
    };
    Some(Place::Model { model: name.text, changes: changes(section, problems) })
}

/// `with = { failed_ports = 2 }`: parameters of the model, each with a number.
fn changes(section: &mut Section, problems: &mut Problems) -> Vec<(String, String)> {
    let Some(entry) = section.take("with") else { return Vec::new() };
    let (key, at) = (section.key("with"), entry.node.at.clone());
    let Form::Table(entries) = entry.node.form else {
        problems.add(&at, &key, "a table of parameters, such as `{ failed_ports = 2 }`");
        return Vec::new();
    };
    let mut found = Vec::new();
    for entry in entries {
        match entry.node.form {
            Form::Text(text) => found.push((entry.name, text)),
            _ => problems.add(&entry.at, &format!("{key}.{}", entry.name), "a number"),
        }
    }
    found
}

/// One path or several, under the singular or the plural key.
fn paths(section: &mut Section, keys: [&'static str; 2], problems: &mut Problems) -> Option<Vec<String>> {
    let one = section.text(keys[0], problems);
    let many = section.texts(keys[1], problems);
    let at = section.at.clone();
    let paths: Vec<String> = match (one, many) {
        (Some(one), None) => vec![one.text],
        (None, Some(many)) => many.into_iter().map(|path| path.text).collect(),
        (Some(_), Some(_)) => {
            problems.add(&at, &section.key(keys[1]), format!("either `{}` or `{}`, got both", keys[0], keys[1]));
            return None;
        }
        (None, None) => Vec::new(),
    };
    if paths.is_empty() || paths.iter().any(String::is_empty) {
        problems.add(&at, &section.key(keys[0]), "a path, got nothing");
        return None;
    }
    Some(paths)
}

fn script(section: &mut Section, problems: &mut Problems) -> ScriptSpec {
    let mut script = target::plain_script();
    let mut service = section.at.clone();
    for name in SCRIPT_KEYS {
        if name == "stall" {
            stall(section, &mut script, problems);
            continue;
        }
        let Some(texts) = section.texts(name, problems) else { continue };
        let values: Vec<&str> = texts.iter().map(|placed| placed.text.as_str()).collect();
        let at = texts.first().map_or(section.at.clone(), |placed| placed.at.clone());
        if let Err(message) = target::set(&mut script, name, &values) {
            problems.add(&at, &section.key(name), message);
        }
        if name == "service" {
            service = at;
        }
    }
    if target::takes_no_time(&script) {
        problems.add_if_new(&service, &section.key("service"), target::NO_TIME);
    }
    script
}

/// `stall = { every = "10 s", lasts = "1 s" }`, or `stall = "10 s/1 s"`.
fn stall(section: &mut Section, script: &mut ScriptSpec, problems: &mut Problems) {
    let Some(entry) = section.take("stall") else { return };
    let at = entry.node.at.clone();
    let text = match entry.node.form {
        Form::Text(text) => text,
        Form::List(_) => String::new(),
        Form::Table(_) => {
            let Some(mut inner) = Section::of(section.key("stall"), entry.node, problems) else { return };
            let mut part = |name| inner.text(name, problems).map(|placed| placed.text).unwrap_or_default();
            let (every, lasts) = (part("every"), part("lasts"));
            inner.finish(&[], |_| None, problems);
            format!("{every}/{lasts}")
        }
    };
    script.stall = problems.kept(&at, &section.key("stall"), target::stall(&text)).or(script.stall);
}

fn footprint(section: &mut Section, problems: &mut Problems) -> Footprint {
    let amount = |text: &str| {
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        number.ok_or_else(|| format!("a number from 0, without a unit, got `{text}`"))
    };
    let mut footprint = Footprint::default();
    for name in Footprint::NAMES {
        if let Some(stated) = footprint.get_mut(name) {
            *stated = section.read(name, problems, amount);
        }
    }
    footprint
}

/// The hint for a key of another kind of system.
fn foreign(name: &str, kind: Option<&str>) -> Option<String> {
    let home = match name {
        "dir" | "dirs" => "file",
        "path" | "paths" => "device",
        "name" | "with" => "model",
        "url" => "postgres` or `mariadb",
        _ if SCRIPT_KEYS.contains(&name) => "scripted",
        _ => return Tables::System.elsewhere(name),
    };
    Some(format!("it belongs to systems of kind `{home}`, this one is `{}`", kind.unwrap_or_default()))
}
