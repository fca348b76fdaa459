//! The processors of a node: own transactions, changes of the other, and rows that come late share them.

use crate::station::{Sharing, Soonest};
use units::Nanos;

/// The processors of one node.
#[derive(Clone, Debug)]
pub(super) struct Processors {
    pub work: Soonest,
    /// Cores, and those of them that others keep busy.
    cores: f64,
    background: f64,
}

impl Processors {
    pub fn new(cores: f64, background: f64, room: usize) -> Processors {
        let free = (cores - background).max(0.02 * cores);
        let room = room.max(libm::ceil(cores) as usize);
        let sharing = Sharing::new(room, |ready| f64::from(ready).min(free).max(1e-9));
        Processors { work: Soonest::of(sharing), cores, background }
    }

    /// Share of all cores that was busy.
    pub fn busy(&mut self, now: Nanos) -> f64 {
        if self.cores <= 0.0 {
            return 0.0;
        }
        let free = (self.cores - self.background).max(0.02 * self.cores);
        (self.work.watch().utilisation(now) * free + self.cores - free) / self.cores
    }
}
