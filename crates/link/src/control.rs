//! Orders to a relay that runs: one line to its socket, one answer.

use crate::Address;
use crate::network::{Listener, Stream};
use crate::relay::Relay;
use std::io::{Read, Result, Write};
use std::net::Shutdown;
use std::path::Path;
use std::time::Duration;
use study::{Wire, WireError};

/// How long somebody may take to say an order.
const PATIENCE: Duration = Duration::from_millis(500);

/// What a relay is told to do. Paths are numbered from 1; none means all.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// A path has another shape.
    Shape(usize, Wire),
    /// A path carries nothing, and says nothing of it.
    Cut(Option<usize>),
    /// A path carries towards the far node and nothing back.
    HalfOpen(Option<usize>),
    /// A path carries again.
    Heal(Option<usize>),
    /// All connections end, and both ends see it.
    Reset,
    /// The relay ends.
    End,
    /// Nothing: it only tells.
    Tell,
}

/// Why words are no order.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unordered {
    /// Nothing that a relay does.
    #[error(
        "`{0}` is no order: say cut, half-open or heal, each alone or with a path (`cut 2`), reset, end, tell, or `shape 1 km=10`"
    )]
    Word(String),
    /// A shape that cannot be read.
    #[error(transparent)]
    Shape(#[from] WireError),
}

/// An order in words.
///
/// # Errors
/// As [`Unordered`].
pub fn parse(text: &str) -> std::result::Result<Order, Unordered> {
    let unknown = || Unordered::Word(text.trim().to_owned());
    let (verb, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let number = |text: &str| text.parse().ok().filter(|number| *number > 0).ok_or_else(unknown);
    let path = || if rest.is_empty() { Ok(None) } else { number(rest).map(Some) };
    match (verb, rest) {
        ("cut", _) => path().map(Order::Cut),
        ("half-open", _) => path().map(Order::HalfOpen),
        ("heal", _) => path().map(Order::Heal),
        ("reset", "") => Ok(Order::Reset),
        ("end", "") => Ok(Order::End),
        ("tell", "") => Ok(Order::Tell),
        ("shape", _) => {
            let (of, shape) = rest.split_once(' ').ok_or_else(unknown)?;
            Ok(Order::Shape(number(of)?, Wire::parse(shape)?))
        }
        _ => Err(unknown()),
    }
}

/// Sends an order to the relay that listens for orders at `socket`, and returns its answer: a line for each path
/// (`shape TAB there TAB back TAB connections`), and one of traffic (`bytes TAB pieces` there, then back).
///
/// # Errors
/// Nobody listens there, or the relay refused with the reason.
pub fn ask(socket: &Path, order: &str) -> Result<String> {
    let stream = Stream::connect(&Address::Unix(socket.to_owned()))?;
    { &stream }.write_all(order.as_bytes())?;
    stream.end(Shutdown::Write);
    let mut answer = String::new();
    { &stream }.read_to_string(&mut answer)?;
    match answer.strip_prefix("refused: ") {
        Some(why) => Err(std::io::Error::other(why.to_owned())),
        None => Ok(answer),
    }
}

/// Takes orders at `socket` for as long as the program runs.
///
/// # Errors
/// It cannot listen there.
pub fn obey(relay: &std::sync::Arc<Relay>, socket: &Path) -> Result<()> {
    let listener = Listener::bind(&Address::Unix(socket.to_owned()))?;
    // Whoever serves the relay ends it.
    let relay = std::sync::Arc::downgrade(relay);
    std::thread::Builder::new().name("orders".into()).spawn(move || {
        while let Ok(stream) = listener.accept() {
            let mut order = String::new();
            // Who says nothing keeps nobody else waiting for long.
            let _ = stream.give_up_after(PATIENCE);
            // Who says more than an order is cut off; who goes away gets no answer.
            let _ = { &stream }.take(4096).read_to_string(&mut order);
            let Some(relay) = relay.upgrade() else { return };
            let _ = { &stream }.write_all(answer(&relay, &order).as_bytes());
        }
    })?;
    Ok(())
}

fn answer(relay: &Relay, order: &str) -> String {
    let paths = relay.told().0.len();
    let done = parse(order).map_err(|error| error.to_string()).and_then(|order| {
        let all = |number: Option<usize>, carries: [bool; 2]| {
            (1..=paths)
                .filter(|path| number.is_none_or(|number| number == *path))
                .for_each(|path| relay.carry(path - 1, carries));
        };
        match order {
            Order::Shape(number, _)
            | Order::Cut(Some(number))
            | Order::HalfOpen(Some(number))
            | Order::Heal(Some(number))
                if number > paths =>
            {
                return Err(format!("path {number}: the link has {paths}"));
            }
            Order::Shape(number, shape) => relay.shape(number - 1, shape),
            Order::Cut(number) => all(number, [false, false]),
            Order::HalfOpen(number) => all(number, [true, false]),
            Order::Heal(number) => all(number, [true, true]),
            Order::Reset => relay.reset(),
            Order::End => relay.end(),
            Order::Tell => {}
        }
        Ok(tell(relay))
    });
    done.unwrap_or_else(|why| format!("refused: {why}"))
}

fn tell(relay: &Relay) -> String {
    let (paths, [there, back]) = relay.told();
    let mut text = String::new();
    for path in paths {
        let [to, from] = path.carries;
        text += &format!("{}\t{to}\t{from}\t{}\n", path.shape, path.connections);
    }
    text + &format!("{}\t{}\t{}\t{}\n", there.0, there.1, back.0, back.1)
}

#[cfg(test)]
#[path = "tests/control.rs"]
mod tests;
