//! Disks and flash with data that is moved between them by its heat.
//!
//! The one idea: flash takes the share of operations that the heat of what fits on it says, disks the others, and the tier
//! that is busier bounds both. With a share of 0 it is disks alone, with 100 flash alone.

use super::law::{Carries, Inside, Law};
use super::{Quantity, Shape, Unanswered, Values, number};
use crate::rows::Row;
use crate::tier::{self, Spec, Tiered};

super::asks! {
    counted "disks" "disks" 10_000.0 "disks of the slow tier";
    asked "disk_time" "ms" 1e-3 1e5 "a random operation of a disk, without its bytes";
    asked "disk_speed" "MB/s" 0.1 1e6 "bytes that a disk moves";
    counted "flash" "devices" 10_000.0 "flash devices of the fast tier";
    counted "flash_ways" "ways" 1_024.0 "parts of a flash device that work at once, each with a queue of its own";
    asked "flash_time" "us" 1e-2 1e7 "a random operation of such a part, without its bytes";
    asked "flash_speed" "MB/s" 0.1 1e6 "bytes that such a part moves";
    counted "extents" "extents" 4e6 "pieces of the data that are moved whole";
    asked "extent" "MiB" 0.0625 1e6 "size of an extent";
    asked "fast_share" "%" 0.0 100.0 "share of the extents that fit on flash";
    asked "skew" "1" 0.0 5.0 "exponent of Zipf's law of the heat of extents; 0 when operations go where the study says";
    asked "mover_period" "s" 1e-3 1e7 "after how long the mover looks at what it has counted";
    asked "mover_memory" "periods" 1.0 1e6 "over how many periods it remembers";
    asked "mover_speed" "MB/s" 0.0 1e6 "what it moves at most; 0 when it is off";
    asked "head_start" "ms" 0.0 1e7 "how long what it moves waits behind operations";
    asked "drift" "%/h" 0.0 1e6 "share of the extents whose heat is another after an hour";
    asked "cache" "1" 0.0 1.0 "1 when flash is a cache: it holds what was asked for last, block by block, and nothing is moved" or 0.0;
}

const ANSWERS: &[Quantity] = &[
    Quantity::rate("rate", "1/s"),
    Quantity::response("response", "ms"),
    Quantity { shape: Shape::Other, ..Quantity::share("flash-hits") },
];

pub(super) const LAW: Law = Law {
    keys: &["pattern", "offsets", "range", "size"],
    held: &["read"],
    inside: Some(Inside::OUTSTANDING),
    carries: Carries::Operations {
        modules: |_| 1,
        module_bytes: |values| Some(u64::from(Spec::of(values).extents) * Spec::of(values).extent_bytes),
        build: |_, values, setting| Ok(Box::new(Tiered::new(Spec::of(values), setting.slots, setting.seed))),
    },
    ..Law::closed(ASKS, ANSWERS, answer)
};

fn answer(values: &Values, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
    let spec = Spec::of(values);
    if spec.cache {
        return Err(Unanswered::Simulated("which blocks a cache holds"));
    }
    if quantity == "flash-hits" {
        return Ok(100.0 * spec.settled_hits());
    }
    // A study is of one store, and the form of the mean over all.
    if row.number("warm_up_s").is_some() && (spec.scatter() > SCATTER || partly(&spec, row)) {
        return Err(Unanswered::Simulated("which data happens to lie on flash"));
    }
    let (outstanding, kb) = (number(row, "outstanding")?, number(row, "transfer_kb")?);
    let rate = tier::operations_per_s(&spec, outstanding as u32, 1_024.0 * kb);
    Ok(if quantity == "rate" { rate } else { 1e3 * libm::floor(outstanding).max(1.0) / rate })
}

/// Deviation beyond which a store is not said to be like the mean of all.
const SCATTER: f64 = 0.01;

/// Whether operations that go where the study says meet only a part of the extents in a window.
fn partly(spec: &Spec, row: &Row) -> bool {
    let in_order = row.text("test").is_some_and(|test| test.starts_with("seq"));
    let all = spec.extent_bytes as f64 * f64::from(spec.extents);
    let part = in_order || row.number("module_bytes").is_some_and(|bytes| bytes < 0.99 * all);
    spec.skew <= 0.0 && spec.fast > 0 && spec.fast < spec.extents && part
}
