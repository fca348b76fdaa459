//! Shared processors that know when the next is done, so that an end that somebody's coming has moved never enters an agenda.

use super::{Sharing, Watch, Who};
use units::Nanos;

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
        self.sharing.watch()
    }

    #[inline]
    fn look(&mut self) {
        (self.next, self.state) = self.sharing.next().map_or((u64::MAX, self.state), |(at, state)| (at.0, state));
    }
}
