//! A system that does nothing and answers at once: what is measured on it is the generator itself.
//!
//! The one idea: it still takes the whole way of an operation (stage, submit, reap, one stamp a batch), so that the
//! generator's own cost and lateness show, and nothing else.
//!
//! What it does not do: it moves no data and never fails.

use crate::{Completion, Outcome, Port, PortError, StoragePort, Wait};
use recorder::Clock;
use units::Nanos;
use workload::Operation;

/// No wait is longer, so that a stop is seen.
const NAP: Nanos = Nanos::from_millis(100);

/// The port to nothing.
#[derive(Debug)]
pub struct NullPort<C> {
    clock: C,
    staged: Vec<Completion>,
}

impl<C: Clock> NullPort<C> {
    /// A port with room for so many operations at once.
    pub fn new(clock: C, slots: u32) -> NullPort<C> {
        NullPort { clock, staged: Vec::with_capacity(slots as usize) }
    }
}

impl<C: Clock> Port for NullPort<C> {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.clock.now()
    }

    #[inline]
    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) -> Result<(), PortError> {
        if self.staged.is_empty() {
            if let Wait::Until(at) = wait {
                self.clock.pass(at.min(self.clock.now().saturating_add(NAP)));
            }
            return Ok(());
        }
        let at = self.clock.now();
        into.extend(self.staged.drain(..).map(|completion| Completion { at, ..completion }));
        Ok(())
    }
}

impl<C: Clock> StoragePort for NullPort<C> {
    #[inline]
    fn buffer(&mut self, _slot: u32) -> &mut [u8] {
        &mut []
    }

    #[inline]
    fn stage(&mut self, slot: u32, operation: &Operation, _durable: bool) {
        let outcome = Outcome::Moved { bytes: operation.bytes };
        self.staged.push(Completion { slot, outcome, at: Nanos::ZERO });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recorder::SimulatedClock;
    use workload::OperationKind;

    const READ: Operation = Operation { kind: OperationKind::Read, class: 0, module: 0, offset: 0, bytes: 4096 };

    #[test]
    fn what_was_staged_has_ended_at_the_next_reap_with_one_stamp() {
        let clock = SimulatedClock::default();
        let mut port = NullPort::new(clock.clone(), 2);
        port.stage(1, &READ, false);
        port.stage(0, &READ, false);
        clock.pass(Nanos(7));
        let mut ended = Vec::new();
        port.reap(Wait::Completion, &mut ended).unwrap();
        let expected = [1, 0].map(|slot| Completion { slot, outcome: Outcome::Moved { bytes: 4096 }, at: Nanos(7) });
        assert_eq!(ended, expected);
    }

    #[test]
    fn with_nothing_staged_a_reap_waits_as_long_as_it_is_told() {
        let clock = SimulatedClock::default();
        let mut port = NullPort::new(clock.clone(), 1);
        let mut ended = Vec::new();
        port.reap(Wait::Until(Nanos(90)), &mut ended).unwrap();
        port.reap(Wait::Completion, &mut ended).unwrap();
        assert_eq!((clock.now(), ended), (Nanos(90), Vec::new()));
    }
}
