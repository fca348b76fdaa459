//! Counters of one block device, from its `stat` file in sysfs: the numbers of `/proc/diskstats` without the other
//! devices (Documentation/admin-guide/iostats.rst, Documentation/block/stat.rst).

use crate::scan;
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

/// A sector of these counters is 512 bytes, whatever the disk's own.
const SECTOR_BYTES: u64 = 512;

/// What a device has done since it came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Reads completed.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Milliseconds that reads took, added up, waiting in the queue included.
    pub read_ms: u64,
    /// Writes completed.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Milliseconds that writes took, added up.
    pub write_ms: u64,
    /// Operations under way now.
    pub in_flight: u64,
    /// Milliseconds during which at least one operation was under way.
    pub busy_ms: u64,
    /// Bytes discarded; the field came with Linux 4.18.
    pub discarded_bytes: Option<u64>,
    /// Flushes completed; the field came with Linux 5.5.
    pub flushes: Option<u64>,
}

/// Reads the text of a `stat` file.
pub fn parse(text: &str) -> Option<Counters> {
    let fields: Vec<u64> = scan::numbers(text).collect();
    let [reads, _, read_sectors, read_ms, writes, _, written_sectors, write_ms, in_flight, busy_ms, ..] = fields[..]
    else {
        return None;
    };
    Some(Counters {
        reads,
        read_bytes: read_sectors * SECTOR_BYTES,
        read_ms,
        writes,
        written_bytes: written_sectors * SECTOR_BYTES,
        write_ms,
        in_flight,
        busy_ms,
        discarded_bytes: fields.get(13).map(|sectors| sectors * SECTOR_BYTES),
        flushes: fields.get(15).copied(),
    })
}

/// Bytes that the devices below these folders have read since they came, and the seconds that the reads took, added up. None
/// where a folder cannot be seen, or lies on no device with counters of its own (overlay, FUSE).
pub fn reads_below(folders: &[PathBuf]) -> Option<(f64, f64)> {
    let devices: Option<BTreeSet<u64>> =
        folders.iter().map(|folder| std::fs::metadata(folder).ok().map(|found| found.dev())).collect();
    let (mut bytes, mut ms) = (0, 0);
    for device in devices.filter(|devices| !devices.is_empty())? {
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        let text = std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/stat")).ok()?;
        let counters = parse(&text)?;
        (bytes, ms) = (bytes + counters.read_bytes, ms + counters.read_ms);
    }
    Some((bytes as f64, ms as f64 / 1e3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_seen_or_has_no_device_is_not_counted() {
        assert_eq!(reads_below(&[]), None);
        assert_eq!(reads_below(&[PathBuf::from("/proc")]), None);
        assert_eq!(reads_below(&[PathBuf::from("/there/is/none")]), None);
    }

    #[test]
    fn every_field_of_a_stat_file_lands_in_its_place() {
        let counters = parse("   11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27\n").unwrap();
        let expected = Counters {
            reads: 11,
            read_bytes: 13 * 512,
            read_ms: 14,
            writes: 15,
            written_bytes: 17 * 512,
            write_ms: 18,
            in_flight: 19,
            busy_ms: 20,
            discarded_bytes: Some(24 * 512),
            flushes: Some(26),
        };
        assert_eq!(counters, expected);
    }

    #[test]
    fn an_old_kernel_observes_neither_discards_nor_flushes() {
        let counters = parse("1 2 3 4 5 6 7 8 9 10 11").unwrap();
        assert_eq!((counters.discarded_bytes, counters.flushes), (None, None));
        assert_eq!(parse("1 2 3"), None);
    }
}
