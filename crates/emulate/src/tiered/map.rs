//! Which extents lie on the fast tier, and where.
//!
//! The one idea: the fast folder has one large file of slots, and beside it a table with a record for each. A record is written in
//! one piece, behind the data that it speaks of: what is not in the table lies in its own file, on the slow tier. So a process that
//! is killed at any moment leaves each extent in one place that holds all of it.

use crate::place::EXTENT;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// An extent: the number of its file, and which it is in that.
pub(crate) type Key = (u64, u64);

/// The files of a fast folder.
const SLOTS: &str = "prony-tier.extents";
const TABLE: &str = "prony-tier.map";

/// Bytes of a record: file, extent and a sum over both with the place of the record.
const RECORD: u64 = 24;

/// The table in memory and on disk.
#[derive(Debug)]
pub(crate) struct Map {
    table: File,
    /// The slots.
    pub(crate) data: Arc<File>,
    at: HashMap<Key, u32>,
    free: Vec<u32>,
}

fn record(slot: u32, (file, extent): Key) -> [u8; RECORD as usize] {
    let sum = random::mix(random::mix(file ^ 0x7072_6f6e_7974_6965).wrapping_add(extent) ^ u64::from(slot));
    let mut bytes = [0; RECORD as usize];
    for (place, word) in bytes.chunks_exact_mut(8).zip([file, extent, sum]) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

/// Whose the slots of a fast folder are: the first record names the slow folder by its number.
const OWNER: u32 = u32::MAX;

impl Map {
    /// The table of a fast folder with room for so many extents, for the slow folder of this number.
    ///
    /// # Errors
    /// When it cannot be read or made; `InvalidData` when it belongs to another slow folder; `UnexpectedEof` when something cut one of
    /// both files short.
    pub(crate) fn open(folder: &Path, slots: u32, owner: u64) -> io::Result<Map> {
        let open = |name| File::options().read(true).write(true).create(true).truncate(false).open(folder.join(name));
        let (table, data) = (open(TABLE)?, open(SLOTS)?);
        let known = usize::try_from(table.metadata()?.len() / RECORD).unwrap_or(0);
        if !table.metadata()?.len().is_multiple_of(RECORD) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; known * RECORD as usize];
        table.read_exact_at(&mut bytes, 0)?;
        let head = record(OWNER, (owner, 0));
        match bytes.get(..RECORD as usize) {
            None => table.write_all_at(&head, 0)?,
            Some(there) if there == head => {}
            Some(_) => return Err(io::ErrorKind::InvalidData.into()),
        }
        let mut map = Map { table, data: Arc::new(data), at: HashMap::new(), free: Vec::new() };
        let before = map.data.metadata()?.len();
        map.data.set_len(map.data.metadata()?.len().max(u64::from(slots) * EXTENT))?;
        // Slots beyond the room are emptied by the mover, and never filled again.
        for slot in (0..slots.max(known.saturating_sub(1) as u32)).rev() {
            let bytes = bytes.get(Map::place_of(slot) as usize..).and_then(|rest| rest.get(..RECORD as usize));
            match bytes.and_then(|bytes| key_of(slot, bytes)) {
                Some(key) => drop(map.at.insert(key, slot)),
                None if slot < slots => map.free.push(slot),
                None => {}
            }
        }
        let reached = map.at.values().max().map_or(0, |slot| (u64::from(*slot) + 1) * EXTENT);
        if before < reached {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(map)
    }

    /// Whether a fast folder holds extents of the slow folder of this number.
    ///
    /// # Errors
    /// When its table cannot be read.
    pub(crate) fn holds(folder: &Path, owner: u64) -> io::Result<bool> {
        let bytes = std::fs::read(folder.join(TABLE))?;
        let mut records = bytes.chunks_exact(RECORD as usize);
        let ours = records.next() == Some(&record(OWNER, (owner, 0)));
        Ok(ours && records.zip(0..).any(|(bytes, slot)| key_of(slot, bytes).is_some()))
    }

    /// Bytes that the slots of a folder take on its disk.
    pub(crate) fn taken(folder: &Path) -> u64 {
        use std::os::unix::fs::MetadataExt as _;
        folder.join(SLOTS).metadata().map_or(0, |slots| 512 * slots.blocks())
    }

    /// Whether there is a table in a folder.
    pub(crate) fn lies_in(folder: &Path) -> bool {
        folder.join(TABLE).exists()
    }

    fn place_of(slot: u32) -> u64 {
        (u64::from(slot) + 1) * RECORD
    }

    /// The slot of an extent that lies on the fast tier.
    pub(crate) fn of(&self, key: Key) -> Option<u32> {
        self.at.get(&key).copied()
    }

    /// All extents on the fast tier.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Key, u32)> + '_ {
        self.at.iter().map(|(key, slot)| (*key, *slot))
    }

    /// A slot that holds nothing, until it is set or given back.
    pub(crate) fn take(&mut self) -> Option<u32> {
        self.free.pop()
    }

    /// How many slots hold nothing.
    pub(crate) fn room(&self) -> usize {
        self.free.len()
    }

    /// A slot that was taken is not needed.
    pub(crate) fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// From now on an extent lies in a slot, which holds all of it.
    pub(crate) fn set(&mut self, key: Key, slot: u32) -> io::Result<()> {
        self.table.write_all_at(&record(slot, key), Map::place_of(slot))?;
        self.at.insert(key, slot);
        Ok(())
    }

    /// From now on an extent lies in its own file.
    pub(crate) fn clear(&mut self, key: Key) -> io::Result<()> {
        if let Some(slot) = self.at.get(&key).copied() {
            self.table.write_all_at(&[0; RECORD as usize], Map::place_of(slot))?;
            self.at.remove(&key);
            self.free.push(slot);
        }
        Ok(())
    }
}

/// The extent that a record names, if it was written whole.
fn key_of(slot: u32, bytes: &[u8]) -> Option<Key> {
    let word = |at: usize| bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
    let key = (word(0)?, word(8)?);
    (record(slot, key) == bytes).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_is_there_again_and_a_torn_record_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut map = Map::open(folder.path(), 4, 7).unwrap();
        let slots: Vec<u32> = (0..3).map(|_| map.take().unwrap()).collect();
        for (extent, slot) in slots.iter().enumerate() {
            map.set((9, extent as u64), *slot).unwrap();
        }
        map.clear((9, 1)).unwrap();
        assert_eq!([7, 8].map(|owner| Map::holds(folder.path(), owner).unwrap()), [true, false]);
        // The last record was being written when everything ended.
        map.table.write_all_at(&[0xff; 4], Map::place_of(slots[2])).unwrap();
        drop(map);
        let map = Map::open(folder.path(), 4, 7).unwrap();
        assert_eq!(map.all().collect::<Vec<_>>(), [((9, 0), slots[0])]);
        assert_eq!(map.room(), 3);
        assert_eq!(Map::open(folder.path(), 4, 8).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_fast_folder_of_which_something_was_cut_off_is_refused() {
        for (name, bytes) in [(TABLE, 3 * RECORD - 18), (SLOTS, 0), (SLOTS, EXTENT)] {
            let folder = tempfile::tempdir().unwrap();
            let mut map = Map::open(folder.path(), 4, 7).unwrap();
            let (first, second) = (map.take().unwrap(), map.take().unwrap());
            map.set((9, 0), first).unwrap();
            map.set((9, 1), second).unwrap();
            drop(map);
            let file = File::options().write(true).open(folder.path().join(name)).unwrap();
            file.set_len(bytes).unwrap();
            let refused = Map::open(folder.path(), 4, 7).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::UnexpectedEof, "{name} of {bytes}");
        }
    }
}
