//! Texts that somebody names, such as a study, a script or a table: read whole, or not at all.
//!
//! The one idea: a name can stand for anything. A device may have no end, and a pipe may have nobody at its other end, so
//! only files and pipes are read, up to a bound, and a pipe has to begin within a few seconds.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

/// Bytes of a text at most.
pub const BYTES_MAX: u64 = 8 << 20;

/// Seconds between two parts of what comes through a pipe at most.
const SILENCE_S: i64 = 10;

/// The text of a file or a pipe.
///
/// # Errors
/// When it cannot be opened or read, is neither, is longer than [`BYTES_MAX`], is no UTF-8, or nobody writes into the pipe.
pub fn read(path: &Path) -> io::Result<String> {
    read_within(SILENCE_S, path)
}

fn read_within(silence_s: i64, path: &Path) -> io::Result<String> {
    // Opening a pipe waits for its writer, unless it is told not to.
    let file = File::from(rustix::fs::open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?);
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let piped = kind.is_fifo() || kind.is_socket();
    if !kind.is_file() && !piped {
        return Err(refused("a file or a pipe is needed, got a device".to_owned()));
    }
    let mut bytes = Vec::new();
    if piped {
        Piped { file, silence_s }.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    } else {
        file.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > BYTES_MAX {
        return Err(refused(format!("at most {} MiB are read, got more", BYTES_MAX >> 20)));
    }
    String::from_utf8(bytes).map_err(|error| refused(format!("a text in UTF-8 is needed: {error}")))
}

fn refused(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// A pipe that has to go on.
struct Piped {
    file: File,
    silence_s: i64,
}

impl Read for Piped {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut ready = [PollFd::new(&self.file, PollFlags::IN)];
        let limit = Timespec { tv_sec: self.silence_s, tv_nsec: 0 };
        if poll(&mut ready, Some(&limit))? == 0 {
            let why = format!("nothing came through the pipe for {} s", self.silence_s);
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        self.file.read(into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write as _;

    fn why(path: &Path) -> String {
        read(path).unwrap_err().to_string()
    }

    #[test]
    fn a_text_is_read_from_a_file_and_from_a_pipe_that_somebody_writes_to() {
        let dir = tempfile::tempdir().unwrap();
        let (plain, pipe) = (dir.path().join("plain"), dir.path().join("pipe"));
        fs::write(&plain, "[study]\n").unwrap();
        assert_eq!(read(&plain).unwrap(), "[study]\n");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        // The writer waits until somebody reads.
        let writer = std::thread::spawn({
            let pipe = pipe.clone();
            move || {
                let mut into = fs::OpenOptions::new().read(true).write(true).open(pipe).unwrap();
                into.write_all(b"part, ").unwrap();
                std::thread::sleep(std::time::Duration::from_millis(100));
                into.write_all(b"rest").unwrap();
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
        });
        std::thread::sleep(std::time::Duration::from_millis(50));
        let text = read(&pipe).unwrap();
        writer.join().unwrap();
        assert_eq!(text, "part, rest");
    }

    #[test]
    fn what_has_no_end_or_no_writer_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(why(Path::new("/dev/zero")), "a file or a pipe is needed, got a device");
        assert_eq!(read(dir.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        let long = dir.path().join("long");
        File::create(&long).unwrap().set_len(BYTES_MAX + 1).unwrap();
        assert_eq!(why(&long), "at most 8 MiB are read, got more");
        fs::write(&long, [b'a', 0xFF]).unwrap();
        assert!(why(&long).starts_with("a text in UTF-8 is needed: "));
        let pipe = dir.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert_eq!(read_within(0, &pipe).unwrap_err().to_string(), "nothing came through the pipe for 0 s");
    }
}
