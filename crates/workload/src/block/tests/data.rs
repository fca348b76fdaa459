//! What written data looks like from outside.

use std::collections::HashMap;

use proptest::prelude::*;
use units::{Bytes, Share};

use crate::block::{DataPool, DataShape, SECTOR, Sector, Stamp, fill};

fn pool(compressible: f64, duplicate: f64) -> DataPool {
    DataPool::new(
        77,
        DataShape { compressible: Share(compressible), duplicate: Share(duplicate), ..DataShape::default() },
    )
}

/// So many bytes of module 1 as writes of 4 KiB make them.
fn written(pool: &DataPool, bytes: usize) -> Vec<u8> {
    let mut data = vec![0; bytes];
    for (index, block) in data.chunks_mut(4096).enumerate() {
        fill(block, 1, index as u64 * 4096, index as u64 % 3, pool);
    }
    data
}

#[test]
fn the_stated_share_really_compresses() {
    for share in [0.0, 0.1, 0.25, 0.5, 0.75, 0.9] {
        let data = written(&pool(share, 0.0), 1 << 20);
        // Alone, as a device that compresses blocks sees them, and as one long stream.
        let blocks: usize = data.chunks(4096).map(|block| lz4_flex::block::compress(block).len()).sum();
        let stream = lz4_flex::block::compress(&data).len();
        for packed in [blocks, stream] {
            let saved = 1.0 - packed as f64 / data.len() as f64;
            assert!((saved - share).abs() < 0.02, "share {share}: {saved} saved");
        }
    }
}

#[test]
fn at_most_the_stamp_withstands_compression() {
    let data = written(&pool(1.0, 0.0), 1 << 20);
    let saved = 1.0 - lz4_flex::block::compress(&data).len() as f64 / data.len() as f64;
    assert!(saved > 0.88, "{saved}");
}

#[test]
fn bytes_of_incompressible_data_are_even() {
    // 255 degrees of freedom: chi-square stays below 330.5 (one in a thousand). The plain magic is left out.
    let mut counts = [0f64; 256];
    let data = written(&pool(0.0, 0.0), 1 << 20);
    data.chunks(SECTOR).flat_map(|sector| &sector[8..]).for_each(|byte| counts[usize::from(*byte)] += 1.0);
    let expected = (data.len() / SECTOR * 504) as f64 / 256.0;
    let chi_square: f64 = counts.iter().map(|count| (count - expected).powi(2) / expected).sum();
    assert!(chi_square < 330.5, "{chi_square}");
}

#[test]
fn no_payload_repeats_unless_duplicates_are_asked_for() {
    let data = written(&pool(0.0, 0.0), 4 << 20);
    let mut seen: HashMap<&[u8], u32> = HashMap::new();
    data.chunks(SECTOR).for_each(|sector| *seen.entry(&sector[40..]).or_default() += 1);
    assert_eq!(seen.len(), data.len() / SECTOR);
}

/// A pool whose duplicates are blocks of this size.
fn in_units(compressible: f64, duplicate: f64, unit: u64) -> DataPool {
    DataPool::new(77, DataShape { compressible: Share(compressible), duplicate: Share(duplicate), unit: Bytes(unit) })
}

/// The share of blocks of this size that are equal to another, and the share that a device that keeps one of each saves.
fn repeated(data: &[u8], unit: usize) -> (f64, f64) {
    let mut seen: HashMap<&[u8], u32> = HashMap::new();
    data.chunks(unit).for_each(|block| *seen.entry(block).or_default() += 1);
    let blocks = (data.len() / unit) as f64;
    let equal = seen.values().filter(|count| **count > 1).sum::<u32>();
    (f64::from(equal) / blocks, 1.0 - seen.len() as f64 / blocks)
}

#[test]
fn the_stated_share_of_blocks_is_equal_to_others_to_the_last_byte_in_any_unit() {
    for (unit, bytes) in [(512, 4 << 20), (4096, 32 << 20), (8192, 32 << 20), (65536, 128 << 20)] {
        let (mut data, pool) = (vec![0; bytes], in_units(0.0, 0.4, unit as u64));
        // Transfers of several blocks, as a fill makes them, each with a generation of its own.
        for (index, transfer) in data.chunks_mut(4 * unit).enumerate() {
            fill(transfer, 1, (index * 4 * unit) as u64, index as u64, &pool);
        }
        let (equal, saved) = repeated(&data, unit);
        let noise = 4.0 * (0.24 * unit as f64 / bytes as f64).sqrt();
        assert!((equal - 0.4).abs() < noise, "{unit} B: {equal} of the blocks are equal to others");
        assert!((saved - 0.4).abs() < noise + 0.035, "{unit} B: a device saves {saved}");
    }
}

#[test]
fn duplicates_keep_the_share_that_compresses() {
    let pool = in_units(0.5, 0.5, 4096);
    let data = written(&pool, 4 << 20);
    let packed: usize = data.chunks(4096).map(|block| lz4_flex::block::compress(block).len()).sum();
    let saved = 1.0 - packed as f64 / data.len() as f64;
    assert!((saved - 0.5).abs() < 0.02, "{saved} saved");
    assert!((repeated(&data, 4096).0 - 0.5).abs() < 0.13);
}

/// What a seed gave before there were real duplicates.
#[test]
fn data_without_duplicates_is_what_it_was() {
    let data = written(&pool(0.25, 0.0), 1 << 20);
    assert_eq!(crc32c::crc32c(&data), 0x1813_ea66);
    let (mut unaligned, pool) = (vec![0; 3000], pool(0.0, 0.0));
    fill(&mut unaligned, 2, 300, 5, &pool);
    assert_eq!(crc32c::crc32c(&unaligned), 0x5443_e42e);
}

#[test]
fn rewriting_a_block_changes_its_payload() {
    let pool = pool(0.0, 0.0);
    let mut blocks = [[0; SECTOR]; 2];
    fill(&mut blocks[0], 0, 4096, 1, &pool);
    fill(&mut blocks[1], 0, 4096, 2, &pool);
    let same = blocks[0][8..].iter().zip(&blocks[1][8..]).filter(|(one, two)| one == two).count();
    assert!(same < 20, "{same} bytes of 504 are the same where 2 are expected");
}

#[test]
fn no_byte_of_an_off_sector_write_is_left_over_from_the_buffer() {
    let mut zeroed = vec![0x00; 3000];
    let mut other = vec![0xff; 3000];
    fill(&mut zeroed, 0, 300, 1, &pool(0.0, 0.0));
    fill(&mut other, 0, 300, 1, &pool(0.0, 0.0));
    assert_eq!(zeroed, other);
    assert!(zeroed.windows(8).all(|bytes| bytes != [0; 8]));
}

proptest! {
    #[test]
    fn a_stamp_reads_back_whatever_the_shape_place_and_generation(
        compressible in 0.0f64..=1.0, duplicate in 0.0f64..=1.0, module in 0u32..1 << 20, sector in 0u64..1 << 50, generation: u64,
    ) {
        let (pool, offset) = (pool(compressible, duplicate), sector * 512);
        let mut block = [0; SECTOR];
        fill(&mut block, module, offset, generation, &pool);
        let Sector::Valid(stamp) = Stamp::read(&block, 1) else { panic!("not valid") };
        prop_assert_eq!(stamp.seed, 77);
        match stamp.shared() {
            None => prop_assert_eq!(stamp, Stamp { module, offset, generation, seed: 77 }),
            Some(shared) => prop_assert!(pool.duplicates().says(module, offset, generation, shared)),
        }
    }

    #[test]
    fn a_sector_is_the_same_in_whatever_write_it_lies(
        before in 0usize..3000, after in 0usize..3000, offset in 0u64..100_000,
    ) {
        let pool = pool(0.3, 0.3);
        let mut large = vec![0; before + 4096 + after];
        fill(&mut large, 3, offset, 9, &pool);
        let first = offset.next_multiple_of(512);
        let from = (first - offset) as usize;
        let mut alone = [0; SECTOR];
        fill(&mut alone, 3, first, 9, &pool);
        prop_assert_eq!(&large[from..from + SECTOR], &alone[..]);
    }
}
