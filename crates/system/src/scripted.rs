//! A system that replies after scripted times on a simulated clock: the whole program is tested through it, and every
//! number it must produce is known beforehand.
//!
//! The one idea: operations queue in order for a few servers, so that the end of each is known when it arrives; time then
//! moves from one end to the next. Equal scripts and seeds give equal times, to the nanosecond, on every machine.
//!
//! What it does not do: it moves no data, and it does not model any real device; that is a model's work.

use crate::{Completion, Outcome, Port, PortError, StoragePort, Wait};
use recorder::{Clock, SimulatedClock};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::{Nanos, Share};
use workload::Operation;

/// How a scripted system behaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Service times, used in turn, one an operation; none at all means no time.
    pub service: Vec<Nanos>,
    /// Operations served at once, at least one; more wait in order.
    pub servers: u32,
    /// Added service time for every byte moved, in nanoseconds.
    pub per_byte_ns: f64,
    /// Exponential spread: 0 keeps the times as written, 1 draws each from an exponential with that mean, and a share
    /// between spreads that share of the time.
    pub spread: Share,
    /// A pause of the whole system, that comes again and again.
    pub stall: Option<Stall>,
    /// Every n-th operation fails with an I/O error, after its time.
    pub fail_every: Option<u64>,
    /// Service times grow by this share each second of simulated time.
    pub drift_per_s: f64,
}

/// A pause that comes again and again. Service that meets it goes on behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// From the start of one pause to the start of the next.
    pub every: Nanos,
    /// How long it lasts, at the end of each period.
    pub lasts: Nanos,
}

/// What a reading of the clock costs in a driver that spins, so that its time moves at all.
const SPIN: u64 = 50;

/// The errno of a scripted failure: EIO.
const EIO: i32 = 5;

/// What will end: when, in which order, in which slot, and with how many bytes; none of one that fails.
type End = (u64, u64, u32, Option<u32>);

/// The port of one worker to a scripted system of its own.
#[derive(Debug)]
pub struct ScriptedPort {
    script: Script,
    clock: SimulatedClock,
    draws: Draws,
    /// Operations that arrived so far.
    count: u64,
    staged: Vec<(u32, u32)>,
    /// When each server is free again.
    servers: BinaryHeap<Reverse<u64>>,
    ends: BinaryHeap<Reverse<End>>,
}

impl ScriptedPort {
    /// A port with room for so many operations at once, at the start of simulated time.
    pub fn new(script: Script, seed: u64, slots: u32) -> ScriptedPort {
        let slots = slots as usize;
        ScriptedPort {
            clock: SimulatedClock::default(),
            draws: Draws(seed),
            count: 0,
            staged: Vec::with_capacity(slots),
            servers: (0..script.servers.max(1)).map(|_| Reverse(0)).collect(),
            ends: BinaryHeap::with_capacity(slots),
            script,
        }
    }

    /// The simulated clock, to be read by others.
    pub fn clock(&self) -> SimulatedClock {
        self.clock.clone()
    }

    /// The time that the next operation asks of a server, in nanoseconds.
    fn service(&mut self, bytes: u32, now: u64) -> u64 {
        let times = &self.script.service;
        let written = if times.is_empty() { 0 } else { times[(self.count % times.len() as u64) as usize].0 };
        let base = written as f64 + self.script.per_byte_ns * f64::from(bytes);
        let drifted = base * (1.0 + self.script.drift_per_s * now as f64 / 1e9);
        let spread = self.script.spread.0;
        let drawn = if spread > 0.0 { 1.0 - spread + spread * self.draws.exponential() } else { 1.0 };
        // Nothing takes no time at all: a closed load without think time would go round for ever at one moment.
        ((drifted * drawn).round() as u64).max(1)
    }

    /// Lets an operation arrive: its end is known at once, because operations are served in order.
    fn arrive(&mut self, slot: u32, bytes: u32, now: u64) {
        let service = self.service(bytes, now);
        self.count += 1;
        let free = self.servers.pop().map_or(0, |Reverse(at)| at);
        let end = match self.script.stall {
            Some(stall) => stall.end(free.max(now), service),
            None => free.max(now) + service,
        };
        self.servers.push(Reverse(end));
        let fails = self.script.fail_every.is_some_and(|every| every > 0 && self.count.is_multiple_of(every));
        self.ends.push(Reverse((end, self.count, slot, (!fails).then_some(bytes))));
    }

    fn first_end(&self) -> Option<u64> {
        self.ends.peek().map(|Reverse((at, ..))| *at)
    }

    /// Moves time as far as the wait allows: to the next end, or to the end of the wait.
    fn pass(&self, wait: Wait) {
        let to = match (wait, self.first_end()) {
            (Wait::Poll, _) => Some(self.clock.now().0 + SPIN),
            (Wait::Until(at), Some(end)) => Some(end.min(at.0)),
            (Wait::Until(at), None) => Some(at.0),
            (Wait::Completion, end) => end,
        };
        if let Some(to) = to {
            self.clock.pass(Nanos(to));
        }
    }
}

impl Stall {
    /// When work of `service` that starts at `start` ends. Time outside the pauses is the time in which work is done; the
    /// sum is made there and taken back.
    fn end(self, start: u64, service: u64) -> u64 {
        let every = self.every.0.max(1);
        let awake = every.saturating_sub(self.lasts.0).max(1);
        let worked = start / every * awake + (start % every).min(awake);
        if service == 0 {
            return if start % every < awake { start } else { (start / every + 1) * every };
        }
        // What is done exactly when a pause begins has ended then, and not behind it.
        let last = worked + service - 1;
        last / awake * every + last % awake + 1
    }
}

impl Port for ScriptedPort {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    fn submit(&mut self, _more: bool) -> Result<(), PortError> {
        let now = self.clock.now().0;
        for index in 0..self.staged.len() {
            let (slot, bytes) = self.staged[index];
            self.arrive(slot, bytes, now);
        }
        self.staged.clear();
        Ok(())
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) -> Result<(), PortError> {
        self.submit(false)?;
        self.pass(wait);
        let at = self.clock.now();
        while self.first_end().is_some_and(|end| end <= at.0) {
            if let Some(Reverse((_, _, slot, bytes))) = self.ends.pop() {
                let outcome = bytes.map_or(Outcome::Failed { errno: EIO }, |bytes| Outcome::Moved { bytes });
                into.push(Completion { slot, outcome, at });
            }
        }
        Ok(())
    }
}

impl StoragePort for ScriptedPort {
    fn buffer(&mut self, _slot: u32) -> &mut [u8] {
        &mut []
    }

    fn stage(&mut self, slot: u32, operation: &Operation, _durable: bool) {
        self.staged.push((slot, operation.bytes));
    }
}

/// Random numbers by SplitMix64 with the logarithm of `libm`, as in the load: equal on every machine.
#[derive(Debug)]
struct Draws(u64);

impl Draws {
    fn exponential(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        -libm::log(((z >> 11) + 1) as f64 / (1u64 << 53) as f64)
    }
}

#[cfg(test)]
mod tests;
