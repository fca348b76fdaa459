//! A device that is not there: a folder mounted through FUSE, whose reads, writes and flushes take as long as those of a model.
//!
//! The one idea: the machine that answers `model:` in virtual time is driven by the wall clock here. A request is carried out on
//! the backing folder at once, and answered when the machine says that it is done.
//!
//! What it does not do: names, sizes and rights pass through to the folder and take no time of the model. What was
//! acknowledged survives the end of this program, not of the machine: the backing folder is not flushed.

mod answered;
mod claim;
mod clockwork;
mod files;
mod home;
mod mount;
mod mounts;
mod operations;
mod place;
mod tiered;
mod tree;
mod volatile;
mod way;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use claim::EXTENTS;
pub use home::{Abandoned, Home};
pub use mount::{MountError, Mounted, Settings, is_short};
pub use mounts::{Spared, answers, detached, has_power, heat, inflict, is_device, is_mounted, unmounted};
pub use tiered::{Goes, NoRule, Rule, Tiering};
pub use way::{Measured, measure};

/// What several threads share: one that panicked leaves it as it was, because each change is whole before the lock is given back.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
