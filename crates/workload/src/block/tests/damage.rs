//! Planted damage is found and named; where none is planted none is reported.

use proptest::prelude::*;
use units::{Bytes, Share};

use super::spec;
use super::store::{EPOCH, SEED, Store};
use crate::block::{
    Acceptable, Checked, DamageKind, DataPool, DataShape, Expectation, Generations, Grid, Pattern, SECTOR, Sector,
    Spec, Stamp, Transfer, fill, verify,
};

#[test]
fn a_flipped_bit_is_found_wherever_it_falls() {
    let mut store = Store::aligned(4096, 8192);
    store.write(0, 4096);
    for bit in 0..4096 * 8 {
        let mask = 1 << (bit % 8);
        store.bytes[bit / 8] ^= mask;
        assert_eq!(store.damage(0, 4096), (DamageKind::Flipped, bit as u64 / 8 / 512 * 512));
        store.bytes[bit / 8] ^= mask;
    }
    assert_eq!(store.read(0, 8192), Ok(Checked { sectors: 16, unjudged: 0 }));
}

#[test]
fn a_lost_write_is_stale() {
    let mut store = Store::aligned(4096, 8192);
    let before = store.bytes.clone();
    store.write(4096, 4096);
    store.bytes.copy_from_slice(&before);
    assert_eq!(store.damage(0, 8192), (DamageKind::Stale, 4096));
}

#[test]
fn a_write_that_arrived_in_part_is_torn_whichever_part_it_was() {
    for arrived in [0..1, 0..7, 7..8, 1..8, 3..5] {
        let mut store = Store::aligned(4096, 8192);
        store.write(4096, 4096);
        let before = store.bytes.clone();
        store.write(4096, 4096);
        let after = std::mem::replace(&mut store.bytes, before);
        let part = 4096 + arrived.start * SECTOR..4096 + arrived.end * SECTOR;
        store.bytes[part.clone()].copy_from_slice(&after[part]);
        let first_old = if arrived.start == 0 { arrived.end } else { 0 };
        assert_eq!(store.damage(0, 8192), (DamageKind::Torn, 4096 + (first_old * SECTOR) as u64));
    }
}

#[test]
fn a_write_that_landed_elsewhere_is_misplaced() {
    let mut store = Store::aligned(4096, 16384);
    store.write(0, 4096);
    store.bytes.copy_within(0..4096, 8192);
    assert_eq!(store.damage(0, 16384), (DamageKind::Misplaced, 8192));
    let mut other_module = vec![0; 4096];
    fill(&mut other_module, 1, 0, Generations::filled_with(EPOCH), &store.pool);
    store.bytes[..4096].copy_from_slice(&other_module);
    assert_eq!(store.damage(0, 4096), (DamageKind::Misplaced, 0));
}

#[test]
fn a_single_sector_shifted_inside_its_block_is_misplaced() {
    let mut store = Store::aligned(4096, 4096);
    store.bytes.copy_within(512..1024, 1024);
    assert_eq!(store.damage(0, 4096), (DamageKind::Misplaced, 1024));
}

#[test]
fn zeros_are_named_zeroed() {
    let mut store = Store::aligned(4096, 4096);
    store.bytes[512..1024].fill(0);
    assert_eq!(store.damage(0, 4096), (DamageKind::Zeroed, 512));
}

#[test]
fn bytes_of_nobody_of_another_run_and_of_the_future_are_foreign() {
    let mut store = Store::aligned(512, 512);
    let good = store.bytes.clone();
    store.bytes.fill(0xa5);
    assert_eq!(store.damage(0, 512), (DamageKind::Foreign, 0));
    let other_run = DataPool::new(SEED + 1, DataShape::default());
    fill(&mut store.bytes, 0, 0, Generations::filled_with(EPOCH), &other_run);
    assert_eq!(store.damage(0, 512), (DamageKind::Foreign, 0));
    for generation in [Generations::filled_with(EPOCH) + 1, Generations::filled_with(EPOCH + 1)] {
        let pool = store.pool.clone();
        fill(&mut store.bytes, 0, 0, generation, &pool);
        assert_eq!(store.damage(0, 512), (DamageKind::Foreign, 0));
    }
    store.bytes = good;
    assert!(store.read(0, 512).is_ok());
}

#[test]
fn what_an_earlier_fill_left_is_stale() {
    let mut store = Store::aligned(512, 512);
    let pool = store.pool.clone();
    fill(&mut store.bytes, 0, 0, Generations::filled_with(EPOCH - 1) + 5, &pool);
    assert_eq!(store.damage(0, 512), (DamageKind::Stale, 0));
}

#[test]
fn damage_says_what_was_expected_and_what_was_found() {
    let mut store = Store::aligned(512, 1024);
    let before = store.bytes.clone();
    store.write(512, 512);
    store.bytes.copy_from_slice(&before);
    assert_eq!(
        store.read(512, 512).unwrap_err().to_string(),
        "stale sector in module 0 at offset 512: expected generation 3.1, found generation 3.0 of module 0 at offset 512, \
         seed 42"
    );
}

#[test]
fn after_a_failed_write_old_new_and_their_mixture_are_all_acceptable() {
    let mut store = Store::aligned(1024, 1024);
    store.write(0, 1024);
    let before = store.bytes.clone();
    let mut after = before.clone();
    let Store { map, pool, .. } = &store;
    map.begin_write(0, 0, 1024, |_, _, generation| fill(&mut after, 0, 0, generation, pool));
    map.end_write(0, 0, 1024, false);
    for halves in [[&before, &before], [&before, &after], [&after, &before], [&after, &after]] {
        store.bytes = [&halves[0][..512], &halves[1][512..]].concat();
        assert!(store.read(0, 1024).is_ok());
    }
    store.write(0, 1024);
    store.bytes = after;
    assert_eq!(store.damage(0, 1024), (DamageKind::Stale, 0));
}

#[test]
fn a_lost_write_is_found_even_while_one_that_overlaps_it_is_in_flight() {
    let mut store = Store::aligned(512, 512);
    let Store { map, pool, bytes } = &mut store;
    let mut lost = bytes.clone();
    map.begin_write(0, 0, 512, |_, _, generation| fill(&mut lost, 0, 0, generation, pool));
    map.begin_write(0, 0, 512, |_, _, _| {});
    map.end_write(0, 0, 512, true);
    assert_eq!(store.damage(0, 512), (DamageKind::Stale, 0));
    store.bytes = lost;
    assert!(store.read(0, 512).is_ok());
}

#[test]
fn half_a_sector_is_no_damage_while_its_write_is_in_flight_and_is_afterwards() {
    let mut store = Store::aligned(512, 512);
    let Store { map, pool, bytes } = &mut store;
    let mut new = bytes.clone();
    map.begin_write(0, 0, 512, |_, _, generation| fill(&mut new, 0, 0, generation, pool));
    bytes[..256].copy_from_slice(&new[..256]);
    assert_eq!(store.read(0, 512), Ok(Checked { sectors: 0, unjudged: 1 }));
    store.map.end_write(0, 0, 512, true);
    assert_eq!(store.damage(0, 512), (DamageKind::Flipped, 0));
}

#[test]
fn a_file_that_was_written_once_is_judged_without_a_map() {
    let pool = DataPool::new(SEED, DataShape::default());
    let mut file = vec![0; 10_000];
    fill(&mut file, 9, 0, 7, &pool);
    let judge = |file: &[u8], generations| {
        verify(file, 9, 0, &Expectation { seed: SEED, duplicates: pool.duplicates(), generations })
    };
    assert_eq!(judge(&file, Acceptable::Exactly(7)), Ok(Checked { sectors: 19, unjudged: 0 }));
    fill(&mut file[512..1024], 9, 512, 6, &pool);
    assert_eq!(judge(&file, Acceptable::Exactly(7)).unwrap_err().kind, DamageKind::Torn);
    assert_eq!(judge(&file, Acceptable::Exactly(6)).unwrap_err().kind, DamageKind::Foreign);
    assert!(judge(&file, Acceptable::Any).is_ok());
    assert_eq!(judge(&file[512..1024], Acceptable::Exactly(7)).unwrap_err().kind, DamageKind::Misplaced);
}

#[test]
fn off_sector_writes_leave_only_the_sectors_that_they_break_unjudged() {
    let shifted = Spec { shift: Bytes(256), ..spec(Pattern::Random, 4096) };
    let grid = Grid::over(&[&shifted]).unwrap();
    assert_eq!(grid, Grid { unit: Bytes(4096), shift: Bytes(256) });
    let mut store = Store::new(grid, 3 * 4096);
    for block in [1, 0, 1, 1] {
        store.write(256 + block * 4096, 4096);
    }
    assert_eq!(store.read(256, 4096), Ok(Checked { sectors: 7, unjudged: 0 }));
    // Sector 0 lies before the first unit and sector 8 on the border of two.
    assert_eq!(store.read(0, 8448), Ok(Checked { sectors: 14, unjudged: 2 }));
    store.bytes[512] ^= 1;
    assert_eq!(store.damage(256, 4096), (DamageKind::Flipped, 512));
}

#[test]
fn the_grid_of_several_streams_is_the_coarsest_that_all_cover_whole() {
    let of = |bytes, shift| Spec { shift: Bytes(shift), ..spec(Pattern::Random, bytes) };
    let over = |specs: &[Spec]| Grid::over(&specs.iter().collect::<Vec<_>>()).map(|grid| (grid.unit.0, grid.shift.0));
    assert_eq!(over(&[of(4096, 0), of(65_536, 0)]), Ok((4096, 0)));
    assert_eq!(over(&[of(4096, 2048), of(65_536, 0)]), Ok((2048, 0)));
    assert_eq!(over(&[of(4096, 5120)]), Ok((4096, 1024)));
    let mut mixture = of(4096, 0);
    mixture.transfers.push(Transfer { size: Bytes(6144), weight: 1.0 });
    assert_eq!(over(&[mixture]), Ok((2048, 0)));
    let refused = over(&[of(4096, 0), of(4096, 256)]).unwrap_err().to_string();
    assert_eq!(
        refused,
        "validate: transfers and shifts of all streams must be multiples of a common size of at least 512 B, got 256 B"
    );
}

#[test]
fn a_map_takes_eight_bytes_a_unit() {
    let grid = Grid { unit: Bytes::kib(4), shift: Bytes(0) };
    assert_eq!(grid.memory(1, Bytes::gib(512)), Bytes::gib(1));
}

/// A write or a read of whole units: (writes, first unit, units).
fn history() -> impl Strategy<Value = Vec<(bool, u64, u32)>> {
    prop::collection::vec((any::<bool>(), 0u64..6, 1u32..3), 1..40)
}

proptest! {
    #[test]
    fn a_sound_store_is_never_accused_and_any_planted_damage_is_named(
        history in history(), sectors_a_unit in 1u64..5, shift in 0u64..3, planted in 0u32..6, at in 0u64..7, part in 1u64..5,
    ) {
        let (unit, shift) = (sectors_a_unit * 512, shift * 512);
        let mut store = Store::new(Grid { unit: Bytes(unit), shift: Bytes(shift) }, (shift + 7 * unit) as usize);
        for (writes, first, units) in history {
            let (offset, bytes) = (shift + first * unit, units * unit as u32);
            if writes {
                store.write(offset, bytes.min((7 - first) as u32 * unit as u32));
            }
            prop_assert!(store.read(0, store.bytes.len() as u32).is_ok());
        }
        let start = shift + at * unit;
        let here = start as usize..(start + unit) as usize;
        let expected = match planted {
            0 => {
                store.bytes[here.start + 100] ^= 4;
                (DamageKind::Flipped, start)
            }
            1 => {
                let elsewhere = shift + (at + 1) % 7 * unit;
                store.bytes.copy_within(elsewhere as usize..(elsewhere + unit) as usize, here.start);
                (DamageKind::Misplaced, start)
            }
            2 => {
                store.bytes[here].fill(0);
                (DamageKind::Zeroed, start)
            }
            3 => {
                store.bytes[here].fill(1);
                (DamageKind::Foreign, start)
            }
            _ => {
                let before = store.bytes.clone();
                store.write(start, unit as u32);
                let lost = if planted == 4 { 0 } else { (part.min(sectors_a_unit) - 1) * 512 } as usize;
                let kind = if lost == 0 { DamageKind::Stale } else { DamageKind::Torn };
                store.bytes[here.start + lost..here.end].copy_from_slice(&before[here.start + lost..here.end]);
                (kind, start + lost as u64)
            }
        };
        prop_assert_eq!(store.damage(0, store.bytes.len() as u32), expected);
    }
}

/// A module on which half of the blocks of 4 KiB repeat others, written twice over.
fn with_duplicates() -> Store {
    let mut store = Store::aligned(4096, 64 * 4096);
    let shape = DataShape { duplicate: Share(0.5), ..DataShape::default() };
    store.pool = DataPool::new(SEED, shape);
    fill(&mut store.bytes, 0, 0, Generations::filled_with(EPOCH), &store.pool);
    for block in 0..64 {
        store.write(block * 4096, 4096);
    }
    store
}

fn shared(store: &Store, block: usize) -> Option<u64> {
    let sector = store.bytes[block * 4096..][..SECTOR].try_into().unwrap();
    let Sector::Valid(stamp) = Stamp::read(sector, SEED) else { panic!("not valid") };
    stamp.shared().map(|shared| shared.group)
}

#[test]
fn blocks_that_repeat_others_are_right_where_they_were_written() {
    let store = with_duplicates();
    assert_eq!(store.read(0, 64 * 4096), Ok(Checked { sectors: 64 * 8, unjudged: 0 }));
    let repeats = (0..64).filter(|block| shared(&store, *block).is_some()).count();
    assert!((16..48).contains(&repeats), "{repeats}");
}

#[test]
fn of_a_block_that_repeats_others_all_is_told_but_a_block_of_its_own_group() {
    let mut store = with_duplicates();
    let of =
        |group: Option<u64>, store: &Store| (0..64).filter(|block| shared(store, *block) == group).collect::<Vec<_>>();
    let groups: Vec<u64> = (0..64).filter_map(|block| shared(&store, block)).collect();
    let whole = store.bytes.clone();
    let (one, other) =
        (of(Some(groups[0]), &store)[0], of(Some(*groups.iter().find(|g| **g != groups[0]).unwrap()), &store)[0]);
    let alone = of(None, &store)[0];
    for (from, to) in [(one, alone), (one, other), (alone, one)] {
        store.bytes.copy_from_slice(&whole);
        store.bytes.copy_within(from * 4096..(from + 1) * 4096, to * 4096);
        assert_eq!(store.damage(0, 64 * 4096), (DamageKind::Misplaced, to as u64 * 4096), "{from} to {to}");
    }
    store.bytes.copy_from_slice(&whole);
    store.bytes[one * 4096 + 700] ^= 1;
    assert_eq!(store.damage(0, 64 * 4096), (DamageKind::Flipped, one as u64 * 4096 + 512));
    store.bytes.copy_from_slice(&whole);
    store.bytes.copy_within(one * 4096..one * 4096 + 512, one * 4096 + 1024);
    assert_eq!(store.damage(0, 64 * 4096), (DamageKind::Misplaced, one as u64 * 4096 + 1024));
    store.bytes.copy_from_slice(&whole);
    let same_group: Vec<usize> = of(Some(groups[0]), &store);
    store.bytes.copy_within(one * 4096..(one + 1) * 4096, same_group[same_group.len() - 1] * 4096);
    assert_eq!(store.bytes, whole, "its own group has the same bytes");
}

#[test]
fn a_lost_write_over_a_block_that_repeats_others_is_stale_and_half_of_one_is_torn() {
    let mut store = with_duplicates();
    for block in 0..64usize {
        let (at, before) = (block * 4096, store.bytes.clone());
        store.write(at as u64, 4096);
        let after = store.bytes.clone();
        if before == after {
            continue;
        }
        store.bytes = before.clone();
        assert_eq!(store.damage(0, 64 * 4096), (DamageKind::Stale, at as u64));
        store.bytes[at..at + 2048].copy_from_slice(&after[at..at + 2048]);
        assert_eq!(store.damage(0, 64 * 4096), (DamageKind::Torn, at as u64 + 2048));
        store.bytes = after;
    }
}
