//! What changes while an array runs: paths, controllers, modules and channels that leave, are lost or come back.

use super::array::General;
use super::array::{Event, Work};
use super::cache::Entry;
use units::Nanos;
use workload::happening::{Happening, Part};

/// A change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A path takes nothing new and ends what it has: a step of a rolling upgrade.
    PathLeaves(u32),
    /// A path answers nobody any more.
    PathLost(u32),
    /// A path is there again.
    PathBack(u32),
    /// A controller is lost with its paths. The others do its work, and with one left writes go through the cache.
    ControllerLost(u32),
    /// A controller is there again, with its paths.
    ControllerBack(u32),
    /// A module is lost, and made again on a spare.
    ModuleLost {
        /// The group.
        group: u32,
        /// Which in it.
        member: u32,
    },
    /// A channel inside a module is lost; the module with it when too few are left.
    ChannelLost {
        /// The group.
        group: u32,
        /// Which module in it.
        member: u32,
    },
    /// A spare comes in, and the module that was lost first is made again on it.
    SpareIn,
    /// The array has no power: it serves nothing, and what was under way in it is undone. Writes that the cache holds stay.
    PowerLost,
    /// It has power again.
    PowerBack,
}

/// What is planned and under way beside operations.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    changes: Vec<Change>,
    /// Destages under way.
    pub(super) destages: u32,
    /// The rebuild under way.
    pub(super) job: Option<Job>,
    /// Lost members that wait for a rebuild.
    lost: Vec<(u16, u32)>,
    /// Whether the rebuild's next row is planned.
    pub(super) paced: bool,
    /// When rebuilds ended.
    pub(super) rebuilt: Vec<Nanos>,
    /// Spares that were taken.
    spares_taken: u32,
    /// Whether the array is without power.
    pub(super) dark: bool,
    /// Operations that wait for a path.
    pub(super) stranded: Vec<u32>,
}

/// A rebuild.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Job {
    pub(super) group: u16,
    pub(super) member: u32,
    pub(super) row: u64,
    pub(super) rows: u64,
    pub(super) under_way: u32,
    /// Whether some row could not be made again.
    pub(super) stuck: bool,
}

impl State {
    pub(super) fn new(slots: usize) -> State {
        State { stranded: Vec::with_capacity(slots), ..State::default() }
    }

    pub(super) fn add(&mut self, change: Change) -> u32 {
        self.changes.push(change);
        self.changes.len() as u32 - 1
    }
}

impl General {
    /// Plans a rolling upgrade: each path leaves for so long, and the next one `gap` later.
    pub fn upgrade(&mut self, from: Nanos, away: Nanos, gap: Nanos) {
        for path in 0..self.paths.all.len() as u32 {
            let leaves = from.0 + u64::from(path) * (away.0 + gap.0);
            self.plan(Nanos(leaves), Change::PathLeaves(path));
            self.plan(Nanos(leaves + away.0), Change::PathBack(path));
        }
    }

    /// Plans what happens to it; whether an array knows that.
    pub(super) fn plan_happening(&mut self, at: Nanos, what: Happening) -> bool {
        match what {
            Happening::Fail(Part::Path, path) => self.plan(at, Change::PathLost(path)),
            Happening::Restore(Part::Path, path) => self.plan(at, Change::PathBack(path)),
            Happening::Fail(Part::Controller, number) => self.plan(at, Change::ControllerLost(number)),
            Happening::Restore(Part::Controller, number) => self.plan(at, Change::ControllerBack(number)),
            Happening::Fail(Part::Module, number) => {
                let (group, member) = self.spec.place(number);
                self.plan(at, Change::ModuleLost { group, member });
            }
            Happening::Fail(Part::Channel, number) => {
                let (group, member) = self.spec.place(number);
                self.plan(at, Change::ChannelLost { group, member });
            }
            Happening::Spare => self.plan(at, Change::SpareIn),
            Happening::Firmware(lasts) => self.update(at, lasts),
            Happening::Fail(Part::Port, _) | Happening::Restore(..) | Happening::Fault(_) | Happening::Pair(_) => {
                return false;
            }
        }
        true
    }

    /// Plans an update of firmware: one half of the controllers, or of the paths of one, is away for so long, then the other.
    fn update(&mut self, at: Nanos, lasts: Nanos) {
        let (paths, controllers) = (self.paths.all.len() as u32, self.spec.controllers);
        for path in 0..paths {
            let second = if controllers > 1 { path % controllers >= controllers / 2 } else { path >= paths / 2 };
            let leaves = at.0 + if second { lasts.0 } else { 0 };
            self.plan(Nanos(leaves), Change::PathLeaves(path));
            self.plan(Nanos(leaves + lasts.0), Change::PathBack(path));
        }
    }

    pub(super) fn change(&mut self, now: Nanos, number: u32) {
        match self.state.changes[number as usize] {
            Change::PathLeaves(path) => self.path(path, |paths, path| paths.leave(path)),
            Change::PathLost(path) => self.path(path, |paths, path| paths.lose(path)),
            Change::PathBack(path) => self.path_back(now, path),
            Change::ControllerLost(number) => self.lose_controller(now, number as usize),
            Change::ControllerBack(number) => self.controller_back(now, number as usize),
            Change::SpareIn => {
                self.spec.rebuild.spares += 1;
                self.next_rebuild(now);
            }
            Change::PowerLost => self.lose_power(now),
            Change::PowerBack => self.power_back(now),
            Change::ModuleLost { group, member } => self.lose_module(now, group, member),
            Change::ChannelLost { group, member } => {
                let module = (group * self.spec.members + member) as usize;
                let works = self.modules.get_mut(module).is_none_or(|module| module.stripe.lose());
                if !works {
                    self.lose_module(now, group, member);
                }
            }
        }
    }

    fn path(&mut self, path: u32, change: impl Fn(&mut super::paths::Paths, usize)) {
        if (path as usize) < self.paths.all.len() {
            change(&mut self.paths, path as usize);
        }
    }

    fn path_back(&mut self, now: Nanos, path: u32) {
        let Some(controller) = self.paths.all.get(path as usize).map(|path| usize::from(path.controller)) else {
            return;
        };
        self.paths.back(path as usize, self.controllers[controller].up && !self.state.dark);
        self.again(now);
    }

    /// Whoever was left without a path tries again.
    pub(super) fn again(&mut self, now: Nanos) {
        let mut stranded = std::mem::take(&mut self.state.stranded);
        stranded.drain(..).for_each(|slot| self.take_path(now, slot));
        // Whoever found none again stands in the list that is new.
        if self.state.stranded.is_empty() {
            self.state.stranded = stranded;
        }
    }

    /// Who waits at the controller goes again at once; who is elsewhere on its paths, when he finds out.
    fn lose_controller(&mut self, now: Nanos, number: usize) {
        if number >= self.controllers.len() {
            return;
        }
        self.controllers[number].up = false;
        self.paths.controller_lost(number);
        while let Some(slot) = self.controllers[number].station.drain(now) {
            self.lost_path(now, slot);
        }
    }

    fn controller_back(&mut self, now: Nanos, number: usize) {
        let Some(controller) = self.controllers.get_mut(number) else { return };
        controller.up = true;
        if !self.state.dark {
            self.paths.controller_back(number);
            self.again(now);
        }
    }

    fn lose_module(&mut self, now: Nanos, group: u32, member: u32) {
        if group >= self.spec.groups || member >= self.spec.members {
            return;
        }
        let bit = 1u64 << member;
        if self.lost[group as usize] & bit == 0 {
            self.lost[group as usize] |= bit;
            self.state.lost.push((group as u16, member));
            self.next_rebuild(now);
        }
    }

    /// Begins the next rebuild, when none is under way. The spare that takes the place is a whole module.
    pub(super) fn next_rebuild(&mut self, now: Nanos) {
        if self.state.job.is_some() || self.state.lost.is_empty() || self.state.spares_taken == self.spec.rebuild.spares
        {
            return;
        }
        self.state.spares_taken += 1;
        let (group, member) = self.state.lost.remove(0);
        let module = usize::from(group) * self.spec.members as usize + member as usize;
        self.modules[module].stripe = crate::array::raid::Stripe::new(self.spec.modules.channels);
        let rows = self.spec.rebuild.module_bytes.div_ceil(u64::from(self.raid.unit()));
        self.state.job = Some(Job { group, member, row: 0, rows, under_way: 0, stuck: false });
        self.pace_rebuild(now);
    }
}

// Loss of power: the array serves nothing for a while, and forgets all but what its write cache holds.
//
// The one idea: what is under way in the array is undone and struck from the agenda. Operations of the host go again when
// there is a path again, or fail; destages and rows of a rebuild are begun anew, for the cache and the job still hold them.
// The host keeps its power.

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
