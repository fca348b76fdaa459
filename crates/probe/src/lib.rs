//! What the machine does while a trial runs, and what it is made of.
//!
//! The one idea: a reading is a set of raw counters with a time; every series is a pure function of two readings. So
//! recorded texts of `/proc` and `/sys` are the test input, and the files are kept open and read again in place, because
//! a probe that costs more than a millisecond disturbs what it watches.
//!
//! What it does not do: it reads no clock, and starts no thread but those that keep cores awake; the caller says when and names the time. What cannot
//! be observed yields no series: not observed is not zero.

pub mod cgroup;
mod cpu;
mod disk;
mod fingerprint;
mod generator;
mod idle;
mod memory;
mod power;
mod pressure;
mod probes;
mod quota;
mod reading;
mod scan;
mod source;
mod tree;

pub use disk::reads_below;
pub use fingerprint::fingerprint;
pub use generator::{cpu_time, thread_cpu_time, thread_waited_ns};
pub use idle::keep_awake;
pub use memory::memory_bytes;
pub use probes::Probes;
pub use quota::Quota;
pub use reading::{Reading, join, series_between};
