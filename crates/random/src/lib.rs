//! Random numbers: seeds, finalisers and draws.
//!
//! The one idea: a run has one seed, and every number that it draws follows from that seed and from what the number is for,
//! on every machine and in every later version. The generator is therefore written here and pinned by tests, and logarithms
//! come from `libm`, because those of the C library differ in the last digit from machine to machine.
//!
//! There are two ways to draw. [`Draws`] is a sequence: one number after the other, for whoever keeps a place in it. A [`Lane`]
//! draws by number: draw `k` is a function of the lane and of `k`, so that any worker can draw any `k` and all agree. Both are
//! SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
//!
//! What it does not do: it is no source of secrets, and it does not choose a seed.

mod draws;
mod lane;
mod permutation;
mod zipf;

pub use draws::{Draws, GOLDEN, below, fraction, mix, uniform};
pub use lane::{Chance, Lane};
pub use permutation::Permutation;
pub use zipf::Zipf;
