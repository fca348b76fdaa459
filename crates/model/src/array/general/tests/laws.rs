//! What limits an array, and what it refuses to be built of.

use super::tests::{built, close, ends, rate, spec};
use super::*;
use crate::array::raid::Level;
use crate::machine::Machine;
use crate::station::Share;
use units::Nanos;
use workload::{Operation, OperationKind};

/// Writes that are answered a second in a closed load of 64, from one moment to another.
fn written(spec: Spec, from: f64, to: f64) -> f64 {
    let all = ends(&mut built(spec, 64), 64, 0.0, to);
    all.iter().filter(|one| one.at.0 as f64 > from * 1e9).count() as f64 / (to - from)
}

#[test]
fn writes_fall_to_the_rate_of_destaging_when_the_cache_is_full() {
    // A write of a part of a RAID 5 row reads two members and then writes two, and 32 are destaged at once.
    let destaging = 32.0 / (80_000.0 + 0.5 * 4_096.0 + 100_000.0 + 4_096.0) * 1e9;
    let empty = written(spec(), 0.0, 0.005);
    assert!(empty > 5.0 * destaging, "{empty} with room, {destaging} destaged");
    close(written(spec(), 0.1, 0.5), destaging);
}

/// Bytes promised when `count` writes were answered and the array had its peace.
fn promised_behind(count: u64) -> u64 {
    let (mut array, mut ended, mut number) = (built(spec(), 64), Vec::new(), 64);
    let write = |number: u64| {
        let (module, offset) = ((number % 4) as u16, number * 4_096);
        Operation { kind: OperationKind::Write, class: 0, module, offset, bytes: 4_096 }
    };
    (0..64).for_each(|slot| array.submit(Nanos(0), slot, &write(u64::from(slot))));
    while array.advance(Nanos::from_secs(1), &mut ended) < Nanos::from_secs(1) {
        for one in ended.drain(..) {
            if number < count {
                array.submit(one.at, one.slot, &write(number));
                number += 1;
            }
        }
    }
    assert_eq!(array.cache.dirty + array.cache.gone, count * 4_096);
    array.cache.dirty / 4_096
}

#[test]
fn destaging_begins_at_the_high_watermark_and_ends_at_the_low_one() {
    // Room for 16,384 pages: half of it is 8,192, a fifth of it 3,276.
    assert_eq!(promised_behind(8_000), 8_000, "below the high watermark nothing is destaged");
    let left = promised_behind(9_000);
    assert!((3_276 - 32..=3_276).contains(&left), "{left}");
}

/// Shares of a full controller that two classes have.
fn shared(shares: [Share; 2]) -> [f64; 2] {
    let one = Spec { controllers: 1, controller: (1, 100_000), shares: shares.to_vec(), ..spec() };
    let (mut array, mut ended, mut counts) = (built(one, 64), Vec::new(), [0u32; 2]);
    let read = |slot: u32| Operation {
        kind: OperationKind::Read,
        class: (slot % 2) as u16,
        module: (slot % 4) as u16,
        offset: 0,
        bytes: 4_096,
    };
    (0..64).for_each(|slot| array.submit(Nanos(0), slot, &read(slot)));
    while array.advance(Nanos::from_secs(2), &mut ended) < Nanos::from_secs(2) {
        for one in ended.drain(..) {
            counts[(one.slot % 2) as usize] += 1;
            array.submit(one.at, one.slot, &read(one.slot));
        }
    }
    counts.map(|count| f64::from(count) / 20_000.0)
}

#[test]
fn shares_and_caps_of_classes_hold_through_the_array() {
    let open = Share { weight: 1.0, cap: 1.0 };
    let [first, second] = shared([Share { weight: 3.0, ..open }, open]);
    assert!((first - 0.75).abs() < 0.005 && (second - 0.25).abs() < 0.005, "{first} {second}");
    let [first, second] = shared([Share { weight: 9.0, cap: 0.3 }, open]);
    assert!((first - 0.3).abs() < 0.005 && (second - 0.7).abs() < 0.005, "{first} {second}");
}

#[test]
fn reads_are_slower_while_degraded_and_slower_still_while_rebuilding() {
    let mut full = Spec { groups: 1, ..spec() };
    full.modules.overlap = 1;
    full.rebuild.module_bytes = 1 << 40;
    let reads = |spares: u32, lost: bool, head_start_ns: u64| {
        let mut spec = full.clone();
        (spec.rebuild.spares, spec.modules.head_start_ns) = (spares, head_start_ns);
        let mut array = built(spec, 256);
        if lost {
            array.plan(Nanos(0), Change::ModuleLost { group: 0, member: 2 });
        }
        ends(&mut array, 256, 1.0, 1.0).len() as f64
    };
    let (healthy, degraded) = (reads(0, false, 0), reads(0, true, 0));
    let (patient, equal) = (reads(1, true, 10_000_000), reads(1, true, 0));
    // One read in eight becomes seven, and seven modules carry them.
    assert!((degraded / healthy - 0.5).abs() < 0.03, "{degraded} of {healthy}");
    assert!(patient < 0.995 * degraded, "{patient} against {degraded}");
    assert!(equal < 0.98 * patient, "{equal} against {patient}: a head start of the foreground is worth something");
}

#[test]
fn memory_is_flat_and_work_is_linear_in_the_length_of_a_run() {
    let run = |seconds: f64| {
        let mut array = built(spec(), 64);
        array.plan(Nanos(0), Change::ModuleLost { group: 1, member: 3 });
        array.plan(Nanos(1_000_000), Change::PathLost(1));
        let before = allocated(&array);
        let done = ends(&mut array, 64, 0.6, seconds).len() as f64;
        assert_eq!(allocated(&array), before, "nothing is allocated on the way");
        array.events() as f64 / done
    };
    let (short, long) = (run(0.2), run(1.6));
    assert!((short / long - 1.0).abs() < 0.05, "{short} and {long} events an operation");
    assert!((5.0..20.0).contains(&long), "{long}");
}

/// Places that are allocated in all lists that an operation passes.
fn allocated(array: &General) -> usize {
    let lists = [array.flights.capacity(), array.spare_slots.capacity(), array.pieces.capacity()];
    array.agenda.capacity() + array.cache.capacity() + array.state.stranded.capacity() + lists.iter().sum::<usize>()
}

#[test]
fn what_cannot_be_built_is_refused_by_name_limit_and_value() {
    type Change = fn(&mut Spec);
    let refused: &[(Change, &str)] = &[
        (|s| s.host.0 = 0, "number of host processors is 1 to 10000, got 0"),
        (|s| s.processors.0 = 10_001, "number of I/O processors is 1 to 10000, got 10001"),
        (|s| s.paths = 0, "number of paths is 1 to 10000, got 0"),
        (|s| s.controllers = 65, "number of controllers is 1 to 64, got 65"),
        (|s| s.controllers = 0, "number of controllers is 1 to 64, got 0"),
        (|s| s.controller.0 = 0, "number of processors of a controller is 1 to 10000, got 0"),
        (|s| s.shares.clear(), "number of classes is 1 to 10000, got 0"),
        (|s| s.groups = 0, "number of RAID groups is 1 to 10000, got 0"),
        (|s| s.modules.overlap = 0, "overlap of a module is 1 to 10000, got 0"),
        (|s| s.modules.channels = 0, "number of channels of a module is 1 to 10000, got 0"),
        (|s| s.cache.destages = 0, "number of destages at once is 1 to 10000, got 0"),
        (|s| s.rebuild.rows = 0, "number of rows rebuilt at once is 1 to 10000, got 0"),
        (|s| s.link_bytes_per_s = 0.0, "bytes a second of a link is a number above 0, got 0"),
        (|s| s.link_bytes_per_s = f64::NAN, "bytes a second of a link is a number above 0, got NaN"),
        (|s| s.link_km = -1.0, "kilometres of a link is 0 to 100000, got -1"),
        (
            |s| s.cache.mirror_bytes_per_s = f64::INFINITY,
            "bytes a second between controllers is a number above 0, got inf",
        ),
        (|s| s.rebuild.bytes_per_s = -1.0, "bytes a second of a rebuild is a number above 0, got -1"),
        (|s| s.cache.read_hits = 1.1, "share of read hits is 0 to 1, got 1.1"),
        (|s| s.cache.high = 2.0, "high watermark is 0 to 1, got 2"),
        (|s| s.cache.low = -0.1, "low watermark is 0 to 1, got -0.1"),
        (|s| s.cache.low = 0.6, "the low watermark is at most the high one, 0.5, got 0.6"),
        (|s| s.groups = 9_000, "groups times members is at most 65536 modules, got 9000 times 8"),
        (|s| s.shares[0].weight = 0.0, "weight or cap of a class is above 0, a cap up to 1, got 0"),
        (|s| s.shares[0].cap = 1.5, "weight or cap of a class is above 0, a cap up to 1, got 1.5"),
        (|s| s.modules.byte_ns[1] = -1.0, "nanoseconds of a module for a byte is 0 to 1000000, got -1"),
        (|s| s.members = 2, "RAID 5 has 3 to 64 modules in a group, got 2"),
        (
            |s| (s.level, s.members) = (Level::Raid10, 7),
            "RAID 10 pairs its modules and needs an even number of them, got 7",
        ),
        (|s| s.unit_bytes = 1_000, "a stripe unit is a power of two bytes, at least 512, got 1000"),
    ];
    for (change, told) in refused {
        let mut wrong = spec();
        change(&mut wrong);
        assert_eq!(General::new(wrong, 8, 1).err().map(|error| error.to_string()).as_deref(), Some(*told));
    }
    assert!(rate(spec(), 8, 1.0) > 0.0, "as it is it can be built");
}
