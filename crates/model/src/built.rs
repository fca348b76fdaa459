//! From a description to a machine in virtual time.
//!
//! The one idea: a model file says what a machine is, a trial says how much of it takes part; the stations are those of the
//! kind. A kind that has only a closed form answers rows and no study.

use crate::array::{Array, Path};
use crate::file::Description;
use crate::kind::{Kind, Values};
use crate::machine::Machine;
use crate::queue::Queue;

/// How much of a machine takes part in a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Modules that are loaded, from 1.
    pub modules: u32,
    /// Operations outstanding at most.
    pub slots: u32,
    /// Of every random draw.
    pub seed: u64,
}

/// Why a description is no machine that a study can run on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unbuilt {
    /// It has no stations.
    #[error("the model `{name}` is a {kind}, which has laws and no stations: it answers rows, and no study runs on it")]
    Closed {
        /// The model.
        name: String,
        /// Its kind.
        kind: &'static str,
    },
    /// More modules than it has.
    #[error("the model `{name}` has {has} modules, got {asked}")]
    Modules {
        /// The model.
        name: String,
        /// What it has.
        has: u32,
        /// What was asked for.
        asked: u32,
    },
}

/// How many modules a study can load at most; none when no study runs on this kind.
pub fn modules(description: &Description) -> Option<u32> {
    match description.kind {
        Kind::FlashArray => description.parameter("modules").map(|modules| modules.value as u32),
        Kind::QueueDevice => Some(1),
        _ => None,
    }
}

/// The machine of a description, at rest.
///
/// # Errors
/// When its kind has no stations, or not so many modules.
pub fn machine(description: &Description, setting: &Setting) -> Result<Box<dyn Machine>, Unbuilt> {
    let (name, kind) = (description.name.clone(), description.kind.word());
    match modules(description) {
        None => return Err(Unbuilt::Closed { name, kind }),
        Some(has) if setting.modules > has => return Err(Unbuilt::Modules { name, has, asked: setting.modules }),
        Some(_) => {}
    }
    let numbers = description.numbers();
    let values = Values::new(description.kind.asks(), &numbers);
    Ok(match description.kind {
        Kind::FlashArray => Box::new(Array::new(Path::of(&values), setting.modules, setting.slots)),
        Kind::QueueDevice => Box::new(Queue::new(&values, setting.slots, setting.seed)),
        _ => return Err(Unbuilt::Closed { name, kind }),
    })
}

#[cfg(test)]
mod tests;
