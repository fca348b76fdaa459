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

/// Duplicates are decided for blocks of this size on the module, the unit of most arrays that remove them.
const TWIN_BYTES: u64 = 4096;

/// Different contents that duplicates share. More would make the first of each, which repeats nothing, count; fewer
/// would let a compressor with a window find them.
const TWINS: u64 = 256;

/// Payload for every block of a run, built before it is needed.
#[derive(Clone, Debug)]
pub struct DataPool {
    seed: u64,
    sectors: Vec<[u64; WORDS]>,
    sums: Vec<u32>,
    /// Which bits of a payload are data; the others stay zero and compress away.
    mask: [u64; WORDS],
    mask_sums: Box<[[u32; 256]; 8]>,
    duplicate: Chance,
    twins: Lane,
}

/// Payload of one sector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    sector: usize,
    key: u64,
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
            duplicate: Chance::of(shape.duplicate.0),
            twins: Purpose::Twin.lane(seed, 0),
        }
    }

    /// The seed in the stamps of blocks filled from this pool.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Payloads of one module and generation; the sector at `offset` is chosen by [`DataPool::choose`].
    #[inline]
    pub(crate) fn lane(&self, module: u32, generation: u64) -> Lane {
        Purpose::Payload.lane(self.seed, u64::from(module)).under(generation)
    }

    #[inline]
    pub(crate) fn choose(&self, lane: Lane, offset: u64) -> Choice {
        let block = lane.under(offset / TWIN_BYTES);
        let within = offset % TWIN_BYTES / SECTOR as u64;
        let source = if self.duplicate.says_yes(block.at(u64::MAX)) {
            self.twins.under(below(block.at(u64::MAX - 1), TWINS))
        } else {
            block
        };
        let key = source.at(within);
        // Mixed, because a sector chosen by bits of its own mask would always be masked alike in those bits.
        Choice { sector: below(mix(key), POOL as u64) as usize, key }
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
