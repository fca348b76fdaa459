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
    /// A single read, microseconds by kilobytes.
    pub reading: Affine,
    /// A single write, microseconds by kilobytes.
    pub writing: Stepped,
}

/// Read and write as places in pairs.
pub(super) const READ: usize = 0;
pub(super) const WRITE: usize = 1;

impl Path {
    /// The path that the parameters of a flash array describe.
    pub fn of(values: &Values) -> Path {
        let each = |name: &str| 1e9 / values.of(name);
        let byte = |name: &str| 1e3 / values.of(name);
        let [reading, writing] = narrower(values);
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
            reading: Affine { fixed_s: values.of("read_fixed"), per_byte_s: reading * values.of("read_each") },
            writing: Stepped {
                first: Affine { fixed_s: values.of("write_fixed"), per_byte_s: writing * values.of("write_each") },
                unit_bytes: values.of("write_unit"),
                unit_s: writing * values.of("write_unit_time"),
            },
        }
    }

    /// Nanoseconds of a module's turn.
    pub(super) fn module_ns(&self, direction: usize, bytes: f64) -> f64 {
        self.module_turn_ns[direction].max(self.module_byte_ns[direction] * bytes)
    }

    /// Nanoseconds of a port's turn, in the direction of the data.
    pub(super) fn port_ns(&self, bytes: f64) -> f64 {
        self.port_turn_ns.max(self.port_byte_ns * bytes)
    }

    /// Nanoseconds that a single operation takes beside its turns.
    pub(super) fn latency_ns(&self, direction: usize, bytes: f64) -> f64 {
        let kb = bytes / 1_024.0;
        let single = 1e3 * if direction == READ { self.reading.seconds(kb) } else { self.writing.seconds(kb) };
        let turns = self.module_ns(direction, bytes) + self.port_ns(bytes) - self.head_start_ns(direction, bytes);
        (single - turns).max(0.0)
    }

    /// Nanoseconds for which a port passes data while its module still reads it; data that is written comes in whole first.
    pub(super) fn head_start_ns(&self, direction: usize, bytes: f64) -> f64 {
        if direction == READ { self.port_ns(bytes).min(self.module_ns(READ, bytes)) } else { 0.0 }
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

/// By how much longer a module takes to read and to write with the channels that it has left.
pub(crate) fn narrower(values: &Values) -> [f64; 2] {
    let mut stripe = Stripe::new(values.of("channels") as u32);
    (0..values.of("failed_channels") as u32).for_each(|_| {
        stripe.lose();
    });
    [stripe.reading(), stripe.writing()]
}

/// The port over which the modules of a port are reached when the first `lost` of `ports` are lost: those that are left take
/// one lost port each, in turn.
pub(crate) fn reached_over(own: usize, lost: usize, ports: usize) -> usize {
    if own < lost { lost + own % (ports - lost) } else { own }
}
