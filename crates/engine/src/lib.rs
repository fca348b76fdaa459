//! Runs trials: brings a system into its state, drives the load, and hands back observations.
//!
//! The one idea: the loop between load, system and recorder is written once (`drive`), and compiled for each pair of
//! load and road. Real time and simulated time differ only in the road.
//!
//! What it does not do: it plans nothing, judges nothing, stores nothing and prints nothing. It is the only room with
//! unsafe code: rings, buffers and a few system calls without a safe wrapper.

mod aftermath;
mod again;
mod buffers;
mod ceiling;
mod client_cost;
mod costs;
mod counted;
mod cpu;
mod crew;
mod databases;
mod described;
mod described_sessions;
mod discard;
mod drive;
mod error;
mod file_steps;
mod fill;
mod gate;
mod lane;
mod muster;
mod observer;
mod opened;
mod page_cache;
mod pages;
mod plain;
mod pool;
mod profile;
mod reach;
mod ring;
mod scripts;
mod sessions;
mod simulate;
mod standing;
mod state;
mod stations;
mod tallies;
mod task;
mod thread;
mod trial;
mod wires;
mod worker;

pub use ceiling::measure_ceiling;
pub use client_cost::{ClientCost, measure_client_cost};
pub use databases::data_set;
pub use described::Described;
pub use error::{OpenError, TrialError};
pub use observer::{Live, Observer, Phase, Unobserved};
pub use opened::{Need, Opened};
pub use reach::{Reach, ReachUnit, measure_models};
pub use scripts::program as read_scripts;
pub use trial::run_trial;
