//! Whether what is printed is true, with few draws of the worlds that the program `truth` draws many of.

#[path = "../truth/mod.rs"]
mod truth;

mod coverage;
mod decisions;
