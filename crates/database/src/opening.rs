//! A way in, within a time: whatever is done to reach a server, it ends when the time is over, and when it is told to stop.
//!
//! The one idea: a server that lies can be silent anywhere (in a name's address, in TLS, between two letters of a message),
//! and can say what a library does not survive. So all of it is done on a thread of its own, which is left behind when it
//! does not come back.

use crate::DatabaseError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use study::password::LEFT_OUT;

/// Between two looks whether it shall stop.
const LOOK: Duration = Duration::from_millis(50);

/// Looks that are left to what is nearly there when it shall stop.
const LOOKS_AFTER_STOP: u64 = 10;

/// How long a way in over a network may take, unless the address says otherwise.
pub(crate) const SECONDS: u64 = 10;

/// The same on this machine, where nobody lies and a server that recovers may take its time.
pub(crate) const SECONDS_HERE: u64 = 60;

/// Does `work`, which reaches the server at `place`, for at most so many seconds.
///
/// # Errors
/// What the work says; that it took too long or was stopped, or that the server said what nobody understands.
pub(crate) fn within<T: Send + 'static>(
    place: &str,
    seconds: u64,
    stop: &AtomicBool,
    work: impl FnOnce() -> Result<T, DatabaseError> + Send + 'static,
) -> Result<T, DatabaseError> {
    let refused = |text: String| DatabaseError::Refused { place: place.to_owned(), text };
    let (sender, receiver) = channel();
    let begun = std::thread::Builder::new().name("opening".to_owned()).spawn(move || {
        // Nobody waits any more when the time is over.
        let _ = sender.send(work());
    });
    begun.map_err(|source| refused(format!("no thread to open it: {source}")))?;
    let (mut looks, mut left) = (0, seconds.saturating_mul(1000) / LOOK.as_millis() as u64);
    let mut stopped = false;
    while looks < left {
        match receiver.recv_timeout(LOOK) {
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Disconnected) => return Err(refused("it said what is not understood".to_owned())),
            Err(RecvTimeoutError::Timeout) => looks += 1,
        }
        if !stopped && stop.load(Ordering::Relaxed) {
            (stopped, left) = (true, left.min(looks + LOOKS_AFTER_STOP));
        }
    }
    Err(if stopped { DatabaseError::Stopped } else { refused(format!("it did not let us in within {seconds} s")) })
}

/// The host and the port of an address, as they stand in it; an IPv6 address stands in brackets.
pub(crate) fn host_and_port(text: &str) -> (&str, Option<&str>) {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':')),
        None => text.rsplit_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    (host, port.filter(|port| !port.is_empty()))
}

/// The name of a parameter of an address; what can be none may be a part of a password.
pub(crate) fn named(key: &str) -> &str {
    if key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) { key } else { LEFT_OUT }
}

/// Whether a host is this machine, by its name or address alone.
pub(crate) fn loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn silent() -> Result<(), DatabaseError> {
        std::thread::sleep(Duration::from_secs(600));
        Ok(())
    }

    #[test]
    fn what_never_ends_is_left_behind_and_what_breaks_is_an_error() {
        let go = AtomicBool::new(false);
        assert_eq!(within("p", 1, &go, || Ok(7)).unwrap(), 7);
        let late = within("p", 1, &go, silent).unwrap_err().to_string();
        assert!(late.contains("within 1 s"), "{late}");
        let broken = within("p", 10, &go, || -> Result<(), DatabaseError> { panic!("a key that is none") });
        assert!(broken.unwrap_err().to_string().contains("not understood"));
    }

    #[test]
    fn a_stop_ends_the_wait_at_once_and_what_is_nearly_there_still_comes() {
        let stop = AtomicBool::new(true);
        assert!(matches!(within("p", 600, &stop, silent), Err(DatabaseError::Stopped)));
        let soon = || {
            std::thread::sleep(Duration::from_millis(100));
            Ok(7)
        };
        assert_eq!(within("p", 600, &stop, soon).unwrap(), 7);
    }
}
