//! Loss of power: the array serves nothing for a while, and forgets all but what its write cache holds.
//!
//! The one idea: what is under way in the array is undone and struck from the agenda. Operations of the host go again when
//! there is a path again, or fail; destages and rows of a rebuild are begun anew, for the cache and the job still hold them.
//! The host keeps its power.

use super::array::General;
use super::cache::Entry;
use super::changes::{Change, Job};
use super::flight::{Event, Work};
use units::Nanos;

impl General {
    /// Plans a loss of power that lasts so long.
    pub fn power_loss(&mut self, at: Nanos, lasts: Nanos) {
        self.plan(at, Change::PowerLost);
        self.plan(Nanos(at.0 + lasts.0), Change::PowerBack);
    }

    pub(super) fn lose_power(&mut self, now: Nanos) {
        if self.state.dark {
            return;
        }
        self.state.dark = true;
        self.agenda.keep(|event| {
            matches!(event, Event::Host { .. } | Event::Processor { .. } | Event::Refused { .. } | Event::Change { .. })
        });
        (0..self.controllers.len()).for_each(|number| self.paths.controller_lost(number));
        self.paths.abandon(now);
        for controller in &mut self.controllers {
            controller.station.abandon(now);
            controller.mirror.abandon(now);
        }
        self.modules.iter_mut().for_each(|module| module.station.abandon(now));
        self.cache.abandon();
        self.undo_own_work();
        for slot in 0..self.flights.len() as u32 {
            if self.flights[slot as usize].inside {
                self.without_path(now, slot);
            }
        }
    }

    /// Destages go back into the cache, the earliest first in it; a rebuild goes back to the first row that it had begun and
    /// not ended.
    fn undo_own_work(&mut self) {
        let own = self.flights.len() - (self.spec.cache.destages + self.spec.rebuild.rows) as usize;
        let mut undone: Vec<Entry> = Vec::new();
        for slot in own..self.flights.len() {
            let flight = self.flights[slot];
            if self.spare_slots.contains(&(slot as u32)) {
                continue;
            }
            match flight.work {
                Work::Destage => {
                    undone.push(Entry { address: flight.address, bytes: flight.bytes, group: flight.group });
                }
                _ => {
                    self.state.job =
                        self.state.job.map(|job| Job { row: job.row.min(flight.address), under_way: 0, ..job });
                }
            }
            self.spare_slots.push(slot as u32);
        }
        undone.into_iter().for_each(|entry| self.cache.put_back(entry));
        (self.state.destages, self.state.paced) = (0, false);
    }

    pub(super) fn power_back(&mut self, now: Nanos) {
        if !self.state.dark {
            return;
        }
        self.state.dark = false;
        for number in (0..self.controllers.len()).filter(|number| self.controllers[*number].up) {
            self.paths.controller_back(number);
        }
        self.again(now);
        self.destage(now);
        self.next_rebuild(now);
        self.pace_rebuild(now);
    }
}
