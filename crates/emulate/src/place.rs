//! Where on the device a piece of a file lies.
//!
//! The one idea: as file systems do, room is given to a file when it is first written or read there, one extent behind the other; so files
//! that grow together lie between each other, and one that was written in order lies in order.

use std::collections::HashMap;

/// Bytes of an extent.
pub(crate) const EXTENT: u64 = 1 << 20;

/// Extents of files on the modules of a device.
#[derive(Debug)]
pub(crate) struct Places {
    modules: u16,
    /// Extents of a module.
    room: u64,
    given: HashMap<(u64, u64), u64>,
    next: u64,
}

impl Places {
    /// So many modules of so many bytes.
    pub(crate) fn new(modules: u16, module_bytes: u64) -> Places {
        let room = (module_bytes / EXTENT).max(1);
        Places { modules: modules.max(1), room, given: HashMap::new(), next: 0 }
    }

    /// Module and offset there of a byte of a file. A device that is full begins anew: the folder says when there is no room.
    pub(crate) fn of(&mut self, file: u64, offset: u64) -> (u16, u64) {
        let next = &mut self.next;
        let extent = *self.given.entry((file, offset / EXTENT)).or_insert_with(|| {
            *next += 1;
            *next - 1
        });
        let modules = u64::from(self.modules);
        let place = (extent / modules) % self.room * EXTENT + offset % EXTENT;
        ((extent % modules) as u16, place)
    }

    /// The pieces of a stretch of a file, each in one extent.
    pub(crate) fn pieces(offset: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
        let end = offset + bytes;
        let mut at = offset;
        std::iter::from_fn(move || {
            let upto = ((at / EXTENT + 1) * EXTENT).min(end);
            let piece = (at < end).then_some((at, upto - at));
            at = upto;
            piece
        })
    }

    /// A file is gone, and its room with it.
    pub(crate) fn forget(&mut self, file: u64) {
        self.given.retain(|(of, _), _| *of != file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_written_in_order_lies_in_order_and_one_written_beside_it_lies_between() {
        let mut places = Places::new(1, 1 << 30);
        assert_eq!([0, EXTENT, 2 * EXTENT + 5].map(|at| places.of(7, at)), [(0, 0), (0, EXTENT), (0, 2 * EXTENT + 5)]);
        assert_eq!(places.of(8, 9), (0, 3 * EXTENT + 9));
        assert_eq!(places.of(7, EXTENT + 1), (0, EXTENT + 1));
    }

    #[test]
    fn extents_go_round_the_modules() {
        let mut places = Places::new(3, 1 << 30);
        let modules: Vec<u16> = (0..6).map(|extent| places.of(1, extent * EXTENT).0).collect();
        assert_eq!(modules, [0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn a_stretch_is_cut_where_extents_end() {
        let pieces: Vec<_> = Places::pieces(EXTENT - 512, 1024).collect();
        assert_eq!(pieces, [(EXTENT - 512, 512), (EXTENT, 512)]);
    }
}
