//! What the path of an array must do, with round numbers of no real machine.

use super::raid::Stripe;
use super::*;
use crate::form::service_time::{Affine, Stepped};
use crate::machine::{Ended, Machine};
use random::Draws;
use units::Nanos;
use workload::{Operation, OperationKind};

/// Round numbers, none of them of a real machine.
fn path() -> Path {
    Path {
        sectors: Sectors::default(),
        stripe: Stripe::new(1),
        modules: 8,
        modules_per_port: 4,
        failed_ports: 0,
        port_turn_ns: 10_000.0,
        port_byte_ns: 1.0,
        module_turn_ns: [50_000.0, 100_000.0],
        module_byte_ns: [4.0, 8.0],
        turnaround_ns: 60_000.0,
        sustained_writes: (5_000.0, 1e9),
        reading: Affine { fixed_s: 300.0, per_byte_s: 4.0 },
        writing: Stepped { first: Affine { fixed_s: 200.0, per_byte_s: 10.0 }, unit_bytes: 32.0, unit_s: 500.0 },
    }
}

/// Operations a second of a closed load of so many outstanding on each of so many modules, by a share of reads.
fn rate(path: Path, modules: u32, outstanding: u32, read: f64, bytes: u32, seconds: u64) -> (f64, Array) {
    let slots = modules * outstanding;
    let (mut array, mut random) = (Array::new(path, modules, slots), Draws::numbered(1, 1));
    let mut draw = |slot: u32| Operation {
        kind: if random.chance(read) { OperationKind::Read } else { OperationKind::Write },
        class: 0,
        module: (slot % modules) as u16,
        offset: 0,
        bytes,
    };
    (0..slots).for_each(|slot| array.submit(Nanos(0), slot, &draw(slot)));
    let (mut ended, mut done, end) = (Vec::<Ended>::new(), 0u64, Nanos(seconds * 1_000_000_000));
    loop {
        let now = array.advance(end, &mut ended);
        if now >= end {
            break;
        }
        for Ended { slot, at, .. } in ended.drain(..) {
            done += 1;
            array.submit(at, slot, &draw(slot));
        }
    }
    (done as f64 / seconds as f64, array)
}

fn close(found: f64, wanted: f64) {
    assert!((found / wanted - 1.0).abs() < 0.01, "{found} against {wanted}");
}

#[test]
fn one_operation_at_a_time_takes_its_single_time() {
    close(rate(path(), 1, 1, 1.0, 4_096, 2).0, 1e6 / (300.0 + 16.0));
    close(rate(path(), 1, 1, 0.0, 65_536, 2).0, 1e6 / (200.0 + 320.0 + 500.0));
    close(rate(path(), 1, 1, 1.0, 1 << 20, 4).0, 1e6 / (300.0 + 4_096.0));
}

#[test]
fn a_module_a_port_and_bytes_limit_each_alone() {
    close(rate(path(), 1, 32, 1.0, 4_096, 2).0, 20_000.0);
    close(rate(path(), 8, 32, 0.0, 4_096, 2).0, 8.0 * 10_000.0);
    let crowded = Path { port_turn_ns: 20_000.0, ..path() };
    close(rate(crowded, 4, 32, 1.0, 4_096, 2).0, 50_000.0);
    close(rate(crowded, 8, 32, 1.0, 4_096, 2).0, 100_000.0);
    // A mebibyte at 4 ns a byte.
    close(rate(path(), 1, 8, 1.0, 1 << 20, 10).0, 1e9 / (4.0 * 1_048_576.0));
}

#[test]
fn reads_and_writes_of_one_module_hold_each_other_up() {
    let mixed = 1e9 / (0.5 * 50_000.0 + 0.5 * 100_000.0 + 0.5 * 60_000.0);
    close(rate(path(), 1, 32, 0.5, 4_096, 4).0, mixed);
}

#[test]
fn credit_runs_out_and_the_sustained_rate_stays() {
    let tired = Path { sustained_writes: (5_000.0, 10_000.0), ..path() };
    // 10,000 a second while credit lasts, which is two seconds; then 5,000.
    close(rate(tired, 1, 32, 0.0, 4_096, 10).0, (20_000.0 + 8.0 * 5_000.0) / 10.0);
}

#[test]
fn stations_say_who_was_busy() {
    let (_, mut array) = rate(Path { port_turn_ns: 20_000.0, ..path() }, 4, 32, 1.0, 4_096, 2);
    let reports = array.reports();
    let of = |name: &str| reports.iter().find(|report| report.name == name).map(|report| report.utilisation);
    assert!(of("port 0 out").is_some_and(|share| share > 0.99), "{reports:?}");
    assert!(of("module 0").is_some_and(|share| (share - 0.625).abs() < 0.01), "{reports:?}");
    assert_eq!(of("port 0 in"), Some(0.0));
}
