//! What RAID costs, by answers that everybody knows.

use super::*;

const UNIT: u32 = 65_536;

fn raid(level: Level, members: u32) -> Raid {
    Raid::new(level, members, UNIT).unwrap_or_else(|e| panic!("{e}"))
}

/// Costs of a small I/O over many rows: all that occur.
fn costs(raid: Raid, write: bool, lost: u64) -> Vec<Option<(u32, u32)>> {
    let mut all: Vec<_> = (0..200).map(|unit| raid.cost(write, unit * u64::from(UNIT) + 4_096, 4_096, lost)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn a_small_write_costs_what_the_books_say() {
    assert_eq!(costs(raid(Level::Raid0, 8), true, 0), [Some((0, 1))]);
    assert_eq!(costs(raid(Level::Raid1, 2), true, 0), [Some((0, 2))]);
    assert_eq!(costs(raid(Level::Raid10, 8), true, 0), [Some((0, 2))]);
    assert_eq!(costs(raid(Level::Raid5, 8), true, 0), [Some((2, 2))]);
    assert_eq!(costs(raid(Level::Raid6, 8), true, 0), [Some((3, 3))]);
    assert_eq!(costs(raid(Level::Raid5, 3), true, 0), [Some((1, 2))], "of two data units the other one is read");
}

#[test]
fn a_small_read_is_one_read_at_every_level() {
    for level in [Level::Raid0, Level::Raid1, Level::Raid5, Level::Raid6, Level::Raid10] {
        assert_eq!(costs(raid(level, 8), false, 0), [Some((1, 0))], "{level:?}");
    }
}

#[test]
fn a_full_stripe_is_written_without_a_read() {
    assert_eq!(raid(Level::Raid5, 8).cost(true, 0, 7 * UNIT, 0), Some((0, 8)));
    assert_eq!(raid(Level::Raid6, 8).cost(true, 0, 6 * UNIT, 0), Some((0, 8)));
    assert_eq!(raid(Level::Raid5, 8).cost(true, 0, 14 * UNIT, 0), Some((0, 16)));
    assert_eq!(raid(Level::Raid5, 8).cost(true, 0, 5 * UNIT, 0), Some((2, 6)), "most of a row: the rest is read");
}

#[test]
fn a_degraded_read_asks_all_others_and_only_for_what_is_lost() {
    assert_eq!(costs(raid(Level::Raid5, 8), false, 1), [Some((1, 0)), Some((7, 0))]);
    assert_eq!(costs(raid(Level::Raid6, 8), false, 1), [Some((1, 0)), Some((6, 0))]);
    assert_eq!(costs(raid(Level::Raid6, 8), false, 0b11), [Some((1, 0)), Some((6, 0))]);
    assert_eq!(costs(raid(Level::Raid10, 8), false, 1), [Some((1, 0))]);
    let hit = (0..56).filter(|unit| raid(Level::Raid5, 8).cost(false, unit * u64::from(UNIT), 512, 1) != Some((1, 0)));
    assert_eq!(hit.count(), 7, "one unit in eight is on the lost member");
}

#[test]
fn a_degraded_write_computes_parity_from_what_is_left() {
    // Lost parity: the data alone. Lost data: the other data, then parity. Lost otherwise: as before.
    assert_eq!(costs(raid(Level::Raid5, 8), true, 1), [Some((0, 1)), Some((2, 2)), Some((6, 1))]);
    assert_eq!(costs(raid(Level::Raid6, 8), true, 1), [Some((2, 2)), Some((3, 3)), Some((5, 2))]);
    assert_eq!(costs(raid(Level::Raid10, 8), true, 1), [Some((0, 1)), Some((0, 2))]);
}

#[test]
fn more_losses_than_a_level_bears_lose_data() {
    assert!(costs(raid(Level::Raid0, 8), false, 1).contains(&None));
    assert!(costs(raid(Level::Raid5, 8), false, 0b11).contains(&None));
    assert!(costs(raid(Level::Raid6, 8), false, 0b111).contains(&None));
    assert!(costs(raid(Level::Raid10, 8), false, 0b11).contains(&None), "both of a pair");
    assert!(!costs(raid(Level::Raid10, 8), false, 0b0101).contains(&None), "one of each of two pairs");
}

#[test]
fn parity_goes_round_and_every_member_has_its_share() {
    for (level, members, each) in [(Level::Raid5, 8, 2u32), (Level::Raid6, 8, 3), (Level::Raid10, 8, 2)] {
        let (raid, mut seen) = (raid(level, members), vec![0u32; members as usize]);
        let units = u64::from(raid.data() * members);
        for unit in 0..units {
            raid.write(unit * u64::from(UNIT), 4_096, 0, |piece| {
                (0..members).for_each(|member| seen[member as usize] += (piece.writes >> member & 1) as u32);
            });
        }
        let even = units as u32 * each / members;
        assert!(seen.iter().all(|count| *count == even), "{level:?}: {seen:?}");
    }
}

#[test]
fn a_row_is_made_again_from_as_many_as_hold_its_data() {
    let count = |level, members| {
        raid(level, members).rebuild(5, 2, 0b100).map(|piece| (piece.reads.count_ones(), piece.writes))
    };
    assert_eq!(count(Level::Raid5, 8), Some((7, 0b100)));
    assert_eq!(count(Level::Raid6, 8), Some((6, 0b100)));
    assert_eq!(count(Level::Raid10, 8), Some((1, 0b100)));
    assert_eq!(count(Level::Raid0, 8), None);
    assert_eq!(raid(Level::Raid5, 8).rebuild(5, 2, 0b101), None, "a second loss cannot be computed");
}

#[test]
fn groups_that_nobody_can_build_are_refused() {
    for level in [Level::Raid0, Level::Raid1, Level::Raid5, Level::Raid6, Level::Raid10] {
        assert!(Raid::new(level, 1, UNIT).is_err());
        assert!(Raid::new(level, level.least() - 1, UNIT).is_err());
        assert!(Raid::new(level, level.least(), UNIT).is_ok());
        assert!(Raid::new(level, 65, UNIT).is_err());
    }
    assert_eq!(Raid::new(Level::Raid10, 5, UNIT), Err(RaidError::Odd(5)));
    assert_eq!(Raid::new(Level::Raid5, 5, 60_000), Err(RaidError::Unit(60_000)));
    let said = Raid::new(Level::Raid5, 1, UNIT).map_err(|e| e.to_string());
    assert_eq!(said.err().as_deref(), Some("RAID 5 has 3 to 64 modules in a group, got 1"));
}

#[test]
fn a_module_that_loses_a_channel_goes_on_with_a_narrower_stripe() {
    let mut stripe = Stripe::new(10);
    assert_eq!(stripe.data(), 9);
    assert!(stripe.lose());
    assert_eq!(stripe.data(), 8);
    assert!((stripe.reading() - 10.0 / 9.0).abs() < 1e-12 && (stripe.writing() - 9.0 / 8.0).abs() < 1e-12);
    assert!((0..7).all(|_| stripe.lose()), "down to 1+1");
    assert!(!stripe.lose(), "parity alone holds nothing");
    assert!(!Stripe::new(1).lose());
}
