//! The promises of the block generator: every operation where it may be, as often as it should, whoever draws it.

use std::collections::HashMap;

use proptest::prelude::*;
use units::{Bytes, Share};

use super::spec;
use crate::block::{Generator, Grid, Hotspot, Offsets, Pattern, READ, Spec, SpecError, TRIM, Transfer};
use crate::{Operation, OperationKind};

fn generator(spec: &Spec, module_bytes: u64) -> Generator {
    Generator::new(spec, 2, Bytes(module_bytes), 11, 0, 1).unwrap()
}

fn offsets(spec: &Spec, module_bytes: u64, count: u64) -> Vec<u64> {
    let mut generator = generator(spec, module_bytes);
    (0..count).map(|_| generator.next(0).offset).collect()
}

/// The first `count` operations of module 0, shared by so many workers, in an order that does not depend on them.
fn shared(spec: &Spec, module_bytes: u64, workers: u32, count: u32) -> Vec<Operation> {
    let mut all = Vec::new();
    for worker in 0..workers {
        let mut generator = Generator::new(spec, 1, Bytes(module_bytes), 5, worker, workers).unwrap();
        let mine = count.saturating_sub(worker).div_ceil(workers);
        all.extend((0..mine).map(|_| generator.next(0)));
    }
    all.sort_by_key(|operation| (operation.offset, operation.bytes, operation.class));
    all
}

#[test]
fn an_operation_that_is_sought_by_its_number_is_the_one_that_comes_there_in_turn() {
    for pattern in [Pattern::Random, Pattern::RandomOnce, Pattern::Sequential] {
        let spec = spec(pattern, 4096);
        let mut in_turn = generator(&spec, 7 * 4096);
        let all: Vec<Operation> = (0..40).map(|_| in_turn.next(1)).collect();
        let mut sought = generator(&spec, 7 * 4096);
        // Forth and back over the ends of passes, as workers who take one arrival after the other would ask.
        for k in [0, 1, 3, 2, 6, 7, 6, 8, 13, 14, 39, 20, 21] {
            sought.seek(1, k as u64);
            assert_eq!(sought.next(1), all[k], "{pattern:?}, operation {k}");
        }
    }
}

#[test]
fn sequential_work_visits_block_after_block_and_starts_again() {
    assert_eq!(offsets(&spec(Pattern::Sequential, 4096), 3 * 4096 + 100, 5), [0, 4096, 8192, 0, 4096]);
}

#[test]
fn operations_differ_between_modules_and_seeds_and_repeat_for_the_same() {
    let spec = spec(Pattern::Random, 512);
    let draw = |module, seed| {
        let mut generator = Generator::new(&spec, 2, Bytes::gib(1), seed, 0, 1).unwrap();
        (0..100).map(|_| generator.next(module).offset).collect::<Vec<_>>()
    };
    assert_eq!(draw(0, 1), draw(0, 1));
    assert_ne!(draw(0, 1), draw(1, 1));
    assert_ne!(draw(0, 1), draw(0, 2));
}

#[test]
fn each_pass_of_full_coverage_has_another_order() {
    let seen = offsets(&spec(Pattern::RandomOnce, 512), 512 * 100, 300);
    let (one, two, three) = (&seen[..100], &seen[100..200], &seen[200..]);
    assert!(one != two && two != three && one != three);
}

#[test]
fn uniform_offsets_fall_evenly_over_the_range() {
    // 99 degrees of freedom: chi-square stays below 148.2 (one in a thousand).
    let mut counts = [0f64; 100];
    offsets(&spec(Pattern::Random, 512), 51_200, 100_000)
        .iter()
        .for_each(|offset| counts[(offset / 512) as usize] += 1.0);
    let chi_square: f64 = counts.iter().map(|count| (count - 1000.0).powi(2) / 1000.0).sum();
    assert!(chi_square < 148.2, "{chi_square}");
}

#[test]
fn the_read_share_is_met_within_four_standard_errors() {
    for share in [0.0, 0.01, 0.3, 0.5, 0.999, 1.0] {
        let spec = Spec { read: Share(share), ..spec(Pattern::Random, 512) };
        let mut generator = generator(&spec, 1 << 20);
        let n = 100_000.0;
        let reads = (0..100_000).filter(|_| generator.next(0).kind == OperationKind::Read).count() as f64;
        assert!((reads - share * n).abs() <= 4.0 * (n * share * (1.0 - share)).sqrt(), "{share}: {reads}");
    }
}

#[test]
fn trims_come_by_their_share_and_take_nothing_from_reads() {
    let plain = Spec { read: Share(0.6), ..spec(Pattern::Random, 4096) };
    let with = Spec { trims: Share(0.1), ..plain.clone() };
    let (mut plain, mut with) = (generator(&plain, 1 << 30), generator(&with, 1 << 30));
    let mut counts = [0_u32; 4];
    for _ in 0..100_000 {
        let (before, now) = (plain.next(0), with.next(0));
        counts[usize::from(now.class)] += 1;
        assert_eq!((before.class == READ, before.offset, before.bytes), (now.class == READ, now.offset, now.bytes));
        assert_eq!(now.kind == OperationKind::Trim, now.class == TRIM);
    }
    for (count, expected) in counts.iter().zip([60_000.0, 30_000.0, 0.0, 10_000.0]) {
        assert!((f64::from(*count) - expected).abs() < 700.0, "{counts:?}");
    }
    let none = Spec { read: Share(0.9), trims: Share(0.2), ..spec(Pattern::Random, 4096) };
    assert!(none.check(Bytes(1 << 30)).is_err());
}

#[test]
fn reads_and_writes_have_sizes_of_their_own_each_by_its_weight() {
    let of = |kib, weight| Transfer { size: Bytes::kib(kib), weight };
    let apart = Spec {
        read: Share(0.5),
        trims: Share(0.2),
        write_transfers: vec![of(16, 3.0), of(64, 1.0)],
        ..spec(Pattern::Random, 4096)
    };
    let mut generator = generator(&apart, 1 << 30);
    let (mut small, mut large) = (0.0, 0.0);
    for _ in 0..40_000 {
        let operation = generator.next(0);
        assert_eq!(operation.offset % u64::from(operation.bytes), 0);
        match (operation.class == READ, operation.bytes >> 10) {
            (true, 4) => {}
            (false, 16) => small += 1.0,
            (false, 64) => large += 1.0,
            other => panic!("{other:?}"),
        }
    }
    assert!((small / (small + large) - 0.75_f64).abs() < 0.02, "{small} and {large}");
    assert!((apart.moved_per_operation() - (0.5 * 4.0 + 0.3 * 28.0) * 1024.0).abs() < 1e-6);
    assert_eq!(Grid::over(&[&apart]).unwrap().unit, Bytes::kib(16), "what is written is told apart, not what is read");
    let ordered = Spec { pattern: Pattern::Sequential, ..apart };
    assert_eq!(ordered.check(Bytes(1 << 30)), Err(SpecError::DirectionsInOrder(Pattern::Sequential)));
}

#[test]
fn a_range_begins_at_its_offset_and_is_a_share_of_the_rest() {
    for pattern in [Pattern::Random, Pattern::RandomOnce, Pattern::Sequential] {
        let spec = Spec { start: Bytes(1 << 20), range: Share(0.5), shift: Bytes(512), ..spec(pattern, 4096) };
        let seen = offsets(&spec, 3 << 20, 1_000);
        assert!(seen.iter().all(|offset| (1 << 20..2 << 20).contains(offset) && offset % 4096 == 512), "{pattern:?}");
        assert!(seen.iter().any(|offset| *offset < (1 << 20) + (1 << 18)), "{pattern:?}");
        assert!(spec.check(Bytes(1 << 20)).is_err(), "nothing is left behind the offset");
    }
}

#[test]
fn reads_and_writes_do_not_settle_on_fixed_blocks_of_sequential_work() {
    let spec = Spec { read: Share(0.5), ..spec(Pattern::Sequential, 512) };
    let mut generator = generator(&spec, 512 * 64);
    let mut kinds: HashMap<u64, Vec<OperationKind>> = HashMap::new();
    for _ in 0..64 * 40 {
        let operation = generator.next(0);
        kinds.entry(operation.offset).or_default().push(operation.kind);
    }
    assert!(kinds.values().all(|kinds| kinds.contains(&OperationKind::Read) && kinds.contains(&OperationKind::Write)));
}

#[test]
fn a_hot_spot_gets_its_share_of_the_operations() {
    let spot = Hotspot { operations: Share(0.9), blocks: Share(0.1) };
    let spec = Spec { offsets: Offsets::Hotspot(spot), ..spec(Pattern::Random, 4096) };
    let seen = offsets(&spec, 4096 * 1000, 100_000);
    let hot = seen.iter().filter(|offset| **offset < 4096 * 100).count() as f64;
    assert!((hot - 90_000.0).abs() < 400.0, "{hot}");
    let last_hot = seen.iter().filter(|offset| **offset == 4096 * 99).count();
    let first_cold = seen.iter().filter(|offset| **offset == 4096 * 100).count();
    assert!(last_hot > 700 && first_cold < 40, "{last_hot} {first_cold}");
}

#[test]
fn the_hottest_blocks_of_zipf_are_scattered_and_as_hot_as_the_law_says() {
    let spec = Spec { offsets: Offsets::Zipf { exponent: 0.99 }, ..spec(Pattern::Random, 4096) };
    let (blocks, draws) = (10_000u64, 200_000);
    let mut counts: HashMap<u64, u64> = HashMap::new();
    for offset in offsets(&spec, blocks * 4096, draws) {
        *counts.entry(offset / 4096).or_default() += 1;
    }
    let mut hottest: Vec<(u64, u64)> = counts.into_iter().map(|(block, count)| (count, block)).collect();
    hottest.sort_unstable_by(|a, b| b.cmp(a));
    let whole: f64 = (1..=blocks).map(|rank| (rank as f64).powf(-0.99)).sum();
    for rank in 1..=10 {
        let law = draws as f64 * (rank as f64).powf(-0.99) / whole;
        let seen = hottest[rank - 1].0 as f64;
        assert!((seen - law).abs() < 5.0 * law.sqrt(), "rank {rank}: {seen} where the law says {law}");
    }
    let beside = hottest[..10].windows(2).filter(|pair| pair[0].1.abs_diff(pair[1].1) < 10).count();
    assert!(beside <= 2, "{:?}", &hottest[..10]);
}

#[test]
fn heat_of_a_mixture_lies_in_the_same_places_for_every_size() {
    let transfers = vec![Transfer { size: Bytes(4096), weight: 1.0 }, Transfer { size: Bytes(12_288), weight: 1.0 }];
    let spec = Spec { transfers, offsets: Offsets::Zipf { exponent: 1.3 }, ..spec(Pattern::Random, 4096) };
    let mut generator = generator(&spec, 4096 * 1000);
    let mut counts = [HashMap::new(), HashMap::new()];
    for _ in 0..50_000 {
        let operation = generator.next(0);
        assert_eq!(operation.offset % u64::from(operation.bytes), 0);
        *counts[usize::from(operation.bytes != 4096)].entry(operation.offset).or_insert(0u32) += 1;
    }
    let hottest = counts.map(|counts| counts.into_iter().max_by_key(|(_, count)| *count).unwrap().0);
    assert_eq!(hottest[0] / 12_288 * 12_288, hottest[1]);
}

#[test]
fn all_problems_of_a_spec_are_named_at_once() {
    let spec = Spec {
        transfers: vec![Transfer { size: Bytes(100), weight: 1.0 }, Transfer { size: Bytes::mib(2), weight: -1.0 }],
        offsets: Offsets::Zipf { exponent: 0.0 },
        range: Share(1.5),
        ..spec(Pattern::RandomOnce, 512)
    };
    let texts: Vec<String> = spec.problems(Bytes::mib(1)).iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "transfer: at least 512 B, got 100 B",
            "transfer: at most the 1 MiB that offset, range and shift leave of a module of 1 MiB, got 2 MiB; make the module \
             larger or the transfer smaller",
            "weight of transfer 2 MiB: greater than 0, got -1",
            "full coverage without repeats: one transfer size, got 2; use one size or the random pattern",
            "preferred offsets: only with the random pattern, got RandomOnce; remove the offsets or the pattern",
            "zipf exponent: greater than 0 and at most 20, got 0",
            "range: between 0% and 100%, got 150%",
        ]
    );
}

#[test]
fn a_generator_refuses_what_it_cannot_name() {
    let spec = spec(Pattern::Random, 512);
    let new = |modules, worker, workers| Generator::new(&spec, modules, Bytes(512), 0, worker, workers).err();
    assert_eq!(new(65_537, 0, 1), Some(SpecError::Modules(65_537)));
    assert_eq!(new(1, 2, 2), Some(SpecError::Worker { worker: 2, workers: 2 }));
    assert_eq!(new(65_536, 1, 2), None);
}

fn any_pattern() -> impl Strategy<Value = (Pattern, Offsets)> {
    prop_oneof![
        Just((Pattern::Random, Offsets::Uniform)),
        Just((Pattern::RandomOnce, Offsets::Uniform)),
        Just((Pattern::Sequential, Offsets::Uniform)),
        (0.1f64..3.0).prop_map(|exponent| (Pattern::Random, Offsets::Zipf { exponent })),
        (0.0f64..=1.0, 0.001f64..=1.0).prop_map(|(operations, blocks)| {
            let spot = Hotspot { operations: Share(operations), blocks: Share(blocks) };
            (Pattern::Random, Offsets::Hotspot(spot))
        }),
    ]
}

fn any_spec() -> impl Strategy<Value = Spec> {
    let sizes = prop::collection::vec((512u64..10_000, 0.1f64..10.0), 1..4);
    (any_pattern(), sizes, 0.0f64..=1.0, 0u64..5000, 0.3f64..=1.0).prop_map(
        |((pattern, offsets), sizes, read, shift, range)| {
            let mut transfers: Vec<_> =
                sizes.into_iter().map(|(size, weight)| Transfer { size: Bytes(size), weight }).collect();
            if pattern == Pattern::RandomOnce {
                transfers.truncate(1);
            }
            let (read, shift, range) = (Share(read), Bytes(shift), Share(range));
            Spec { pattern, offsets, transfers, read, shift, range, ..spec(pattern, 512) }
        },
    )
}

proptest! {
    #[test]
    fn full_coverage_visits_every_block_once_in_every_pass(
        blocks in 1u64..200, bytes in 512u64..600, workers in 1u32..5, passes in 1u64..4,
    ) {
        let spec = spec(Pattern::RandomOnce, bytes);
        let seen = shared(&spec, blocks * bytes + bytes / 2, workers, (blocks * passes) as u32);
        let expected: Vec<u64> = (0..blocks * passes).map(|i| i / passes * bytes).collect();
        prop_assert_eq!(seen.iter().map(|operation| operation.offset).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn sequential_workers_together_visit_every_block_once_in_every_pass(
        blocks in 1u64..200, workers in 1u32..5, passes in 1u64..4,
    ) {
        let seen = shared(&spec(Pattern::Sequential, 512), blocks * 512, workers, (blocks * passes) as u32);
        let expected: Vec<u64> = (0..blocks * passes).map(|i| i / passes * 512).collect();
        prop_assert_eq!(seen.iter().map(|operation| operation.offset).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_set_of_operations_is_the_same_however_many_workers_share_it(
        spec in any_spec(), module in 20_000u64..500_000, workers in 2u32..6,
    ) {
        prop_assume!(spec.problems(Bytes(module)).is_empty());
        prop_assert_eq!(shared(&spec, module, workers, 600), shared(&spec, module, 1, 600));
    }

    #[test]
    fn operations_stay_inside_their_range_on_their_alignment(spec in any_spec(), module in 512u64..200_000) {
        prop_assume!(spec.problems(Bytes(module)).is_empty());
        let mut generator = generator(&spec, module);
        let range = (module as f64 * spec.range.0) as u64;
        for _ in 0..300 {
            let operation = generator.next(1);
            let (offset, bytes) = (operation.offset, u64::from(operation.bytes));
            prop_assert!(offset >= spec.shift.0 && offset + bytes <= range.min(module));
            prop_assert!(spec.transfers.iter().any(|transfer| transfer.size.0 == bytes));
            if spec.pattern != Pattern::Sequential || spec.transfers.len() == 1 {
                let unit = spec.transfers.iter().map(|transfer| transfer.size.0).min().unwrap();
                let zipf = matches!(spec.offsets, Offsets::Zipf { .. }) && bytes == unit;
                prop_assert_eq!((offset - spec.shift.0) % if zipf { unit } else { bytes }, 0);
            }
        }
    }
}
