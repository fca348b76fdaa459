//! From a description to a machine in virtual time.
//!
//! The one idea: a model file says what a machine is, a trial says how much of it takes part; the stations are those of the
//! kind. A kind that has only a closed form answers rows and no study.

use crate::file::Description;
use crate::kind::{Happens, Setting, Unbuilt};
use crate::machine::Machine;

/// How many modules a study can load at most; none when no study runs on this kind. Of a flash device, as many as the
/// room for their state holds.
pub fn modules(description: &Description) -> Option<u32> {
    description.with_values(|kind, values| kind.modules(values))
}

/// Bytes of a module, where the description says so.
pub fn module_bytes(description: &Description) -> Option<u64> {
    description.with_values(|kind, values| kind.module_bytes(values))
}

/// What can happen to a machine of which so many modules take part at most, while it is loaded; see [`Machine::happen`].
pub fn happenings(description: &Description, modules: u32) -> Happens {
    description.with_values(|kind, values| kind.happens(values, modules))
}

/// Whether parts of a machine are lost from the beginning.
pub fn loses(description: &Description) -> bool {
    description.with_values(|_, values| {
        ["failed_paths", "failed_controllers", "failed_modules", "failed_channels", "suspended"]
            .iter()
            .any(|lost| values.get(lost) > Some(0.0))
    })
}

/// Whether a machine carries transactions; storage carries operations.
pub fn transactions(description: &Description) -> bool {
    description.kind.carries_transactions()
}

/// The machine of a description, at rest.
///
/// # Errors
/// When its kind has no stations, not so many modules, or not so many bytes in one; and for parts that cannot be.
pub fn machine(description: &Description, setting: &Setting) -> Result<Box<dyn Machine>, Unbuilt> {
    description.with_values(|kind, values| kind.machine(&description.name, values, setting))
}

#[path = "tests/arrays.rs"]
#[cfg(test)]
mod arrays;
#[cfg(test)]
mod tests;
