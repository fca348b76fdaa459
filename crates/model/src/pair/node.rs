//! A node of a pair with its stations.

use super::plan::{Mode, PairPlan};
use crate::machine::StationReport;
use crate::station::{Commit, Link, Pool, Servers, Sharing, Soonest, Watch};
use units::Nanos;

/// One node.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub processors: Processors,
    pub disks: Vec<Servers>,
    /// The link from here to the other.
    pub link: Link,
    /// Those who carry out what the other changed.
    pub jobs: Pool,
    pub log: Commit,
    pub log_watch: Watch,
}

impl Node {
    /// One of the nodes of a pair, with room for so many jobs of its own and of the other.
    pub fn new(plan: &PairPlan, number: usize, room: usize) -> Node {
        Node {
            processors: Processors::new(plan.cores[number], plan.background, 2 * room),
            disks: (0..libm::ceil(plan.disks) as u32).map(|_| Servers::new(1, room)).collect(),
            link: Link::new(plan.link_bytes_per_s, plan.km),
            jobs: Pool::new(if plan.workers > 0 { plan.workers } else { room as u32 }, room),
            log: Commit::new(room),
            log_watch: Watch::default(),
        }
    }

    /// Forgets what its stations did.
    pub fn clear(&mut self, now: Nanos) {
        self.processors.work.watch().clear(now);
        self.disks.iter_mut().for_each(|disk| disk.watch().clear(now));
        self.link.watch.clear(now);
        self.jobs.watch.clear(now);
        self.log_watch.clear(now);
    }

    /// What its stations did; a link, jobs for changes and a log only where the pair has them.
    pub fn reports(&mut self, number: usize, plan: &PairPlan, now: Nanos, all: &mut Vec<StationReport>) {
        let utilisation = self.processors.busy(now);
        let processors = StationReport::of(format!("node {number} processors"), self.processors.work.watch(), now);
        all.push(StationReport { utilisation, ..processors });
        for (at, disk) in self.disks.iter_mut().enumerate() {
            all.push(StationReport::of(format!("node {number} disk {at}"), disk.watch(), now));
        }
        for (has, name, watch) in [
            (plan.mode != Mode::Alone, "link", &self.link.watch),
            (plan.workers > 0, "jobs", &self.jobs.watch),
            (plan.log.is_some(), "log", &self.log_watch),
        ] {
            all.extend(has.then(|| StationReport::of(format!("node {number} {name}"), watch, now)));
        }
    }
}

// The processors of a node: own transactions, changes of the other, and rows that come late share them.

/// The processors of one node.
#[derive(Clone, Debug)]
pub(super) struct Processors {
    pub work: Soonest,
    /// Cores, and those of them that others keep busy.
    cores: f64,
    background: f64,
}

impl Processors {
    pub fn new(cores: f64, background: f64, room: usize) -> Processors {
        let free = (cores - background).max(0.02 * cores);
        let room = room.max(libm::ceil(cores) as usize);
        let sharing = Sharing::new(room, |ready| f64::from(ready).min(free).max(1e-9));
        Processors { work: Soonest::of(sharing), cores, background }
    }

    /// Share of all cores that was busy.
    pub fn busy(&mut self, now: Nanos) -> f64 {
        if self.cores <= 0.0 {
            return 0.0;
        }
        let free = (self.cores - self.background).max(0.02 * self.cores);
        (self.work.watch().utilisation(now) * free + self.cores - free) / self.cores
    }
}
