//! The engine on what is real: rings, files, threads; and on a script, where every number is known beforehand.

mod bench;
mod classes;
mod damage;
mod real;
mod refusals;
mod simulated;
mod watched;
