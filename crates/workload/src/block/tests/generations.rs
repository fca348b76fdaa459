//! The map over long runs, many threads and changing grids.

use std::collections::BTreeMap;
use std::sync::Barrier;

use proptest::prelude::*;
use units::Bytes;

use super::store::{EPOCH, Store};
use crate::block::{Beginning, DamageKind, Generations, Grid, WatchError, fill};

fn grid(unit: u64) -> Grid {
    Grid { unit: Bytes(unit), shift: Bytes(0) }
}

/// Counts a write that the test does not carry out.
fn count_write(map: &Generations) {
    map.begin_write(0, 0, 512, |_, _, _| {});
    map.end_write(0, 0, 512, true);
}

#[test]
fn the_count_of_generations_may_wrap() {
    let mut store = Store::aligned(512, 512);
    for _ in 0..(1 << 22) - 3 {
        count_write(&store.map);
    }
    store.write(0, 512);
    for _ in 0..4 {
        let before = store.bytes.clone();
        store.write(0, 512);
        assert!(store.read(0, 512).is_ok());
        let after = std::mem::replace(&mut store.bytes, before);
        assert_eq!(store.damage(0, 512), (DamageKind::Stale, 0));
        store.bytes = after;
    }
}

#[test]
fn writes_that_never_pause_give_up_staleness_until_they_do() {
    let mut store = Store::aligned(512, 512);
    let oldest = store.bytes.clone();
    store.map.begin_write(0, 0, 512, |_, _, _| {});
    for _ in 0..40_000 {
        count_write(&store.map);
    }
    // The first write of the chain is still in flight: it may yet be undone in any order, so everything is acceptable.
    assert!(store.read(0, 512).is_ok());
    store.map.end_write(0, 0, 512, true);
    assert!(store.read(0, 512).is_ok());
    store.write(0, 512);
    assert!(store.read(0, 512).is_ok());
    store.bytes = oldest;
    assert_eq!(store.damage(0, 512), (DamageKind::Stale, 0));
}

#[test]
fn nothing_is_judged_stale_before_the_first_write_where_the_beginning_is_unknown() {
    let mut store = Store::aligned(512, 1024);
    store.map = Generations::new(grid(512), 1, Bytes(1024), 8, EPOCH + 1, Beginning::Unknown { since: EPOCH }).unwrap();
    assert!(store.read(0, 1024).is_ok());
    let before = store.bytes.clone();
    store.write(0, 512);
    assert!(store.read(0, 1024).is_ok());
    store.bytes = before;
    assert_eq!(store.damage(0, 1024), (DamageKind::Stale, 0));
}

#[test]
fn more_writes_in_flight_than_a_word_counts_are_refused() {
    let refused = Generations::new(grid(512), 1, Bytes(512), 16_384, 0, Beginning::Filled).unwrap_err();
    assert_eq!(refused, WatchError::Outstanding(16_384));
    let memory = Generations::new(grid(512), u32::MAX, Bytes(1 << 60), 1, 0, Beginning::Filled).unwrap_err();
    assert!(matches!(memory, WatchError::Memory { .. }));
}

#[test]
fn as_many_writes_as_are_allowed_may_be_in_flight_on_one_unit() {
    let mut store = Store::aligned(512, 512);
    for _ in 0..16_383 {
        store.map.begin_write(0, 0, 512, |_, _, _| {});
    }
    for _ in 0..16_383 {
        store.map.end_write(0, 0, 512, true);
    }
    store.write(0, 512);
    assert!(store.read(0, 512).is_ok());
}

#[test]
fn threads_that_share_units_count_every_write_once() {
    let mut store = Store::aligned(512, 2048);
    let before = store.bytes.clone();
    let (map, barrier) = (&store.map, Barrier::new(4));
    let numbers: Vec<u64> = std::thread::scope(|scope| {
        let worker = || {
            barrier.wait();
            let mut numbers = Vec::new();
            for _ in 0..5000 {
                map.begin_write(0, 0, 2048, |offset, _, generation| {
                    if offset == 0 {
                        numbers.push(generation);
                    }
                });
                map.end_write(0, 0, 2048, true);
            }
            numbers
        };
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    let first = Generations::filled_with(EPOCH) + 1;
    assert_eq!(sorted, (first..first + 20_000).collect::<Vec<_>>());
    store.write(0, 2048);
    assert!(store.read(0, 2048).is_ok());
    store.bytes = before;
    assert_eq!(store.damage(0, 2048), (DamageKind::Stale, 0));
}

proptest! {
    #[test]
    fn a_deep_random_history_of_overlapping_writes_and_reads_raises_no_alarm(
        steps in prop::collection::vec((0usize..6, 0u64..4, any::<bool>(), any::<bool>()), 1..120),
    ) {
        let mut store = Store::aligned(1024, 4 * 1024);
        let mut flying: [Option<(u64, Vec<u8>)>; 6] = Default::default();
        for (client, unit, fails, swaps) in steps {
            match flying[client].take() {
                None => {
                    let mut data = vec![0; 1024];
                    let pool = &store.pool;
                    store.map.begin_write(0, unit * 1024, 1024, |start, _, generation| {
                        fill(&mut data, 0, start, generation, pool);
                    });
                    flying[client] = Some((unit, data));
                }
                Some((unit, data)) => {
                    let start = unit as usize * 1024;
                    // A failed write arrives in part or not at all; an overlapped one may lose half to another in flight.
                    let overlapped = flying.iter().flatten().find(|(other, _)| *other == unit).map(|(_, data)| data.clone());
                    if !fails || swaps {
                        store.bytes[start..start + 512].copy_from_slice(&data[..512]);
                    }
                    if !fails {
                        let second = if let (Some(other), true) = (&overlapped, swaps) { other } else { &data };
                        store.bytes[start + 512..start + 1024].copy_from_slice(&second[512..]);
                    }
                    store.map.end_write(0, unit * 1024, 1024, !fails);
                }
            }
            prop_assert_eq!(store.read(0, 4 * 1024).err(), None);
        }
    }
}

#[test]
fn a_further_trial_knows_what_the_last_one_left_also_in_finer_units() {
    let mut store = Store::aligned(4096, 16384);
    store.write(4096, 4096);
    let before = store.bytes.clone();
    store.write(4096, 8192);
    for unit in [4096, 1024] {
        store.map = store.map.continued(grid(unit), 64).unwrap();
        assert!(store.read(0, 16384).is_ok());
        let after = std::mem::replace(&mut store.bytes, before.clone());
        assert_eq!(store.damage(0, 16384), (DamageKind::Stale, 4096));
        store.bytes = after;
    }
    store.write(5120, 1024);
    assert!(store.read(0, 16384).is_ok());
}

#[test]
fn a_write_that_never_came_back_may_have_arrived_or_not_and_hides_nothing_older() {
    let mut store = Store::aligned(512, 512);
    let oldest = store.bytes.clone();
    store.write(0, 512);
    let acknowledged = store.bytes.clone();
    store.map.begin_write(0, 0, 512, |start, length, generation| {
        fill(&mut store.bytes[start as usize..][..length], 0, start, generation, &store.pool);
    });
    let arrived = store.bytes.clone();
    store.map = store.map.continued(grid(512), 64).unwrap();
    for (bytes, fine) in [(arrived, true), (acknowledged.clone(), true), (oldest, false)] {
        store.bytes = bytes;
        assert_eq!(store.read(0, 512).is_ok(), fine);
    }
    store.write(0, 512);
    store.bytes = acknowledged;
    assert_eq!(store.damage(0, 512), (DamageKind::Stale, 0));
}

#[test]
fn where_nobody_watched_nothing_is_older_than_the_fill() {
    let mut store = Store::aligned(512, 512);
    store.map =
        Generations::new(grid(512), 1, Bytes(512), 8, EPOCH + 2, Beginning::Unknown { since: EPOCH + 1 }).unwrap();
    assert_eq!(store.damage(0, 512), (DamageKind::Stale, 0));
}

#[test]
fn a_map_that_was_kept_judges_as_it_did_and_forgives_what_is_newer_when_asked_to() {
    let mut store = Store::aligned(512, 8192);
    (0..16).step_by(3).for_each(|place| store.write(place * 512, 512));
    let before = store.bytes.clone();
    store.write(1024, 512);
    let pages = store.map.pages().unwrap();
    let epochs = store.map.epochs();
    let kept = |pages: &BTreeMap<u64, Vec<u8>>| Generations::of_pages(grid(512), 1, Bytes(8192), epochs, pages);
    let (same, forgiving) = (kept(&pages).unwrap(), kept(&pages).unwrap().or_newer());
    // There is no such module, nor so many units, and the others are cut off.
    for (place, page) in [(1 << 32, vec![1, 1, 1]), (0, vec![17, 1, 1]), (0, vec![0x80]), (0, vec![1, 2])] {
        assert!(kept(&[(place, page)].into()).is_none());
    }
    store.map = same;
    assert!(store.read(0, 8192).is_ok());
    let after = std::mem::replace(&mut store.bytes, before.clone());
    assert_eq!(store.damage(0, 8192), (DamageKind::Stale, 1024));
    store.bytes = after;
    fill(&mut store.bytes[1024..1536], 0, 1024, (u64::from(EPOCH) << 32) + 9, &store.pool);
    assert_eq!(store.damage(0, 8192), (DamageKind::Foreign, 1024));
    store.map = forgiving;
    assert!(store.read(0, 8192).is_ok());
    store.bytes = before;
    assert_eq!(store.damage(0, 8192), (DamageKind::Stale, 1024));
}
