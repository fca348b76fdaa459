//! How much of a server a processor simulates: the work of a speed test, without its clock.

use super::{Log, Plan, Profile, Reads, Server, Work};
use crate::form::processors::Processors;
use crate::machine::{Ended, Machine, TRANSACTION};
use units::Nanos;

/// What was simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceiling {
    /// Transactions that were completed, of seven reads each.
    pub count: u64,
    /// Events that it took.
    pub events: u64,
}

/// A server of round numbers, none of them of a real machine: transactions of seven reads, one after the other.
fn plan() -> Plan {
    let processors = Processors { cores: 16.0, capacity: [1.0, 1.5, 1.9, 2.0], contention: 1e-4, latch: 0.0 };
    let profile = Profile { cpu_ms: 2.0, reads: 7.0, changes: 1.0, ..Profile::default() };
    Plan {
        work: Work::Shared(processors),
        reads: Reads::Delay { us: 300.0, variation: 1.0 },
        log: Some(Log { write_us: 100.0, bytes_per_s: f64::INFINITY }),
        driver_us: 50.0,
        jobs: 0,
        classes: vec![profile],
    }
}

/// Simulates so many transactions of 80 sessions. Whoever calls takes the time, because this room has no clock.
pub fn ceiling(transactions: u64) -> Ceiling {
    const SESSIONS: u32 = 80;
    let mut server = Server::new(&plan(), SESSIONS, 1);
    (0..SESSIONS).for_each(|slot| server.submit(Nanos(0), slot, &TRANSACTION));
    let (mut ended, mut count) = (Vec::<Ended>::with_capacity(SESSIONS as usize), 0);
    while count < transactions {
        server.advance(Nanos(u64::MAX), &mut ended);
        for Ended { slot, at, .. } in ended.drain(..) {
            count += 1;
            server.submit(at, slot, &TRANSACTION);
        }
    }
    Ceiling { count, events: server.events() }
}
