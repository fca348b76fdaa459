//! A server's process: started so that it outlives us, found again by its number, ended.
//!
//! The one idea: a number alone proves nothing, since the system gives numbers again. A process is ours only when its command
//! line names our folder, and a signal goes to a process that was held before it was looked at.

use super::folder;
use crate::DatabaseError;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Between two looks at a process.
pub(super) const LOOK: Duration = Duration::from_millis(20);

/// How many looks are a second.
pub(super) const LOOKS_A_SECOND: u64 = 50;

/// Whether a process with this number runs and names `mark` in its command line.
pub(super) fn runs(pid: u32, mark: &str) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    // A process that ended and was not waited for has an empty command line.
    String::from_utf8_lossy(&line).contains(mark)
}

/// Whether this is the first process of a server that names `mark` nowhere: somebody else started it. Processes that a server forked have
/// a title, and one that only recovers for a program says so.
pub(super) fn is_strange(pid: u32, mark: &str) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line);
    let forked = line.is_empty() || line.starts_with("postgres: ") || line.contains(mark) || just_forked(pid);
    !forked && !["--single", "--boot"].iter().any(|option| line.contains(option))
}

/// The number in a file; none when there is no such file or no number in it.
pub(super) fn number(file: &Path) -> Option<u32> {
    folder::read(file)?.lines().next()?.trim().parse().ok()
}

/// Starts a server in a process group of its own, so that an interrupt at the terminal does not end it. What it says goes
/// to `log`.
pub(super) fn start(mut command: Command, log: File) -> io::Result<u32> {
    use std::os::unix::process::CommandExt;
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).process_group(0);
    let mut child = command.spawn()?;
    let pid = child.id();
    // The system says that a program was begun a moment before its command line can be read.
    while child.try_wait()?.is_none() && std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.is_empty())
    {
        std::thread::sleep(Duration::from_millis(1));
    }
    // Somebody must wait for it, or it would stay as a zombie for as long as we live.
    std::thread::spawn(move || child.wait());
    Ok(pid)
}

/// What a command said, which is ended at once when it shall stop: the server's user, as whom it runs, can halt it.
pub(super) fn output(mut command: Command, stop: &AtomicBool) -> Result<Output, DatabaseError> {
    let program = PathBuf::from(command.get_program());
    let failed = |source| DatabaseError::file("run", &program, source);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(failed)?;
    let held = hold(child.id());
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    loop {
        let said = receiver.recv_timeout(LOOK);
        if stop.load(Ordering::Relaxed) && !matches!(&said, Ok(Ok(said)) if said.status.success()) {
            held.iter().for_each(kill);
            // It shall let go of what it writes.
            let _ = receiver.recv_timeout(Duration::from_secs(1));
            return Err(DatabaseError::Stopped);
        }
        if let Ok(said) = said {
            return said.map_err(failed);
        }
    }
}

/// Between fork and exec the command line of a process is still ours.
pub(super) fn just_forked(pid: u32) -> bool {
    let own = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty() && line == own)
}

/// Halts a process, so that it starts no other one any more, and gives those that it has started and that still run.
pub(super) fn halted(pid: u32, mark: &str) -> Vec<OwnedFd> {
    if !signal(pid, mark, Signal::STOP) {
        return Vec::new();
    }
    // It may be in the midst of starting one.
    for _ in 0..1000 {
        if matches!(state(pid), None | Some('T' | 't' | 'Z' | 'X')) {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    children(pid)
}

/// Processes that this one started and that still run; each is held, so that its number is no other's.
fn children(pid: u32) -> Vec<OwnedFd> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let child = |number: u32| {
        // Most are none; only those that may be one are held.
        let held = (parent(number) == Some(pid)).then(|| hold(number).ok())??;
        (parent(number) == Some(pid)).then_some(held)
    };
    numbers.filter_map(child).collect()
}

/// Processes of a program whose working folder this is, or was before it was removed, each with its number and held: those of a
/// server work in its data.
pub(super) fn inside(folder: &Path, program: &Path) -> Vec<(u32, OwnedFd)> {
    let real = |path: &Path| {
        let above = || Some(std::fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?));
        std::fs::canonicalize(path).ok().or_else(above)
    };
    let (Some(folder), Some(program)) = (real(folder), real(program)) else { return Vec::new() };
    let leads_to = |number: u32, link: &str, to: &Path| {
        // The folder may have been removed, and the program replaced by an update since.
        std::fs::read_link(format!("/proc/{number}/{link}"))
            .is_ok_and(|found| found == to || found.to_string_lossy() == format!("{} (deleted)", to.display()))
    };
    let works_there = |number: u32| leads_to(number, "cwd", &folder) && leads_to(number, "exe", &program);
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let held = |number: u32| {
        // Most are elsewhere; only those that may be meant are held.
        let process = works_there(number).then(|| hold(number).ok())??;
        works_there(number).then_some((number, process))
    };
    numbers.filter_map(held).collect()
}

/// Ends all processes at once whose command line names all of these words.
pub(super) fn end_all(words: &[&str]) {
    let names = |number: u32| {
        let line = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        words.iter().all(|word| line.contains(word))
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for number in numbers.filter(|number| names(*number)) {
        // Another may have got the number since it was held.
        let held = hold(number).ok().filter(|_| names(number));
        held.iter().for_each(kill);
    }
}

/// The process that has this number now. Another that gets the number later is not meant.
fn hold(pid: u32) -> Result<OwnedFd, Errno> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
    pidfd_open(pid, PidfdFlags::empty())
}

/// Ends a process at once.
pub(super) fn kill(process: &OwnedFd) {
    let _ = pidfd_send_signal(process, Signal::KILL);
}

fn parent(pid: u32) -> Option<u32> {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in brackets and may hold anything.
    line.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

/// Sends a signal to the process of this number, if it names `mark`; false when it is gone, so that it needs none.
pub(super) fn signal(pid: u32, mark: &str, signal: Signal) -> bool {
    let held = hold(pid);
    if !runs(pid, mark) && !just_forked(pid) {
        return false;
    }
    match held {
        Ok(process) => drop(pidfd_send_signal(process, signal)),
        Err(Errno::SRCH) => {}
        // The system has none of these, or does not let us: the number must do.
        Err(_) => drop(i32::try_from(pid).ok().and_then(Pid::from_raw).map(|pid| kill_process(pid, signal))),
    }
    true
}

/// Whether somebody stopped a process, so that it hears of nothing.
pub(super) fn is_stopped(pid: u32) -> bool {
    matches!(state(pid), Some('T' | 't'))
}

/// Waits until the process is gone; false when it is still there after so many seconds, or one second after a stop.
pub(super) fn gone(pid: u32, mark: &str, seconds: u64, stop: &AtomicBool) -> bool {
    let (mut looks, mut left, mut stopped) = (0, seconds * LOOKS_A_SECOND, false);
    while looks < left && !ended(pid, mark) {
        if !stopped && stop.load(Ordering::Relaxed) {
            (stopped, left) = (true, left.min(looks + LOOKS_A_SECOND));
        }
        looks += 1;
        std::thread::sleep(LOOK);
    }
    ended(pid, mark)
}

/// Whether the process let go of all that it had. Its command line goes first, its locks on files go later, and only then
/// is it gone, or a zombie.
pub(super) fn ended(pid: u32, mark: &str) -> bool {
    if runs(pid, mark) {
        return false;
    }
    let another = std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty());
    another || matches!(state(pid), None | Some('Z' | 'X'))
}

/// The letter by which the system says what a process does; none when there is no such process.
fn state(pid: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(") ").next().and_then(|rest| rest.chars().next())
}

/// The last lines of a log that say something of an error, or its very last ones.
pub(super) fn last_words(log: &Path, lines: usize) -> String {
    let bytes = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(64 << 10)..]).into_owned();
    let all: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let bad: Vec<&str> = all.iter().copied().filter(|line| line.contains("ERROR") || line.contains("FATAL")).collect();
    let chosen = if bad.is_empty() { all } else { bad };
    chosen[chosen.len().saturating_sub(lines)..].join(" | ")
}

/// The last line near the end of a log that says that the disk is full.
pub(super) fn full(log: &Path) -> Option<String> {
    let bytes = std::fs::read(log).ok()?;
    let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(64 << 10)..]).into_owned();
    text.lines().rfind(|line| says_full(line)).map(|line| line.trim().to_owned())
}

/// Whether a server's words say that the disk is full. InnoDB writes only the number of the error.
pub(super) fn says_full(words: &str) -> bool {
    words.contains("No space left") || words.to_lowercase().contains("error 28")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_ours_only_when_its_command_line_says_so() {
        let log = tempfile::tempfile().unwrap();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "while :; do sleep 1; done", "mark-of-this-test"]);
        let pid = start(command, log).unwrap();
        assert!(runs(pid, "mark-of-this-test") && !runs(pid, "mark-of-another"));
        let stop = AtomicBool::new(false);
        assert!(!gone(pid, "mark-of-this-test", 0, &stop));
        // A process that the number means now and that is not ours is left alone.
        signal(pid, "mark-of-another", Signal::KILL);
        assert!(!gone(pid, "mark-of-this-test", 1, &stop));
        signal(pid, "mark-of-this-test", Signal::KILL);
        assert!(gone(pid, "mark-of-this-test", 10, &stop));
    }

    #[test]
    fn a_command_that_is_halted_ends_when_stopped() {
        let stop = AtomicBool::new(false);
        let shell = |script: &str| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", script]);
            command
        };
        let said = output(shell("echo yes; exit 3"), &stop).unwrap();
        assert_eq!((said.stdout.as_slice(), said.status.code()), (b"yes\n".as_slice(), Some(3)));
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(output(shell("kill -STOP $$"), &stop), Err(DatabaseError::Stopped)));
    }

    #[test]
    fn a_log_is_quoted_by_its_errors() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "start\n[ERROR] no room\n\nbye\n").unwrap();
        assert_eq!(last_words(file.path(), 3), "[ERROR] no room");
        assert_eq!(full(file.path()), None);
        std::fs::write(file.path(), "x\nPANIC: could not write: No space left on device\nLOG: restarting\n").unwrap();
        assert_eq!(full(file.path()).as_deref(), Some("PANIC: could not write: No space left on device"));
        let innodb = "[ERROR] InnoDB: preallocating 3145728 bytes for file ./a.ibd failed with error 28";
        assert!(says_full(innodb) && !says_full("[ERROR] InnoDB: failed with error 13"));
        std::fs::write(file.path(), "one\ntwo\nthree\n").unwrap();
        assert_eq!(last_words(file.path(), 2), "two | three");
    }
}
