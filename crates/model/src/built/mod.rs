//! From a description to a machine in virtual time.
//!
//! The one idea: a model file says what a machine is, a trial says how much of it takes part; the stations are those of the
//! kind. A kind that has only a closed form answers rows and no study.

use crate::array::general::General;
use crate::array::{Array, Path};
use crate::device::disk::{self, Disk, Order};
use crate::device::flash::{self, Flash, Start};
use crate::file::Description;
use crate::kind::{Kind, Values};
use crate::machine::Machine;
use crate::pair::{Pair, PairPlan};
use crate::queue::Queue;
use crate::server::{Plan, Server};
use crate::tier::{Spec, Tiered};

/// How much of a machine takes part in a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Modules that are loaded, from 1.
    pub modules: u32,
    /// Operations outstanding at most.
    pub slots: u32,
    /// Of every random draw.
    pub seed: u64,
    /// Bytes of each module that operations go to, from its beginning.
    pub module_bytes: u64,
}

/// Why a description is no machine that a study can run on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
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
    /// More bytes of a module than it holds.
    #[error("a module of the model `{name}` holds {}, got a size of {}; set a smaller `size`", size(*has), size(*asked))]
    Bytes {
        /// The model.
        name: String,
        /// What it holds.
        has: u64,
        /// What was asked for.
        asked: u64,
    },
    /// Too much state.
    #[error("simulating the model `{name}` takes {}, at most {}; describe fewer dies or smaller blocks", size(*takes), size(*room))]
    Large {
        /// The model.
        name: String,
        /// Bytes that it takes.
        takes: u64,
        /// Bytes that there are.
        room: u64,
    },
    /// A pair of which nobody said how large it is.
    #[error(
        "the model `{name}` says no cores: at least one, got `source_cores` 0; say it in the file, or ask for {name},source_cores=16"
    )]
    Cores {
        /// The model.
        name: String,
    },
    /// A flash device that cannot be.
    #[error("building the model `{name}`")]
    Flash {
        /// The model.
        name: String,
        /// Why.
        source: flash::Refused,
    },
    /// A disk that cannot be.
    #[error("building the model `{name}`")]
    Disk {
        /// The model.
        name: String,
        /// Why.
        source: disk::Refused,
    },
    /// Parts that nobody can build.
    #[error("the model `{name}` cannot be built: {why}")]
    Parts {
        /// The model.
        name: String,
        /// What is wrong with them.
        why: String,
    },
}

fn size(bytes: u64) -> String {
    units::bytes(units::Bytes(bytes))
}

/// Disks of a study: each takes little.
const DISKS: u32 = 4_096;

/// How many modules a study can load at most; none when no study runs on this kind. Of a flash device, as many as the
/// room for their state holds.
pub fn modules(description: &Description) -> Option<u32> {
    let numbers = description.numbers();
    let values = Values::new(description.kind.asks(), &numbers);
    match description.kind {
        Kind::FlashArray => Some((values.of("modules") - values.of("failed_modules")) as u32),
        Kind::Array => Some(values.of("groups") as u32),
        Kind::QueueDevice => Some(1),
        Kind::FlashDevice => Some(flash::Shape::most(&values)),
        Kind::Disk => Some(DISKS),
        Kind::Tiered => Some(1),
        _ => None,
    }
}

/// Bytes of a module, where the description says so.
pub fn module_bytes(description: &Description) -> Option<u64> {
    let numbers = description.numbers();
    let values = Values::new(description.kind.asks(), &numbers);
    match description.kind {
        Kind::FlashDevice => Some(flash::Shape::of(&values, 1).capacity_bytes),
        Kind::Disk => Some(disk::Shape::of(&values, Order::Nearest).capacity()),
        Kind::Tiered => {
            let spec = Spec::of(&values);
            Some(u64::from(spec.extents) * spec.extent_bytes)
        }
        _ => None,
    }
}

/// Whether a machine carries transactions; storage carries operations.
pub fn transactions(description: &Description) -> bool {
    matches!(description.kind, Kind::FlashServer | Kind::DiskServer | Kind::MirroredPair)
}

/// The machine of a description, at rest.
///
/// # Errors
/// When its kind has no stations, not so many modules, or not so many bytes in one; and for parts that cannot be.
pub fn machine(description: &Description, setting: &Setting) -> Result<Box<dyn Machine>, Unbuilt> {
    let (name, kind) = (description.name.clone(), description.kind.word());
    match modules(description) {
        None if !transactions(description) => return Err(Unbuilt::Closed { name, kind }),
        Some(has) if setting.modules > has => return Err(Unbuilt::Modules { name, has, asked: setting.modules }),
        _ => {}
    }
    if let Some(has) = module_bytes(description).filter(|has| setting.module_bytes > *has) {
        return Err(Unbuilt::Bytes { name, has, asked: setting.module_bytes });
    }
    let numbers = description.numbers();
    let values = Values::new(description.kind.asks(), &numbers);
    Ok(match description.kind {
        Kind::FlashArray => Box::new(Array::new(Path::of(&values), setting.modules, setting.slots)),
        Kind::Array => Box::new(
            General::of(&values, setting.slots, setting.seed)
                .map_err(|error| Unbuilt::Parts { name, why: error.to_string() })?,
        ),
        Kind::QueueDevice => Box::new(Queue::new(&values, setting.slots, setting.seed)),
        Kind::Tiered => Box::new(Tiered::new(Spec::of(&values), setting.slots, setting.seed)),
        Kind::MirroredPair => {
            let plan = PairPlan::described(&values).ok_or(Unbuilt::Cores { name })?;
            Box::new(Pair::new(plan, setting.slots, setting.seed))
        }
        Kind::FlashDevice => Box::new(flash_devices(name, &values, setting)?),
        Kind::Disk => Box::new(
            Disk::of(&values, Order::Nearest, setting.modules, setting.slots)
                .map_err(|source| Unbuilt::Disk { name, source })?,
        ),
        Kind::FlashServer => Box::new(Server::new(&Plan::on_flash(&values), setting.slots, setting.seed)),
        Kind::DiskServer => Box::new(Server::new(&Plan::on_disks(&values), setting.slots, setting.seed)),
        _ => return Err(Unbuilt::Closed { name, kind }),
    })
}

/// Devices that hold what the study asks for, and whose other blocks are erased.
fn flash_devices(name: String, values: &Values, setting: &Setting) -> Result<Flash, Unbuilt> {
    let (takes, room) = flash::Shape::room(values);
    if takes > room {
        return Err(Unbuilt::Large { name, takes, room });
    }
    let start = Start::Rested(flash::Shape::of(values, setting.modules).used(setting.module_bytes));
    Flash::of(values, start, setting.modules, setting.slots, setting.seed)
        .map_err(|source| Unbuilt::Flash { name, source })
}

#[cfg(test)]
mod arrays;
#[cfg(test)]
mod tests;
