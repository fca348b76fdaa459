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
    // Fixed work ends within an interval, of which the rest is no time in which nothing was done.
    let whole = observations.interval.seconds();
    let over = observations.elapsed_s.map_or(f64::INFINITY, |elapsed| observations.window.start.seconds() + elapsed);
    for (stream, cut) in cuts.iter().enumerate() {
        for (point, interval) in points.iter_mut().zip(&cut.intervals) {
            // Without a completion there is nothing to divide, whatever the length of the interval.
            if interval.done > 0 {
                let worked = Some(over - point.at_s).filter(|rest| *rest > 0.0).map_or(whole, |rest| rest.min(whole));
                point.throughput_per_s[stream] = interval.done as f64 / worked;
            }
            point.failed[stream] = interval.failed;
            point.p99_ms[stream] = interval.p99_ms;
        }
    }
    points
}
