//! The table of trials that were killed or stopped: what they had finished, apart from everything that is concluded.

use super::curve::factors_text;
use super::quantity::Quantity;
use super::table::{Field, Table, estimate, number, response, word};
use crate::caveats::{Caveats, Touches};
use analysis::{Findings, StreamSummary, TrialSummary};

/// A row for each stream of each interrupted trial; no row when all trials ended.
pub fn table(findings: &Findings, caveats: &Caveats) -> Table {
    let trials = || findings.trials.iter().filter(|trial| trial.interrupted);
    let rows = trials().flat_map(|trial| trial.streams.iter().map(|stream| row(trial, stream, caveats)));
    let mut table = Table::new("Interrupted: the part that was finished, of which nothing is concluded", rows);
    table.trials = trials().map(|trial| trial.label.index).collect();
    table.without_empty_columns()
}

fn row(trial: &TrialSummary, stream: &StreamSummary, caveats: &Caveats) -> Vec<Field> {
    let label = &trial.label;
    let marks = |touched| caveats.marks(&trial.caveats, touched);
    vec![
        number("trial", "trial", f64::from(label.index), Quantity::Count),
        word("experiment", "experiment", &label.experiment).minor(),
        word("system", "system", &label.system),
        word("workload", "stream", label.stream_name(stream.stream)),
        word("at", "factors", factors_text(&label.factors)),
        number("finished", "window_s", trial.window.length().seconds(), Quantity::Seconds),
        estimate("operations", "throughput_per_s", &stream.throughput_per_s, Quantity::Rate)
            .leading()
            .marked(marks(Touches::All)),
        number("bytes", "bytes_per_s", stream.bytes_per_s, Quantity::ByteRate).minor(),
        response("p50", "response_p50_ms", stream, stream.response.p50_ms),
        response("p99", "response_p99_ms", stream, stream.response.p99_ms).marked(marks(Touches::Tail)),
    ]
}
