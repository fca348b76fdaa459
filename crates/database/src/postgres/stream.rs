//! The byte stream under a conversation: TCP or a Unix socket, plain or inside TLS.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

/// A stream without TLS: one descriptor, which a ring or a poll can serve. What is done to a connected socket is the same
/// for TCP, so that one type stands for both.
pub(super) type RawStream = UnixStream;

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
