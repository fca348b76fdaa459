//! How a worker reaches a system: one file for each way.

pub(crate) mod alone;
mod attempt;
pub(crate) mod blocking;
pub(crate) mod buffers;
pub(crate) mod connections;
pub(crate) mod files;
pub(crate) mod reconnect;
pub(crate) mod session;
pub(crate) mod simulated;
#[cfg(test)]
mod tests;
pub(crate) mod uring;
