//! What a device has acknowledged and not made durable.
//!
//! The one idea: writes go to the backing file at once, and what stood there before is kept until a flush. A lost power puts it back,
//! last write first. Writes of different places go side by side: only those of one stretch of a file wait for each other, so that what is
//! kept of it stands in the order in which it was written.

use crate::locked;
use crate::tree::filled;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{FallocateFlags, fallocate, fstat, ftruncate};
use rustix::io::Errno;
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// The smallest piece that a device writes as a whole.
pub(crate) const SECTOR: usize = 512;

/// Bytes of a stretch whose writes wait for each other.
const STRETCH: u64 = 1 << 16;

/// Locks of stretches; several stretches share one.
const STRETCHES: u64 = 64;

/// One write.
#[derive(Debug)]
struct Entry {
    file: Arc<File>,
    offset: u64,
    /// What stood there before.
    before: Vec<u8>,
    grown: Option<Grown>,
    bytes: usize,
}

/// How a write made a file longer. The bytes of an extent may be put back on another tier; its file ends here.
#[derive(Debug)]
struct Grown {
    file: Arc<File>,
    /// Where in it the write begins.
    offset: u64,
    /// How long it was before, or was made since by somebody who asked for that.
    size: u64,
}

impl Entry {
    /// What is put back of it ends at a byte of its file; where the write made that longer, there was nothing before but zeros.
    fn put_back_to(&mut self, end: u64, zeros: bool) {
        let inside = (end.saturating_sub(self.offset) as usize).min(self.bytes);
        if zeros {
            self.before.resize(inside, 0);
        } else {
            self.before.truncate(inside);
        }
    }
}

/// Writes, oldest first.
#[derive(Debug, Default)]
struct Kept {
    entries: VecDeque<Entry>,
    bytes: usize,
}

impl Kept {
    fn pop(&mut self) -> Option<Entry> {
        let oldest = self.entries.pop_front()?;
        self.bytes -= oldest.bytes;
        Some(oldest)
    }
}

/// The writes of a device's own memory.
#[derive(Debug)]
pub(crate) struct Volatile {
    /// Whether the power is lost: nothing is written any more, not even what was on its way when it went. Who writes holds it for reading.
    lost: RwLock<bool>,
    stretches: [Mutex<()>; STRETCHES as usize],
    /// Held by who makes a file longer.
    growing: Mutex<()>,
    kept: Mutex<Kept>,
    /// Bytes that the device's memory holds; what is older has been written out.
    limit: usize,
}

impl Volatile {
    pub(crate) fn new(limit: usize) -> Volatile {
        let stretches = std::array::from_fn(|_| Mutex::default());
        Volatile { lost: RwLock::default(), stretches, growing: Mutex::default(), kept: Mutex::default(), limit }
    }

    /// Writes, and keeps what stood there.
    ///
    /// # Errors
    /// What reading or writing the backing file ends with; then nothing is kept.
    pub(crate) fn write(&self, file: &Arc<File>, offset: u64, data: &[u8]) -> std::io::Result<()> {
        self.change(file, (offset, data.len()), true, || file.write_all_at(data, offset))
    }

    /// Makes zeros of a stretch, which no more than a write is durable before a flush. One that is larger than the memory is written out at
    /// once, behind all that was kept.
    ///
    /// # Errors
    /// As [`Volatile::write`], and what the backing file system answers to who asks it for that.
    pub(crate) fn hollow(&self, file: &Arc<File>, (at, bytes): (u64, u64), way: FallocateFlags) -> std::io::Result<()> {
        let make = || Ok(fallocate(file, way, at, bytes)?);
        if bytes <= self.limit as u64 {
            return self.change(file, (at, bytes as usize), false, make);
        }
        // Nobody is in the middle of a write.
        let lost = self.lost.write().unwrap_or_else(PoisonError::into_inner);
        if *lost {
            return Err(Errno::IO.into());
        }
        make()?;
        self.flush();
        Ok(())
    }

    /// Changes a stretch of a file by `make`, which makes the file longer where it `grows`.
    fn change(
        &self,
        file: &Arc<File>,
        (offset, bytes): (u64, usize),
        grows: bool,
        make: impl FnOnce() -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        let lost = self.lost.read().unwrap_or_else(PoisonError::into_inner);
        if *lost {
            return Err(Errno::IO.into());
        }
        let _alone = self.stretches_of(offset, bytes as u64);
        let mut before = self.room();
        before.resize(bytes, 0);
        let (mut growing, mut grown) = (None, None);
        // Most changes lie within the file, and reading tells so without asking for its size.
        if filled(file, &mut before, offset)? < bytes {
            growing = Some(locked(&self.growing));
            let size = fstat(file)?.st_size as u64;
            before.truncate(size.saturating_sub(offset) as usize);
            file.read_exact_at(&mut before, offset)?;
            let longer = grows && size < offset + bytes as u64;
            grown = longer.then(|| Grown { file: file.clone(), offset, size });
        }
        make()?;
        self.keep(Entry { file: file.clone(), offset, before, grown, bytes });
        drop(growing);
        Ok(())
    }

    /// The locks of the stretches that a write touches, always in one order.
    fn stretches_of(&self, offset: u64, bytes: u64) -> Vec<MutexGuard<'_, ()>> {
        let (first, last) = (offset / STRETCH, (offset + bytes.max(1) - 1) / STRETCH);
        let mut numbers: Vec<u64> = (first..=last).take(STRETCHES as usize).map(|number| number % STRETCHES).collect();
        numbers.sort_unstable();
        numbers.into_iter().map(|number| locked(&self.stretches[number as usize])).collect()
    }

    /// Room for what stood somewhere: that of what was kept longest, where the memory is full.
    fn room(&self) -> Vec<u8> {
        let mut kept = locked(&self.kept);
        let oldest = if kept.bytes >= self.limit { kept.pop() } else { None };
        // The file may be closed with it, for which nobody waits.
        drop(kept);
        oldest.map(|oldest| oldest.before).unwrap_or_default()
    }

    fn keep(&self, entry: Entry) {
        let mut kept = locked(&self.kept);
        kept.bytes += entry.bytes;
        kept.entries.push_back(entry);
        let mut old = Vec::new();
        while kept.bytes > self.limit {
            old.extend(kept.pop());
        }
        // Memory is given back when nobody waits for it.
        drop(kept);
    }

    /// All that was written is durable.
    pub(crate) fn flush(&self) {
        // Memory is given back when nobody waits for it.
        let _durable = std::mem::take(&mut *locked(&self.kept));
    }

    /// A file was cut to a size or made as long, which is durable at once: what stood behind its end does not come back.
    pub(crate) fn cut(&self, file: impl AsFd, size: u64) {
        self.sift(file, |entry, own| {
            if own {
                entry.put_back_to(size, entry.grown.is_some());
            }
            entry.grown = None;
            true
        });
    }

    /// Somebody asked for a file of at least this size, which is durable at once: it does not become shorter again.
    pub(crate) fn reserve(&self, file: impl AsFd, size: u64) {
        self.sift(file, |entry, own| {
            let Some(grown) = &mut entry.grown else { return true };
            grown.size = grown.size.max(size);
            let end = grown.size;
            if own {
                entry.put_back_to(end, true);
            }
            true
        });
    }

    /// Nothing is put back in a stretch of a file any more: what lay there is gone.
    pub(crate) fn empty(&self, file: impl AsFd, range: Range<u64>) {
        self.sift(file, |entry, own| {
            if own && entry.offset < range.end {
                entry.put_back_to(range.start, false);
            }
            true
        });
    }

    /// A file is gone, and nothing keeps it open.
    pub(crate) fn forget(&self, file: impl AsFd) {
        self.sift(file, |_, _| false);
    }

    /// So many bytes of a file were copied to a place in another, and are put back there from now on. Nobody writes to either meanwhile.
    pub(crate) fn follow(&self, (from, offset): (&File, u64), (to, place): (&Arc<File>, u64), bytes: u64) {
        self.sift(from, |entry, own| {
            if own && (offset..offset + bytes).contains(&entry.offset) {
                // Behind the end of its file an extent is zero wherever it lies.
                entry.before.resize(entry.bytes, 0);
                (entry.file, entry.offset) = (to.clone(), entry.offset - offset + place);
            }
            true
        });
    }

    /// Hands each write of a file over with whether its bytes stand in that, or only its length; those that do not stay are not kept any
    /// more.
    fn sift(&self, file: impl AsFd, mut stays: impl FnMut(&mut Entry, bool) -> bool) {
        // Nobody is in the middle of a write.
        let _whole = self.lost.write().unwrap_or_else(PoisonError::into_inner);
        let which = |file: BorrowedFd<'_>| fstat(file).ok().map(|stat| (stat.st_dev, stat.st_ino));
        let wanted = which(file.as_fd());
        // The kernel may have forgotten the file and found it again since: it is the same however often it was opened.
        let mut known = HashMap::new();
        let mut is_it =
            |file: &Arc<File>| *known.entry(Arc::as_ptr(file)).or_insert_with(|| which(file.as_fd()) == wanted);
        let Kept { entries, bytes } = &mut *locked(&self.kept);
        entries.retain_mut(|entry| {
            let (own, grew) = (is_it(&entry.file), entry.grown.as_ref().is_some_and(|grown| is_it(&grown.file)));
            let stays = !(own || grew) || stays(entry, own);
            *bytes -= if stays { 0 } else { entry.bytes };
            stays
        });
    }

    /// The power is back.
    pub(crate) fn power(&self) {
        *self.lost.write().unwrap_or_else(PoisonError::into_inner) = false;
    }

    /// The power is lost: the files are as after the last flush, but for some sectors of the last write.
    ///
    /// # Errors
    /// What writing a backing file ends with.
    pub(crate) fn lose(&self) -> std::io::Result<usize> {
        *self.lost.write().unwrap_or_else(PoisonError::into_inner) = true;
        let Kept { mut entries, .. } = std::mem::take(&mut *locked(&self.kept));
        let lost = entries.len();
        let mut last = true;
        while let Some(Entry { file, offset, before, grown, bytes }) = entries.pop_back() {
            let kept = if std::mem::take(&mut last) { bytes.div_ceil(SECTOR) / 2 * SECTOR } else { 0 };
            if let Some(before) = before.get(kept..) {
                file.write_all_at(before, offset + kept as u64)?;
            }
            if let Some(Grown { file, offset, size }) = grown {
                let torn = if kept > 0 { offset + kept as u64 } else { 0 };
                ftruncate(file.as_fd(), size.max(torn))?;
            }
        }
        Ok(lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Arc<File> {
        Arc::new(tempfile::tempfile().unwrap())
    }

    fn content(file: &File) -> Vec<u8> {
        let mut all = vec![0; file.metadata().unwrap().len() as usize];
        file.read_exact_at(&mut all, 0).unwrap();
        all
    }

    #[test]
    fn what_was_flushed_survives_and_what_came_later_does_not() {
        let (file, memory) = (file(), Volatile::new(1 << 20));
        memory.write(&file, 0, &[1; 1024]).unwrap();
        memory.flush();
        memory.write(&file, 512, &[2; 1024]).unwrap();
        memory.write(&file, 0, &[3; 512]).unwrap();
        assert_eq!(memory.lose().unwrap(), 2);
        assert_eq!(content(&file), [1; 1024]);
    }

    #[test]
    fn the_last_write_is_torn_between_sectors() {
        let (file, memory) = (file(), Volatile::new(1 << 20));
        memory.write(&file, 0, &[1; 4096]).unwrap();
        memory.flush();
        memory.write(&file, 0, &[2; 4096]).unwrap();
        memory.lose().unwrap();
        assert_eq!(content(&file), [[2; 2048], [1; 2048]].concat());
    }

    #[test]
    fn a_hole_that_nobody_flushed_is_filled_again_behind_a_lost_power_and_one_beyond_the_memory_is_durable() {
        let (hole, zeros) = (FallocateFlags::PUNCH_HOLE, FallocateFlags::ZERO_RANGE);
        for way in [hole | FallocateFlags::KEEP_SIZE, zeros | FallocateFlags::KEEP_SIZE] {
            let (file, memory) = (file(), Volatile::new(1 << 16));
            memory.write(&file, 0, &[1; 32_768]).unwrap();
            memory.flush();
            memory.hollow(&file, (4096, 8192), way).unwrap();
            memory.write(&file, 8192, &[2; 512]).unwrap();
            // It ends behind the file.
            memory.hollow(&file, (28_672, 8192), way).unwrap();
            assert_eq!(content(&file)[28_672..], [0; 4096]);
            // The one that is torn.
            memory.write(&file, 0, &[3; 512]).unwrap();
            assert_eq!(memory.lose().unwrap(), 4);
            assert_eq!(content(&file), [1; 32_768], "{way:?}");
            assert!(memory.hollow(&file, (0, 512), way).is_err(), "nothing is emptied without power");
            memory.power();
            memory.hollow(&file, (0, 4096), way).unwrap();
            memory.flush();
            memory.write(&file, 8192, &[2; 512]).unwrap();
            memory.hollow(&file, (16_384, 1 << 17), way).unwrap();
            assert_eq!(memory.lose().unwrap(), 0);
            let mut left = [vec![0; 4096], vec![1; 4096], vec![2; 512], vec![1; 7680]].concat();
            left.resize(32_768, 0);
            assert_eq!(content(&file), left, "{way:?}");
        }
    }

    #[test]
    fn what_a_file_was_cut_off_stays_away_however_it_was_opened() {
        let folder = tempfile::tempdir().unwrap();
        let open = || {
            Arc::new(
                File::options()
                    .create(true)
                    .truncate(false)
                    .read(true)
                    .write(true)
                    .open(folder.path().join("f"))
                    .unwrap(),
            )
        };
        let (first, again, memory) = (open(), open(), Volatile::new(1 << 20));
        memory.write(&first, 0, &[1; 1024]).unwrap();
        memory.flush();
        memory.write(&first, 0, &[2; 1024]).unwrap();
        again.set_len(0).unwrap();
        memory.cut(&again, 0);
        memory.lose().unwrap();
        assert_eq!(content(&again), [0; 0]);
    }

    #[test]
    fn a_file_is_as_long_behind_a_lost_power_as_somebody_asked_for() {
        for (cut, wanted) in [(Some(20_000), 20_000), (None, 10_000), (Some(100), 100)] {
            let (file, memory) = (file(), Volatile::new(1 << 20));
            memory.write(&file, 0, &[1; 8192]).unwrap();
            memory.flush();
            memory.write(&file, 8192, &[2; 4096]).unwrap();
            match cut {
                Some(size) => {
                    file.set_len(size).unwrap();
                    memory.cut(&file, size);
                }
                None => memory.reserve(&file, 10_000),
            }
            // The one that is torn.
            memory.write(&file, 0, &[3; 512]).unwrap();
            memory.lose().unwrap();
            let mut all = [vec![1; 8192], vec![0; 20_000]].concat();
            all.truncate(wanted);
            assert_eq!(content(&file), all, "{cut:?}");
        }
    }

    #[test]
    fn what_was_copied_elsewhere_is_put_back_there_and_its_file_ends_where_it_did() {
        let (whole, slots, memory) = (file(), file(), Volatile::new(1 << 20));
        memory.write(&whole, 0, &[1; 1024]).unwrap();
        memory.flush();
        memory.write(&whole, 512, &[2; 1024]).unwrap();
        memory.write(&whole, 4096, &[3; 512]).unwrap();
        slots.write_all_at(&[[1; 512], [2; 512], [2; 512]].concat(), 8192).unwrap();
        memory.follow((&whole, 0), (&slots, 8192), 4096);
        memory.write(&slots, 8192, &[4; 512]).unwrap();
        assert_eq!(memory.lose().unwrap(), 3);
        assert_eq!(content(&slots)[8192..], [vec![1; 1024], vec![0; 512]].concat());
        assert_eq!(content(&whole).len(), 1024);
    }

    #[test]
    fn a_file_that_is_gone_is_not_held_and_a_stretch_that_was_emptied_stays_so() {
        let (gone, slots, memory) = (file(), file(), Volatile::new(2048));
        memory.write(&slots, 0, &[1; 1024]).unwrap();
        memory.flush();
        memory.write(&slots, 0, &[2; 1024]).unwrap();
        memory.write(&gone, 0, &[3; 512]).unwrap();
        memory.forget(&gone);
        assert_eq!((Arc::strong_count(&gone), locked(&memory.kept).bytes), (1, 1024));
        slots.write_all_at(&[0; 512], 512).unwrap();
        memory.empty(&slots, 512..1024);
        memory.write(&gone, 0, &[4; 512]).unwrap();
        memory.lose().unwrap();
        assert_eq!(content(&slots), [[1; 512], [0; 512]].concat());
    }

    #[test]
    fn nothing_is_written_without_power() {
        let (file, memory) = (file(), Volatile::new(1 << 20));
        memory.lose().unwrap();
        assert!(memory.write(&file, 0, &[1; 512]).is_err());
        memory.power();
        memory.write(&file, 0, &[1; 512]).unwrap();
        assert_eq!(content(&file), [1; 512]);
    }

    #[test]
    fn what_the_memory_cannot_hold_has_been_written_out() {
        let (file, memory) = (file(), Volatile::new(1024));
        for place in 0..4u8 {
            memory.write(&file, u64::from(place) * 512, &[place + 1; 512]).unwrap();
        }
        memory.lose().unwrap();
        assert_eq!(content(&file), [[1; 512], [2; 512]].concat());
    }

    #[test]
    fn writes_of_one_place_by_many_at_once_are_taken_back_to_what_was_flushed() {
        let (file, memory) = (file(), Volatile::new(1 << 20));
        memory.write(&file, 0, &[9; 4 * STRETCH as usize]).unwrap();
        memory.flush();
        std::thread::scope(|scope| {
            for writer in 0..4u8 {
                let (file, memory) = (&file, &memory);
                scope.spawn(move || {
                    // Across two stretches, over each other, and beyond the end.
                    for turn in 0..50u64 {
                        memory.write(file, STRETCH - 256 + turn * 8, &[writer; 512]).unwrap();
                        memory.write(file, 4 * STRETCH - 64 + turn * u64::from(writer), &[writer; 256]).unwrap();
                    }
                });
            }
        });
        memory.write(&file, 0, &[1; 512]).unwrap();
        assert_eq!(memory.lose().unwrap(), 401);
        assert_eq!(content(&file), vec![9; 4 * STRETCH as usize]);
    }
}
