//! One point of an experiment on one system: a variant of its streams and a level of each factor.
//!
//! The one idea: a point answers "what is key K for stream S here?", and a trial is made of nothing but such answers.
//!
//! What it does not do: it knows no replicate, no order and no seed.

use crate::SystemSpec;
use crate::definition::WorkloadKind;
use crate::experiment::{Chosen, Experiment, StreamChoice, SystemChoice, find};
use crate::key::Group;
use crate::keys;
use crate::value::Value;
use observation::{Factor, Level};
use reading::{Origin, Problems};
use units::{Bytes, Nanos, PerSecond, Share};

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
    pub fn setting(&self, name: &str, stream: usize) -> Option<(usize, &'a Chosen)> {
        let own = &self.streams[stream];
        let layers = [&own.settings, &self.experiment.settings, &own.workload_settings, &self.experiment.defaults];
        let below = || {
            let level = self.level(name, &own.name).map(|level| (FACTOR, level));
            let layer =
                || layers.into_iter().enumerate().find_map(|(i, l)| find(l, name).map(|chosen| (STREAM + i, chosen)));
            level.or_else(layer).or_else(|| self.system_setting(name))
        };
        match find(&self.experiment.set, name) {
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
        let own = |name| self.setting(name, stream).is_some();
        let can = match self.streams[stream].kind {
            WorkloadKind::Block => !own("outstanding"),
            kind => kind.transactions() && !own("users"),
        };
        self.experiment.search.is_some() && can && !own("rate")
    }

    fn level(&self, name: &str, stream: &str) -> Option<&'a Chosen> {
        let factors = self.experiment.factors.iter().zip(self.levels);
        let mut found = None;
        for (factor, level) in factors.filter(|(factor, _)| factor.key.name == name) {
            match &factor.stream {
                Some(own) if own == stream => return factor.levels.get(*level),
                Some(_) => {}
                None => found = factor.levels.get(*level),
            }
        }
        found
    }

    fn system_setting(&self, name: &str) -> Option<(usize, &'a Chosen)> {
        let group = keys::find(name).map(|key| key.group);
        if group == Some(Group::System) {
            find(&self.system.settings, name).map(|chosen| (SYSTEM, chosen))
        } else {
            None
        }
    }

    /// The value of a key, its default included; none where the default follows from something else.
    pub fn value(&self, name: &str, stream: usize) -> Option<Value> {
        match self.setting(name, stream) {
            Some((_, chosen)) => Some(chosen.value.clone()),
            None => keys::find(name).and_then(|key| key.kind.parse(key.default).ok()),
        }
    }

    /// Where the value of a key was written.
    pub fn origin(&self, name: &str, stream: usize) -> Origin {
        self.setting(name, stream).map_or(self.experiment.at.clone(), |(_, chosen)| chosen.at.clone())
    }

    /// A problem with the value of a key.
    pub fn refuse(&self, name: &str, stream: usize, message: impl Into<String>, problems: &mut Problems) {
        let key = format!("{}.{name}", self.experiment.name);
        problems.add(&self.origin(name, stream), &key, message);
    }

    pub fn count(&self, name: &str, stream: usize) -> Option<u64> {
        match self.value(name, stream)? {
            Value::Count(count) => Some(count),
            _ => None,
        }
    }

    pub fn flag(&self, name: &str, stream: usize) -> bool {
        matches!(self.value(name, stream), Some(Value::Flag(true)))
    }

    pub fn word(&self, name: &str, stream: usize) -> &'static str {
        match self.value(name, stream) {
            Some(Value::Word(word)) => word,
            _ => "",
        }
    }

    pub fn text(&self, name: &str, stream: usize) -> String {
        match self.value(name, stream) {
            Some(Value::Text(text)) => text,
            _ => String::new(),
        }
    }

    pub fn share(&self, name: &str, stream: usize) -> Share {
        match self.value(name, stream) {
            Some(Value::Share(share)) => share,
            _ => Share(0.0),
        }
    }

    pub fn size(&self, name: &str, stream: usize) -> Option<Bytes> {
        match self.value(name, stream)? {
            Value::Bytes(size) => Some(size),
            _ => None,
        }
    }

    pub fn time(&self, name: &str, stream: usize) -> Option<Nanos> {
        match self.value(name, stream)? {
            Value::Duration(time) => Some(time),
            _ => None,
        }
    }

    pub fn rate(&self, name: &str, stream: usize) -> Option<PerSecond> {
        match self.value(name, stream)? {
            Value::Rate(rate) => Some(rate),
            _ => None,
        }
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

/// A chosen value as the level of a label.
pub(crate) fn level_of(chosen: &Chosen) -> Level {
    match chosen.value.number() {
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
