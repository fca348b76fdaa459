//! The whole program from outside: one binary, driven through its arguments, judged by what it prints and by its exit code.
//!
//! Most tests use a scripted system on a simulated clock, so that they are exact and fast; a few load real files.

mod brokerage;
mod compare;
mod crash;
mod database_errors;
mod device;
mod disk_full;
mod errors;
mod help;
mod house;
mod outage;
mod program;
mod reading;
mod reference;
mod runs;
mod schema;
mod stop;
mod studies;
