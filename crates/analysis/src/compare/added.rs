//! What the time is made of that a mirror adds to a transaction.
//!
//! The one idea: sessions that wait for a mirror, over transactions a second, are the wait of a transaction (Little's law); within it the
//! primary times the way there, the mirror's flush and its word back. What the wait does not explain was added elsewhere.
//!
//! What it does not do: it guesses nothing. What no source tells apart stays one part.

use super::beside::ratio;
use super::mirrors::{ends, too_few};
use crate::point::Group;
use crate::{AddedPart, AddedTime, CANNOT_TELL, Estimate, PartOf, ServerSummary, Tuning};
use observation::{Counter, Point};
use study::{Metric, Mirrored, Pairing, Waits};

/// What is added at one point, compared with the same server alone.
pub(super) fn added(alone: &Group, group: &Group, mirrored: &Mirrored, confidence: f64) -> Option<AddedTime> {
    let before = alone.estimate(Metric::ResponseMean, confidence)?.value * 1e3;
    let times = ratio(alone, group, Metric::ResponseMean, confidence)?;
    let over = |times: f64| before * (times - 1.0);
    let added = Estimate { value: over(times.value), low: over(times.low), high: over(times.high), ..times };
    let seen = Seen { group };
    let parts = match mirrored.pairing {
        // Of Galera nobody tells one from another.
        Pairing::TwoPhase | Pairing::Galera => in_lock_step(&seen, added.value),
        Pairing::Postgres => of_commits(&seen, mirrored, added.value),
    };
    let own_flush = |group| Seen { group }.own_flush_ms();
    Some(AddedTime {
        factors: group.point.factors.clone(),
        alone_ms: before,
        added_ms: added,
        times: ratio(group, alone, Metric::Throughput, confidence)?,
        parts,
        round_trips: seen.each(|server| server.mirror.trips_per_s),
        own_flush_ms: own_flush(alone).zip(own_flush(group)),
        mirror_flush_ms: seen.mean(|server| server.mirror.flush_ms),
    })
}

/// What a stream gives beside the slowest one of its experiment at the same point, alone and mirrored.
pub(super) fn tuning(groups: &[Group], (alone, group): (&Group, &Group), confidence: f64) -> Option<Tuning> {
    let here = |other: &&Group, of: &Group| {
        let (one, two) = (&other.point, &of.point);
        (&one.experiment, &one.system, &one.factors) == (&two.experiment, &two.system, &two.factors)
    };
    let rate = |group: &Group| group.estimate(Metric::Throughput, confidence).map_or(f64::INFINITY, |rate| rate.value);
    let other = groups.iter().filter(|other| here(other, alone)).min_by(|a, b| rate(a).total_cmp(&rate(b)))?;
    let against = &other.point.stream;
    let mirrored = groups.iter().find(|one| here(one, group) && one.point.stream == *against)?;
    // Streams that run at once are no two ways to do the same.
    let at_once = group.members.iter().any(|(trial, _)| trial.label.streams.len() > 1);
    let over = |from: &Group, to: &Group| ratio(from, to, Metric::Throughput, confidence);
    (*against != group.point.stream && !at_once).then_some(())?;
    let (alone, mirrored, across) = (over(other, alone)?, over(mirrored, group)?, over(other, group)?);
    Some(Tuning { against: against.clone(), alone, mirrored, across })
}

impl Tuning {
    /// `3.1 times the throughput of untuned without a mirror, 2.8 with one; with it 1.4 times what untuned does without`.
    pub fn says(&self) -> String {
        let figure = |ratio: &Estimate| format!("{}{}", units::ratio(ratio.value), ends(ratio));
        let Tuning { against, alone, mirrored, across } = self;
        format!(
            "{} times the throughput of {against} without a mirror, {} with one; with it {} times what {against} does without",
            figure(alone),
            figure(mirrored),
            figure(across)
        )
    }
}

/// What the trials of a point saw, on the mean.
struct Seen<'a> {
    group: &'a Group<'a>,
}

impl Seen<'_> {
    fn mean(&self, of: impl Fn(&ServerSummary) -> Option<f64>) -> Option<f64> {
        let servers = self.group.members.iter().filter_map(|(trial, _)| trial.server.as_ref());
        let values: Vec<f64> = servers.filter_map(of).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// For each transaction of a trial, whatever its stream.
    fn each(&self, per_s: impl Fn(&ServerSummary) -> Option<f64>) -> Option<f64> {
        let done = |server: &ServerSummary| Some(server.in_sessions.per_s).filter(|done| *done > 0.0);
        self.mean(|server| Some(per_s(server)? / done(server)?))
    }

    /// One flush of the first server's log.
    fn own_flush_ms(&self) -> Option<f64> {
        self.mean(|server| {
            let flushes = server.counter(Counter::LogSyncs).filter(|flushes| *flushes > 0.0)?;
            server.counter(Counter::LogSyncSeconds).filter(|s| *s > 0.0).map(|seconds| 1e3 * seconds / flushes)
        })
    }
}

/// Seconds of a transaction on the wire to the mirror, which more sessions make no longer.
pub(super) fn wire_s(group: &Group, mirrored: &Mirrored) -> Option<f64> {
    let seen = Seen { group };
    let trips = seen.each(|server| match mirrored.pairing {
        Pairing::Postgres => server.mirror.changing_per_s,
        Pairing::TwoPhase | Pairing::Galera => server.mirror.trips_per_s,
    });
    let waits = mirrored.pairing != Pairing::Postgres || mirrored.waits.far();
    Some(trips.filter(|_| waits)? * seen.mean(|server| server.mirror.wire_ms)? / 1e3)
}

/// Seconds of one flush of the first server's log.
pub(super) fn own_flush_s(group: &Group) -> Option<f64> {
    Some(Seen { group }.own_flush_ms()? / 1e3)
}

/// The share of transactions that wait for the mirror with what they changed, and seconds of one flush of each log that they wait for.
pub(super) fn flushes(group: &Group, mirrored: &Mirrored) -> Option<(f64, Vec<f64>)> {
    let seen = Seen { group };
    let share = seen.each(|server| server.mirror.changing_per_s).filter(|_| mirrored.waits.far())?.min(1.0);
    let far = matches!(mirrored.waits, Waits::Flushed | Waits::Applied) && !mirrored.published;
    let far = far.then(|| seen.mean(|server| server.mirror.flush_ms)).map(|ms| Some(ms? / 1e3));
    let flushes: Option<Vec<f64>> = std::iter::once(own_flush_s(group)).chain(far).collect();
    Some((share, flushes?))
}

/// The wait of commits, and what is left.
fn of_commits(seen: &Seen, mirrored: &Mirrored, added: f64) -> Vec<AddedPart> {
    let waits = mirrored.waits;
    let lag = |of: fn(&ServerSummary) -> Option<f64>| seen.mean(of);
    let written = lag(|server| server.mirror.written_ms);
    let flushed = lag(|server| server.mirror.flushed_ms);
    let applied = lag(|server| server.mirror.applied_ms);
    let wire = lag(|server| server.mirror.wire_ms);
    let (Some(waited), Some(share), Some(wire), Some(written), true) = (
        seen.each(|server| server.mirror.waiting.map(|waiting| 1e3 * waiting)),
        seen.each(|server| server.mirror.changing_per_s),
        wire,
        written.or(Some(0.0).filter(|_| mirrored.published)),
        waits.far(),
    ) else {
        return vec![AddedPart { part: PartOf::Elsewhere, ms: added }];
    };
    if mirrored.published {
        // A subscriber answers between what it applies, so that its words tell no step from another.
        let wire = (share * wire).min(waited);
        let parts = [(PartOf::Wire, wire), (PartOf::Decoded, waited - wire), (PartOf::Elsewhere, added - waited)];
        return parts.map(|(part, ms)| AddedPart { part, ms }).into();
    }
    let mut steps = vec![(PartOf::Wire, wire), (PartOf::Written, written - wire)];
    let step = |part, (from, to): (Option<f64>, Option<f64>)| from.zip(to).map(|(from, to)| (part, to - from));
    if waits != Waits::Written {
        steps.extend(step(PartOf::Flushed, (Some(written), flushed)));
    }
    if waits == Waits::Applied {
        steps.extend(step(PartOf::Applied, (flushed, applied)));
    }
    let known = share * steps.iter().map(|(_, ms)| ms).sum::<f64>();
    // A look meets long lags more often than short ones, because they stand for longer.
    let share = if known > waited { share * waited / known } else { share };
    let known = known.min(waited);
    let mut parts: Vec<AddedPart> = steps.into_iter().map(|(part, ms)| AddedPart { part, ms: share * ms }).collect();
    parts.push(AddedPart { part: PartOf::Queued, ms: waited - known });
    parts.push(AddedPart { part: PartOf::Elsewhere, ms: added - waited });
    parts
}

/// The wire, and all else that nobody times.
fn in_lock_step(seen: &Seen, added: f64) -> Vec<AddedPart> {
    let trips = seen.each(|server| server.mirror.trips_per_s);
    let wire = trips.zip(seen.mean(|server| server.mirror.wire_ms)).map(|(trips, wire)| trips * wire);
    let known = wire.map(|ms| AddedPart { part: PartOf::Wire, ms });
    let left = AddedPart { part: PartOf::Second, ms: added - wire.unwrap_or(0.0) };
    known.into_iter().chain([left]).collect()
}

impl AddedTime {
    /// Why no interval of it is told, if so; its ends are in the JSON.
    pub fn open(&self) -> Option<String> {
        let response = |end: f64| (self.alone_ms + end) / self.alone_ms;
        let Estimate { value, low, high, .. } = self.added_ms;
        let response = Estimate { value: response(value), low: response(low), high: response(high), ..self.added_ms };
        let wide = !response.tells() || !self.times.tells();
        too_few(&self.added_ms).or(wide.then(|| CANNOT_TELL.to_owned()))
    }

    /// What is added and how many times the throughput there is without it, with the intervals that are told.
    pub fn shown(&self) -> [Estimate; 2] {
        let bare = |one: Estimate| Estimate { low: f64::NAN, high: f64::NAN, ..one };
        [self.added_ms, self.times].map(|one| if self.open().is_some() { bare(one) } else { one })
    }

    fn ends(&self) -> String {
        self.open().map_or_else(|| self.added_ms.ends(units::milliseconds), |open| format!(" ({open})"))
    }

    /// `1.21 ms (1.02 ms to 1.44 ms)`.
    pub(super) fn adds(&self) -> String {
        format!("{}{}", units::milliseconds(self.added_ms.value), self.ends())
    }

    /// `at 10 km, alone is 2.51 times as fast; the mirror adds 1.21 ms (1.02 ms to 1.44 ms) to a mean of 800 us: 60 us on the wire, ..`.
    /// Round trips that were `counted` are told where no slope over a distance tells of them.
    pub fn says(&self, whose: &Point, counted: bool) -> String {
        let ms = units::milliseconds;
        let at = Point { factors: self.factors.clone(), ..whose.clone() }.at();
        let at = if at.is_empty() { String::new() } else { format!("{}, ", at.trim_start_matches([' ', ','])) };
        let parts: Vec<String> =
            self.parts.iter().map(|part| format!("{} {}", ms(part.ms), part.part.word())).collect();
        let (value, alone) = (ms(self.added_ms.value), ms(self.alone_ms));
        if self.added_ms.value < 0.0 {
            return format!(
                "{at}no time that the mirror adds can be shown: {value}{} beside a mean of {alone}",
                self.ends()
            );
        }
        let trips = self.round_trips.filter(|_| counted);
        let trips = trips.map(|trips| format!("; {} round trips a transaction", units::ratio(trips)));
        format!(
            "{at}alone is {} times as fast; the mirror adds {value}{} to a mean of {alone}: {}{}",
            units::ratio(self.times.value),
            self.ends(),
            parts.join(", "),
            trips.unwrap_or_default()
        )
    }
}

#[cfg(test)]
#[path = "tests/added.rs"]
mod tests;
