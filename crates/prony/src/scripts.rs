//! Scripts of the user's own, read before anything is touched.
//!
//! The one idea: a slip in a script is a problem of the study like any other; nobody should wait for a fill to hear of it.
//!
//! What it does not do: it knows nothing of the language; that is `workload::sql`.

use crate::failure::Failure;
use engine::TrialError;
use study::Study;

/// What keeps a script from being run.
#[derive(Debug)]
pub struct Slip {
    /// What is wrong; each problem with line and column.
    pub text: String,
    /// What may help.
    pub hint: &'static str,
}

/// Reads and compiles all scripts of a study.
///
/// # Errors
/// As [`slip`] says.
pub fn check(study: &Study) -> Result<(), Failure> {
    slip(study).map_or(Ok(()), |slip| Err(Failure::new(slip.text).hint(slip.hint)))
}

/// The first script that cannot be read, or all problems of the first stream whose scripts have some.
pub fn slip(study: &Study) -> Option<Slip> {
    // How many sessions there are changes nothing in a text.
    let unready =
        study.asked().iter().find_map(|(asked, textual)| engine::made_ready(asked.as_ref(), *textual, 1).err());
    unready.map(|error| match error {
        TrialError::File { path, source, .. } => Slip {
            text: format!("reading the script `{path}`: {source}"),
            hint: "give the path of a file, or a built-in script: `tpcb-like`, `select-only`",
        },
        other => {
            Slip { text: other.to_string(), hint: "`prony import pgbench FILE` shows what is understood of a script" }
        }
    })
}
