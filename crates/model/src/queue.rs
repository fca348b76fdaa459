//! A device behind a queue in virtual time.
//!
//! The one idea: an operation passes the host, which handles all that came since it last looked, and then the device, which
//! overlaps many; an overlap that is no whole number is a device that works on the last of them with a part of its strength.
//! Times of the device are exponential, as the closed form of the kind takes them, so that both say the same.

use crate::form::batch::Circle;
use crate::kernel::Agenda;
use crate::machine::{Ended, StationReport, Stepped};
use crate::station::{Commit, Sharing, Watch};
use random::Draws;
use units::Nanos;
use workload::Operation;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// An operation comes to the host.
    Begin { slot: u32 },
    /// The host is done with a batch.
    Host,
    /// The device is done with the next, unless somebody came since.
    Device { state: u32 },
}

/// One device with the host in front of it.
#[derive(Clone, Debug)]
pub struct Queue {
    host_ns: f64,
    wake_ns: f64,
    device_ns: f64,
    agenda: Agenda<Event>,
    host: Commit,
    host_watch: Watch,
    /// Those whom the host is done with.
    handled: Vec<u32>,
    device: Sharing,
    device_draws: Draws,
}

impl Queue {
    /// Host and device at rest, for at most `slots` operations at once.
    pub fn new(circle: Circle, slots: u32, seed: u64) -> Queue {
        let (room, overlap) = (slots.max(1) as usize, circle.overlap);
        Queue {
            host_ns: 1e9 * circle.each_s,
            wake_ns: 1e9 * circle.wake_s,
            device_ns: 1e9 * circle.device_s,
            // A void event of the device stands on the agenda until its time comes.
            agenda: Agenda::with_capacity(4 * room + 16),
            host: Commit::new(room),
            host_watch: Watch::default(),
            handled: Vec::with_capacity(room),
            device: Sharing::new(room, |there| f64::from(there).min(overlap)),
            device_draws: Draws::numbered(seed, 1),
        }
    }

    /// Notes who is at the host; when a batch begins, its end goes on the agenda.
    #[inline]
    fn host_turn(&mut self, now: Nanos, begins: bool) {
        let (leaving, here) = (self.host.leaving(), self.host.here());
        self.host_watch.turn(now, here, f64::from(leaving.min(1)));
        if begins {
            let batch_ns = self.wake_ns + self.host_ns * f64::from(leaving);
            self.agenda.at(now + Nanos(libm::round(batch_ns).max(1.0) as u64), Event::Host);
        }
    }

    /// Puts the next end at the device on the agenda; what was said before is void.
    #[inline]
    fn expect(&mut self) {
        if let Some((at, state)) = self.device.next() {
            self.agenda.at(at, Event::Device { state });
        }
    }
}

#[inline]
fn drawn(draws: &mut Draws, mean_ns: f64) -> Nanos {
    Nanos(libm::round(mean_ns * draws.exponential()).max(1.0) as u64)
}

impl Stepped for Queue {
    type Event = Event;

    fn agenda(&mut self) -> &mut Agenda<Event> {
        &mut self.agenda
    }

    #[inline]
    fn step(&mut self, now: Nanos, event: Event, ended: &mut Vec<Ended>) {
        match event {
            Event::Begin { slot } => {
                let begins = self.host.ask(slot);
                self.host_turn(now, begins);
            }
            Event::Host => {
                let mut handled = std::mem::take(&mut self.handled);
                let begins = self.host.written(&mut handled);
                self.host_turn(now, begins);
                for slot in handled.drain(..) {
                    self.host_watch.done();
                    let turn = drawn(&mut self.device_draws, self.device_ns);
                    self.device.arrive(now, slot, turn);
                }
                self.handled = handled;
                self.expect();
            }
            Event::Device { state } => {
                if let Some(slot) = self.device.depart(now, state) {
                    ended.push(Ended::done(slot, now));
                    self.expect();
                }
            }
        }
    }

    fn submit(&mut self, at: Nanos, slot: u32, _operation: &Operation) {
        self.agenda.at(at, Event::Begin { slot });
    }

    fn clear(&mut self, now: Nanos) {
        self.host_watch.clear(now);
        self.device.watch.clear(now);
    }

    fn reports(&mut self, now: Nanos) -> Vec<StationReport> {
        vec![StationReport::of("host", &self.host_watch, now), StationReport::of("device", &self.device.watch, now)]
    }
}
