//! Scripts of the user's own, read before anything is touched.
//!
//! The one idea: a slip in a script is a problem of the study like any other; nobody should wait for a fill to hear of it.
//!
//! What it does not do: it knows nothing of the language; that is `workload::sql`.

use crate::failure::Failure;
use engine::TrialError;
use study::{Problem, Study};

/// Reads and compiles all scripts of a study.
///
/// # Errors
/// As [`slip`] says.
pub fn check(study: &Study) -> Result<(), Failure> {
    slip(study).map_or(Ok(()), |slip| Err(Failure::new(slip.message).hints(slip.hint)))
}

/// Refuses a study that names a file only where it is run.
///
/// # Errors
/// What is to be named.
pub fn named(study: &Study) -> Result<(), Failure> {
    let all = unready(study).find(|unready| matches!(unready, TrialError::Unnamed(_)));
    all.map_or(Ok(()), |unnamed| Err(Failure::new(unnamed.to_string())))
}

/// What is not ready. How many sessions there are changes nothing in a text.
fn unready(study: &Study) -> impl Iterator<Item = TrialError> {
    study.asked().iter().filter_map(|(asked, textual)| engine::made_ready(asked.as_ref(), *textual, 1).err())
}

/// The first script that cannot be read, or all problems of the first stream whose scripts have some. Their places stand in
/// the text: they lie in no line of the study.
pub fn slip(study: &Study) -> Option<Problem> {
    let (message, hint) = match unready(study).find(|unready| !matches!(unready, TrialError::Unnamed(_)))? {
        TrialError::File { action, path, source } => (
            format!("{action} `{path}`: {source}"),
            match action.ends_with("trace") {
                true => "give the path of a file that `prony capture` wrote: `--set trace=FILE`",
                false => "give the path of a file, or a built-in script: `tpcb-like`, `simple-update`, `select-only`",
            },
        ),
        trace @ TrialError::Script { action: "reading the trace", .. } => {
            (trace.to_string(), "give a file that `prony capture` wrote: `--set trace=FILE`")
        }
        other => (other.to_string(), "`prony import pgbench FILE` shows what is understood of a script"),
    };
    Some(Problem { message, hint: Some(hint.to_owned()), ..Problem::default() })
}
