//! What written blocks hold beside their stamps.
//!
//! The one idea: a small pool of random sectors that stays in the cache, each written under a 64-bit mask that follows
//! from its place and generation, so that no two sectors repeat and filling costs a copy. The checksum of a masked
//! sector is the checksum of the pool's sector XOR that of the mask, because CRC is linear; both are known beforehand, so
//! a stamp costs forty bytes of checksum instead of 512.
//!
//! What it does not do: it knows no stamp; `stamp` writes it in front of the payload.

use units::Share;

use super::DataShape;
use super::purpose::Purpose;
use super::stamp::{HEADER, SECTOR};
use random::{Chance, Lane, below, mix};

/// Bytes of a sector behind its stamp.
pub(crate) const PAYLOAD: usize = SECTOR - HEADER;
const WORDS: usize = PAYLOAD / 8;

/// Sectors in the pool: 64 KiB, small enough to stay in the second-level cache beside the buffers.
const POOL: usize = 128;

/// What repeats nothing is drawn for blocks of this size.
const BLOCK_BYTES: u64 = 4096;

/// All contents that duplicates share are so many bytes together, and no fewer and no more than so many. More would make the
/// first of each, which repeats nothing, count; fewer would let a compressor with a window find them.
const SHARED_BYTES: u64 = 1 << 20;
const GROUPS: std::ops::RangeInclusive<u64> = 8..=256;

/// Payload for every block of a run, built before it is needed.
#[derive(Clone, Debug)]
pub struct DataPool {
    seed: u64,
    sectors: Vec<[u64; WORDS]>,
    sums: Vec<u32>,
    /// Which bits of a payload are data; the others stay zero and compress away.
    mask: [u64; WORDS],
    mask_sums: Box<[[u32; 256]; 8]>,
    duplicates: Duplicates,
}

/// Which blocks repeat others, and what they hold: a function of place and generation, so that a read can be held against
/// it. All blocks of a group are equal to the last byte, stamps included.
#[derive(Clone, Copy, Debug, Default)]
pub struct Duplicates {
    /// Nothing where no block repeats another.
    drawn: Option<Drawn>,
    /// Whether nothing is known of them.
    any: bool,
}

#[derive(Clone, Copy, Debug)]
struct Drawn {
    seed: u64,
    share: Chance,
    /// Bytes of a block.
    unit: u64,
    groups: u64,
}

/// Payload of one sector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    sector: usize,
    key: u64,
    /// Which shared sector it is, when it repeats others.
    pub(crate) shared: Option<Shared>,
}

/// A sector of a block that repeats others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shared {
    /// Bytes of the block.
    pub(crate) unit: u64,
    /// Which of the shared contents.
    pub(crate) group: u64,
    /// Offset of the sector in the block.
    pub(crate) within: u64,
}

impl DataPool {
    /// A pool for data of this shape. `seed` is the run's: it is part of every stamp.
    ///
    /// The share that compresses is made of zeros at the end of every sector. The stamp itself does not compress, so
    /// that at most 472 of 512 bytes (92 percent) do.
    pub fn new(seed: u64, shape: DataShape) -> DataPool {
        let mask = mask(shape.compressible);
        let sectors: Vec<_> = (0..POOL).map(|sector| random_sector(seed, sector as u64, &mask)).collect();
        DataPool {
            seed,
            sums: sectors.iter().map(sum).collect(),
            sectors,
            mask_sums: mask_sums(&mask),
            mask,
            duplicates: Duplicates::new(seed, &shape),
        }
    }

    /// The seed in the stamps of blocks filled from this pool.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Which blocks repeat others.
    pub fn duplicates(&self) -> Duplicates {
        self.duplicates
    }

    /// Payloads of one module and generation; the sector at `offset` is chosen by [`DataPool::choose`].
    #[inline]
    pub(crate) fn lane(&self, module: u32, generation: u64) -> Lane {
        payloads(self.seed, module, generation)
    }

    #[inline]
    pub(crate) fn choose(&self, lane: Lane, offset: u64) -> Choice {
        let shared = self.duplicates.shared(lane, offset);
        let key = match shared {
            Some(Shared { group, within, .. }) => {
                Purpose::Twin.lane(self.seed, 0).under(group).at(within / SECTOR as u64)
            }
            None => lane.under(offset / BLOCK_BYTES).at(offset % BLOCK_BYTES / SECTOR as u64),
        };
        // Mixed, because a sector chosen by bits of its own mask would always be masked alike in those bits.
        Choice { sector: below(mix(key), POOL as u64) as usize, key, shared }
    }

    /// Writes a payload, all of a sector behind its stamp, and returns its CRC-32C.
    #[inline]
    pub(crate) fn write(&self, choice: Choice, payload: &mut [u8]) -> u32 {
        let source = &self.sectors[choice.sector];
        for ((word, source), mask) in payload.chunks_exact_mut(8).zip(source).zip(&self.mask) {
            word.copy_from_slice(&(source ^ (choice.key & mask)).to_le_bytes());
        }
        let bytes = choice.key.to_le_bytes();
        let masked = bytes.iter().zip(self.mask_sums.iter()).fold(0, |sum, (byte, table)| sum ^ table[*byte as usize]);
        self.sums[choice.sector] ^ masked
    }

    /// Fills a piece of a sector, which cannot hold a stamp.
    pub(crate) fn write_piece(&self, choice: Choice, piece: &mut [u8]) {
        let mut payload = [0; PAYLOAD];
        self.write(choice, &mut payload);
        for part in piece.chunks_mut(PAYLOAD) {
            part.copy_from_slice(&payload[..part.len()]);
        }
    }
}

impl Duplicates {
    /// Those of data of this shape under a run's seed.
    pub fn new(seed: u64, shape: &DataShape) -> Duplicates {
        let unit = shape.unit.0.max(SECTOR as u64);
        let groups = (SHARED_BYTES / unit).clamp(*GROUPS.start(), *GROUPS.end());
        let drawn = Drawn { seed, share: Chance::of(shape.duplicate.0), unit, groups };
        Duplicates { any: false, drawn: (shape.duplicate.0 > 0.0).then_some(drawn) }
    }

    /// Those of data of which nothing is known but what its stamps say.
    pub fn any() -> Duplicates {
        Duplicates { drawn: None, any: true }
    }

    /// What the sector at this offset shares with others, for the payloads of one module and generation.
    #[inline]
    fn shared(&self, lane: Lane, offset: u64) -> Option<Shared> {
        let Drawn { share, unit, groups, .. } = self.drawn?;
        let block = lane.under(offset / unit);
        let group = || below(block.at(u64::MAX - 1), groups);
        share.says_yes(block.at(u64::MAX)).then(|| Shared { unit, group: group(), within: offset % unit })
    }

    /// Whether a write of this generation put that there.
    pub(crate) fn says(&self, module: u32, offset: u64, generation: u64, shared: Shared) -> bool {
        self.drawn.is_some_and(|drawn| {
            let lane = payloads(drawn.seed, module, generation);
            self.shared(lane, offset) == Some(shared)
        })
    }

    /// Whether a sector of a block that repeats others may lie at this offset at all.
    pub(crate) fn fits(&self, offset: u64, shared: Shared) -> bool {
        let unit = self.drawn.map_or(shared.unit, |drawn| drawn.unit);
        (self.any || self.drawn.is_some()) && (unit, offset % unit) == (shared.unit, shared.within)
    }
}

#[inline]
fn payloads(seed: u64, module: u32, generation: u64) -> Lane {
    Purpose::Payload.lane(seed, u64::from(module)).under(generation)
}

fn mask(compressible: Share) -> [u64; WORDS] {
    let zeros = ((compressible.0 * SECTOR as f64).round() as usize).min(PAYLOAD);
    std::array::from_fn(|word| match (PAYLOAD - zeros).saturating_sub(8 * word) {
        0 => 0,
        bytes @ 1..8 => (1u64 << (8 * bytes)) - 1,
        _ => u64::MAX,
    })
}

fn random_sector(seed: u64, sector: u64, mask: &[u64; WORDS]) -> [u64; WORDS] {
    let lane = Purpose::Pool.lane(seed, sector);
    std::array::from_fn(|word| lane.at(word as u64) & mask[word])
}

fn sum(words: &[u64; WORDS]) -> u32 {
    words.iter().fold(0, |sum, word| crc32c::crc32c_append(sum, &word.to_le_bytes()))
}

/// What each byte of a mask adds to the checksum: crc(a ^ b) = crc(a) ^ crc(b) ^ crc(0) for texts of one length, so
/// that what a byte adds is the sum of what its bits add.
fn mask_sums(mask: &[u64; WORDS]) -> Box<[[u32; 256]; 8]> {
    let zero = sum(&[0; WORDS]);
    let mut tables = Box::new([[0; 256]; 8]);
    for (place, table) in tables.iter_mut().enumerate() {
        for bit in 0..8 {
            let key = 1u64 << (8 * place + bit);
            let added = sum(&mask.map(|word| word & key)) ^ zero;
            for byte in 0..1 << bit {
                table[byte | 1 << bit] = table[byte] ^ added;
            }
        }
    }
    tables
}
