//! One point of an experiment on one system: a variant of its streams and a level of each factor.
//!
//! The one idea: a point answers "what is key K for stream S here?", and a trial is made of nothing but such answers.
//!
//! What it does not do: it knows no replicate, no order and no seed.

use crate::SystemSpec;
use crate::experiment::{Chosen, Experiment, FactorChoice, StreamChoice, SystemChoice, find};
use crate::keys::{Group, load};
use observation::{Factor, Level};
use reading::key::Default;
use reading::{AnyKey, Domain, Is, Key, Origin, Problems, Settings};
use workload::Interface;

/// Ranks of the layers in which a key is looked up, the closest to the command line first.
const SET: usize = 0;
/// A level of a factor.
pub(crate) const FACTOR: usize = 1;
/// The first of stream, experiment, workload and `[defaults]`.
const STREAM: usize = 2;
/// `[defaults]`.
pub(crate) const DEFAULTS: usize = 5;
const SYSTEM: usize = 6;

/// A point on a system.
#[derive(Clone, Copy)]
pub(crate) struct Point<'a> {
    pub experiment: &'a Experiment,
    pub streams: &'a [StreamChoice],
    /// Place of the level of each factor.
    pub levels: &'a [usize],
    pub system: &'a SystemChoice,
}

impl<'a> Point<'a> {
    /// The setting of a key for a stream, with the rank of its layer: the lower, the closer to the command line.
    /// None when only the default is left.
    pub fn setting(&self, key: &dyn AnyKey, stream: usize) -> Option<(usize, &'a Chosen)> {
        let own = &self.streams[stream];
        let layers = [&own.settings, &self.experiment.settings, &own.workload_settings, &self.experiment.defaults];
        let below = || {
            let level = self.level(key, &own.name).map(|level| (FACTOR, level));
            let layer =
                || layers.into_iter().enumerate().find_map(|(i, l)| find(l, key).map(|chosen| (STREAM + i, chosen)));
            level.or_else(layer).or_else(|| self.system_setting(key))
        };
        match find(&self.experiment.set, key) {
            None => below(),
            // A `--set` for all experiments leaves alone what the study ties to a parameter.
            Some(set) => match below() {
                Some((rank, chosen)) if chosen.by_parameter && !set.narrowed => Some((rank, chosen)),
                _ => Some((SET, set)),
            },
        }
    }

    /// Whether a search chooses the rate of this stream: a stream with a load of its own is the background of one.
    pub fn searched(&self, stream: usize) -> bool {
        let own = |key: &dyn AnyKey| self.setting(key, stream).is_some();
        let can = match self.streams[stream].kind.interface {
            Interface::Block => !own(&load::OUTSTANDING),
            Interface::Database => !own(&load::USERS),
            Interface::File => false,
        };
        self.experiment.search.is_some() && can && !own(&load::RATE)
    }

    fn level(&self, key: &dyn AnyKey, stream: &str) -> Option<&'a Chosen> {
        let factors = self.experiment.factors.iter().zip(self.levels);
        let mut found = None;
        for (factor, level) in factors.filter(|(factor, _)| factor.key.is(key)) {
            match &factor.stream {
                Some(own) if own == stream => return factor.levels.get(*level),
                Some(_) => {}
                None => found = factor.levels.get(*level),
            }
        }
        found
    }

    fn system_setting(&self, key: &dyn AnyKey) -> Option<(usize, &'a Chosen)> {
        let chosen = find(&self.system.settings, key)?;
        (chosen.key.group == Group::System).then_some((SYSTEM, chosen))
    }

    /// The value of a key, or its default.
    pub fn get<F: Domain>(&self, key: &Key<F, Is>, stream: usize) -> F::Value {
        self.given(key, stream).unwrap_or_else(|| key.by_default())
    }

    /// The value of a key when somebody set it.
    pub fn given<F: Domain, D: Default>(&self, key: &Key<F, D>, stream: usize) -> Option<F::Value> {
        self.setting(key, stream).map(|(_, chosen)| key.value(&chosen.text))
    }

    /// The text of a key and its number, its default included; none where the default follows from something else.
    pub fn shown(&self, key: &dyn AnyKey, stream: usize) -> Option<(&'a str, Option<f64>)> {
        match self.setting(key, stream) {
            Some((_, chosen)) => Some((chosen.text.as_str(), chosen.number)),
            None => key.check(key.default()).ok().map(|number| (key.default(), number)),
        }
    }

    /// Where the value of a key was written.
    pub fn origin(&self, key: &dyn AnyKey, stream: usize) -> Origin {
        self.setting(key, stream).map_or(self.experiment.at.clone(), |(_, chosen)| chosen.at.clone())
    }

    /// A problem with the value of a key.
    pub fn refuse(&self, key: &dyn AnyKey, stream: usize, message: impl Into<String>, problems: &mut Problems) {
        let name = format!("{}.{}", self.experiment.name, key.name());
        problems.add(&self.origin(key, stream), &name, message);
    }

    /// The factors with their levels, in the order of the study.
    pub fn factors(&self) -> Vec<Factor> {
        let factors = self.experiment.factors.iter().zip(self.levels);
        factors
            .map(|(factor, level)| Factor { name: factor.name.clone(), level: level_of(&factor.levels[*level]) })
            .collect()
    }

    /// The system.
    pub fn spec(&self) -> &'a SystemSpec {
        &self.system.spec
    }
}

/// A stream of a point, as the reader of its workload sees it.
pub(crate) struct StreamSettings<'a, 'p> {
    pub point: &'a Point<'a>,
    pub stream: usize,
    pub problems: &'p mut Problems,
}

impl Settings for StreamSettings<'_, '_> {
    fn text(&self, key: &dyn AnyKey) -> Option<&str> {
        self.point.setting(key, self.stream).map(|(_, chosen)| chosen.text.as_str())
    }

    fn most(&self, key: &dyn AnyKey) -> Option<f64> {
        let name = &self.point.streams[self.stream].name;
        let own = |factor: &&FactorChoice| factor.key.is(key) && factor.stream.as_ref().is_none_or(|of| of == name);
        let levels = self.point.experiment.factors.iter().filter(own).flat_map(|factor| &factor.levels);
        let set = self.point.setting(key, self.stream).map(|(_, chosen)| chosen);
        levels.chain(set).filter_map(|chosen| chosen.number).reduce(f64::max)
    }

    fn refuse(&mut self, key: &dyn AnyKey, message: String) {
        self.point.refuse(key, self.stream, message, self.problems);
    }
}

/// A chosen value as the level of a label.
pub(crate) fn level_of(chosen: &Chosen) -> Level {
    match chosen.number {
        Some(value) => Level::Number { value, text: chosen.text.clone() },
        None => Level::Word(chosen.text.clone()),
    }
}

/// Every combination of levels, the last factor changing fastest.
pub(crate) fn combinations(experiment: &Experiment) -> Vec<Vec<usize>> {
    let mut list: Vec<Vec<usize>> = vec![Vec::new()];
    for factor in &experiment.factors {
        let longer = |levels: &Vec<usize>| {
            (0..factor.levels.len()).map(|level| levels.iter().copied().chain([level]).collect()).collect::<Vec<_>>()
        };
        list = list.iter().flat_map(longer).collect();
    }
    list
}
