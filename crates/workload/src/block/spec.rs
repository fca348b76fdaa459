//! What a block workload is, as a study says it.

use units::{Bytes, Share};

use super::SECTOR;

/// The most that one read or write of Linux moves (`MAX_RW_COUNT`), rounded down to a whole megabyte.
const TRANSFER_MAX: Bytes = Bytes::mib(2047);

/// Above this nearly every operation goes to one block, and x^-exponent leaves the range of doubles.
const EXPONENT_MAX: f64 = 20.0;

/// A block workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// In which order offsets are visited.
    pub pattern: Pattern,
    /// Which offsets a random pattern prefers.
    pub offsets: Offsets,
    /// Sizes of the transfers with their weights; one entry for a fixed size.
    pub transfers: Vec<Transfer>,
    /// The same of operations that write or trim, where these differ; empty where they do not.
    pub write_transfers: Vec<Transfer>,
    /// Share of the operations that read; what is neither this nor `trims` writes.
    pub read: Share,
    /// Share of the operations that trim.
    pub trims: Share,
    /// Distance by which every offset is shifted off its natural alignment; zero keeps blocks aligned.
    pub shift: Bytes,
    /// Distance from the start of each module at which the part that is used begins.
    pub start: Bytes,
    /// Share of the rest of each module that is used, from there.
    pub range: Share,
    /// What the written data looks like.
    pub data: DataShape,
}

units::words! {
    /// In which order offsets are visited.
    pub enum Pattern {
        Random = "random" "Independent offsets; blocks may repeat before all were visited.",
        RandomOnce = "random-once" "Every block once, in random order, before any is visited again.",
        Sequential = "sequential" "One block after the other, from the start again at the end.",
    }
}

/// Which offsets a random pattern prefers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Offsets {
    /// All alike.
    Uniform,
    /// Zipf's law: block of rank r is asked for in proportion to r^-exponent; ranks are scattered over the module.
    Zipf {
        /// Greater than 0 and at most 20; 0.99 is common, 1.2 is steep.
        exponent: f64,
    },
    /// A share of the operations goes to a share of the blocks.
    Hotspot(Hotspot),
}

/// A hot spot at the start of a module.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hotspot {
    /// Share of the operations that go to the hot blocks.
    pub operations: Share,
    /// Share of the blocks that are hot.
    pub blocks: Share,
}

/// One transfer size of a mixture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// Bytes moved by one operation.
    pub size: Bytes,
    /// How often, in proportion to the other weights.
    pub weight: f64,
}

/// What the written data looks like to a device that compresses or removes duplicates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataShape {
    /// Share of each block that compresses away; 0 is incompressible, and above 92 % the stamps remain.
    pub compressible: Share,
    /// Share of the blocks of `unit` that are equal to other blocks, to the last byte: their stamps name what they repeat
    /// instead of place and generation.
    pub duplicate: Share,
    /// Size of such blocks, on whose borders they lie.
    pub unit: Bytes,
}

impl DataShape {
    /// Whether blocks repeat each other by the same rule.
    pub fn same_duplicates(&self, other: &DataShape) -> bool {
        let none = |shape: &DataShape| shape.duplicate.0 == 0.0;
        (none(self) && none(other)) || (self.duplicate, self.unit) == (other.duplicate, other.unit)
    }
}

impl Default for DataShape {
    fn default() -> DataShape {
        DataShape { compressible: Share(0.0), duplicate: Share(0.0), unit: Bytes::kib(4) }
    }
}

impl Spec {
    /// The transfers of both directions.
    pub fn all_transfers(&self) -> impl Iterator<Item = &Transfer> {
        self.transfers.iter().chain(&self.write_transfers)
    }

    /// Those of operations that write or trim.
    pub fn of_writes(&self) -> &[Transfer] {
        if self.write_transfers.is_empty() { &self.transfers } else { &self.write_transfers }
    }

    /// The largest transfer.
    pub fn transfer_max(&self) -> Bytes {
        self.all_transfers().map(|t| t.size).max().unwrap_or_default()
    }

    /// Whether any operation changes data, by a write or a trim.
    pub fn writes(&self) -> bool {
        self.read.0 < 1.0
    }

    /// Share of the operations that write data.
    fn written(&self) -> f64 {
        (1.0 - self.read.0 - self.trims.0).max(0.0)
    }

    /// Mean bytes that one operation writes.
    pub fn written_per_operation(&self) -> f64 {
        mean_bytes(self.of_writes()) * self.written()
    }

    /// Mean bytes that one operation reads or writes.
    pub fn moved_per_operation(&self) -> f64 {
        mean_bytes(&self.transfers) * self.read.0 + self.written_per_operation()
    }

    /// Where in a module its first block begins.
    pub fn origin(&self) -> Bytes {
        Bytes(self.start.0.saturating_add(self.shift.0))
    }

    /// Bytes of a module that blocks may lie in: its range less the shift, so that no shifted block leaves the range.
    pub fn usable(&self, module_bytes: Bytes) -> Bytes {
        let behind = module_bytes.0.saturating_sub(self.start.0);
        let range = if self.range.0 >= 1.0 { behind } else { (behind as f64 * self.range.0) as u64 };
        Bytes(range.saturating_sub(self.shift.0))
    }

    /// Whether the workload can run on modules of this size.
    ///
    /// # Errors
    /// The first of [`Spec::problems`].
    pub fn check(&self, module_bytes: Bytes) -> Result<(), SpecError> {
        self.problems(module_bytes).into_iter().next().map_or(Ok(()), Err)
    }

    /// Everything that keeps the workload from running on modules of this size.
    pub fn problems(&self, module_bytes: Bytes) -> Vec<SpecError> {
        let mut problems = Vec::new();
        self.transfer_problems(module_bytes, &mut problems);
        self.pattern_problems(&mut problems);
        let shares = [
            ("read", self.read),
            ("trims", self.trims),
            ("read and trims together", Share((self.read.0 + self.trims.0 - 1e-9).max(0.0))),
            ("range", self.range),
            ("compressible", self.data.compressible),
            ("duplicate", self.data.duplicate),
        ];
        problems.extend(shares.into_iter().filter_map(|(key, share)| share_problem(key, share)));
        problems.extend(self.duplicate_problem());
        problems
    }

    fn transfer_problems(&self, module_bytes: Bytes, problems: &mut Vec<SpecError>) {
        let usable = self.usable(module_bytes);
        if self.transfers.is_empty() {
            problems.push(SpecError::NoTransfer);
        }
        for Transfer { size, weight } in self.all_transfers().copied() {
            if size.0 < SECTOR as u64 {
                problems.push(SpecError::TransferTooSmall(size));
            } else if size.0 > TRANSFER_MAX.0 {
                problems.push(SpecError::TransferTooLarge(size));
            } else if size > usable {
                problems.push(SpecError::TransferBeyondModule { size, usable, module: module_bytes });
            }
            if !(weight.is_finite() && weight > 0.0) {
                problems.push(SpecError::Weight { size, weight });
            }
        }
    }

    /// Only a write that covers it whole makes one block equal to another.
    fn duplicate_problem(&self) -> Option<SpecError> {
        let unit = self.data.unit;
        let mut sizes = self.of_writes().iter().map(|transfer| transfer.size).chain([self.origin()]);
        let size = sizes.find(|size| unit.0 == 0 || !size.0.is_multiple_of(unit.0))?;
        (self.data.duplicate.0 > 0.0 && self.writes()).then_some(SpecError::DuplicateUnit { unit, size })
    }

    fn pattern_problems(&self, problems: &mut Vec<SpecError>) {
        if self.pattern == Pattern::RandomOnce && self.transfers.len() > 1 {
            problems.push(SpecError::CoverageOfMixture(self.transfers.len()));
        }
        if self.pattern != Pattern::Random && !self.write_transfers.is_empty() {
            problems.push(SpecError::DirectionsInOrder(self.pattern));
        }
        if self.pattern != Pattern::Random && self.offsets != Offsets::Uniform {
            problems.push(SpecError::PreferenceWithoutChoice(self.pattern));
        }
        match self.offsets {
            Offsets::Zipf { exponent } if !(exponent > 0.0 && exponent <= EXPONENT_MAX) => {
                problems.push(SpecError::Exponent(exponent));
            }
            Offsets::Hotspot(spot) => {
                problems.extend(share_problem("operations of the hot spot", spot.operations));
                problems.extend(share_problem("blocks of the hot spot", spot.blocks));
                if spot.blocks.0 == 0.0 {
                    problems.push(SpecError::ColdHotspot);
                }
            }
            _ => {}
        }
    }
}

fn mean_bytes(transfers: &[Transfer]) -> f64 {
    let weight: f64 = transfers.iter().map(|transfer| transfer.weight).sum();
    let bytes: f64 = transfers.iter().map(|transfer| transfer.size.0 as f64 * transfer.weight).sum();
    if weight > 0.0 { bytes / weight } else { 0.0 }
}

fn share_problem(key: &'static str, share: Share) -> Option<SpecError> {
    (!(0.0..=1.0).contains(&share.0)).then_some(SpecError::Share { key, share: share.0 })
}

/// Why a block workload cannot run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum SpecError {
    /// There is no transfer size.
    #[error("a block workload needs at least one transfer size, got none")]
    NoTransfer,
    /// A transfer is smaller than a sector.
    #[error("transfer: at least 512 B, got {}", units::bytes(*.0))]
    TransferTooSmall(Bytes),
    /// A transfer is larger than one system call moves.
    #[error("transfer: at most {}, got {}", units::bytes(TRANSFER_MAX), units::bytes(*.0))]
    TransferTooLarge(Bytes),
    /// A transfer does not fit the part of the module that is used.
    #[error(
        "transfer: at most the {} that offset, range and shift leave of a module of {}, got {}; make the module larger or the \
         transfer smaller",
        units::bytes(*.usable), units::bytes(*.module), units::bytes(*.size)
    )]
    TransferBeyondModule { size: Bytes, usable: Bytes, module: Bytes },
    /// The weight of a transfer is not a positive number.
    #[error("weight of transfer {}: greater than 0, got {weight}", units::bytes(*.size))]
    Weight { size: Bytes, weight: f64 },
    /// A share is outside 0 to 1.
    #[error("{key}: between 0% and 100%, got {}", units::percent(*.share))]
    Share { key: &'static str, share: f64 },
    /// The exponent of Zipf's law is out of range.
    #[error("zipf exponent: greater than 0 and at most {EXPONENT_MAX}, got {0}")]
    Exponent(f64),
    /// A hot spot without blocks.
    #[error("blocks of the hot spot: more than 0%, got 0%; write the workload with uniform offsets instead")]
    ColdHotspot,
    /// Writes that would cut the blocks that are to repeat each other.
    #[error(
        "duplicate_unit: a size of which every transfer and the shift are whole multiples, got {} for {}",
        units::bytes(*.unit), units::bytes(*.size)
    )]
    DuplicateUnit { unit: Bytes, size: Bytes },
    /// Full coverage was asked of a mixture of sizes.
    #[error("full coverage without repeats: one transfer size, got {0}; use one size or the random pattern")]
    CoverageOfMixture(usize),
    /// Sizes of reads and writes apart were given for a pattern whose blocks follow each other.
    #[error("sizes of reads and writes apart: only with the random pattern, got {0:?}; use a stream each")]
    DirectionsInOrder(Pattern),
    /// Preferred offsets were given for a pattern that visits all.
    #[error("preferred offsets: only with the random pattern, got {0:?}; remove the offsets or the pattern")]
    PreferenceWithoutChoice(Pattern),
    /// More modules than an operation can name.
    #[error("modules: at most 65536, got {0}")]
    Modules(u32),
    /// A worker that is not one of the workers.
    #[error("worker: below the number of workers {workers}, got {worker}")]
    Worker { worker: u32, workers: u32 },
    /// Blocks of the streams share no unit that holds a whole sector, so that no read can be checked.
    #[error(
        "validate: transfers and shifts of all streams must be multiples of a common size of at least 512 B, got {}",
        units::bytes(*.0)
    )]
    UnitTooSmall(Bytes),
}
