//! MODEL on the command line: the name of a shipped model or the path of a model file.
//!
//! The one idea: as with studies, a word with a slash or ending in `.toml` is a path, anything else is a name.

use crate::failure::Failure;
use model::file::{self, Description};
use reading::Problems;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

/// A model with the text that it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelText {
    /// The machine.
    pub model: Description,
    /// The file.
    pub text: String,
    /// What is otherwise than the file says, as it was asked for.
    pub changes: Vec<(String, String)>,
}

impl ModelText {
    /// What is otherwise, for documents: `failed_ports=2`.
    pub fn changed(&self) -> Vec<String> {
        self.changes.iter().map(|(key, value)| format!("{key}={value}")).collect()
    }
}

/// Finds a model by its word: a name or a file, and behind it what is otherwise: `f5100,failed_ports=2`.
///
/// # Errors
/// As [`changed`], and when the word is none.
pub fn find(word: &str) -> Result<ModelText, Failure> {
    let (name, changes) =
        study::model(word).map_err(|reason| Failure::new(format!("finding the model `{word}`: {reason}")))?;
    changed(&name, &changes)
}

/// Finds a model, with other numbers where it was asked what would be if.
///
/// # Errors
/// When none ships under the name, the file cannot be read, it or the changes hold problems; all of them at once.
pub fn changed(word: &str, changes: &[(String, String)]) -> Result<ModelText, Failure> {
    let path = word.contains('/') || word.ends_with(".toml");
    let text = if path { from_file(word)? } else { shipped(word)? };
    let name = word.rsplit('/').next().unwrap_or(word).trim_end_matches(".toml");
    let model = file::read(name, &text).map_err(|problems| failure("reading", word, &problems))?;
    let model = model.changed(changes).map_err(|problems| failure("changing", word, &problems))?;
    Ok(ModelText { model, text, changes: changes.to_vec() })
}

fn from_file(path: &str) -> Result<String, Failure> {
    system::text::read(Path::new(path)).map_err(|error| {
        let failure = Failure::caused(format!("reading the model `{path}`"), &error);
        failure.hint("a model is the path of a file ending in .toml, or the name of one that ships")
    })
}

fn shipped(name: &str) -> Result<String, Failure> {
    let names: Vec<&str> = model::models().iter().map(|shipped| shipped.name).collect();
    let found = model::models().iter().find(|shipped| shipped.name == name);
    found.map(|shipped| shipped.text.to_owned()).ok_or_else(|| {
        let failure = Failure::new(format!("finding the model `{name}`: no such model ships"));
        let meant = reading::did_you_mean(name, names.iter().copied());
        failure.hints(meant).hint(format!("these ship: {}; or give the path of a model file", names.join(", ")))
    })
}

/// The models that ship and fit, by their names.
pub fn shipped_that(fits: impl Fn(&Description) -> bool) -> String {
    let all = model::models().iter().filter(|one| file::read(one.name, one.text).is_ok_and(|model| fits(&model)));
    all.map(|one| one.name).collect::<Vec<_>>().join(", ")
}

/// The models of storage that ship, which carry operations.
pub fn storage() -> String {
    shipped_that(|model| model::modules(model).is_some())
}

fn failure(doing: &str, word: &str, problems: &Problems) -> Failure {
    let lines: Vec<String> = problems.list.iter().map(ToString::to_string).collect();
    let failure = Failure::new(format!("{doing} the model `{word}`: {}", lines.join("\n")));
    failure.hints(problems.list.iter().filter_map(|problem| problem.hint.clone()))
}

/// Writes a new file; one that is there already is never written over.
///
/// # Errors
/// When it is there, or cannot be written.
pub fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    let doing = || format!("writing `{}`", path.display());
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = opened.map_err(|error| {
        Failure::caused(doing(), &error).hint("choose a new name: existing files are kept as they are")
    })?;
    file.write_all(text.as_bytes()).map_err(|error| Failure::caused(doing(), &error))
}

/// The device that a word names to emulate; none of `nothing`, which takes no time.
///
/// # Errors
/// As [`find`].
pub fn device(word: &str) -> Result<Option<Description>, Failure> {
    if word == "nothing" { Ok(None) } else { Ok(Some(find(word)?.model)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory as _;

    #[test]
    fn the_help_of_emulate_names_every_model_of_storage_that_ships() {
        let cli = Cli::command();
        let emulate = cli.find_subcommand("emulate").expect("a command");
        let model = emulate.get_arguments().find(|one| one.get_id() == "model").expect("its model");
        let help = model.get_long_help().expect("a help").to_string();
        assert!(help.contains(&format!("({})", storage())), "{}\n{help}", storage());
        assert!(storage().contains("flash-array-2d") && !storage().contains("server"), "{}", storage());
    }
}
