//! What a disk must do, with round numbers of no real machine.

use super::*;
use crate::machine::{Ended, Machine};
use random::Draws;
use units::Nanos;
use workload::{Operation, OperationKind};

fn shape(order: Order) -> Shape {
    let seek = Seek { settle_ns: 0.5e6, root_ns: 2.5e6, line_ns: 4e6, bend: 0.3 };
    Shape {
        cylinders: 50_000,
        heads: 4,
        zones: 10,
        track_bytes: (800_000.0, 400_000.0),
        turn_ns: 4_000_000,
        seek,
        command_ns: 100_000,
        order,
    }
}

/// Mean time between ends in nanoseconds with so many outstanding at random places.
fn spacing(shape: Shape, slots: u32, bytes: u32, count: u64) -> f64 {
    let (mut disk, mut random) = (Disk::new(shape, 1, slots).unwrap(), Draws::numbered(1, 1));
    let capacity = shape.capacity() / 4_096 - 32;
    let mut ask = || {
        let offset = 4_096 * random.below(capacity);
        Operation { kind: OperationKind::Read, class: 0, module: 0, offset, bytes }
    };
    (0..slots).for_each(|slot| disk.submit(Nanos(0), slot, &ask()));
    let (mut ended, mut done, mut last) = (Vec::<Ended>::new(), 0, 0);
    while done < count {
        disk.advance(Nanos(u64::MAX), &mut ended);
        for Ended { slot, at, .. } in ended.drain(..) {
            (done, last) = (done + 1, at.0);
            disk.submit(at, slot, &ask());
        }
    }
    let report = disk.reports().swap_remove(0);
    assert!((report.mean_there / f64::from(slots) - 1.0).abs() < 1e-3, "Little: {report:?}");
    last as f64 / count as f64
}

#[test]
fn a_random_read_takes_the_mean_seek_half_a_turn_and_its_transfer() {
    let shape = shape(Order::Fifo);
    // The mean over pairs of places, each in a zone by its bytes; places in a zone are spread evenly over cylinders.
    let per = f64::from(shape.cylinders / shape.zones);
    let weight = |zone: u32| shape.zone(zone) as f64 / shape.capacity() as f64;
    let steps = 40;
    let (mut seek, mut transfer) = (0.0, 0.0);
    for a in 0..shape.zones * steps {
        let (za, xa) = (a / steps, (f64::from(a) + 0.5) / f64::from(steps) * per);
        transfer += weight(za) / f64::from(steps) * 65_536.0 * shape.turn_ns as f64 / shape.track(za);
        for b in 0..shape.zones * steps {
            let (zb, xb) = (b / steps, (f64::from(b) + 0.5) / f64::from(steps) * per);
            let share = (xa - xb).abs() / f64::from(shape.cylinders);
            seek += weight(za) * weight(zb) / f64::from(steps * steps) * shape.seek.ns(share);
        }
    }
    let wanted = 100_000.0 + seek + 0.5 * shape.turn_ns as f64 + transfer;
    let found = spacing(shape, 1, 65_536, 20_000);
    assert!((found / wanted - 1.0).abs() < 0.02, "{found} against {wanted}");
}

#[test]
fn a_good_order_gains_with_depth_and_first_come_first_served_gains_nothing() {
    let times = [1, 2, 4, 8, 16, 32, 64].map(|slots| spacing(shape(Order::Nearest), slots, 4_096, 6_000));
    let slack = 1.02;
    assert!(times.windows(2).all(|pair| pair[1] < slack * pair[0]), "{times:?}");
    assert!(times[6] < 0.8 * times[0], "{times:?}");
    let (fifo, nearest) = (spacing(shape(Order::Fifo), 32, 4_096, 6_000), times[5]);
    assert!(nearest < fifo, "{nearest} {fifo}");
    assert!((fifo / spacing(shape(Order::Fifo), 1, 4_096, 6_000) - 1.0).abs() < 0.02, "first come gains nothing");
}

#[test]
fn sequential_reads_reach_the_rate_of_their_zone() {
    let shape = Shape { command_ns: 0, ..shape(Order::Fifo) };
    for (zone, offset) in [(0u32, 0u64), (9, (0..9).map(|zone| shape.zone(zone)).sum())] {
        let mut disk = Disk::new(shape, 1, 1).unwrap();
        let (mut ended, mut at, bytes, count) = (Vec::new(), Nanos(0), 1u32 << 20, 400u64);
        let mut first = Nanos(0);
        for number in 0..count {
            let offset = offset + number * u64::from(bytes);
            disk.submit(at, 0, &Operation { kind: OperationKind::Read, class: 0, module: 0, offset, bytes });
            at = disk.advance(Nanos(u64::MAX), &mut ended);
            first = if number == 0 { at } else { first };
        }
        // A track takes its turn and the change to the next.
        let media = shape.track(zone) / (shape.turn_ns as f64 + shape.switch_ns());
        let found = (count - 1) as f64 * f64::from(bytes) / (at.0 - first.0) as f64;
        assert!((found / media - 1.0).abs() < 0.02, "zone {zone}: {found} against {media} bytes a nanosecond");
    }
}

#[test]
fn a_stream_in_order_keeps_nobody_waiting_for_as_long_as_it_lasts() {
    let (bytes, slots) = (65_536u32, 16u32);
    let mut disk = Disk::new(shape(Order::Nearest), 1, slots).unwrap();
    let read = |offset: u64| Operation { kind: OperationKind::Read, class: 0, module: 0, offset, bytes };
    let mut next = 1 << 30;
    let mut in_order = || {
        next += u64::from(bytes);
        read(next)
    };
    (1..slots).for_each(|slot| disk.submit(Nanos(0), slot, &in_order()));
    // Right behind the head when it has come there: others are always nearer.
    disk.submit(Nanos(0), 0, &read(1 << 30));
    let (mut ended, mut passed) = (Vec::<Ended>::new(), 0);
    loop {
        disk.advance(Nanos(u64::MAX), &mut ended);
        let Ended { slot, at, .. } = ended.pop().unwrap();
        if slot == 0 {
            break;
        }
        passed += 1;
        assert!(passed <= 6 * slots, "passed by {passed}");
        disk.submit(at, slot, &in_order());
    }
    assert!(passed > slots, "others were nearer, and only {passed} went first");
}

#[test]
fn equal_disks_answer_alike() {
    let one = || spacing(shape(Order::Nearest), 8, 4_096, 500);
    assert_eq!(one().to_bits(), one().to_bits());
}

#[test]
fn disks_that_cannot_be_are_refused() {
    let refused = |shape: Shape| Disk::new(shape, 1, 1).map(|_| ()).unwrap_err().to_string();
    assert!(refused(Shape { heads: 0, ..shape(Order::Fifo) }).contains("at least one of its heads"));
    assert!(refused(Shape { turn_ns: 0, ..shape(Order::Fifo) }).contains("the turn of a disk"));
    assert!(refused(Shape { track_bytes: (-1.0, 1.0), ..shape(Order::Fifo) }).contains("outer track"));
    assert!(refused(Shape { cylinders: 3, ..shape(Order::Fifo) }).contains("cylinders in each zone"));
}
