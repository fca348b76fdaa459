//! A disk from its parts: arm, platter and zones.
//!
//! The one idea: a random operation takes the mean move of the arm, half a turn and its bytes; a sequential one its bytes
//! and the changes of track. The disk in virtual time uses the same parameters and shows what a queue gains.

use super::flash_array::reads;
use super::law::{Carries, Law, Unbuilt};
use super::{OF_STORAGE, Unanswered, Values, number, word};
use crate::device::disk::{Disk, Order, Shape as Parts};
use crate::rows::Row;

super::asks! {
    counted "cylinders" "cylinders" 1e7 "places of the arm";
    counted "heads" "heads" 64.0 "surfaces with a head each";
    counted "zones" "zones" 100.0 "zones of equally many cylinders";
    asked "turns" "1/min" 100.0 100_000.0 "turns of the platter";
    asked "outer_speed" "MB/s" 0.1 10_000.0 "bytes that pass a head in the outermost zone";
    asked "inner_speed" "MB/s" 0.1 10_000.0 "bytes that pass a head in the innermost zone";
    asked "settle" "ms" 0.001 100.0 "the shortest move of the arm, and a change of the head";
    asked "seek_root" "ms" 0.001 100.0 "what the square root of the seek curve adds up to the bend";
    asked "seek_line" "ms" 0.001 100.0 "what the line of the seek curve adds from the bend to a move over all";
    asked "seek_bend" "%" 0.1 99.0 "share of the cylinders at which the line begins";
    asked "command_time" "us" 0.01 1e5 "the controller's time of an operation";
}

pub(super) const LAW: Law = Law::closed(ASKS, OF_STORAGE, answer)
    .keys(&["pattern", "offsets", "shift", "range", "size"], &[])
    .carrying(Carries::Operations {
        modules: |_| DISKS,
        module_bytes: |values| Some(Parts::of(values, Order::Nearest).capacity()),
        build: |name, values, setting| match Disk::of(values, Order::Nearest, setting.modules, setting.slots) {
            Ok(disks) => Ok(Box::new(disks)),
            Err(source) => Err(Unbuilt::Disk { name, source }),
        },
    });

/// Disks of a study: each takes little.
const DISKS: u32 = 4_096;

fn answer(values: &Values, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
    let column = if row.text("op").is_some() { "op" } else { "test" };
    let name = word(row, column)?;
    reads(name, column)?;
    let bytes = number(row, "transfer_kb")? * 1_024.0;
    let parts = Parts::of(values, Order::Fifo);
    if row.number("outstanding").is_some_and(|outstanding| outstanding > 1.0) {
        return Err(Unanswered::Simulated("more than one outstanding"));
    }
    if row.number("module_bytes").is_some_and(|used| used < 0.99 * parts.capacity() as f64) {
        return Err(Unanswered::Simulated("a part of a disk"));
    }
    let ns = if name.starts_with("seq") { in_order_ns(&parts, bytes) } else { at_random_ns(&parts, bytes) };
    // Disks that a row counts as modules share nothing.
    let disks = row.number("modules").unwrap_or(1.0);
    Ok(match quantity {
        "service-time" => ns / 1e6,
        "speed" => disks * 1e3 * bytes / ns,
        _ => disks * 1e9 / ns,
    })
}

/// Of the outermost zone, where data begins.
fn in_order_ns(parts: &Parts, bytes: f64) -> f64 {
    parts.command_ns as f64 + bytes / parts.track(0) * (parts.turn_ns as f64 + parts.switch_ns())
}

fn at_random_ns(parts: &Parts, bytes: f64) -> f64 {
    // Two places that are drawn evenly are the share x apart with density 2 (1 - x).
    const STEPS: u32 = 200;
    let at = |step: u32| (f64::from(step) + 0.5) / f64::from(STEPS);
    let seek = (0..STEPS).map(|step| 2.0 * (1.0 - at(step)) * parts.seek.ns(at(step))).sum::<f64>() / f64::from(STEPS);
    let (outer, inner) = parts.track_bytes;
    let turn = parts.turn_ns as f64;
    parts.command_ns as f64 + seek + 0.5 * turn + bytes / (0.5 * (outer + inner)) * turn
}
