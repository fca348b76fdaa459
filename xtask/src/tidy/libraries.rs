//! What the libraries are like that Prony is built of: their licences, how often they come in several versions, and which must not be
//! used.
//!
//! The one idea: `deny.toml` says it for `cargo deny`, which not every machine has. Here the parts of it that need no network are
//! held everywhere.
//!
//! What it does not do: it knows of no advisory but those for which the file denies a library.

use crate::tree::{Problem, output};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use toml_edit::{DocumentMut, Item};

const FILE: &str = "deny.toml";

/// Where releases are made for.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// A library that is linked in, or that something which is linked in was built with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    name: String,
    version: String,
    licence: String,
    /// Who asks for it.
    users: BTreeSet<String>,
}

/// Asks cargo for the libraries of the workspace, without those that only tests use.
///
/// # Errors
/// When cargo cannot say.
pub fn read(root: &Path) -> Result<Vec<Library>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args([
        "tree",
        "--workspace",
        "--locked",
        "--edges",
        "normal,build",
        "--target",
        PLATFORM,
    ]);
    command.args(["--prefix", "depth", "--format", "\t{p}\t{l}"]);
    Ok(listed(&output(&mut command)?))
}

/// The libraries in a tree whose lines are a depth, a name with its version, and a licence.
fn listed(tree: &str) -> Vec<Library> {
    let mut above: Vec<&str> = Vec::new();
    let mut found: BTreeMap<(&str, &str), Library> = BTreeMap::new();
    for line in tree.lines() {
        // What was listed before is marked with a star.
        let mut parts = line.trim_end_matches(" (*)").split('\t');
        let (Some(Ok(depth)), Some(package)) = (parts.next().map(str::parse), parts.next()) else { continue };
        let (name, version) = package.split_once(" v").unwrap_or((package, ""));
        above.truncate(depth);
        let user = above.last().copied().unwrap_or_default().to_owned();
        above.push(name);
        // Our own have a folder.
        if !version.contains(" (/") {
            let version = version.split(' ').next().unwrap_or_default();
            let library = found.entry((name, version)).or_insert_with(|| Library {
                name: name.to_owned(),
                version: version.to_owned(),
                licence: parts.next().unwrap_or_default().to_owned(),
                users: BTreeSet::new(),
            });
            library.users.insert(user);
        }
    }
    found.into_values().collect()
}

/// Everything about the libraries that the file does not allow, and what it allows without need.
pub fn problems(libraries: &[Library], rules: &str) -> Vec<Problem> {
    let rules = match rules.parse::<DocumentMut>() {
        Ok(rules) => rules,
        Err(error) => return vec![format!("{FILE}: {error}")],
    };
    let mut problems = licences(libraries, &rules);
    problems.extend(versions(libraries, &rules));
    problems.extend(denied(libraries, &rules));
    problems
}

fn texts(list: Option<&Item>) -> Vec<&str> {
    list.and_then(Item::as_array).into_iter().flatten().filter_map(|value| value.as_str()).collect()
}

fn licences(libraries: &[Library], rules: &DocumentMut) -> Vec<Problem> {
    let allowed = texts(rules["licenses"].get("allow"));
    let clarified = |name: &str| {
        let tables = rules["licenses"].get("clarify").and_then(Item::as_array_of_tables)?;
        tables.iter().find(|table| table["crate"].as_str() == Some(name))?["expression"].as_str()
    };
    let named = |library: &Library| match library.licence.as_str() {
        "" => clarified(&library.name).unwrap_or("no licence").to_owned(),
        licence => licence.to_owned(),
    };
    let bad =
        libraries.iter().map(|library| (library, named(library))).filter(|(_, licence)| !holds(licence, &allowed));
    bad.map(|(library, licence)| format!("{FILE}: `{}` has the licence {licence}, which is not allowed", library.name))
        .collect()
}

/// Whether an expression can be met with these licences. Parts of a choice that are more than one licence are all asked for, which
/// may refuse too much and never lets pass too much.
fn holds(expression: &str, allowed: &[&str]) -> bool {
    let plain = expression.replace(['(', ')'], "").replace('/', " OR ");
    plain.split(" AND ").all(|part| part.split(" OR ").any(|name| allowed.contains(&name.trim())))
}

fn versions(libraries: &[Library], rules: &DocumentMut) -> Vec<Problem> {
    let skipped: Vec<&str> = tables(rules, "skip").filter_map(|table| table.get("crate")?.as_str()).collect();
    let label = |library: &Library| format!("{}@{}", library.name, library.version);
    let mut of: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for library in libraries {
        of.entry(&library.name).or_default().push(label(library));
    }
    let several = of.values().filter(|versions| versions.len() > 1);
    let surplus =
        several.filter(|versions| versions.iter().filter(|version| !skipped.contains(&version.as_str())).count() > 1);
    let mut problems: Vec<Problem> =
        surplus.map(|versions| format!("{FILE}: a library in several versions: {}", versions.join(", "))).collect();
    let needless =
        skipped.iter().filter(|skip| !of.values().any(|all| all.len() > 1 && all.iter().any(|one| one == *skip)));
    problems.extend(needless.map(|skip| format!("{FILE}: nothing needs `{skip}` to be skipped any more")));
    problems
}

fn denied(libraries: &[Library], rules: &DocumentMut) -> Vec<Problem> {
    let mut problems = Vec::new();
    for table in tables(rules, "deny") {
        let text = |key| table.get(key).and_then(|value| value.as_str()).unwrap_or_default();
        let wrappers: Vec<&str> = table
            .get("wrappers")
            .and_then(|list| list.as_array())
            .into_iter()
            .flatten()
            .filter_map(|name| name.as_str())
            .collect();
        let users = libraries.iter().filter(|library| library.name == text("crate")).flat_map(|library| &library.users);
        let (known, strange): (Vec<&String>, Vec<&String>) = users.partition(|user| wrappers.contains(&user.as_str()));
        problems.extend(
            strange.iter().map(|user| format!("{FILE}: `{user}` must not use `{}`: {}", text("crate"), text("reason"))),
        );
        if known.is_empty() && !wrappers.is_empty() {
            problems.push(format!("{FILE}: nobody brings `{}` any more; take `wrappers` away", text("crate")));
        }
    }
    problems
}

fn tables<'a>(rules: &'a DocumentMut, list: &str) -> impl Iterator<Item = &'a toml_edit::InlineTable> {
    let list = rules["bans"].get(list).and_then(Item::as_array);
    list.into_iter().flatten().filter_map(|value| value.as_inline_table())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = r#"
        [licenses]
        allow = ["MIT", "ISC"]
        [[licenses.clarify]]
        crate = "silent"
        expression = "ISC"
        [bans]
        skip = [{ crate = "hash@1.0.0" }]
        deny = [{ crate = "old", wrappers = ["client"], reason = "nobody maintains it" }]
    "#;

    fn library(name: &str, version: &str, licence: &str, users: &[&str]) -> Library {
        let users = users.iter().map(|user| (*user).to_owned()).collect();
        Library { name: name.into(), version: version.into(), licence: licence.into(), users }
    }

    /// What the rules ask for, and nothing else.
    fn fine() -> Vec<Library> {
        vec![
            library("hash", "1.0.0", "MIT", &[]),
            library("hash", "2.0.0", "MIT/Apache-2.0", &[]),
            library("old", "1.0.0", "(MIT OR GPL-3.0-only) AND ISC", &["client"]),
            library("silent", "1.0.0", "", &[]),
        ]
    }

    fn found(change: impl FnOnce(&mut Vec<Library>)) -> Vec<Problem> {
        let mut libraries = fine();
        change(&mut libraries);
        problems(&libraries, RULES)
    }

    #[test]
    fn libraries_as_the_file_wants_them_are_no_problem() {
        assert_eq!(found(|_| ()), Vec::<Problem>::new());
    }

    #[test]
    fn a_licence_that_is_not_allowed_or_not_there_is_found() {
        for licence in ["GPL-3.0-only", "MIT AND GPL-3.0-only", ""] {
            let found = found(|all| all.push(library("new", "1.0.0", licence, &[])));
            assert_eq!(found.len(), 1, "{licence}");
            assert!(found[0].contains("`new` has the licence"), "{found:?}");
        }
    }

    #[test]
    fn a_further_version_and_an_exception_that_nothing_needs_are_found() {
        let third = found(|all| all.push(library("hash", "3.0.0", "MIT", &[])));
        assert_eq!(third, ["deny.toml: a library in several versions: hash@1.0.0, hash@2.0.0, hash@3.0.0"]);
        let one = found(|all| drop(all.remove(0)));
        assert_eq!(one, ["deny.toml: nothing needs `hash@1.0.0` to be skipped any more"]);
    }

    #[test]
    fn somebody_else_who_uses_what_is_denied_is_found() {
        let more = found(|all| assert!(all[2].users.insert("server".into())));
        assert_eq!(more, ["deny.toml: `server` must not use `old`: nobody maintains it"]);
        let none = found(|all| drop(all.remove(2)));
        assert_eq!(none, ["deny.toml: nobody brings `old` any more; take `wrappers` away"]);
    }

    #[test]
    fn a_tree_of_cargo_is_read_with_who_uses_what() {
        let tree = "0\tours v0.1.0 (/some/where)\tMIT\n1\ta v1.0.0\tMIT\n2\tb v2.0.0 (proc-macro)\tISC\n1\tb v2.0.0 (proc-macro)\tISC (*)\n";
        let (a, b) = (library("a", "1.0.0", "MIT", &["ours"]), library("b", "2.0.0", "ISC", &["a", "ours"]));
        assert_eq!(listed(tree), [a, b]);
    }
}
