//! A transaction server on disks behind a cache: threads that go round between processors and many disks.
//!
//! The one idea: reads that miss the cache spread evenly over all disks, each of which serves one after the other; all else
//! (processors that are far from busy, cache hits, the log) is a delay. From a few threads a disk on, each thread more
//! waits behind one more at its disk, so response grows by a disk's demand a thread: a straight line with an intercept.

use super::law::{Carries, Inside, Law};
use super::{OF_SERVERS, Unanswered, Values, carried, number};
use crate::form::closed;
use crate::rows::Row;
use crate::server::{Amount, Plan, Server};

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
        Ok(Box::new(Server::new(&Plan::on_disks(values), setting.slots, setting.seed)))
    }));

fn answer(values: &Values, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
    let threads = number(row, "threads")?;
    let disks = values.of("disks");
    let demand_s = values.of("misses") * values.of("disk_reads") * values.of("disk_time") / 1e3 / disks;
    let driver_s = values.of("driver") / 1e6;
    let delay_s = values.of("other") / 1e3 + driver_s;
    let one = |count: u32| closed::alike_servers(count, delay_s, disks as u32, demand_s);
    let around = |inside: f64| closed::between(inside, one);
    let mut settled = around(carried(values, threads, 0.0));
    for _ in 0..ROUNDS {
        settled = around(carried(values, threads, settled.rate_per_s * driver_s));
    }
    Ok(match quantity {
        "throughput" => settled.rate_per_s,
        "utilisation" => 100.0 * settled.rate_per_s * demand_s,
        _ => 1e3 * (threads / settled.rate_per_s - driver_s),
    })
}

/// Rounds in which the rate and the driver's work settle.
const ROUNDS: u32 = 4;
