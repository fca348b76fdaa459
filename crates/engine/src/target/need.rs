//! What a plan needs of a system before its first trial.

use crate::port::simulated::described::Described;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use units::Bytes;

/// What the plan needs of a system.
#[derive(Clone, Debug)]
pub struct Need<'a> {
    /// The largest number of modules that any trial uses; 0 when only folders are needed (`files`).
    pub modules: u32,
    /// Size of each module.
    pub module_bytes: Bytes,
    /// The run, for the names of scratch folders.
    pub run_id: &'a str,
    /// Seed of the run; part of every stamp.
    pub seed: u64,
    /// Leave scratch files behind, and name them.
    pub keep: bool,
    /// Consents to destroy what devices hold.
    pub consents: &'a [system::consent::Consent],
    /// Where data sets and private servers of databases are kept.
    pub cache_dir: &'a Path,
    /// The description of a model, read by whoever may open files; none for every other kind.
    pub model: Option<&'a Described>,
    /// Ends every wait for a database when it becomes true.
    pub stop: &'a Arc<AtomicBool>,
}
