//! `prony show RUN`: the answer and the tables of a run, judged again from what was observed; or the history of one of its trials.

use crate::args::Show;
use crate::failure::Failure;
use crate::{folder, judged, output};
use report::Detail;
use workload::key_value;

/// Prints a run as text, JSON or CSV, or a history as EDN.
pub fn run(asked: &Show) -> Result<(), Failure> {
    if let Some(trial) = asked.history {
        return output::print(&history(&asked.choice.run, trial)?);
    }
    let (_, findings) = judged::named(&asked.choice.run)?;
    if asked.json {
        output::print_json(&report::json(&findings))
    } else if asked.csv {
        output::print(&report::csv(&findings))
    } else {
        output::print(&report::text(&findings, output::layout(Detail::Full)))
    }
}

/// What the transactions of a trial saw. Of a trial that was cut off and begun anew, the last attempt.
fn history(run: &str, trial: u32) -> Result<String, Failure> {
    let file = folder::open(run)?;
    let path = file.path().display().to_string();
    let ledgers = file.ledgers(trial).map_err(|error| Failure::caused(format!("reading the run `{path}`"), &error))?;
    let told = ledgers.into_iter().rev().find_map(|ledger| key_value::edn(&ledger.pages));
    told.ok_or_else(|| {
        Failure::new(format!("reading the run `{path}`: a history of trial {trial}, got none"))
            .hint("run one: prony run key-value --set mix=lists --set rows=100 --set field=2kB --set fields=1")
            .hint("`prony show RUN --json` has the numbers of its trials")
    })
}
