//! The order of trials inside a block.
//!
//! The one idea: what drifts with time must not fall on one level or one system. Points come in random order, anew in
//! every block; the systems of a point stand next to each other, and each second block has them in the reverse order of
//! the first, so that over an even number of blocks each system stood before each other one equally often.
//!
//! What it does not do: it makes no trial.

use random::Draws;

/// A point on a system, by their places in the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot {
    pub point: usize,
    pub system: usize,
}

/// The order of one block of an experiment.
pub(crate) fn block(seed: u64, experiment: usize, replicate: u32, points: usize, systems: usize) -> Vec<Slot> {
    let mut draws = Draws::named(seed, &[experiment as u64, u64::from(replicate)]);
    let order = draws.permutation(points);
    order.into_iter().flat_map(|point| turn(seed, experiment, point, replicate, systems)).collect()
}

/// The systems of one point in one block: in one block a turn of their order in the study, in the next the same reversed;
/// the block after it begins with another system.
fn turn(seed: u64, experiment: usize, point: usize, replicate: u32, systems: usize) -> impl Iterator<Item = Slot> {
    // Half of the points begin with AB, so that a block is balanced within itself too.
    let first = Draws::named(seed, &[experiment as u64, point as u64, u64::MAX]).below(systems.max(1) as u64) as usize;
    let (turned, reversed) = (first + replicate as usize / 2, replicate % 2 == 1);
    (0..systems).map(move |i| Slot { point, system: (turned + if reversed { systems - 1 - i } else { i }) % systems })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_block_holds_every_point_on_every_system_once(seed: u64, replicate in 0u32..9, points in 1usize..20, systems in 1usize..5) {
            let mut slots = block(seed, 0, replicate, points, systems);
            slots.sort();
            let all: Vec<Slot> = (0..points).flat_map(|point| (0..systems).map(move |system| Slot { point, system })).collect();
            prop_assert_eq!(slots, all);
        }

        #[test]
        fn the_systems_of_a_point_stand_side_by_side(seed: u64, points in 1usize..10, systems in 1usize..4) {
            for pair in block(seed, 3, 1, points, systems).chunks(systems) {
                prop_assert!(pair.iter().all(|slot| slot.point == pair[0].point));
            }
        }

        #[test]
        fn over_an_even_number_of_blocks_each_system_stands_before_each_other_one_equally_often(
            seed: u64, points in 1usize..6, systems in 2usize..6, pairs in 1u32..4,
        ) {
            let mut before = vec![vec![0; systems]; systems];
            for replicate in 0..2 * pairs {
                for order in block(seed, 1, replicate, points, systems).chunks(systems) {
                    for (i, earlier) in order.iter().enumerate() {
                        order[i + 1..].iter().for_each(|later| before[earlier.system][later.system] += 1);
                    }
                }
            }
            for (a, b) in (0..systems).flat_map(|a| (0..a).map(move |b| (a, b))) {
                prop_assert_eq!(before[a][b], before[b][a], "{} and {}", a, b);
            }
        }

        #[test]
        fn over_a_full_turn_of_blocks_every_system_goes_first_equally_often(seed: u64, points in 1usize..6, systems in 1usize..5) {
            let mut firsts = vec![0; systems];
            for replicate in 0..2 * systems as u32 {
                block(seed, 1, replicate, points, systems).chunks(systems).for_each(|pair| firsts[pair[0].system] += 1);
            }
            prop_assert!(firsts.iter().all(|count| *count == 2 * points), "{:?}", firsts);
        }
    }

    #[test]
    fn one_seed_is_one_order_and_another_seed_another() {
        assert_eq!(block(7, 0, 0, 30, 2), block(7, 0, 0, 30, 2));
        assert_ne!(block(7, 0, 0, 30, 2), block(8, 0, 0, 30, 2));
        assert_ne!(block(7, 0, 0, 30, 2), block(7, 0, 1, 30, 2));
    }
}
