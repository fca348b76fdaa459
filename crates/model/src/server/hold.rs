//! Where the work of processors is done: shared by all who are ready, or as a delay.

use super::profile::Work;
use crate::station::{Sharing, Soonest, Watch};
use units::Nanos;

/// Threads with which a core does the most that it can.
const THREADS_A_CORE: f64 = 8.0;

/// Processors under way.
#[derive(Clone, Debug)]
pub(super) enum Hold {
    Shared {
        sharing: Soonest,
        cores: f64,
        /// Cores on which somebody is at work.
        busy: Watch,
    },
    Delay {
        here: u32,
        watch: Watch,
    },
}

impl Hold {
    pub(super) fn new(work: Work, slots: usize) -> Hold {
        match work {
            Work::Shared(processors) => {
                // What all cores can do, however few ask them: utilisation is of that.
                let room = slots.max((THREADS_A_CORE * processors.cores) as usize);
                let completions = processors.completions(room as u32, 1.0);
                Hold::Shared {
                    sharing: Soonest::of(Sharing::new(room, |ready| completions[ready as usize])),
                    cores: processors.cores,
                    busy: Watch::default(),
                }
            }
            Work::Delay => Hold::Delay { here: 0, watch: Watch::default() },
        }
    }

    /// Somebody begins so much work; a delay says when it ends.
    #[inline]
    pub(super) fn begin(&mut self, now: Nanos, who: u32, work: Nanos) -> Option<Nanos> {
        match self {
            Hold::Shared { sharing, .. } => {
                sharing.begin(now, who, work);
                self.look(now);
                None
            }
            Hold::Delay { here, watch } => {
                *here += 1;
                watch.turn(now, *here, 0.0);
                Some(Nanos(now.0 + work.0))
            }
        }
    }

    /// When the next is done where work is shared; the end of time when nobody works.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        match self {
            Hold::Shared { sharing, .. } => sharing.next(),
            Hold::Delay { .. } => u64::MAX,
        }
    }

    /// Takes out who is done where work is shared.
    #[inline]
    pub(super) fn shared_end(&mut self, now: Nanos) -> Option<u32> {
        let Hold::Shared { sharing, .. } = self else { return None };
        let who = sharing.end(now);
        self.look(now);
        who
    }

    /// A delay is over.
    #[inline]
    pub(super) fn delay_end(&mut self, now: Nanos) {
        if let Hold::Delay { here, watch } = self {
            *here -= 1;
            watch.turn(now, *here, 0.0);
            watch.done();
        }
    }

    pub(super) fn watch(&mut self) -> &mut Watch {
        match self {
            Hold::Shared { sharing, .. } => sharing.watch(),
            Hold::Delay { watch, .. } => watch,
        }
    }

    /// Forgets what was before, at the end of a warm-up.
    pub(super) fn clear(&mut self, now: Nanos) {
        self.watch().clear(now);
        if let Hold::Shared { busy, .. } = self {
            busy.clear(now);
        }
    }

    /// How many cores there are, and on how many somebody was at work; none where work is a delay.
    pub(super) fn cores(&self, now: Nanos) -> Option<(f64, f64)> {
        match self {
            Hold::Shared { cores, busy, .. } => Some((*cores, busy.utilisation(now))),
            Hold::Delay { .. } => None,
        }
    }

    #[inline]
    fn look(&mut self, now: Nanos) {
        let Hold::Shared { sharing, cores, busy } = self else { return };
        let here = sharing.here();
        busy.turn(now, here, f64::from(here).min(*cores));
    }
}
