//! Sessions whose commits share the flushes of a log, played through.
//!
//! The one idea: one flush of a log is under way at a time, for all commits that were there when it began; who comes meanwhile waits for the
//! next (group commit). With a mirror that flushes, a commit goes through two such logs, one behind the other. No closed form tells how long
//! that takes where sessions are few and flushes take nearly equally long, so a few thousand transactions are played, always with the
//! same draws.
//!
//! What it does not do: it knows no locks. They are part of the rest, which the same run without the mirror shows to grow.

use super::session_loop::Pool;
use random::Draws;

/// Transactions of one play: rates of two plays differ by a hundredth at most where only the draws differ.
const TRANSACTIONS: u32 = 20_000;

/// More sessions than this are not played: each step looks at all of them.
pub(super) const SESSIONS_MAX: u32 = 64;

/// How often the search for a rest is halved: to less than the scatter of a play.
const HALVINGS: u32 = 8;

/// A flush takes up to this share more or less than its mean. Flushes that all take equally long keep sessions in step.
const SPREAD: f64 = 0.3;

/// What a session does for one transaction after the other.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Commits {
    /// The processors that a transaction asks for.
    pub pools: Vec<Pool>,
    /// Seconds of a transaction that pass whatever others do.
    pub rest_s: f64,
    /// The share of transactions that commit a change.
    pub share: f64,
    /// Seconds of one flush of each log that a commit waits for, in their order.
    pub flush_s: Vec<f64>,
}

/// Where a session is.
#[derive(Clone, Copy, PartialEq)]
enum At {
    /// On the processors of a pool.
    Pool(usize),
    Rest,
    /// Behind the flush of a log that is under way.
    Before(usize),
    /// In it.
    In(usize),
}

impl Commits {
    /// The seconds of the rest with which so many sessions have that rate, and how many times the played rate that is: more than once only
    /// where not even a transaction without any rest is as fast.
    pub fn fitted(&self, sessions: u32, rate: f64) -> (f64, f64) {
        let with = |rest_s| Commits { rest_s, ..self.clone() }.rate(sessions);
        let bare = with(0.0);
        if bare <= rate {
            return (0.0, rate / bare);
        }
        let (low, high) = (0..HALVINGS).fold((0.0, f64::from(sessions) / rate), |(low, high), _| {
            let middle = f64::midpoint(low, high);
            if with(middle) > rate { (middle, high) } else { (low, middle) }
        });
        (f64::midpoint(low, high), 1.0)
    }

    /// Transactions a second of so many sessions.
    pub fn rate(&self, sessions: u32) -> f64 {
        let mut play = Play::of(self, sessions);
        let mut now_s = 0.0;
        while play.done < TRANSACTIONS {
            now_s += play.step();
        }
        f64::from(play.done) / now_s
    }
}

/// A play under way.
struct Play<'a> {
    of: &'a Commits,
    draws: Draws,
    /// Where each session is, and the seconds that are left for it there: of processors, or of time.
    sessions: Vec<(At, f64)>,
    /// How fast a session is on each pool.
    speeds: Vec<f64>,
    /// Seconds that are left of the flush of each log; infinite where none is under way.
    flushes: Vec<f64>,
    done: u32,
}

impl<'a> Play<'a> {
    fn of(of: &'a Commits, sessions: u32) -> Play<'a> {
        let (draws, flushes) = (Draws::numbered(1, u64::from(sessions)), vec![f64::INFINITY; of.flush_s.len()]);
        let mut play = Play { of, draws, sessions: Vec::new(), speeds: vec![1.0; of.pools.len()], flushes, done: 0 };
        play.sessions = (0..sessions).map(|_| play.begins(0)).collect();
        play
    }

    /// On this pool, or where there is no such pool, with the rest.
    fn begins(&mut self, pool: usize) -> (At, f64) {
        let (at, mean) = match self.of.pools.get(pool) {
            Some(pool_of) => (At::Pool(pool), pool_of.demand_s),
            None => (At::Rest, self.of.rest_s),
        };
        (at, mean * self.draws.exponential())
    }

    /// Where a session goes from here.
    fn behind(&mut self, at: At) -> (At, f64) {
        let last = self.of.flush_s.len();
        let next = match at {
            At::Pool(pool) => return self.begins(pool + 1),
            At::Rest if self.draws.fraction() < self.of.share => 0,
            At::Rest => last,
            At::Before(log) | At::In(log) => log + 1,
        };
        if next < last {
            return (At::Before(next), f64::INFINITY);
        }
        self.done += 1;
        self.begins(0)
    }

    /// Processors share themselves out among those who are ready.
    fn share_out(&mut self) {
        for (pool, (speed, of)) in self.speeds.iter_mut().zip(&self.of.pools).enumerate() {
            let ready = self.sessions.iter().filter(|(at, _)| *at == At::Pool(pool)).count().max(1);
            *speed = (of.cores / ready as f64).min(1.0);
        }
    }

    /// How fast the time that is left passes there.
    fn speed(&self, at: At) -> f64 {
        if let At::Pool(pool) = at { self.speeds[pool] } else { 1.0 }
    }

    /// Goes on to the next moment at which something ends, and says how many seconds that took.
    fn step(&mut self) -> f64 {
        self.share_out();
        let ends = self.sessions.iter().map(|(at, left)| left / self.speed(*at));
        let step = ends.chain(self.flushes.iter().copied()).fold(f64::INFINITY, f64::min);
        self.flushes.iter_mut().for_each(|left| *left -= step);
        let ended = |left: f64| left <= 1e-12;
        for session in 0..self.sessions.len() {
            let (at, left) = self.sessions[session];
            let left = left - step * self.speed(at);
            let over = if let At::In(log) = at { ended(self.flushes[log]) } else { ended(left) };
            self.sessions[session] = if over { self.behind(at) } else { (at, left) };
        }
        (0..self.flushes.len()).for_each(|log| self.flush(log));
        step
    }

    /// Begins a flush for all who wait for one, where none is under way.
    fn flush(&mut self, log: usize) {
        if self.flushes[log].is_finite() && self.flushes[log] > 1e-12 {
            return;
        }
        let mut waits = false;
        for (at, _) in self.sessions.iter_mut().filter(|(at, _)| *at == At::Before(log)) {
            (*at, waits) = (At::In(log), true);
        }
        let varied = 1.0 + SPREAD * (2.0 * self.draws.fraction() - 1.0);
        self.flushes[log] = if waits { self.of.flush_s[log] * varied } else { f64::INFINITY };
    }
}

#[cfg(test)]
#[path = "tests/group_commit.rs"]
mod tests;
