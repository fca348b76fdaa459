//! Findings made by hand: plausible enough to look at, different enough to catch a number in the wrong place.

#![allow(dead_code, unused_imports, reason = "tests and the example each use a part")]

mod build;
mod distinct;
mod flash;
mod house;
mod quick;
mod wide;

pub use build::{At, Seen, about, point, word};
pub use distinct::{distinct, renamed};
pub use flash::flash;
pub use house::house;
pub use quick::quick;
pub use wide::{comparison, wide};
