//! A disk from its parts: arm, platter and zones.
//!
//! The one idea: a random operation takes the mean move of the arm, half a turn and its bytes with the changes of track; a
//! sequential one its bytes alone. The disk in virtual time uses the same parameters and shows what a queue gains.

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

pub(super) const LAW: Law = Law {
    keys: &["pattern", "offsets", "shift", "range", "size"],
    carries: Carries::Operations {
        modules: |_| DISKS,
        module_bytes: |values| Some(Parts::of(values, Order::Nearest).capacity()),
        build: |name, values, setting| match Disk::of(values, Order::Nearest, setting.modules, setting.slots) {
            Ok(disks) => Ok(Box::new(disks)),
            Err(source) => Err(Unbuilt::Disk { name, source }),
        },
    },
    ..Law::closed(ASKS, OF_STORAGE, answer)
};

/// Disks of a study: each takes little.
const DISKS: u32 = 4_096;

fn answer(values: &Values, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
    // A study says both, and only the name of the test tells an order.
    let column = if row.text("test").is_some() { "test" } else { "op" };
    let name = word(row, column)?;
    let (read, in_order) = (reads(name, column)?, name.starts_with("seq"));
    let bytes = number(row, "transfer_kb")? * 1_024.0;
    let parts = Parts::of(values, Order::Fifo);
    // Disks that a row counts as modules share nothing, and one operation is at one of them.
    let disks = row.number("modules").unwrap_or(1.0);
    let busy = row.number("outstanding").unwrap_or(disks);
    if busy > 1.0 && busy != disks {
        return Err(Unanswered::Simulated("more than one outstanding on a disk"));
    }
    if in_order && row.number("outstanding").is_some() && (read < 1.0 || busy != disks) {
        return Err(Unanswered::Simulated("what a disk makes of an order that others interrupt"));
    }
    if row.number("module_bytes").is_some_and(|used| used < 0.99 * parts.capacity() as f64) {
        return Err(Unanswered::Simulated("a part of a disk"));
    }
    let ns = if in_order { in_order_ns(&parts, bytes) } else { at_random_ns(&parts, bytes) };
    Ok(match quantity {
        "service-time" => ns / 1e6,
        "speed" => busy * 1e3 * bytes / ns,
        _ => busy * 1e9 / ns,
    })
}

/// Of the outermost zone, where data begins: what comes next passes the head while the controller is at work.
fn in_order_ns(parts: &Parts, bytes: f64) -> f64 {
    (parts.command_ns as f64).max(passing_ns(parts, bytes, parts.track(0)))
}

/// So many bytes of tracks of a length, with the changes of track.
fn passing_ns(parts: &Parts, bytes: f64, track: f64) -> f64 {
    bytes / track * (parts.turn_ns as f64 + parts.switch_ns())
}

fn at_random_ns(parts: &Parts, bytes: f64) -> f64 {
    // Two places that are drawn evenly are the share x apart with density 2 (1 - x).
    const STEPS: u32 = 200;
    let at = |step: u32| (f64::from(step) + 0.5) / f64::from(STEPS);
    let seek = (0..STEPS).map(|step| 2.0 * (1.0 - at(step)) * parts.seek.ns(at(step))).sum::<f64>() / f64::from(STEPS);
    let (outer, inner) = parts.track_bytes;
    let passing = passing_ns(parts, bytes, 0.5 * (outer + inner));
    parts.command_ns as f64 + seek + 0.5 * parts.turn_ns as f64 + passing
}
