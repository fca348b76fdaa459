//! The byte stream under a conversation: TCP or a Unix socket, plain or inside TLS.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// A stream without TLS: one descriptor, which a ring or a poll can serve. What is done to a connected socket is the same
/// for TCP, so that one type stands for both.
pub(crate) type RawStream = UnixStream;

/// Reaches a server by its Unix socket, or by the first address of its name that answers within so many seconds. A read or a write
/// of the stream waits a little longer at most, so that whoever gave it up in that time does not leave it behind for ever.
pub(crate) fn reach(socket: Option<&Path>, host: &str, port: u16, seconds: u64) -> io::Result<RawStream> {
    let stream = match socket {
        Some(path) => UnixStream::connect(path)?,
        None => dialled(host, port, Duration::from_secs(seconds))?,
    };
    wait_at_most(&stream, Some(Duration::from_secs(seconds.saturating_add(1))))?;
    Ok(stream)
}

fn dialled(host: &str, port: u16, patience: Duration) -> io::Result<RawStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(OwnedFd::from(stream).into());
            }
            Err(source) => last = source,
        }
    }
    Err(last)
}

/// How long a read or a write may wait.
pub(super) fn wait_at_most(stream: &RawStream, limit: Option<Duration>) -> io::Result<()> {
    stream.set_read_timeout(limit).and_then(|()| stream.set_write_timeout(limit))
}

/// A stream, plain or inside TLS.
#[derive(Debug)]
pub(crate) enum Stream {
    Raw(RawStream),
    Tls(Box<rustls::StreamOwned<rustls::ClientConnection, RawStream>>),
}

impl Stream {
    pub(crate) fn raw(&self) -> &RawStream {
        match self {
            Stream::Raw(stream) => stream,
            Stream::Tls(stream) => &stream.sock,
        }
    }

    /// Sends all of it.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes).and_then(|()| self.flush())
    }

    /// Whether a read would find something at once. Of TLS it may be something that is not ours.
    pub(crate) fn readable(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut wanted = [PollFd::new(self.raw(), PollFlags::IN)];
        poll(&mut wanted, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Raw(stream) => stream.read(buffer),
            Stream::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Raw(stream) => stream.write(bytes),
            Stream::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Raw(_) => Ok(()),
            Stream::Tls(stream) => stream.flush(),
        }
    }
}
