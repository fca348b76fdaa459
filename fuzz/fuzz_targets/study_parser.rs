//! Feeds `study_parser` with whatever the fuzzer thinks of.
#![no_main]

#[path = "../tests/study_parser.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| body::study_parser(bytes));
