//! What the relay itself costs: measured beside a connection without it, on this machine, at this moment.

use crate::network::{Address, Listener, Stream};
use crate::path::Choice;
use crate::relay::{Relay, Settings};
use recorder::{Clock, WallClock};
use std::io::{ErrorKind, Read, Result, Write};
use std::time::Duration;
use study::Wire;
use units::{Nanos, PerSecond};

/// Round trips of each kind, in turns.
const TURNS: usize = 100;

/// A delay during which every thread falls asleep.
const ASKED: Nanos = Nanos::from_millis(1);

/// Pieces over that delay.
const LONG_TURNS: usize = 80;

/// A pause behind a piece after which every thread sleeps.
const ASLEEP: Duration = Duration::from_micros(400);

/// What a relay without delay costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Added to a round trip, median.
    pub round_trip: Nanos,
    /// Bytes a second through it, one connection.
    pub throughput: PerSecond,
    /// One way over 100 us, over what was asked for; 1 is exact. Of pieces that find the relay asleep and awake the ones that are
    /// farther off.
    pub accuracy: f64,
}

/// Measures all of it on loopback, in about a second.
///
/// # Errors
/// No socket could be had.
pub fn cost() -> Result<Cost> {
    let delay = Nanos::from_micros(100);
    let own = queued()?;
    let [direct, plain] = round_trips(TURNS)?;
    let over = |pause| -> Result<f64> {
        let [near, far] = one_way(Wire { delay, ..Wire::default() }, own, (TURNS, pause))?;
        Ok(far.saturating_sub(near).seconds() / delay.seconds())
    };
    let (asleep, awake) = (over(ASLEEP)?, over(Duration::ZERO)?);
    let accuracy = if (asleep - 1.0).abs() > (awake - 1.0).abs() { asleep } else { awake };
    Ok(Cost { round_trip: plain.saturating_sub(direct), throughput: throughput()?, accuracy })
}

/// How late a thread that slept finds what has come, one way.
pub(crate) fn queued() -> Result<Nanos> {
    let shape = Wire { delay: ASKED, ..Wire::default() };
    let [direct, delayed] = one_way(shape, Nanos::ZERO, (LONG_TURNS, ASLEEP))?;
    Ok(delayed.saturating_sub(direct + ASKED))
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

/// Medians of a round trip without and with a relay that adds nothing.
fn round_trips(turns: usize) -> Result<[Nanos; 2]> {
    let far = far_end(echo)?;
    let relay = relay(&far, Wire::default())?;
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
    Ok(took.map(typical))
}

/// Medians of one way without and with a relay of such a shape, for so many pieces with such a pause before each. One thread has both ends
/// and never sleeps while a piece is under way: how late whoever waits there wakes up is theirs, and not the wire's.
fn one_way(shape: Wire, own: Nanos, (turns, pause): (usize, Duration)) -> Result<[Nanos; 2]> {
    let listener = Listener::bind(&Address::Tcp("127.0.0.1:0".into()))?;
    let address = listener.address()?;
    let relay = relay(&address, shape)?;
    relay.take_off(own);
    let direct = (Stream::connect(&address)?, listener.accept()?);
    let through = (Stream::connect(relay.address())?, listener.accept()?);
    let clock = WallClock::new();
    let mut took = [Vec::new(), Vec::new()];
    for turn in 0..2 * turns {
        let (near, far) = if turn % 2 == 0 { &direct } else { &through };
        let (mut from, to) = if turn % 4 < 2 { (near, far) } else { (far, near) };
        if !pause.is_zero() {
            std::thread::sleep(pause);
        }
        let begun = clock.now();
        from.write_all(&[7; 64])?;
        read_awake(to, 64)?;
        took[turn % 2].push(clock.now() - begun);
    }
    Ok(took.map(typical))
}

/// Reads so many bytes without a sleep.
fn read_awake(from: &Stream, bytes: usize) -> Result<()> {
    let (mut room, mut left) = ([0; 64], bytes);
    while left > 0 {
        match from.read_now(&mut room) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => left = left.saturating_sub(read),
            // On a machine of one core the relay has it meanwhile.
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::yield_now(),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The median, without the first ones, which find threads that were never awake.
fn typical(mut took: Vec<Nanos>) -> Nanos {
    took.drain(..took.len() / 10);
    took.sort_unstable();
    took[took.len() / 2]
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
