//! Real sockets through a relay: every byte, in order, whatever happens to the paths.

use super::*;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::mpsc::channel;

const FREE: &str = "127.0.0.1:0";

fn tcp() -> Address {
    Address::Tcp(FREE.into())
}

/// Somebody who sends back all that comes, with a mark when it ends.
fn echo() -> Address {
    let listener = Listener::bind(&tcp()).expect("a port");
    let address = listener.address().expect("an address");
    std::thread::spawn(move || {
        while let Ok(stream) = listener.accept() {
            std::thread::spawn(move || {
                let mut room = vec![0; 1 << 16];
                while let Ok(read @ 1..) = { &stream }.read(&mut room) {
                    let _ = { &stream }.write_all(&room[..read]);
                }
                let _ = { &stream }.write_all(b"end");
            });
        }
    });
    address
}

fn relay(paths: &[&str], failover: Nanos) -> Relay {
    let paths = paths.iter().map(|path| Wire::parse(path).expect("a path")).collect();
    let settings = Settings { listen: tcp(), to: echo(), paths, choice: Choice::Priority, failover, seed: 5 };
    Relay::unmeasured(&settings).expect("a relay")
}

fn bytes(many: usize) -> Vec<u8> {
    (0..many).map(|at| (at * 31 + at / 251) as u8).collect()
}

/// What comes back for `sent`, after the shape was changed by `meanwhile` in the middle.
fn sent_back(relay: &Relay, sent: &[u8], meanwhile: impl FnOnce() + Send) -> Vec<u8> {
    let stream = Stream::connect(relay.address()).expect("a connection");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (first, second) = sent.split_at(sent.len() / 2);
            { &stream }.write_all(first).expect("the first half");
            // The kernel takes what nobody serves yet.
            while relay.told().1[0].0 == 0 {
                sleep(Duration::from_millis(1));
            }
            meanwhile();
            { &stream }.write_all(second).expect("the second half");
            stream.end(Shutdown::Write);
        });
        let mut back = Vec::new();
        { &stream }.read_to_end(&mut back).expect("an answer");
        back
    })
}

#[test]
fn every_byte_comes_in_order_whatever_the_path_becomes_meanwhile() {
    let sent = bytes(3_000_000);
    for (path, then) in [
        ("", ""),
        ("tls=on", ""),
        ("tls=on delay=1ms", "tls=on capacity=500MB/s"),
        ("delay=1ms jitter=1ms", ""),
        ("", "delay=2ms capacity=500MB/s"),
        ("capacity=200MB/s", ""),
    ] {
        let relay = relay(&[path], Nanos::ZERO);
        let back = sent_back(&relay, &sent, || relay.shape(0, Wire::parse(then).expect("a path")));
        assert!(
            back.len() == sent.len() + 3 && back.starts_with(&sent) && back.ends_with(b"end"),
            "{path} then {then}"
        );
        let [there, back] = relay.told().1.map(|(bytes, _)| bytes);
        let records = path.contains("tls");
        let is = |bytes: u64, wanted: usize| match records {
            true => bytes > wanted as u64 && bytes < wanted as u64 * 101 / 100,
            false => bytes == wanted as u64,
        };
        assert!(is(there, sent.len()) && is(back, sent.len() + 3), "{path}: {there} and {back}");
    }
}

#[test]
fn a_cut_link_is_silent_and_a_healed_one_brings_all_that_was_sent() {
    let (relay, sent) = (relay(&[""], Nanos::ZERO), bytes(100_000));
    let (cut, heals) = channel();
    let back = std::thread::scope(|scope| {
        let healing = &relay;
        scope.spawn(move || {
            heals.recv().expect("the cut");
            sleep(Duration::from_millis(50));
            // The far end has no part of the second half yet.
            assert!(healing.told().1[1].0 <= 50_000);
            healing.carry(0, [true, true]);
        });
        sent_back(&relay, &sent, || {
            relay.carry(0, [false, false]);
            cut.send(()).expect("who heals");
        })
    });
    assert!(back.starts_with(&sent) && back.ends_with(b"end"));
}

#[test]
fn a_connection_goes_on_over_the_second_path_when_the_first_is_cut() {
    let (relay, sent) = (relay(&["delay=1ms", "delay=2ms"], Nanos::from_millis(20)), bytes(1_000_000));
    let back = sent_back(&relay, &sent, || relay.carry(0, [false, false]));
    assert!(back.starts_with(&sent) && back.ends_with(b"end"));
}

#[test]
fn a_reset_ends_both_ends_and_new_connections_are_taken() {
    let relay = relay(&["delay=1ms"], Nanos::ZERO);
    let stream = Stream::connect(relay.address()).expect("a connection");
    { &stream }.write_all(b"hello").expect("written");
    { &stream }.read_exact(&mut [0; 5]).expect("the echo");
    relay.reset();
    assert!(matches!({ &stream }.read(&mut [0; 9]), Ok(0) | Err(_)));
    assert!(sent_back(&relay, b"again", || ()).starts_with(b"again"));
}

#[test]
fn who_breaks_off_is_seen_to_break_off_and_not_to_end() {
    let listener = Listener::bind(&tcp()).expect("a port");
    let (paths, choice) = (vec![Wire::parse("delay=1ms").expect("a path")], Choice::Priority);
    let to = listener.address().expect("an address");
    let settings = Settings { listen: tcp(), to, paths, choice, failover: Nanos::ZERO, seed: 5 };
    let relay = Relay::unmeasured(&settings).expect("a relay");
    let near = Stream::connect(relay.address()).expect("a connection");
    let far = listener.accept().expect("the relay");
    { &near }.write_all(b"half of it").expect("written");
    { &far }.read_exact(&mut [0; 10]).expect("what was sent");
    near.break_off();
    drop(near);
    let seen = { &far }.read(&mut [0; 9]).map_err(|error| error.kind());
    assert_eq!(seen, Err(std::io::ErrorKind::ConnectionReset));
}

#[test]
fn a_file_that_has_the_name_of_the_socket_stays_what_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("precious");
    std::fs::write(&path, "mine").expect("a file");
    let refused = Listener::bind(&Address::Unix(path.clone())).err().expect("a refusal");
    assert!(refused.to_string().contains("no socket"), "{refused}");
    assert_eq!(std::fs::read_to_string(&path).expect("the file"), "mine");
}

#[test]
fn nobody_behind_the_relay_ends_the_connection() {
    let nobody = Listener::bind(&tcp()).expect("a port").address().expect("an address");
    let (paths, choice) = (vec![Wire::default()], Choice::Priority);
    let settings = Settings { listen: tcp(), to: nobody, paths, choice, failover: Nanos::ZERO, seed: 5 };
    let relay = Relay::unmeasured(&settings).expect("a relay");
    let stream = Stream::connect(relay.address()).expect("a connection");
    assert!(matches!({ &stream }.read(&mut [0; 9]), Ok(0) | Err(_)));
}

#[test]
fn a_relay_whose_socket_was_removed_ends_all_the_same() {
    let path = std::env::temp_dir().join(format!("prony-link-removed-{}", std::process::id()));
    let listen = Address::Unix(path.clone());
    let paths = vec![Wire::default()];
    let settings = Settings { listen, to: echo(), paths, choice: Choice::Priority, failover: Nanos::ZERO, seed: 5 };
    let relay = Relay::unmeasured(&settings).expect("a relay");
    std::fs::remove_file(&path).expect("its socket");
    drop(relay);
    assert!(!path.exists());
}
