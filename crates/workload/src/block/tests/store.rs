//! A module in memory and what watches it.

use units::{Bytes, Share};

use crate::block::{
    Acceptable, Beginning, Checked, Damage, DamageKind, DataPool, DataShape, Expectation, Generations, Grid, Reading,
    fill, verify,
};

pub(super) const SEED: u64 = 42;
pub(super) const EPOCH: u32 = 3;

/// A module in memory whose writes take no time.
pub(super) struct Store {
    pub(super) bytes: Vec<u8>,
    pub(super) pool: DataPool,
    pub(super) map: Generations,
}

impl Store {
    pub(super) fn new(grid: Grid, bytes: usize) -> Store {
        let pool = DataPool::new(SEED, DataShape { compressible: Share(0.2), ..DataShape::default() });
        let map = Generations::new(grid, 1, Bytes(bytes as u64), 64, EPOCH, Beginning::Filled).unwrap();
        let mut store = Store { bytes: vec![0; bytes], pool, map };
        fill(&mut store.bytes, 0, 0, Generations::filled_with(EPOCH), &store.pool);
        store
    }

    pub(super) fn aligned(unit: u64, bytes: usize) -> Store {
        Store::new(Grid { unit: Bytes(unit), shift: Bytes(0) }, bytes)
    }

    pub(super) fn write(&mut self, offset: u64, bytes: u32) {
        self.map.begin_write(0, offset, bytes, |start, length, generation| {
            fill(&mut self.bytes[start as usize..start as usize + length], 0, start, generation, &self.pool);
        });
        self.map.end_write(0, offset, bytes, true);
    }

    pub(super) fn read(&self, offset: u64, bytes: u32) -> Result<Checked, Damage> {
        let mut reading = Reading::new(self.map.grid(), Bytes(u64::from(bytes)));
        self.map.begin_read(0, offset, bytes, &mut reading);
        self.map.end_read(&mut reading);
        let expectation =
            Expectation { seed: SEED, duplicates: self.pool.duplicates(), generations: Acceptable::During(&reading) };
        verify(&self.bytes[offset as usize..][..bytes as usize], 0, offset, &expectation)
    }

    pub(super) fn damage(&self, offset: u64, bytes: u32) -> (DamageKind, u64) {
        let damage = self.read(offset, bytes).unwrap_err();
        (damage.kind, damage.offset)
    }
}
