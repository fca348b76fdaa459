//! What the generator itself can do and costs, measured on systems that do nothing.

pub(crate) mod ceiling;
pub(crate) mod client_cost;
pub(crate) mod models;
