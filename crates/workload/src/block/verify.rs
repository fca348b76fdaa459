//! Judges what a read returned.
//!
//! The one idea: each whole sector is judged by its own stamp, and damage is reported only when no order of the
//! acknowledged writes explains what was read. What may be explained is the expectation's to say:
//!
//! - A *unit* is what every write covers whole (see `generations`). Sectors that no single unit holds whole are left alone.
//! - Each sector of a unit may be of any generation between the oldest acceptable and the latest issued. Several writes in flight at once may
//!   leave a mixture, and so may a failed one: their generations are all acceptable, so a mixture of them is no damage.
//! - *Stale*: every sector of the unit is older than the oldest acceptable: an acknowledged write was lost.
//! - *Torn*: some sectors of the unit are too old and others are not: an acknowledged write arrived in part.
//! - While a write to the unit is in flight, storage that copies bytes (a page cache, here or in the host) may show half
//!   a sector. A wrong checksum then proves nothing and the sector counts as unjudged; place and seed are the same in
//!   old and new, so that they are judged even then.
//! - A block that repeats others says only which content it shares. It is right where one of the acceptable generations drew that
//!   content for this place, stale where one of those shortly before did, and misplaced otherwise. That it came from another
//!   place of the same group, or from an older write that drew the same, cannot be told: the bytes are the same.
//!
//! What it does not do: it keeps nothing; `Generations` remembers what is acceptable.

use super::data::{Duplicates, Shared};
use super::reading::{Age, Reading, older};
use super::stamp::{SECTOR, Sector, Stamp, head_bytes};

/// What a read ought to find.
#[derive(Clone, Copy, Debug)]
pub struct Expectation<'a> {
    /// Seed of the run.
    pub seed: u64,
    /// Which of its blocks repeat others.
    pub duplicates: Duplicates,
    /// Which generations are acceptable.
    pub generations: Acceptable<'a>,
}

/// Which generations a read may find.
#[derive(Clone, Copy, Debug)]
pub enum Acceptable<'a> {
    /// Any: only checksum, place and seed are judged.
    Any,
    /// One, over the whole buffer: a file that was written once, or a module just filled.
    Exactly(u64),
    /// What was acceptable while this read was on its way.
    During(&'a Reading),
}

/// How much of a read could be judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Sectors that were judged and are right.
    pub sectors: u32,
    /// Whole sectors that could not be judged: on the border of units, or half written at the time.
    pub unjudged: u32,
}

units::words! {
    /// What kind of damage was found.
    pub enum DamageKind {
        Flipped = "flipped" "A sector of ours whose checksum is wrong.",
        Torn = "torn" "A block of which an acknowledged write changed only a part.",
        Misplaced = "misplaced" "A whole sector that belongs to another place.",
        Stale = "stale" "A block as it was before an acknowledged write.",
        Foreign = "foreign" "Bytes that this run never wrote.",
        Zeroed = "zeroed" "Zeros where data was written.",
    }
}

/// What was found wrong by a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} sector in module {module} at offset {offset}: expected {expected}, found {found}")]
pub struct Damage {
    /// Its kind.
    pub kind: DamageKind,
    /// The module that was read.
    pub module: u32,
    /// Offset of the first bad sector in the module.
    pub offset: u64,
    /// What should be there.
    pub expected: Expected,
    /// What is there.
    pub found: Found,
}

/// Which generations were acceptable where damage was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Any write of this run to this place.
    Any,
    /// Writes from the oldest acceptable to the latest.
    Between {
        /// The oldest acceptable.
        oldest: u64,
        /// The latest issued.
        latest: u64,
    },
}

/// What a bad sector holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A stamp under a right checksum.
    Stamp(Stamp),
    /// A stamp under a wrong checksum.
    BrokenStamp,
    /// Zeros.
    Zeros,
    /// No stamp.
    NoStamp,
}

/// Judges a buffer that was read from `offset` of `module`.
///
/// # Errors
/// The first damage, in the order of the buffer.
pub fn verify(buffer: &[u8], module: u32, offset: u64, expectation: &Expectation) -> Result<Checked, Damage> {
    let read = Read::new(buffer, module, offset, expectation);
    let mut checked = Checked::default();
    for index in 0..read.sectors.len() {
        checked.count(read.judge(index)?);
    }
    Ok(checked)
}

/// The same to the end of the buffer: `found` is handed each damaged sector.
pub fn verify_all(
    buffer: &[u8],
    module: u32,
    offset: u64,
    expectation: &Expectation,
    mut found: impl FnMut(Damage),
) -> Checked {
    let read = Read::new(buffer, module, offset, expectation);
    let mut checked = Checked::default();
    for index in 0..read.sectors.len() {
        match read.judge(index) {
            Ok(judgement) => checked.count(judgement),
            Err(damage) => found(damage),
        }
    }
    checked
}

impl Checked {
    fn count(&mut self, judgement: Judgement) {
        match judgement {
            Judgement::Right => self.sectors += 1,
            Judgement::Unjudged => self.unjudged += 1,
        }
    }
}

struct Read<'a> {
    sectors: &'a [[u8; SECTOR]],
    module: u32,
    /// Offset of the first whole sector.
    start: u64,
    expectation: &'a Expectation<'a>,
}

enum Judgement {
    Right,
    Unjudged,
}

/// So many generations before the acceptable ones are looked at for what a stale block of a group may be.
const LOOKED_BACK: u64 = 64;

/// More acceptable generations than this and any of the shared contents will do.
const LOOKED_AT: u64 = 4096;

impl<'a> Read<'a> {
    fn new(buffer: &'a [u8], module: u32, offset: u64, expectation: &'a Expectation<'a>) -> Read<'a> {
        let head = head_bytes(offset, buffer.len());
        Read { sectors: buffer[head..].as_chunks().0, module, start: offset + head as u64, expectation }
    }

    fn judge(&self, index: usize) -> Result<Judgement, Damage> {
        let place = self.offset(index);
        if let Acceptable::During(reading) = self.expectation.generations
            && !reading.holds(place)
        {
            return Ok(Judgement::Unjudged);
        }
        let damage =
            |kind, found| Damage { kind, module: self.module, offset: place, expected: self.expected(place), found };
        match Stamp::read(&self.sectors[index], self.expectation.seed) {
            Sector::Zeroed => Err(damage(DamageKind::Zeroed, Found::Zeros)),
            Sector::Foreign => Err(damage(DamageKind::Foreign, Found::NoStamp)),
            Sector::Damaged if self.contended(place) => Ok(Judgement::Unjudged),
            Sector::Damaged => Err(damage(DamageKind::Flipped, Found::BrokenStamp)),
            Sector::Valid(stamp) => match self.stamp_problem(index, &stamp) {
                None => Ok(Judgement::Right),
                Some(kind) => Err(damage(kind, Found::Stamp(stamp))),
            },
        }
    }

    fn stamp_problem(&self, index: usize, stamp: &Stamp) -> Option<DamageKind> {
        match self.found(index, stamp) {
            Err(kind) => Some(kind),
            Ok(Age::Acceptable) => None,
            Ok(Age::NeverWritten) => Some(DamageKind::Foreign),
            Ok(Age::TooOld) if self.newer_beside(index) => Some(DamageKind::Torn),
            Ok(Age::TooOld) => Some(DamageKind::Stale),
        }
    }

    /// How old a sector is, if it belongs here at all.
    fn found(&self, index: usize, stamp: &Stamp) -> Result<Age, DamageKind> {
        let place = self.offset(index);
        if stamp.seed != self.expectation.seed {
            return Err(DamageKind::Foreign);
        }
        if let Some(shared) = stamp.shared() {
            return self.shared_age(place, shared).ok_or(DamageKind::Misplaced);
        }
        if (stamp.module, stamp.offset) != (self.module, place) {
            return Err(DamageKind::Misplaced);
        }
        Ok(self.age(stamp))
    }

    /// How old a sector of a block that repeats others is; none where no write put it here.
    fn shared_age(&self, place: u64, shared: Shared) -> Option<Age> {
        let duplicates = &self.expectation.duplicates;
        if !duplicates.fits(place, shared) {
            return None;
        }
        let Some((latest, acceptable)) = self.acceptable(place).filter(|(_, count)| *count <= LOOKED_AT) else {
            return Some(Age::Acceptable);
        };
        let said = (0..acceptable + LOOKED_BACK)
            .find(|back| duplicates.says(self.module, place, older(latest, *back), shared))?;
        Some(if said < acceptable { Age::Acceptable } else { Age::TooOld })
    }

    /// The latest acceptable generation, and how many are from it on backwards; none where any is.
    fn acceptable(&self, place: u64) -> Option<(u64, u64)> {
        match self.expectation.generations {
            Acceptable::Any => None,
            Acceptable::Exactly(generation) => Some((generation, 1)),
            Acceptable::During(reading) => reading.acceptable(place),
        }
    }

    fn age(&self, stamp: &Stamp) -> Age {
        match self.expectation.generations {
            Acceptable::Any => Age::Acceptable,
            Acceptable::Exactly(generation) => match stamp.generation.cmp(&generation) {
                std::cmp::Ordering::Less => Age::TooOld,
                std::cmp::Ordering::Equal => Age::Acceptable,
                std::cmp::Ordering::Greater => Age::NeverWritten,
            },
            Acceptable::During(reading) => reading.age(stamp.offset, stamp.generation),
        }
    }

    /// Whether another sector of the same unit is as new as it should be.
    fn newer_beside(&self, index: usize) -> bool {
        let same_unit = |other: &usize| match self.expectation.generations {
            Acceptable::During(reading) => reading.same_unit(self.offset(index), self.offset(*other)),
            _ => true,
        };
        (0..self.sectors.len()).filter(same_unit).any(|other| {
            match Stamp::read(&self.sectors[other], self.expectation.seed) {
                Sector::Valid(stamp) => self.found(other, &stamp) == Ok(Age::Acceptable),
                _ => false,
            }
        })
    }

    fn contended(&self, offset: u64) -> bool {
        matches!(self.expectation.generations, Acceptable::During(reading) if reading.contended(offset))
    }

    fn expected(&self, offset: u64) -> Expected {
        match self.expectation.generations {
            Acceptable::Any => Expected::Any,
            Acceptable::Exactly(generation) => Expected::Between { oldest: generation, latest: generation },
            Acceptable::During(reading) => reading.expected(offset),
        }
    }

    fn offset(&self, index: usize) -> u64 {
        self.start + (index * SECTOR) as u64
    }
}

impl std::fmt::Display for DamageKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Expected::Any => f.write_str("data of this run for this place"),
            Expected::Between { oldest, latest } if oldest == latest => write!(f, "generation {}", Printed(*latest)),
            Expected::Between { oldest, latest } => {
                write!(f, "generation {} to {}", Printed(*oldest), Printed(*latest))
            }
        }
    }
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Found::Stamp(stamp) if let Some(Shared { unit, group, within }) = stamp.shared() => {
                write!(f, "what duplicates of group {group} hold at {within} of {unit} B, seed {}", stamp.seed)
            }
            Found::Stamp(stamp) => write!(
                f,
                "generation {} of module {} at offset {}, seed {}",
                Printed(stamp.generation),
                stamp.module,
                stamp.offset,
                stamp.seed
            ),
            Found::BrokenStamp => f.write_str("a stamp whose checksum is wrong"),
            Found::Zeros => f.write_str("zeros"),
            Found::NoStamp => f.write_str("bytes without a stamp"),
        }
    }
}

/// A generation as epoch and number, `3.17`, because the epoch sits in its upper half.
#[derive(Clone, Copy, Debug)]
pub struct Printed(
    /// The generation.
    pub u64,
);

impl std::fmt::Display for Printed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0 >> 32, self.0 & u64::from(u32::MAX))
    }
}
