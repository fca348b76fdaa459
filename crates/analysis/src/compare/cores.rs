//! The processors that make up for a mirror, where servers are held to some of them.
//!
//! The one idea: the loop of a session (`session_loop`) is fitted to what was measured at so many cores, and then the cores are looked for with
//! which it is as long as without the mirror.

use super::beside::ratio;
use super::mirrors::{crossing, level, others};
use super::session_loop::{Growth, Loop, Pool, SESSIONS_MAX};
use super::sessions::range;
use crate::point::Group;
use crate::{CoreCompensation, Estimate, PerTransaction};
use observation::factor::CORES;
use study::Metric;

/// More cores than this times those of now are not looked at.
const MOST: f64 = 1e3;

/// How many cores each server needs with the mirror to do what the first does with so many without.
pub(super) fn compensation(alone: &Group, swept: &[&Group], confidence: f64) -> Option<CoreCompensation> {
    let cores = level(alone, CORES)?;
    let mut swept: Vec<(f64, &Group)> = swept
        .iter()
        .filter(|group| others(group, CORES) == others(alone, CORES))
        .filter_map(|group| Some((level(group, CORES)?, *group)))
        .filter(|(at, _)| *at >= cores)
        .collect();
    swept.sort_by(|a, b| a.0.total_cmp(&b.0));
    let same = swept.iter().find(|(at, _)| *at == cores)?.1;
    let longer = ratio(same, alone, Metric::Throughput, confidence)?;
    let rate = same.estimate(Metric::Throughput, confidence)?.value;
    let of = |group, what: fn(&PerTransaction) -> Option<f64>| mean(group, what);
    let cpu_ms = [of(alone, |each| each.cpu_ms)?, of(same, |each| each.cpu_ms)?, of(same, |each| each.mirror_cpu_ms)?];
    let sessions = sessions(same).filter(|sessions| *sessions <= SESSIONS_MAX)?;
    let pools = cpu_ms[1..].iter().map(|ms| Pool { demand_s: ms / 1e3, cores }).collect();
    let its = Loop { pools, rest_s: 0.0, growth: Growth::default(), waited: 1.0, users: None }.fitted(sessions, rate);
    let fitted = its.rate(sessions);
    let needs = |times: f64| its.cores(sessions, times * fitted, MOST * cores);
    let end = |times: f64| if times.is_finite() { needs(times).unwrap_or(f64::INFINITY) } else { times };
    let predicted =
        needs(longer.value).map(|value| Estimate { value, low: end(longer.low), high: end(longer.high), ..longer });
    let curve: Vec<(f64, Estimate)> = swept
        .iter()
        .filter_map(|(at, group)| Some((*at, ratio(alone, group, Metric::Throughput, confidence)?)))
        .collect();
    let best = curve.iter().max_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    Some(CoreCompensation {
        cores,
        cpu_ms,
        predicted,
        ceiling: its.with_cores(MOST * cores).rate(sessions) / (longer.value * fitted),
        observed: observed(&curve, cores),
        tried: (best.0, best.1.value),
        up_to: curve.last()?.0,
    })
}

/// Where the rate is back between measured levels, and where it is at the earliest and at the latest.
fn observed(curve: &[(f64, Estimate)], from: f64) -> Option<Estimate> {
    let along =
        |of: fn(&Estimate) -> f64| -> Vec<(f64, f64)> { curve.iter().map(|(at, one)| (*at, of(one))).collect() };
    let value = crossing(&along(|one| one.value), from, 1.0)?;
    let bare = Estimate { n: curve.iter().map(|(_, one)| one.n).min()?, ..Estimate::single(value) };
    if !curve.iter().all(|(_, one)| one.has_interval()) {
        return Some(bare);
    }
    // At the first level it may be there already.
    let low = crossing(&along(|one| one.high), from, 1.0).unwrap_or(from);
    let high = crossing(&along(|one| one.low), from, 1.0).unwrap_or(f64::INFINITY);
    Some(Estimate { low, high, confidence: curve[0].1.confidence, ..bare })
}

fn mean(group: &Group, what: fn(&PerTransaction) -> Option<f64>) -> Option<f64> {
    let servers = group.members.iter().filter_map(|(trial, _)| trial.server.as_ref());
    let all: Vec<f64> = servers.filter_map(|server| what(&server.per_transaction)).collect();
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

/// How many loops there are: sessions, or users who share them.
fn sessions(group: &Group) -> Option<u32> {
    let (trial, stream) = group.members.first()?;
    trial.label.streams.get(usize::from(stream.stream))?.slots
}

impl CoreCompensation {
    /// `to make up for the mirror, 0.5 cores of each server become 0.62 (0.58 to 0.66) by the response-time law; 0.60 measured, between levels`.
    pub(super) fn says(&self) -> String {
        let (at, share) = self.tried;
        let measured = match &self.observed {
            Some(observed) => format!("{}{} measured, between levels", units::ratio(observed.value), range(observed)),
            None if share >= 1.0 => format!("the rate is there with {} already", units::significant(at)),
            None if self.up_to == self.cores => "more cores were not measured".to_owned(),
            None => {
                let [most, at, up_to] = [units::percent(share), units::significant(at), units::significant(self.up_to)];
                format!("no number of cores up to {up_to} gives it back: at most {most} of the rate, with {at}")
            }
        };
        let cores = units::significant(self.cores);
        match &self.predicted {
            Some(predicted) => format!(
                "to make up for the mirror, {cores} cores of each server become {}{} by the response-time law; {measured}",
                units::ratio(predicted.value),
                range(predicted)
            ),
            None => format!(
                "no number of cores gives the rate of {cores} cores back by the response-time law, which leaves {} of it; {measured}",
                units::percent(self.ceiling)
            ),
        }
    }

    /// `where each server is held to 0.5 cores, +0.12 cores (predicted; +0.11 observed)`.
    pub(super) fn more(&self) -> String {
        // A difference of two estimates is known to two digits at best.
        let plus = |value: f64| format!("+{}", units::two_digits((value - self.cores).max(0.0)));
        let (at, share) = self.tried;
        let observed = match &self.observed {
            Some(observed) => format!("predicted; {} observed", plus(observed.value)),
            None if share >= 1.0 => {
                format!("predicted; none observed, the rate is there with {}", units::significant(at))
            }
            None => format!(
                "not observed up to {}: at most {} of the rate",
                units::significant(self.up_to),
                units::percent(share)
            ),
        };
        let held = format!("where each server is held to {} cores,", units::significant(self.cores));
        match &self.predicted {
            Some(predicted) => format!("{held} {} cores ({observed})", plus(predicted.value)),
            None => format!("{held} no number of cores ({observed})"),
        }
    }
}

#[cfg(test)]
#[path = "tests/cores.rs"]
pub(super) mod tests;
