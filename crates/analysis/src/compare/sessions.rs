//! The sessions that make up for a mirror.
//!
//! The one idea: the loop of a session with the mirror (`session_loop`) is fitted to its rate with as many sessions as without, and then the
//! sessions are looked for that have the rate of those without. Its rest, in which sessions wait for locks, devices and each other's flushes,
//! grows with sessions as that of the loop without the mirror did. Where processors were not watched nobody waits for them, and the number of
//! sessions grows as the loop has. What was measured with more sessions stands beside it.

use super::added::{flushes, own_flush_s, wire_s};
use super::beside::ratio;
use super::group_commit::{self, Commits};
use super::mirrors::{SESSIONS, crossing, ends, level, others};
use super::pairs::Member;
use super::session_loop::{Growth, Loop, Pool, SESSIONS_MAX, Users, along};
use crate::point::{Group, pooled};
use crate::trial::busy_with_others;
use crate::{Compensation, Estimate, SessionLimit, bound};
use observation::factor::CORES;
use study::{Metric, Mirrored};

/// How many sessions with the mirror do what so many do without; `baseline` is all that was measured without it.
pub(super) fn compensation(
    alone: &Group,
    (baseline, swept): (&[&Group], &[&Group]),
    mirrored: &Mirrored,
    confidence: f64,
) -> Option<Compensation> {
    let sessions = level(alone, SESSIONS)?;
    let [baseline, swept] = [baseline, swept].map(|groups| -> Vec<&Group> {
        groups.iter().copied().filter(|group| others(group, SESSIONS) == others(alone, SESSIONS)).collect()
    });
    let at = |wanted: f64| swept.iter().find(|group| level(group, SESSIONS) == Some(wanted)).copied();
    let same = at(sessions)?;
    let longer = ratio(same, alone, Metric::Throughput, confidence)?;
    let rate = |group: &Group| group.estimate(Metric::Throughput, confidence).map(|rate| rate.value);
    let wanted = rate(alone)?;
    let mut curve: Vec<(f64, f64)> =
        swept.iter().filter_map(|group| Some((level(group, SESSIONS)?, rate(group)?))).collect();
    curve.sort_by(|a, b| a.0.total_cmp(&b.0));
    let best = curve.iter().copied().filter(|(at, _)| *at >= sessions).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let most = at(best.0)?;
    let carried = own_share(most).map(|share| best.1 / share / wanted);
    let seen = Seen {
        wire_s: wire_s(same, mirrored).unwrap_or(0.0),
        ..Seen::of((same, most), (&baseline, &swept), (sessions as u32, rate(same)?), confidence)
    };
    let closed = seen.compensating(&longer);
    let played = || played(&baseline, (same, most), (mirrored, &longer), confidence);
    let played = if seen.users.is_none() && carried.is_none_or(|carried| carried >= 1.0) { played() } else { None };
    let predicted = closed.map(|closed| played.map_or(closed, |sessions| moved(closed, sessions)));
    let (limit, ceiling) = match (carried, predicted) {
        (Some(carried), _) if carried < 1.0 => (Some(SessionLimit::Cores), Some(carried)),
        (_, None) if seen.users.is_some() => (Some(SessionLimit::Users), Some(seen.most() / longer.value)),
        (carried, _) => (carried.map(|_| SessionLimit::Cores), carried),
    };
    Some(Compensation {
        sessions,
        predicted: predicted.unwrap_or(longer.scaled(sessions)),
        flushes: predicted.is_some() && played.is_some(),
        cpu: if let [one] = &seen.then[..] { Some((1e3 * one.seconds.value, one.cores)) } else { None },
        observed: crossing(&curve, sessions, wanted),
        tried: (best.0, best.1 / wanted),
        up_to: curve.last()?.0,
        ceiling,
        limit,
    })
}

/// What a transaction asks of processors.
struct Demand {
    seconds: Estimate,
    cores: f64,
    /// Those that other programs left to it.
    left: f64,
}

impl Demand {
    fn pool(&self) -> Pool {
        Pool { demand_s: self.seconds.value, cores: self.cores }
    }

    /// The same where a transaction takes as much as the end of its interval says.
    fn ending(&self, end: f64) -> Pool {
        Pool { demand_s: if end.is_finite() && end > 0.0 { end } else { self.seconds.value }, ..self.pool() }
    }
}

/// What a run tells of the loop of a session with a mirror.
struct Seen {
    sessions: u32,
    rate: f64,
    /// What a transaction asks of processors with so many sessions, and with those that completed the most.
    now: Vec<Demand>,
    then: Vec<Demand>,
    users: Option<Users>,
    /// The least part of that work that a session waits for.
    beside: f64,
    /// How the rest grew with sessions where there is no mirror.
    growth: Growth,
    /// Seconds of it on the wire to the mirror, which do not grow.
    wire_s: f64,
}

impl Seen {
    /// Of so many sessions with their rate, and of the level with the highest rate.
    fn of(
        (same, most): (&Group, &Group),
        (baseline, swept): (&[&Group], &[&Group]),
        (sessions, rate): (u32, f64),
        confidence: f64,
    ) -> Seen {
        let few = sessions <= SESSIONS_MAX;
        let asked = |group| if few { demands(group, true, confidence) } else { Vec::new() };
        let (now, then) = (asked(same), asked(most));
        let users = users(same, swept).filter(|_| few);
        let growth = if now.is_empty() { Growth::default() } else { growth(baseline, (sessions, users), confidence) };
        Seen { sessions, rate, now, then, users, beside: beside(most), growth, wire_s: 0.0 }
    }

    /// With how many sessions so many times the rate is reached, and how sure that is by the ratio, by CPU a transaction, by how much of the
    /// mirror's work a session waits for, by whether other programs go on to take their cores, and by whether the rest grows; none where no
    /// number is enough.
    fn compensating(&self, longer: &Estimate) -> Option<Estimate> {
        let needs = |times, pool, waited| self.needs(times, pool, (waited, &self.growth));
        let value = needs(longer.value, Demand::pool, 1.0)?;
        let doubts = [
            needs(longer.low, Demand::pool, 1.0),
            needs(longer.high, Demand::pool, 1.0),
            needs(longer.value, |one| one.ending(one.seconds.low), 1.0),
            needs(longer.value, |one| one.ending(one.seconds.high), 1.0),
            needs(longer.value, Demand::pool, self.beside),
            needs(longer.value, |one| Pool { cores: one.left, ..one.pool() }, 1.0),
            self.needs(longer.value, Demand::pool, (1.0, &Growth::default())),
        ];
        let off = doubts.map(|other| other.map_or(f64::INFINITY, |other| (other / value).ln()));
        let (below, above) = off
            .iter()
            .fold((0.0f64, 0.0f64), |(below, above), off| (below.hypot(off.min(0.0)), above.hypot(off.max(0.0))));
        let bare = Estimate { value, low: f64::NAN, high: f64::NAN, ..*longer };
        Some(match longer.has_interval() {
            true => Estimate { low: value * (-below).exp(), high: value * above.exp(), ..bare },
            false => bare,
        })
    }

    fn needs(&self, times: f64, pool: fn(&Demand) -> Pool, rest: (f64, &Growth)) -> Option<f64> {
        let (fitted, then) = self.fitted(pool, rest);
        then.sessions(times * fitted.rate(self.sessions), self.sessions)
    }

    /// How many times the rate users start with a session for each of them.
    fn most(&self) -> f64 {
        let (fitted, then) = self.fitted(Demand::pool, (1.0, &self.growth));
        let users = self.users.map_or(self.sessions, |users| users.count.min(SESSIONS_MAX));
        then.rate(users) / fitted.rate(self.sessions)
    }

    /// The loop with so many sessions as it was seen, and with the processor time that a transaction takes with more of them.
    fn fitted(&self, pool: fn(&Demand) -> Pool, (waited, growth): (f64, &Growth)) -> (Loop, Loop) {
        let pools = |of: &[Demand]| of.iter().map(pool).collect();
        let (rest_s, users) = (0.0, self.users);
        let bare = Loop { pools: pools(&self.now), rest_s, growth: Growth::default(), waited, users };
        let fitted = bare.fitted(self.sessions, self.rate);
        let grows = 1.0 - (self.wire_s / fitted.rest_s.max(f64::MIN_POSITIVE)).min(1.0);
        let then = Loop { pools: pools(&self.then), growth: growth.of_part(grows), ..fitted.clone() };
        (fitted, then)
    }
}

/// An estimate with another value, in whose interval that of the estimate lies, too.
fn moved(closed: Estimate, value: f64) -> Estimate {
    let off = (closed.value / value).ln();
    let below = (closed.value / closed.low).ln().hypot(off.min(0.0));
    let above = (closed.high / closed.value).ln().hypot(off.max(0.0));
    Estimate { value, low: value * (-below).exp(), high: value * above.exp(), ..closed }
}

/// With how many sessions as many transactions are done as without the mirror, where the flushes that commits share are known: played with
/// those flushes. The rest grows by what it grew without the mirror, times as much as a session takes longer with it: it is mostly the wait
/// for locks, which whoever waits for the mirror holds.
fn played(
    baseline: &[&Group],
    (same, most): (&Group, &Group),
    (mirrored, longer): (&Mirrored, &Estimate),
    confidence: f64,
) -> Option<f64> {
    let measured =
        |group: &Group| Some((level(group, SESSIONS)?, group.estimate(Metric::Throughput, confidence)?.value));
    let (from, rate) = measured(same).filter(|(from, _)| *from <= f64::from(group_commit::SESSIONS_MAX))?;
    let (share, flush_s) = flushes(same, mirrored)?;
    let of = |(group, mirrored): (&Group, bool), flush_s| {
        let (rate, aside) = (measured(group)?.1, aside(group));
        let left = |one: &Demand| match level(group, CORES) {
            Some(_) => one.pool(),
            None => Pool { demand_s: one.seconds.value - aside / rate, cores: one.cores - aside },
        };
        let pools: Vec<Pool> = demands(group, mirrored, confidence).iter().map(left).collect();
        let asked = !pools.is_empty() && pools.iter().all(|pool| pool.demand_s > 0.0 && pool.cores > 0.0);
        asked.then_some(Commits { pools, rest_s: 0.0, share, flush_s })
    };
    let (rest_s, scale) = of((same, true), flush_s)?.fitted(from as u32, rate);
    let rest = |group: &&Group| {
        let (sessions, rate) = measured(group).filter(|(sessions, _)| *sessions >= from)?;
        let alone = of((group, false), vec![own_flush_s(group)?])?;
        let free = alone.pools.iter().all(|pool| rate * pool.demand_s < CROWDED * pool.cores);
        free.then(|| (sessions, alone.fitted(sessions as u32, rate).0))
    };
    let mut rests: Vec<(f64, f64)> = baseline.iter().filter_map(rest).collect();
    rests.sort_by(|a, b| a.0.total_cmp(&b.0));
    let first = rests.first().filter(|(first, _)| *first == from)?.1;
    let grown = |sessions| along(&rests, sessions).map_or(0.0, |rest_s| (rest_s - first).max(0.0) * longer.value);
    let then = of((most, true), flushes(most, mirrored)?.1)?;
    let (wanted, mut few) = (rate * longer.value, (from, rate));
    for sessions in from as u32 + 1..=group_commit::SESSIONS_MAX {
        let with = f64::from(sessions);
        let carried = scale * Commits { rest_s: rest_s + grown(with), ..then.clone() }.rate(sessions);
        if carried >= wanted {
            return Some(few.0 + ((wanted - few.1) / (carried - few.1)).clamp(0.0, 1.0));
        }
        few = (with, carried.max(few.1));
    }
    None
}

/// Beyond this share of the processors, their CPU a transaction says all of the rate, and what is left for the rest nothing.
const CROWDED: f64 = 0.9;

/// How the rest of a loop grew without the mirror, from so many sessions on.
fn growth(baseline: &[&Group], (from, users): (u32, Option<Users>), confidence: f64) -> Growth {
    let rest = |group: &&Group| {
        let sessions = level(group, SESSIONS).filter(|sessions| *sessions >= f64::from(from))?;
        let pools: Vec<Pool> = demands(group, false, confidence).iter().map(Demand::pool).collect();
        let rate = group.estimate(Metric::Throughput, confidence)?.value;
        let free = pools.iter().all(|pool| rate * pool.demand_s < CROWDED * pool.cores);
        let bare = Loop { pools, rest_s: 0.0, growth: Growth::default(), waited: 1.0, users };
        let known = free && !bare.pools.is_empty() && sessions <= f64::from(SESSIONS_MAX);
        known.then(|| (sessions, bare.fitted(sessions as u32, rate).rest_s))
    };
    let mut rests: Vec<(f64, f64)> = baseline.iter().filter_map(rest).collect();
    rests.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Without the first there is nothing to measure growth by.
    if rests.first().is_some_and(|(first, _)| *first == f64::from(from)) {
        Growth::of(&rests)
    } else {
        Growth::default()
    }
}

/// What a transaction asks of the machine's processors, or of those of each server where they are held to some. Nothing where that was not
/// watched, of both servers where there is a mirror, or where several streams share it.
fn demands(group: &Group, mirrored: bool, confidence: f64) -> Vec<Demand> {
    let of = |(cores, left): (f64, f64), seconds: &dyn Fn(&Member) -> Option<f64>| {
        let one = |member: &Member| seconds(member).filter(|_| member.0.streams.len() == 1).map(Estimate::single);
        let own: Vec<Estimate> = group.members.iter().map(one).collect::<Option<_>>()?;
        Some(Demand { seconds: pooled(&own, 0.0, confidence)?, cores, left })
    };
    let per = |member: &Member| member.0.server.as_ref().map(|server| server.per_transaction);
    let all = match level(group, CORES) {
        Some(cores) => {
            let first = of((cores, cores), &|member| Some(per(member)?.cpu_ms? / 1e3));
            let second = || of((cores, cores), &|member| Some(per(member)?.mirror_cpu_ms? / 1e3));
            std::iter::once(first).chain(mirrored.then(second)).collect()
        }
        None => {
            let cores = group.members.iter().find_map(|(trial, _)| trial.machine.cores);
            let each = |(trial, stream): &Member| {
                let rate = stream.throughput_per_s.value;
                Some(busy(&(*trial, *stream), mirrored)? * f64::from(trial.machine.cores?) / rate)
            };
            let others: f64 = group.members.iter().filter_map(|(trial, _)| busy_with_others(trial)).sum();
            let left = 1.0 - others / group.members.len() as f64;
            vec![cores.map(f64::from).and_then(|cores| of((cores, left * cores), &each))]
        }
    };
    all.into_iter().collect::<Option<_>>().unwrap_or_default()
}

/// Processors that serve what a session waits for by its own time: the mirror, and emulated devices, which are processes of their own.
fn aside(group: &Group) -> f64 {
    let of = |(trial, _): &Member| {
        let mirror = trial.server.as_ref().and_then(|server| server.mirror_cpu_cores);
        mirror.unwrap_or(0.0) + trial.generator.children_cores.unwrap_or(0.0)
    };
    group.members.iter().map(of).sum::<f64>() / group.members.len() as f64
}

/// The part of the CPU of a transaction that is not the mirror's, which may do its own while nobody waits.
fn beside(group: &Group) -> f64 {
    let of = |(trial, stream): &Member| {
        let mirror = trial.server.as_ref()?.mirror_cpu_cores?;
        Some(1.0 - mirror / (share(&(*trial, *stream))? * f64::from(trial.machine.cores?)))
    };
    let all: Vec<f64> = group.members.iter().filter_map(of).collect();
    if all.is_empty() { 1.0 } else { (all.iter().sum::<f64>() / all.len() as f64).clamp(0.1, 1.0) }
}

/// Those who share the sessions, where their number stays as it is when that of sessions grows, and they ask often enough for this rate.
fn users(same: &Group, swept: &[&Group]) -> Option<Users> {
    let label = |group: &Group| {
        let (trial, stream) = group.members.first()?;
        trial.label.streams.get(usize::from(stream.stream)).cloned()
    };
    let shared = swept.iter().any(|group| label(group).is_some_and(|label| label.slots != label.sessions()));
    let own = label(same)?;
    let (count, think_s) = (own.user_count()?, own.think_mean.seconds());
    let asked = f64::from(count) / think_s;
    let enough = same.members.iter().all(|(_, stream)| stream.throughput_per_s.value < asked);
    (shared && enough).then_some(Users { count, think_s })
}

/// The share of the machine's processors that both servers and the load keep busy, or of its own that the busier server does where they
/// are held to some; the mean over trials.
fn own_share(group: &Group) -> Option<f64> {
    let held = level(group, CORES);
    let each = group.members.iter().map(|member| match (held, &member.0.server) {
        (Some(cores), Some(server)) => Some(server.cpu_cores()?.max(server.mirror_cpu_cores?) / cores),
        _ => share(member),
    });
    let all: Vec<f64> = each.collect::<Option<_>>()?;
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

/// The share of the machine's processors that both servers and the load keep busy in a trial with a mirror.
fn share(member: &Member) -> Option<f64> {
    busy(member, true)
}

fn busy((trial, stream): &Member, mirrored: bool) -> Option<f64> {
    let watched = !mirrored || trial.server.as_ref()?.mirror_cpu_cores.is_some();
    bound(trial, stream)?.own_cpu.filter(|_| watched).map(|own| own.max(1e-6))
}

/// What is tried has to bring back at least this part of what a rate in proportion to sessions would, or the law does not hold there.
const REFUTED: f64 = 0.9;

impl Compensation {
    /// What more sessions do not lift, and the share of the rate that it leaves, where that is less than the whole and nothing that was tried
    /// contradicts it: then no number of sessions makes up for the mirror.
    pub fn short(&self) -> Option<(SessionLimit, f64)> {
        let open = self.observed.is_none() && self.tried.1 < 1.0;
        self.limit.zip(self.ceiling).filter(|(_, most)| *most < 1.0 && open)
    }

    /// `by the response-time law with waits for 2 cores`.
    pub fn law(&self) -> String {
        match self.cpu.filter(|_| self.short().is_none()) {
            Some((_, cores)) => {
                let flushes = if self.flushes { " and for flushes that commits share" } else { "" };
                format!("by the response-time law with waits for {}{flushes}", units::counted(cores as u64, "cores"))
            }
            None => "by the response-time law".to_owned(),
        }
    }

    /// `+1.6 sessions beside 8 (predicted; +1.4 observed)`.
    pub(super) fn more(&self) -> String {
        let beside = units::significant(self.sessions);
        let plus = |value: f64| format!("+{}", units::significant((value - self.sessions).max(0.0)));
        let law = plus(self.predicted.value);
        let (at, share) = self.tried;
        match self.short() {
            Some((SessionLimit::Cores, most)) => {
                return format!(
                    "more sessions do not bring the rate back on these cores, which carry at most {} of it; with cores to spare {law} \
                     sessions beside {beside} would, by the response-time law",
                    units::percent(most)
                );
            }
            Some((SessionLimit::Users, most)) => {
                return format!(
                    "more sessions do not bring the rate back: its users, who think in between, ask for at most {} of it",
                    units::percent(most)
                );
            }
            None => {}
        }
        let observed = match self.observed {
            Some(observed) => format!("predicted; {} observed", plus(observed)),
            None if share >= 1.0 => {
                format!("predicted; none observed, the rate is there with {}", units::significant(at))
            }
            None if self.up_to <= self.sessions => "more were not tried".to_owned(),
            None => {
                let [up_to, with, most] =
                    [units::significant(self.up_to), units::significant(at), units::percent(share)];
                let tried =
                    format!("up to {up_to} sessions brought back at most {most} of the rate, with {with} of them");
                // A rate that rises in proportion would be there.
                if share < REFUTED * (at / self.predicted.value).min(1.0) {
                    return format!(
                        "no number of sessions that was tried is enough: {tried}; the response-time law, which asks for {law} beside {beside}, does not hold here"
                    );
                }
                format!("not observed: {tried}")
            }
        };
        format!("{law} sessions beside {beside} ({observed})")
    }

    /// `to make up for the mirror, 8 sessions become 9.6 (9.1 to 10.2) by the response-time law; 9.4 measured, between levels`.
    pub(super) fn says(&self) -> String {
        let sessions = units::significant(self.sessions);
        let (at, measured) = (units::significant(self.tried.0), units::percent(self.tried.1));
        if let Some((limit, most)) = self.short() {
            let most = units::percent(most);
            let why = match limit {
                SessionLimit::Cores => format!("the cores are the limit, all of which carry at most {most} of it"),
                SessionLimit::Users => format!("the users are the limit, who ask for at most {most} of it"),
            };
            return format!(
                "no number of sessions gives the rate of {sessions} sessions back: {why}; {measured} measured, with {at} sessions"
            );
        }
        let measured = match (self.observed, self.tried) {
            (Some(observed), _) => format!("{} measured, between levels", units::ratio(observed)),
            (None, (_, share)) if share >= 1.0 => format!("the rate is there with {at} already"),
            (None, (at, _)) if at == self.sessions => "more sessions were not measured".to_owned(),
            (None, _) => format!("not reached: at most {measured} of the rate, with {at} sessions"),
        };
        format!(
            "to make up for the mirror, {sessions} sessions become {}{} {}; {measured}",
            units::ratio(self.predicted.value),
            range(&self.predicted),
            self.law()
        )
    }
}

/// An interval, which may be open.
pub(super) fn range(estimate: &Estimate) -> String {
    match estimate.high == f64::INFINITY && estimate.low.is_finite() {
        true => format!(" (from {})", units::ratio(estimate.low)),
        false => ends(estimate),
    }
}

#[cfg(test)]
#[path = "tests/sessions.rs"]
mod tests;
