//! Orders: read, refused, obeyed.

use super::*;
use crate::{Choice, Settings};
use std::sync::Arc;
use units::Nanos;

#[test]
fn orders_are_read_and_others_named() {
    assert_eq!(parse("cut"), Ok(Order::Cut(None)));
    assert_eq!(parse(" half-open 2\n"), Ok(Order::HalfOpen(Some(2))));
    assert_eq!(parse("shape 1 km=10"), Ok(Order::Shape(1, Wire::parse("km=10").expect("a path"))));
    for word in ["", "cut 0", "cut x", "heal now please", "shape", "reset 1", "burn"] {
        assert!(matches!(parse(word), Err(Unordered::Word(_))), "{word}");
    }
}

#[test]
fn a_relay_obeys_its_socket_and_tells_what_its_paths_do() {
    let home = tempfile::tempdir().expect("a folder");
    let listen = Address::Unix(home.path().join("link"));
    let paths = vec![Wire::default(); 2];
    let settings =
        Settings { to: listen.clone(), listen, paths, choice: Choice::Priority, failover: Nanos::ZERO, seed: 1 };
    let relay = Arc::new(Relay::unmeasured(&settings).expect("a relay"));
    let socket = home.path().join("orders");
    obey(&relay, &socket).expect("a socket");
    // Who says nothing keeps nobody else waiting for ever.
    let _silent = Stream::connect(&Address::Unix(socket.clone())).expect("a connection");
    let told = ask(&socket, "shape 2 km=10").expect("an answer");
    assert_eq!(told, "delay=0us\ttrue\ttrue\t0\ndelay=50us\ttrue\ttrue\t0\n0\t0\t0\t0\n");
    assert!(ask(&socket, "half-open 1").expect("an answer").starts_with("delay=0us\ttrue\tfalse\t0\n"));
    assert!(ask(&socket, "heal").expect("an answer").starts_with("delay=0us\ttrue\ttrue\t0\n"));
    assert_eq!(ask(&socket, "cut 3").expect_err("no third path").to_string(), "path 3: the link has 2");
    assert!(ask(&socket, "burn").expect_err("no order").to_string().starts_with("`burn` is no order"));
}
