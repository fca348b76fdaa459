//! Runs a program and reads what the kernel charged for it.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

/// What a finished process printed and cost.
pub struct Finished {
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Largest resident memory, bytes.
    pub peak_resident: u64,
    /// CPU of the process and its children, seconds.
    pub user_s: f64,
    /// The same in the kernel.
    pub system_s: f64,
}

/// Runs to the end; a failure ends the benchmark with the program's own words.
pub fn run(command: &mut Command) -> Finished {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut stdout = Vec::new();
    let mut pipe = child.stdout.take().expect("piped");
    let mut errors = child.stderr.take().expect("piped");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = std::io::Read::read_to_string(&mut errors, &mut text);
        text
    });
    std::io::Read::read_to_end(&mut pipe, &mut stdout).expect("reading from a pipe");
    let (mut status, mut usage) = (0, unsafe { std::mem::zeroed::<libc::rusage>() });
    // SAFETY: a child of this process that nobody else waits for, and two places to write to.
    let pid = unsafe { libc::wait4(child.id() as i32, &mut status, 0, &mut usage) };
    assert!(pid > 0, "waiting for {command:?}");
    let status = std::process::ExitStatus::from_raw(status);
    assert!(status.success(), "{command:?} ended with {status}: {}", reader.join().unwrap_or_default());
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Finished {
        stdout,
        peak_resident: usage.ru_maxrss as u64 * 1024,
        user_s: seconds(usage.ru_utime),
        system_s: seconds(usage.ru_stime),
    }
}
