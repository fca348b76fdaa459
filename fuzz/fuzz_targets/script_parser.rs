//! Feeds `script_parser` with whatever the fuzzer thinks of.
#![no_main]

#[path = "../tests/script_parser.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::script_parser(bytes));
