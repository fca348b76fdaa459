//! When a piece arrives: one direction of one path, as a queue.
//!
//! The one idea: what is sent waits until the wire is free, takes its bytes' time on it, and then the wire's length. Somebody else's
//! traffic is not sent: what it takes of the wire is counted, so that it costs no CPU of the machine that measures.

use random::Draws;
use study::Wire;
use units::Nanos;

/// Bytes that a queue without shares holds before a competing stream has to wait itself: some 100 full frames of 2,500 bytes.
const QUEUE_BYTES: f64 = 256.0 * 1024.0;

/// Bytes of a packet on loopback wires and in networks of large frames.
const PACKET: usize = 4096;

/// One direction of one path.
#[derive(Debug)]
pub(crate) struct Lane {
    /// When the wire is free again.
    free: Nanos,
    /// When all bytes of ours have left.
    ours: Nanos,
    /// The last moment at which somebody else's traffic was counted.
    counted: Nanos,
    /// When the last piece arrives: none overtakes another.
    last: Nanos,
    draws: Draws,
}

impl Lane {
    pub(crate) fn new(seed: u64) -> Lane {
        Lane {
            free: Nanos::ZERO,
            ours: Nanos::ZERO,
            counted: Nanos::ZERO,
            last: Nanos::ZERO,
            draws: Draws::numbered(seed, 0),
        }
    }

    /// When so many bytes arrive that are sent at `now`.
    pub(crate) fn arrival(&mut self, now: Nanos, bytes: usize, shape: &Wire) -> Nanos {
        let leaves = self.leaves(now, bytes, shape);
        let jitter = Nanos((self.draws.fraction() * shape.jitter.0 as f64) as u64);
        self.last = (leaves + shape.delay + jitter).max(self.last);
        self.last
    }

    /// When the last of its bytes is on the wire.
    fn leaves(&mut self, now: Nanos, bytes: usize, shape: &Wire) -> Nanos {
        let Some(capacity) = shape.capacity else { return now };
        let (mut rate, mut between) = (capacity.0, 0.0);
        if let Some(other) = shape.aggressor {
            match other.share {
                // Whoever has a share goes first within it; what it does not use is free for others.
                Some(share) => rate -= other.demand.0.min(share * capacity.0),
                None => {
                    self.crowd(now, other.demand.0, capacity.0);
                    // In one queue what both send lies between each other, in proportion to what each would send alone: a stream of
                    // ours the whole wire. Nothing comes between the bytes of one packet.
                    let alone = if self.ours > now { 0 } else { bytes.min(PACKET) };
                    between = (bytes - alone) as f64 * other.demand.0 / capacity.0;
                }
            }
        }
        let takes = Nanos::from_seconds((bytes as f64 + between) / rate.max(1.0));
        self.free = self.free.max(now) + takes;
        self.ours = self.free;
        self.free
    }

    /// Counts what the other has put into the queue since the last time; where the queue is full, the other waits.
    fn crowd(&mut self, now: Nanos, demand: f64, capacity: f64) {
        let passed = now.saturating_sub(self.counted).seconds();
        let left = self.free.saturating_sub(self.counted).seconds() - passed;
        let most = left.max(QUEUE_BYTES / capacity);
        let backlog = (left + passed * demand / capacity).clamp(0.0, most);
        (self.counted, self.free) = (now, now + Nanos::from_seconds(backlog));
    }
}

#[cfg(test)]
#[path = "tests/lane.rs"]
mod tests;
