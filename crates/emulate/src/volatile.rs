//! What a device has acknowledged and not made durable.
//!
//! The one idea: writes go to the backing file at once, and what stood there before is kept until a flush. A lost power puts it back,
//! last write first.

use rustix::fd::AsFd;
use rustix::fs::{fstat, ftruncate};
use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// The smallest piece that a device writes as a whole.
const SECTOR: usize = 512;

/// One write.
#[derive(Debug)]
struct Entry {
    file: Arc<File>,
    /// Which file that is, however often it was opened: the kernel may have forgotten and found it again since.
    inode: (u64, u64),
    offset: u64,
    /// What stood there before.
    before: Vec<u8>,
    /// How long the file was before, where the write made it longer.
    size: Option<u64>,
    bytes: usize,
}

/// The writes of a device's own memory, oldest first.
#[derive(Debug)]
pub(crate) struct Volatile {
    entries: VecDeque<Entry>,
    held: usize,
    /// Bytes that the device's memory holds; what is older has been written out.
    limit: usize,
    /// Whether the power is lost: nothing is written any more, not even what was on its way when it went.
    pub(crate) lost: bool,
}

impl Volatile {
    pub(crate) fn new(limit: usize) -> Volatile {
        Volatile { entries: VecDeque::new(), held: 0, limit, lost: false }
    }

    /// Writes, and keeps what stood there.
    ///
    /// # Errors
    /// What reading or writing the backing file ends with; then nothing is kept.
    pub(crate) fn write(&mut self, file: &Arc<File>, offset: u64, data: &[u8]) -> std::io::Result<()> {
        if self.lost {
            return Err(rustix::io::Errno::IO.into());
        }
        let stat = fstat(file.as_fd())?;
        let (size, inode) = (stat.st_size as u64, (stat.st_dev, stat.st_ino));
        let there = size.saturating_sub(offset).min(data.len() as u64) as usize;
        let mut before = vec![0; there];
        file.read_exact_at(&mut before, offset)?;
        file.write_all_at(data, offset)?;
        let grown = (offset + data.len() as u64 > size).then_some(size);
        self.entries.push_back(Entry { file: file.clone(), inode, offset, before, size: grown, bytes: data.len() });
        self.held += data.len();
        while self.held > self.limit
            && let Some(oldest) = self.entries.pop_front()
        {
            self.held -= oldest.bytes;
        }
        Ok(())
    }

    /// All that was written is durable.
    pub(crate) fn flush(&mut self) {
        self.entries.clear();
        self.held = 0;
    }

    /// A file was cut, which is durable at once as all names and sizes are: what stood behind its end does not come back.
    ///
    /// # Errors
    /// What asking for the backing file ends with.
    pub(crate) fn cut(&mut self, file: &File, size: u64) -> std::io::Result<()> {
        let stat = fstat(file)?;
        let inode = (stat.st_dev, stat.st_ino);
        for entry in self.entries.iter_mut().filter(|entry| entry.inode == inode) {
            entry.before.truncate(size.saturating_sub(entry.offset) as usize);
            entry.size = entry.size.map(|before| before.min(size));
        }
        Ok(())
    }

    /// The power is lost: the files are as after the last flush, but for some sectors of the last write.
    ///
    /// # Errors
    /// What writing a backing file ends with.
    pub(crate) fn lose(&mut self) -> std::io::Result<usize> {
        self.lost = true;
        let lost = self.entries.len();
        let mut last = true;
        while let Some(Entry { file, offset, before, size, bytes, .. }) = self.entries.pop_back() {
            let kept = if std::mem::take(&mut last) { bytes.div_ceil(SECTOR) / 2 * SECTOR } else { 0 };
            if let Some(before) = before.get(kept..) {
                file.write_all_at(before, offset + kept as u64)?;
            }
            if let Some(size) = size {
                let torn = if kept > 0 { offset + kept as u64 } else { 0 };
                ftruncate(file.as_fd(), size.max(torn))?;
            }
        }
        self.held = 0;
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
        let (file, mut memory) = (file(), Volatile::new(1 << 20));
        memory.write(&file, 0, &[1; 1024]).unwrap();
        memory.flush();
        memory.write(&file, 512, &[2; 1024]).unwrap();
        memory.write(&file, 0, &[3; 512]).unwrap();
        assert_eq!(memory.lose().unwrap(), 2);
        assert_eq!(content(&file), [1; 1024]);
    }

    #[test]
    fn the_last_write_is_torn_between_sectors() {
        let (file, mut memory) = (file(), Volatile::new(1 << 20));
        memory.write(&file, 0, &[1; 4096]).unwrap();
        memory.flush();
        memory.write(&file, 0, &[2; 4096]).unwrap();
        memory.lose().unwrap();
        assert_eq!(content(&file), [[2; 2048], [1; 2048]].concat());
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
        let (first, again, mut memory) = (open(), open(), Volatile::new(1 << 20));
        memory.write(&first, 0, &[1; 1024]).unwrap();
        memory.flush();
        memory.write(&first, 0, &[2; 1024]).unwrap();
        again.set_len(0).unwrap();
        memory.cut(&again, 0).unwrap();
        memory.lose().unwrap();
        assert_eq!(content(&again), [0; 0]);
    }

    #[test]
    fn nothing_is_written_without_power() {
        let (file, mut memory) = (file(), Volatile::new(1 << 20));
        memory.lose().unwrap();
        assert!(memory.write(&file, 0, &[1; 512]).is_err());
        memory.lost = false;
        memory.write(&file, 0, &[1; 512]).unwrap();
        assert_eq!(content(&file), [1; 512]);
    }

    #[test]
    fn what_the_memory_cannot_hold_has_been_written_out() {
        let (file, mut memory) = (file(), Volatile::new(1024));
        for place in 0..4u8 {
            memory.write(&file, u64::from(place) * 512, &[place + 1; 512]).unwrap();
        }
        memory.lose().unwrap();
        assert_eq!(content(&file), [[1; 512], [2; 512]].concat());
    }
}
