//! An experiment with parameters and overrides applied: what is swept, and the settings by layer.
//!
//! The one idea: a key's value is looked up through layers, from the command line down to the key's default, and the first
//! that has it wins. A factor's level is one of these layers, so that any key can be a factor.
//!
//! What it does not do: it makes no trial; see [`crate::point`].

use crate::SystemSpec;
use crate::definition::{SearchDefinition, WorkloadKind};
use crate::key::{Group, Key};
use crate::value::Value;
use reading::Origin;

/// A key with its value, its text and where it was written.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub key: &'static Key,
    pub value: Value,
    pub text: String,
    pub at: Origin,
    /// The value came through a parameter; a `--set` of the key that names no experiment leaves it alone.
    pub by_parameter: bool,
    /// A `--set` that names this experiment.
    pub narrowed: bool,
}

/// A stream of an experiment.
#[derive(Clone, Debug)]
pub(crate) struct StreamChoice {
    pub name: String,
    pub workload: String,
    pub kind: WorkloadKind,
    pub settings: Vec<Chosen>,
    pub workload_settings: Vec<Chosen>,
}

/// A factor with its levels.
#[derive(Clone, Debug)]
pub(crate) struct FactorChoice {
    pub name: String,
    pub stream: Option<String>,
    pub key: &'static Key,
    pub levels: Vec<Chosen>,
}

/// A system with the settings that belong to it.
#[derive(Clone, Debug)]
pub(crate) struct SystemChoice {
    pub spec: SystemSpec,
    pub settings: Vec<Chosen>,
}

/// One sweep.
#[derive(Clone, Debug)]
pub(crate) struct Experiment {
    pub name: String,
    pub at: Origin,
    pub question: String,
    /// Swept over the outer list; the inner streams run at once.
    pub variants: Vec<Vec<StreamChoice>>,
    pub factors: Vec<FactorChoice>,
    pub settings: Vec<Chosen>,
    pub defaults: Vec<Chosen>,
    pub set: Vec<Chosen>,
    pub search: Option<SearchDefinition>,
}

impl Experiment {
    /// Whether a key means anything to a stream.
    pub fn applies(key: &Key, kind: WorkloadKind) -> bool {
        match (key.group, kind) {
            (Group::Block | Group::System, kind) => kind == WorkloadKind::Block,
            (Group::Files, kind) => kind == WorkloadKind::Files,
            (Group::Brokerage, kind) => kind == WorkloadKind::Brokerage,
            (Group::Sql, kind) => kind == WorkloadKind::Sql,
            (Group::Rows, kind) => kind == WorkloadKind::Rows,
            (Group::Session, kind) => kind.transactions(),
            (Group::Load, WorkloadKind::Block) => !matches!(key.name, "sessions" | "users"),
            // A job is a session: there is nobody to share it.
            (Group::Load, WorkloadKind::Rows) if key.name == "users" => false,
            (Group::Load, kind) => kind.transactions() && !matches!(key.name, "outstanding" | "per" | "slots"),
            // It is asked of a system, whatever the workloads.
            (Group::Opening, _) => false,
            (Group::Access, WorkloadKind::Files) => matches!(key.name, "direct" | "sync" | "pin" | "priority"),
            (Group::Access, WorkloadKind::Block) | (Group::Phases, _) => true,
            (Group::Access, _) => matches!(key.name, "pin" | "pacing"),
            (Group::State, kind) if kind.transactions() => matches!(key.name, "state" | "checkpoints" | "settle"),
            (Group::State, _) => !matches!(key.name, "state" | "checkpoints"),
        }
    }

    /// Whether a key means anything to some stream of some variant.
    pub fn uses(&self, key: &Key) -> bool {
        self.variants.iter().flatten().any(|stream| Experiment::applies(key, stream.kind))
    }

    /// Whether every stream has a fixed amount of work, so that time follows from it.
    pub fn fixed_work(&self) -> bool {
        let bounded = |stream: &StreamChoice| {
            let layers = [&stream.settings, &self.settings, &stream.workload_settings, &self.defaults];
            let operations = layers.into_iter().find_map(|layer| find(layer, "operations"));
            operations.is_some_and(|chosen| matches!(chosen.value, Value::Count(_)))
        };
        let fixed = |stream: &StreamChoice| stream.kind == WorkloadKind::Files || bounded(stream);
        self.variants.iter().flatten().all(fixed)
    }

    /// How many points one replicate on one system has.
    pub fn point_count(&self) -> u64 {
        let levels = self.factors.iter().map(|factor| factor.levels.len() as u64);
        levels.fold(self.variants.len() as u64, u64::saturating_mul)
    }

    /// The value of an experiment-wide key, factors and streams aside.
    pub fn general(&self, name: &str) -> Option<&Chosen> {
        [&self.set, &self.settings, &self.defaults].into_iter().find_map(|layer| find(layer, name))
    }
}

/// The last setting of that key, as a later `--set` beats an earlier one.
pub(crate) fn find<'a>(layer: &'a [Chosen], name: &str) -> Option<&'a Chosen> {
    layer.iter().rev().find(|chosen| chosen.key.name == name)
}
