//! What is said of a curve: where it bends, what its whole range changes, whether its rate lasts.

use crate::{Estimate, FallClaim, Finding, HighestRate, Knee, PointSummary, SustainedFinding};
use observation::factor;
use study::{Judgement, Metric};
use units::{Nanos, bytes_per_second, duration, milliseconds, per_hour, rate};

/// Where the curve of the chosen point bends, or what it sustains.
pub(super) fn bend(point: &PointSummary, findings: &[Finding]) -> Option<String> {
    findings.iter().find_map(|finding| match finding {
        Finding::Knee(knee) if knee.point.same_stream(&point.at) => Some(knee_sentence(knee, point)),
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
    let level = |point: &PointSummary| point.at.level(&only.name)?.number();
    let own = level(point)?;
    let others =
        points.iter().filter(|other| other.at.same_stream(&point.at) && level(other).is_some_and(|at| at < own));
    let least = others.min_by(|a, b| level(a).unwrap_or(own).total_cmp(&level(b).unwrap_or(own)))?;
    let bandwidth = judgement.primary.as_ref().is_some_and(|primary| primary.metric == Metric::Bandwidth);
    let quoted = beside(point, least, bandwidth);
    let (at, than, told) = (least.at.factors[0].in_words(), &quoted.than, &quoted.told);
    if overlap(&quoted.own, &quoted.other) {
        let more = if point.elapsed_s.is_some() { "faster" } else { "more" };
        return Some(format!("{} may be no {more} than at {at} ({told}): the intervals overlap.", quoted.own_told));
    }
    let (more, less) = if than == FASTER { (quoted.other, quoted.own) } else { (quoted.own, quoted.other) };
    Some(match quotient(&more, &less) {
        Some(times) => {
            let ends = times.ends(units::significant);
            format!("That is {} times{ends} {than} as at {at} ({told}).", units::significant(times.value))
        }
        None => format!("At {at} it is {told}."),
    })
}

/// The ratio of two estimates that know nothing of each other: their errors add up as squares of logarithms. None without intervals.
fn quotient(more: &Estimate, less: &Estimate) -> Option<Estimate> {
    let known = |one: &Estimate| one.has_interval() && one.tells() && one.low > 0.0;
    if !known(more) || !known(less) {
        return None;
    }
    let of = |above: f64, below: f64| above.ln().hypot(below.ln()).exp();
    let value = more.value / less.value;
    let low = value / of(more.value / more.low, less.high / less.value);
    let high = value * of(more.high / more.value, less.value / less.low);
    Some(Estimate { value, low, high, ..*more })
}

const FASTER: &str = "as fast";

/// What two points of a curve give, of which the same is quoted.
struct Beside {
    own: Estimate,
    other: Estimate,
    /// Each with its unit.
    own_told: String,
    told: String,
    /// `as much`, `as fast`.
    than: String,
}

/// What is quoted of two points: seconds of fixed work, bytes where they are asked for, what transactions give, or else the rate.
fn beside(point: &PointSummary, other: &PointSummary, bandwidth: bool) -> Beside {
    if let Some((own, one)) = point.elapsed_s.zip(other.elapsed_s) {
        let than = if own.value < one.value { FASTER } else { "as long" };
        return Beside::of([own, one], |seconds| duration(Nanos::from_seconds(seconds)), than);
    }
    if bandwidth {
        return Beside::of([point.bytes_per_s, other.bytes_per_s], bytes_per_second, "as much");
    }
    if let Some(((what, own), (_, one))) = point.yields.first().zip(other.yields.first()) {
        return Beside::of([*own, *one], |per_s| per_hour(3_600.0 * per_s), &format!("as many {what}"));
    }
    Beside::of([point.throughput_per_s, other.throughput_per_s], |per_s| other.work.rate(per_s), "as much")
}

impl Beside {
    fn of([own, other]: [Estimate; 2], told: impl Fn(f64) -> String, than: &str) -> Beside {
        Beside { own, other, own_told: told(own.value), told: told(other.value), than: than.to_owned() }
    }
}

fn overlap(one: &Estimate, other: &Estimate) -> bool {
    one.has_interval() && other.has_interval() && one.low <= other.high && other.low <= one.high
}

/// From where on more at once gain little: where the rate is within 5 percent of its most. No peak is told that lies below what was
/// measured, and no bend that may be anywhere.
fn knee_sentence(knee: &Knee, point: &PointSummary) -> String {
    let (stream, name) = (&point.at.stream, &knee.factor);
    let levels = |low, high| factor::levels(name, low, high);
    let tried = || knee.curve.iter().map(|(level, _)| *level);
    let (least, most) = (tried().fold(f64::MAX, f64::min), tried().fold(f64::MIN, f64::max));
    let seen = knee.highest_seen().map_or(knee.peak_per_s.value, |(_, per_s)| per_s);
    let peak = point.work.rate(seen.max(knee.peak_per_s.value));
    let last = knee.curve.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    if let Some(((best, _), (last, end))) = knee.highest_seen().zip(last)
        && end.value < 0.9 * seen
        && !overlap(end, &knee.curve.iter().find(|(level, _)| *level == best).map_or(*end, |(_, most)| *most))
    {
        let (at, end) = (levels(best, best), point.work.rate(end.value));
        return format!("{stream} is best at {at}, with {peak}; at {} it is {end}.", levels(*last, *last));
    }
    let below = knee.curve.iter().filter(|(level, _)| *level < most);
    let before_last = below.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(0.0, |(_, rate)| rate.value);
    match (&knee.at, knee.stated()) {
        (Some(at), None) if at.high >= most && at.low > least && before_last < 0.9 * seen => format!(
            "{stream} may still gain at {}, the most that was tried: {peak}. From {} on the intervals do not tell.",
            levels(most, most),
            levels(at.low, at.low)
        ),
        (Some(at), None) if at.high >= most && at.low > least => format!(
            "{stream} flattens somewhere from {}: {peak}. More than {} was not tried.",
            levels(at.low, at.high),
            levels(most, most)
        ),
        (_, Some(at)) => format!("{stream} gains little beyond {}: about {peak} at most.", levels(at, at)),
        (Some(at), None) if at.low <= least && at.high >= most => {
            format!("No knee was found from {}: the points scatter too much. Best: {peak}.", levels(least, most))
        }
        (Some(at), None) => format!(
            "{stream} gains little beyond {}: about {peak} at most. These trials scatter too much to place the knee more closely.",
            levels(at.low, at.high)
        ),
        (None, None) => format!("{stream} still gains at {}, the most that was tried.", levels(most, most)),
    }
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
