//! What a general array must do, with round numbers of no real machine.

use super::*;
use crate::array::raid::Level;
use crate::machine::{Ended, Machine};
use crate::station::Share;
use random::Draws;
use units::Nanos;
use workload::{Operation, OperationKind};

pub(super) fn spec() -> Spec {
    Spec {
        host: (8, 2_000),
        processors: (4, 1_000),
        paths: 4,
        policy: Policy::RoundRobin,
        waits: false,
        channel_ns: 2_000,
        port_ns: 2_000,
        link_bytes_per_s: 8e9,
        link_km: 0.0,
        controllers: 2,
        controller: (8, 4_000),
        shares: vec![Share { weight: 1.0, cap: 1.0 }],
        cache: Cache {
            read_hits: 0.0,
            write_bytes: 1 << 26,
            high: 0.5,
            low: 0.2,
            destages: 32,
            mirror_bytes_per_s: 8e9,
        },
        groups: 4,
        level: Level::Raid5,
        members: 8,
        unit_bytes: 65_536,
        modules: Modules {
            overlap: 8,
            fixed_ns: [80_000, 100_000],
            byte_ns: [0.5, 1.0],
            variation: 0.0,
            channels: 10,
            head_start_ns: 10_000_000,
        },
        rebuild: Rebuild { module_bytes: 1 << 26, bytes_per_s: 1e9, rows: 4, spares: 8 },
    }
}

pub(super) fn built(spec: Spec, slots: u32) -> General {
    General::new(spec, slots, 9).unwrap_or_else(|e| panic!("{e}"))
}

/// Ends of a closed load of `slots` operations of 4 KB, by a share of reads.
pub(super) fn ends(array: &mut General, slots: u32, read: f64, seconds: f64) -> Vec<Ended> {
    let mut random = Draws::numbered(3, 3);
    let mut draw = || Operation {
        kind: if random.chance(read) { OperationKind::Read } else { OperationKind::Write },
        class: 0,
        module: random.below(4) as u16,
        offset: random.below(1 << 18) * 4_096,
        bytes: 4_096,
    };
    (0..slots).for_each(|slot| array.submit(Nanos(0), slot, &draw()));
    let (mut ended, mut all, end) = (Vec::new(), Vec::new(), Nanos((seconds * 1e9) as u64));
    while array.advance(end, &mut ended) < end {
        for one in ended.drain(..) {
            all.push(one);
            array.submit(one.at, one.slot, &draw());
        }
    }
    all
}

pub(super) fn rate(spec: Spec, slots: u32, read: f64) -> f64 {
    let mut array = General::new(spec, slots, 1).unwrap_or_else(|e| panic!("{e}"));
    ends(&mut array, slots, read, 0.2).len() as f64 / 0.2
}

pub(super) fn close(found: f64, wanted: f64) {
    assert!((found / wanted - 1.0).abs() < 0.01, "{found} against {wanted}");
}

#[test]
fn each_part_limits_alone() {
    close(rate(Spec { host: (2, 20_000), ..spec() }, 256, 1.0), 100_000.0);
    close(rate(Spec { processors: (1, 10_000), ..spec() }, 256, 1.0), 100_000.0);
    close(rate(Spec { channel_ns: 40_000, ..spec() }, 256, 1.0), 100_000.0);
    close(rate(Spec { port_ns: 40_000, ..spec() }, 256, 1.0), 100_000.0);
    close(rate(Spec { controller: (1, 20_000), ..spec() }, 256, 1.0), 100_000.0);
    close(rate(Spec { link_bytes_per_s: 1e8, ..spec() }, 256, 1.0), 4e8 / 4_096.0);
}

#[test]
fn little_holds_and_equal_seeds_answer_alike() {
    let run = || {
        let mut array = General::new(spec(), 64, 9).unwrap_or_else(|e| panic!("{e}"));
        let all = ends(&mut array, 64, 0.7, 1.0);
        (all, array.little())
    };
    let ((one, (there, passed)), (other, _)) = (run(), run());
    assert_eq!(one, other);
    assert!((there / passed - 1.0).abs() < 0.001, "{there} {passed}");
}

#[test]
fn a_rolling_upgrade_and_lost_paths_lose_nothing() {
    let mut array = General::new(spec(), 64, 9).unwrap_or_else(|e| panic!("{e}"));
    array.upgrade(Nanos(10_000_000), Nanos(20_000_000), Nanos(5_000_000));
    array.plan(Nanos(120_000_000), Change::PathLost(1));
    array.plan(Nanos(130_000_000), Change::ControllerLost(0));
    let all = ends(&mut array, 64, 0.7, 0.2);
    assert!(all.iter().all(|one| !one.failed));
    assert!(all.iter().filter(|one| one.at.0 > 190_000_000).count() > 100, "it goes on");
}

#[test]
fn a_rebuild_ends_at_its_pace() {
    let mut array = General::new(spec(), 16, 9).unwrap_or_else(|e| panic!("{e}"));
    array.plan(Nanos(0), Change::ModuleLost { group: 0, member: 2 });
    let slow = Spec { rebuild: Rebuild { bytes_per_s: 2e8, ..spec().rebuild }, ..spec() };
    ends(&mut array, 16, 1.0, 1.0);
    let mut paced = General::new(slow, 16, 9).unwrap_or_else(|e| panic!("{e}"));
    paced.plan(Nanos(0), Change::ModuleLost { group: 0, member: 2 });
    ends(&mut paced, 16, 1.0, 1.0);
    close(paced.state.rebuilt[0].0 as f64, (1u64 << 26) as f64 / 0.2);
    assert!(array.state.rebuilt[0] < paced.state.rebuilt[0]);
}
