//! Quantities with their units: what a study file may write, and how every output prints it.
//!
//! The one idea: a number enters Prony with its unit and leaves with its unit. Between the two doors it is one of
//! the types here, so that nanoseconds cannot be added to bytes and a rate cannot be mistaken for a count.
//! Sizes are binary (`4 KiB` = 4096 bytes) or decimal (`4 kB` = 4000 bytes) exactly as written; nothing is guessed.
//!
//! What it does not do: it reads no file and knows no study.

mod format;
mod parse;
mod quantity;
mod shell;
mod words;

pub use format::{
    READABLE, bytes, bytes_per_second, capital, count, counted, duration, ends_as, first_bytes, in_unit_of,
    milliseconds, per_hour, per_second, percent, range, rate, ratio, significant, things_an_hour, two_digits,
};
pub use parse::{UnitError, parse_bytes, parse_count, parse_duration, parse_rate, parse_share};
pub use quantity::{Bytes, Nanos, PerSecond, Share};
pub use shell::for_shell;
