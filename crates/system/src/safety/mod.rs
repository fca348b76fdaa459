//! Whether a device may be written: a pure function of a device tree and the user's consent.
//!
//! The one idea: every rule looks at a recorded value, and a refusal lists every rule that spoke, so that nobody learns
//! of the second obstacle only after removing the first. Use (mounted, swapped, held) can never be consented to.
//! What lies on the device can, by naming it; and that a process has it open for writing, by a word of its own, since an
//! open descriptor is no claim: many programs open what they only look at.
//!
//! What it does not do: it opens nothing. [`crate::device::open`] judges a tree that was read after the device was
//! opened exclusively, so that nobody can begin to use it in between.

mod obstacle;

use units::Bytes;

use crate::consent::Consent;
use crate::stack::DeviceNumber;
use crate::tree::{Device, DeviceKind, DeviceTree, IdentityKind, Signatures};

pub use obstacle::{Obstacle, Refusal};

/// A device that may be written. Only [`judge`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Approved {
    /// The identity that the consent named.
    pub id: String,
    /// Its size, as consented to.
    pub size: Bytes,
}

/// Judges whether a device may be written with these consents.
///
/// A consent may name more signatures than there are: the first fill destroys them, and a run that is resumed comes
/// with the same consent.
///
/// # Errors
/// A [`Refusal`] with every obstacle, and the consent to give when consent alone is missing.
pub fn judge(tree: &DeviceTree, device: DeviceNumber, consents: &[Consent]) -> Result<Approved, Box<Refusal>> {
    let Some(target) = tree.device(device) else {
        return Err(Box::new(Refusal::unknown(device)));
    };
    let (writers, mut obstacles): (Vec<_>, Vec<_>) =
        in_use(tree, target).into_iter().partition(|obstacle| matches!(obstacle, Obstacle::Written { .. }));
    obstacles.extend(unwritable(target));
    for obstacle in twins(tree, target) {
        // What stands on both names of a disk was found already.
        if !obstacles.contains(&obstacle) {
            obstacles.push(obstacle);
        }
    }
    // What can be mended by consent comes last: it is worth naming only when nothing else is in the way.
    let hopeless = !obstacles.is_empty();
    let (found, unseen) = signatures(tree, target);
    let hopeless = hopeless || !unseen.is_empty() || found.iter().any(|(_, name)| name == ZFS);
    obstacles.extend(unseen);
    let (consent, lacking) = consented(target, &found, consents);
    obstacles.extend(writers.into_iter().filter(|_| !consent.is_some_and(|consent| consent.in_use)));
    obstacles.extend(lacking);
    match consent {
        Some(consent) if obstacles.is_empty() => Ok(Approved { id: consent.id.clone(), size: target.size }),
        _ => Err(Box::new(Refusal {
            device: target.name.clone(),
            unknown: target.probed.filter(|_| found.is_empty()),
            remedy: if hopeless { None } else { remedy(target, &found) },
            obstacles,
        })),
    }
}

/// An imported pool shows nowhere in sysfs, so that its members must be taken as in use until they are cleared.
const ZFS: &str = "zfs_member";

/// Everything that uses the device or what belongs to it: the device, its partitions, what stands on them, the disk
/// that it is a part of, and what it stands on.
fn in_use(tree: &DeviceTree, target: &Device) -> Vec<Obstacle> {
    let mut obstacles = Vec::new();
    let mut seen = Vec::new();
    upwards(tree, target, target, &mut seen, &mut obstacles);
    if let Some(parent) = target.parent.and_then(|parent| tree.device(parent)) {
        // A sibling may be in use; the whole disk may not.
        direct_use(parent, &mut obstacles);
        held(tree, parent, target, &mut obstacles);
        downwards(tree, parent, &mut seen, &mut obstacles);
    }
    downwards(tree, target, &mut seen, &mut obstacles);
    obstacles
}

/// The device itself, its partitions, and everything that stands on either, however far up.
fn upwards(
    tree: &DeviceTree,
    device: &Device,
    target: &Device,
    seen: &mut Vec<DeviceNumber>,
    into: &mut Vec<Obstacle>,
) {
    if seen.contains(&device.number) {
        return;
    }
    seen.push(device.number);
    direct_use(device, into);
    held(tree, device, target, into);
    for part in tree.partitions(device.number) {
        upwards(tree, part, target, seen, into);
    }
    for upper in tree.standing_on(device.number) {
        upwards(tree, upper, target, seen, into);
    }
}

/// What the device stands on. Members are held by the device itself, which is in order; but a loop device does not
/// claim what backs it, so that somebody else may have mounted or claimed that meanwhile.
fn downwards(tree: &DeviceTree, device: &Device, seen: &mut Vec<DeviceNumber>, into: &mut Vec<Obstacle>) {
    for lower in device.lower.iter().filter_map(|number| tree.device(*number)) {
        if seen.contains(&lower.number) {
            continue;
        }
        seen.push(lower.number);
        direct_use(lower, into);
        let around = tree.partitions(lower.number).chain(lower.parent.and_then(|parent| tree.device(parent)));
        around.for_each(|device| direct_use(device, into));
        if device.kind == DeviceKind::Loop {
            held(tree, lower, device, into);
            for part in tree.partitions(lower.number) {
                held(tree, part, device, into);
            }
        }
        downwards(tree, lower, seen, into);
    }
}

fn direct_use(device: &Device, into: &mut Vec<Obstacle>) {
    let name = || device.name.clone();
    into.extend(device.mounts.iter().map(|point| Obstacle::Mounted { device: name(), point: point.clone() }));
    into.extend(device.swap.then(|| Obstacle::Swap { device: name() }));
    into.extend(device.holders.iter().map(|by| Obstacle::Held { device: name(), by: by.clone() }));
    into.extend(device.writers.iter().map(|by| Obstacle::Written { device: name(), by: by.clone() }));
}

/// Block devices that stand on the device, other than the one that is looked from.
fn held(tree: &DeviceTree, device: &Device, except: &Device, into: &mut Vec<Obstacle>) {
    for upper in tree.standing_on(device.number).filter(|upper| upper.number != except.number) {
        let by = format!("{} ({})", upper.name, upper.kind.word());
        into.push(Obstacle::Held { device: device.name.clone(), by });
    }
}

fn unwritable(target: &Device) -> Vec<Obstacle> {
    let mut obstacles = Vec::new();
    if target.read_only {
        obstacles.push(Obstacle::ReadOnly { device: target.name.clone() });
    }
    if target.size.0 == 0 {
        obstacles.push(Obstacle::Empty { device: target.name.clone() });
    }
    if target.identities.is_empty() {
        obstacles.push(Obstacle::Nameless { device: target.name.clone() });
    }
    obstacles
}

/// The same disk may come twice, over two paths, and be in use over the other one.
fn twins(tree: &DeviceTree, target: &Device) -> Vec<Obstacle> {
    let disk = target.parent.and_then(|parent| tree.device(parent)).unwrap_or(target);
    let same = |other: &&Device| other.number != disk.number && other.parent.is_none() && same_medium(other, disk);
    let mut obstacles = Vec::new();
    for twin in tree.devices.iter().filter(same) {
        let mut uses = Vec::new();
        upwards(tree, twin, twin, &mut Vec::new(), &mut uses);
        if !uses.is_empty() {
            obstacles.push(Obstacle::Twin { device: disk.name.clone(), twin: twin.name.clone() });
            obstacles.extend(uses);
        }
    }
    obstacles
}

/// World wide names and the identifiers of loop files are unique. Serial numbers are not always: namespaces of one
/// drive share theirs, and cheap drives come in boxes of one number; so they count only where no world wide name
/// can tell and the size is the same.
fn same_medium(a: &Device, b: &Device) -> bool {
    let has = |device: &Device, kind| device.identities.iter().any(|one| one.kind == kind);
    let share = |kind| a.identities.iter().any(|one| one.kind == kind && b.identities.contains(one));
    let told_apart = has(a, IdentityKind::Wwn) && has(b, IdentityKind::Wwn);
    share(IdentityKind::Wwn)
        || share(IdentityKind::Uuid)
        || (!told_apart && a.size == b.size && share(IdentityKind::Serial))
}

/// The signatures on the device and its partitions, with the device that each is on; and what could not be seen.
fn signatures(tree: &DeviceTree, target: &Device) -> (Vec<(String, String)>, Vec<Obstacle>) {
    let (mut found, mut unseen) = (Vec::new(), Vec::new());
    for device in std::iter::once(target).chain(tree.partitions(target.number)) {
        match &device.signatures {
            Signatures::Found(names) => found.extend(names.iter().map(|name| (device.name.clone(), name.clone()))),
            Signatures::NotRead => {
                unseen.push(Obstacle::Unseen { device: device.name.clone(), why: "nobody looked".to_owned() });
            }
            Signatures::Unreadable(why) => {
                unseen.push(Obstacle::Unseen { device: device.name.clone(), why: why.clone() });
            }
        }
    }
    (found, unseen)
}

/// The consent that fits, and what it lacks.
fn consented<'a>(
    target: &Device,
    found: &[(String, String)],
    consents: &'a [Consent],
) -> (Option<&'a Consent>, Vec<Obstacle>) {
    let device = || target.name.clone();
    let names_it = |consent: &&Consent| target.identities.iter().any(|one| one.id == consent.id);
    let mut obstacles = Vec::new();
    let matching: Vec<&Consent> = consents.iter().filter(names_it).collect();
    let consent = matching.iter().copied().find(|consent| consent.size == target.size);
    match (consent, matching.first()) {
        (None, None) => obstacles.push(Obstacle::NoConsent { device: device() }),
        (None, Some(other)) => {
            obstacles.push(Obstacle::OtherSize { device: device(), given: other.size, actual: target.size });
        }
        _ => {}
    }
    let named = consent.map_or(&[][..], |consent| &consent.signatures);
    for (device, signature) in found {
        let (device, signature) = (device.clone(), signature.clone());
        if signature == ZFS {
            obstacles.push(Obstacle::ZfsMember { device });
        } else if !named.contains(&signature) {
            obstacles.push(Obstacle::Signature { device, signature });
        }
    }
    (consent, obstacles)
}

/// The consent that would be enough: the most lasting identity, the size, and all that was found.
fn remedy(target: &Device, found: &[(String, String)]) -> Option<Consent> {
    let mut signatures: Vec<String> = found.iter().map(|(_, name)| name.clone()).collect();
    signatures.sort();
    signatures.dedup();
    let id = target.identities.iter().min_by_key(|one| one.kind)?.id.clone();
    Some(Consent { id, size: target.size, signatures, in_use: false })
}

#[cfg(test)]
mod tests;
