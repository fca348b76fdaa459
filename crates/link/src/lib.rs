//! The link between two nodes: a relay that makes a short wire long, narrow, crowded, cut or half-open.
//!
//! The one idea: every piece that is read is given the moment at which it arrives at the far end, from its path's length, capacity
//! and what else travels there; a thread hands it over at that moment. The arithmetic is a pure queue (`lane`), and how late
//! a thread wakes up, measured when the relay starts, is taken off the delay.
//!
//! What it does not do: it reads no protocol, though a tap may; it loses no byte of a connection that lives, and does not split or merge connections.

mod connection;
mod control;
mod cost;
mod lane;
mod network;
mod path;
mod relay;
mod seal;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use control::{Order, Unordered, ask, obey, parse};
pub use cost::{Cost, cost};
pub use network::Address;
pub use path::{Choice, Told};
pub use relay::{LATEST, Relay, Settings, Tap};

/// What several threads share: one that panicked leaves it as it was, because each change is whole before the lock is given back.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
