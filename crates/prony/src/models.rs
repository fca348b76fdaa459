//! Models by name: those that ship, and files of the user's own.
//!
//! The one idea: what looks like a path is a file; everything else is the name of one that ships. The room of models opens
//! nothing, so the text is read here.

use crate::failure::Failure;
use engine::Described;
use reading::{did_you_mean, listed};
use study::{Place, SystemSpec};

/// The description behind a system, when it is a model.
///
/// # Errors
/// As [`find`].
pub fn of(spec: &SystemSpec) -> Result<Option<Described>, Failure> {
    match &spec.place {
        Place::Model { model } => find(model).map(Some),
        _ => Ok(None),
    }
}

/// A model by its name, or by the path of its file.
///
/// # Errors
/// When no model of that name ships, or its file cannot be read or has problems.
pub fn find(word: &str) -> Result<Described, Failure> {
    let text = if is_path(word) { file(word)? } else { shipped(word)?.to_owned() };
    let description =
        model::file::read(word, &text).map_err(|problems| crate::study_file::failure(word, &problems))?;
    Ok(Described { description, text })
}

/// Names of the models that a study can run on, for hints.
pub fn runnable() -> Vec<&'static str> {
    let runs = |shipped: &&model::Shipped| {
        model::file::read(shipped.name, shipped.text).is_ok_and(|described| model::modules(&described).is_some())
    };
    model::models().iter().filter(runs).map(|shipped| shipped.name).collect()
}

fn is_path(word: &str) -> bool {
    word.contains('/') || word.ends_with(".toml")
}

fn file(path: &str) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| {
        Failure::caused(format!("reading the model file `{path}`"), &error)
            .hint(format!("models that ship: {}", listed(names())))
    })
}

fn shipped(name: &str) -> Result<&'static str, Failure> {
    match model::models().iter().find(|model| model.name == name) {
        Some(found) => Ok(found.text),
        None => {
            let what = format!("choosing a model: one of {}, got `{name}`", listed(names()));
            let failure = Failure::new(what).hint("or give the path of a model file: `--on model:./mine.toml`");
            Err(match did_you_mean(name, names()) {
                Some(meant) => failure.hint(meant),
                None => failure,
            })
        }
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    model::models().iter().map(|model| model.name)
}
