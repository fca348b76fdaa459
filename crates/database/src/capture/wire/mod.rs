//! Statements on the wire, heard by whoever relays it.
//!
//! The one idea: each connection is two streams of messages, read only as far as a statement, its values and its end need. PostgreSQL says
//! when it has ended; with MariaDB a statement took until the last that came back before the next one.
//!
//! What it does not do: it changes no byte. Passwords are in messages that are passed over; what is under TLS cannot be read, and is counted.

mod line;
mod mysql;
mod postgres;

use super::{Captured, Of, sorted};
use line::{Heard, Line};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use study::Engine;
use units::Nanos;
use workload::replay::Trace;

enum Known {
    Read(Box<dyn Line>),
    Unreadable(&'static str),
}

/// One who hears what a relay carries.
pub struct Passing {
    engine: Engine,
    /// The database whose statements are wanted; none wants all.
    wanted: Option<String>,
    state: Mutex<(HashMap<u64, Known>, Heard)>,
}

impl Passing {
    /// One for servers of PostgreSQL or MariaDB, and the database whose statements are wanted; none wants all.
    pub fn new(engine: Engine, wanted: Option<String>) -> Passing {
        Passing { engine, wanted, state: Mutex::default() }
    }

    /// Bytes of a connection, at a moment since the window began.
    pub fn hear(&self, connection: u64, from_client: bool, at: Nanos, bytes: &[u8]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, heard) = &mut *state;
        let one = known.entry(connection).or_insert_with(|| {
            Known::Read(match self.engine {
                Engine::Mariadb => Box::new(mysql::Talk::new(connection)),
                _ => Box::new(postgres::Talk::new(connection)),
            })
        });
        if let Known::Read(line) = one
            && let Err(why) = line.hear(heard, from_client, (at.0 / 1_000) as i64, bytes)
        {
            line.end(heard);
            *one = Known::Unreadable(why);
        }
    }

    /// The window ends: what was heard in it, through a relay at an address.
    pub fn end(&self, relay: &str, window: Nanos) -> Captured {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut known, mut heard) = std::mem::take(&mut *state);
        let mut unreadable: BTreeMap<&str, u64> = BTreeMap::new();
        for one in known.values_mut() {
            match one {
                Known::Read(line) => line.end(&mut heard),
                Known::Unreadable(why) => *unreadable.entry(why).or_default() += 1,
            }
        }
        let mut lacking: Vec<String> =
            unreadable.into_iter().map(|(why, count)| format!("{count} connections: {why}")).collect();
        if known.is_empty() {
            lacking.push(format!("nobody connected to {relay}: point the application there"));
        }
        lacking.push(format!("what clients say to the server without going through {relay}"));
        let of = Of { own: "", wanted: self.wanted.as_deref(), server: &heard.server };
        let (said, mut left_out) = sorted(heard.words, &of, 0, window, false);
        left_out.extend(heard.left_out);
        let all = if self.wanted.is_none() { ", of all databases: the address names none" } else { "" };
        let trace = Trace { server: heard.server, window, heard: said };
        Captured { trace, source: format!("the relay at {relay}{all}"), sampled: false, left_out, lacking }
    }
}

#[cfg(test)]
#[path = "../../tests/wire_capture.rs"]
mod tests;
