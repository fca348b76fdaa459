//! A storage device by its queue: what this machine's own disk does with more and more outstanding.
//!
//! The one idea: an operation passes the host, which serves one after the other, and the device, which overlaps a few. With
//! one outstanding nothing waits; with many, the slower of the two sets the rate.

use super::{Asked, Quantity, Unanswered, Values, asked, number};
use crate::judge::Shape;
use crate::rows::Row;

pub(super) const ASKS: &[Asked] = &[
    asked("device_time", "us", 0.01, 1e8, "an operation inside the device"),
    asked("overlap", "operations", 1.0, 1e5, "operations that the device works on at once"),
    asked("host_time", "us", 1e-3, 1e7, "what the host, one operation after the other, takes for each"),
];

pub(super) const ANSWERS: &[Quantity] = &[
    Quantity { name: "rate", unit: "1/s", shape: Shape::Rate },
    Quantity { name: "response", unit: "ms", shape: Shape::TimeOfPopulation },
];

pub(super) fn answer(values: &Values, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
    let outstanding = number(row, "outstanding")?;
    let device_s = values.of("device_time") / 1e6;
    let (host_s, overlap) = (values.of("host_time") / 1e6, values.of("overlap"));
    let rate = around(outstanding as u32, host_s, device_s, overlap);
    Ok(if quantity == "rate" { rate } else { 1e3 * outstanding / rate })
}

/// Two stations in a circle with no delay: how many are at the device is a birth-death process. An overlap that is no whole
/// number is a device that works on the next operation with a part of its strength.
fn around(population: u32, host_s: f64, device_s: f64, overlap: f64) -> f64 {
    let (mut log, mut sum, mut flow, mut greatest) = (0.0f64, 1.0f64, 0.0f64, 0.0f64);
    for n in 1..=population {
        let device = f64::from(n).min(overlap) / device_s;
        log += libm::log((1.0 / host_s) / device);
        if log > greatest {
            let scale = libm::exp(greatest - log);
            (sum, flow, greatest) = (sum * scale, flow * scale, log);
        }
        let weight = libm::exp(log - greatest);
        (sum, flow) = (sum + weight, flow + weight * device);
    }
    flow / sum
}
