//! What a device says it holds: filesystems, members of arrays and pools, partition tables, by their magic numbers.
//!
//! The one idea: everything is read from the device itself, never from a database that may be old. Names are those of
//! libblkid, so that they are what `blkid` and `lsblk -f` print. A magic that is found counts even when the rest around
//! it is damaged: this list exists to keep data, not to mount it.
//!
//! What it does not do: a device without a known signature may still hold data (a raw database volume). That is why
//! consent is bound to a device's identity and size as well.

use std::io;

/// Bytes of a device at an offset.
pub trait ReadAt {
    /// Fills the buffer from `offset`.
    ///
    /// # Errors
    /// When the device cannot be read there.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
}

impl ReadAt for std::fs::File {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, buffer, offset)
    }
}

/// Magic numbers, each with the offsets from the start at which it may stand.
type Magic = (&'static str, &'static [u64], &'static [u8]);

/// Offsets and bytes as in the superblock formats of each filesystem, compared with util-linux's libblkid.
const MAGICS: &[Magic] = &[
    ("xfs", &[0], b"XFSB"),
    ("btrfs", &[0x10040], b"_BHRfS_M"),
    ("f2fs", &[0x400], b"\x10\x20\xf5\xf2"),
    ("jfs", &[0x8000], b"JFS1"),
    ("reiserfs", &[0x10034], b"ReIsEr"),
    ("nilfs2", &[0x406], b"\x34\x34"),
    ("gfs2", &[0x10000], b"\x01\x16\x19\x70"),
    ("ocfs2", &[0x400, 0x800, 0x1000, 0x2000], b"OCFSV2"),
    ("squashfs", &[0], b"hsqs"),
    ("erofs", &[0x400], b"\xe2\xe1\xf5\xe0"),
    ("iso9660", &[0x8001], b"CD001"),
    ("udf", &[0x8801], b"NSR02"),
    ("udf", &[0x8801], b"NSR03"),
    ("ntfs", &[3], b"NTFS    "),
    ("exfat", &[3], b"EXFAT   "),
    ("BitLocker", &[3], b"-FVE-FS-"),
    ("vfat", &[0x36], b"FAT12   "),
    ("vfat", &[0x36], b"FAT16   "),
    ("vfat", &[0x52], b"FAT32   "),
    ("hfsplus", &[0x400], b"H+"),
    ("hfsplus", &[0x400], b"HX"),
    ("apfs", &[0x20], b"NXSB"),
    ("ufs", &[0x2000 + 0x55c], b"\x54\x19\x01\x00"),
    ("ufs", &[0x10000 + 0x55c], b"\x19\x01\x54\x19"),
    ("LVM2_member", &[0x000, 0x200, 0x400, 0x600], b"LABELONE"),
    ("crypto_LUKS", &[0], b"LUKS\xba\xbe"),
    (
        "crypto_LUKS",
        &[0x4000, 0x8000, 0x10000, 0x20000, 0x40000, 0x80000, 0x10_0000, 0x20_0000, 0x40_0000],
        b"SKUL\xba\xbe",
    ),
    ("bcache", &[0x1018], b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"),
    ("bcachefs", &[0x1018], b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"),
    ("stratis", &[0x204], b"!Stra0tis"),
    ("vdo", &[0], b"dmvdo001"),
    ("ceph_bluestore", &[0], b"bluestore block device"),
    ("oracleasm", &[0x20], b"ORCLDISK"),
    ("VMFS_volume_member", &[0x10_0000], b"\x0d\xd0\x01\xc0"),
    ("VMFS", &[0x20_0000], b"\x5e\xf1\xab\x2f"),
    ("gpt", &[0x200, 0x1000], b"EFI PART"),
    ("sun", &[0x1fc], b"\xda\xbe"),
    ("sgi", &[0], b"\x0b\xe5\xa9\x41"),
    ("bsd", &[0x200], b"\x57\x45\x56\x82"),
];

/// A few places of a device, spread over all of it: what tells data that nobody knows from none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probed {
    /// How many were read.
    pub places: u32,
    /// How many hold something else than zeroes or ones alone.
    pub holding: u32,
}

/// How many places are probed, and how many bytes of each are read.
const PLACES: u32 = 64;
const PLACE_BYTES: u64 = 4096;

/// Reads some places of a device, the first, the last and those between, at even distances.
///
/// # Errors
/// When the device cannot be read there.
pub fn probe(device: &(impl ReadAt + ?Sized), size: u64) -> io::Result<Probed> {
    let mut probed = Probed { places: 0, holding: 0 };
    let mut bytes = [0; PLACE_BYTES as usize];
    let Some(last) = (size / PLACE_BYTES).checked_sub(1) else { return Ok(probed) };
    let places = u64::from(PLACES).min(last + 1);
    for place in 0..places {
        let block = u128::from(last) * u128::from(place) / u128::from((places - 1).max(1));
        device.read_at(block as u64 * PLACE_BYTES, &mut bytes)?;
        // Flash that was erased reads as ones.
        let empty = [0, 0xff].contains(&bytes[0]) && bytes.iter().all(|byte| *byte == bytes[0]);
        probed.places += 1;
        probed.holding += u32::from(!empty);
    }
    Ok(probed)
}

/// Every signature on a device of this size, in order of name, each once.
///
/// # Errors
/// When the device cannot be read; a signature might then be overlooked.
pub fn find(device: &(impl ReadAt + ?Sized), size: u64) -> io::Result<Vec<String>> {
    let look = Look { device, size };
    let mut found = Vec::new();
    for (name, offsets, bytes) in MAGICS {
        for offset in *offsets {
            found.extend(look.has(*offset, bytes)?.then_some(*name));
        }
    }
    found.extend(look.ext()?);
    found.extend(look.swap()?);
    found.extend(look.raid()?);
    found.extend(look.zfs()?);
    found.extend(look.gpt_backup()?);
    found.extend(look.drbd()?);
    found.extend(look.dos(&found)?);
    found.sort_unstable();
    found.dedup();
    Ok(found.into_iter().map(str::to_owned).collect())
}

struct Look<'a, D: ?Sized> {
    device: &'a D,
    size: u64,
}

impl<D: ReadAt + ?Sized> Look<'_, D> {
    fn has(&self, offset: u64, expected: &[u8]) -> io::Result<bool> {
        Ok(self.bytes(offset, expected.len())?.is_some_and(|bytes| bytes == expected))
    }

    /// None beyond the end.
    fn bytes(&self, offset: u64, length: usize) -> io::Result<Option<Vec<u8>>> {
        if offset.saturating_add(length as u64) > self.size {
            return Ok(None);
        }
        let mut bytes = vec![0; length];
        self.device.read_at(offset, &mut bytes)?;
        Ok(Some(bytes))
    }

    /// ext2, ext3 and ext4 share a magic and differ by their feature words (fs/ext4/ext4.h).
    fn ext(&self) -> io::Result<Option<&'static str>> {
        const JOURNAL: u32 = 0x4;
        const JOURNAL_DEVICE: u32 = 0x8;
        /// Extents, 64 bit, multiple mount protection, flexible groups.
        const FOURTH: u32 = 0x40 | 0x80 | 0x100 | 0x200;
        if !self.has(0x438, b"\x53\xef")? {
            return Ok(None);
        }
        let word = |offset| -> io::Result<u32> {
            let bytes = self.bytes(offset, 4)?.and_then(|bytes| bytes.try_into().ok());
            Ok(bytes.map_or(0, u32::from_le_bytes))
        };
        let (compatible, incompatible) = (word(0x45c)?, word(0x460)?);
        Ok(Some(if incompatible & JOURNAL_DEVICE != 0 {
            "jbd"
        } else if incompatible & FOURTH != 0 {
            "ext4"
        } else if compatible & JOURNAL != 0 {
            "ext3"
        } else {
            "ext2"
        }))
    }

    /// Swap space writes its magic at the end of the first page, whatever the page size was.
    fn swap(&self) -> io::Result<Option<&'static str>> {
        for page in [4096, 8192, 16384, 32768, 65536] {
            let at = page - 10;
            if self.has(at, b"SWAPSPACE2")? || self.has(at, b"SWAP-SPACE")? || self.has(at, b"S1SUSPEND")? {
                return Ok(Some("swap"));
            }
        }
        Ok(None)
    }

    /// Members of md arrays, by version of the superblock: 1.1 at the start, 1.2 at 4 KiB, 1.0 and 0.90 near the
    /// end (md(4)); and the firmware formats that md assembles.
    fn raid(&self) -> io::Result<Option<&'static str>> {
        const MD: &[u8] = b"\xfc\x4e\x2b\xa9";
        let sectors = self.size / 512;
        let version_1_0 = (sectors.saturating_sub(16) & !7) * 512;
        let version_0_90 = (self.size & !0xffff).saturating_sub(0x1_0000);
        for offset in [0, 4096, version_1_0, version_0_90] {
            if self.has(offset, MD)? {
                return Ok(Some("linux_raid_member"));
            }
        }
        if self.has(sectors.saturating_sub(2) * 512, b"Intel Raid ISM Cfg Sig. ")? {
            return Ok(Some("isw_raid_member"));
        }
        let is_ddf = self.has(sectors.saturating_sub(1) * 512, b"\xde\x11\xde\x11")?;
        Ok(is_ddf.then_some("ddf_raid_member"))
    }

    /// ZFS keeps four labels of 256 KiB, two at each end. The second half of each is a ring of uberblocks with a magic
    /// in either byte order (ZFS On-Disk Specification, 1.3).
    fn zfs(&self) -> io::Result<Option<&'static str>> {
        const LABEL: u64 = 256 * 1024;
        const RING: u64 = 128 * 1024;
        let end = self.size & !(LABEL - 1);
        for label in [0, LABEL, end.saturating_sub(2 * LABEL), end.saturating_sub(LABEL)] {
            let Some(ring) = self.bytes(label + RING, RING as usize)? else { continue };
            let uberblock = |at: &[u8]| {
                let word: [u8; 8] = at[..8].try_into().unwrap_or_default();
                u64::from_le_bytes(word) == 0x00ba_b10c || u64::from_be_bytes(word) == 0x00ba_b10c
            };
            if ring.chunks_exact(1024).any(uberblock) {
                return Ok(Some("zfs_member"));
            }
        }
        Ok(None)
    }

    /// DRBD keeps its metadata in the last whole 4 KiB, with a magic by version behind 60 bytes (drbd_meta_data.c).
    fn drbd(&self) -> io::Result<Option<&'static str>> {
        let block = (self.size & !4095).saturating_sub(4096);
        for version in [0x6b, 0x6c, 0x6d] {
            if self.has(block + 60, &[0x83, 0x74, 0x02, version])? {
                return Ok(Some("drbd"));
            }
        }
        Ok(None)
    }

    /// The copy of a GPT in the last sector outlives an overwritten start.
    fn gpt_backup(&self) -> io::Result<Option<&'static str>> {
        for sector in [512, 4096] {
            let last = (self.size / sector).saturating_sub(1) * sector;
            if self.has(last, b"EFI PART")? {
                return Ok(Some("gpt"));
            }
        }
        Ok(None)
    }

    /// A DOS partition table has only two bytes of magic, which boot sectors of filesystems carry too; so it counts
    /// when nothing else was found in the first sector and its four entries look like entries.
    fn dos(&self, found: &[&str]) -> io::Result<Option<&'static str>> {
        let boot_sector = ["vfat", "ntfs", "exfat", "gpt", "BitLocker"];
        let Some(sector) = self.bytes(0, 512)? else { return Ok(None) };
        let named = found.iter().any(|name| boot_sector.contains(name));
        let entries_fit = sector[446..510].chunks_exact(16).all(|entry| entry[0] & 0x7f == 0);
        Ok((sector[510..] == [0x55, 0xaa] && entries_fit && !named).then_some("dos"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl ReadAt for [u8] {
        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
            let start = usize::try_from(offset).unwrap_or(usize::MAX);
            let end = start.saturating_add(buffer.len());
            buffer.copy_from_slice(self.get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        }
    }

    const SIZE: usize = 8 << 20;

    fn with(offset: usize, bytes: &[u8]) -> Vec<String> {
        let mut image = vec![0_u8; SIZE];
        image[offset..offset + bytes.len()].copy_from_slice(bytes);
        find(image.as_slice(), SIZE as u64).unwrap()
    }

    #[test]
    fn every_magic_of_the_table_is_found_under_its_name() {
        for (name, offsets, bytes) in MAGICS {
            for offset in *offsets {
                assert_eq!(with(*offset as usize, bytes), [*name], "at {offset:#x}");
            }
        }
    }

    #[test]
    fn an_empty_device_has_no_signature_and_a_tiny_one_is_no_error() {
        assert!(with(0, &[]).is_empty());
        assert!(find([0_u8; 512].as_slice(), 512).unwrap().is_empty());
        assert!(find([].as_slice(), 0).unwrap().is_empty());
    }

    #[test]
    fn signatures_with_a_computed_place_are_found_there() {
        let label = 256 * 1024;
        let places: [(usize, &[u8], &str); 13] = [
            (4086, b"SWAPSPACE2", "swap"),
            (65526, b"SWAPSPACE2", "swap"),
            (0, b"\xfc\x4e\x2b\xa9", "linux_raid_member"),
            (4096, b"\xfc\x4e\x2b\xa9", "linux_raid_member"),
            (SIZE - 8192, b"\xfc\x4e\x2b\xa9", "linux_raid_member"),
            (SIZE - 65536, b"\xfc\x4e\x2b\xa9", "linux_raid_member"),
            (label / 2 + 7 * 1024, b"\x0c\xb1\xba\0\0\0\0\0", "zfs_member"),
            (SIZE - label / 2, b"\0\0\0\0\0\xba\xb1\x0c", "zfs_member"),
            (SIZE - 512, b"EFI PART", "gpt"),
            (SIZE - 1024, b"Intel Raid ISM Cfg Sig. ", "isw_raid_member"),
            (510, b"\x55\xaa", "dos"),
            (SIZE - 4096 + 60, b"\x83\x74\x02\x6b", "drbd"),
            (SIZE - 4096 + 60, b"\x83\x74\x02\x6d", "drbd"),
        ];
        for (offset, bytes, name) in places {
            assert_eq!(with(offset, bytes), [name], "at {offset}");
        }
    }

    #[test]
    fn places_that_hold_data_are_counted_and_erased_ones_are_not() {
        let mut image = vec![0_u8; SIZE];
        let held = |image: &[u8]| probe(image, image.len() as u64).unwrap();
        assert_eq!(held(&image), Probed { places: 64, holding: 0 });
        image[SIZE - 1] = 7;
        image[..4096].fill(0xff);
        assert_eq!(held(&image), Probed { places: 64, holding: 1 });
        image[4095] = 0;
        assert_eq!(held(&image), Probed { places: 64, holding: 2 });
        assert_eq!(held(&image[..3 * 4096]), Probed { places: 3, holding: 1 });
        assert_eq!(held(&image[..4096]), Probed { places: 1, holding: 1 });
        assert_eq!(held(&image[..100]), Probed { places: 0, holding: 0 });
    }

    #[test]
    fn the_features_tell_the_ext_filesystems_apart() {
        let ext = |compatible: u8, incompatible: u16| {
            let mut block = vec![0_u8; 0x464 - 0x438];
            block[..2].copy_from_slice(b"\x53\xef");
            block[0x24] = compatible;
            block[0x28..0x2a].copy_from_slice(&incompatible.to_le_bytes());
            with(0x438, &block).concat()
        };
        assert_eq!([ext(0, 2), ext(4, 2), ext(4, 0x242), ext(0, 8)], ["ext2", "ext3", "ext4", "jbd"]);
    }

    #[test]
    fn a_boot_sector_of_a_filesystem_is_no_partition_table() {
        let mut sector = vec![0_u8; 512];
        sector[3..11].copy_from_slice(b"NTFS    ");
        sector[510..].copy_from_slice(b"\x55\xaa");
        assert_eq!(with(0, &sector), ["ntfs"]);
    }
}
