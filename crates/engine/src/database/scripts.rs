//! Scripts of transactions: read from files, or built in, and compiled for a trial.
//!
//! The one idea: what a script may do is known before anything is touched, so that a plan and a run refuse it alike.
//!
//! What it does not do: it sends nothing; what tables a script of the user asks is the user's business.

use crate::TrialError;
use std::fs;
use study::{ScriptsSpec, script_name};
use workload::sql::{Bounds, Program, Script, Spec, builtin};

/// The program of a stream.
///
/// # Errors
/// When a file cannot be read, or a script has problems; all of them, with line and column.
pub fn program(spec: &ScriptsSpec, textual: bool) -> Result<Program, TrialError> {
    let scripts: Result<Vec<Script>, TrialError> =
        spec.scripts.iter().map(|(path, weight)| script(path, *weight)).collect();
    let spec = Spec {
        scripts: scripts?,
        define: spec.define.clone(),
        scale: u32::try_from(spec.scale).unwrap_or(u32::MAX),
        textual,
        bounds: Bounds::Calls,
    };
    let path = spec.scripts.iter().map(|script| script.name.as_str()).collect::<Vec<_>>().join(", ");
    Program::build(&spec).map_err(|problems| TrialError::Script { path, problem: problems.to_string() })
}

/// Whether all scripts are built in, so that their tables are known.
pub(crate) fn built_in(spec: &ScriptsSpec) -> bool {
    spec.scripts.iter().all(|(path, _)| builtin::script(path).is_some())
}

fn script(path: &str, weight: f64) -> Result<Script, TrialError> {
    // Weights beside each other are what counts, and whole ones are exact.
    let weight = (weight * 1000.0).round() as u32;
    if let Some(known) = builtin::script(path) {
        return Ok(Script { weight, ..known });
    }
    let text = fs::read_to_string(path).map_err(|source| TrialError::File {
        action: "reading the script",
        path: path.to_owned(),
        source,
    })?;
    Ok(Script { name: script_name(path).to_owned(), text, weight })
}
