//! Paths from the host to the controllers, and which one an operation takes.
//!
//! The one idea: a path that leaves takes nothing new and ends what it has; a path that is lost answers nobody any more, and
//! whoever was on it goes again over another.

use crate::station::{Link, Turns};
use units::Nanos;

/// How a path is chosen among those that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// One after the other.
    RoundRobin,
    /// The one with the fewest operations under way.
    LeastQueue,
    /// In turn among those of the controller that owns the group; others only when it has none.
    Preferred,
}

/// A channel, a port and a link of both directions.
#[derive(Clone, Debug)]
pub(super) struct Path {
    /// Whether it can be taken: it is there itself, and the controller at its end is.
    pub(super) up: bool,
    /// Whether it is there itself, whatever its controller does.
    there_itself: bool,
    /// How often it was lost.
    pub(super) losses: u16,
    pub(super) controller: u16,
    /// Operations that took it and did not come back.
    pub(super) under_way: u32,
    pub(super) channel: Turns,
    pub(super) port: Turns,
    pub(super) there: Link,
    pub(super) back: Link,
}

/// All paths.
#[derive(Clone, Debug)]
pub(super) struct Paths {
    pub(super) all: Vec<Path>,
    policy: Policy,
    next: usize,
}

impl Paths {
    pub(super) fn new(count: u32, controllers: u32, policy: Policy, bytes_per_s: f64, km: f64) -> Paths {
        let path = |number: u32| Path {
            up: true,
            there_itself: true,
            losses: 0,
            controller: (number % controllers) as u16,
            under_way: 0,
            channel: Turns::new(1),
            port: Turns::new(1),
            there: Link::new(bytes_per_s, km),
            back: Link::new(bytes_per_s, km),
        };
        Paths { all: (0..count).map(path).collect(), policy, next: 0 }
    }

    /// The path of an operation for a group of this owner; none when no path is left.
    #[inline]
    pub(super) fn choose(&mut self, owner: u16) -> Option<u16> {
        match self.policy {
            Policy::RoundRobin => self.turn(|_| true),
            Policy::LeastQueue => {
                let up = (0..self.all.len()).filter(|path| self.all[*path].up);
                up.min_by_key(|path| self.all[*path].under_way).map(|path| path as u16)
            }
            Policy::Preferred => self.turn(|path| path.controller == owner).or_else(|| self.turn(|_| true)),
        }
    }

    #[inline]
    fn turn(&mut self, wanted: impl Fn(&Path) -> bool) -> Option<u16> {
        for _ in 0..self.all.len() {
            let here = self.next;
            self.next = if here + 1 == self.all.len() { 0 } else { here + 1 };
            if self.all[here].up && wanted(&self.all[here]) {
                return Some(here as u16);
            }
        }
        None
    }

    /// A path takes nothing new.
    pub(super) fn leave(&mut self, path: usize) {
        (self.all[path].up, self.all[path].there_itself) = (false, false);
    }

    /// A path answers nobody any more.
    pub(super) fn lose(&mut self, path: usize) {
        self.leave(path);
        self.all[path].losses = self.all[path].losses.wrapping_add(1);
    }

    /// A path is there again; it can be taken when the controller at its end is up.
    pub(super) fn back(&mut self, path: usize, controller_up: bool) {
        (self.all[path].up, self.all[path].there_itself) = (controller_up, true);
    }

    /// A controller is lost: none of its paths answers any more.
    pub(super) fn controller_lost(&mut self, controller: usize) {
        for path in self.all.iter_mut().filter(|path| usize::from(path.controller) == controller) {
            path.up = false;
            path.losses = path.losses.wrapping_add(1);
        }
    }

    /// A controller is there again, and with it those of its paths that are.
    pub(super) fn controller_back(&mut self, controller: usize) {
        for path in self.all.iter_mut().filter(|path| usize::from(path.controller) == controller) {
            path.up = path.there_itself;
        }
    }

    /// Nothing is on any path any more.
    pub(super) fn abandon(&mut self, now: Nanos) {
        for path in &mut self.all {
            path.under_way = 0;
            path.channel.abandon(now);
            path.port.abandon(now);
            path.there.abandon(now);
            path.back.abandon(now);
        }
    }

    pub(super) fn clear(&mut self, now: Nanos) {
        for path in &mut self.all {
            path.channel.clear(now);
            path.port.clear(now);
            path.there.watch.clear(now);
            path.back.watch.clear(now);
        }
    }
}
