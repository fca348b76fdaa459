//! In which order an account buys and sells: blocks of twenty trades that close what they open, but for one lot.
//!
//! The one idea: a letter is a group of trades in one security, small when it buys and capital when it sells; the last
//! capital of a group sells all that is left. Only the group `k` is kept: it sells all but a part of its first lot. So any
//! trade is known from the few of its own group, and nothing has to be carried from one block to the next.
//!
//! What it does not do: it knows no securities, quantities or prices.

/// Trades in a block.
pub(super) const BLOCK: usize = 20;

/// Most trades of a group.
pub(super) const GROUP: usize = 5;

/// The group whose lot is kept.
pub(super) const KEPT: u8 = 8;

const PATTERNS: [&[u8; BLOCK]; 6] = [
    b"abAkccBdCKdDefeFEggG",
    b"aakbAbcBAcCdCdeDdEDK",
    b"kabcAaBbCcAdBdCDefEF",
    b"aaaAkkbbKBBccdCeDfEF",
    b"abAcBCkdeDEfgFGKhhhH",
    b"aaabbAAkcBccCdBdCdDD",
];

/// One trade of a block: its group and what of the group came before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Letters from 0; [`KEPT`] for `k`.
    pub(super) group: u8,
    pub(super) sells: bool,
    /// The last sale of the group.
    pub(super) last: bool,
    /// Places of the group's trades in the block, this one included.
    pub(super) members: [u8; GROUP],
    /// How many of them there are.
    pub(super) count: u8,
}

/// All patterns, made once.
pub(super) type Patterns = [[Place; BLOCK]; PATTERNS.len()];

pub(super) fn patterns() -> Patterns {
    PATTERNS.map(|letters| std::array::from_fn(|at| place(letters, at)))
}

fn place(letters: &[u8; BLOCK], at: usize) -> Place {
    let letter = letters[at].to_ascii_lowercase();
    let mine = |other: usize| letters[other].to_ascii_lowercase() == letter;
    let mut place = Place {
        group: if letter == b'k' { KEPT } else { letter - b'a' },
        sells: letters[at].is_ascii_uppercase(),
        last: !(at + 1..BLOCK).any(mine),
        ..Place::default()
    };
    for member in (0..=at).filter(|member| mine(*member)) {
        place.members[usize::from(place.count)] = member as u8;
        place.count += 1;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_begins_with_a_purchase_and_ends_with_a_sale_and_each_block_keeps_one_lot() {
        for block in patterns() {
            let kept = block.iter().filter(|place| place.group == KEPT);
            assert!(kept.clone().count() >= 1);
            assert!(kept.filter(|place| place.sells).all(|place| place.last));
            for place in block {
                assert!(place.count > 1 || !place.sells, "{place:?}");
                assert!(place.group == KEPT || !place.last || place.sells, "{place:?}");
            }
        }
    }

    #[test]
    fn a_kept_group_that_buys_twice_sells_too() {
        for letters in PATTERNS {
            let count = |letter| letters.iter().filter(|other| **other == letter).count();
            assert!(count(b'k') == 1 || count(b'K') == 1);
        }
    }
}
