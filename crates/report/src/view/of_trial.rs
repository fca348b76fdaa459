//! What every table with a row for each stream of a trial says in the same words.
//!
//! The one idea: who the stream is, at which levels it ran and how a response is shown without operations is decided here,
//! so that the tables of a report cannot differ in it.

use super::curve::factors_text;
use super::quantity::Quantity;
use super::table::{Cell, Field, Table, numbers, words};
use analysis::{StreamSummary, TrialSummary};

/// A time of the response in milliseconds, or nothing when the stream answered no operation.
pub(super) fn response_cell(stream: &StreamSummary, value_ms: f64) -> Cell {
    if stream.response.count == 0 { Cell::nothing() } else { Cell::number(value_ms, Quantity::Milliseconds) }
}

/// Which trial and stream a row is of.
pub(super) fn who(trial: &TrialSummary, stream: &StreamSummary) -> Vec<Field> {
    vec![
        numbers("trial", "trial", Cell::number(f64::from(trial.label.index), Quantity::Count)),
        words("system", "system", &trial.label.system),
        words("stream", "stream", trial.label.stream_name(stream.stream)),
        words("at", "factors", factors_text(&trial.label.factors)),
    ]
}

/// A table with a row for each stream of each of the trials.
pub(super) fn trials_table<'a>(
    caption: &str,
    trials: impl Iterator<Item = &'a TrialSummary> + Clone,
    row: impl Fn(&TrialSummary, &StreamSummary) -> Vec<Field>,
) -> Table {
    let rows =
        trials.clone().flat_map(|trial| trial.streams.iter().map(|stream| row(trial, stream)).collect::<Vec<_>>());
    let table =
        Table { trials: trials.clone().map(|trial| trial.label.index).collect(), ..Table::of(caption, rows.collect()) };
    table.without_empty_columns()
}
