//! Readings and the series between them.
//!
//! The one idea: a reading holds counters as the kernel counts them; a point of a series is the difference of two
//! readings over the time between them, or, for a gauge, the value at the later one. A counter that only one of the two
//! has yields no point.

use observation::Series;
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
    pub(crate) pressure: Vec<(&'static str, Stall)>,
    pub(crate) throttles: Vec<Throttle>,
    pub(crate) memory: Memory,
    pub(crate) power: Power,
    pub(crate) server: Option<tree::Used>,
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

/// The series between each reading and the one before it, in the order in which they first appear. A single reading
/// has no series. Readings at the same moment yield no points.
pub fn series(readings: &[Reading]) -> Vec<Series> {
    let mut all = Vec::new();
    for pair in readings.windows(2) {
        let [before, now] = pair else { continue };
        join(&mut all, series_between(before, now));
    }
    all
}

/// The points between two readings: series of one point each. With these, whoever reads for hours needs to keep no reading
/// but the last.
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
    fn put(&mut self, probe: impl Into<String>, unit: &str, value: f64) {
        let (probe, point) = (probe.into(), (self.at, value));
        match self.series.iter_mut().find(|series| series.probe == probe) {
            Some(series) => series.points.push(point),
            None => self.series.push(Series { probe, unit: unit.to_owned(), points: vec![point] }),
        }
    }

    /// Nanoseconds of some time, as how many of it went on at once.
    fn cores(&mut self, probe: impl Into<String>, ns: u64) {
        self.put(probe, "cores", ns as f64 / 1e9 / self.seconds);
    }

    fn rate(&mut self, probe: impl Into<String>, unit: &str, now: u64, before: u64) {
        self.put(probe, unit, now.saturating_sub(before) as f64 / self.seconds);
    }

    /// A share of the elapsed time; counters of the kernel tick apart from our clock, so it may come out a little
    /// above one and is cut there.
    fn share_of_time(&mut self, probe: impl Into<String>, seconds: f64) {
        self.put(probe, "share", (seconds / self.seconds).min(1.0));
    }

    fn gauge(&mut self, probe: &str, unit: &str, value: Option<u64>) {
        if let Some(value) = value {
            self.put(probe, unit, value as f64);
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
    gauges(now, points);
    if let (Some(a), Some(b)) = (before.power.thermal_throttles, now.power.thermal_throttles) {
        points.rate("machine.cpu.thermal_throttles", "1/s", b, a);
    }
}

fn machine(before: &cpu::Machine, now: &cpu::Machine, points: &mut Points) {
    let spent = now.total.since(&before.total);
    points.cores("machine.cpu.user", spent.user);
    points.cores("machine.cpu.system", spent.system);
    points.cores("machine.cpu.iowait", spent.iowait);
    points.cores("machine.cpu.steal", spent.steal);
    points.cores("machine.cpu.interrupts", spent.interrupts);
    for (number, times) in &now.cores {
        if let Some((_, old)) = before.cores.iter().find(|(n, _)| n == number) {
            core(*number, &times.since(old), points);
        }
    }
    if let (Some(a), Some(b)) = (before.context_switches, now.context_switches) {
        points.rate("machine.context_switches", "1/s", b, a);
    }
}

/// The processes of a server on this machine, apart from the generator.
fn server(before: &tree::Used, now: &tree::Used, points: &mut Points) {
    points.cores("server.cpu.user", now.user_ns.saturating_sub(before.user_ns));
    points.cores("server.cpu.system", now.system_ns.saturating_sub(before.system_ns));
    points.rate("server.bytes_read", "B/s", now.read_bytes, before.read_bytes);
    points.rate("server.bytes_written", "B/s", now.written_bytes, before.written_bytes);
    points.put("server.processes", "processes", now.processes as f64);
}

/// Shares of a core are taken of the ticks that the core itself counted, which always add up to one.
fn core(number: u32, spent: &cpu::Times, points: &mut Points) {
    let all = spent.busy() + spent.idle + spent.iowait + spent.steal;
    if all > 0 {
        let share = |part: u64| part as f64 / all as f64;
        points.put(format!("machine.cpu.core.{number}.busy"), "share", share(spent.busy()));
        points.put(format!("machine.cpu.core.{number}.steal"), "share", share(spent.steal));
    }
}

fn generator(before: &Reading, now: &Reading, points: &mut Points) {
    let (a, b) = (&before.usage, &now.usage);
    points.cores("generator.cpu.user", b.user_ns.saturating_sub(a.user_ns));
    points.cores("generator.cpu.system", b.system_ns.saturating_sub(a.system_ns));
    points.rate("generator.switches.voluntary", "1/s", b.switches_voluntary, a.switches_voluntary);
    points.rate("generator.switches.involuntary", "1/s", b.switches_involuntary, a.switches_involuntary);
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
    points.cores(format!("generator.thread.{name}.cpu"), run);
    points.cores(format!("generator.thread.{name}.waiting"), waiting);
}

fn disk(name: &str, before: &disk::Counters, now: &disk::Counters, points: &mut Points) {
    let probe = |what: &str| format!("disk.{name}.{what}");
    points.rate(probe("reads"), "1/s", now.reads, before.reads);
    points.rate(probe("writes"), "1/s", now.writes, before.writes);
    points.rate(probe("bytes_read"), "B/s", now.read_bytes, before.read_bytes);
    points.rate(probe("bytes_written"), "B/s", now.written_bytes, before.written_bytes);
    let reads = now.reads.saturating_sub(before.reads);
    let writes = now.writes.saturating_sub(before.writes);
    let read_ms = now.read_ms.saturating_sub(before.read_ms);
    let write_ms = now.write_ms.saturating_sub(before.write_ms);
    let waits =
        [("wait", reads + writes, read_ms + write_ms), ("read_wait", reads, read_ms), ("write_wait", writes, write_ms)];
    for (what, operations, ms) in waits {
        // Without an operation there is no wait to speak of; zero would say that they were fast.
        if operations > 0 {
            points.put(probe(what), "ms", ms as f64 / operations as f64);
        }
    }
    points.share_of_time(probe("utilisation"), now.busy_ms.saturating_sub(before.busy_ms) as f64 / 1e3);
    points.put(probe("in_flight"), "operations", now.in_flight as f64);
    if let (Some(a), Some(b)) = (before.discarded_bytes, now.discarded_bytes) {
        points.rate(probe("bytes_discarded"), "B/s", b, a);
    }
    if let (Some(a), Some(b)) = (before.flushes, now.flushes) {
        points.rate(probe("flushes"), "1/s", b, a);
    }
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
    points.rate("disks.others.bytes_written", "B/s", written.saturating_sub(own_b.saturating_sub(own_a)), 0);
}

fn pressure(before: &Reading, now: &Reading, points: &mut Points) {
    for (resource, stall) in &now.pressure {
        let Some((_, old)) = before.pressure.iter().find(|(name, _)| name == resource) else { continue };
        let some_us = stall.some_us.saturating_sub(old.some_us);
        points.share_of_time(format!("pressure.{resource}.some"), some_us as f64 / 1e6);
        if let (Some(a), Some(b)) = (old.full_us, stall.full_us) {
            points.share_of_time(format!("pressure.{resource}.full"), b.saturating_sub(a) as f64 / 1e6);
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
    points.put("cgroup.throttled", "share", groups().map(share).fold(0.0, f64::max));
    let stopped_ns = groups().map(|(a, b)| b.throttled_ns.saturating_sub(a.throttled_ns)).max().unwrap_or(0);
    points.cores("cgroup.stopped", stopped_ns);
}

fn gauges(now: &Reading, points: &mut Points) {
    points.gauge("memory.available", "B", now.memory.available);
    points.gauge("memory.cached", "B", now.memory.cached);
    points.gauge("memory.dirty", "B", now.memory.dirty);
    points.gauge("memory.writeback", "B", now.memory.writeback);
    points.gauge("memory.rss", "B", now.resident_bytes);
    points.gauge("machine.power.mains", "share", now.power.mains.map(u64::from));
    points.gauge("machine.cpu.frequency", "Hz", now.power.frequency_hz.map(|hz| hz.round() as u64));
}

#[cfg(test)]
mod tests;
