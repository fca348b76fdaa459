//! Runs trials: brings a system into its state, drives the load, and hands back observations.
//!
//! The one idea: the loop between load, system and recorder is written once (`hot::drive`), and compiled for each kind of
//! load, work and port. Real time and simulated time differ only in the port. No folder knows one above it, from `hot` over
//! `worker`, `port`, `database` and `target` to `trial` and `selftest`.
//!
//! What it does not do: it plans nothing, judges nothing, stores nothing and prints nothing. It is the only room with
//! unsafe code: rings, buffers and a few system calls without a safe wrapper.

mod database;
mod error;
mod hot;
mod observer;
mod port;
mod sample;
mod selftest;
mod target;
mod told;
mod trial;
mod worker;

pub use crate::database::checks::hold as hold_ledger;
pub use crate::database::databases::data_set;
pub use crate::database::mirrored::STARTED_AS_LOST;
pub use crate::database::sessions::made_ready;
pub use error::{OpenError, TrialError};
pub use observer::{Found, Live, Observer, Phase, Unobserved};
pub use port::alone::measure_alone;
pub use port::simulated::described::Described;
pub use port::uring::allowed as ring_allowed;
pub use selftest::ceiling::measure_ceiling;
pub use selftest::client_cost::{ClientCost, measure_client_cost};
pub use selftest::models::measure_models;
pub use target::backing::Need;
pub use target::opened::Opened;
pub use told::Happens;
pub use trial::left::{Held, Left, hold_left};
pub use trial::run::run_trial;
