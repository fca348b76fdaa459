//! The way of an operation from the host to the controllers, and back.

use super::array::General;
use super::array::{Event, Work};
use units::Nanos;

impl General {
    #[inline]
    pub(super) fn host_done(&mut self, now: Nanos, slot: u32) {
        self.host.leave(now);
        let end = self.processors.arrive(now, self.spec.processors.1);
        self.agenda.at(end, Event::Processor { slot });
    }

    #[inline]
    pub(super) fn processor_done(&mut self, now: Nanos, slot: u32) {
        self.processors.leave(now);
        self.take_path(now, slot);
    }

    /// Over any path that is there; without one the operation waits for one, or fails.
    #[inline]
    pub(super) fn take_path(&mut self, now: Nanos, slot: u32) {
        let owner = self.owner(self.flights[slot as usize].group);
        let Some(number) = self.paths.choose(owner) else {
            return self.without_path(now, slot);
        };
        let path = &mut self.paths.all[usize::from(number)];
        path.under_way += 1;
        let flight = &mut self.flights[slot as usize];
        (flight.path, flight.losses, flight.failed, flight.writing) = (number, path.losses, false, false);
        flight.inside = true;
        let end = path.channel.arrive(now, self.spec.channel_ns);
        self.agenda.at(end, Event::Channel { slot });
    }

    #[cold]
    pub(super) fn without_path(&mut self, now: Nanos, slot: u32) {
        self.flights[slot as usize].inside = false;
        if self.spec.waits {
            self.state.stranded.push(slot);
        } else {
            self.agenda.at(now, Event::Refused { slot });
        }
    }

    /// The controller that a group belongs to.
    #[inline]
    fn owner(&self, group: u16) -> u16 {
        let count = self.controllers.len() as u16;
        if count == 2 { group & 1 } else { group % count }
    }

    /// Whether the path of a slot was lost since it was taken; if so, the slot goes again over another.
    #[inline]
    pub(super) fn lost_path(&mut self, now: Nanos, slot: u32) -> bool {
        let flight = &self.flights[slot as usize];
        let path = &mut self.paths.all[usize::from(flight.path)];
        if path.losses == flight.losses {
            return false;
        }
        path.under_way -= 1;
        self.take_path(now, slot);
        true
    }

    #[inline]
    pub(super) fn channel_done(&mut self, now: Nanos, slot: u32) {
        let number = usize::from(self.flights[slot as usize].path);
        self.paths.all[number].channel.leave(now);
        if self.lost_path(now, slot) {
            return;
        }
        let end = self.paths.all[number].port.arrive(now, self.spec.port_ns);
        self.agenda.at(end, Event::Port { slot });
    }

    #[inline]
    pub(super) fn port_done(&mut self, now: Nanos, slot: u32) {
        let flight = self.flights[slot as usize];
        self.paths.all[usize::from(flight.path)].port.leave(now);
        if self.lost_path(now, slot) {
            return;
        }
        let (_, arrives) = self.paths.all[usize::from(flight.path)].there.send(now, flight.travels().0);
        self.agenda.at(arrives, Event::Arrived { slot });
    }

    #[inline]
    pub(super) fn arrived(&mut self, now: Nanos, slot: u32) {
        if self.lost_path(now, slot) {
            return;
        }
        let flight = self.flights[slot as usize];
        let controller = usize::from(self.paths.all[usize::from(flight.path)].controller);
        let station = &mut self.controllers[controller].station;
        if let Some(end) = station.arrive(now, usize::from(flight.class), slot, self.spec.controller.1) {
            self.agenda.at(end, Event::Controller { slot });
        }
    }

    #[inline]
    pub(super) fn controller_done(&mut self, now: Nanos, slot: u32) {
        let flight = self.flights[slot as usize];
        let number = usize::from(self.paths.all[usize::from(flight.path)].controller);
        let controller = &mut self.controllers[number];
        if let Some((next, end)) = controller.station.depart(now) {
            self.agenda.at(end, Event::Controller { slot: next });
        }
        if self.lost_path(now, slot) {
            return;
        }
        match flight.work {
            Work::Write if flight.held => self.answer(now, slot),
            Work::Write if self.holds_writes(flight.bytes) => {
                if self.cache.admit(slot, &flight) {
                    self.mirror(now, slot);
                }
                self.destage(now);
            }
            Work::Sync => self.answer(now, slot),
            Work::Read if self.controllers[number].hits.chance(self.spec.cache.read_hits) => self.answer(now, slot),
            _ => self.dispatch(now, slot),
        }
    }

    /// Whether a write is promised from the cache: only as long as two controllers hold it. With one, writes go through.
    fn holds_writes(&self, bytes: u32) -> bool {
        let up = self.controllers.iter().filter(|controller| controller.up).count();
        up >= 2.min(self.controllers.len()) && self.cache.takes(bytes)
    }

    /// A write goes from the controller that has it to another one.
    pub(super) fn mirror(&mut self, now: Nanos, slot: u32) {
        let flight = self.flights[slot as usize];
        let number = usize::from(self.paths.all[usize::from(flight.path)].controller);
        self.flights[slot as usize].held = true;
        let (_, held) = self.controllers[number].mirror.send(now, u64::from(flight.bytes));
        self.agenda.at(held, Event::Mirrored { slot });
    }

    /// The controllers are through with it: the answer goes back.
    #[inline]
    pub(super) fn answer(&mut self, now: Nanos, slot: u32) {
        if self.lost_path(now, slot) {
            return;
        }
        let flight = self.flights[slot as usize];
        let (_, arrives) = self.paths.all[usize::from(flight.path)].back.send(now, flight.travels().1);
        self.agenda.at(arrives, Event::Back { slot });
    }

    #[inline]
    pub(super) fn back(&mut self, now: Nanos, slot: u32) {
        if self.lost_path(now, slot) {
            return;
        }
        let flight = self.flights[slot as usize];
        self.paths.all[usize::from(flight.path)].under_way -= 1;
        self.flights[slot as usize].inside = false;
        self.finish(now, slot, flight.failed);
    }
}
