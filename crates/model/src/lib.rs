//! Machines that nobody here owns: an event kernel, stations, and closed forms with the same parameters; parameters fitted
//! on rows, and predictions judged on others.
//!
//! The one idea: a model is a description with a unit and an origin for every number. Laws say how such machines work, rows
//! say how fast this one is, and rows that were never given say how wrong the answer was.
//!
//! What it does not do: it opens no file and reads no clock. Text goes in, values come out.

pub mod array;
mod asked;
mod built;
pub mod calibrate;
pub mod device;
pub mod file;
pub mod fit;
pub mod form;
pub mod judge;
pub mod kernel;
pub mod kind;
pub mod machine;
pub mod pair;
pub mod queue;
pub mod rows;
pub mod server;
mod shipped;
pub mod station;
pub mod taken;
pub mod tier;

pub use built::{happenings, loses, machine, module_bytes, modules, transactions};
pub use kind::{Setting, Unbuilt};
pub use shipped::{Shipped, models, tables};
