//! A fixed amount of work for a flash device, for those who measure how fast this simulates.
//!
//! The one idea: the room has no clock, so it says what was done and the caller takes the time.

use super::flash::{Flash, Pace, Refused, Shape, Start};
use crate::machine::Machine;
use random::Draws;
use units::Nanos;
use workload::{Operation, OperationKind};

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceiling {
    /// Operations that ended.
    pub operations: u64,
    /// Events that were taken out.
    pub events: u64,
    /// Bytes of maps and blocks.
    pub state_bytes: u64,
    /// Pages that hosts wrote.
    pub written: u64,
    /// Pages that cleaning copied.
    pub copied: u64,
}

/// Operations of 4 KiB at random places of a worn device of a quarter spare flash, 64 outstanding, with this share of reads;
/// it begins in its steady state, so cleaning runs all the time.
///
/// # Errors
/// Never: the shape is one that can be; the type is that of a device.
pub fn ceiling(operations: u64, read: f64, seed: u64) -> Result<Ceiling, Refused> {
    let slots = 64;
    let shape = shape();
    let mut flash = Flash::new(shape, pace(), Start::Worn(1.0), 1, slots, seed)?;
    let mut random = Draws::numbered(seed, 1 << 32);
    let pages = shape.capacity_bytes / u64::from(shape.page_bytes);
    let mut draw = || Operation {
        kind: if random.chance(read) { OperationKind::Read } else { OperationKind::Write },
        class: 0,
        module: 0,
        offset: random.below(pages) * u64::from(shape.page_bytes),
        bytes: shape.page_bytes,
    };
    (0..slots).for_each(|slot| flash.submit(Nanos(0), slot, &draw()));
    let (mut ended, mut done) = (Vec::with_capacity(slots as usize), 0u64);
    while done < operations {
        flash.advance(Nanos(u64::MAX), &mut ended);
        done += ended.len() as u64;
        for end in ended.drain(..) {
            flash.submit(end.at, end.slot, &draw());
        }
    }
    let (written, copied) = flash.written();
    let (events, state_bytes) = (flash.events(), flash.state_bytes());
    Ok(Ceiling { operations: done, events, state_bytes, written, copied })
}

/// 64 GiB behind 8 channels, simulated with a sixty-fourth of its blocks.
fn shape() -> Shape {
    Shape {
        channels: 8,
        dies: 4,
        planes: 2,
        blocks: 80,
        pages: 64,
        page_bytes: 4_096,
        spare: 0.25,
        capacity_bytes: 64 << 30,
        watermarks: (1, 2),
        wear: 1_000,
        together: true,
        copies: 8,
        buffer_pages: 256,
        stands_for: 1.0,
    }
}

/// Round times of flash with two bits a cell.
fn pace() -> Pace {
    Pace {
        read_ns: 60_000,
        program_ns: 600_000,
        erase_ns: 4_000_000,
        transfer_ns: 10_000,
        command_ns: 1_000,
        latency_ns: 10_000,
        link_ns: 1_400,
    }
}
