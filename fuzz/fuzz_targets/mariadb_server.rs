//! Feeds `mariadb_server` with whatever the fuzzer thinks of.
#![no_main]

#[path = "../tests/mariadb_server.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::mariadb_server(bytes));
