//! From the study file to the plan: what is asked, checked, and expanded into an ordered list of trials.
//!
//! The one idea: everything that a run will do is decided here, as values, before anything is touched. A study is
//! text with problems or a value without; a plan is a pure function of the study, the survey of the machine, and a seed.
//!
//! What it does not do: it opens no file and measures nothing. The survey is handed in, outcomes are handed back.

mod asked;
mod cpus;
mod database;
mod deadline;
mod definition;
mod draft;
mod experiment;
mod idle;
mod judge;
mod judgement;
mod keys;
mod label;
mod layout;
mod left_out;
mod measurable;
mod mirror;
mod mirroring;
mod mix;
mod opening;
mod order;
mod outcome;
mod overrides;
pub mod pairs;
pub mod password;
mod phases;
mod phrase;
mod placing;
mod plan;
mod planner;
mod point;
mod proof;
mod read;
mod refused;
mod resolve;
pub mod server_settings;
mod sessions;
mod shipped;
mod state;
mod stream;
mod study;
mod survey;
mod system;
mod target;
mod trial;
mod wire;

pub use asked::StorageAsked;
pub use cpus::{CpuSet, Cpus};
pub use database::{At, DatabaseSpec, Engine, Isolation, Protocol, Sessions};
pub use deadline::Deadline;
pub use definition::SearchDefinition;
pub use experiment::PROBES_MAX;
pub use judgement::{Direction, Judgement, Metric, Primary, RoundsEvidence, Selector, SteadyRule, Threshold};
pub use keys::phases::MEASURE_MAX;
pub use keys::{Group, Key, groups, keys};
pub use layout::{Layout, Moving, Tier, TierFolder, Way};
pub use mirror::{Mirrored, Pairing, Published, Spread, Voter, Waits};
pub use mix::class_targets;
pub use outcome::{Outcome, ResponseQuantiles};
pub use overrides::Overrides;
pub use pairs::PILOT;
pub use password::{Secret, without_password};
pub use plan::repeat::{Decision, Repeat};
pub use plan::search::{Answer, PASSES, Purpose, Search, Step};
pub use plan::{ASSUMED_BYTES_PER_S, Amount, Detectable, Estimated, Occasion, Plan, Written, plan, runnable};
pub use planner::Planner;
pub use proof::{BASELINE, Proof, ProofStep, layout_of};
pub use reading::{Problem, Problems};
pub use shipped::{Shipped, shipped};
pub use state::checkpoints_of;
pub use study::Study;
pub use survey::{DescribedKeys, Survey, SurveyedSystem};
pub use system::{Folder, Place, ScriptSpec, Stall, SystemSpec, folders_shown, model_shown};
pub use target::{model, parse as target};
pub use trial::{
    Access, Cache, Checkpoints, Driver, OnError, Operations, Phases, Pool, Precondition, Priority, PriorityClass,
    RING_MAX, State, Stream, SyncMode, Threads, Trial, Work,
};
pub use wire::{Aggressor, Wire, WireError};
pub use workload::Storage;
pub use workload::kind::{Class, Yield};
