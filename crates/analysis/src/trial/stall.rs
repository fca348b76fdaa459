//! A closed load that stood still: nothing ended for a while, and everybody waited.
//!
//! The one idea: sessions that wait ask for nothing, so that the seconds in which users would have suffered most are those with
//! the fewest samples. The longest stretch without a completion is named, and beside the closed quantile stands what arrivals at
//! the mean rate would have felt, had they come whatever the system did: the system completes what it completed, interval by
//! interval, and each arrival waits until all before it are done (a fluid queue with the measured capacity).
//!
//! What it does not do: a stretch in which everything failed at once is told with the failures, for nobody waited there. It says nothing of
//! loads that are due whatever the system does, open or at the moments of a trace: their response holds such waits already, and where
//! nothing is due nobody waits.

use super::cut::Cut;
use crate::{LatencySummary, Stall};

/// A shorter stretch is a hiccup.
const SHORTEST_S: f64 = 0.25;

/// At the rate of the other intervals so many completions would have come in the stretch. Independent completions leave one of
/// that length with a chance of e^-30.
const MISSING_MIN: f64 = 30.0;

/// A stretch is at least so many medians of response long: what is slow anyhow is no stall.
const P50_TIMES: f64 = 20.0;

/// The longest stretch of the window in which nothing ended, well or not; none when it is no longer than chance or slow operations explain. A
/// closed load asks up to the last moment, so that a stretch at either end of the window counts as well.
pub fn stall(cut: &Cut, response: &LatencySummary, interrupted: bool) -> Option<Stall> {
    let asks = cut.label.offered.is_none() && cut.label.think_mean.0 == 0 && !cut.label.paces_itself();
    let slots = cut.label.slots.filter(|_| asks)?;
    let interval_s = cut.observations.interval.seconds();
    let window = cut.intervals.get(cut.first as usize..cut.end.min(cut.intervals.len() as u32) as usize)?;
    // Whoever failed has its answer and asks again.
    let ended: Vec<u64> = window.iter().map(|interval| interval.done + interval.failed).collect();
    let (at, length) = longest(&ended)?;
    // What ends with a trial that was cut off may be the end of the load.
    if interrupted && at + length == ended.len() {
        return None;
    }
    let lasted_s = length as f64 * interval_s;
    let done: u64 = window.iter().map(|interval| interval.done).sum();
    let elsewhere_s = (ended.len() - length) as f64 * interval_s;
    let missing = done as f64 / elsewhere_s.max(f64::MIN_POSITIVE) * lasted_s;
    let slow_s = P50_TIMES * response.p50_ms / 1e3;
    if lasted_s < SHORTEST_S || missing < MISSING_MIN || lasted_s < slow_s {
        return None;
    }
    let rate = done as f64 / ended.len() as f64;
    let open_p99_ms = response.p99_ms.max(waits_p99_s(&ended, rate, interval_s) * 1e3 + response.p50_ms);
    Some(Stall { at_s: at as f64 * interval_s, lasted_s, slots, rate_per_s: rate / interval_s, open_p99_ms })
}

/// Start and length of the longest stretch of nothing.
pub(super) fn longest(counts: &[u64]) -> Option<(usize, usize)> {
    let (mut best, mut from) = ((0, 0), 0);
    for (at, count) in counts.iter().enumerate() {
        if *count > 0 {
            from = at + 1;
        } else if at + 1 - from > best.1 {
            best = (from, at + 1 - from);
        }
    }
    (best.1 > 0).then_some(best)
}

/// p99 of the waits of arrivals that come evenly, so many an interval, seconds.
fn waits_p99_s(counts: &[u64], rate: f64, interval_s: f64) -> f64 {
    let (mut backlog, mut waits) = (0.0f64, Vec::with_capacity(counts.len()));
    for at in 0..counts.len() {
        // An arrival in the middle of this interval is behind the backlog and half of those that come with it.
        let (mut ahead, mut later) = (backlog + rate / 2.0, at);
        while later < counts.len() && ahead > counts[later] as f64 {
            ahead -= counts[later] as f64;
            later += 1;
        }
        let inside = match counts.get(later) {
            Some(capacity) if *capacity > 0 => ahead / *capacity as f64,
            // Beyond the window it goes on at the mean rate.
            _ => ahead / rate.max(f64::MIN_POSITIVE),
        };
        waits.push(((later - at) as f64 + inside - 0.5).max(0.0) * interval_s);
        backlog = (backlog + rate - counts[at] as f64).max(0.0);
    }
    waits.sort_by(f64::total_cmp);
    waits[((waits.len() as f64 * 0.99) as usize).min(waits.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_that_come_whatever_happens_feel_a_stall_that_waiting_sessions_hide() {
        let mut counts = vec![100u64; 100];
        assert_eq!(longest(&counts), None);
        counts[30..70].fill(0);
        assert_eq!(longest(&counts), Some((30, 40)));
        // 6 of 10 s at 1,000/s: arrivals at 600/s, the first in the stall waits for 4 s, and the backlog drains at 400/s.
        let felt = waits_p99_s(&counts, 60.0, 0.1);
        assert!((3.9..4.1).contains(&felt), "{felt}");
    }

    #[test]
    fn nothing_waits_for_a_steady_system() {
        assert!(waits_p99_s(&[100; 50], 100.0, 0.1) < 0.051);
    }
}
