//! A transaction server on disks behind a cache: threads that go round between processors and many disks.
//!
//! The one idea: reads that miss the cache spread evenly over all disks, each of which serves one after the other; all else
//! (processors that are far from busy, cache hits, the log) is a delay. From a few threads a disk on, each thread more
//! waits behind one more at its disk, so response grows by a disk's demand a thread: a straight line with an intercept.

use super::law::{Carries, Inside, Law};
use super::{OF_SERVERS, Steady, Unanswered, Values, carried, number};
use crate::form::closed;
use crate::rows::Row;
use crate::server::{Amount, Plan, Profile, Reads, Server, Work};

super::asks! {
    counted "disks" "disks" 1e6 "disks that serve reads, all alike";
    asked "disk_reads" "reads" 1e-6 1e6 "reads of a transaction that miss every cache, one after the other";
    asked "disk_time" "ms" 1e-3 1e5 "service time of one of them at a disk";
    asked "other" "ms" 1e-4 1e6 "what a transaction takes beside the disks: processors, cache hits, log";
    asked "driver" "us" 1e-6 1e7 "time of the load driver for a transaction, outside of the response";
    misses;
    jobs;
}

pub(super) const LAW: Law = Law::closed(ASKS, OF_SERVERS, answer)
    .inside(Inside::SESSIONS)
    .taking(&[(Amount::Cpu, "other"), (Amount::Reads, "disk_reads"), (Amount::Driver, "driver")])
    .carrying(Carries::Transactions(|_, values, setting| {
        Ok(Box::new(Server::new(&OnDisks::of(values).plan(), setting.slots, setting.seed)))
    }));

fn answer(values: &Values, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
    Ok(OnDisks::of(values).settled(number(row, "threads")?).quantity(quantity))
}

/// The server as its file describes it: the closed form and the simulation are both made of it.
pub(crate) struct OnDisks {
    disks: u32,
    profile: Profile,
    read_us: f64,
    driver_us: f64,
    jobs: u32,
}

impl OnDisks {
    pub(crate) fn of(values: &Values) -> OnDisks {
        // Processors, cache hits and the log are one delay.
        let reads = values.of("misses") * values.of("disk_reads");
        OnDisks {
            disks: values.of("disks") as u32,
            profile: Profile { cpu_ms: values.of("other"), reads, ..Profile::default() },
            read_us: 1e3 * values.of("disk_time"),
            driver_us: values.of("driver"),
            jobs: values.of("jobs") as u32,
        }
    }

    /// What its simulation is built from.
    pub(crate) fn plan(&self) -> Plan {
        Plan {
            work: Work::Delay,
            reads: Reads::Disks { count: self.disks, us: self.read_us },
            log: None,
            driver_us: self.driver_us,
            jobs: self.jobs,
            classes: vec![self.profile],
        }
    }

    /// How it does with so many threads that take one transaction after the other.
    fn settled(&self, threads: f64) -> Steady {
        let demand_s = self.profile.reads * self.read_us / 1e6 / f64::from(self.disks);
        let driver_s = self.driver_us / 1e6;
        let delay_s = self.profile.cpu_ms / 1e3 + driver_s;
        let around = |outside: f64| {
            let one = |count: u32| closed::alike_servers(count, delay_s, self.disks, demand_s);
            closed::between(carried(self.jobs, threads, outside), one)
        };
        let mut settled = around(0.0);
        for _ in 0..ROUNDS {
            settled = around(settled.rate_per_s * driver_s);
        }
        Steady {
            rate_per_s: settled.rate_per_s,
            response_ms: 1e3 * (threads / settled.rate_per_s - driver_s),
            utilisation: settled.rate_per_s * demand_s,
            operations_per_s: settled.rate_per_s * self.profile.reads,
        }
    }
}

/// Rounds in which the rate and the driver's work settle.
const ROUNDS: u32 = 4;
