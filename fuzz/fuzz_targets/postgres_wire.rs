//! Feeds `postgres_wire` with whatever the fuzzer thinks of.
#![no_main]

#[path = "../tests/postgres_wire.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::postgres_wire(bytes));
