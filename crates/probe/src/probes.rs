//! The probes of a run: which files are watched, and one reading of them all.

use std::fs;
use std::path::{Path, PathBuf};

use observation::Resource;
use system::{mounts, stack};
use units::Nanos;

use crate::generator::{self, Threads};
use crate::idle::Keepers;
use crate::power::PowerSources;
use crate::reading::{Disk, Reading};
use crate::source::{Source, parsed};
use crate::tree::{self, Strangers, Trees};
use crate::{cgroup, cpu, disk, memory, pressure};

/// Everything that is watched, with its files open. A missing file is a probe that observes nothing.
#[derive(Debug)]
pub struct Probes {
    machine: Option<Source>,
    ticks_per_s: u64,
    threads: Threads,
    written: Option<Source>,
    resident: Option<Source>,
    page_bytes: u64,
    disks: Vec<WatchedDisk>,
    pressure: Vec<(Resource, Source)>,
    throttles: Vec<Source>,
    memory: Option<Source>,
    power: PowerSources,
    server: Trees,
    mirror: Trees,
    /// Children of this process.
    children: Trees,
    strangers: Strangers,
    /// What keeps cores awake, which is no work.
    keepers: Keepers,
}

#[derive(Debug)]
struct WatchedDisk {
    name: String,
    entrance: bool,
    stat: Source,
}

impl Probes {
    /// Opens the probes for modules at these paths: files, folders or devices. Each block device behind them is
    /// watched down to the disks; paths without a block device (none, tmpfs, a network filesystem) have no disk series.
    pub fn new<P: AsRef<Path>>(modules: &[P]) -> Self {
        let ticks_per_s = rustix::param::clock_ticks_per_second();
        // What serves a trial (an emulated device, a voter) is there before it begins.
        let keepers = Keepers::new(ticks_per_s);
        let idle = keepers.processes();
        let ours = |process: &tree::Process| process.parent == std::process::id() && !idle.contains(&process.id);
        let own = tree::processes().into_iter().filter(ours);
        Self {
            machine: Source::open("/proc/stat"),
            ticks_per_s,
            threads: Threads::default(),
            written: Source::open("/proc/self/io"),
            resident: Source::open("/proc/self/statm"),
            page_bytes: rustix::param::page_size() as u64,
            disks: watched_disks(modules),
            pressure: Resource::ALL
                .iter()
                .filter_map(|what| Some((*what, Source::open(format!("/proc/pressure/{}", what.word()))?)))
                .collect(),
            throttles: throttle_sources(),
            memory: Source::open("/proc/meminfo"),
            power: PowerSources::open(Path::new("/sys")),
            server: Trees::new(Vec::new(), ticks_per_s),
            mirror: Trees::new(Vec::new(), ticks_per_s),
            children: Trees::new(own.map(|process| process.id).collect(), ticks_per_s),
            strangers: Strangers::default(),
            keepers,
        }
    }

    /// Watches from now on the processes of a server, and of the one that follows it: these and all below them.
    pub fn watch(&mut self, server: Vec<u32>, mirror: Vec<u32>) {
        self.server.watch(server);
        self.mirror.watch(mirror);
        self.strangers.forget();
    }

    /// What the processes of the server, of its mirror, and all others below this one have used.
    fn trees(&mut self) -> [Option<tree::Used>; 3] {
        if [&self.server, &self.mirror, &self.children].iter().all(|trees| trees.is_idle()) {
            return [None; 3];
        }
        let mut all = self.strangers.others();
        let (server, mirror) = (self.server.read(&all), self.mirror.read(&all));
        // This process starts servers, too.
        all.retain(|process| !self.server.holds(process.id) && !self.mirror.holds(process.id));
        let children = self.children.read(&all);
        self.strangers.add(all.iter().map(|process| process.id).filter(|id| !self.children.holds(*id)));
        [server, mirror, children]
    }

    /// Reads everything. `now` is the moment on the caller's clock, taken just before.
    pub fn read(&mut self, now: Nanos) -> Reading {
        let (ticks_per_s, page_bytes) = (self.ticks_per_s, self.page_bytes);
        // The generator comes first: what the reading itself costs shall not be charged to this reading.
        let usage = generator::usage();
        let [server, mirror, children] = self.trees();
        // What waits for a core there would be told as waiting, and nothing waits for it.
        let kept_awake = self.keepers.look();
        let keepers = &self.keepers;
        Reading {
            at: now,
            usage,
            threads: self.threads.read(),
            machine: parsed(&mut self.machine, |text| Some(keepers.apart(cpu::parse(text, ticks_per_s)?))),
            written_bytes: parsed(&mut self.written, generator::parse_written),
            resident_bytes: parsed(&mut self.resident, |text| memory::resident(text, page_bytes)),
            disks: self.disks.iter_mut().filter_map(WatchedDisk::read).collect(),
            pressure: self
                .pressure
                .iter_mut()
                .filter(|(what, _)| !(kept_awake && *what == Resource::Cpu))
                .filter_map(|(what, source)| Some((*what, pressure::parse(source.read()?)?.meaningful(*what))))
                .collect(),
            throttles: self.throttles.iter_mut().filter_map(|source| cgroup::parse(source.read()?)).collect(),
            memory: parsed(&mut self.memory, |text| Some(memory::parse(text))).unwrap_or_default(),
            power: self.power.read(),
            server,
            mirror,
            children,
        }
    }
}

impl WatchedDisk {
    fn read(&mut self) -> Option<Disk> {
        let counters = disk::parse(self.stat.read()?)?;
        Some(Disk { name: self.name.clone(), entrance: self.entrance, counters })
    }
}

fn watched_disks<P: AsRef<Path>>(modules: &[P]) -> Vec<WatchedDisk> {
    let stacks: Vec<Vec<stack::Layer>> = modules.iter().map(|path| stack::below(path.as_ref())).collect();
    // Other writers are looked for on the whole disk, where the modules are on one of its partitions.
    let entrances: Vec<PathBuf> = stacks.iter().filter_map(|layers| Some(layers.first()?.disk.clone())).collect();
    let mut layers: Vec<stack::Layer> = stacks.into_iter().flatten().collect();
    layers.sort_by_key(|layer| (layer.depth, layer.number));
    let mut watched: Vec<WatchedDisk> = Vec::new();
    for layer in layers {
        let known = watched.iter().any(|disk| disk.name == layer.name);
        if let Some(stat) = Source::open(layer.sysfs.join("stat")).filter(|_| !known) {
            watched.push(WatchedDisk { name: layer.name, entrance: entrances.contains(&layer.sysfs), stat });
        }
    }
    watched
}

fn throttle_sources() -> Vec<Source> {
    let membership = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let folders: Vec<PathBuf> = cgroup::folders(&membership, &mounts::read(), "cpu");
    let mut open: Vec<Source> = folders.iter().filter_map(|folder| Source::open(folder.join("cpu.stat"))).collect();
    open.retain_mut(|source| source.read().and_then(cgroup::parse).is_some());
    open
}
