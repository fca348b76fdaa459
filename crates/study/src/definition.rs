//! The study as it is written: every table of the file as a value, checked one by one, with the place of each value.
//!
//! The one idea: nothing is resolved here. Which setting wins, which experiment is on and what a primary metric refers to
//! depends on what is given on the command line, so that is decided from this value, again for every set of overrides.
//!
//! What it does not do: it reads no text; see [`crate::read`] for that.

use crate::deadline::DeadlineDefinition;
use crate::keys::Key;
use crate::proof::ProofDefinition;
use crate::{SteadyRule, SystemSpec};
use observation::SYSTEMS_MAX;
use reading::{Origin, Placed, Problems};
use workload::Row;

/// Refuses more systems than a run can tell apart.
pub(crate) fn too_many_systems(count: usize, problems: &mut Problems) -> bool {
    let too_many = count > SYSTEMS_MAX;
    if too_many {
        let message = format!("at most {SYSTEMS_MAX} systems in a study, got {count}");
        problems.add(&Origin::Whole, "system", message);
    }
    too_many
}

/// A study file.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub name: String,
    pub title: String,
    pub question: String,
    pub primary: Option<Placed>,
    pub baselines: Vec<Placed>,
    pub margin: f64,
    pub confidence: f64,
    pub fail_if: Vec<Placed>,
    pub allow_inconclusive: bool,
    pub steady: SteadyRule,
    pub deadline: Option<DeadlineDefinition>,
    pub proof: Option<ProofDefinition>,
    pub parameters: Vec<Parameter>,
    pub systems: Vec<SystemWith<Setting>>,
    pub layouts: Vec<LayoutDefinition>,
    pub workloads: Vec<WorkloadDefinition>,
    pub defaults: Vec<Setting>,
    pub experiments: Vec<ExperimentDefinition>,
}

/// A name that the command line may give a value to.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub name: String,
    pub default: String,
}

/// A system with the settings that belong to it, as they are written or as they were chosen.
#[derive(Clone, Debug)]
pub(crate) struct SystemWith<S> {
    pub spec: SystemSpec,
    pub settings: Vec<S>,
}

/// A layout of the study's own.
#[derive(Clone, Debug)]
pub(crate) struct LayoutDefinition {
    pub name: String,
    pub settings: Vec<Setting>,
}

/// A workload.
#[derive(Clone, Debug)]
pub(crate) struct WorkloadDefinition {
    pub name: String,
    pub kind: &'static Row,
    pub settings: Vec<Setting>,
}

/// A key with a value, or with the name of the parameter that gives it.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub key: Key,
    pub given: Given,
    pub at: Origin,
}

/// What a setting holds.
#[derive(Clone, Debug)]
pub(crate) enum Given {
    /// How a value was written, and its number where it has one.
    Value(String, Option<f64>),
    /// `$name`: the text is the parameter's.
    Parameter(String),
}

/// An experiment.
#[derive(Clone, Debug)]
pub(crate) struct ExperimentDefinition {
    pub name: String,
    pub at: Origin,
    pub question: String,
    pub streams: Vec<Vec<StreamDefinition>>,
    pub settings: Vec<Setting>,
    pub factors: Vec<FactorWith<Setting>>,
    pub when: Option<Placed>,
    pub search: Option<SearchDefinition>,
}

/// One stream. The outer list of an experiment is swept, the inner one runs at once.
#[derive(Clone, Debug)]
pub(crate) struct StreamDefinition {
    pub name: String,
    pub workload: Placed,
    pub settings: Vec<Setting>,
}

/// A factor: a key, possibly of one stream only, and its levels, as they are written or as they were chosen.
#[derive(Clone, Debug)]
pub(crate) struct FactorWith<S> {
    /// As it appears in labels and `--set`: the key, or `STREAM.KEY`.
    pub name: String,
    pub stream: Option<String>,
    pub key: Key,
    pub levels: Vec<S>,
}

/// The search for the highest rate that holds a bound.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchDefinition {
    /// Where it was written.
    pub(crate) at: Origin,
    /// Which quantile of response: 0.99.
    pub quantile: f64,
    /// What it must not exceed.
    pub bound: units::Nanos,
    /// Lowest rate that is tried, operations a second; a twentieth of the top when not given.
    pub from: Option<f64>,
    /// Highest rate that is tried; the peak of a closed load, measured first, when not given.
    pub to: Option<f64>,
    /// Distance of neighbouring rates; a fiftieth of the top when not given.
    pub step: Option<f64>,
}

impl SearchDefinition {
    /// The lowest rate that is tried when `top` is the highest.
    pub(crate) fn lowest(&self, top: f64) -> f64 {
        self.from.unwrap_or(top / 20.0).min(top)
    }
}
