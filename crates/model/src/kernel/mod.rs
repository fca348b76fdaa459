//! The event kernel: what happens when.

mod agenda;
#[cfg(test)]
pub(crate) mod tests;

pub use agenda::Agenda;
