//! Readings and the series between them.
//!
//! The one idea: a reading holds counters as the kernel counts them; a point of a series is the difference of two
//! readings over the time between them, or, for a gauge, the value at the later one. A counter that only one of the two
//! has yields no point.

use observation::{OfCore, OfDisk, OfThreads, Probe, Resource, Series, Stalled, Whole};
use units::Nanos;

use crate::cgroup::Throttle;
use crate::generator::{Thread, Usage};
use crate::memory::Memory;
use crate::power::Power;
use crate::pressure::Stall;
use crate::{cpu, disk, tree};

/// Everything that was observed at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// On the caller's clock.
    pub at: Nanos,
    pub(crate) machine: Option<cpu::Machine>,
    pub(crate) usage: Usage,
    pub(crate) threads: Vec<Thread>,
    pub(crate) written_bytes: Option<u64>,
    pub(crate) resident_bytes: Option<u64>,
    pub(crate) disks: Vec<Disk>,
    pub(crate) pressure: Vec<(Resource, Stall)>,
    pub(crate) throttles: Vec<Throttle>,
    pub(crate) memory: Memory,
    pub(crate) power: Power,
    pub(crate) server: Option<tree::Used>,
    pub(crate) mirror: Option<tree::Used>,
    pub(crate) children: Option<tree::Used>,
}

/// One watched disk at one moment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Disk {
    pub name: String,
    /// Whether operations of the modules enter the storage here, so that its writes can be compared with ours; the
    /// disks further down see copies of them.
    pub entrance: bool,
    pub counters: disk::Counters,
}

/// The points between two readings: series of one point each, and none between readings at the same moment. With
/// these, whoever reads for hours needs to keep no reading but the last.
pub fn series_between(before: &Reading, now: &Reading) -> Vec<Series> {
    let Some(seconds) = elapsed(before.at, now.at) else { return Vec::new() };
    let mut points = Points { series: Vec::new(), at: now.at, seconds };
    between(before, now, &mut points);
    points.series
}

/// Adds later points to series, those of one probe together.
pub fn join(series: &mut Vec<Series>, later: Vec<Series>) {
    for more in later {
        match series.iter_mut().find(|known| known.probe == more.probe) {
            Some(known) => known.points.extend(more.points),
            None => series.push(more),
        }
    }
}

fn elapsed(before: Nanos, now: Nanos) -> Option<f64> {
    let ns = now.0.checked_sub(before.0)?;
    (ns > 0).then_some(ns as f64 / 1e9)
}

/// Collects points into series by name.
struct Points {
    series: Vec<Series>,
    at: Nanos,
    seconds: f64,
}

impl Points {
    fn put(&mut self, probe: impl Into<Probe>, value: f64) {
        let (probe, point) = (probe.into(), (self.at, value));
        match self.series.iter_mut().find(|series| series.probe == probe) {
            Some(series) => series.points.push(point),
            None => self.series.push(Series { probe, points: vec![point] }),
        }
    }

    /// Nanoseconds of some time, as how many of it went on at once.
    fn cores(&mut self, probe: impl Into<Probe>, ns: u64) {
        self.put(probe, ns as f64 / 1e9 / self.seconds);
    }

    fn rate(&mut self, probe: impl Into<Probe>, now: u64, before: u64) {
        self.put(probe, now.saturating_sub(before) as f64 / self.seconds);
    }

    /// The same of counters that the kernel may not have.
    fn known_rate(&mut self, probe: impl Into<Probe>, now: Option<u64>, before: Option<u64>) {
        if let (Some(now), Some(before)) = (now, before) {
            self.rate(probe, now, before);
        }
    }

    /// A share of the elapsed time; counters of the kernel tick apart from our clock, so it may come out a little
    /// above one and is cut there.
    fn share_of_time(&mut self, probe: impl Into<Probe>, seconds: f64) {
        self.put(probe, (seconds / self.seconds).min(1.0));
    }

    fn gauge(&mut self, probe: Whole, value: Option<u64>) {
        if let Some(value) = value {
            self.put(probe, value as f64);
        }
    }
}

fn between(before: &Reading, now: &Reading, points: &mut Points) {
    if let (Some(a), Some(b)) = (&before.machine, &now.machine) {
        machine(a, b, points);
    }
    generator(before, now, points);
    for disk in &now.disks {
        if let Some(old) = before.disks.iter().find(|old| old.name == disk.name) {
            self::disk(&disk.name, &old.counters, &disk.counters, points);
        }
    }
    other_writers(before, now, points);
    pressure(before, now, points);
    throttle(before, now, points);
    if let (Some(a), Some(b)) = (&before.server, &now.server) {
        server(a, b, points);
    }
    let busy = |used: &tree::Used| used.user_ns + used.system_ns;
    for (probe, a, b) in
        [(Whole::MirrorCpu, &before.mirror, &now.mirror), (Whole::ChildrenCpu, &before.children, &now.children)]
    {
        if let (Some(a), Some(b)) = (a, b) {
            points.cores(probe, busy(b).saturating_sub(busy(a)));
        }
    }
    gauges(now, points);
    points.known_rate(Whole::ThermalThrottles, now.power.thermal_throttles, before.power.thermal_throttles);
}

fn machine(before: &cpu::Machine, now: &cpu::Machine, points: &mut Points) {
    let spent = now.total.since(&before.total);
    points.cores(Whole::CpuUser, spent.user);
    points.cores(Whole::CpuSystem, spent.system);
    points.cores(Whole::CpuIowait, spent.iowait);
    points.cores(Whole::CpuSteal, spent.steal);
    points.cores(Whole::CpuInterrupts, spent.interrupts);
    for (number, times) in &now.cores {
        if let Some((_, old)) = before.cores.iter().find(|(n, _)| n == number) {
            core(*number, &times.since(old), points);
        }
    }
    points.known_rate(Whole::ContextSwitches, now.context_switches, before.context_switches);
}

/// The processes of a server on this machine, apart from the generator.
fn server(before: &tree::Used, now: &tree::Used, points: &mut Points) {
    points.cores(Whole::ServerCpuUser, now.user_ns.saturating_sub(before.user_ns));
    points.cores(Whole::ServerCpuSystem, now.system_ns.saturating_sub(before.system_ns));
    points.rate(Whole::ServerBytesRead, now.read_bytes, before.read_bytes);
    points.rate(Whole::ServerBytesWritten, now.written_bytes, before.written_bytes);
    points.put(Whole::ServerProcesses, now.processes as f64);
}

/// Shares of a core are taken of the ticks that the core itself counted, which always add up to one.
fn core(number: u32, spent: &cpu::Times, points: &mut Points) {
    let all = spent.busy() + spent.idle + spent.iowait + spent.steal;
    if all > 0 {
        let share = |part: u64| part as f64 / all as f64;
        points.put(Probe::Core(number, OfCore::Busy), share(spent.busy()));
        points.put(Probe::Core(number, OfCore::Steal), share(spent.steal));
    }
}

fn generator(before: &Reading, now: &Reading, points: &mut Points) {
    let (a, b) = (&before.usage, &now.usage);
    points.cores(Whole::GeneratorCpuUser, b.user_ns.saturating_sub(a.user_ns));
    points.cores(Whole::GeneratorCpuSystem, b.system_ns.saturating_sub(a.system_ns));
    points.rate(Whole::SwitchesVoluntary, b.switches_voluntary, a.switches_voluntary);
    points.rate(Whole::SwitchesInvoluntary, b.switches_involuntary, a.switches_involuntary);
    let mut names: Vec<&str> = now.threads.iter().map(|thread| thread.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        threads(name, before, now, points);
    }
}

/// Threads of one name count together; one that began between the readings counts from its start.
fn threads(name: &str, before: &Reading, now: &Reading, points: &mut Points) {
    let (mut run, mut waiting) = (0, 0);
    for thread in now.threads.iter().filter(|thread| thread.name == name) {
        let old = before.threads.iter().find(|old| old.id == thread.id);
        run += thread.run_ns.saturating_sub(old.map_or(0, |old| old.run_ns));
        waiting += thread.waiting_ns.saturating_sub(old.map_or(0, |old| old.waiting_ns));
    }
    points.cores(Probe::Threads(name.to_owned(), OfThreads::Cpu), run);
    points.cores(Probe::Threads(name.to_owned(), OfThreads::Waiting), waiting);
}

fn disk(name: &str, before: &disk::Counters, now: &disk::Counters, points: &mut Points) {
    let probe = |what: OfDisk| Probe::Disk(name.to_owned(), what);
    points.rate(probe(OfDisk::Reads), now.reads, before.reads);
    points.rate(probe(OfDisk::Writes), now.writes, before.writes);
    points.rate(probe(OfDisk::BytesRead), now.read_bytes, before.read_bytes);
    points.rate(probe(OfDisk::BytesWritten), now.written_bytes, before.written_bytes);
    let reads = now.reads.saturating_sub(before.reads);
    let writes = now.writes.saturating_sub(before.writes);
    let read_ms = now.read_ms.saturating_sub(before.read_ms);
    let write_ms = now.write_ms.saturating_sub(before.write_ms);
    let waits = [
        (OfDisk::Wait, reads + writes, read_ms + write_ms),
        (OfDisk::ReadWait, reads, read_ms),
        (OfDisk::WriteWait, writes, write_ms),
    ];
    for (what, operations, ms) in waits {
        // Without an operation there is no wait to speak of; zero would say that they were fast.
        if operations > 0 {
            points.put(probe(what), ms as f64 / operations as f64);
        }
    }
    points.share_of_time(probe(OfDisk::Utilisation), now.busy_ms.saturating_sub(before.busy_ms) as f64 / 1e3);
    points.put(probe(OfDisk::InFlight), now.in_flight as f64);
    points.known_rate(probe(OfDisk::BytesDiscarded), now.discarded_bytes, before.discarded_bytes);
    points.known_rate(probe(OfDisk::Flushes), now.flushes, before.flushes);
}

/// Bytes written to the target beyond what this process asked for: other programs, and the filesystem's own
/// metadata and journal. Buffered data is written later than it is asked for, so single points mean little there.
fn other_writers(before: &Reading, now: &Reading, points: &mut Points) {
    if now.server.is_some() {
        // What a server writes is neither ours nor somebody else's.
        return;
    }
    let entrances = |reading: &Reading| -> Option<u64> {
        let mut disks = reading.disks.iter().filter(|disk| disk.entrance).peekable();
        disks.peek()?;
        Some(disks.map(|disk| disk.counters.written_bytes).sum())
    };
    let (Some(a), Some(b)) = (entrances(before), entrances(now)) else { return };
    let (Some(own_a), Some(own_b)) = (before.written_bytes, now.written_bytes) else { return };
    let written = b.saturating_sub(a);
    points.rate(Whole::WrittenByOthers, written.saturating_sub(own_b.saturating_sub(own_a)), 0);
}

fn pressure(before: &Reading, now: &Reading, points: &mut Points) {
    for (resource, stall) in &now.pressure {
        let Some((_, old)) = before.pressure.iter().find(|(name, _)| name == resource) else { continue };
        let some_us = stall.some_us.saturating_sub(old.some_us);
        points.share_of_time(Probe::Pressure(*resource, Stalled::Some), some_us as f64 / 1e6);
        if let (Some(a), Some(b)) = (old.full_us, stall.full_us) {
            points.share_of_time(Probe::Pressure(*resource, Stalled::Full), b.saturating_sub(a) as f64 / 1e6);
        }
    }
}

/// The most throttled of the groups that this process is in: as the share of quota periods that ended with it
/// stopped, and as cores that stood still.
fn throttle(before: &Reading, now: &Reading, points: &mut Points) {
    let groups = || before.throttles.iter().zip(&now.throttles);
    if before.throttles.len() != now.throttles.len() || now.throttles.is_empty() {
        return;
    }
    let share = |(a, b): (&Throttle, &Throttle)| {
        let periods = b.periods.saturating_sub(a.periods);
        let stopped = b.throttled_periods.saturating_sub(a.throttled_periods);
        if periods == 0 { 0.0 } else { stopped as f64 / periods as f64 }
    };
    points.put(Whole::CgroupThrottled, groups().map(share).fold(0.0, f64::max));
    let stopped_ns = groups().map(|(a, b)| b.throttled_ns.saturating_sub(a.throttled_ns)).max().unwrap_or(0);
    points.cores(Whole::CgroupStopped, stopped_ns);
}

fn gauges(now: &Reading, points: &mut Points) {
    points.gauge(Whole::MemoryAvailable, now.memory.available);
    points.gauge(Whole::MemoryCached, now.memory.cached);
    points.gauge(Whole::MemoryDirty, now.memory.dirty);
    points.gauge(Whole::MemoryWriteback, now.memory.writeback);
    points.gauge(Whole::MemoryResident, now.resident_bytes);
    points.gauge(Whole::Mains, now.power.mains.map(u64::from));
    points.gauge(Whole::CpuFrequency, now.power.frequency_hz.map(|hz| hz.round() as u64));
}

#[cfg(test)]
mod tests;
