//! A general array in virtual time: host, I/O processors, paths, controllers with caches, RAID, modules, and back.
//!
//! The one idea: an operation is at one part at a time, and a part says when it will be done. Behind the controllers one
//! operation becomes several, which share its slot and are counted down. Work that nobody waits for (destaging, rebuilding)
//! has slots of its own and passes the same modules in a class of its own.
//!
//! What it does not do: it moves no data, so that a cache hit is drawn by its ratio; wear and cleaning inside a module are the
//! matter of the devices.

mod array;
mod back;
mod cache;
mod changes;
mod front;
mod paths;
mod spec;

#[path = "tests/faults.rs"]
#[cfg(test)]
mod faults;
#[path = "tests/laws.rs"]
#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

pub use array::General;

pub use changes::Change;
pub use paths::Policy;
pub(crate) use spec::spec;
pub use spec::{Cache, Modules, Rebuild, Spec, SpecError};
