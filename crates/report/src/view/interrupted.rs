//! The table of trials that were killed or stopped: what they had finished, apart from everything that is concluded.

use super::of_trial::{response_cell, trials_table, who};
use super::quantity::Quantity;
use super::table::{Cell, Field, Table, numbers, words};
use crate::caveats::{Caveats, Touches};
use analysis::{Findings, StreamSummary, TrialSummary};

/// A row for each stream of each interrupted trial; no row when all trials ended.
pub fn table(findings: &Findings, caveats: &Caveats) -> Table {
    let cut = findings.trials.iter().filter(|trial| trial.interrupted);
    let caption = "Interrupted: the part that was finished, of which nothing is concluded";
    trials_table(caption, cut, |trial, stream| row(trial, stream, caveats))
}

fn row(trial: &TrialSummary, stream: &StreamSummary, caveats: &Caveats) -> Vec<Field> {
    let ms = |value: f64| response_cell(stream, value);
    let marks = |touched| caveats.marks(&trial.caveats, touched);
    let rate = Cell::estimate(&stream.throughput_per_s, Quantity::Rate).marked(marks(Touches::All));
    let mut row = who(trial, stream);
    row.insert(1, words("experiment", "experiment", &trial.label.experiment).minor());
    row.extend([
        numbers("finished", "window_s", Cell::number(trial.window.length().seconds(), Quantity::Seconds)),
        numbers("operations", "throughput_per_s", rate).leading(),
        numbers("bytes", "bytes_per_s", Cell::number(stream.bytes_per_s, Quantity::ByteRate)).minor(),
        numbers("p50", "response_p50_ms", ms(stream.response.p50_ms)),
        numbers("p99", "response_p99_ms", ms(stream.response.p99_ms).marked(marks(Touches::Tail))),
    ]);
    row
}
