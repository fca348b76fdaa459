//! The models that a study runs on.
//!
//! The one idea: the room of models opens nothing, so the text of a model file is read here and handed in.

use crate::failure::Failure;
use crate::model_file;
use engine::Described;
use study::{Place, SystemSpec};

/// The description behind a system, when it is a model.
///
/// # Errors
/// When no model of that name ships, or its file cannot be read or has problems.
pub fn of(spec: &SystemSpec) -> Result<Option<Described>, Failure> {
    let Place::Model { model, changes } = &spec.place else { return Ok(None) };
    let found = model_file::changed(model, changes)?;
    Ok(Some(Described { description: found.model, text: found.text }))
}

/// Names of the models that ship and that a study can run on, for hints.
pub fn runnable() -> Vec<&'static str> {
    let runs = |shipped: &&model::Shipped| {
        model::file::read(shipped.name, shipped.text)
            .is_ok_and(|described| model::modules(&described).is_some() || model::transactions(&described))
    };
    model::models().iter().filter(runs).map(|shipped| shipped.name).collect()
}
