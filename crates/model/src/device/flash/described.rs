//! A flash device from the parameters of a model file.
//!
//! The one idea: as many blocks are simulated as the state may take, and the blocks that are kept erased are added to the
//! spare ones, so that a smaller device amplifies writes as the large one does.

use super::machine::Flash;
use super::shape::{Pace, Refused, Shape, Start};
use crate::asked::Values;

/// Bytes of state that all devices of a study may take together.
const ROOM: u64 = 256 << 20;
/// Pages of all devices together that are simulated; 8 bytes of state each.
const PAGES: f64 = 2_000_000.0;
/// Fewer blocks of a plane than this are not simulated if the device has more: cleaning would not find its steady state.
const LEAST: f64 = 128.0;
/// Erased blocks at which cleaning begins and ends.
const WATERMARKS: (u32, u32) = (1, 2);

impl Flash {
    /// So many devices as described by a `flash-device`, for at most `slots` operations at once.
    ///
    /// # Errors
    /// When such a device cannot be.
    pub fn of(values: &Values, start: Start, devices: u32, slots: u32, seed: u64) -> Result<Flash, Refused> {
        Flash::new(Shape::of(values, devices), Pace::of(values), start, devices, slots, seed)
    }
}

impl Shape {
    /// How many devices as described fit into the room that a study has for them; at least one.
    pub fn most(values: &Values) -> u32 {
        let each = Shape::of(values, u32::MAX).state_bytes().max(1);
        (ROOM / each).clamp(1, u64::from(u16::MAX)) as u32
    }

    /// Bytes of state of the largest number of devices, and of the room for them.
    pub fn room(values: &Values) -> (u64, u64) {
        (u64::from(Shape::most(values)) * Shape::of(values, u32::MAX).state_bytes(), ROOM)
    }

    /// How much of a rested device is in use when a study has so many bytes of it: whole regions, because addresses are
    /// folded by regions.
    pub fn used(&self, bytes: u64) -> f64 {
        let regions = super::machine::REGIONS as f64;
        let share = bytes as f64 / self.capacity_bytes.max(1) as f64;
        (libm::ceil(regions * share) / regions).clamp(0.0, 1.0)
    }

    /// The shape that is simulated for one of so many devices.
    pub fn of(values: &Values, devices: u32) -> Shape {
        let count = |name: &str| values.of(name) as u32;
        let (page_bytes, spare) = (count("page") * 1_024, values.of("spare") / 100.0);
        let capacity = values.of("capacity") * 1e9;
        let units = values.of("channels") * values.of("dies") * values.of("planes");
        let in_plane = values.of("block_pages") * units;
        let full = capacity * (1.0 + spare) / (f64::from(page_bytes) * in_plane);
        let few = libm::floor((PAGES / (f64::from(devices.max(1)) * in_plane)).max(LEAST));
        let blocks = libm::ceil(full).min(few);
        let kept = f64::from(WATERMARKS.0) + 1.0;
        Shape {
            channels: count("channels"),
            dies: count("dies"),
            planes: count("planes"),
            blocks: blocks as u32,
            pages: count("block_pages"),
            page_bytes,
            spare: (1.0 + spare) / (1.0 - kept / blocks) - 1.0,
            capacity_bytes: capacity as u64,
            watermarks: WATERMARKS,
            wear: 100,
            together: count("planes") > 1,
            copies: 8,
            buffer_pages: count("buffer"),
            stands_for: (full / blocks).max(1.0),
        }
    }
}

impl Pace {
    /// The times of the parts.
    pub fn of(values: &Values) -> Pace {
        let page = values.of("page") * 1_024.0;
        let us = |name: &str| libm::round(1e3 * values.of(name)) as u64;
        let bytes = |name: &str| libm::round(1e3 * page / values.of(name)) as u64;
        Pace {
            read_ns: us("read_time"),
            program_ns: us("program_time"),
            erase_ns: us("erase_time"),
            transfer_ns: bytes("channel_speed"),
            command_ns: us("command_time"),
            latency_ns: us("latency"),
            link_ns: bytes("link_speed"),
        }
    }
}
