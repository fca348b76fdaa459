//! What a flash device must do, with round numbers of no real machine.

use super::*;
use crate::machine::{Ended, Machine};
use random::Draws;
use units::Nanos;
use workload::{Operation, OperationKind};

pub(super) fn shape() -> Shape {
    Shape {
        channels: 2,
        dies: 2,
        planes: 2,
        blocks: 128,
        pages: 64,
        page_bytes: 4_096,
        spare: 0.25,
        capacity_bytes: 16 << 30,
        watermarks: (2, 3),
        wear: 1_000_000,
        together: false,
        copies: 4,
        buffer_pages: 0,
        stands_for: 1.0,
    }
}

pub(super) fn pace() -> Pace {
    Pace {
        read_ns: 50_000,
        program_ns: 500_000,
        erase_ns: 3_000_000,
        transfer_ns: 10_000,
        command_ns: 1_000,
        latency_ns: 5_000,
        link_ns: 2_000,
    }
}

pub(super) struct Run {
    pub rate: f64,
    pub mean_ns: f64,
    pub bytes: Vec<(u32, u64)>,
    pub flash: Flash,
    /// Operations of each tenth of the time.
    pub tenths: [u64; 10],
}

/// Draws operations of one page, closed, over a time. `span` is the share of the addresses that is used.
pub(super) fn run(shape: Shape, start: Start, slots: u32, read: f64, span: f64, seconds: f64, seed: u64) -> Run {
    let mut flash = Flash::new(shape, pace(), start, 1, slots, seed).unwrap();
    let mut random = Draws::numbered(seed, 99);
    let pages = (span * (shape.capacity_bytes / 4_096) as f64) as u64;
    let mut draw = || {
        let kind = if random.chance(read) { OperationKind::Read } else { OperationKind::Write };
        Operation { kind, class: 0, module: 0, offset: 4_096 * random.below(pages), bytes: 4_096 }
    };
    let mut since = vec![0u64; slots as usize];
    (0..slots).for_each(|slot| flash.submit(Nanos(0), slot, &draw()));
    let (mut ended, mut sum, mut bytes, mut tenths) = (Vec::<Ended>::new(), 0u64, Vec::new(), [0u64; 10]);
    let end = Nanos((1e9 * seconds) as u64);
    while flash.advance(end, &mut ended) < end {
        for Ended { slot, at, .. } in ended.drain(..) {
            sum += at.0 - since[slot as usize];
            since[slot as usize] = at.0;
            bytes.push((slot, at.0));
            tenths[(10 * at.0 / end.0).min(9) as usize] += 1;
            flash.submit(at, slot, &draw());
        }
    }
    let done = bytes.len() as f64;
    Run { rate: done / seconds, mean_ns: sum as f64 / done, bytes, flash, tenths }
}

fn close(found: f64, wanted: f64, share: f64) {
    assert!((found / wanted - 1.0).abs() < share, "{found} against {wanted}");
}

#[test]
fn a_single_read_and_a_single_write_take_the_sum_of_their_parts() {
    let read = run(shape(), Start::Rested(1.0), 1, 1.0, 1.0, 0.2, 1);
    close(read.mean_ns, 1_000.0 + 5_000.0 + 50_000.0 + 10_000.0 + 2_000.0, 1e-9);
    let write = run(shape(), Start::Rested(0.5), 1, 0.0, 1.0, 0.2, 1);
    close(write.mean_ns, 1_000.0 + 2_000.0 + 5_000.0 + 10_000.0 + 500_000.0, 1e-9);
}

#[test]
fn dies_the_channel_and_the_link_limit_each_alone() {
    // Four dies that are held for 60 microseconds a read; a deep queue keeps nearly all of them busy.
    close(run(shape(), Start::Rested(1.0), 256, 1.0, 1.0, 0.5, 1).rate, 4.0 / 60e-6, 0.08);
    let many = Shape { channels: 1, dies: 32, ..shape() };
    close(run(many, Start::Rested(1.0), 512, 1.0, 1.0, 0.5, 1).rate, 1.0 / 10e-6, 0.01);
    let wide = Shape { channels: 64, dies: 4, blocks: 32, ..shape() };
    close(run(wide, Start::Rested(1.0), 1_024, 1.0, 1.0, 0.2, 1).rate, 1.0 / 2e-6, 0.01);
}

#[test]
fn planes_that_work_together_read_more() {
    let (alone, joined) = (shape(), Shape { together: true, ..shape() });
    let rate = |shape| run(shape, Start::Rested(1.0), 256, 1.0, 1.0, 0.3, 1).rate;
    assert!(rate(joined) > 1.4 * rate(alone), "{} {}", rate(joined), rate(alone));
}

#[test]
fn a_buffer_answers_early_while_it_has_room_and_changes_no_rate_for_long() {
    let with = Shape { buffer_pages: 128, ..shape() };
    let few = run(with, Start::Rested(0.5), 1, 0.0, 1.0, 0.01, 1);
    close(few.bytes[0].1 as f64, 8_000.0, 1e-9);
    let (one, other) =
        (run(with, Start::Worn(1.0), 128, 0.0, 1.0, 20.0, 1), run(shape(), Start::Worn(1.0), 128, 0.0, 1.0, 20.0, 1));
    close(one.rate, other.rate, 0.05);
}

#[test]
fn a_rested_device_gives_its_most_and_then_what_cleaning_leaves() {
    let buffered = Shape { buffer_pages: 128, ..shape() };
    let run = run(buffered, Start::Rested(1.0), 64, 0.0, 1.0, 30.0, 1);
    let most = 4.0 / 510e-6;
    let rested = self::run(buffered, Start::Rested(1.0), 64, 0.0, 1.0, 1.0, 1).rate;
    close(rested, most, 0.05);
    let (late, before) = (run.tenths[9] as f64 / 3.0, run.tenths[7] as f64 / 3.0);
    close(late, before, 0.05);
    assert!(late < 0.5 * most, "{late} after {most}");
    // Sustained: each write costs its own program and its share of copies and erases.
    let amplification = 1.0 + run.flash.written().1 as f64 / run.flash.written().0 as f64;
    assert!(amplification > 1.5 && amplification < 3.5, "{amplification}");
}

#[test]
fn reads_wait_behind_writes_and_cleaning() {
    let pure = run(shape(), Start::Worn(1.0), 16, 1.0, 1.0, 1.0, 1);
    let mixed = run(shape(), Start::Worn(1.0), 16, 0.7, 1.0, 4.0, 1);
    let harmonic = 1.0 / (0.7 / pure.rate + 0.3 / run(shape(), Start::Worn(1.0), 16, 0.0, 1.0, 8.0, 1).rate);
    assert!(mixed.rate < 1.1 * harmonic, "{} against {harmonic}", mixed.rate);
}

#[test]
fn littles_law_holds_inside_and_outside() {
    for (read, buffer) in [(0.5, 0), (0.5, 64), (0.0, 64)] {
        let mut run = run(Shape { buffer_pages: buffer, ..shape() }, Start::Worn(1.0), 32, read, 1.0, 10.0, 1);
        close(run.rate * run.mean_ns / 1e9, 32.0, 0.01);
        let device = run.flash.reports().swap_remove(0);
        let by_law = device.completed as f64 / 10.0 * run.mean_ns / 1e9;
        close(by_law, run.rate * run.mean_ns / 1e9, 1e-3);
        close(device.mean_there, 32.0, 1e-3);
    }
}

#[test]
fn equal_seeds_give_equal_bytes_and_others_do_not() {
    let bytes = |seed| run(shape(), Start::Worn(0.9), 32, 0.5, 1.0, 1.0, seed).bytes;
    assert_eq!(bytes(5), bytes(5));
    assert_ne!(bytes(5), bytes(6));
}

#[test]
fn state_is_as_small_as_it_says_and_does_not_grow() {
    let shape = shape();
    assert!(shape.state_bytes() < 8 * u64::from(shape.plane_pages() * shape.units()));
    let run = run(shape, Start::Worn(1.0), 64, 0.5, 1.0, 5.0, 1);
    assert_eq!(run.flash.state_bytes(), shape.state_bytes());
    assert!(crate::device::ceiling(1, 0.5, 1).unwrap().state_bytes < 200_000_000);
}

#[test]
fn a_hot_region_wears_blocks_evenly_only_when_wear_is_levelled() {
    let hot = |wear| {
        run(Shape { wear, blocks: 32, ..shape() }, Start::Rested(1.0), 64, 0.0, 0.125, 60.0, 1).flash.wear_span()
    };
    let (free, levelled) = (hot(1_000_000), hot(10));
    assert!(free.0 == 0 && free.1 > 60, "cold blocks are never erased: {free:?}");
    assert!(levelled.1 - levelled.0 <= 20, "{levelled:?}");
}

#[test]
fn devices_that_cannot_be_are_refused() {
    let refused =
        |shape: Shape| Flash::new(shape, pace(), Start::Rested(1.0), 1, 1, 1).map(|_| ()).unwrap_err().to_string();
    assert!(refused(Shape { dies: 0, ..shape() }).contains("1 to 1024 dies on a channel, got 0"));
    assert!(refused(Shape { spare: 0.0, ..shape() }).contains("raise `spare`"));
    assert!(refused(Shape { spare: f64::NAN, ..shape() }).contains("raise `spare`"));
    assert!(refused(Shape { page_bytes: 0, ..shape() }).contains("bytes of a page"));
    assert!(refused(Shape { dies: 1_024, channels: 1_024, blocks: 1 << 20, ..shape() }).contains("lower `blocks`"));
    let overfull = Flash::new(shape(), pace(), Start::Worn(1.5), 1, 1, 1).map(|_| ());
    assert_eq!(overfull, Err(Refused::Filled(150)));
}

#[test]
fn several_devices_are_each_their_own() {
    let mut flash = Flash::new(shape(), pace(), Start::Rested(1.0), 3, 3, 1).unwrap();
    for slot in 0..3 {
        let module = slot as u16;
        flash.submit(
            Nanos(0),
            slot,
            &Operation { kind: OperationKind::Read, class: 0, module, offset: 0, bytes: 4_096 },
        );
    }
    let mut ended = Vec::new();
    flash.advance(Nanos(1_000_000), &mut ended);
    assert_eq!(ended.len(), 3, "nobody waits for another device");
}
