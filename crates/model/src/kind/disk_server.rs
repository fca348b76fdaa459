//! A transaction server on disks behind a cache: threads that go round between processors and many disks.
//!
//! The one idea: reads that miss the cache spread evenly over all disks, each of which serves one after the other; all else
//! (processors that are far from busy, cache hits, the log) is a delay. From a few threads a disk on, each thread more
//! waits behind one more at its disk, so response grows by a disk's demand a thread: a straight line with an intercept.
//!
//! Flash may take a share of the reads, device by device as disks do. Where a file says cores, work is shared among them, one
//! thread a core, and the closed form stays exact: they are one station beside the network of all others.

use super::law::{Carries, Inside, Law};
use super::{OF_SERVERS, Steady, Unanswered, Values, carried, number};
use crate::form::closed::{self, Settled};
use crate::form::processors::Processors;
use crate::rows::Row;
use crate::server::{Amount, Factors, Plan, Profile, Reads, Server, Tier, Work};

super::asks! {
    counted "disks" "disks" 1e6 "disks that serve reads, all alike";
    asked "disk_reads" "reads" 1e-6 1e6 "reads of a transaction that miss every cache, one after the other";
    asked "disk_time" "ms" 1e-3 1e5 "service time of one of them at a disk";
    asked "other" "ms" 1e-4 1e6 "what a transaction takes beside the disks: processors, cache hits, log";
    asked "driver" "us" 1e-6 1e7 "time of the load driver for a transaction, outside of the response";
    misses;
    jobs;
    asked "cores" "cores" 0.0 100_000.0 "cores that share `other` and `driver`; 0 where these are far from busy, and a delay" or 0.0;
    maybe "flash" "devices" 1e6 "devices of flash that take a part of the reads";
    asked "flash_time" "ms" 1e-3 1e5 "service time of a read at one of them" or 0.2;
    asked "flash_reads" "%" 0.0 100.0 "share of the reads that flash takes, where there is any" or 100.0;
    asked "sessions" "threads" 0.0 4_096.0 "threads of a row that does not say how many; 0 where it must" or 0.0;
}

pub(super) const LAW: Law = Law {
    inside: Some(Inside::SESSIONS),
    amounts: &[(Amount::Cpu, "other"), (Amount::Reads, "disk_reads"), (Amount::Driver, "driver")],
    carries: Carries::Transactions(|_, values, setting| {
        Ok(Box::new(Server::new(&OnDisks::of(values).plan(&setting.classes), setting.slots, setting.seed)))
    }),
    ..Law::closed(ASKS, OF_SERVERS, answer)
};

fn answer(values: &Values, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
    let sessions = Some(values.of("sessions")).filter(|known| *known > 0.0 && row.text("threads").is_none());
    let threads = sessions.map_or_else(|| number(row, "threads"), Ok)?;
    Ok(OnDisks::of(values).settled(threads).quantity(quantity))
}

/// The server as its file describes it: the closed form and the simulation are both made of it.
pub(crate) struct OnDisks {
    disks: u32,
    flash: Option<Tier>,
    /// Cores, where they are shared.
    processors: Option<Processors>,
    profile: Profile,
    read_us: f64,
    driver_us: f64,
    jobs: u32,
}

impl OnDisks {
    pub(crate) fn of(values: &Values) -> OnDisks {
        // Cache hits and the log are one with the processors.
        let reads = values.of("misses") * values.of("disk_reads");
        let (cores, devices) = (values.of("cores"), values.of("flash") as u32);
        let share = values.of("flash_reads") / 100.0;
        let alone = Processors { cores, capacity: [1.0; 4], contention: 0.0, latch: 0.0 };
        OnDisks {
            disks: values.of("disks") as u32,
            flash: (devices > 0).then(|| Tier { count: devices, us: 1e3 * values.of("flash_time"), share }),
            processors: (cores > 0.0).then_some(alone),
            profile: Profile { cpu_ms: values.of("other"), reads, ..Profile::default() },
            read_us: 1e3 * values.of("disk_time"),
            driver_us: values.of("driver"),
            jobs: values.of("jobs") as u32,
        }
    }

    /// What its simulation is built from, for classes that ask for so many times what its transaction does.
    pub(crate) fn plan(&self, classes: &[Factors]) -> Plan {
        Plan {
            work: self.processors.map_or(Work::Delay, Work::Shared),
            reads: Reads::Disks { count: self.disks, us: self.read_us, flash: self.flash },
            log: None,
            driver_us: self.driver_us,
            jobs: self.jobs,
            classes: self.profile.of_each(classes),
        }
    }

    /// Disks and flash, each with seconds that a transaction is at one of them.
    fn places(&self) -> Vec<(u32, f64)> {
        let demand_s =
            |count: u32, share: f64, us: f64| (count, share * self.profile.reads * us / 1e6 / f64::from(count));
        let fast = self.flash.map_or(0.0, |tier| tier.share);
        let flash = self.flash.map(|tier| demand_s(tier.count, tier.share, tier.us));
        [demand_s(self.disks, 1.0 - fast, self.read_us)].into_iter().chain(flash).collect()
    }

    /// How it does with so many threads that take one transaction after the other.
    fn settled(&self, threads: f64) -> Steady {
        let (places, driver_s) = (self.places(), self.driver_us / 1e6);
        let work_s = self.profile.cpu_ms / 1e3 + driver_s;
        let around = |outside: f64| {
            closed::between(carried(self.jobs, threads, outside), |count| match &self.processors {
                None => closed::groups(count, work_s, &places),
                Some(processors) => beside(processors, count, work_s, &places),
            })
        };
        // Those with the driver: of a delay by Little's law, else their share of those at the processors.
        let outside = |settled: &Settled| match self.processors {
            None => settled.rate_per_s * driver_s,
            Some(_) => settled.at_stations * driver_s / work_s,
        };
        let mut settled = around(0.0);
        for _ in 0..ROUNDS {
            settled = around(outside(&settled));
        }
        let cores = self.processors.map_or(0.0, |processors| settled.rate_per_s * work_s / processors.cores);
        Steady {
            rate_per_s: settled.rate_per_s,
            response_ms: 1e3 * (threads - outside(&settled)) / settled.rate_per_s,
            utilisation: places.iter().fold(cores, |busiest, (_, demand)| busiest.max(settled.rate_per_s * demand)),
            operations_per_s: settled.rate_per_s * self.profile.reads,
        }
    }
}

/// Cores that are shared, beside disks and flash: exactly, as one station beside the network of all others.
fn beside(processors: &Processors, count: u32, work_s: f64, places: &[(u32, f64)]) -> Settled {
    let mut others = vec![0.0];
    closed::groups_up_to(count, 0.0, places, |rate| others.push(rate));
    let completions = processors.completions(count, work_s);
    closed::beside(count, |n| others[n as usize], |n| completions[n as usize])
}

/// Rounds in which the rate and the driver's work settle.
const ROUNDS: u32 = 4;
