//! Feeds `row_reader` with whatever the fuzzer thinks of.
#![no_main]

#[path = "../tests/row_reader.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::row_reader(bytes));
