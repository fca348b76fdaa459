//! The processors of a node: own transactions, changes of the other, and rows that come late share them.

use crate::station::{Sharing, Watch};
use units::Nanos;

/// Shared processors that know when the next is done.
#[derive(Clone, Debug)]
pub(super) struct Processors {
    sharing: Sharing,
    next: u64,
    state: u32,
    /// Cores, and those of them that others keep busy.
    cores: f64,
    background: f64,
}

impl Processors {
    pub fn new(cores: f64, background: f64, room: usize) -> Processors {
        let free = (cores - background).max(0.02 * cores);
        let room = room.max(libm::ceil(cores) as usize);
        let sharing = Sharing::new(room, |ready| f64::from(ready).min(free).max(1e-9));
        Processors { sharing, next: u64::MAX, state: 0, cores, background }
    }

    /// Somebody begins so much work.
    #[inline]
    pub fn begin(&mut self, now: Nanos, who: u32, work: Nanos) {
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
    pub fn end(&mut self, now: Nanos) -> Option<u32> {
        let who = self.sharing.depart(now, self.state);
        self.look();
        who
    }

    pub fn watch(&mut self) -> &mut Watch {
        self.sharing.watch()
    }

    /// Share of all cores that was busy.
    pub fn busy(&mut self, now: Nanos) -> f64 {
        if self.cores <= 0.0 {
            return 0.0;
        }
        let free = (self.cores - self.background).max(0.02 * self.cores);
        (self.sharing.watch().utilisation(now) * free + self.cores - free) / self.cores
    }

    #[inline]
    fn look(&mut self) {
        (self.next, self.state) = self.sharing.next().map_or((u64::MAX, self.state), |(at, state)| (at.0, state));
    }
}
