//! Keeping cores awake, for another Prony that started this one.
//!
//! The one idea: a process of its own can stand in a control group that gives way to everything else, and the end of its standard input
//! tells it that nobody needs it any more, however that came.

use crate::failure::Failure;
use crate::output;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

/// Starts that process.
pub(super) fn by_another() -> io::Result<Child> {
    let mut other = Command::new("/proc/self/exe");
    // Ctrl-C is for who keeps times, and ends this with it.
    other
        .arg0("prony")
        .arg("keep-awake")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}

/// Is that process.
pub(super) fn run() -> Result<(), Failure> {
    // Started by the name of a link, it would have that name in lists of processes.
    let _ = rustix::thread::set_name(c"prony");
    let begun = || output::print("awake\n").map_err(|_| io::ErrorKind::BrokenPipe.into());
    probe::keep_awake(io::stdin(), begun).map_err(|error| Failure::caused("keeping cores awake", &error))
}
