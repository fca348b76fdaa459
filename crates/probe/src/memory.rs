//! Memory of the machine (`/proc/meminfo`) and of this process (`/proc/self/statm`).

use crate::{cgroup, scan};

/// Memory that this process and its neighbours may use, in bytes: the machine's, or what the tightest control group allows
/// of it.
pub fn memory_bytes() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let mounts = system::mounts::parse(&read("/proc/self/mountinfo"));
    let folders = cgroup::folders(&read("/proc/self/cgroup"), &mounts, "memory");
    let files = ["memory.max", "memory.limit_in_bytes"];
    let limits = folders.iter().flat_map(|folder| files.map(|file| folder.join(file)));
    let limits = limits.filter_map(|path| std::fs::read_to_string(path).ok());
    allowed(&read("/proc/meminfo"), limits)
}

/// The least of the machine's memory and of the limits, which are words where nothing is limited.
fn allowed(meminfo: &str, limits: impl Iterator<Item = String>) -> Option<u64> {
    let machine = scan::after(meminfo, "MemTotal:").map(|kib| kib * 1024)?;
    Some(limits.filter_map(|limit| limit.trim().parse().ok()).fold(machine, u64::min))
}

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
    fn the_tightest_limit_of_the_control_groups_is_the_memory_of_the_machine() {
        let of = |limits: &[&str]| allowed("MemTotal: 1000 kB\n", limits.iter().map(|limit| (*limit).to_owned()));
        assert_eq!(of(&["max\n", "9223372036854771712\n"]), Some(1_024_000));
        assert_eq!(of(&["max\n", "512000\n", "600000\n"]), Some(512_000));
        assert_eq!(allowed("", std::iter::empty()), None);
    }

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
