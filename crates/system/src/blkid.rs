//! What libblkid makes of a device, where it is installed: it knows more signatures than our own table, and is kept up to
//! date.
//!
//! What it does not do: it takes nothing back. What our own table found stays found, whatever `blkid` says.

use std::fs::File;
use std::io;
use std::process::{Command, Stdio};

/// Where it lies; the folders of root's programs are not in everybody's path.
const PROGRAMS: [&str; 3] = ["blkid", "/usr/sbin/blkid", "/sbin/blkid"];

/// What two filesystems at once are called: `blkid` names neither of them then.
const AMBIVALENT: &str = "ambivalent";

/// The signatures that `blkid -p` reads through this descriptor; none where it is not installed.
pub(crate) fn opinion(device: &File) -> io::Result<Vec<String>> {
    for program in PROGRAMS {
        let mut command = Command::new(program);
        // The descriptor and not a path: what is probed is what was opened.
        command.args(["-p", "-o", "export", "/dev/stdin"]).stdin(device.try_clone()?).stderr(Stdio::null());
        match command.output() {
            Ok(output) => return Ok(understood(output.status.code(), &String::from_utf8_lossy(&output.stdout))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Vec::new())
}

/// Exit code 8 is "ambivalent result"; 2 is "nothing found" (blkid(8)).
fn understood(code: Option<i32>, exported: &str) -> Vec<String> {
    let words = exported.lines().filter_map(|line| line.strip_prefix("TYPE=").or(line.strip_prefix("PTTYPE=")));
    let mut found: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
    if code == Some(8) {
        found.push(AMBIVALENT.to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filesystems_and_partition_tables_are_taken_and_the_rest_is_left() {
        let exported = "DEVNAME=/dev/sda\nUUID=1\nTYPE=drbd\nUSAGE=raid\nPTTYPE=gpt\nPART_ENTRY_TYPE=0x83\n";
        assert_eq!(understood(Some(0), exported), ["drbd", "gpt"]);
        assert_eq!(understood(Some(8), ""), ["ambivalent"]);
        assert_eq!(understood(Some(2), ""), [""; 0]);
    }
}
