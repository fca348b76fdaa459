//! What a mirror at a distance will cost.
//!
//! The one idea: a commit that writes waits for round trips and for the mirror's flush, and that wait is the only thing that is added to a
//! session's cycle. Response then follows by adding, throughput by the interactive response-time law (Denning and Buzen 1978) beside one
//! queueing station for the processors (approximate mean value analysis after Schweitzer 1979, many servers after Seidmann 1986), which is
//! fitted to the throughput that was seen, so that only what changes is predicted.

use super::mix::{Class, Done, Mix};
use super::seen::{Machine, Seen, Total};
use super::span::Span;
use super::together::{Exchange, Fitted, Work};

/// Seconds that light takes for a kilometre of fibre, one way.
pub const FIBRE_S_PER_KM: f64 = 5e-6;
/// Roads of fibre are longer than the straight line: by up to this factor.
const DETOUR: f64 = 1.3;
/// Seconds that both network stacks and programs add to a round trip: an assumption for Ethernet and TCP.
pub const HANDLING: Span = Span::new(2e-5, 6e-5, 2e-4);
/// Seconds of the mirror's flush where nothing is known of it: an assumption, from flash with a protected cache to disks.
pub const FLUSH: Span = Span::new(1e-4, 1e-3, 5e-3);
/// The mirror's processor time for a transaction, as a share of the source's: 0.18 was published of a row-synchronous pair.
pub const TARGET: Span = Span::new(0.1, 0.18, 0.3);
/// Seconds that sending the log of one flush takes of the source's processors, and receiving it of the mirror's: as measured of
/// PostgreSQL 15 on two cores, where a commit took 65 to 180 us more of the source and 55 to 155 us of the mirror.
const EXCHANGED: Span = Span::new(5e-5, 1e-4, 2.5e-4);
/// What an emulated wire takes of the processors for it, each way.
const WIRE: Span = Span::new(3e-5, 6e-5, 1.2e-4);
/// What applying a KiB of the log takes.
const APPLIED: Span = Span::new(2e-6, 5e-6, 1e-5);
/// More sessions than this times those of now are not looked at.
const SESSIONS_MAX: usize = 16;
/// What a transaction takes more of the source's processors at the worst: from 547 to 618 us in the same source.
const SOURCE: f64 = 618.0 / 547.0;

observation::words! {
    /// What a pair waits for.
    pub enum Kind {
        /// The commit record, flushed by the mirror (synchronous replication of PostgreSQL).
        Commit = "commit",
        /// The write set, received and ordered (Galera).
        WriteSet = "write-set",
        /// Each changed or locked row, and both phases of the commit.
        Row = "row",
    }
}

impl Kind {
    /// Round trips of a transaction that changes or locks so many rows.
    pub fn round_trips(self, rows: f64) -> f64 {
        match self {
            Kind::Commit | Kind::WriteSet => 1.0,
            Kind::Row => rows + 2.0,
        }
    }

    /// Flushes of the mirror that it waits for.
    pub fn flushes(self) -> f64 {
        match self {
            Kind::Commit => 1.0,
            Kind::WriteSet => 0.0,
            Kind::Row => 2.0,
        }
    }
}

/// The pair that is thought of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// What it waits for.
    pub kind: Kind,
    /// Seconds to the mirror, one way.
    pub one_way_s: f64,
    /// Seconds of the mirror's flush where they are not those of this server, and where they come from.
    pub flush: Option<(f64, FlushFrom)>,
    /// Where the mirror runs.
    pub home: Home,
}

/// Where the mirror runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Home {
    /// On a machine of its own.
    #[default]
    Own,
    /// On the server's, with whose processors it works, and whose disk it has where that is one.
    Shared {
        /// Whether both flush to one disk.
        one_disk: bool,
    },
}

observation::words! {
    /// Where the time of the mirror's flush comes from.
    pub enum FlushFrom {
        /// It was given.
        Given = "given",
        /// It was measured where the mirror will be.
        Measured = "measured",
        /// The mean of this server's, which it times.
        Timed = "timed",
        /// This server's, from how many sessions were seen waiting for one.
        Sampled = "sampled",
        /// Assumed.
        Assumed = "assumed",
        /// Nobody waits for it.
        None = "none",
    }
}

/// What is predicted. Times are seconds, rates a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Round trips of a transaction that writes.
    pub round_trips: f64,
    /// One round trip, with the handling at both ends.
    pub round_trip_s: Span,
    /// The mirror's flush.
    pub flush_s: Span,
    /// Where that comes from.
    pub flush_from: FlushFrom,
    /// What is added to a transaction that writes.
    pub wait_s: Span,
    /// A transaction on the mean, with reads: now, and with the mirror. None where none ended.
    pub response_s: Option<(f64, Span)>,
    /// Transactions a second at the same sessions; none where no session was seen at work.
    pub throughput: Option<(f64, Span)>,
    /// Sessions for the same throughput; their number is infinite where no number of sessions gives it.
    pub sessions: Option<(f64, Span)>,
    /// Cores that the mirror needs; none where this server's are not known.
    pub target_cores: Option<Span>,
    /// Changes a second of one row that everybody changes.
    pub hot_row: Option<(Span, Span)>,
}

impl Prediction {
    /// Seconds that are added to one statement of a class before its commit: only a pair that waits for rows adds any.
    pub fn in_statement_s(&self, kind: Kind, class: Class, done: &Done) -> f64 {
        let sends = matches!(class, Class::ReadForUpdate | Class::Insert | Class::Update | Class::Delete);
        if kind == Kind::Row && sends && done.calls > 0.0 {
            self.round_trip_s.value * done.rows / done.calls
        } else {
            0.0
        }
    }
}

/// Predicts what a pair costs such work.
pub fn predict(seen: &Seen, mix: &Mix, pair: &Pair) -> Prediction {
    let round_trip_s = Span::exact(2.0 * pair.one_way_s).by(Span::new(1.0, 1.0, DETOUR)).plus(handling(seen.machine));
    let (flush_s, flush_from) = flush(seen, mix, pair);
    let round_trips = pair.kind.round_trips(mix.rows_each());
    let wait_s = round_trip_s.times(round_trips).plus(flush_s.times(pair.kind.flushes()));
    let share = mix.waiting() / mix.transactions().max(1e-12);
    // Whoever waits for a lock waits for the mirror's answer to another, too: locks are held until it is there.
    let (busy, rate) = (mix.busy, mix.transactions());
    let held_s = (busy - mix.locked).max(0.01 * busy) / rate.max(1e-12);
    let behind = |locked: f64| if busy > 0.0 { locked / (busy - locked).max(0.01 * busy) } else { 0.0 };
    let high = share + 2.0 * behind(mix.locked_most().min(busy));
    let added = Span::new(share, share + behind(mix.locked) * share.min(1.0), high).by(wait_s);
    // Of sessions that this user is not shown none may carry the work, or all.
    let laws = [mix.sessions, busy, mix.sessions + mix.hidden].map(|sessions| Law::of(mix, seen.machine, sessions));
    let laws = if mix.hidden > 0.0 { &laws[..] } else { &laws[..1] };
    let over = |told: &dyn Fn(&Law) -> Span| laws.iter().flatten().map(told).reduce(Span::or);
    let response_s = mix.response_s().map(|now| (now, added.plus(Span::exact(now))));
    let throughput = over(&|law| law.throughputs(added)).map(|told| (rate, told));
    let sessions = over(&|law| law.compensating(added)).map(|told| (mix.sessions, told));
    let local_s = mix.flush.map_or(0.0, |(seconds, _)| seconds);
    let together = Together::of(seen, mix, pair);
    let wait_s = together.map_or(wait_s, |found| found.added_s.times(1.0 / share.max(1e-12)));
    let response_s = match together {
        Some(found) => mix.response_s().map(|now| (now, found.added_s.plus(Span::exact(now)))),
        None => response_s,
    };
    // What is played knows the sessions that were seen alone.
    let wider = |played: Span, told: Option<(f64, Span)>| match told {
        Some((_, told)) if mix.hidden > 0.0 => played.or(told),
        _ => played,
    };
    let throughput = together.map_or(throughput, |found| Some((rate, wider(found.rate, throughput))));
    let sessions = together.map_or(sessions, |found| Some((mix.sessions, wider(found.sessions, sessions))));
    let hot_row = mix.response_s().filter(|_| mix.waiting() > 0.0).map(|response_s| {
        let held = Span::new(local_s.min(held_s), held_s, response_s.max(held_s));
        let per_s = |seconds: f64| 1.0 / seconds.max(1e-9);
        (held.falling(per_s), held.plus(wait_s).falling(per_s))
    });
    Prediction {
        round_trips,
        round_trip_s,
        flush_s,
        flush_from,
        wait_s,
        response_s,
        throughput,
        sessions,
        target_cores: seen.machine.map(|machine| TARGET.times(machine.server_cores)),
        hot_row,
    }
}

/// What is played of a pair that shares a machine.
#[derive(Clone, Copy)]
struct Together {
    rate: Span,
    sessions: Span,
    /// What is added to a transaction's loop, with all that waits longer for processors, flushes and locks.
    added_s: Span,
}

impl Together {
    /// None where the mirror has a machine of its own, or what is shared was not seen.
    fn of(seen: &Seen, mix: &Mix, pair: &Pair) -> Option<Together> {
        let Home::Shared { one_disk } = pair.home else { return None };
        let (machine, (own_flush_s, timed)) = seen.machine.zip(mix.flush)?;
        let (sessions, rate) = (mix.sessions.round() as usize, mix.transactions());
        if pair.kind != Kind::Commit || sessions == 0 || rate <= 0.0 || mix.waiting() <= 0.0 {
            return None;
        }
        let others = machine.cores * machine.busy - machine.server_cores;
        let fitted = Fitted::of(Work {
            sessions,
            rate,
            cores: (machine.cores - others.max(0.0)).max(0.1 * machine.cores),
            cpu_s: machine.server_cores / rate,
            writes: (mix.waiting() / rate).min(1.0),
            flush_s: own_flush_s,
            locked_s: mix.locked / rate,
            holds_s: (mix.busy - mix.locked).max(0.01 * mix.busy) / rate,
        });
        let kib = seen.rate(Total::LogBytes).unwrap_or(0.0) / 1024.0 / seen.rate(Total::Flushes)?.max(1e-9);
        let off = if timed { Span::new(0.8, 1.0, 1.3) } else { Span::new(0.5, 1.0, 2.0) };
        let flush_s = off.times(pair.flush.map_or(own_flush_s, |(seconds, _)| seconds));
        let wire = if pair.one_way_s > 0.0 { WIRE } else { Span::default() };
        let exchange = |end: fn(&Span) -> f64| Exchange {
            one_way_s: pair.one_way_s,
            source_s: end(&EXCHANGED),
            mirror_s: end(&EXCHANGED),
            wire_s: end(&wire),
            apply_s: kib * end(&APPLIED),
            flush_s: end(&flush_s),
            one_disk,
        };
        let all = [exchange(|span| span.low), exchange(|span| span.value), exchange(|span| span.high)];
        let most = SESSIONS_MAX * sessions;
        let [high, value, low] = all.map(|one| fitted.rate(sessions, &one).min(rate));
        let needed = all.map(|one| fitted.compensating(&one, most).unwrap_or(f64::INFINITY));
        let added = |then: f64| mix.sessions / then - mix.sessions / rate;
        let rate = Span::new(low.min(value), value, high.max(value));
        let sessions = Span::new(needed[0].min(needed[1]), needed[1], needed[2].max(needed[1]));
        Some(Together { rate, sessions, added_s: rate.falling(added) })
    }
}

/// The handling of a round trip. Half of it is done by processes of this machine that are woken for it, and wait for busy processors
/// (1 / (1 - U), at most tenfold); the mirror may be as busy, or idle.
fn handling(machine: Option<Machine>) -> Span {
    let stretch = 1.0 / (1.0 - machine.map_or(0.0, |machine| machine.busy).min(0.9));
    HANDLING.by(Span::new(1.0, f64::midpoint(1.0, stretch), stretch))
}

/// The mirror's flush. Who comes in the middle of one waits for its end, and for the next.
fn flush(seen: &Seen, mix: &Mix, pair: &Pair) -> (Span, FlushFrom) {
    if pair.kind.flushes() == 0.0 {
        return (Span::default(), FlushFrom::None);
    }
    // Who samples on busy processors comes to run when others wait for a device, and sees too much of that.
    let crowded = seen.machine.is_none_or(|machine| machine.busy > 0.8);
    let (seconds, from, off, below) = match (pair.flush, mix.flush) {
        (Some((seconds, from)), _) => (seconds, from, 1.0, 1.0),
        (None, Some((seconds, true))) => (seconds, FlushFrom::Timed, 1.0, 1.0),
        (None, Some((seconds, false))) => (seconds, FlushFrom::Sampled, 1.5, if crowded { 3.0 } else { 1.5 }),
        (None, None) if mix.unseen > 0.0 => (FLUSH.value, FlushFrom::Assumed, 1.0, f64::INFINITY),
        (None, None) => return (FLUSH, FlushFrom::Assumed),
    };
    // Sessions that this user is not shown may have been in a flush, too; one is at a time.
    let rate = seen.rate(Total::Flushes).unwrap_or(mix.waiting());
    let unseen_s = match from {
        FlushFrom::Sampled | FlushFrom::Assumed if mix.unseen > 0.0 && rate > 0.0 => {
            FLUSH.high.max(3.0 * (seconds * rate + mix.unseen).min(1.0) / rate)
        }
        _ => 0.0,
    };
    let busy = (rate * seconds).min(1.0);
    (Span::new(seconds / below, seconds * (1.0 + busy / 2.0), (2.0 * off * seconds).max(unseen_s)), from)
}

/// How throughput answers to a wait that is added to every transaction.
#[derive(Clone, Copy, Debug)]
struct Law {
    sessions: f64,
    rate: f64,
    /// Seconds at the queueing station for one transaction, as the server's processes use it, and as everything on the machine does:
    /// clients beside the server queue less, too, strangers do not. None where nobody knows how busy the processors are.
    station_s: Option<(f64, f64)>,
}

impl Law {
    fn of(mix: &Mix, machine: Option<Machine>, sessions: f64) -> Option<Law> {
        let rate = mix.transactions();
        let station_s = machine.map(|machine| {
            let own = (machine.server_cores / machine.cores).min(machine.busy);
            (own.min(0.99) / rate, machine.busy.min(0.99) / rate)
        });
        (sessions > 0.0 && rate > 0.0 && mix.waiting() > 0.0).then_some(Law { sessions, rate, station_s })
    }

    /// No queue gets shorter: the lowest that it can be.
    fn unrelieved(&self, added_s: f64) -> f64 {
        self.sessions / (self.sessions / self.rate + added_s)
    }

    /// The throughput of so many sessions with so much added, where a transaction takes so much of the station.
    fn relieved(&self, sessions: f64, added_s: f64, station_s: f64, times: f64) -> f64 {
        let residence = |sessions: f64, rate: f64, station_s: f64| {
            station_s / (1.0 - (rate * station_s).min(0.999) * (sessions - 1.0).max(0.0) / sessions)
        };
        let seen_s = residence(self.sessions, self.rate, station_s);
        let elsewhere_s = (self.sessions / self.rate - seen_s).max(0.0) + added_s;
        // What the fit does not explain is kept as a factor: nothing that is added changes nothing.
        let fitted = self.solved(self.sessions, elsewhere_s - added_s, station_s);
        self.rate * self.solved(sessions, elsewhere_s, times * station_s) / fitted
    }

    fn solved(&self, sessions: f64, elsewhere_s: f64, station_s: f64) -> f64 {
        let others = (sessions - 1.0).max(0.0) / sessions;
        // X (elsewhere + S / (1 - X S others)) = N is quadratic in X; the lower root is the one below saturation.
        let (a, b, c) =
            (elsewhere_s * station_s * others, -(elsewhere_s + station_s + sessions * station_s * others), sessions);
        if a <= 1e-18 { -c / b } else { (-b - (b * b - 4.0 * a * c).max(0.0).sqrt()) / (2.0 * a) }
    }

    fn throughputs(&self, added: Span) -> Span {
        let low = self.unrelieved(added.high);
        match self.station_s {
            None => Span::new(low, self.unrelieved(added.value), self.rate),
            Some((own_s, all_s)) => {
                let at = |added_s, station_s, times| self.relieved(self.sessions, added_s, station_s, times);
                let value = at(added.value, own_s, 1.0);
                let high = at(added.low, own_s, 1.0).max(at(added.low, all_s, 1.0));
                Span::new(low.min(at(added.high, own_s, SOURCE)).min(value), value, high.max(value))
            }
        }
    }

    /// Sessions that bring back the throughput: N (R' + Z) / (R + Z).
    fn compensating(&self, added: Span) -> Span {
        let law = |added_s: f64| self.sessions + self.rate * added_s;
        let Some((own_s, all_s)) = self.station_s else {
            return Span::new(self.sessions, law(added.value), law(added.high));
        };
        // Bisection: more sessions never give less.
        let needed = |added_s: f64, station_s: f64| {
            let (mut few, mut many) = (self.sessions, law(added_s));
            for _ in 0..60 {
                let middle = f64::midpoint(few, many);
                if self.relieved(middle, added_s, station_s, 1.0) < self.rate { few = middle } else { many = middle }
            }
            many
        };
        let value = needed(added.value, own_s);
        let low = needed(added.low, own_s).min(needed(added.low, all_s));
        Span::new(low.min(value), value, law(added.high).max(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assess::tests::seen;
    use proptest::prelude::*;

    fn pair(kind: Kind, km: f64) -> Pair {
        let flush = Some((1e-3, FlushFrom::Given));
        Pair { kind, one_way_s: km * FIBRE_S_PER_KM, flush, home: Home::Own }
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-6 * b.abs().max(1e-6), "{a} is not {b}");
    }

    #[test]
    fn a_commit_waits_for_one_round_trip_and_the_flush_of_the_mirror() {
        // 1,000 transactions a second by 8 sessions, half of them write, 250 flushes a second.
        let seen = seen();
        let told = predict(&seen, &Mix::of(&seen), &pair(Kind::Commit, 10.0));
        // 100 us of light and 60 us of handling; a flush of 1 ms that finds another in a quarter of the cases.
        near(told.round_trip_s.value, 160e-6);
        near(told.flush_s.value, 1.125e-3);
        near(told.wait_s.value, 1.285e-3);
        near(told.wait_s.low, 120e-6 + 1e-3);
        near(told.wait_s.high, 330e-6 + 2e-3);
    }

    #[test]
    fn the_response_time_law_gives_response_throughput_and_sessions_where_nobody_knows_the_processors() {
        let seen = seen();
        let told = predict(&seen, &Mix::of(&seen), &pair(Kind::Commit, 10.0));
        // R = 4 busy / 1,000; half of the transactions wait for 1.285 ms.
        let (now, then) = told.response_s.expect("transactions ended");
        near(now, 4e-3);
        near(then.value, 4e-3 + 0.5 * 1.285e-3);
        // X' = 8 / (8 ms + 0.6425 ms), N' = 8 + 1,000 x 0.6425 ms.
        near(told.throughput.expect("sessions worked").1.value, 8.0 / 8.6425e-3);
        near(told.sessions.expect("sessions worked").1.value, 8.6425);
    }

    #[test]
    fn a_pair_that_waits_for_rows_makes_a_round_trip_for_each_and_two_for_the_commit_and_a_write_set_flushes_nothing() {
        let seen = seen();
        let mix = Mix::of(&seen);
        // 1,500 changed rows a second by 500 transactions.
        let told = predict(&seen, &mix, &pair(Kind::Row, 10.0));
        near(told.round_trips, 5.0);
        near(told.wait_s.value, 5.0 * 160e-6 + 2.0 * 1.125e-3);
        let told = predict(&seen, &mix, &pair(Kind::WriteSet, 10.0));
        near(told.wait_s.value, 160e-6);
        assert_eq!((told.flush_s, told.flush_from), (Span::default(), FlushFrom::None));
    }

    #[test]
    fn processors_that_everybody_queues_for_hide_most_of_a_wait() {
        let mut seen = seen();
        let without = predict(&seen, &Mix::of(&seen), &pair(Kind::Commit, 10.0)).throughput.expect("a rate").1;
        seen.machine = Some(Machine { cores: 2.0, busy: 0.95, server_cores: 1.9 });
        let told = predict(&seen, &Mix::of(&seen), &pair(Kind::Commit, 10.0));
        let with = told.throughput.expect("a rate").1;
        assert!(
            with.value > without.value + 0.6 * (1000.0 - without.value) && with.value < 1000.0,
            "{with:?} {without:?}"
        );
        near(told.target_cores.expect("cores are known").value, 0.342);
        // Strangers on the processors may be clients of the server, or not: the point is without them, the end of the interval with them.
        seen.machine = Some(Machine { cores: 2.0, busy: 0.95, server_cores: 0.01 });
        let stranger = predict(&seen, &Mix::of(&seen), &pair(Kind::Commit, 10.0));
        let ((now, then), rate) = (stranger.response_s.expect("ended"), stranger.throughput.expect("a rate").1);
        let unrelieved = 8.0 / (8e-3 + then.value - now);
        assert!((rate.value - unrelieved).abs() < 3.0 && rate.high >= with.high - 1e-6, "{rate:?} {with:?}");
        seen.machine = Some(Machine { cores: 64.0, busy: 0.01, server_cores: 0.5 });
        near(
            predict(&seen, &Mix::of(&seen), &pair(Kind::Commit, 10.0)).throughput.expect("a rate").1.value.round(),
            without.value.round(),
        );
    }

    #[test]
    fn a_mirror_that_shares_machine_and_disk_costs_more_than_one_with_a_disk_of_its_own_and_needs_what_was_seen() {
        let mut seen = seen();
        let told = |seen: &Seen, one_disk, kind| {
            let home = Home::Shared { one_disk };
            predict(seen, &Mix::of(seen), &Pair { home, flush: None, ..pair(kind, 10.0) })
        };
        let without = predict(&seen, &Mix::of(&seen), &Pair { flush: None, ..pair(Kind::Commit, 10.0) });
        assert_eq!(told(&seen, true, Kind::Commit), without, "nothing is known of the machine");
        seen.machine = Some(Machine { cores: 2.0, busy: 0.8, server_cores: 1.2 });
        seen.before.totals.insert(Total::FlushSeconds, 0.0);
        seen.after.totals.insert(Total::FlushSeconds, 6.0);
        let (one, two) = (told(&seen, true, Kind::Commit), told(&seen, false, Kind::Commit));
        let rate = |told: &Prediction| told.throughput.expect("sessions worked").1;
        assert!(rate(&one).value < rate(&two).value && rate(&two).value < 1000.0, "{one:?} {two:?}");
        assert!(rate(&one).low <= rate(&one).value && rate(&one).value <= rate(&one).high, "{one:?}");
        // 8 sessions in 8 ms; half of the loops are longer by what half of the commits wait.
        near(one.wait_s.value, 2.0 * (8.0 / rate(&one).value - 8e-3));
        assert!(one.sessions.expect("sessions worked").1.value > 8.0, "{one:?}");
        assert!(told(&seen, true, Kind::Row).wait_s.value > 1e-3, "another kind is told by formulas");
    }

    #[test]
    fn busy_processors_hold_up_the_half_of_the_handling_that_is_theirs() {
        let machine = Machine { cores: 2.0, busy: 0.75, server_cores: 0.0 };
        let told = handling(Some(machine));
        near(told.low, HANDLING.low);
        near(told.value, 60e-6 * 2.5);
        near(told.high, 4.0 * HANDLING.high);
        assert_eq!(handling(None), HANDLING);
    }

    #[test]
    fn a_row_that_all_change_is_held_until_the_mirror_has_answered() {
        let seen = seen();
        let (now, then) = predict(&seen, &Mix::of(&seen), &pair(Kind::Commit, 10.0)).hot_row.expect("a ceiling");
        near(now.value, 250.0);
        near(then.value, 1.0 / (4e-3 + 1.285e-3));
    }

    proptest! {
        #[test]
        fn more_distance_never_means_less_wait_more_throughput_or_fewer_sessions(
            near in 0.0f64..500.0, more in 0.0f64..500.0, busy in prop::option::of(0.0f64..1.0), which in 0usize..3, locked in 0u32..4,
        ) {
            let mut seen = seen();
            seen.machine = busy.map(|busy| Machine { cores: 4.0, busy, server_cores: 1.0 });
            let mut mix = Mix::of(&seen);
            mix.locked = f64::from(locked);
            let told = |km| predict(&seen, &mix, &pair(Kind::ALL[which], km));
            let (a, b) = (told(near), told(near + more));
            let slack = 1e-6;
            for (a, b) in [
                (a.wait_s, b.wait_s),
                (a.response_s.expect("ended").1, b.response_s.expect("ended").1),
                (a.sessions.expect("worked").1, b.sessions.expect("worked").1),
                (b.throughput.expect("worked").1, a.throughput.expect("worked").1),
                (b.hot_row.expect("ended").1, a.hot_row.expect("ended").1),
            ] {
                prop_assert!(a.value <= b.value + slack && a.low <= b.low + slack && a.high <= b.high + slack, "{a:?} {b:?}");
                prop_assert!(a.low <= a.value + slack && a.value <= a.high + slack, "{a:?}");
            }
            prop_assert!(a.throughput.expect("worked").1.value <= 1000.0 + slack);
            prop_assert!(a.sessions.expect("worked").1.low >= 8.0 - slack);
        }
    }
}
