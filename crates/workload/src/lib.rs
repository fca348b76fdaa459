//! What is asked of a system: workloads as pure data and functions.
//!
//! The one idea: operation `k` of a module is a function of (seed, stream, module, k), so that the same study asks for
//! the same operations on every machine and nothing is kept for each one.
//!
//! What it does not do: it opens no file and reads no clock; drivers carry its operations out.

pub mod block;
pub mod brokerage;
pub mod files;
mod operation;
pub mod rows;
pub mod sql;
pub mod table;
pub mod transaction;

pub use operation::{Operation, OperationKind};
