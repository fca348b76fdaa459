//! Sockets of two kinds under one name.

use rustix::fd::{AsFd, BorrowedFd};
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{RecvFlags, SendFlags};
use std::fmt;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// Where somebody listens: `HOST:PORT`, or the path of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// TCP, as `HOST:PORT`.
    Tcp(String),
    /// A socket in a folder.
    Unix(PathBuf),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Address, String> {
        match text.rsplit_once(':') {
            _ if text.starts_with(['/', '.']) => Ok(Address::Unix(text.into())),
            Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => Ok(Address::Tcp(text.into())),
            _ => Err(format!(
                "`{text}` is no address: say HOST:PORT, or the path of a socket, which begins with `/` or `.`"
            )),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => f.write_str(address),
            Address::Unix(path) => path.display().fmt(f),
        }
    }
}

/// Somebody who listens.
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    pub(crate) fn bind(address: &Address) -> Result<Listener> {
        match address {
            Address::Tcp(address) => TcpListener::bind(address).map(Listener::Tcp),
            Address::Unix(path) => {
                forget_dead(path)?;
                UnixListener::bind(path).map(Listener::Unix)
            }
        }
    }

    pub(crate) fn accept(&self) -> Result<Stream> {
        match self {
            Listener::Tcp(listener) => listener.accept().and_then(|(stream, _)| Stream::tcp(stream)),
            Listener::Unix(listener) => listener.accept().map(|(stream, _)| Stream::Unix(stream)),
        }
    }

    /// Where it listens: a port that was asked for as 0 is known now.
    pub(crate) fn address(&self) -> Result<Address> {
        match self {
            Listener::Tcp(listener) => Ok(Address::Tcp(listener.local_addr()?.to_string())),
            Listener::Unix(listener) => {
                Ok(Address::Unix(listener.local_addr()?.as_pathname().unwrap_or("".as_ref()).to_owned()))
            }
        }
    }
}

/// Whether there is a socket of that name.
pub(crate) fn is_socket(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|there| there.file_type().is_socket())
}

/// Removes a socket at which nobody listens any more: who did was killed.
fn forget_dead(path: &Path) -> Result<()> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        // Whatever else has that name is somebody's, and answers a connection as a dead socket does.
        Ok(_) if !is_socket(path) => {
            let why = "it is there already, and is no socket: name a path that is free";
            Err(Error::new(ErrorKind::AlreadyExists, why))
        }
        Ok(_) => match UnixStream::connect(path) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => std::fs::remove_file(path),
            _ => Ok(()),
        },
    }
}

/// A connection.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    pub(crate) fn connect(address: &Address) -> Result<Stream> {
        match address {
            Address::Tcp(address) => TcpStream::connect(address).and_then(Stream::tcp),
            Address::Unix(path) => UnixStream::connect(path).map(Stream::Unix),
        }
    }

    fn tcp(stream: TcpStream) -> Result<Stream> {
        stream.set_nodelay(true)?;
        Ok(Stream::Tcp(stream))
    }

    /// Reads what is there; without anything it would block.
    pub(crate) fn read_now(&self, into: &mut [u8]) -> Result<usize> {
        Ok(rustix::net::recv(self, into, RecvFlags::DONTWAIT)?.0)
    }

    /// Writes what there is room for; without any it would block.
    pub(crate) fn write_now(&self, from: &[u8]) -> Result<usize> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        Ok(rustix::io::retry_on_intr(|| rustix::net::send(self, from, flags))?)
    }

    /// Reads wait no longer than that.
    pub(crate) fn give_up_after(&self, time: Duration) -> Result<()> {
        Ok(sockopt::set_socket_timeout(self, Timeout::Recv, Some(time))?)
    }

    /// When it is closed, the other end sees that it was broken off, where sockets know that.
    pub(crate) fn break_off(&self) {
        // One that is gone already has nothing to tell.
        let _ = sockopt::set_socket_linger(self, Some(Duration::ZERO));
    }

    /// Ends one side or both; one that is gone already has nothing to end.
    pub(crate) fn end(&self, how: Shutdown) {
        let _ = match self {
            Stream::Tcp(stream) => stream.shutdown(how),
            Stream::Unix(stream) => stream.shutdown(how),
        };
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Tcp(stream) => stream.as_fd(),
            Stream::Unix(stream) => stream.as_fd(),
        }
    }
}

impl Read for &Stream {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        match self {
            Stream::Tcp(stream) => (&mut &*stream).read(into),
            Stream::Unix(stream) => (&mut &*stream).read(into),
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, from: &[u8]) -> Result<usize> {
        match self {
            Stream::Tcp(stream) => (&mut &*stream).write(from),
            Stream::Unix(stream) => (&mut &*stream).write(from),
        }
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
