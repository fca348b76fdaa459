//! What the wire of a pair costs itself, beside another relay: a round trip, what it carries, and how exact a delay is.
//!
//! The one idea: direct, through ours and through the other take turns over the same echo, so that what a relay adds is a difference of
//! one run. What a delay is off by is timed one way, by one thread that holds both ends.

use crate::{Settings, prony, row};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Round trips of each, in turns.
const TRIPS: usize = 2_000;

/// Bytes of a stream.
const STREAM: usize = 1 << 30;

/// A relay that ends when it is dropped.
struct Relay(Child);

impl Drop for Relay {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port()
}

fn ours(to: u16, path: &str) -> (Relay, u16) {
    let port = free_port();
    let mut command = prony::command();
    command.args(["link", "--listen", &format!("127.0.0.1:{port}"), "--to", &format!("127.0.0.1:{to}")]);
    command.args(["--path", path]);
    (started(command), port)
}

fn theirs(to: u16) -> Option<(Relay, u16)> {
    let port = free_port();
    Command::new("socat").arg("-V").stdout(Stdio::null()).status().ok()?;
    let mut command = Command::new("socat");
    command.arg("-b262144").arg(format!("TCP-LISTEN:{port},bind=127.0.0.1,reuseaddr,fork,nodelay"));
    command.arg(format!("TCP:127.0.0.1:{to},nodelay"));
    Some((started(command), port))
}

fn started(mut command: Command) -> Relay {
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let relay = Relay(child.unwrap_or_else(|error| panic!("{command:?}: {error}")));
    // Ours measures its own way first.
    std::thread::sleep(Duration::from_millis(800));
    relay
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream.set_nodelay(true).expect("no delay");
    stream
}

/// Somebody who serves each connection on a thread of its own.
fn far_end(serve: fn(TcpStream)) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let _ = stream.set_nodelay(true);
            std::thread::spawn(move || serve(stream));
        }
    });
    port
}

fn echo(mut stream: TcpStream) {
    let mut room = [0; 64];
    while let Ok(read @ 1..) = stream.read(&mut room) {
        if stream.write_all(&room[..read]).is_err() {
            return;
        }
    }
}

fn swallow(mut stream: TcpStream) {
    let mut room = vec![0; 1 << 20];
    while let Ok(1..) = stream.read(&mut room) {}
    let _ = stream.write_all(&[1]);
}

/// Medians of round trips over each port in turns, microseconds.
fn trips(ports: &[u16], count: usize) -> Vec<f64> {
    let mut streams: Vec<TcpStream> = ports.iter().map(|port| connect(*port)).collect();
    let mut took = vec![Vec::with_capacity(count); ports.len()];
    for turn in 0..count {
        for (stream, took) in streams.iter_mut().zip(&mut took) {
            let begun = Instant::now();
            stream.write_all(&[7; 64]).expect("sent");
            stream.read_exact(&mut [0; 64]).expect("answered");
            if turn >= count / 10 {
                took.push(begun.elapsed().as_secs_f64() * 1e6);
            }
        }
    }
    took.iter().map(|took| crate::median(took).0).collect()
}

/// Medians of one way directly and over a wire with such a delay, microseconds, with such a pause before each piece. One thread has both
/// ends and never sleeps while a piece is under way: how late whoever waits there wakes up is theirs.
fn one_way(delay: &str, count: usize, pause: Duration) -> [f64; 2] {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let to = listener.local_addr().expect("an address").port();
    let (_ours, port) = ours(to, delay);
    let pairs = [to, port].map(|port| {
        let near = connect(port);
        (near, listener.accept().expect("a connection").0)
    });
    let mut took = [Vec::new(), Vec::new()];
    for turn in 0..2 * count {
        let (near, far) = &pairs[turn % 2];
        let (mut from, mut to) = if turn % 4 < 2 { (near, far) } else { (far, near) };
        if !pause.is_zero() {
            std::thread::sleep(pause);
        }
        to.set_nonblocking(true).expect("reads do not wait");
        let begun = Instant::now();
        from.write_all(&[7; 64]).expect("sent");
        while to.read(&mut [0; 64]).is_err() {
            std::hint::spin_loop();
        }
        took[turn % 2].push(begun.elapsed().as_secs_f64() * 1e6);
        to.set_nonblocking(false).expect("writes wait");
    }
    took.map(|took| crate::median(&took[took.len() / 10..]).0)
}

/// Gigabytes a second of one stream to a port.
fn stream(port: u16) -> f64 {
    let mut stream = connect(port);
    let (begun, piece) = (Instant::now(), vec![7; 1 << 20]);
    (0..STREAM / piece.len()).for_each(|_| stream.write_all(&piece).expect("sent"));
    stream.shutdown(Shutdown::Write).expect("ended");
    stream.read_exact(&mut [0]).expect("all has come");
    STREAM as f64 / begun.elapsed().as_secs_f64() / 1e9
}

/// All of it.
pub fn measure(settings: &Settings) {
    println!("\na wire of `prony link` on loopback, 64 bytes there and back, beside socat with the same buffers");
    let (answers, eats) = (far_end(echo), far_end(swallow));
    let (_ours, port) = ours(answers, "");
    let other = theirs(answers);
    let ports: Vec<u16> = [answers, port].into_iter().chain(other.as_ref().map(|(_, port)| *port)).collect();
    let each: Vec<Vec<f64>> = (0..settings.pairs).map(|_| trips(&ports, TRIPS)).collect();
    let added = |at: usize| each.iter().map(|one| one[at] - one[0]).collect::<Vec<f64>>();
    row("added to a round trip", &added(1), "us", "15 at most");
    if other.is_some() {
        row("the same by socat", &added(2), "us", "");
    }
    let (_ours, port) = ours(eats, "");
    let other = theirs(eats);
    let rates = |port: u16| (0..settings.pairs).map(|_| stream(port)).collect::<Vec<f64>>();
    row("one stream", &rates(port), "GB/s", "2");
    if let Some((_socat, port)) = &other {
        row("the same through socat", &rates(*port), "GB/s", "");
    }
    row("the same with nothing between", &rates(eats), "GB/s", "");
    for (delay, asked) in [("delay=100us", 100.0), ("delay=500us", 500.0), ("km=100", 500.0), ("delay=5ms", 5_000.0)] {
        let count = (TRIPS as f64 * 100.0 / asked).max(50.0) as usize;
        for (when, pause) in [("that is awake", Duration::ZERO), ("that sleeps", Duration::from_micros(400))] {
            let each = (0..settings.pairs).map(|_| one_way(delay, count, pause));
            let over: Vec<f64> = each.map(|[direct, far]| (far - direct) / asked).collect();
            row(&format!("one way over {delay}, a relay {when}, over what was asked"), &over, "", "0.95 to 1.05");
        }
        let (_ours, port) = ours(answers, delay);
        let each = (0..settings.pairs).map(|_| trips(&[answers, port], count));
        let over: Vec<f64> = each.map(|one| (one[1] - one[0]) / (2.0 * asked)).collect();
        row(&format!("a round trip over {delay} between ends that sleep meanwhile"), &over, "", "");
    }
}
