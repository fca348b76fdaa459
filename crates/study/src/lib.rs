//! From the study file to the plan: what is asked, checked, and expanded into an ordered list of trials.
//!
//! The one idea: everything that a run will do is decided here, as values, before anything is touched. A study is
//! text with problems or a value without; a plan is a pure function of the study, the survey of the machine, and a seed.
//!
//! What it does not do: it opens no file and measures nothing. The survey is handed in, outcomes are handed back.

mod judgement;
mod system;
mod trial;

pub use judgement::{Direction, Judgement, Metric, Primary, RoundsEvidence, Selector, SteadyRule, Threshold};
pub use system::{Consent, Place, ScriptSpec, Stall, SystemSpec};
pub use trial::{
    Access, Cache, Driver, Phases, Precondition, Priority, PriorityClass, State, Stream, SyncMode, Trial, Workload,
};
