//! A network of its own for a server that speaks over Unix sockets alone.
//!
//! The one idea: the thread that starts a server is in a new network, which has nothing but `lo`, and the server inherits it. Such a
//! network has no name and no file: it ends with the server's last process, so that a run that was killed leaves none behind.
//!
//! What it does not do: no cable leads into it. Whoever may pass the folder of a socket reaches the server from any network.

use rustix::fd::{AsFd as _, OwnedFd};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};
use std::fs::{File, read_link};
use std::io;
use std::thread;

/// A message to the kernel that takes interface 1 up, which is `lo` in each network, and asks for an answer.
const UP: [u32; 8] = [32, 16 | 5 << 16, 1, 0, 0, 1, 1, 1];

/// Where the answer has the number of an error, below zero; zero where there is none.
const ERROR: std::ops::Range<usize> = 16..20;

/// Why two servers do not have a network of their own each.
#[derive(Debug, thiserror::Error)]
pub enum Shared {
    /// They need one in common.
    #[error("Galera joins them at ports of 127.0.0.1, which they must share")]
    Ports,
    /// There is no process to look at.
    #[error("one of them does not run")]
    Ended,
    /// The kernel makes none for us.
    #[error("the kernel makes none for this user, who needs CAP_SYS_ADMIN and CAP_NET_ADMIN as root has them: {0}")]
    Refused(io::Error),
    /// They could have one today.
    #[error("one of them was started without; its next start makes one")]
    Before,
}

/// Does some work in a new network, in which all processes stay that it starts; where we are, when none can be made.
pub(super) fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let Ok(network) = made() else { return work() };
    within_thread(|| {
        // Where a server came to be is seen from outside, and told.
        let _ = move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network));
        work()
    })
}

/// The network of a process as the kernel names it; none where it is ours, or there is no such process.
pub fn own_network(process: u32) -> Option<String> {
    let of = |process: &str| read_link(format!("/proc/{process}/ns/net")).ok();
    let network = of(&process.to_string())?;
    (network != of("self")?).then(|| network.display().to_string())
}

/// Whether two processes have a network of their own each, apart from ours.
///
/// # Errors
/// Why they have not.
pub fn parted(processes: [Option<u32>; 2]) -> Result<(), Shared> {
    let [Some(first), Some(second)] = processes else { return Err(Shared::Ended) };
    match (own_network(first), own_network(second)) {
        (Some(first), Some(second)) if first != second => Ok(()),
        _ => Err(made().map_or_else(Shared::Refused, |_| Shared::Before)),
    }
}

/// Takes this thread into the network of a process, from where its ports are reached.
#[cfg(test)]
pub(crate) fn enter(process: u32) {
    let network = File::open(format!("/proc/{process}/ns/net")).expect("a process");
    if own_network(process).is_some() {
        move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network)).expect("we started it");
    }
}

/// A new network, which lasts as long as a process is in it or holds this.
fn made() -> io::Result<OwnedFd> {
    within_thread(|| {
        #[expect(
            deprecated,
            reason = "what makes it unsafe is that it can part a thread's open files from its process"
        )]
        rustix::thread::unshare(UnshareFlags::NEWNET)?;
        let kernel = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
        send(&kernel, &UP.map(u32::to_ne_bytes).concat(), SendFlags::empty())?;
        let mut answer = [0; 64];
        recv(&kernel, &mut answer, RecvFlags::empty())?;
        let error = answer[ERROR].try_into().map_or(0, i32::from_ne_bytes);
        // A server may speak to itself over `lo`: a network without it is none.
        match error {
            0 => Ok(File::open("/proc/thread-self/ns/net")?.into()),
            below => Err(Errno::from_raw_os_error(-below).into()),
        }
    })
}

/// Does work in a thread that ends with it: what it is in is left to nobody who comes later.
fn within_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let done = thread::scope(|scope| scope.spawn(work).join());
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_network_of_its_own_has_lo_alone_and_leads_nowhere() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        assert!(TcpStream::connect(address).is_ok());
        if made().is_err() {
            return crate::tests::skip::skipped("no networks can be made here");
        }
        apart(|| {
            let refused = TcpStream::connect(address).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused, "`lo` is up, and another one");
            assert!(TcpStream::connect("192.0.2.1:9").is_err());
            let interfaces = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
            assert_eq!(interfaces.lines().skip(2).count(), 1, "{interfaces}");
            // The same port is free here.
            assert!(TcpListener::bind(address).is_ok());
        });
        assert!(TcpStream::connect(address).is_ok(), "whoever asked stays where he is");
    }

    #[test]
    fn processes_that_share_a_network_are_told_from_those_that_do_not() {
        let own = std::process::id();
        assert!(matches!(parted([Some(own), None]), Err(Shared::Ended)));
        assert!(matches!(parted([Some(own), Some(own)]), Err(Shared::Before | Shared::Refused(_))));
    }
}
