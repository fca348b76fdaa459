//! The way through a mount, measured by this program once more.
//!
//! The one idea: who is started anew has nothing open of what serves the mount, so that killing the server ends what both wait for.

use crate::failure::Failure;
use crate::output;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use units::Nanos;

/// Has a process measure the ways of reads and of writes at a mount.
pub(super) fn by_another(at: &Path) -> io::Result<[Nanos; 2]> {
    let mut other = Command::new("/proc/self/exe");
    // Ctrl-C is for who serves the device.
    other.args(["emulate", "--measure-way", "--at"]).arg(at).process_group(0);
    let said = other.output()?;
    let numbers: Vec<u64> =
        String::from_utf8_lossy(&said.stdout).split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [read, write] => Ok([Nanos(read), Nanos(write)]),
        [number] => Err(io::Error::from_raw_os_error(number as i32)),
        _ => Err(io::Error::other(format!("the process that measures it ended early ({})", said.status))),
    }
}

/// Is that process: two times in nanoseconds, or the number of what the system said.
pub(super) fn say(at: &Path) -> Result<(), Failure> {
    let doing = || format!("measuring the way through the mount at `{}`", at.display());
    match emulate::measure(at) {
        Ok([read, write]) => output::print(&format!("{} {}\n", read.0, write.0)),
        Err(error) => match error.raw_os_error() {
            Some(number) => output::print(&format!("{number}\n")),
            None => Err(Failure::caused(doing(), &error)),
        },
    }
}
