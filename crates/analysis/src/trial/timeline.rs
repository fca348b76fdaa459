//! The whole trial by interval, for charts.

use super::cut::Cut;
use crate::TimePoint;
use observation::{Cell, Histogram, Observations};

/// One point an interval, from the start of the trial to the end of the window.
pub fn timeline(observations: &Observations, cuts: &[Cut]) -> Vec<TimePoint> {
    let Some(end) = cuts.first().map(|cut| cut.end) else { return Vec::new() };
    let mut points: Vec<TimePoint> = (0..end)
        .map(|index| TimePoint {
            at_s: observations.interval_start(index).seconds(),
            counted: observations.window.contains(observations.interval_start(index)),
            throughput_per_s: vec![0.0; cuts.len()],
            p99_ms: vec![None; cuts.len()],
        })
        .collect();
    for (stream, cut) in cuts.iter().enumerate() {
        for cells in cut.all().chunk_by(|a, b| a.key.interval == b.key.interval) {
            if let Some(point) = points.get_mut(cells[0].key.interval as usize) {
                fill(point, stream, cells, cut);
            }
        }
    }
    points
}

fn fill(point: &mut TimePoint, stream: usize, cells: &[&Cell], cut: &Cut) {
    let work: Vec<&Cell> = cells.iter().copied().filter(|cell| cut.counts_as_work(cell)).collect();
    let done: u64 = work.iter().map(|cell| cell.tally.done).sum();
    point.throughput_per_s[stream] = done as f64 / cut.observations.interval.seconds();
    point.p99_ms[stream] = interval_p99_ms(&work);
}

/// p99 of response of those intended in one interval, with the censored in place. The few cells of an interval are
/// merged pairwise: a table of all buckets for each of thousands of intervals would cost more.
fn interval_p99_ms(cells: &[&Cell]) -> Option<f64> {
    let mut all = Histogram::default();
    for cell in cells {
        all.merge(&cell.response);
        all.merge(&cell.censored);
    }
    all.quantile_ns(0.99).map(|ns| ns as f64 / 1e6)
}
