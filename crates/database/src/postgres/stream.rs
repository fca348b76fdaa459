//! The byte stream under a conversation: TCP or a Unix socket, plain or inside TLS.

use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A stream without TLS: one descriptor, which a ring or a poll can serve.
#[derive(Debug)]
pub enum RawStream {
    /// TCP, with `TCP_NODELAY`.
    Tcp(TcpStream),
    /// A Unix socket.
    Unix(UnixStream),
}

impl RawStream {
    pub(super) fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            RawStream::Tcp(stream) => stream.set_read_timeout(timeout),
            RawStream::Unix(stream) => stream.set_read_timeout(timeout),
        }
    }
}

impl From<RawStream> for OwnedFd {
    fn from(stream: RawStream) -> OwnedFd {
        match stream {
            RawStream::Tcp(stream) => stream.into(),
            RawStream::Unix(stream) => stream.into(),
        }
    }
}

impl AsFd for RawStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            RawStream::Tcp(stream) => stream.as_fd(),
            RawStream::Unix(stream) => stream.as_fd(),
        }
    }
}

impl Read for RawStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            RawStream::Tcp(stream) => stream.read(buffer),
            RawStream::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for RawStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            RawStream::Tcp(stream) => stream.write(bytes),
            RawStream::Unix(stream) => stream.write(bytes),
        }
    }

    fn write_vectored(&mut self, bytes: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            RawStream::Tcp(stream) => stream.write_vectored(bytes),
            RawStream::Unix(stream) => stream.write_vectored(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A stream, plain or inside TLS.
#[derive(Debug)]
pub(super) enum Stream {
    Raw(RawStream),
    Tls(Box<rustls::StreamOwned<rustls::ClientConnection, RawStream>>),
}

impl Stream {
    pub(super) fn raw(&self) -> &RawStream {
        match self {
            Stream::Raw(stream) => stream,
            Stream::Tls(stream) => &stream.sock,
        }
    }

    /// Sends all of it.
    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Raw(stream) => stream.write_all(bytes),
            Stream::Tls(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
        }
    }

    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Raw(stream) => stream.read(buffer),
            Stream::Tls(stream) => stream.read(buffer),
        }
    }

    /// Whether a read would find something at once. Of TLS it may be something that is not ours.
    pub(super) fn readable(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut wanted = [PollFd::new(self.raw(), PollFlags::IN)];
        poll(&mut wanted, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
    }
}
