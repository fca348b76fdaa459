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
        /// Flash that takes a part of the reads; none where there are disks alone.
        flash: Option<Tier>,
    },
}

/// Devices of a fast tier, each of which serves one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tier {
    /// How many.
    pub count: u32,
    /// Mean service, microseconds.
    pub us: f64,
    /// Share of all reads that they take.
    pub share: f64,
}

/// Nobody waits for it: a write.
pub(super) const NOBODY: u32 = u32::MAX;

/// Storage under way.
#[derive(Clone, Debug)]
pub(super) enum Storage {
    Delay { mean_ns: f64, variation: f64, here: u32, watch: Watch },
    Disks { mean_ns: f64, disks: Vec<Servers>, flash: Option<(Tier, Vec<Servers>)> },
}

/// When a read ends, and at which disk; a disk that was busy says so itself, later.
pub(super) type Ends = Option<(Nanos, u32)>;

impl Storage {
    pub(super) fn new(reads: Reads, slots: usize) -> Storage {
        match reads {
            Reads::Delay { us, variation } => {
                Storage::Delay { mean_ns: 1e3 * us, variation, here: 0, watch: Watch::default() }
            }
            Reads::Disks { count, us, flash } => {
                let servers = |count: u32| (0..count.max(1)).map(|_| Servers::new(1, slots)).collect();
                let flash = flash.map(|tier| (tier, servers(tier.count)));
                Storage::Disks { mean_ns: 1e3 * us, disks: servers(count), flash }
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
            Storage::Disks { mean_ns, disks, flash } => {
                let fast = flash.as_mut().filter(|(tier, _)| random.uniform() < tier.share);
                // Places of flash follow those of disks.
                let (first, mean_ns, servers) = match fast {
                    Some((tier, devices)) => (disks.len(), 1e3 * tier.us, devices),
                    None => (0, *mean_ns, disks),
                };
                let place = random.below(servers.len() as u64) as usize;
                let service = libm::round(mean_ns * random.exponential()) as u64;
                servers[place].arrive(now, who, Nanos(service)).map(|end| (end, (first + place) as u32))
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
            Storage::Disks { disks, flash, .. } => server(disks, flash, place).depart(now),
        }
    }

    pub(super) fn clear(&mut self, now: Nanos) {
        match self {
            Storage::Delay { watch, .. } => watch.clear(now),
            Storage::Disks { disks, flash, .. } => {
                let devices = flash.iter_mut().flat_map(|(_, devices)| devices);
                disks.iter_mut().chain(devices).for_each(|server| server.watch().clear(now));
            }
        }
    }

    pub(super) fn reports(&mut self, now: Nanos, into: &mut Vec<StationReport>) {
        match self {
            Storage::Delay { watch, .. } => into.push(StationReport::of("storage", watch, now)),
            Storage::Disks { disks, flash, .. } => {
                let devices = flash.iter_mut().flat_map(|(_, devices)| devices);
                for (word, servers) in [("disk", disks.iter_mut().collect::<Vec<_>>()), ("flash", devices.collect())] {
                    for (number, server) in servers.into_iter().enumerate() {
                        into.push(StationReport::of(format!("{word} {number}"), server.watch(), now));
                    }
                }
            }
        }
    }
}

/// The server at a place.
#[inline]
fn server<'a>(disks: &'a mut [Servers], flash: &'a mut Option<(Tier, Vec<Servers>)>, place: u32) -> &'a mut Servers {
    let place = place as usize;
    match flash {
        Some((_, devices)) if place >= disks.len() => &mut devices[place - disks.len()],
        _ => &mut disks[place],
    }
}

#[inline]
pub(super) fn after(now: Nanos, ns: f64) -> Nanos {
    Nanos(now.0 + libm::round(ns) as u64)
}
