//! Work that comes by the clock: at equal distances, whatever the system and the users do.
//!
//! The one idea: what is due waits for the one slot, and keeps its intended time, so that the wait is response. What brings more
//! (a job of several transactions) goes on when its last has ended, and the next of its kind waits for all of it. So no list is
//! kept: each kind has a place on its clock, and at most one that goes on.

use crate::watch::Watch;
use crate::{Arrival, Books, Limit, Load, Machine, Next, SPAWNED, Unissued};
use random::Draws;
use units::Nanos;

/// Something that comes again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    /// Between two of them.
    pub every: Nanos,
    /// Payload of the first.
    pub payload: u64,
    /// What the payload of each is greater by than that of the one before.
    pub step: u64,
}

/// How what was due in the measured window kept up with the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// How many were due.
    pub due: u64,
    /// Of those, due before the one before had ended.
    pub held: u64,
    /// Of those, not begun when the window closed.
    pub waiting: u64,
}

/// Where the numbers of clocked operations begin: beyond those that others cause.
pub const CLOCKED: u64 = SPAWNED | 1 << 62;

/// Work by the clock, carried one after the other.
#[derive(Clone, Debug)]
pub struct Clocked {
    lines: Vec<Line>,
    /// What is carried now.
    carried: Option<usize>,
    n: u64,
    until: u64,
    window: (u64, u64),
    watch: Watch,
    /// Time that was carried beside the slots of a closed load.
    beside_ns: u128,
    closed: bool,
}

/// One kind of work.
#[derive(Clone, Debug)]
struct Line {
    beat: Beat,
    /// When the next is due; the end of time when none will be.
    at: u64,
    number: u64,
    /// What goes on, and when.
    more: Option<(u64, u64)>,
    /// When the last that was begun had ended.
    ended: u64,
    /// Whether the end of the load cut one off: the next cannot begin.
    cut: bool,
    kept: Kept,
}

impl Line {
    /// When something of it may leave; the end of time when nothing will.
    fn due(&self) -> u64 {
        self.more.map_or(if self.cut { u64::MAX } else { self.at }, |(at, _)| at)
    }

    /// Takes what is next.
    fn take(&mut self, (from, to): (u64, u64), until: u64, waits: bool) -> (u64, u64) {
        if let Some(more) = self.more.take() {
            return more;
        }
        let (at, payload) = (self.at, self.beat.payload + self.number * self.beat.step);
        if (from..to).contains(&at) {
            self.kept.due += 1;
            self.kept.held += u64::from(self.cut || self.ended > at);
            self.kept.waiting += u64::from(waits);
        }
        self.number += 1;
        let next = at.saturating_add(self.beat.every.0.max(1));
        self.at = if next < until { next } else { u64::MAX };
        (at, payload)
    }
}

/// Builds a load of what comes by the clock, beside a load of users that is `closed` or not, for a window `from` .. `to`. Where on its
/// clock each begins is drawn, so that a window sees its share of what comes seldom, on the mean. A window of whole periods sees
/// exactly its share, wherever they begin; where it opens before the first has passed, they begin with the load, because what
/// would have come before it and reached into the window never does. `seed` is the stream's own.
pub fn clocked(beats: &[Beat], closed: bool, limit: Limit, seed: u64, (from, to): (Nanos, Nanos)) -> Machine {
    let line = |(beat, kind): (&Beat, u64)| {
        let every = beat.every.0.max(1);
        let whole = from.0 < every && (to.0 - from.0).is_multiple_of(every);
        let at = if whole { 0 } else { Draws::named(seed, &[kind]).below(every) };
        let at = if at < limit.until.0 { at } else { u64::MAX };
        Line { beat: *beat, at, number: 0, more: None, ended: 0, cut: false, kept: Kept::default() }
    };
    let clocked = Machine::Clocked(Clocked {
        lines: beats.iter().zip(0..).map(line).collect(),
        carried: None,
        n: CLOCKED,
        until: limit.until.0,
        window: (0, 0),
        watch: Watch::default(),
        beside_ns: 0,
        closed,
    });
    clocked.measured(from, to)
}

impl Clocked {
    /// As [`Machine::measured`].
    pub(crate) fn measure(&mut self, from: Nanos, to: Nanos) {
        self.window = (from.0, to.0);
        self.watch = Watch::new(from, to);
    }

    /// The kind that is due first, by such a time of each.
    fn first(&self, time: impl Fn(&Line) -> u64) -> Option<(usize, u64)> {
        let times = self.lines.iter().map(time).enumerate();
        times.min_by_key(|(_, at)| *at).filter(|(_, at)| *at < u64::MAX)
    }

    fn number(&mut self) -> u64 {
        self.n += 1;
        self.n - 1
    }
}

impl Load for Clocked {
    fn next(&mut self, now: Nanos) -> Next {
        if self.carried.is_some() {
            return Next::Blocked;
        }
        let Some((place, at)) = self.first(Line::due) else { return Next::Finished };
        if at > now.0 {
            return Next::WaitUntil(Nanos(at));
        }
        let (intended, payload) = self.lines[place].take(self.window, self.until, now.0 >= self.window.1);
        self.carried = Some(place);
        self.beside_ns += u128::from(self.watch.left(now.0));
        self.watch.issued(intended);
        Next::Issue(Arrival { slot: 0, n: self.number(), intended: Nanos(intended), payload })
    }

    fn completed(&mut self, _slot: u32, at: Nanos) {
        self.beside_ns -= u128::from(self.watch.left(at.0));
        if let Some(place) = self.carried.take() {
            self.lines[place].ended = at.0;
        }
    }

    /// What the one that is carried brings. What is due at or after the end of the load is not carried any more.
    fn spawn(&mut self, intended: Nanos, payload: u64) -> bool {
        let Some(line) =
            self.carried.map(|place| &mut self.lines[place]).filter(|line| line.more.is_none() && !line.cut)
        else {
            return false;
        };
        line.cut = intended.0 >= self.until;
        line.more = (!line.cut).then_some((intended.0, payload));
        true
    }

    fn unissued(&mut self, now: Nanos) -> Option<Unissued> {
        let owed = |line: &Line| line.more.map_or(line.at, |(at, _)| at);
        let (place, _) = self.first(owed).filter(|(_, at)| *at <= now.0)?;
        // One that is still out never ended.
        self.lines[place].cut |= self.carried == Some(place);
        let (intended, payload) = self.lines[place].take(self.window, self.until, true);
        self.watch.planned(intended);
        Some(Unissued { n: self.number(), intended: Nanos(intended), payload })
    }

    fn books(&self) -> Books {
        let slots_ns = if self.closed { self.beside_ns } else { 0 };
        Books { slots_ns, ..self.watch.books(0) }
    }

    fn slots(&self) -> u32 {
        1
    }

    fn kept(&self) -> Vec<Kept> {
        self.lines.iter().map(|line| line.kept).collect()
    }
}
