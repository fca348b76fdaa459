//! An experiment with parameters and overrides applied: what is swept, and the settings by layer.
//!
//! The one idea: a key's value is looked up through layers, from the command line down to the key's default, and the first
//! that has it wins. A factor's level is one of these layers, so that any key can be a factor.
//!
//! What it does not do: it makes no trial; see [`crate::point`].

use crate::definition::{FactorWith, SearchDefinition, SystemWith};
use crate::keys::Key;
use reading::{AnyKey, Domain, Origin};
use workload::{Interface, Row, block, rows};

/// Levels of a factor at most. Each is a trial or several, so that more would take days.
pub(crate) const LEVELS_MAX: usize = 1_000;

/// Trials of one search at most; twelve halve a grid of 4096 steps, the rest confirm.
pub const PROBES_MAX: u32 = 40;

/// A key with its value and where it was written.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub key: Key,
    /// As it was written; the key has accepted it.
    pub text: String,
    /// Its number in base units, where it has one.
    pub number: Option<f64>,
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
    pub kind: &'static Row,
    pub settings: Vec<Chosen>,
    pub workload_settings: Vec<Chosen>,
}

pub(crate) type FactorChoice = FactorWith<Chosen>;
pub(crate) type SystemChoice = SystemWith<Chosen>;

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
    /// Whether a key means anything to some stream of some variant.
    pub fn uses(&self, key: Key) -> bool {
        self.variants.iter().flatten().any(|stream| key.applies(stream.kind))
    }

    /// Whether a key has several levels.
    pub fn varies(&self, key: &dyn AnyKey) -> bool {
        self.factors.iter().any(|factor| factor.key.is(key) && factor.levels.len() > 1)
    }

    /// Whether every stream has a fixed amount of work, so that time follows from it.
    pub fn fixed_work(&self) -> bool {
        let bounded = |stream: &StreamChoice| {
            let layers = [&stream.settings, &self.settings, &stream.workload_settings, &self.defaults];
            let bounds: [&dyn AnyKey; 2] = [&block::keys::OPERATIONS, &rows::keys::TOTAL];
            let said = |key: &&dyn AnyKey| layers.into_iter().find_map(|layer| find(layer, *key));
            bounds.iter().filter_map(said).any(|chosen| chosen.number.is_some())
        };
        let fixed =
            |stream: &StreamChoice| stream.kind.interface == Interface::File || stream.kind.ends || bounded(stream);
        self.variants.iter().flatten().all(fixed)
    }

    /// How many points one replicate on one system has.
    pub fn point_count(&self) -> u64 {
        let levels = self.factors.iter().map(|factor| factor.levels.len() as u64);
        levels.fold(self.variants.len() as u64, u64::saturating_mul)
    }

    /// The value of an experiment-wide key, factors and streams aside, when somebody set it.
    pub fn general<F: Domain, D>(&self, key: &reading::Key<F, D>) -> Option<F::Value>
    where
        reading::Key<F, D>: AnyKey,
    {
        let chosen = [&self.set, &self.settings, &self.defaults].into_iter().find_map(|layer| find(layer, key));
        chosen.map(|chosen| key.value(&chosen.text))
    }
}

/// The last setting of that key, as a later `--set` beats an earlier one.
pub(crate) fn find<'a>(layer: &'a [Chosen], key: &dyn AnyKey) -> Option<&'a Chosen> {
    layer.iter().rev().find(|chosen| chosen.key.is(key))
}
