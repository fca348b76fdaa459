//! Systems under test: what can be loaded, how it is made, and when it must not be touched.
//!
//! The one idea: a driver sees every system through [`Port`], whether it is a ring of real I/O, a script on a simulated
//! clock, or nothing at all. Whether a device may be written is decided by a pure function over a recorded device tree.
//!
//! What it does not do: it measures no time of its own and runs no load.

pub mod beside;
mod blkid;
pub mod consent;
pub mod device;
mod existing;
pub mod file;
pub mod machine;
mod module;
pub mod mounts;
pub mod null;
mod port;
pub mod safety;
pub mod scripted;
pub mod signature;
pub mod stack;
pub mod survey;
pub mod text;
pub mod tree;

pub use module::{Access, Alignment, Module, ModuleError, ModuleKind, NotDirect, Trimmed};
pub use port::{Completion, Outcome, Port, PortError, StoragePort, TransactionPort, Wait};
