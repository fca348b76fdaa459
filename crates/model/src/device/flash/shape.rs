//! What a flash device is made of, and how long its parts take.

use super::machine::Flash;
use crate::asked::Values;

/// The state that a device begins in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    /// This share of the logical pages is written, in order; all other blocks are erased.
    Rested(f64),
    /// This share of the logical pages is in use and the device has been written at random for long. Blocks are laid out by
    /// the law that blocks cleaned in order of age obey: after the share `a` of its life a block still holds the share
    /// `exp(-c a)` of its pages, with `c` such that all pages in use find a place. Greedy cleaning begins near its steady
    /// state and is in it after about one turn of the spare blocks.
    Worn(f64),
}

/// Parts and their numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Channels of a device.
    pub channels: u32,
    /// Dies on a channel.
    pub dies: u32,
    /// Planes of a die.
    pub planes: u32,
    /// Blocks of a plane, as they are simulated.
    pub blocks: u32,
    /// Pages of a block.
    pub pages: u32,
    /// Bytes of a page, the unit in which is written.
    pub page_bytes: u32,
    /// Flash beyond the capacity, as a share of the capacity.
    pub spare: f64,
    /// Bytes that the device offers in truth. Addresses within are folded onto the blocks that are simulated.
    pub capacity_bytes: u64,
    /// Erased blocks of a plane at which cleaning begins, and up to which it goes on.
    pub watermarks: (u32, u32),
    /// Difference of erase counts at which the least worn block of a plane is emptied instead.
    pub wear: u32,
    /// Whether the planes of a die work on operations of one kind together.
    pub together: bool,
    /// Pages that a step of cleaning copies at most before others have their turn.
    pub copies: u32,
    /// Pages that the write buffer holds; without any, a write ends when it is on flash.
    pub buffer_pages: u32,
    /// Blocks of the device for each that is simulated, from 1. A rested device takes its erased blocks from all of them.
    pub stands_for: f64,
}

/// Times of parts, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// A page is read into its register.
    pub read_ns: u64,
    /// A page is written from its register.
    pub program_ns: u64,
    /// A block is erased.
    pub erase_ns: u64,
    /// A page passes its channel.
    pub transfer_ns: u64,
    /// The controller's turn for an operation; one after the other.
    pub command_ns: u64,
    /// What an operation takes beside, with nobody waiting for it.
    pub latency_ns: u64,
    /// A page passes the link to the host, in each direction.
    pub link_ns: u64,
}

/// A device that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum Refused {
    /// A part that there must be at least one of.
    #[error("a flash device has {low} to {high} {part}, got {got}; write a number within")]
    Parts { part: &'static str, low: u32, high: u32, got: u32 },
    /// Too few spare blocks for cleaning to go on.
    #[error("a plane of {blocks} blocks needs {needed} that hold no data, the spare share leaves {got}; raise `spare`")]
    NoSpare { blocks: u32, needed: u32, got: u32 },
    /// More pages than places in a map count.
    #[error("{pages} pages are simulated at most {limit}; lower `blocks`")]
    TooLarge { pages: u64, limit: u64 },
    /// A state that the device cannot begin in.
    #[error("a device is filled from 0 to 100 percent, got {0} percent")]
    Filled(i64),
}

impl Shape {
    /// Planes of the device.
    pub fn units(&self) -> u32 {
        self.channels * self.dies * self.planes
    }

    /// Dies of the device.
    pub fn all_dies(&self) -> u32 {
        self.channels * self.dies
    }

    /// Pages of a plane.
    pub fn plane_pages(&self) -> u32 {
        self.blocks * self.pages
    }

    /// Pages of a plane that can be in use.
    pub fn plane_logical(&self) -> u32 {
        (f64::from(self.plane_pages()) / (1.0 + self.spare.max(0.0))) as u32
    }

    /// Pages of the device that can be in use, as they are simulated.
    pub fn logical(&self) -> u32 {
        self.plane_logical() * self.units()
    }

    /// Bytes of state that a device takes.
    pub fn state_bytes(&self) -> u64 {
        let blocks = u64::from(self.units()) * u64::from(self.blocks);
        4 * (u64::from(self.logical()) + blocks * u64::from(self.pages)) + 18 * blocks
    }

    /// Refuses what cannot be.
    ///
    /// # Errors
    /// For a part that is missing, spare blocks that do not let cleaning go on, or a map that is too large.
    pub fn check(&self) -> Result<(), Refused> {
        let parts = [
            ("channels", self.channels, 1, 1_024),
            ("dies on a channel", self.dies, 1, 1_024),
            ("planes of a die", self.planes, 1, 16),
            ("blocks of a plane", self.blocks, 8, 1 << 20),
            ("pages of a block", self.pages, 2, 60_000),
            ("bytes of a page", self.page_bytes, 512, 1 << 20),
            ("erased blocks at which cleaning begins", self.watermarks.0, 1, 1 << 20),
            ("pages of a cleaning step", self.copies, 1, 60_000),
        ];
        for (part, got, low, high) in parts {
            if !(low..=high).contains(&got) {
                return Err(Refused::Parts { part, low, high, got });
            }
        }
        let pages = u64::from(self.units()) * u64::from(self.blocks) * u64::from(self.pages);
        let limit = u64::from(u32::MAX - 1);
        if pages > limit {
            return Err(Refused::TooLarge { pages, limit });
        }
        // Cleaning keeps erased blocks, one is being filled and one being emptied.
        let needed = self.watermarks.0.max(self.watermarks.1) + 2;
        let got = (self.plane_pages() - self.plane_logical()) / self.pages;
        if got < needed || !self.spare.is_finite() {
            return Err(Refused::NoSpare { blocks: self.blocks, needed, got });
        }
        Ok(())
    }
}

// A flash device from the parameters of a model file.
//
// The one idea: as many blocks are simulated as the state may take, and the blocks that are kept erased are added to the
// spare ones, so that a smaller device amplifies writes as the large one does.

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
