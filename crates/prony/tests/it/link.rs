//! A wire between two programs.

use crate::program::Program;
use rustix::process::Signal;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

/// Somebody who sends back what one connection sends.
fn echo() -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut other = stream.try_clone().unwrap();
        std::io::copy(&mut stream, &mut other).unwrap();
    });
    address
}

#[test]
fn a_link_carries_what_comes_takes_orders_and_says_what_it_carried() {
    let program = Program::new();
    let socket = program.path("wire");
    let words = "--path 'km=10 capacity=100MB/s' --path delay=1ms --orders orders";
    let mut going = program.start(&format!("link --listen {} --to {} {words}", socket.display(), echo()));
    going.until("it wakes up", 1);
    let mut stream = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    let mut back = [0; 5];
    stream.write_all(b"hello").unwrap();
    stream.read_exact(&mut back).unwrap();
    assert_eq!(&back, b"hello");
    let told = program.json("link --orders orders --order 'cut 1' --json");
    assert_eq!(told["paths"][0]["there"], false, "{told}");
    assert_eq!(told["paths"][1]["shape"], "delay=1000us", "{told}");
    assert_eq!(told["back"]["bytes"], 5, "{told}");
    // It goes on over the second path.
    stream.write_all(b"again").unwrap();
    stream.read_exact(&mut back).unwrap();
    assert_eq!(&back, b"again");
    let told = program.fine("link --orders orders --order heal");
    assert!(told.starts_with("path 1  carries  delay=50us capacity=100MB/s  1 connections\n"), "{told}");
    going.signal(Signal::INT);
    let (code, told) = going.end();
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("carried 10 B in 2 pieces there and 10 B in 2 pieces back"), "{told}");
    assert_eq!(program.files(), [""; 0], "both sockets are gone");
}

#[test]
fn a_link_whose_words_say_nothing_or_whose_port_is_taken_is_refused() {
    let program = Program::new();
    assert!(program.refused("link").contains("say --listen and --to"));
    assert!(program.refused("link --listen here --to 127.0.0.1:1").contains("`here` is no address"));
    let wrong = program.refused("link --listen 127.0.0.1:0 --to 127.0.0.1:1 --path km=10,delay=1ms");
    assert!(wrong.contains("a path has `km` or `delay`, not both"), "{wrong}");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap();
    let told = program.refused(&format!("link --listen {port} --to 127.0.0.1:1"));
    assert!(told.contains(&format!("listening at `{port}`")) && told.contains("name a free port"), "{told}");
    let nobody = program.refused("link --orders missing --order tell");
    assert!(nobody.contains("telling the link at `missing`"), "{nobody}");
    drop(TcpStream::connect(port));
}

#[test]
fn what_a_link_costs_is_measured() {
    let told = Program::new().json("link --cost --json");
    assert!(told["bytes_per_second"].as_f64().unwrap() > 0.0 && told["delay_over_asked_100us"].is_number(), "{told}");
}
