//! Feeds `postgres_server` with whatever the fuzzer thinks of.
#![no_main]

#[path = "../tests/lying_server.rs"]
mod body;
#[allow(dead_code, reason = "only for its messages")]
#[path = "../tests/postgres_wire.rs"]
mod postgres_wire;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::postgres_server(bytes));
