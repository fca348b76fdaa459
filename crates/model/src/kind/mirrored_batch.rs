//! A batch of single rows that is mirrored synchronously: jobs that read and write one row after the other.
//!
//! The one idea: a row that is written waits for its round trips and for the target's log, a row that is only read does
//! not, and a job without think time has nothing to hide a wait behind. So a run takes longer by the share of rows that are
//! written, times that wait over the time of a row. Reads for update are writes in effect: the rows they lock are mirrored.
//!
//! What it does not do: it knows no queue at the link or the target, and no tuning that changes the time of a row itself.

use super::law::Law;
use super::{Quantity, Unanswered, Values, word};
use crate::rows::Row;
use crate::station::FIBRE_NS_PER_KM;

super::asks! {
    asked "row_time" "us" 1e-2 1e8 "a row of the batch, read or written, without mirroring";
    asked "write_wait" "us" 1e-2 1e8 "what a written row waits: its round trips next door, and the target's log";
    asked "trips" "round trips" 0.5 1e3 "round trips of a written row";
    asked "unstated_writes" "1" 1e-4 1.0 "share of rows that are written, where a row of the table does not state it";
}

const ANSWERS: &[Quantity] = &[
    Quantity::other("runtime-change", "%"),
    Quantity::other("response-change", "%"),
    Quantity::other("throughput-change", "%"),
];

pub(super) const LAW: Law = Law::closed(ASKS, ANSWERS, answer);

fn answer(values: &Values, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
    let unknown = |column, text: &str, known| Err(Unanswered::unknown(column, text, known));
    let mode = word(row, "mode")?;
    if !matches!(mode, "active-passive" | "active-active") {
        return unknown("mode", mode, "`active-passive` or `active-active`: without mirroring nothing changes");
    }
    if let Some(workload) = row.text("workload").filter(|text| text.contains("tuned")) {
        return unknown(
            "workload",
            workload,
            "batches that are the same with and without mirroring; a tuned one is another",
        );
    }
    let longer = longer(values, row);
    Ok(match quantity {
        "throughput-change" => -100.0 * longer / (1.0 + longer),
        _ => 100.0 * longer,
    })
}

/// By how much a row takes longer, as a share.
fn longer(values: &Values, row: &Row) -> f64 {
    let share = |column: &str| row.number(column).filter(|percent| *percent > 0.0).map(|percent| percent / 100.0);
    let writes = share("effective_write_pct").or_else(|| share("write_pct"));
    let way_us = 2.0 * row.number("distance_km").unwrap_or(0.0).max(0.0) * FIBRE_NS_PER_KM / 1e3;
    let wait_us = values.of("write_wait") + way_us * values.of("trips");
    writes.unwrap_or_else(|| values.of("unstated_writes")) * wait_us / values.of("row_time")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::ModelKind;

    fn ask(cells: &str, quantity: &str) -> Result<f64, Unanswered> {
        let cells = cells.split(';').filter_map(|cell| cell.split_once('='));
        let cells = cells.map(|(column, cell)| (column.to_owned(), cell.to_owned())).collect();
        let values = Values::new(ASKS, &[200.0, 100.0, 2.0, 0.4]);
        ModelKind::MirroredBatch.answer(&values, &Row { cells, ..Row::default() }, quantity)
    }

    fn close(found: Result<f64, Unanswered>, wanted: f64) {
        assert!(found.as_ref().is_ok_and(|found| (found - wanted).abs() < 1e-9), "{found:?} against {wanted}");
    }

    #[test]
    fn only_rows_that_are_written_wait() {
        close(ask("mode=active-passive;write_pct=20", "runtime-change"), 10.0);
        close(ask("mode=active-passive;write_pct=20;effective_write_pct=100", "runtime-change"), 50.0);
        close(ask("mode=active-active", "response-change"), 20.0);
    }

    #[test]
    fn throughput_falls_by_as_much_as_a_run_takes_longer() {
        close(ask("mode=active-passive;write_pct=100", "throughput-change"), 100.0 * (1.0 / 1.5 - 1.0));
    }

    #[test]
    fn every_kilometre_adds_ten_microseconds_a_round_trip() {
        close(ask("mode=active-passive;write_pct=100;distance_km=10", "runtime-change"), 150.0);
    }

    #[test]
    fn another_batch_and_no_mirror_are_refused() {
        let tuned = ask("mode=active-active;workload=batch, tuned", "runtime-change");
        assert!(matches!(tuned, Err(Unanswered::Unknown { column, .. }) if column == "workload"));
        assert!(matches!(ask("mode=none", "runtime-change"), Err(Unanswered::Unknown { .. })));
        assert_eq!(ask("write_pct=5", "runtime-change"), Err(Unanswered::Missing("mode".to_owned())));
    }
}
