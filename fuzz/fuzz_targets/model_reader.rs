//! Feeds `model_reader` with whatever the fuzzer thinks of.
#![no_main]

#[path = "../tests/model_reader.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::model_reader(bytes));
