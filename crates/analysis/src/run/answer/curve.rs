//! What is said of a curve: where it bends, what its whole range changes, whether its rate lasts.

use crate::{Estimate, FallClaim, Finding, HighestRate, Knee, PointSummary, SustainedFinding};
use observation::factor;
use study::{Judgement, Metric};
use units::{Nanos, bytes_per_second, duration, milliseconds, per_hour, per_second, rate};

/// Where the curve of the chosen point bends, or what it sustains.
pub(super) fn bend(point: &PointSummary, findings: &[Finding]) -> Option<String> {
    findings.iter().find_map(|finding| match finding {
        Finding::Knee(knee) if knee.point.same_stream(&point.at) => knee_sentence(knee, point),
        Finding::HighestRate(found) if found.point.same_stream(&point.at) => found
            .rate_per_s
            .map(|highest| format!("The highest rate with {} is {}.", bound(found), rate(highest.value))),
        Finding::Sustained(found) if found.point == point.at => fallen(found),
        _ => None,
    })
}

/// What the whole range that was tried changes, where no bend is told: that is what is asked of blocks and rows.
pub(super) fn from_least(point: &PointSummary, points: &[PointSummary], judgement: &Judgement) -> Option<String> {
    // Copies at once have been told beside one alone.
    let [only] = point.at.factors.as_slice() else { return None };
    if factor::short_name(&only.name) == factor::WIDTH {
        return None;
    }
    let bandwidth = judgement.primary.as_ref().is_some_and(|primary| primary.metric == Metric::Bandwidth);
    let mut curve: Vec<Quoted> = points
        .iter()
        .filter(|other| other.at.same_stream(&point.at))
        .filter_map(|one| Quoted::of(one, bandwidth))
        .collect();
    curve.sort_by(|a, b| a.level.total_cmp(&b.level));
    // What nobody knows the interval of is no end of a range.
    let known = |one: &&Quoted| one.value.tells();
    let least = curve.iter().find(known).or(curve.first())?;
    let own = curve.iter().find(|one| one.at == only.in_words())?;
    if own.level <= least.level {
        return None;
    }
    // What is asked at one level is told of the best one: nobody keeps more users than give the most.
    let best = curve.iter().filter(|_| !own.is_time).max_by(|a, b| a.value.value.total_cmp(&b.value.value));
    let most = best.filter(|best| best.level > least.level).unwrap_or(own);
    if let Some(clear) = clear_by_rate(most, least) {
        return Some(clear);
    }
    if most.value.overlaps(&least.value) {
        let (told, at, than, word) = (&most.told, &most.at, &least.told, most.beyond(least));
        let least = &least.at;
        return Some(format!(
            "{told} at {at} is not shown to be {word} than {than} at {least}: the intervals overlap."
        ));
    }
    let times = format!("{} as at {} ({})", most.times(least), least.at, least.told);
    let between = curve.iter().filter(|one| one.level > least.level && one.level < most.level);
    let level = between.rev().take_while(|one| one.value.overlaps(&most.value)).last();
    // Nobody pays for more users, or for larger blocks, that give hardly more.
    let enough =
        curve.iter().find(|one| !one.is_time && one.level < most.level && one.value.value >= ENOUGH * most.value.value);
    let level = match (level, enough) {
        (Some(one), _) => format!("; from {} on the intervals overlap with that at {}", one.at, most.at),
        (None, Some(one)) => format!("; it is {} at {} already", one.told, one.at),
        (None, None) => String::new(),
    };
    if most.at == own.at {
        // Of several systems this is one.
        let several = points.iter().any(|other| other.at.system != point.at.system);
        let on = if several { format!(" on {}", point.at.system) } else { String::new() };
        // The number itself may be told elsewhere.
        return Some(format!("{}{on} at {}: {}, {times}{level}.", point.at.stream, own.at, own.told));
    }
    Some(format!("The most is {} at {}, {times}{level}; at {} it is {}.", most.told, most.at, own.at, own.told))
}

/// A level that gives this share of the most is told beside it.
const ENOUGH: f64 = 0.9;

/// What transactions give comes in heaps, so that its intervals may overlap where those of the transactions themselves do not.
fn clear_by_rate(most: &Quoted, least: &Quoted) -> Option<String> {
    let [(more, told), (fewer, than)] = [most.rate.clone()?, least.rate.clone()?];
    let clear = most.value.overlaps(&least.value) && !more.overlaps(&fewer) && more.value > fewer.value;
    clear.then(|| {
        format!(
            "{} at {} is more than {} at {}: the transactions that give it, {told} against {than}, have intervals that do not overlap.",
            most.told, most.at, least.told, least.at
        )
    })
}

/// What is quoted of a point of a curve: seconds of fixed work, bytes where they are asked for, what transactions give, or else the rate.
struct Quoted {
    /// Where it is, and that in words.
    level: f64,
    at: String,
    value: Estimate,
    /// The value with its unit.
    told: String,
    /// `as much`, `as many postings`.
    than: String,
    is_time: bool,
    /// Its transactions a second and these in words, where what they give is quoted.
    rate: Option<(Estimate, String)>,
}

impl Quoted {
    fn of(point: &PointSummary, bandwidth: bool) -> Option<Quoted> {
        let [only] = point.at.factors.as_slice() else { return None };
        let per_hour = |per_s: f64| per_hour(3_600.0 * per_s);
        let (value, told, than) = match (&point.elapsed_s, point.yields.first()) {
            (Some(elapsed), _) => (*elapsed, duration(Nanos::from_seconds(elapsed.value)), "as long".to_owned()),
            _ if bandwidth => (point.bytes_per_s, bytes_per_second(point.bytes_per_s.value), "as much".to_owned()),
            (_, Some((what, per_s))) => (*per_s, per_hour(per_s.value), format!("as many {what}")),
            _ => (point.throughput_per_s, point.work.rate(point.throughput_per_s.value), "as much".to_owned()),
        };
        let (level, is_time) = (only.level.number()?, point.elapsed_s.is_some());
        let rate = (!point.yields.is_empty() && !is_time)
            .then(|| (point.throughput_per_s, point.work.rate(point.throughput_per_s.value)));
        Some(Quoted { level, at: only.in_words(), value, told, than, is_time, rate })
    }

    /// The word for how it differs from another one.
    fn beyond(&self, other: &Quoted) -> &'static str {
        match (self.is_time, self.value.value < other.value.value) {
            (true, true) => "shorter",
            (true, false) => "longer",
            (false, true) => "lower",
            (false, false) => "higher",
        }
    }

    /// `12.3 times (3.1 to 49) as much`; a shorter time is that many times as fast.
    fn times(&self, other: &Quoted) -> String {
        let faster = self.is_time && self.value.value < other.value.value;
        let ratio = if faster { other.value.over(&self.value) } else { self.value.over(&other.value) };
        let than = if faster { "as fast" } else { &self.than };
        format!("{} times{} {than}", units::ratio(ratio.value), ends(&ratio, units::ratio))
    }
}

/// The ends of an interval, but for those that are told alike: a model has such.
pub(super) fn ends(estimate: &Estimate, figure: impl Fn(f64) -> String) -> String {
    let alike = estimate.has_interval() && figure(estimate.low) == figure(estimate.high);
    if alike { String::new() } else { estimate.ends(figure) }
}

/// From where on more at once gain little: where the rate is within 5 percent of its most. What was seen is told with its interval, and
/// no bend that may be anywhere.
fn knee_sentence(knee: &Knee, point: &PointSummary) -> Option<String> {
    let name = &knee.factor;
    let (rate, at) = (|per_s: f64| point.work.rate(per_s), |level: f64| factor::levels(name, level, level));
    let mut curve = knee.curve.clone();
    curve.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (best, most) = knee.highest_seen()?;
    let (least, (last, end)) = (curve.first()?.0, *curve.last()?);
    let falls = end.value < 0.9 * most.value;
    if falls && !end.overlaps(&most) {
        let (best, most, last, end) = (at(best), rate(most.value), at(last), rate(end.value));
        return Some(format!("The best is {most} at {best}; beyond, it does less: {end} at {last}."));
    }
    let behind = match (falls, best == last) {
        (true, _) => format!("; {} gave {}{}", at(last), rate(end.value), ends(&end, per_second)),
        (_, true) => ", the largest that was tried".to_owned(),
        _ => String::new(),
    };
    let seen = format!("the most seen was {}{} at {}{behind}", rate(most.value), ends(&most, per_second), at(best));
    // What rose up to the last level by so much may rise beyond it.
    if knee.at.is_some_and(|at| at.low < at.high) && gains_nothing(&curve) {
        return Some(format!("No gain is shown beyond {}: {seen}, and the intervals overlap.", at(least)));
    }
    let rises = best == last && curve.iter().rev().nth(1).is_some_and(|(_, before)| before.value < 0.9 * most.value);
    Some(match (&knee.at, knee.stated()) {
        (_, Some(level)) if level == best => {
            format!("The best is {}{} at {}{behind}.", rate(most.value), ends(&most, per_second), at(best))
        }
        (_, Some(level)) => format!("Little is gained beyond {}: {seen}.", at(level)),
        (Some(ends), None) if rises && ends.high >= last => {
            format!(
                "More than {} may gain more: {seen}. From {} on the intervals overlap, so no gain is shown between those levels.",
                at(last),
                at(ends.low)
            )
        }
        (Some(ends), None) => {
            let levels = if falls { "stops gaining" } else { "levels off" };
            format!("The rate {levels} somewhere between {}; {seen}.", factor::both(name, ends.low, ends.high))
        }
        (None, None) if knee.scatters => {
            format!(
                "No knee was found from {}: the points scatter too much; {seen}.",
                factor::levels(name, least, last)
            )
        }
        (None, None) => {
            format!("There is no knee up to {}, the largest that was tried: it still gains there.", at(last))
        }
    })
}

/// Whether no level is surely above the lowest one; what nobody knows the interval of shows neither a gain nor that there is none.
fn gains_nothing(curve: &[(f64, Estimate)]) -> bool {
    let known = || curve.iter().map(|(_, seen)| seen).filter(|seen| seen.has_interval() && seen.tells());
    let Some((_, first)) = curve.first() else { return false };
    first.tells() && known().count() > 1 && !known().any(|seen| seen.low > first.high)
}

/// What is to be said of a rate that fell.
fn fallen(found: &SustainedFinding) -> Option<String> {
    let burst = found.sustained.burst?;
    let after = duration(Nanos::from_seconds(burst.lasted_s));
    let (before, left) = (rate(burst.before_per_s), rate(burst.sustained_per_s));
    Some(match found.claim? {
        FallClaim::Credit => format!("That is a burst: after {after} it falls to {left}."),
        FallClaim::MayBe => {
            format!("After {after} it fell from {before} to {left}, which may be the end of burst credit.")
        }
        FallClaim::Fell => format!("It fell from {before} to {left} in this window, after {after}."),
    })
}

/// The rate that an open load confirmed for the same stream, in an experiment of its own.
pub(super) fn confirmed(point: &PointSummary, findings: &[Finding]) -> Option<String> {
    let elsewhere = |found: &&HighestRate| {
        (&found.point.system, &found.point.stream) == (&point.at.system, &point.at.stream)
            && found.point.experiment != point.at.experiment
    };
    let found = findings.iter().filter_map(HighestRate::of).find(elsewhere)?;
    let bound = bound(found);
    Some(match found.rate_per_s {
        Some(highest) => {
            format!("In an open load {} is the highest rate with {bound}: {}.", rate(highest.value), found.reason)
        }
        None => format!("In an open load no rate held {bound}: {}.", found.reason),
    })
}

/// `p99 under 5 ms`.
fn bound(found: &HighestRate) -> String {
    format!("p{} under {}", units::significant(found.quantile * 100.0), milliseconds(found.bound_ms))
}
