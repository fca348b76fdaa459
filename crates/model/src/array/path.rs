//! What the parts of an array's path ask of an operation.

use super::raid::Stripe;
use crate::asked::Values;
use crate::form::service_time::{Affine, Stepped};

/// The parts of a path with their turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Modules that the array has.
    pub modules: u32,
    /// Modules behind one port.
    pub modules_per_port: u32,
    /// Ports that are lost, the first ones.
    pub failed_ports: u32,
    /// Nanoseconds of a port for an operation.
    pub port_turn_ns: f64,
    /// Nanoseconds of a direction of a port for a byte.
    pub port_byte_ns: f64,
    /// Nanoseconds of a module for a small read, and for a small write.
    pub module_turn_ns: [f64; 2],
    /// Nanoseconds of a module for a byte read, and for a byte written.
    pub module_byte_ns: [f64; 2],
    /// Nanoseconds more when the operation before was of the other direction.
    pub turnaround_ns: f64,
    /// Writes that a module keeps up, a second, and what it takes beyond that from rest.
    pub sustained_writes: (f64, f64),
    /// How the modules cut what they hold.
    pub sectors: Sectors,
    /// What is inside of each module, with what it lost before anything began.
    pub stripe: Stripe,
    /// A single read, microseconds by kilobytes.
    pub reading: Affine,
    /// A single write, microseconds by kilobytes.
    pub writing: Stepped,
}

/// The unit in which modules read and write; less than one is read, changed and written back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sectors {
    bytes: f64,
    /// How many times as long a write takes that is not whole sectors.
    parts: f64,
}

impl Sectors {
    /// Those of a description; a sector of nothing is none.
    pub(crate) fn of(values: &Values) -> Sectors {
        Sectors { bytes: 1_024.0 * values.of("sector"), parts: values.of("below_sector") }
    }

    /// Bytes of the sectors that an operation touches, and how many times as long it takes if it writes.
    pub(super) fn touched(&self, offset: u64, bytes: u32) -> (f64, f64) {
        let (from, to) = (offset as f64, (offset + u64::from(bytes)) as f64);
        if self.bytes <= 0.0 {
            return (f64::from(bytes), 1.0);
        }
        let (first, last) = (libm::floor(from / self.bytes), libm::ceil(to / self.bytes));
        let whole = first * self.bytes == from && last * self.bytes == to;
        ((last - first) * self.bytes, if whole { 1.0 } else { self.parts })
    }

    /// The same of operations of so many bytes one behind the other, shifted so far: places that stand for all.
    pub(crate) fn places(self, bytes: f64, shift: f64) -> impl ExactSizeIterator<Item = (f64, f64)> {
        let whole = self.bytes <= 0.0 || (bytes % self.bytes == 0.0 && shift % self.bytes == 0.0);
        // Places repeat after as many operations as a sector has bytes, and most after a few.
        let count = if whole || bytes < 1.0 { 1 } else { PLACES };
        (0..count).map(move |place| self.touched((bytes * f64::from(place) + shift) as u64, bytes as u32))
    }
}

/// Places over which an operation's sectors are averaged: transfers of half a kilobyte in sectors of up to 32 KB.
const PLACES: u32 = 64;

/// Read and write as places in pairs.
pub(crate) const READ: usize = 0;
pub(crate) const WRITE: usize = 1;

impl Path {
    /// The path that the parameters of a flash array describe.
    pub fn of(values: &Values) -> Path {
        let each = |name: &str| 1e9 / values.of(name);
        let byte = |name: &str| 1e3 / values.of(name);
        let stripe = stripe(values);
        let [reading, writing] = [stripe.reading(), stripe.writing()];
        let most = values.of("module_writes") / writing;
        Path {
            modules: values.of("modules") as u32,
            modules_per_port: values.of("modules_per_port") as u32,
            failed_ports: values.of("failed_ports") as u32,
            port_turn_ns: each("port_operations"),
            port_byte_ns: byte("port_speed"),
            module_turn_ns: [reading * each("module_reads"), writing * each("module_writes")],
            module_byte_ns: [reading * byte("module_read_speed"), writing * byte("module_write_speed")],
            turnaround_ns: 1e3 * values.of("turnaround"),
            sustained_writes: ((values.of("sustained_writes") / writing).min(most), values.of("write_credit")),
            sectors: Sectors::of(values),
            stripe,
            reading: Affine { fixed_s: values.of("read_fixed"), per_byte_s: reading * values.of("read_each") },
            writing: Stepped {
                first: Affine { fixed_s: values.of("write_fixed"), per_byte_s: writing * values.of("write_each") },
                unit_bytes: values.of("write_unit"),
                unit_s: writing * values.of("write_unit_time"),
            },
        }
    }

    /// Nanoseconds of a module's turn, for so many bytes of its sectors.
    pub(crate) fn module_ns(&self, direction: usize, bytes: f64, times: f64) -> f64 {
        times * self.module_turn_ns[direction].max(self.module_byte_ns[direction] * bytes)
    }

    /// Nanoseconds of a port's turn, in the direction of the data.
    pub(crate) fn port_ns(&self, bytes: f64) -> f64 {
        self.port_turn_ns.max(self.port_byte_ns * bytes)
    }

    /// Nanoseconds of an operation with nobody before it.
    pub(crate) fn single_ns(&self, direction: usize, (touched, times): (f64, f64)) -> f64 {
        let kb = touched / 1_024.0;
        1e3 * times * if direction == READ { self.reading.seconds(kb) } else { self.writing.seconds(kb) }
    }

    /// Nanoseconds that a single operation takes beside its turns.
    pub(super) fn latency_ns(&self, direction: usize, bytes: f64, (touched, times): (f64, f64)) -> f64 {
        let (single, module) = (self.single_ns(direction, (touched, times)), self.module_ns(direction, touched, times));
        (single - module - self.port_ns(bytes) + self.head_start_ns(direction, bytes)).max(0.0)
    }

    /// Nanoseconds for which a port passes data while its module still reads it; data that is written comes in whole first.
    pub(super) fn head_start_ns(&self, direction: usize, bytes: f64) -> f64 {
        if direction == READ { self.port_ns(bytes).min(self.module_ns(READ, bytes, 1.0)) } else { 0.0 }
    }

    /// Ports of the array, with those that are lost.
    pub(super) fn ports(&self) -> u32 {
        self.modules.div_ceil(self.modules_per_port)
    }

    /// The port over which a module is reached.
    pub(super) fn port_of(&self, module: u32) -> u32 {
        let (own, lost) = (module / self.modules_per_port, self.failed_ports);
        reached_over(own as usize, lost as usize, self.ports() as usize) as u32
    }
}

/// The channels that a module has left.
fn stripe(values: &Values) -> Stripe {
    let mut stripe = Stripe::new(values.of("channels") as u32);
    (0..values.of("failed_channels") as u32).for_each(|_| {
        stripe.lose();
    });
    stripe
}

/// The port over which the modules of a port are reached when the first `lost` of `ports` are lost: those that are left take
/// one lost port each, in turn.
pub(crate) fn reached_over(own: usize, lost: usize, ports: usize) -> usize {
    if own < lost { lost + own % (ports - lost) } else { own }
}
