//! Storage as a server sees it: a delay, or disks that each serve one after the other.

use crate::machine::StationReport;
use crate::station::{Servers, Watch};
use random::Draws;
use units::Nanos;

/// Where reads go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reads {
    /// Each takes its time, however many there are.
    Delay {
        /// Mean, microseconds.
        us: f64,
        /// Coefficient of variation.
        variation: f64,
    },
    /// They spread evenly over disks, which serve in order in exponential times.
    Disks {
        /// How many.
        count: u32,
        /// Mean service, microseconds.
        us: f64,
    },
}

/// Nobody waits for it: a write.
pub(super) const NOBODY: u32 = u32::MAX;

/// Storage under way.
#[derive(Clone, Debug)]
pub(super) enum Storage {
    Delay { mean_ns: f64, variation: f64, here: u32, watch: Watch },
    Disks { mean_ns: f64, disks: Vec<Servers> },
}

/// When a read ends, and at which disk; a disk that was busy says so itself, later.
pub(super) type Ends = Option<(Nanos, u32)>;

impl Storage {
    pub(super) fn new(reads: Reads, slots: usize) -> Storage {
        match reads {
            Reads::Delay { us, variation } => {
                Storage::Delay { mean_ns: 1e3 * us, variation, here: 0, watch: Watch::default() }
            }
            Reads::Disks { count, us } => {
                Storage::Disks { mean_ns: 1e3 * us, disks: (0..count.max(1)).map(|_| Servers::new(1, slots)).collect() }
            }
        }
    }

    #[inline]
    pub(super) fn ask(&mut self, now: Nanos, who: u32, random: &mut Draws) -> Ends {
        match self {
            Storage::Delay { mean_ns, variation, here, watch } => {
                *here += 1;
                watch.turn(now, *here, 0.0);
                Some((after(now, *mean_ns * random.varied(*variation)), 0))
            }
            Storage::Disks { mean_ns, disks } => {
                let place = random.below(disks.len() as u64) as u32;
                let service = libm::round(*mean_ns * random.exponential()) as u64;
                disks[place as usize].arrive(now, who, Nanos(service)).map(|end| (end, place))
            }
        }
    }

    /// A read has ended; who is next at its disk and when he will be done.
    #[inline]
    pub(super) fn ended(&mut self, now: Nanos, place: u32) -> Option<(u32, Nanos)> {
        match self {
            Storage::Delay { here, watch, .. } => {
                *here -= 1;
                watch.turn(now, *here, 0.0);
                watch.done();
                None
            }
            Storage::Disks { disks, .. } => disks[place as usize].depart(now),
        }
    }

    pub(super) fn clear(&mut self, now: Nanos) {
        match self {
            Storage::Delay { watch, .. } => watch.clear(now),
            Storage::Disks { disks, .. } => disks.iter_mut().for_each(|disk| disk.watch().clear(now)),
        }
    }

    pub(super) fn reports(&mut self, now: Nanos, into: &mut Vec<StationReport>) {
        match self {
            Storage::Delay { watch, .. } => into.push(StationReport::of("storage", watch, now)),
            Storage::Disks { disks, .. } => {
                for (number, disk) in disks.iter_mut().enumerate() {
                    into.push(StationReport::of(format!("disk {number}"), disk.watch(), now));
                }
            }
        }
    }
}

#[inline]
pub(super) fn after(now: Nanos, ns: f64) -> Nanos {
    Nanos(now.0 + libm::round(ns) as u64)
}
