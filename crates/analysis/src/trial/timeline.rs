//! The whole trial by interval, for charts.

use super::cut::Cut;
use crate::TimePoint;
use observation::Observations;

/// One point an interval, from the start of the trial to the end of the window.
pub fn timeline(observations: &Observations, cuts: &[Cut]) -> Vec<TimePoint> {
    let Some(end) = cuts.first().map(|cut| cut.end) else { return Vec::new() };
    let mut points: Vec<TimePoint> = (0..end)
        .map(|index| TimePoint {
            at_s: observations.interval_start(index).seconds(),
            throughput_per_s: vec![0.0; cuts.len()],
            failed: vec![0; cuts.len()],
            p99_ms: vec![None; cuts.len()],
        })
        .collect();
    for (stream, cut) in cuts.iter().enumerate() {
        for (point, interval) in points.iter_mut().zip(&cut.intervals) {
            // Without a completion there is nothing to divide, whatever the length of the interval.
            if interval.done > 0 {
                point.throughput_per_s[stream] = interval.done as f64 / observations.interval.seconds();
            }
            point.failed[stream] = interval.failed;
            point.p99_ms[stream] = interval.p99_ms;
        }
    }
    points
}
