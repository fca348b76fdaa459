//! Page-aligned memory for transfers, one piece a slot, touched before the trial so that no page fault falls into it.

#![allow(unsafe_code)]

use std::io;

/// Touches all pages while they are mapped. Miri knows no pages.
const TOUCHED: libc::c_int = if cfg!(miri) { 0 } else { libc::MAP_POPULATE };

/// A block of anonymous memory, divided evenly among slots.
#[derive(Debug)]
pub(crate) struct Buffers {
    base: *mut u8,
    length: usize,
    slot_bytes: usize,
    slots: usize,
}

// SAFETY: the memory belongs to this value alone; nothing in it is tied to the thread that mapped it.
unsafe impl Send for Buffers {}

impl Buffers {
    /// Maps and touches `slots` pieces of at least `bytes` each, every piece on a page border.
    pub(crate) fn new(slots: u32, bytes: u64) -> io::Result<Buffers> {
        let slot_bytes = (bytes.max(1) as usize).next_multiple_of(4096);
        let slots = slots.max(1) as usize;
        let length = slot_bytes * slots;
        // SAFETY: a fresh private anonymous mapping, asked for at no particular address.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | TOUCHED,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Buffers { base: base.cast(), length, slot_bytes, slots })
    }

    /// Where the buffer of a slot begins, for the kernel.
    pub(crate) fn address(&self, slot: u32) -> *mut u8 {
        assert!((slot as usize) < self.slots);
        // SAFETY: the assertion keeps the result inside the mapping.
        unsafe { self.base.add(slot as usize * self.slot_bytes) }
    }

    /// The buffer of a slot. The caller holds the slot: the kernel must not be writing into it.
    pub(crate) fn slot(&mut self, slot: u32) -> &mut [u8] {
        let address = self.address(slot);
        // SAFETY: inside the mapping by `address`, exclusive by `&mut self`, and no operation of this slot is under way
        // between its completion and its next issue, which is when drivers look at it.
        unsafe { std::slice::from_raw_parts_mut(address, self.slot_bytes) }
    }

    /// The whole mapping, for registering it with a ring.
    pub(crate) fn whole(&self) -> libc::iovec {
        libc::iovec { iov_base: self.base.cast(), iov_len: self.length }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`, which nothing outlives: ports own their buffers and end their
        // operations before they are dropped.
        unsafe {
            libc::munmap(self.base.cast(), self.length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_start_on_page_borders_and_do_not_overlap() {
        let mut buffers = Buffers::new(3, 5000).unwrap();
        for slot in 0..3 {
            assert_eq!(buffers.address(slot) as usize % 4096, 0);
            buffers.slot(slot).fill(slot as u8 + 1);
        }
        for slot in 0..3 {
            assert!(buffers.slot(slot).iter().all(|byte| *byte == slot as u8 + 1));
        }
    }
}
