//! Means over the window of what the probes saw. What was not observed stays unknown; it never becomes zero.

use crate::{DiskSummary, MachineSummary};
use observation::{Observations, OfCore, OfDisk, Probe, Resource, Series, Stalled, Whole, Window};

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

/// The mean of a probe over the window.
pub fn mean_of(observations: &Observations, probe: impl Into<Probe>) -> Option<f64> {
    window_mean(observations.series_of(&probe.into())?, &observations.window)
}

/// The last value of a level, which was read when the trial ended.
pub fn level(observations: &Observations, probe: impl Into<Probe>) -> Option<f64> {
    observations.series_of(&probe.into())?.points.last().map(|point| point.1).filter(|value| value.is_finite())
}

/// Machine and disks over the window.
pub fn machine_summary(observations: &Observations) -> MachineSummary {
    let read = |probe: Whole| mean_of(observations, probe);
    MachineSummary {
        cpu_user_cores: read(Whole::CpuUser),
        cpu_system_cores: read(Whole::CpuSystem),
        cpu_iowait_cores: read(Whole::CpuIowait),
        cpu_steal_cores: read(Whole::CpuSteal),
        waited_for_cpu: mean_of(observations, Probe::Pressure(Resource::Cpu, Stalled::Some)),
        cores: cores(observations),
        busiest: busiest(observations),
        disks: disk_names(observations).into_iter().map(|name| disk_summary(observations, name)).collect(),
    }
}

/// The busiest station of a model.
fn busiest(observations: &Observations) -> Option<(String, f64)> {
    let stations = observations.series.iter().filter_map(|series| {
        let Probe::Station(name) = &series.probe else { return None };
        Some((name.clone(), series.points.last()?.1))
    });
    stations.max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Disks that any probe names, each once, in the order in which they come.
fn disk_names(observations: &Observations) -> Vec<&String> {
    let mut names: Vec<&String> = Vec::new();
    for series in &observations.series {
        match &series.probe {
            Probe::Disk(name, _) if !names.contains(&name) => names.push(name),
            _ => {}
        }
    }
    names
}

fn disk_summary(observations: &Observations, name: &str) -> DiskSummary {
    let read = |what: OfDisk| mean_of(observations, Probe::Disk(name.to_owned(), what));
    let sum = |a: OfDisk, b: OfDisk| read(a).unwrap_or(0.0) + read(b).unwrap_or(0.0);
    DiskSummary {
        name: name.to_owned(),
        utilisation: read(OfDisk::Utilisation).unwrap_or(f64::NAN),
        wait_ms: wait_by_operation(observations, name).or_else(|| read(OfDisk::Wait)).unwrap_or(f64::NAN),
        operations_per_s: sum(OfDisk::Reads, OfDisk::Writes),
        bytes_per_s: sum(OfDisk::BytesRead, OfDisk::BytesWritten),
    }
}

/// The mean wait of an operation: readings weighted by how many operations they stand for, because a reading of an idle
/// second must not count as much as one of a busy second. A second without operations has no reading of its wait.
fn wait_by_operation(observations: &Observations, name: &str) -> Option<f64> {
    let find = |what: OfDisk| observations.series_of(&Probe::Disk(name.to_owned(), what));
    let (wait, reads, writes) = (find(OfDisk::Wait)?, find(OfDisk::Reads)?, find(OfDisk::Writes)?);
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
    let busy = |series: &&Series| matches!(series.probe, Probe::Core(_, OfCore::Busy));
    let count = observations.series.iter().filter(busy).count() as u32;
    let told = || level(observations, Whole::ServerCores).map(|cores| cores as u32);
    (count > 0).then_some(count).or_else(told)
}
