//! The stamp at the front of every sector that Prony writes.
//!
//! The one idea: a sector says by itself whose it is, where it belongs and how old it is, under a checksum, so that any
//! read of any part can be judged alone. Forty bytes, little-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | magic, plain |
//! | 8..12 | CRC-32C of payload, then stamp with this field zero; plain |
//! | 12..16 | module |
//! | 16..24 | offset of the sector in the module |
//! | 24..32 | generation |
//! | 32..40 | seed of the run |
//!
//! From byte 12 on the stamp is masked by a function of the checksum: place and seed repeat from sector to sector, and
//! a device that compresses would find five percent in data that claims to be incompressible.
//!
//! Whole sectors of the module's 512-byte grid are stamped. A write off that grid stamps the sectors that it covers whole;
//! the pieces at its ends get payload only, and verification leaves the sectors that they break alone.
//!
//! A block that repeats others says which of the shared contents it is instead of module, offset and generation: only so is
//! it equal to its like to the last byte.
//!
//! What it does not do: it does not judge; `verify` does.

use super::DataPool;
use super::data::Shared;
use random::mix;

/// Bytes of a stamped sector.
pub const SECTOR: usize = 512;

/// Bytes of a stamp.
pub(crate) const HEADER: usize = 40;

const MAGIC: [u8; 8] = *b"\xd7PRONY\x01\n";

/// What a sector says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The module, or the number of the file.
    pub module: u32,
    /// Offset of the sector in the module, in bytes; a multiple of 512.
    pub offset: u64,
    /// Which write of this place it was.
    pub generation: u64,
    /// Seed of the run that wrote it.
    pub seed: u64,
}

/// In place of a module: the sector belongs to a block that repeats others. Its offset then says which and where in it, and
/// its generation how large such blocks are; the other fields are as ever.
const SHARED: u32 = u32::MAX;

/// What a sector turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sector {
    /// Its checksum is right.
    Valid(Stamp),
    /// It carries our magic or this run's seed, and its checksum is wrong.
    Damaged,
    /// Nothing but zeros.
    Zeroed,
    /// No stamp of ours.
    Foreign,
}

impl Sector {
    /// The generation of a sound sector of this run; none of a block that repeats others.
    pub fn generation(&self, seed: u64) -> Option<u64> {
        match self {
            Sector::Valid(stamp) if stamp.seed == seed && stamp.shared().is_none() => Some(stamp.generation),
            _ => None,
        }
    }
}

/// Fills a buffer that will be written at `offset` of `module`: stamps on every whole sector, payload from the pool.
///
/// Place and generation decide every byte. A write that repeats the generation of an earlier one to the same place
/// repeats its data too, which a clever device may notice: give every write a generation of its own.
#[inline]
pub fn fill(buffer: &mut [u8], module: u32, offset: u64, generation: u64, pool: &DataPool) {
    let lane = pool.lane(module, generation);
    let (head, rest) = buffer.split_at_mut(head_bytes(offset, buffer.len()));
    if !head.is_empty() {
        pool.write_piece(pool.choose(lane, offset), head);
    }
    let mut stamp = Stamp { module, offset: offset + head.len() as u64, generation, seed: pool.seed() };
    let (sectors, tail) = rest.as_chunks_mut::<SECTOR>();
    for sector in sectors {
        let (header, payload) = sector.split_at_mut(HEADER);
        let choice = pool.choose(lane, stamp.offset);
        let sum = pool.write(choice, payload);
        let sealed = choice.shared.map_or(stamp, |shared| Stamp::of_shared(shared, stamp.seed));
        header.copy_from_slice(&sealed.sealed(sum));
        stamp.offset += SECTOR as u64;
    }
    if !tail.is_empty() {
        pool.write_piece(pool.choose(lane, stamp.offset), tail);
    }
}

/// Bytes before the first whole sector of a transfer.
pub(crate) fn head_bytes(offset: u64, bytes: usize) -> usize {
    (offset.wrapping_neg() % SECTOR as u64).min(bytes as u64) as usize
}

impl Stamp {
    /// The stamp of a sector, if it has one.
    pub fn read(sector: &[u8; SECTOR], seed: u64) -> Sector {
        let words = words(sector);
        let sum = words[1] as u32;
        let [low, offset, generation, found_seed] = masked([words[1] >> 32, words[2], words[3], words[4]], sum);
        let stamp = Stamp { module: low as u32, offset, generation, seed: found_seed };
        let ours = sector[..8] == MAGIC;
        if ours && sum == crc32c::crc32c_append(crc32c::crc32c(&sector[HEADER..]), &stamp.plain()) {
            return Sector::Valid(stamp);
        }
        if sector.iter().all(|byte| *byte == 0) {
            return Sector::Zeroed;
        }
        if ours || found_seed == seed { Sector::Damaged } else { Sector::Foreign }
    }

    /// The stamp of a sector that is the same in many places.
    fn of_shared(shared: Shared, seed: u64) -> Stamp {
        let Shared { unit, group, within } = shared;
        Stamp { module: SHARED, offset: group * unit + within, generation: unit, seed }
    }

    /// What it repeats, when its block repeats others.
    pub(crate) fn shared(&self) -> Option<Shared> {
        let Stamp { module, offset, generation: unit, .. } = *self;
        let shared = || Shared { unit, group: offset / unit, within: offset % unit };
        (module == SHARED && unit > 0).then(shared)
    }

    /// The stamp with its checksum, as it is written in front of a payload whose checksum is given.
    #[inline]
    fn sealed(&self, payload_sum: u32) -> [u8; HEADER] {
        let mut header = self.plain();
        let sum = crc32c::crc32c_append(payload_sum, &header);
        let fields = masked([u64::from(self.module), self.offset, self.generation, self.seed], sum);
        header[8..16].copy_from_slice(&((fields[0] << 32) | u64::from(sum)).to_le_bytes());
        for (field, bytes) in fields[1..].iter().zip(header[16..].chunks_exact_mut(8)) {
            bytes.copy_from_slice(&field.to_le_bytes());
        }
        header
    }

    /// The stamp without mask and with a checksum of zero: the bytes that the checksum covers.
    #[inline]
    fn plain(&self) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&MAGIC);
        header[12..16].copy_from_slice(&self.module.to_le_bytes());
        header[16..24].copy_from_slice(&self.offset.to_le_bytes());
        header[24..32].copy_from_slice(&self.generation.to_le_bytes());
        header[32..].copy_from_slice(&self.seed.to_le_bytes());
        header
    }
}

fn words(sector: &[u8; SECTOR]) -> [u64; 5] {
    let mut words = [0; 5];
    for (word, bytes) in words.iter_mut().zip(sector.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

/// Puts the mask of a checksum on the four fields of a stamp, or takes it off.
#[inline]
fn masked(fields: [u64; 4], sum: u32) -> [u64; 4] {
    let key = mix(u64::from(sum) ^ 0x5052_4f4e_5900_0000);
    [
        fields[0] ^ (key >> 32),
        fields[1] ^ key.wrapping_mul(0xa076_1d64_78bd_642f),
        fields[2] ^ key.wrapping_mul(0xe703_7ed1_a0b4_28db),
        fields[3] ^ key.wrapping_mul(0x8ebc_6af0_9c88_c6e3),
    ]
}
