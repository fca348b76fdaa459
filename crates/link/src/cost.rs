//! What the relay itself costs: measured beside a connection without it, on this machine, at this moment.

use crate::network::{Address, Listener, Stream};
use crate::path::Choice;
use crate::relay::{Relay, Settings};
use recorder::{Clock, WallClock};
use std::io::{Read, Result, Write};
use study::Wire;
use units::{Nanos, PerSecond};

/// Round trips of each kind, in turns.
const TURNS: usize = 100;

/// A delay during which every thread falls asleep.
const ASKED: Nanos = Nanos::from_millis(1);

/// Round trips over that delay.
const LONG_TURNS: usize = 40;

/// What a relay without delay costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Added to a round trip, median.
    pub round_trip: Nanos,
    /// Bytes a second through it, one connection.
    pub throughput: PerSecond,
    /// A round trip over 100 us each way, over what was asked for; 1 is exact.
    pub accuracy: f64,
}

/// Measures all of it on loopback, in about a second.
///
/// # Errors
/// No socket could be had.
pub fn cost() -> Result<Cost> {
    let delay = Nanos::from_micros(100);
    let own = queued()?;
    let [direct, plain] = in_turns(Wire::default(), Nanos::ZERO, TURNS)?;
    let [near, far] = in_turns(Wire { delay, ..Wire::default() }, own, TURNS)?;
    Ok(Cost {
        round_trip: plain.saturating_sub(direct),
        throughput: throughput()?,
        accuracy: far.saturating_sub(near).seconds() / (2.0 * delay.seconds()),
    })
}

/// How late a thread that slept finds what has come, one way.
pub(crate) fn queued() -> Result<Nanos> {
    let [direct, delayed] = in_turns(Wire { delay: ASKED, ..Wire::default() }, Nanos::ZERO, LONG_TURNS)?;
    Ok(Nanos(delayed.saturating_sub(direct + ASKED + ASKED).0 / 2))
}

fn relay(to: &Address, shape: Wire) -> Result<Relay> {
    let (listen, paths) = (Address::Tcp("127.0.0.1:0".into()), vec![shape]);
    let (choice, failover) = (Choice::Priority, Nanos::ZERO);
    Relay::unmeasured(&Settings { listen, to: to.clone(), paths, choice, failover, seed: 0 })
}

/// Somebody who sends back what comes, or swallows it, for one connection after the other.
fn far_end(serve: fn(&Stream)) -> Result<Address> {
    let listener = Listener::bind(&Address::Tcp("127.0.0.1:0".into()))?;
    let address = listener.address()?;
    std::thread::spawn(move || {
        for _ in 0..2 {
            if let Ok(stream) = listener.accept() {
                std::thread::spawn(move || serve(&stream));
            }
        }
    });
    Ok(address)
}

fn echo(stream: &Stream) {
    let mut room = [0; 64];
    while let Ok(read @ 1..) = { stream }.read(&mut room) {
        if { stream }.write_all(&room[..read]).is_err() {
            return;
        }
    }
}

/// Medians of a round trip without and with a relay of such a shape.
fn in_turns(shape: Wire, own: Nanos, turns: usize) -> Result<[Nanos; 2]> {
    let far = far_end(echo)?;
    let relay = relay(&far, shape)?;
    relay.take_off(own);
    let streams = [Stream::connect(&far)?, Stream::connect(relay.address())?];
    let clock = WallClock::new();
    let mut took = [Vec::new(), Vec::new()];
    for turn in 0..2 * turns {
        let mut stream = &streams[turn % 2];
        let begun = clock.now();
        stream.write_all(&[7; 64])?;
        stream.read_exact(&mut [0; 64])?;
        took[turn % 2].push(clock.now() - begun);
    }
    Ok(took.map(|mut took| {
        // The first ones find threads that were never awake.
        took.drain(..turns / 10);
        took.sort_unstable();
        took[took.len() / 2]
    }))
}

fn swallow(stream: &Stream) {
    let mut room = vec![0; 1 << 20];
    while let Ok(1..) = { stream }.read(&mut room) {}
    // One byte says that all has come.
    let _ = { stream }.write_all(&[1]);
}

/// Bytes a second of one connection through a relay.
fn throughput() -> Result<PerSecond> {
    const BYTES: usize = 1 << 30;
    let far = far_end(swallow)?;
    let relay = relay(&far, Wire::default())?;
    let stream = Stream::connect(relay.address())?;
    let (clock, piece) = (WallClock::new(), vec![7; 1 << 20]);
    let begun = clock.now();
    for _ in 0..BYTES / piece.len() {
        { &stream }.write_all(&piece)?;
    }
    stream.end(std::net::Shutdown::Write);
    { &stream }.read_exact(&mut [0])?;
    Ok(PerSecond(BYTES as f64 / (clock.now() - begun).seconds()))
}
