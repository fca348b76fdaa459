//! Means over the window of what the probes saw. What was not observed stays unknown; it never becomes zero.

use crate::{DiskSummary, MachineSummary};
use observation::{Observations, Series, Window};

/// Probe names are dotted; the disk's own name may hold dots, its reading never does.
const DISK: &str = "disk.";

/// The mean of a series over the window, each reading weighted by how much of its span lies inside; nothing when no
/// reading covers any of the window.
pub fn window_mean(series: &Series, window: &Window) -> Option<f64> {
    let mut from = units::Nanos::ZERO;
    let (mut sum, mut weight) = (0.0, 0.0);
    for (at, value) in &series.points {
        let inside = window.overlap(from, *at).seconds();
        if value.is_finite() {
            sum += value * inside;
            weight += inside;
        }
        from = *at;
    }
    (weight > 0.0).then(|| sum / weight)
}

/// The mean of the series with this name over the window.
pub fn mean_of(observations: &Observations, probe: &str) -> Option<f64> {
    let series = observations.series.iter().find(|series| series.probe == probe)?;
    window_mean(series, &observations.window)
}

/// The last value of a level, which was read when the trial ended.
pub fn level(observations: &Observations, probe: &str) -> Option<f64> {
    let series = observations.series.iter().find(|series| series.probe == probe)?;
    series.points.last().map(|point| point.1).filter(|value| value.is_finite())
}

/// Machine and disks over the window.
pub fn machine_summary(observations: &Observations) -> MachineSummary {
    let read = |probe: &str| mean_of(observations, probe);
    MachineSummary {
        cpu_user_cores: read("machine.cpu.user"),
        cpu_system_cores: read("machine.cpu.system"),
        cpu_iowait_cores: read("machine.cpu.iowait"),
        cpu_steal_cores: read("machine.cpu.steal"),
        cores: cores(observations),
        disks: disk_names(observations).iter().map(|name| disk_summary(observations, name)).collect(),
    }
}

/// Disks that any probe names, each once, in the order in which they come.
fn disk_names(observations: &Observations) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for series in &observations.series {
        let name = series.probe.strip_prefix(DISK).and_then(|rest| rest.rsplit_once('.')).map(|(name, _)| name);
        if let Some(name) = name.filter(|name| !names.iter().any(|known| known == name)) {
            names.push(name.to_owned());
        }
    }
    names
}

fn disk_summary(observations: &Observations, name: &str) -> DiskSummary {
    let read = |what: &str| mean_of(observations, &format!("{DISK}{name}.{what}"));
    let sum = |a: &str, b: &str| read(a).unwrap_or(0.0) + read(b).unwrap_or(0.0);
    DiskSummary {
        name: name.to_owned(),
        utilisation: read("utilisation").unwrap_or(f64::NAN),
        wait_ms: wait_by_operation(observations, name).or_else(|| read("wait")).unwrap_or(f64::NAN),
        operations_per_s: sum("reads", "writes"),
        bytes_per_s: sum("bytes_read", "bytes_written"),
    }
}

/// The mean wait of an operation: readings weighted by how many operations they stand for, because a reading of an idle
/// second must not count as much as one of a busy second. A second without operations has no reading of its wait.
fn wait_by_operation(observations: &Observations, name: &str) -> Option<f64> {
    let find = |what: &str| {
        let probe = format!("{DISK}{name}.{what}");
        observations.series.iter().find(|series| series.probe == probe)
    };
    let (wait, reads, writes) = (find("wait")?, find("reads")?, find("writes")?);
    let mut from = units::Nanos::ZERO;
    let (mut sum, mut weight) = (0.0, 0.0);
    for (at, rate) in &reads.points {
        let both = rate + reading_at(writes, *at).unwrap_or(0.0);
        let operations = observations.window.overlap(from, *at).seconds() * both;
        if let Some(value) = reading_at(wait, *at).filter(|_| operations > 0.0) {
            sum += value * operations;
            weight += operations;
        }
        from = *at;
    }
    (weight > 0.0).then(|| sum / weight)
}

fn reading_at(series: &Series, at: units::Nanos) -> Option<f64> {
    let index = series.points.binary_search_by_key(&at, |point| point.0).ok()?;
    Some(series.points[index].1).filter(|value| value.is_finite())
}

/// How many cores the machine has: as many as were probed, or as the server says that it has.
pub fn cores(observations: &Observations) -> Option<u32> {
    let busy = |series: &&Series| series.probe.starts_with("machine.cpu.core.") && series.probe.ends_with(".busy");
    let count = observations.series.iter().filter(busy).count() as u32;
    let told = || level(observations, "server.cores").map(|cores| cores as u32);
    (count > 0).then_some(count).or_else(told)
}
