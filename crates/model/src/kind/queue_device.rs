//! A storage device by its queue: what this machine's own disk does with more and more outstanding.
//!
//! The one idea: an operation passes the host and the device, which overlaps many. The host (system call, hypervisor, interrupt)
//! handles all that came since it last looked: waking up costs it as much for one as for many. So with few outstanding it is a
//! wait, and with many the host's own time for each sets the rate.

use super::law::{Carries, Law};
use super::{Quantity, Unanswered, Values, number};
use crate::form::batch::Circle;
use crate::queue::Queue;
use crate::rows::Row;

super::asks! {
    asked "device_time" "us" 0.01 1e8 "an operation inside the device";
    asked "overlap" "operations" 1.0 1e5 "operations that the device works on at once";
    asked "host_time" "us" 1e-3 1e7 "what the host takes for each operation of a batch";
    asked "wake_time" "us" 1e-3 1e7
        "what the host takes once for all operations that came since it last looked" or 1e-3;
}

const ANSWERS: &[Quantity] = &[Quantity::rate("rate", "1/s"), Quantity::response("response", "ms")];

pub(super) const LAW: Law = Law {
    held: &["size"],
    unknown: &["transfer", "read"],
    carries: Carries::Operations {
        modules: |_| 1,
        module_bytes: |_| None,
        build: |_, values, setting| Ok(Box::new(Queue::new(Circle::of(values), setting.slots, setting.seed))),
    },
    ..Law::closed(ASKS, ANSWERS, answer)
};

fn answer(values: &Values, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
    let outstanding = number(row, "outstanding")?;
    let rate = Circle::of(values).settle(outstanding as u32).rate_per_s;
    Ok(if quantity == "rate" { rate } else { 1e3 * outstanding / rate })
}
