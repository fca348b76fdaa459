//! The units into which modules are cut for checking.
//!
//! The one idea: a unit is the largest piece that every write of every stream covers whole, so that one word can tell the
//! age of all of it. Off the natural alignment the units are shifted too, and a cut unit comes first.
//!
//! What it does not do: it knows nothing of what the units hold.

use units::Bytes;

use super::stamp::SECTOR;
use super::{Spec, SpecError};

/// The units into which the modules are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Bytes of a unit: at least 512.
    pub unit: Bytes,
    /// Where the first whole unit starts in a module; a cut one lies before it.
    pub shift: Bytes,
}

impl Grid {
    /// The coarsest grid that every write of all these workloads covers in whole units; where none writes, every read.
    ///
    /// # Errors
    /// When that grid is finer than a sector, so that no sector lies whole in a unit and nothing could be judged.
    pub fn over(specs: &[&Spec]) -> Result<Grid, SpecError> {
        let writing: Vec<&Spec> = specs.iter().copied().filter(|spec| spec.writes()).collect();
        let specs = if writing.is_empty() { specs } else { &writing };
        let shift = specs.first().map_or(0, |spec| spec.origin().0);
        let mut unit = 0;
        for spec in specs {
            unit = common(unit, spec.origin().0.abs_diff(shift));
            let transfers = if spec.writes() { spec.of_writes() } else { &spec.transfers };
            unit = transfers.iter().fold(unit, |unit, transfer| common(unit, transfer.size.0));
        }
        Grid::of(unit, shift)
    }

    /// The coarsest grid whose units lie whole in those of both.
    ///
    /// # Errors
    /// When it is finer than a sector.
    pub fn with(self, other: Grid) -> Result<Grid, SpecError> {
        let apart = self.shift.0.abs_diff(other.shift.0);
        Grid::of(common(common(self.unit.0, other.unit.0), apart), self.shift.0)
    }

    fn of(unit: u64, shift: u64) -> Result<Grid, SpecError> {
        if unit < SECTOR as u64 {
            return Err(SpecError::UnitTooSmall(Bytes(unit)));
        }
        Ok(Grid { unit: Bytes(unit), shift: Bytes(shift % unit) })
    }

    /// Memory that watching such modules takes.
    pub fn memory(&self, modules: u32, module_bytes: Bytes) -> Bytes {
        Bytes(self.units(module_bytes).saturating_mul(8 * u64::from(modules)))
    }

    /// How far the first unit reaches before the module: its whole units start at the shift.
    fn lead(&self) -> u64 {
        (self.unit.0 - self.shift.0 % self.unit.0) % self.unit.0
    }

    /// Whole and cut units of a module.
    pub(super) fn units(&self, module_bytes: Bytes) -> u64 {
        module_bytes.0.saturating_add(self.lead()).div_ceil(self.unit.0)
    }

    /// The unit of a byte.
    pub(super) fn unit_of(&self, offset: u64) -> u64 {
        (offset + self.lead()) / self.unit.0
    }

    /// Where a unit starts in the module.
    pub(super) fn start(&self, unit: u64) -> u64 {
        (unit * self.unit.0).saturating_sub(self.lead())
    }

    /// Units touched by a transfer.
    pub(super) fn touched(&self, offset: u64, bytes: u64) -> std::ops::Range<u64> {
        self.unit_of(offset)..(offset + bytes + self.lead()).div_ceil(self.unit.0)
    }
}

/// The greatest common divisor; 0 is divided by everything.
fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}
