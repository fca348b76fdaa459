//! The text form of a device tree: one device a line, `KIND NAME NUMBER` and then `key=value` words.
//!
//! Values are escaped as in `/proc/self/mountinfo` (`\040` for a space). Lines that are empty or begin with `#` are
//! skipped, so that a recorded tree can say where it comes from.

use proptest::prelude::*;
use std::fmt;
use std::str::FromStr;

use units::Bytes;

use super::{Device, DeviceKind, DeviceTree, Identity, IdentityKind, Probed, Signatures};
use crate::mounts::unescape;
use crate::stack::DeviceNumber;

const IDENTITIES: [(IdentityKind, &str); 5] = [
    (IdentityKind::Wwn, "wwn"),
    (IdentityKind::Serial, "serial"),
    (IdentityKind::Uuid, "uuid"),
    (IdentityKind::ById, "by-id"),
    (IdentityKind::ByPath, "by-path"),
];

impl IdentityKind {
    /// The word that stands in a recorded tree.
    pub(super) fn word(self) -> &'static str {
        IDENTITIES.iter().find(|(kind, _)| *kind == self).map_or("id", |(_, word)| word)
    }
}

/// Why a text is no device tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read a device tree: line {line}: {problem}: `{text}`")]
pub struct TreeTextError {
    line: usize,
    problem: &'static str,
    text: String,
}

impl fmt::Display for DeviceTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.devices.iter().try_for_each(|device| writeln!(f, "{device}"))
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} size={}", self.kind.word(), escape(&self.name), self.number, self.size.0)?;
        if let Some(parent) = self.parent {
            write!(f, " parent={parent}")?;
        }
        self.lower.iter().try_for_each(|lower| write!(f, " lower={lower}"))?;
        self.mounts.iter().try_for_each(|point| write!(f, " mount={}", escape(&point.to_string_lossy())))?;
        self.holders.iter().try_for_each(|holder| write!(f, " holder={}", escape(holder)))?;
        self.writers.iter().try_for_each(|writer| write!(f, " writer={}", escape(writer)))?;
        for (set, word) in [(self.swap, " swap"), (self.read_only, " read-only")] {
            f.write_str(if set { word } else { "" })?;
        }
        match &self.signatures {
            Signatures::NotRead => {}
            Signatures::Unreadable(why) => write!(f, " unreadable={}", escape(why))?,
            Signatures::Found(names) => write!(f, " signatures={}", escape(&names.join("+")))?,
        }
        if let Some(Probed { places, holding }) = self.probed {
            write!(f, " holding={holding}/{places}")?;
        }
        self.identities.iter().try_for_each(|one| write!(f, " {}={}", one.kind.word(), escape(&one.id)))
    }
}

/// Escapes what would end a word.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() || matches!(c, '\\' | '=') || c.is_control() {
            let mut buffer = [0; 4];
            c.encode_utf8(&mut buffer).bytes().for_each(|byte| escaped.push_str(&format!("\\{byte:03o}")));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

impl FromStr for DeviceTree {
    type Err = TreeTextError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut tree = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |problem| TreeTextError { line: index + 1, problem, text: line.to_owned() };
            tree.devices.push(device(line).map_err(wrong)?);
        }
        Ok(tree)
    }
}

fn device(line: &str) -> Result<Device, &'static str> {
    let mut words = line.split_ascii_whitespace();
    let mut next = || words.next().ok_or("expected KIND NAME MAJOR:MINOR");
    let (kind, name, number) = (next()?, next()?, next()?);
    let kind = DeviceKind::of_word(kind).ok_or("unknown kind of device")?;
    let mut device = Device {
        name: unescape(name),
        number: number.parse().map_err(|_| "expected MAJOR:MINOR")?,
        kind,
        size: Bytes(0),
        parent: None,
        lower: Vec::new(),
        mounts: Vec::new(),
        swap: false,
        holders: Vec::new(),
        writers: Vec::new(),
        read_only: false,
        signatures: Signatures::NotRead,
        probed: None,
        identities: Vec::new(),
    };
    words.try_for_each(|word| put(&mut device, word))?;
    Ok(device)
}

fn put(device: &mut Device, word: &str) -> Result<(), &'static str> {
    let (key, value) = word.split_once('=').unwrap_or((word, ""));
    let value = unescape(value);
    let number = || value.parse::<DeviceNumber>().map_err(|_| "expected MAJOR:MINOR");
    match key {
        "size" => device.size = Bytes(value.parse().map_err(|_| "expected a size in bytes")?),
        "parent" => device.parent = Some(number()?),
        "lower" => device.lower.push(number()?),
        "mount" => device.mounts.push(value.into()),
        "holder" => device.holders.push(value),
        "writer" => device.writers.push(value),
        "holding" => device.probed = Some(probed(&value).ok_or("expected HOLDING/PLACES")?),
        "swap" => device.swap = true,
        "read-only" => device.read_only = true,
        "unreadable" => device.signatures = Signatures::Unreadable(value),
        "signatures" => {
            let names = value.split('+').filter(|name| !name.is_empty()).map(str::to_owned).collect();
            device.signatures = Signatures::Found(names);
        }
        _ => {
            let kind = IDENTITIES.iter().find(|(_, word)| *word == key).ok_or("unknown key")?.0;
            device.identities.push(Identity { kind, id: value });
        }
    }
    Ok(())
}

fn probed(text: &str) -> Option<Probed> {
    let (holding, places) = text.split_once('/')?;
    Some(Probed { places: places.parse().ok()?, holding: holding.parse().ok()? })
}

#[test]
fn a_recorded_line_is_read() {
    let text = "# a virtual machine\n\ndisk sda 8:0 size=1000 signatures=gpt serial=S1 by-path=pci-0000:00:1f.2-ata-1\n\
        part sda1 8:1 size=900 parent=8:0 mount=/mnt/a\\040b swap read-only signatures=\n";
    let tree: DeviceTree = text.parse().unwrap();
    let (disk, part) = (&tree.devices[0], &tree.devices[1]);
    assert_eq!(disk.identities[1].id, "pci-0000:00:1f.2-ata-1");
    assert_eq!(part.mounts, [std::path::Path::new("/mnt/a b")]);
    assert_eq!(part.signatures, Signatures::Found(Vec::new()));
    assert!(part.swap && part.read_only && part.parent == Some(disk.number));
    assert_eq!(tree.to_string().parse::<DeviceTree>().as_ref(), Ok(&tree));
}

#[test]
fn a_wrong_line_is_named() {
    let error = "disk sda 8:0 size=1\ndisk sdb 8\n".parse::<DeviceTree>().unwrap_err();
    assert_eq!(error.to_string(), "read a device tree: line 2: expected MAJOR:MINOR: `disk sdb 8`");
    assert_eq!("disk a 1:1 colour=red".parse::<DeviceTree>().unwrap_err().problem, "unknown key");
}

fn any_device() -> impl Strategy<Value = Device> {
    let number = (0..5000_u32, 0..5000_u32).prop_map(|(major, minor)| DeviceNumber { major, minor });
    let words = || prop::collection::vec(".{1,12}", 0..3);
    let signatures = prop_oneof![
        Just(Signatures::NotRead),
        ".{1,9}".prop_map(Signatures::Unreadable),
        prop::collection::vec("[a-zA-Z_0-9]{1,9}", 0..3).prop_map(Signatures::Found),
    ];
    let identity = (0..5_usize, ".{1,12}").prop_map(|(i, id)| Identity { kind: IDENTITIES[i].0, id });
    let probed = prop::option::of((0..65_u32, 0..65_u32).prop_map(|(places, holding)| Probed { places, holding }));
    let place = (number.clone(), 0..6_usize, any::<u64>(), prop::option::of(number.clone()), probed);
    let flags = (any::<bool>(), any::<bool>(), signatures, prop::collection::vec(identity, 0..4));
    ("[^ ]{1,9}", place, prop::collection::vec(number, 0..3), words(), (words(), words()), flags).prop_map(
        |(
            name,
            (number, kind, size, parent, probed),
            lower,
            mounts,
            (holders, writers),
            (swap, read_only, signatures, identities),
        )| {
            let mounts = mounts.into_iter().map(Into::into).collect();
            let (kind, size) = (DeviceKind::ALL[kind], Bytes(size));
            Device {
                name,
                number,
                kind,
                size,
                parent,
                lower,
                mounts,
                swap,
                holders,
                writers,
                read_only,
                signatures,
                probed,
                identities,
            }
        },
    )
}

proptest! {
    #[test]
    fn a_tree_reads_back_as_it_prints(devices in prop::collection::vec(any_device(), 0..5)) {
        let tree = DeviceTree { devices };
        prop_assert_eq!(tree.to_string().parse::<DeviceTree>(), Ok(tree));
    }
}
