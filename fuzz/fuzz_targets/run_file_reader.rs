//! Feeds `run_file_reader` with whatever the fuzzer thinks of.
#![no_main]

#[path = "../tests/run_file_reader.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::run_file_reader(bytes));
