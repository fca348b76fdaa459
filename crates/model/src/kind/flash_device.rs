//! A flash device from its parts: channels, dies and planes.
//!
//! The one idea: an operation alone takes the sum of its parts, many are limited by the part that is busiest, and writes
//! that go on for long also pay for copies: the spare share decides how many. The device in virtual time uses the same
//! parameters and shows what lies between.

use super::flash_array::reads;
use super::law::{Carries, Law, Setting, Unbuilt};
use super::{Quantity, Unanswered, Values, number, one_each, word};
use crate::device::flash::amplification::greedy;
use crate::device::flash::{self, Flash, Pace, Start};
use crate::machine::Machine;
use crate::rows::Row;

super::asks! {
    counted "channels" "channels" 256.0 "channels, each of which moves one page at a time";
    counted "dies" "dies" 256.0 "dies on a channel, each of which does one thing at a time";
    counted "planes" "planes" 16.0 "planes of a die, which work together on operations of one kind";
    counted "block_pages" "pages" 10_000.0 "pages that are erased together";
    counted "page" "KB" 256.0 "the unit in which is written";
    asked "capacity" "GB" 0.1 1e6 "what the device offers";
    asked "spare" "%" 2.0 400.0 "flash beyond the capacity, of the capacity";
    counted "buffer" "pages" 1e6 "pages of the write buffer, which answers while it has room";
    asked "read_time" "us" 0.1 1e5 "a page from the cells into its register";
    asked "program_time" "us" 0.1 1e6 "a page from its register into the cells";
    asked "erase_time" "us" 1.0 1e7 "a block is erased";
    asked "channel_speed" "MB/s" 1.0 1e6 "bytes that a channel moves";
    asked "link_speed" "MB/s" 1.0 1e6 "bytes that the link to the host moves, in each direction";
    asked "command_time" "us" 1e-3 1e4 "the controller's turn for an operation, one after the other";
    asked "latency" "us" 0.01 1e6 "what an operation takes beside, with nobody waiting for it";
}

const ANSWERS: &[Quantity] =
    &[Quantity::rate("rate", "1/s"), Quantity::rate("sustained", "1/s"), Quantity::other("service-time", "ms")];

pub(super) const LAW: Law = Law {
    keys: &["pattern", "offsets", "shift", "range", "size"],
    carries: Carries::Operations {
        modules: flash::Shape::most,
        module_bytes: |values| Some(flash::Shape::of(values, 1).capacity_bytes),
        build,
    },
    ..Law::closed(ASKS, ANSWERS, answer)
};

/// Devices that hold what the study asks for, and whose other blocks are erased.
fn build(name: String, values: &Values, setting: &Setting) -> Result<Box<dyn Machine>, Unbuilt> {
    let (takes, room) = flash::Shape::room(values);
    if takes > room {
        return Err(Unbuilt::Large { name, takes, room });
    }
    let start = Start::Rested(flash::Shape::of(values, setting.modules).used(setting.module_bytes));
    let devices = Flash::of(values, start, setting.modules, setting.slots, setting.seed);
    Ok(Box::new(devices.map_err(|source| Unbuilt::Flash { name, source })?))
}

fn answer(values: &Values, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
    let column = if row.text("op").is_some() { "op" } else { "test" };
    let read = reads(word(row, column)?, column)?;
    let pages = libm::ceil(number(row, "transfer_kb")? / values.of("page"));
    // Devices that a row counts as modules share nothing.
    let devices = row.number("modules").unwrap_or(1.0);
    // The form says what the busiest part does with as many outstanding as it takes, from rest.
    if quantity == "rate" && row.number("outstanding").is_some() {
        return Err(Unanswered::Simulated("so many outstanding"));
    }
    if quantity == "service-time" {
        one_each(row)?;
        let among_others = read > 0.0 && (read < 1.0 || pages > 1.0);
        if row.number("outstanding").is_some() && among_others {
            return Err(Unanswered::Simulated("reads that wait for other pages, of their own or of writes"));
        }
    }
    let pace = &Pace::of(values);
    let single_ns = service_ns(values, pace, read, pages);
    let full = read < 1.0 && single_ns < busiest_ns(values, pace, read, pages, copied(values));
    if quantity == "service-time" && row.number("outstanding").is_some() && full {
        return Err(Unanswered::Simulated("writes that come faster than the buffer empties"));
    }
    Ok(match quantity {
        "service-time" => single_ns / 1e6,
        "sustained" => devices * 1e9 / busiest_ns(values, pace, read, pages, copied(values)),
        _ => devices * 1e9 / busiest_ns(values, pace, read, pages, 0.0),
    })
}

/// Nanoseconds of a single operation: reads of several pages go to as many dies at once and leave by the channels and the link.
fn service_ns(values: &Values, pace: &Pace, read: f64, pages: f64) -> f64 {
    let both = (pace.command_ns + pace.latency_ns) as f64 + pages * pace.link_ns as f64;
    let turns = libm::ceil(pages / (values.of("channels") * values.of("dies")));
    let flash = turns * pace.read_ns as f64 + libm::ceil(pages / values.of("channels")) * pace.transfer_ns as f64;
    both + read * flash
}

/// Pages that cleaning copies for each that a host writes, for ever, at random places.
fn copied(values: &Values) -> f64 {
    greedy(values.of("block_pages") as u32, 1.0 + values.of("spare") / 100.0) - 1.0
}

/// Nanoseconds of the part that is busiest with one operation.
fn busiest_ns(values: &Values, pace: &Pace, read: f64, pages: f64, copied: f64) -> f64 {
    let (channels, planes) = (values.of("channels"), values.of("planes"));
    let (transfer, write) = (pace.transfer_ns as f64, 1.0 - read);
    let (reading, writing) = (pace.read_ns as f64, pace.program_ns as f64);
    // A die is held while a page passes the channel; its planes share the time in the cells.
    let erase = (1.0 + copied) * pace.erase_ns as f64 / values.of("block_pages");
    let cleaning = if copied > 0.0 { copied * (reading + writing) + erase } else { 0.0 };
    let die = transfer + (read * reading + write * (writing + cleaning)) / planes;
    let link = pages * pace.link_ns as f64 * read.max(write);
    let channel = pages * transfer / channels;
    (pages * die / (channels * values.of("dies"))).max(channel).max(link).max(pace.command_ns as f64)
}
