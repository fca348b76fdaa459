//! Why a device may not be written, in words that say which device and what to do.

use std::fmt;
use std::path::PathBuf;

use units::Bytes;

use crate::consent::Consent;
use crate::signature::Probed;
use crate::stack::DeviceNumber;

/// One reason not to write to a device. `device` names where the reason was found, which may be a partition of the
/// target or something that stands on it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum Obstacle {
    /// The kernel knows no such device.
    #[error("the kernel knows no block device {number}")]
    Unknown { number: DeviceNumber },
    /// A filesystem on it is mounted.
    #[error("`{device}` is mounted at `{}`; unmount it first", point.display())]
    Mounted { device: String, point: PathBuf },
    /// The kernel swaps to it.
    #[error("`{device}` is swapped on; run `swapoff /dev/{device}` first")]
    Swap { device: String },
    /// Something is built on it.
    #[error("`{device}` is held by {by}; stop that first, or measure that instead")]
    Held { device: String, by: String },
    /// It was in use when it was to be opened exclusively, by something that no table shows.
    #[error("`{device}` is in use: the kernel refuses to open it exclusively; {}", holders(by))]
    Busy { device: String, by: Vec<String> },
    /// Somebody has it open for writing, and might write.
    #[error("`{device}` is open for writing in {by}; end that first, or say `--in-use-anyway` beside the consent")]
    Written { device: String, by: String },
    /// The kernel refuses writes.
    #[error("`{device}` is read-only")]
    ReadOnly { device: String },
    /// It has no blocks, as a loop device without a file or a drive without a medium.
    #[error("`{device}` has no size: there is no medium or file behind it")]
    Empty { device: String },
    /// It carries no name of its own.
    #[error("`{device}` has no serial number, WWN or path by which consent could name it")]
    Nameless { device: String },
    /// The same disk is in use under another name.
    #[error("`{device}` is the same disk as `{twin}`, which is in use")]
    Twin { device: String, twin: String },
    /// A ZFS pool may have it imported; nothing shows it.
    #[error("`{device}` is a member of a ZFS pool; run `zpool labelclear /dev/{device}` first if the pool is gone")]
    ZfsMember { device: String },
    /// What it carries could not be looked at.
    #[error("what `{device}` carries could not be read: {why}")]
    Unseen { device: String, why: String },
    /// It carries something that the consent does not name.
    #[error("`{device}` carries a `{signature}` signature that the consent does not name")]
    Signature { device: String, signature: String },
    /// Nobody consented.
    #[error("no consent names `{device}`")]
    NoConsent { device: String },
    /// The consent is for a device of another size.
    #[error("the consent for `{device}` says {} B, but it has {} B", given.0, actual.0)]
    OtherSize { device: String, given: Bytes, actual: Bytes },
}

/// A device that may not be written, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Kernel name of the device, or its number when it has none.
    pub device: String,
    /// Every reason.
    pub obstacles: Vec<Obstacle>,
    /// The consent that would be enough; none when something is in the way to which nobody can consent.
    pub remedy: Option<Consent>,
    /// What some places of it hold, where it carries no signature that tells.
    pub unknown: Option<Probed>,
}

fn holders(by: &[String]) -> String {
    if by.is_empty() {
        "find out by whom (a pool, another process)".to_owned()
    } else {
        format!("it is open in {}", by.join(" and "))
    }
}

impl Refusal {
    pub(super) fn unknown(number: DeviceNumber) -> Self {
        Self { device: number.to_string(), obstacles: vec![Obstacle::Unknown { number }], remedy: None, unknown: None }
    }

    /// The option to give when everything on the device may be destroyed: `--destroy ID:BYTES:SIGNATURE`.
    pub fn option(&self) -> Option<String> {
        self.remedy.as_ref().map(|consent| format!("--destroy {consent}"))
    }

    /// Every reason, what is known of data without a name, and the option that would be enough.
    pub fn reasons(&self) -> Vec<String> {
        let mut reasons: Vec<String> = self.obstacles.iter().map(ToString::to_string).collect();
        reasons.extend(self.unknown.map(|Probed { places, holding }| match holding {
            0 => format!("it carries no known signature, and none of {places} probed places holds data"),
            1 => format!("it carries no known signature but is not empty: 1 of {places} probed places holds data"),
            _ => {
                format!("it carries no known signature but is not empty: {holding} of {places} probed places hold data")
            }
        }));
        reasons.extend(self.option().map(|option| format!("to destroy all of it, give `{option}`")));
        reasons
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "write to device `{}`: refused: {}", self.device, self.reasons().join("; "))
    }
}

impl std::error::Error for Refusal {}
