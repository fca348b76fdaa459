//! Who may know whom.
//!
//! A pure room takes values and returns values: it may use the rooms and the libraries listed here and no others, so that a
//! file, a socket or a clock cannot slip in through a dependency.

use crate::tree::{Problem, output};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A crate of the workspace with what it depends on, tests apart.
#[derive(Clone, Debug, Default)]
pub struct Room {
    /// Its name.
    pub name: String,
    /// Its folder, from the root.
    pub folder: String,
    /// Names of the crates of this workspace that it uses.
    pub rooms: Vec<String>,
    /// Names of the libraries that it uses.
    pub libraries: Vec<String>,
    /// Whether documentation tests are off.
    pub doctest: bool,
}

/// What one room may use, with blanks between the names. No libraries listed means any.
struct Rule {
    room: &'static str,
    rooms: &'static str,
    libraries: Option<&'static str>,
}

/// The map of ARCHITECTURE.md.
const RULES: [Rule; 22] = [
    pure("random", "", "libm"),
    pure("units", "", "thiserror"),
    pure("reading", "units", "strsim toml_edit"),
    pure("load", "units random", ""),
    pure("workload", "units random load reading", "crc32c libm thiserror"),
    pure("observation", "units", ""),
    pure("study", "units random reading load workload observation", "statrs thiserror"),
    pure("model", "units random reading workload", "csv libm nalgebra statrs thiserror"),
    pure("analysis", "units random observation study", "statrs"),
    pure("advisor", "random observation", ""),
    pure("pair", "units", "thiserror"),
    pure("report", "units observation study analysis", "jiff maud serde serde_json"),
    rule("recorder", "units observation"),
    rule("emulate", "units random workload recorder model"),
    rule("link", "units random study recorder"),
    rule("system", "units random load workload observation study recorder"),
    rule("database", "units load workload observation study advisor recorder system"),
    rule("probe", "units observation system"),
    rule("store", "units observation pair system"),
    rule("engine", "units random load workload observation study recorder system database probe model link pair"),
    rule("mirror", "units pair database store recorder probe system study workload"),
    rule(
        "prony",
        "units pair mirror reading model load workload observation study analysis advisor report recorder system database probe store engine emulate link",
    ),
];

const fn pure(room: &'static str, rooms: &'static str, libraries: &'static str) -> Rule {
    Rule { room, rooms, libraries: Some(libraries) }
}

const fn rule(room: &'static str, rooms: &'static str) -> Rule {
    Rule { room, rooms, libraries: None }
}

/// Whether a room must open no file, socket, clock or environment variable.
pub fn is_pure(room: &str) -> bool {
    RULES.iter().any(|rule| rule.room == room && rule.libraries.is_some())
}

/// Asks cargo for the crates of the workspace.
///
/// # Errors
/// When cargo cannot say.
pub fn read(root: &Path) -> Result<Vec<Room>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["metadata", "--format-version=1", "--no-deps", "--offline"]);
    let metadata: Value = serde_json::from_str(&output(&mut command)?).map_err(|error| format!("{error}\n"))?;
    Ok(metadata["packages"].as_array().into_iter().flatten().map(room).collect())
}

fn room(package: &Value) -> Room {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut room = Room { name: text(&package["name"]), ..Room::default() };
    let folder = text(&package["manifest_path"]).replace("/Cargo.toml", "");
    room.folder = folder.rsplit('/').next().unwrap_or_default().to_owned();
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        // Tests may use what they like.
        if dependency["kind"].as_str() == Some("dev") {
            continue;
        }
        let list = if dependency["path"].is_string() { &mut room.rooms } else { &mut room.libraries };
        list.push(text(&dependency["name"]));
    }
    let library =
        |target: &&Value| target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "lib"));
    let target = package["targets"].as_array().and_then(|targets| targets.iter().find(library));
    room.doctest = target.is_some_and(|target| target["doctest"] == true);
    room
}

/// Every dependency that the map does not show, and every crate that is not on it.
pub fn problems(rooms: &[Room]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for room in rooms.iter().filter(|room| room.name != "xtask") {
        if room.folder != room.name {
            problems.push(format!(
                "crates/{}: the crate is called `{}`; folder and crate share a name",
                room.folder, room.name
            ));
        }
        if room.doctest {
            problems.push(format!("crates/{}/Cargo.toml: set `doctest = false`, nobody runs them", room.folder));
        }
        match RULES.iter().find(|rule| rule.room == room.name) {
            Some(rule) => problems.extend(against(room, rule)),
            None => problems.push(format!("crates/{}: not on the map in xtask/src/tidy/rooms.rs", room.name)),
        }
    }
    problems
}

fn against(room: &Room, rule: &Rule) -> Vec<Problem> {
    let manifest = format!("crates/{}/Cargo.toml", room.name);
    let strange = |names: &str, name: &&String| names.split(' ').all(|known| known != *name);
    let strangers = room.rooms.iter().filter(|name| strange(rule.rooms, name));
    let mut problems: Vec<Problem> =
        strangers.map(|name| format!("{manifest}: `{}` must not know `{name}`", room.name)).collect();
    if let Some(libraries) = rule.libraries {
        let heavy = room.libraries.iter().filter(|name| strange(libraries, name));
        problems.extend(heavy.map(|name| format!("{manifest}: `{}` is pure and must not use `{name}`", room.name)));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(name: &str, rooms: &[&str], libraries: &[&str]) -> Room {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Room {
            name: name.into(),
            folder: name.into(),
            rooms: owned(rooms),
            libraries: owned(libraries),
            doctest: false,
        }
    }

    #[test]
    fn a_forbidden_acquaintance_is_found() {
        let found = problems(&[room("analysis", &["units", "store"], &["statrs"])]);
        assert_eq!(found, ["crates/analysis/Cargo.toml: `analysis` must not know `store`"]);
    }

    #[test]
    fn a_library_that_does_io_is_found_in_a_pure_room_only() {
        let found = problems(&[room("load", &[], &["rusqlite"]), room("store", &[], &["rusqlite"])]);
        assert_eq!(found, ["crates/load/Cargo.toml: `load` is pure and must not use `rusqlite`"]);
    }

    #[test]
    fn a_crate_that_is_not_on_the_map_is_found() {
        assert_eq!(problems(&[room("misc", &[], &[])]).len(), 1);
    }
}
