//! The table of trials that were killed or stopped: what they had finished, apart from everything that is concluded.

use super::curve::factors_text;
use super::of_trial::response_cell;
use super::quantity::Quantity;
use super::table::{Cell, Column, Table};
use crate::caveats::{Caveats, Touches};
use analysis::{Findings, StreamSummary, TrialSummary};

/// A row for each stream of each interrupted trial; no row when all trials ended.
pub fn table(findings: &Findings, caveats: &Caveats) -> Table {
    let columns = vec![
        Column::numbers("trial", "trial"),
        Column::words("experiment", "experiment").minor(),
        Column::words("system", "system"),
        Column::words("stream", "stream"),
        Column::words("at", "factors"),
        Column::numbers("finished", "window_s"),
        Column::numbers("operations", "throughput_per_s").leading(),
        Column::numbers("bytes", "bytes_per_s").minor(),
        Column::numbers("p50", "response_p50_ms"),
        Column::numbers("p99", "response_p99_ms"),
    ];
    let mut table = Table::new("Interrupted: the part that was finished, of which nothing is concluded", columns);
    for trial in findings.trials.iter().filter(|trial| trial.interrupted) {
        table.trials.insert(trial.label.index);
        table.rows.extend(trial.streams.iter().map(|stream| row(trial, stream, caveats)));
    }
    table.without_empty_columns()
}

fn row(trial: &TrialSummary, stream: &StreamSummary, caveats: &Caveats) -> Vec<Cell> {
    let label = &trial.label;
    let ms = |value: f64| response_cell(stream, value);
    vec![
        Cell::number(f64::from(label.index), Quantity::Count),
        Cell::word(&label.experiment),
        Cell::word(&label.system),
        Cell::word(trial.label.stream_name(stream.stream)),
        Cell::word(factors_text(&label.factors)),
        Cell::number(trial.window.length().seconds(), Quantity::Seconds),
        Cell::estimate(&stream.throughput_per_s, Quantity::Rate).marked(caveats.marks(&trial.caveats, Touches::All)),
        Cell::number(stream.bytes_per_s, Quantity::ByteRate),
        ms(stream.response.p50_ms),
        ms(stream.response.p99_ms).marked(caveats.marks(&trial.caveats, Touches::Tail)),
    ]
}
