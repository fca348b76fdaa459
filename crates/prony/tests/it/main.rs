//! The whole program from outside: one binary, driven through its arguments, judged by what it prints and by its exit code.
//!
//! Most tests use a scripted system on a simulated clock, so that they are exact and fast; a few load real files.

mod assess;
mod bank;
mod brokerage;
mod by_clock;
mod claims;
mod compare;
mod crash;
mod cuts;
mod cycles;
mod database_errors;
mod database_full;
mod described;
mod device;
mod devices;
mod disk_full;
mod dropped;
mod emulate;
mod errors;
mod folders;
mod help;
mod house;
mod imagined;
mod key_value;
mod layouts;
mod models;
mod outage;
mod passwords;
mod privilege;
mod profiles;
mod program;
mod reading;
mod reference;
mod runs;
mod schema;
mod shapes;
mod simulated;
mod small;
mod stop;
mod studies;
mod tier;
mod verify;
mod warehouse;
mod wrong;
