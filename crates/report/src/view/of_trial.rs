//! What every table with a row for each stream of a trial says in the same words.
//!
//! The one idea: who the stream is, at which levels it ran and how a response is shown without operations is decided here,
//! so that the tables of a report cannot differ in it.

use super::quantity::Quantity;
use super::table::Cell;
use analysis::StreamSummary;

/// A time of the response in milliseconds, or nothing when the stream answered no operation.
pub(super) fn response_cell(stream: &StreamSummary, value_ms: f64) -> Cell {
    if stream.response.count == 0 { Cell::nothing() } else { Cell::number(value_ms, Quantity::Milliseconds) }
}
