//! Processors that all who are ready share.
//!
//! The one idea: everybody gets the same share at every moment, so one common measure of work done to each moves on, and
//! whoever came when it stood at `v` is done when it reaches `v` plus his demand. How fast it moves depends on how many
//! are ready: that is where cores, threads a core and contention come in.

use super::{Watch, Who};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Nanos;

/// Processor sharing with a capacity that depends on how many are ready.
#[derive(Clone, Debug)]
pub struct Sharing {
    /// Seconds of work that each who is ready gets in a second, by how many are ready; the last holds beyond.
    pace: Vec<f64>,
    /// What counts as all of it, in the unit of pace times ready.
    capacity: f64,
    /// Work done to each since the beginning, nanoseconds.
    given: f64,
    at: u64,
    /// Who is here, by the work at which he is done.
    ends: BinaryHeap<Reverse<(u64, Who)>>,
    /// Changes whenever somebody comes or goes: an event of an earlier state is void.
    state: u32,
    /// What it did.
    pub watch: Watch,
}

/// Work is kept in parts of a nanosecond, so that many small steps lose nothing.
const PARTS: f64 = 1024.0;

impl Sharing {
    /// `work(n)` is how many seconds of work are done in a second when `n` are ready; room for so many.
    pub fn new(room: usize, work: impl Fn(u32) -> f64) -> Sharing {
        let pace: Vec<f64> =
            (0..=room.max(1) as u32).map(|n| if n == 0 { 0.0 } else { work(n) / f64::from(n) }).collect();
        let each = pace.iter().enumerate().map(|(n, pace)| n as f64 * pace);
        let capacity = each.fold(f64::MIN_POSITIVE, f64::max);
        let ends = BinaryHeap::with_capacity(room);
        Sharing { pace, capacity, given: 0.0, at: 0, ends, state: 0, watch: Watch::default() }
    }

    /// Somebody comes who needs `demand` of a processor of his own.
    #[inline]
    pub fn arrive(&mut self, now: Nanos, who: Who, demand: Nanos) {
        self.pass(now);
        let end = (self.given + demand.0 as f64) * PARTS;
        self.ends.push(Reverse((end as u64, who)));
        self.turn(now);
    }

    /// When the next will be done if nobody comes, and the state for which that holds.
    #[inline]
    pub fn next(&self) -> Option<(Nanos, u32)> {
        let Reverse((end, _)) = self.ends.peek()?;
        let left = (*end as f64 / PARTS - self.given).max(0.0);
        let wait = left / self.pace();
        Some((Nanos(self.at + libm::ceil(wait) as u64), self.state))
    }

    /// The one who is done now, if the state is still the one for which that was said.
    #[inline]
    pub fn depart(&mut self, now: Nanos, state: u32) -> Option<Who> {
        if state != self.state {
            return None;
        }
        self.pass(now);
        let Reverse((end, who)) = self.ends.pop()?;
        // Times are whole nanoseconds: what the last one was early is given to all.
        self.given = self.given.max(end as f64 / PARTS);
        self.watch.done();
        self.turn(now);
        Some(who)
    }

    /// How many are ready.
    pub fn here(&self) -> u32 {
        self.ends.len() as u32
    }

    #[inline]
    fn pace(&self) -> f64 {
        self.pace[self.ends.len().min(self.pace.len() - 1)]
    }

    #[inline]
    fn pass(&mut self, now: Nanos) {
        self.given += (now.0 - self.at) as f64 * self.pace();
        self.at = now.0;
    }

    #[inline]
    fn turn(&mut self, now: Nanos) {
        self.state = self.state.wrapping_add(1);
        let ready = self.ends.len() as u32;
        self.watch.turn(now, ready, f64::from(ready) * self.pace() / self.capacity);
    }
}

// Shared processors that know when the next is done, so that an end that somebody's coming has moved never enters an agenda.

/// Shared processors with the next end.
#[derive(Clone, Debug)]
pub struct Soonest {
    sharing: Sharing,
    next: u64,
    state: u32,
}

impl Soonest {
    /// With the next end of these processors, at which nobody works yet.
    pub fn of(sharing: Sharing) -> Soonest {
        Soonest { sharing, next: u64::MAX, state: 0 }
    }

    /// Somebody begins so much work.
    #[inline]
    pub fn begin(&mut self, now: Nanos, who: Who, work: Nanos) {
        self.sharing.arrive(now, who, work);
        self.look();
    }

    /// When the next is done; the end of time when nobody works.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Takes out who is done.
    #[inline]
    pub fn end(&mut self, now: Nanos) -> Option<Who> {
        let who = self.sharing.depart(now, self.state);
        self.look();
        who
    }

    /// How many are at work.
    #[inline]
    pub fn here(&self) -> u32 {
        self.sharing.here()
    }

    /// What they did.
    pub fn watch(&mut self) -> &mut Watch {
        &mut self.sharing.watch
    }

    #[inline]
    fn look(&mut self) {
        (self.next, self.state) = self.sharing.next().map_or((u64::MAX, self.state), |(at, state)| (at.0, state));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_share_one_processor() {
        let mut sharing = Sharing::new(8, |_| 1.0);
        sharing.arrive(Nanos(0), 1, Nanos(100));
        sharing.arrive(Nanos(50), 2, Nanos(100));
        let (at, state) = sharing.next().unwrap();
        assert_eq!(at, Nanos(150), "half of the first was done alone, the other half shared");
        assert_eq!(sharing.depart(at, state), Some(1));
        assert_eq!(sharing.next().unwrap().0, Nanos(200));
    }

    #[test]
    fn what_was_said_before_somebody_came_is_void() {
        let mut sharing = Sharing::new(8, |n| f64::from(n.min(2)));
        sharing.arrive(Nanos(0), 1, Nanos(100));
        let (_, state) = sharing.next().unwrap();
        sharing.arrive(Nanos(10), 2, Nanos(10));
        assert_eq!(sharing.depart(Nanos(100), state), None);
        assert_eq!(sharing.next().unwrap().0, Nanos(20), "two processors: nobody is slowed down");
    }
}
