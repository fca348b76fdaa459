//! The systems of a study: where the operations go.

use crate::{DatabaseSpec, Pairing};
use observation::{Footprint, SystemKind};
use std::fmt;
use units::{Bytes, Nanos, Share};
use workload::happening::{Happening, Mishap};

/// A system under test as the study, or `--on`, names it.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemSpec {
    /// The name used in trials and comparisons.
    pub name: String,
    /// What it is and where.
    pub place: Place,
    /// Size of each module that Prony makes; a device may be used in part.
    pub size: Option<Bytes>,
    /// Modules at most, where the system can offer as many as asked for; the planner needs no more than the largest level.
    pub modules: Option<u32>,
    /// What it takes to run, as the user states it.
    pub footprint: Footprint,
}

/// Where operations go.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// Scratch files that Prony makes in a folder, one a module; with several folders, the modules alternate.
    File {
        /// The folders.
        dirs: Vec<Folder>,
    },
    /// Block devices, one a module.
    Device {
        /// Paths as given; the identity is read from the open descriptor.
        paths: Vec<String>,
        /// Whether they are filled; else they are opened for reading only, and read as they are found.
        fill: bool,
    },
    /// Answers at once: measures the generator itself.
    Null,
    /// Replies after scripted times on a simulated clock.
    Scripted(ScriptSpec),
    /// A database.
    Database(DatabaseSpec),
    /// A described machine in virtual time.
    Model {
        /// The name of one that ships, or the path of a model file.
        model: String,
        /// What of it is otherwise than its file says: parameters, each with a number as text.
        changes: Vec<(String, String)>,
    },
}

/// A folder, which may be seen through a device that is not there.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Folder {
    /// Its path.
    pub path: String,
    /// The model of the device, with what of it is otherwise; none for the folder as it is.
    pub device: Option<String>,
    /// Whether everything that is read and written there reaches that device: the kernel keeps no pages of it.
    pub past_cache: bool,
}

impl Folder {
    /// A folder as it is.
    pub fn plain(path: impl Into<String>) -> Folder {
        Folder { path: path.into(), device: None, past_cache: false }
    }

    /// The folders of a list, as they are written: a comma stands between them, and in a model before what of it is otherwise.
    pub fn listed(text: &str) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for part in text.split(',').map(str::trim) {
            match all.last_mut().filter(|last| last.starts_with(EMULATED) && last.matches(':').count() < 2) {
                Some(last) => last.extend([",", part]),
                None => all.push(part.to_owned()),
            }
        }
        all
    }

    /// Reads a path, or `emulated:MODEL:DIR`.
    ///
    /// # Errors
    /// What it may be, then what was given.
    pub fn read(text: &str) -> Result<Folder, String> {
        let Some(rest) = text.strip_prefix(EMULATED) else { return Ok(Folder::plain(text)) };
        match rest.split_once(':') {
            Some((model, _)) if model.split(',').next() == Some(TIERED) => Err(format!(
                "a device of one folder, got `{text}`: a study mounts devices of one folder only; mount both tiers first with `prony emulate tiered --fast DIR --slow \
                 DIR --at MNT`, and say `file:MNT`"
            )),
            Some((model, path)) if !model.is_empty() && !path.is_empty() => {
                Ok(Folder { device: Some(model.to_owned()), ..Folder::plain(path) })
            }
            _ => Err(format!("`{EMULATED}MODEL:DIR`, such as `{EMULATED}disk-15k:/srv/slow`, got `{text}`")),
        }
    }
}

/// The device of two folders.
const TIERED: &str = "tiered";

/// What stands before the model of a folder on a device that is not there.
const EMULATED: &str = "emulated:";

impl fmt::Display for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.device {
            None => f.write_str(&self.path),
            Some(model) => write!(f, "{EMULATED}{model}:{}", self.path),
        }
    }
}

/// Folders as they are written.
pub fn folders_shown(dirs: &[Folder]) -> String {
    dirs.iter().map(Folder::to_string).collect::<Vec<_>>().join(", ")
}

impl Place {
    /// What may happen to it in a trial, as a database with a mirror that may go away.
    pub fn may_happen(&self) -> Vec<(String, u32)> {
        match self {
            Place::Database(spec) if spec.mirror.is_some() && spec.pairing != Pairing::TwoPhase => {
                let swaps = spec.layout.is_none() && spec.mirror_on.is_none();
                let all = Happening::of_pairs(spec.pairing == Pairing::Galera, spec.emulated(), swaps);
                // A subscriber lacks what is no row of its tables, and so takes nobody's place.
                let stays = |word: &str| match word.parse() {
                    Ok(Happening::Pair(mishap)) => !mishap.takes_primary() && mishap != Mishap::Swap,
                    _ => true,
                };
                all.into_iter().filter(|(word, _)| spec.published.is_none() || stays(word)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The word that stands in files and reports.
    pub fn word(&self) -> &'static str {
        match self {
            Place::File { .. } => SystemKind::File.word(),
            Place::Device { .. } => SystemKind::Device.word(),
            Place::Null => SystemKind::Null.word(),
            Place::Scripted(_) => SystemKind::Scripted.word(),
            Place::Database(spec) => spec.engine.word(),
            Place::Model { .. } => SystemKind::Model.word(),
        }
    }

    /// Whether time is simulated there, so that nothing real is touched.
    pub fn simulated(&self) -> bool {
        matches!(self, Place::Scripted(_) | Place::Model { .. })
    }

    /// Whether it holds data, which may need time to settle and may be checked; what answers by itself holds none.
    pub fn holds_data(&self) -> bool {
        match self {
            Place::File { .. } | Place::Device { .. } | Place::Database(_) => true,
            Place::Null | Place::Scripted(_) | Place::Model { .. } => false,
        }
    }
}

/// A model in words, with what is otherwise: `f5100 with failed_ports=2`.
pub fn model_shown(model: &str, changes: &[(String, String)]) -> String {
    let changes: Vec<String> = changes.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if changes.is_empty() { model.to_owned() } else { format!("{model} with {}", changes.join(", ")) }
}

/// How a scripted system behaves.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptSpec {
    /// Service times, used in turn, one an operation; none at all means no time.
    pub service: Vec<Nanos>,
    /// Operations served at once, at least one; more wait in order.
    pub servers: u32,
    /// Added service time for every byte moved, in nanoseconds.
    pub per_byte_ns: f64,
    /// Exponential spread: 0 keeps the times as written, 1 draws each from an exponential with that mean, and a share
    /// between spreads that share of the time.
    pub spread: Share,
    /// A pause of the whole system, that comes again and again.
    pub stall: Option<Stall>,
    /// Every n-th operation fails with an I/O error, after its time.
    pub fail_every: Option<u64>,
    /// Service times grow by this share each second of simulated time: drift.
    pub drift_per_s: f64,
}

/// A pause that comes again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// From the start of one pause to the start of the next.
    pub every: Nanos,
    /// How long it lasts, at the end of each period.
    pub lasts: Nanos,
}
