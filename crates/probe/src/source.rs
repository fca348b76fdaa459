//! A file of `/proc` or `/sys` that is opened once and read again in place.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// An open file with the buffer for its text, which grows to the longest text seen and then stays.
#[derive(Debug)]
pub struct Source {
    file: File,
    buffer: Vec<u8>,
}

impl Source {
    /// None where the file is missing or may not be read: the kernel does not offer it, or a container hides it.
    pub fn open(path: impl AsRef<Path>) -> Option<Self> {
        let mut source = Self { file: File::open(path).ok()?, buffer: vec![0; 512] };
        // Some files open and then refuse to be read (pressure when it is switched off at boot).
        source.read()?;
        Some(source)
    }

    /// The text now; none when the file can no longer be read, as after the removal of a device.
    pub fn read(&mut self) -> Option<&str> {
        let mut length = 0;
        loop {
            if length == self.buffer.len() {
                self.buffer.resize(2 * length, 0);
            }
            match self.file.read_at(&mut self.buffer[length..], length as u64).ok()? {
                0 => break,
                read => length += read,
            }
        }
        std::str::from_utf8(&self.buffer[..length]).ok()
    }
}

/// Reads and parses a source that may be missing.
pub fn parsed<T>(source: &mut Option<Source>, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    parse(source.as_mut()?.read()?)
}
