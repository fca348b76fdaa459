//! How much of a file lies in the page cache.
//!
//! The one idea: `cachestat` (Linux 6.5) says it in one call without touching a page; older kernels are asked by `mincore` over a
//! mapping, which reads nothing either.
//!
//! What it does not do: it brings nothing into the cache and drops nothing.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// `cachestat`, the same number on every architecture since it is one of the new calls.
const CACHESTAT: libc::c_long = 451;

/// A mapping is looked at in parts of so many bytes, so that the answer stays small.
const PART: usize = 1 << 30;

/// `struct cachestat_range` of `linux/mman.h`; a length of zero is up to the end.
#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

/// `struct cachestat` of `linux/mman.h`, in pages.
#[repr(C)]
#[derive(Default)]
struct Stat {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Bytes of a file that lie in the page cache, whole pages each.
pub(crate) fn cached_bytes(file: &File) -> io::Result<u64> {
    match by_cachestat(file) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => by_mincore(file),
        answered => answered,
    }
}

fn by_cachestat(file: &File) -> io::Result<u64> {
    let (range, mut stat) = (Range { offset: 0, length: 0 }, Stat::default());
    // SAFETY: both pointers are to live values laid out as the kernel has them; it reads the first and writes the second, and
    // keeps neither.
    let result = unsafe { libc::syscall(CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut stat, 0) };
    if result == 0 { Ok(stat.cached * page_bytes() as u64) } else { Err(io::Error::last_os_error()) }
}

/// Since Linux 5.2 the kernel tells this only to the owner of a file, or to one who may write it; to others every page
/// looks cached.
fn by_mincore(file: &File) -> io::Result<u64> {
    let length = file.metadata()?.len();
    let mut cached = 0;
    for offset in (0..length).step_by(PART) {
        let part = usize::try_from(length - offset).unwrap_or(PART).min(PART);
        cached += mapped(file, offset, part)?;
    }
    Ok(cached * page_bytes() as u64)
}

/// Pages of a part that lie in the cache.
fn mapped(file: &File, offset: u64, part: usize) -> io::Result<u64> {
    let place = libc::off_t::try_from(offset).map_err(io::Error::other)?;
    let (protection, flags) = (libc::PROT_READ, libc::MAP_SHARED);
    // SAFETY: a new mapping at a place of the kernel's choice; nothing of ours is touched, and it is never read through.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), part, protection, flags, file.as_raw_fd(), place) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let mut pages = vec![0_u8; part.div_ceil(page_bytes())];
    // SAFETY: the mapping is `part` long, and the answer has a byte for each of its pages.
    let result = unsafe { libc::mincore(start, part, pages.as_mut_ptr().cast()) };
    let error = io::Error::last_os_error();
    // SAFETY: the mapping was made above and nothing points into it.
    unsafe { libc::munmap(start, part) };
    if result == 0 { Ok(pages.iter().filter(|page| **page & 1 == 1).count() as u64) } else { Err(error) }
}

fn page_bytes() -> usize {
    rustix::param::page_size()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, memfd_create};
    use std::io::Write;

    /// A file in memory lies in the page cache and nowhere else.
    #[test]
    fn what_was_written_lies_in_the_page_cache_by_both_ways_of_asking() {
        let mut file = File::from(memfd_create("cached", MemfdFlags::CLOEXEC).unwrap());
        assert_eq!(by_mincore(&file).unwrap(), 0, "there is nothing yet");
        file.write_all(&vec![7; 64 * page_bytes() + 1]).unwrap();
        file.set_len(128 * page_bytes() as u64).unwrap();
        let written = 65 * page_bytes() as u64;
        assert_eq!(by_mincore(&file).unwrap(), written, "what was never written is not there");
        match by_cachestat(&file) {
            Ok(cached) => assert_eq!(cached, written),
            Err(error) => assert!(matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)), "{error}"),
        }
        assert_eq!(cached_bytes(&file).unwrap(), written);
    }
}
