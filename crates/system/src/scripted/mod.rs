//! A system that replies after scripted times on a simulated clock: the whole program is tested through it, and every
//! number it must produce is known beforehand.
//!
//! The one idea: operations queue in order for a few servers, so that the end of each is known when it arrives; time then
//! moves from one end to the next. Equal scripts and seeds give equal times, to the nanosecond, on every machine.
//!
//! What it does not do: it moves no data, and it does not model any real device; that is a model's work.

use crate::{Completion, Outcome, Port, PortError, StoragePort, Wait};
use random::Draws;
use recorder::{Clock, SimulatedClock};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use study::{ScriptSpec, Stall};
use units::Nanos;
use workload::Operation;

/// What a reading of the clock costs in a driver that spins, so that its time moves at all.
const SPIN: u64 = 50;

/// The errno of a scripted failure: EIO.
const EIO: i32 = 5;

/// What will end: when, in which order, in which slot, and with how many bytes; none of one that fails.
type End = (u64, u64, u32, Option<u32>);

/// The port of one worker to a scripted system of its own.
#[derive(Debug)]
pub struct ScriptedPort {
    script: ScriptSpec,
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
    pub fn new(script: ScriptSpec, seed: u64, slots: u32) -> ScriptedPort {
        let slots = slots as usize;
        ScriptedPort {
            clock: SimulatedClock::default(),
            draws: Draws::from_state(seed),
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
            Some(stall) => end(stall, free.max(now), service),
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

/// When work of `service` that starts at `start` ends. Service that meets a pause goes on behind it: time outside the pauses is
/// the time in which work is done; the sum is made there and taken back.
fn end(stall: Stall, start: u64, service: u64) -> u64 {
    let every = stall.every.0.max(1);
    let awake = every.saturating_sub(stall.lasts.0).max(1);
    let worked = start / every * awake + (start % every).min(awake);
    if service == 0 {
        return if start % every < awake { start } else { (start / every + 1) * every };
    }
    // What is done exactly when a pause begins has ended then, and not behind it.
    let last = worked + service - 1;
    last / awake * every + last % awake + 1
}

impl Port for ScriptedPort {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    fn submit(&mut self) -> Result<(), PortError> {
        let now = self.clock.now().0;
        for index in 0..self.staged.len() {
            let (slot, bytes) = self.staged[index];
            self.arrive(slot, bytes, now);
        }
        self.staged.clear();
        Ok(())
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) -> Result<(), PortError> {
        self.submit()?;
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

#[cfg(test)]
mod tests;
