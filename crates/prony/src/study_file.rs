//! STUDY on the command line: the name of a shipped study, or the path of a file.
//!
//! The one idea: a word with a slash or ending in `.toml` is a path, anything else is a name, so that a file that happens
//! to be called `flash` never stands in for the study that ships.

use crate::args::Changes;
use crate::failure::Failure;
use crate::passwords;
use std::path::Path;
use study::{Overrides, Problem, Problems, Study};

/// The text of a study with the name that problems and runs carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyText {
    /// `flash`, or the stem of the file.
    pub name: String,
    /// As it was typed, for the lines that name places: `mine.toml`.
    pub origin: String,
    /// The file.
    pub text: String,
}

/// Finds a study.
///
/// # Errors
/// When no study ships under the name, or the file cannot be read.
pub fn find(word: &str) -> Result<StudyText, Failure> {
    if word.contains('/') || word.ends_with(".toml") { from_file(word) } else { shipped(word) }
}

/// Reads a study and applies what the command line changes.
///
/// # Errors
/// All problems of the study, or of the changes, at once.
pub fn read(text: &StudyText, changes: &Changes, fail_if: &[String]) -> Result<Study, Problems> {
    read_with(text, overrides(changes, fail_if))
}

fn read_with(text: &StudyText, overrides: Overrides) -> Result<Study, Problems> {
    Study::parse_on(&text.name, &text.text, &overrides.targets)?.with(&overrides)
}

/// The same as [`read`], with the passwords that are needed to run it, as a failure with its hints.
///
/// # Errors
/// All problems at once; a file of a password that cannot be read.
pub fn read_or_fail(text: &StudyText, changes: &Changes, fail_if: &[String]) -> Result<Study, Failure> {
    read_with(text, overrides_or_fail(changes, fail_if)?).map_err(|problems| failure(&text.origin, &problems))
}

/// What the command line changes, with the password that it names.
///
/// # Errors
/// When the file of the password cannot be read, or others may read it too.
pub fn overrides_or_fail(changes: &Changes, fail_if: &[String]) -> Result<Overrides, Failure> {
    let passwords = passwords::given(changes.password_file.as_deref())?;
    Ok(Overrides { passwords, ..overrides(changes, fail_if) })
}

/// Problems as a failure: one line each, with its place as editors understand it: `mine.toml:12:8`.
pub fn failure(origin: &str, problems: &Problems) -> Failure {
    let doing = format!("reading the study `{origin}`");
    if let [only] = problems.list.as_slice() {
        return Failure::new(format!("{doing}: {}", line(origin, only))).hints(only.hint.clone());
    }
    let lines: Vec<String> = problems.list.iter().map(|problem| line_with_hint(origin, problem)).collect();
    Failure::new(format!("{doing}: {} problems\n{}", lines.len(), lines.join("\n")))
}

fn line_with_hint(origin: &str, problem: &Problem) -> String {
    match &problem.hint {
        Some(hint) => format!("{}\n  hint: {hint}", line(origin, problem)),
        None => line(origin, problem),
    }
}

fn line(origin: &str, problem: &Problem) -> String {
    let source = if problem.line.is_some() { origin.to_owned() } else { problem.source.clone() };
    Problem { source, ..problem.clone() }.to_string()
}

fn overrides(changes: &Changes, fail_if: &[String]) -> Overrides {
    Overrides {
        targets: changes.on.clone(),
        settings: changes.set.clone(),
        only: changes.only.clone(),
        fail_if: fail_if.to_vec(),
        listed_settings: !changes.allow_server_settings,
        named: changes.on.clone(),
        passwords: Vec::new(),
    }
}

fn shipped(name: &str) -> Result<StudyText, Failure> {
    if let Some(found) = study::shipped().iter().find(|shipped| shipped.name == name) {
        return Ok(StudyText { name: name.to_owned(), origin: name.to_owned(), text: found.text.to_owned() });
    }
    let names: Vec<String> = study::shipped().iter().map(|shipped| format!("`{}`", shipped.name)).collect();
    let failure = Failure::new(format!("looking for the study `{name}`: what ships is {}", names.join(", ")));
    Err(if Path::new(name).is_file() {
        failure.hint(format!("a file of that name is here; write `./{name}` to use it"))
    } else {
        failure.hint("list what ships with `prony studies`, or give the path of a study file")
    })
}

fn from_file(path: &str) -> Result<StudyText, Failure> {
    let text = system::text::read(Path::new(path)).map_err(|error| {
        Failure::caused(format!("reading the study `{path}`"), &error)
            .hint("start from one that ships: `prony studies flash > mine.toml`")
    })?;
    let name = Path::new(path).file_stem().map_or_else(|| path.to_owned(), |stem| stem.to_string_lossy().into_owned());
    Ok(StudyText { name, origin: path.to_owned(), text })
}
