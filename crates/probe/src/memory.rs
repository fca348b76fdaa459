//! Memory of the machine (`/proc/meminfo`) and of this process (`/proc/self/statm`).

use crate::scan;

/// Gauges in bytes; what the kernel does not name is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// What could be used without swapping, as the kernel estimates it.
    pub available: Option<u64>,
    /// The page cache.
    pub cached: Option<u64>,
    /// In the page cache, waiting to be written.
    pub dirty: Option<u64>,
    /// Being written now.
    pub writeback: Option<u64>,
}

/// Reads the text of `/proc/meminfo`, whose unit is always KiB though it says kB.
pub fn parse(text: &str) -> Memory {
    let bytes = |name: &str| scan::after(text, name).map(|kib| kib * 1024);
    Memory {
        available: bytes("MemAvailable:"),
        cached: bytes("Cached:"),
        dirty: bytes("Dirty:"),
        writeback: bytes("Writeback:"),
    }
}

/// Resident bytes out of the text of a `statm` file: its second number, in pages.
pub fn resident(text: &str, page_bytes: u64) -> Option<u64> {
    Some(scan::numbers(text).nth(1)? * page_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_begin_alike_are_told_apart() {
        let text = "MemTotal: 9 kB\nMemAvailable:   8000 kB\nCached:  70 kB\nSwapCached: 1 kB\nDirty:  6 kB\n\
            Writeback:  5 kB\nWritebackTmp: 4 kB\n";
        let expected =
            Memory { available: Some(8_192_000), cached: Some(71_680), dirty: Some(6144), writeback: Some(5120) };
        assert_eq!(parse(text), expected);
        assert_eq!(parse("MemTotal: 9 kB\n").available, None);
        assert_eq!(resident("900 12 3 4 0 5 0", 4096), Some(49_152));
    }
}
