//! The mount table, as far as Prony needs it: by device number, with the octal escapes of the kernel undone.

use std::path::PathBuf;

use crate::stack::DeviceNumber;

/// One line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Number of the filesystem (`st_dev` of its files).
    pub number: DeviceNumber,
    /// Where it is mounted.
    pub point: PathBuf,
    /// Filesystem type: `ext4`.
    pub filesystem: String,
    /// What is mounted: usually a device path.
    pub source: String,
    /// Options of this mount and of the filesystem, joined by commas.
    pub options: String,
}

/// The mounts that this process sees; none when `/proc` is missing.
pub fn read() -> Vec<Mount> {
    parse(&std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default())
}

/// Reads the text of a mountinfo file (proc_pid_mountinfo(5)). A line that cannot be read is left out.
pub fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<Mount> {
    // The optional fields in the middle end with a lone dash.
    let (front, back) = line.split_once(" - ")?;
    let front: Vec<&str> = front.split(' ').collect();
    let mut back = back.splitn(3, ' ');
    let filesystem = back.next()?.to_owned();
    let source = unescape(back.next()?);
    let mut options: Vec<&str> = front.get(5)?.split(',').collect();
    for option in back.next().unwrap_or("").split(',') {
        if !options.contains(&option) {
            options.push(option);
        }
    }
    Some(Mount {
        number: front.get(2)?.parse().ok()?,
        point: PathBuf::from(unescape(front.get(4)?)),
        filesystem,
        source,
        options: options.join(","),
    })
}

/// Undoes `\040` for a space and its kind.
pub(crate) fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let octal = tail.get(..3).filter(|_| first == b'\\').and_then(|d| std::str::from_utf8(d).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_with_a_space_and_optional_fields_is_read() {
        let text =
            "36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue\nbroken\n";
        let expected = Mount {
            number: DeviceNumber { major: 98, minor: 0 },
            point: PathBuf::from("/mnt 2"),
            filesystem: "ext3".to_owned(),
            source: "/dev/root".to_owned(),
            options: "rw,noatime,errors=continue".to_owned(),
        };
        assert_eq!(parse(text), [expected]);
    }
}
