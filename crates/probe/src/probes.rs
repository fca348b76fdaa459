//! The probes of a run: which files are watched, and one reading of them all.

use std::fs;
use std::path::{Path, PathBuf};

use observation::Resource;
use system::{mounts, stack};
use units::Nanos;

use crate::generator::{self, Threads};
use crate::power::PowerSources;
use crate::reading::{Disk, Reading};
use crate::source::{Source, parsed};
use crate::tree::Trees;
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
        Self {
            machine: Source::open("/proc/stat"),
            ticks_per_s: rustix::param::clock_ticks_per_second(),
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
            server: Trees::default(),
            mirror: Trees::default(),
        }
    }

    /// Watches the processes of a server too: these and all below them.
    #[must_use]
    pub fn with_server(mut self, roots: Vec<u32>) -> Self {
        self.server = Trees::new(roots, self.ticks_per_s);
        self
    }

    /// Watches the CPU of the server that follows it too.
    #[must_use]
    pub fn with_mirror(mut self, roots: Vec<u32>) -> Self {
        self.mirror = Trees::new(roots, self.ticks_per_s);
        self
    }

    /// Reads everything. `now` is the moment on the caller's clock, taken just before.
    pub fn read(&mut self, now: Nanos) -> Reading {
        let (ticks_per_s, page_bytes) = (self.ticks_per_s, self.page_bytes);
        Reading {
            at: now,
            // The generator comes first: what the reading itself costs shall not be charged to this reading.
            usage: generator::usage(),
            threads: self.threads.read(),
            machine: parsed(&mut self.machine, |text| cpu::parse(text, ticks_per_s)),
            written_bytes: parsed(&mut self.written, generator::parse_written),
            resident_bytes: parsed(&mut self.resident, |text| memory::resident(text, page_bytes)),
            disks: self.disks.iter_mut().filter_map(WatchedDisk::read).collect(),
            pressure: self
                .pressure
                .iter_mut()
                .filter_map(|(what, source)| Some((*what, pressure::parse(source.read()?)?.meaningful(*what))))
                .collect(),
            throttles: self.throttles.iter_mut().filter_map(|source| cgroup::parse(source.read()?)).collect(),
            memory: parsed(&mut self.memory, |text| Some(memory::parse(text))).unwrap_or_default(),
            power: self.power.read(),
            server: self.server.read(),
            mirror: self.mirror.read(),
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
