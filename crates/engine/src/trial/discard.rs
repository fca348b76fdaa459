//! Tells a block device that it holds nothing.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use units::Bytes;

/// `BLKDISCARD` of `linux/fs.h`: _IO(0x12, 119).
const BLKDISCARD: libc::c_ulong = 0x1277;

/// Discards the first `bytes` of a block device.
pub(crate) fn discard(device: &File, bytes: Bytes) -> io::Result<()> {
    let range: [u64; 2] = [0, bytes.0];
    // SAFETY: the call reads two numbers from the array and keeps nothing of it.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), BLKDISCARD, range.as_ptr()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
