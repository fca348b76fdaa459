//! Series from recorded texts: two moments of a machine with two cores, half a second apart.

use super::*;
use crate::{cgroup, generator, memory, pressure};

const HALF_A_SECOND: Nanos = Nanos(500_000_000);

fn reading(at: Nanos, stat: &str, disk_stat: &str, io_pressure: &str, cpu_stat: &str) -> Reading {
    Reading {
        at,
        machine: cpu::parse(stat, 100),
        disks: vec![Disk { name: "sda".into(), entrance: true, counters: disk::parse(disk_stat).unwrap() }],
        pressure: vec![(Resource::Io, pressure::parse(io_pressure).unwrap())],
        throttles: cgroup::parse(cpu_stat).into_iter().collect(),
        written_bytes: generator::parse_written("write_bytes: 0\ncancelled_write_bytes: 0\n"),
        memory: memory::parse("MemAvailable: 1000 kB\nDirty: 3 kB\n"),
        ..Reading::default()
    }
}

fn before() -> Reading {
    reading(
        Nanos(1_000_000_000),
        "cpu  100 0 50 800 20 0 0 5\ncpu0 60 0 20 400 10 0 0 0\ncpu1 40 0 30 400 10 0 0 5\nctxt 1000\n",
        "1000 0 8000 500 2000 0 16000 700 3 900 1200",
        "some avg10=0 avg60=0 avg300=0 total=100000\nfull avg10=0 avg60=0 avg300=0 total=50000\n",
        "nr_periods 10\nnr_throttled 1\nthrottled_usec 1000\n",
    )
}

fn after() -> Reading {
    let at = Nanos(1_000_000_000 + HALF_A_SECOND.0);
    let mut now = reading(
        at,
        "cpu  140 0 70 825 30 2 3 10\ncpu0 95 0 30 400 10 0 0 5\ncpu1 45 0 40 425 20 2 3 5\nctxt 1600\n",
        "1100 0 8800 650 2300 0 18400 1600 7 1400 2000",
        "some avg10=0 avg60=0 avg300=0 total=350000\nfull avg10=0 avg60=0 avg300=0 total=100000\n",
        "nr_periods 15\nnr_throttled 4\nthrottled_usec 251000\n",
    );
    now.written_bytes = Some(1_000_000);
    now
}

fn value(all: &[Series], probe: &str) -> Option<f64> {
    let series = all.iter().find(|series| series.probe.to_string() == probe)?;
    assert_eq!(series.points.len(), 1, "{probe}");
    Some(series.points[0].1)
}

#[track_caller]
fn check(all: &[Series], probe: &str, expected: f64) {
    let seen = value(all, probe).unwrap_or_else(|| panic!("no series {probe}"));
    assert!((seen - expected).abs() < 1e-9, "{probe}: {seen} is not {expected}");
}

#[test]
fn machine_time_is_in_cores_and_a_core_is_busy_by_its_own_ticks() {
    let all = series_between(&before(), &after());
    check(&all, "machine.cpu.user", 0.8);
    check(&all, "machine.cpu.system", 0.4);
    check(&all, "machine.cpu.iowait", 0.2);
    check(&all, "machine.cpu.interrupts", 0.1);
    check(&all, "machine.cpu.steal", 0.1);
    check(&all, "machine.cpu.core.0.busy", 0.9);
    check(&all, "machine.cpu.core.0.steal", 0.1);
    check(&all, "machine.cpu.core.1.busy", 20.0 / 55.0);
    check(&all, "machine.context_switches", 1200.0);
}

#[test]
fn disk_rates_waits_and_utilisation_are_those_between_the_readings() {
    let all = series_between(&before(), &after());
    check(&all, "disk.sda.reads", 200.0);
    check(&all, "disk.sda.writes", 600.0);
    check(&all, "disk.sda.bytes_read", 819_200.0);
    check(&all, "disk.sda.bytes_written", 2_457_600.0);
    check(&all, "disk.sda.read_wait", 1.5);
    check(&all, "disk.sda.write_wait", 3.0);
    check(&all, "disk.sda.wait", 1050.0 / 400.0);
    check(&all, "disk.sda.utilisation", 1.0);
    check(&all, "disk.sda.in_flight", 7.0);
    // 2400 sectors were written, of which a million bytes were ours.
    check(&all, "disks.others.bytes_written", (2400.0 * 512.0 - 1e6) * 2.0);
}

#[test]
fn pressure_and_throttling_are_shares() {
    let all = series_between(&before(), &after());
    check(&all, "pressure.io.some", 0.5);
    check(&all, "pressure.io.full", 0.1);
    check(&all, "cgroup.throttled", 0.6);
    check(&all, "cgroup.stopped", 0.5);
    check(&all, "memory.available", 1_024_000.0);
    check(&all, "memory.dirty", 3072.0);
}

#[test]
fn what_was_not_observed_has_no_series_and_an_idle_disk_has_no_wait() {
    let mut idle = before();
    idle.at = after().at;
    let all = series_between(&before(), &idle);
    check(&all, "disk.sda.reads", 0.0);
    for absent in ["disk.sda.wait", "disk.sda.flushes", "memory.cached", "machine.power.mains", "pressure.cpu.some"] {
        assert_eq!(value(&all, absent), None, "{absent}");
    }
}

#[test]
fn threads_of_one_name_add_up_and_a_new_one_counts_from_its_start() {
    let thread = |id, run_ns| Thread { id, name: "worker".into(), run_ns, waiting_ns: 0 };
    let first = Reading { threads: vec![thread(1, 100_000_000)], ..Reading::default() };
    let then =
        Reading { at: HALF_A_SECOND, threads: vec![thread(1, 300_000_000), thread(2, 50_000_000)], ..first.clone() };
    check(&series_between(&first, &then), "generator.thread.worker.cpu", 0.5);
}

#[test]
fn readings_at_one_moment_or_out_of_order_yield_no_points() {
    assert_eq!(series_between(&after(), &after()), []);
    assert_eq!(series_between(&after(), &before()), []);
}

#[test]
fn every_name_has_its_unit() {
    let all = series_between(&before(), &after());
    let unit = |probe: &str| all.iter().find(|s| s.probe.to_string() == probe).map(|s| s.probe.unit());
    let expected = [
        ("machine.cpu.user", "cores"),
        ("machine.cpu.core.0.busy", "share"),
        ("disk.sda.reads", "1/s"),
        ("disk.sda.bytes_read", "B/s"),
        ("disk.sda.wait", "ms"),
        ("disk.sda.utilisation", "share"),
        ("memory.dirty", "B"),
        ("generator.cpu.user", "cores"),
    ];
    for (probe, expected) in expected {
        assert_eq!(unit(probe), Some(expected), "{probe}");
    }
}

#[test]
fn the_probes_of_this_machine_see_its_processor_and_this_process() {
    let mut probes = crate::Probes::new(&[std::env::temp_dir()]);
    let first = probes.read(Nanos(0));
    let then = probes.read(HALF_A_SECOND);
    let all = series_between(&first, &then);
    for present in ["machine.cpu.user", "machine.cpu.core.0.busy", "generator.cpu.user", "memory.rss"] {
        // A core that counted no tick between the two readings has no share yet.
        assert!(value(&all, present).is_some() || present.contains("core"), "{present}");
    }
    assert!(value(&all, "memory.rss").unwrap() > 0.0);
}
