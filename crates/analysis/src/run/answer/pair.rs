//! What is said of servers that mirror each other: how long clients stood still, what was left, and what makes up for the cost.

use crate::{Comparison, Finding, MirrorFinding, PairFinding, PointSummary, TrialSummary, Verdict};
use study::Judgement;
use units::{Nanos, capital, counted, duration};

/// The sessions or the cores that make up for a mirror, where either is varied.
pub(super) fn to_compensate(findings: &[Finding]) -> Vec<String> {
    let all: Vec<&MirrorFinding> = findings.iter().filter_map(MirrorFinding::of).collect();
    let of = |found: &MirrorFinding| (found.point.system.clone(), found.point.stream.clone());
    let mut varied: Vec<(String, String)> = all.iter().filter(|found| found.varied()).map(|found| of(found)).collect();
    varied.dedup();
    let open = |whose: &(String, String)| {
        let mut primary = findings.iter().filter_map(Comparison::of).filter(|one| one.primary);
        primary.any(|one| {
            one.verdict == Verdict::Inconclusive && (&one.point.system, &one.point.stream) == (&whose.0, &whose.1)
        })
    };
    let said = varied.iter().map(|whose| {
        let each: Vec<String> = all.iter().filter(|other| of(other) == *whose).flat_map(|other| other.more()).collect();
        let means =
            if open(whose) { "; what it costs is inconclusive, so these are means without an interval" } else { "" };
        format!("To compensate for {} in {}: {}{means}.", whose.0, whose.1, each.join("; or "))
    });
    said.collect()
}

/// How long clients stood still at each thing that happened to a pair: that is what is asked of it, whatever its throughput; and which
/// server was out then, and which carried the load.
pub(super) fn stood_still(findings: &[Finding]) -> Option<String> {
    let all: Vec<&PairFinding> = findings.iter().filter_map(PairFinding::of).collect();
    let step = |(who, found): &(String, Vec<&PairFinding>)| {
        let events = grouped(found.iter().map(|one| (one.event.as_str(), *one)));
        let (none, some): (Vec<_>, Vec<_>) =
            events.iter().partition(|(_, alike)| alike.iter().all(|one| one.freeze_s <= 0.0));
        let stood: Vec<String> = some.iter().map(|(event, alike)| still(event, alike)).collect();
        let stood = (!stood.is_empty()).then(|| format!("clients stood still for {}", stood.join(", for ")));
        format!("{who}{}", stood.into_iter().chain(no_stall(&none)).collect::<Vec<_>>().join(" and "))
    };
    let each: Vec<String> = grouped(all.iter().map(|one| (whose(one, &all), *one))).iter().map(step).collect();
    (!each.is_empty()).then(|| format!("{}.", capital(&each.join("; "))))
}

/// `no stall of 100 ms or more was seen at `suspend` and `stop-mirror``; nothing where clients stood still at all of them.
fn no_stall(events: &[&(&str, Vec<&PairFinding>)]) -> Option<String> {
    let all = || events.iter().flat_map(|(_, alike)| alike);
    let within = all().fold(0.0f64, |most, one| most.max(one.interval_s));
    let names: Vec<String> = events.iter().map(|(event, _)| format!("`{event}`")).collect();
    let failed = failed(all().map(|one| one.errors).sum(), "");
    let within = duration(Nanos::from_seconds(within));
    (!names.is_empty()).then(|| format!("no stall of {within} or more was seen at {}{failed}", names.join(" and ")))
}

/// ` (3 transactions failed)`, with what they are counted over behind it; nothing where none did.
fn failed(errors: u64, over: &str) -> String {
    if errors == 0 { String::new() } else { format!(" ({} failed{over})", counted(errors, "transactions")) }
}

/// What has the same key, in the order in which keys came.
fn grouped<K: PartialEq, T>(all: impl Iterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for (key, one) in all {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, alike)) => alike.push(one),
            None => groups.push((key, vec![one])),
        }
    }
    groups
}

/// `while the second server was out, `; nothing where both were there, but for a change of roles among others.
fn whose(found: &PairFinding, all: &[&PairFinding]) -> String {
    const SERVERS: [&str; 2] = ["first", "second"];
    let Some(out) = found.out(all) else {
        let among_others = all.iter().any(|other| other.out(all).is_some());
        return if among_others { "while both changed roles, " } else { "" }.to_owned();
    };
    format!("when the {} server was out, ", SERVERS[out])
}

fn still(event: &str, all: &[&PairFinding]) -> String {
    let time = |seconds: f64| duration(Nanos::from_seconds(seconds));
    let (least, most) =
        all.iter().fold((f64::MAX, 0.0f64), |(least, most), one| (least.min(one.freeze_s), most.max(one.freeze_s)));
    // Whole intervals without an end are counted: it began in the one before, and ended in the one behind.
    let most = most + 2.0 * all.iter().fold(0.0f64, |most, one| most.max(one.interval_s));
    let still = match least > 0.0 {
        true => units::range(&time(least), " to ", &time(most)),
        false => format!("up to {}", time(most)),
    };
    // Of several times it is the sum.
    let in_all = if all.len() > 1 { " in all" } else { "" };
    let failed = failed(all.iter().map(|one| one.errors).sum(), in_all);
    let often = match all.len() {
        1 => String::new(),
        2 => " both times".to_owned(),
        times => format!(" in all {times} times"),
    };
    format!("{still} at `{event}`{often}{failed}")
}

/// What was left of it once the pair was whole again.
pub(super) fn came_back(findings: &[Finding]) -> Option<String> {
    let all = || findings.iter().filter_map(PairFinding::of);
    let each = |of: fn(&PairFinding) -> Option<bool>, holds: &str, not: &str| {
        let known: Vec<bool> = all().filter_map(of).collect();
        (!known.is_empty()).then(|| if known.iter().all(|known| *known) { holds.to_owned() } else { not.to_owned() })
    };
    let longest = all()
        .filter_map(|found| found.resync_s)
        .fold(None, |most: Option<f64>, s| Some(most.map_or(s, |most| most.max(s))));
    let caught = longest.map(|seconds| format!("the mirror caught up in {}", duration(Nanos::from_seconds(seconds))));
    let parts = [
        each(|found| found.kept, "nothing that was acknowledged is missing", "acknowledged work is missing"),
        each(|found| found.equal, "both servers hold the same rows", "both servers do not hold the same rows"),
        caught,
    ];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
    (!text.is_empty()).then(|| format!("{}.", capital(&text)))
}

/// Servers of a study that mirrors run on one machine, and each takes from the other what two machines would both have.
pub(super) fn shared_host(
    points: &[PointSummary],
    trials: &[TrialSummary],
    judgement: &Judgement,
    disturbed: bool,
) -> Option<String> {
    let measured = |system: &str| points.iter().any(|point| point.at.system == system);
    let mut mirrored = judgement.mirrored.iter().filter(|mirrored| measured(&mirrored.system)).peekable();
    mirrored.peek()?;
    let is_mirrored = |name: &str| judgement.mirrored.iter().any(|mirrored| mirrored.system == name);
    let mut own = trials.iter().filter(|trial| !trial.interrupted && is_mirrored(&trial.label.system)).peekable();
    let own = own.peek().is_some() && own.all(TrialSummary::own_networks);
    let shared = match (mirrored.all(|mirrored| mirrored.apart), own) {
        (true, true) => "processors and memory",
        (true, false) => "processors, memory and network",
        (false, true) => "processors, memory and disk",
        (false, false) => "processors, memory, disk and network",
    };
    let both =
        if own { "Each server has a network of its own, but both" } else { "Shared-host overhead: both servers" };
    let apart = if disturbed { "rates and times may differ" } else { "the loss should be smaller" };
    Some(format!("{both} use the same {shared}, so on two machines {apart}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::compared;
    use crate::{Compensation, Estimate};
    use observation::Point;

    #[test]
    fn sessions_that_make_up_for_a_mirror_are_told_with_what_was_tried_and_how_sure_the_cost_is() {
        let predicted = Estimate::single(17.34);
        let (tried, up_to) = ((16.0, 0.72), 16.0);
        let made_up = Compensation {
            sessions: 8.0,
            predicted,
            cpu: None,
            flushes: false,
            observed: None,
            tried,
            up_to,
            ceiling: None,
            limit: None,
        };
        let mirror = Finding::Mirror(MirrorFinding {
            point: Point { system: "mirrored".to_owned(), stream: "orders".to_owned(), ..Point::default() },
            baseline: "alone".to_owned(),
            unit: "a commit waits",
            own_networks: true,
            added: Vec::new(),
            tuning: None,
            compensations: vec![made_up],
            core_compensations: Vec::new(),
            round_trips: None,
            spreads: Vec::new(),
        });
        let told = |verdict| {
            to_compensate(&[Finding::Comparison(compared("mirrored", Estimate::single(0.7), verdict)), mirror.clone()])
                .join(" ")
        };
        let sure = "To compensate for mirrored in orders: no number of sessions that was tried is enough: up to 16 sessions \
                    brought back at most 72% of the rate, with 16 of them; the response-time law, which asks for +9.34 beside 8, does not hold here";
        assert_eq!(told(Verdict::Worse), format!("{sure}."));
        let open = "; what it costs is inconclusive, so these are means without an interval.";
        assert_eq!(told(Verdict::Inconclusive), format!("{sure}{open}"));
    }
}
