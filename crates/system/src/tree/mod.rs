//! A device tree as a value: every block device, what stands on what, and what is in use.
//!
//! The one idea: everything that decides whether a device may be written is read once into a value.
//! The decision is a pure function of that value, so that trees of machines nobody here owns, written out as text, are test
//! input.
//!
//! What it does not do: it decides nothing; that is [`crate::safety`].

mod identity;
mod read;

use std::path::PathBuf;

use units::Bytes;

use crate::signature::Probed;
use crate::stack::DeviceNumber;

pub(crate) use read::{look_into, open_in, writers_of};

units::words! {
    /// What a block device is, with the word of recorded trees and refusals.
    pub enum DeviceKind {
        Disk = "disk" "A whole disk.",
        Part = "part" "A partition of one.",
        Loop = "loop" "A file or device seen as a disk.",
        Dm = "dm" "Device mapper: LVM, encryption, multipath.",
        Md = "md" "A software array.",
        Other = "other" "Anything else: memory disks, network disks, bcache.",
    }
}

/// One name by which a device can be told from every other one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// What sort of name.
    pub kind: IdentityKind,
    /// The name, without spaces.
    pub id: String,
}

/// What sort of name an identity is, the most lasting first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IdentityKind {
    /// World wide name, given by the maker.
    Wwn,
    /// Serial number, given by the maker.
    Serial,
    /// The identifier of a dm or md device; for a loop device `loop-NAME-INODE` of its backing file.
    Uuid,
    /// The name below `/dev/disk/by-id`.
    ById,
    /// Where it is plugged in: the name below `/dev/disk/by-path`.
    ByPath,
}

/// Whether the magic numbers of a device were looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Signatures {
    /// Nobody looked.
    #[default]
    NotRead,
    /// The device could not be read; the reason in words.
    Unreadable(String),
    /// These were found, in order of name.
    Found(Vec<String>),
}

/// One block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Kernel name: `sda1`.
    pub name: String,
    /// Its number.
    pub number: DeviceNumber,
    /// What it is.
    pub kind: DeviceKind,
    /// Its size.
    pub size: Bytes,
    /// The disk that a partition belongs to.
    pub parent: Option<DeviceNumber>,
    /// What it stands on: members of an array, the device below a mapping, the device that backs a loop.
    pub lower: Vec<DeviceNumber>,
    /// Where it is mounted, in any mount namespace that could be seen.
    pub mounts: Vec<PathBuf>,
    /// Whether it is swapped on.
    pub swap: bool,
    /// Holders that are no block devices, in words: `btrfs 1234-5678`.
    pub holders: Vec<String>,
    /// Processes other than this one that have it open for writing, in words: `process 12 (qemu)`.
    pub writers: Vec<String>,
    /// Whether the kernel refuses writes.
    pub read_only: bool,
    /// What it says it holds.
    pub signatures: Signatures,
    /// Of how many places that were read how many hold data; none when nobody looked.
    pub probed: Option<Probed>,
    /// By which names it can be told apart, the most lasting first. A partition has its disk's, with `-partN`.
    pub identities: Vec<Identity>,
}

/// All block devices of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceTree {
    /// In order of number.
    pub devices: Vec<Device>,
}

impl DeviceTree {
    /// The device with a number.
    pub fn device(&self, number: DeviceNumber) -> Option<&Device> {
        self.devices.iter().find(|device| device.number == number)
    }

    /// The partitions of a disk.
    pub fn partitions(&self, disk: DeviceNumber) -> impl Iterator<Item = &Device> {
        self.devices.iter().filter(move |device| device.parent == Some(disk))
    }

    /// The devices that stand directly on another one.
    pub fn standing_on(&self, lower: DeviceNumber) -> impl Iterator<Item = &Device> {
        self.devices.iter().filter(move |device| device.lower.contains(&lower))
    }

    /// The same, to be changed.
    pub fn device_mut(&mut self, number: DeviceNumber) -> Option<&mut Device> {
        self.devices.iter_mut().find(|device| device.number == number)
    }
}

#[cfg(test)]
mod tests;
