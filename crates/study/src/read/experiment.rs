//! The tables `[[experiment]]`.

use super::settings::{Tables, given, load, settings};
use super::tables_of;
use crate::definition::{
    ExperimentDefinition, FactorWith, Parameter, SearchDefinition, Setting, StreamDefinition, WorkloadDefinition,
};
use crate::experiment::LEVELS_MAX;
use crate::keys::{self, Group, Key, keys, phases};
use reading::{Entry, Form, Node, Placed, Problems, Section, known_names};

/// Reads all experiments.
pub(super) fn experiments(
    root: &mut Section,
    workloads: &[WorkloadDefinition],
    parameters: &[Parameter],
    problems: &mut Problems,
) -> Vec<ExperimentDefinition> {
    let Some(entry) = root.take("experiment") else {
        let hint = Some("add `[[experiment]]`".to_owned());
        problems.add_with(&root.at, "experiment", "at least one experiment, got none", hint);
        return Vec::new();
    };
    let reading = Reading { workloads, parameters };
    let mut list = Vec::new();
    for (i, node) in tables_of(entry, "experiment", problems).into_iter().enumerate() {
        let section = Section::of(format!("experiment {}", i + 1), node, problems);
        list.extend(section.and_then(|section| reading.experiment(section, problems)));
    }
    list
}

struct Reading<'a> {
    workloads: &'a [WorkloadDefinition],
    parameters: &'a [Parameter],
}

impl Reading<'_> {
    fn experiment(&self, mut section: Section, problems: &mut Problems) -> Option<ExperimentDefinition> {
        let at = section.at.clone();
        let placed = section.text("name", problems).filter(|placed| !placed.text.is_empty());
        if let Some(placed) = &placed {
            super::name(&placed.text, &placed.at, &section.key("name"), problems);
            section.prefix = format!("{}.", placed.text);
        } else {
            problems.add(&at, &section.key("name"), "a name, got nothing");
        }
        let question = section.text("question", problems).map(|placed| placed.text).unwrap_or_default();
        let streams = self.streams(&mut section, problems);
        let mut settings = settings(&mut section, Tables::Experiment, self.parameters, problems);
        settings.extend(load(&mut section, self.parameters, problems));
        let factors = self.factors(&mut section, &streams, problems);
        let when = self.when(&mut section, problems);
        let search = search(&mut section, problems);
        section.finish(&Tables::Experiment.names(), elsewhere, problems);
        Some(ExperimentDefinition { name: placed?.text, at, question, streams, settings, factors, when, search })
    }

    /// `workload = ".."` or a list sweeps; `streams = [{..}, ..]` runs at once.
    fn streams(&self, section: &mut Section, problems: &mut Problems) -> Vec<Vec<StreamDefinition>> {
        let at = section.at.clone();
        let swept = section.texts("workload", problems);
        let together = section.take("streams");
        let streams: Vec<Vec<StreamDefinition>> = match (swept, together) {
            (Some(names), None) => names.into_iter().map(|name| vec![alone(name)]).collect(),
            (None, Some(entry)) => vec![self.together(section, entry, problems)],
            (Some(_), Some(entry)) => {
                problems.add(&entry.at, &section.key("streams"), "either `workload` or `streams`, got both");
                return Vec::new();
            }
            (None, None) => Vec::new(),
        };
        if streams.iter().all(|set| set.is_empty()) {
            let message = "the name of a workload, a list of names, or `streams`, got nothing";
            problems.add(&at, &section.key("workload"), message);
        }
        for stream in streams.iter().flatten() {
            self.known_workload(&stream.workload, &section.key("workload"), problems);
        }
        streams
    }

    fn known_workload(&self, name: &Placed, key: &str, problems: &mut Problems) {
        let known = self.workloads.iter().map(|workload| workload.name.as_str());
        if !known.clone().any(|known| known == name.text) {
            let hint = known_names(&name.text, known);
            problems.add_with(&name.at, key, format!("the name of a workload, got `{}`", name.text), Some(hint));
        }
    }

    fn together(&self, section: &Section, entry: Entry, problems: &mut Problems) -> Vec<StreamDefinition> {
        let key = section.key("streams");
        let mut streams: Vec<StreamDefinition> = Vec::new();
        for node in tables_of(entry, &key, problems) {
            let at = node.at.clone();
            let Some(mut inner) = Section::of(&key, node, problems) else { continue };
            let stream = self.stream(&mut inner, problems);
            inner.finish(&Tables::Stream.names(), |name| Tables::Stream.elsewhere(name), problems);
            let Some(stream) = stream else { continue };
            if streams.iter().any(|earlier| earlier.name == stream.name) {
                problems.add(&at, &key, format!("every stream has a name of its own, got `{}` twice", stream.name));
            }
            streams.push(stream);
        }
        streams
    }

    fn stream(&self, inner: &mut Section, problems: &mut Problems) -> Option<StreamDefinition> {
        let workload = inner.text("workload", problems);
        let name = inner.text("name", problems);
        if let Some(placed) = &name {
            super::name(&placed.text, &placed.at, &inner.key("name"), problems);
        }
        let mut settings = settings(inner, Tables::Stream, self.parameters, problems);
        settings.extend(load(inner, self.parameters, problems));
        let Some(workload) = workload else {
            problems.add(&inner.at, &inner.key("workload"), "the name of a workload, got nothing");
            return None;
        };
        let name = name.map_or_else(|| workload.text.clone(), |placed| placed.text);
        Some(StreamDefinition { name, workload, settings })
    }

    fn factors(
        &self,
        section: &mut Section,
        streams: &[Vec<StreamDefinition>],
        problems: &mut Problems,
    ) -> Vec<FactorWith<Setting>> {
        let Some(entry) = section.take("factor") else { return Vec::new() };
        let Some(mut inner) = Section::of(section.key("factor"), entry.node, problems) else { return Vec::new() };
        let mut factors = Vec::new();
        for entry in inner.rest() {
            let name = inner.key(&entry.name);
            match entry.node.form {
                // `factor.queries.outstanding = [..]` varies the key of one stream.
                Form::Table(levels) => {
                    let stream = entry.name;
                    if !streams.iter().flatten().any(|known| known.name == stream) {
                        let known = streams.iter().flatten().map(|known| known.name.as_str());
                        let hint = known_names(&stream, known);
                        problems.add_with(&entry.at, &name, "the name of a stream", Some(hint));
                        continue;
                    }
                    for entry in levels {
                        let name = format!("{name}.{}", entry.name);
                        factors.extend(self.factor(Some(stream.clone()), name, entry, problems));
                    }
                }
                _ => factors.extend(self.factor(None, name, entry, problems)),
            }
        }
        factors
    }

    fn factor(
        &self,
        stream: Option<String>,
        full: String,
        entry: Entry,
        problems: &mut Problems,
    ) -> Option<FactorWith<Setting>> {
        let Some(key) = keys::find(&entry.name).filter(|key| varies(*key)) else {
            let known = keys().filter(|key| varies(*key)).map(|key| key.name());
            problems.add_with(&entry.at, &full, "a key that can be varied", Some(known_names(&entry.name, known)));
            return None;
        };
        let at = entry.node.at.clone();
        if stream.is_some() && matches!(key.group, Group::System | Group::State | Group::Phases) {
            problems.add(&entry.at, &full, "a key of a stream; this one belongs to the whole trial");
            return None;
        }
        let mut nodes = match entry.node.form {
            Form::List(nodes) => nodes,
            // One text may be a parameter that holds a list: `factor.width = "$widths"`.
            _ => vec![entry.node],
        };
        if nodes.is_empty() {
            problems.add(&at, &full, "a list of at least one level, got none");
        }
        if nodes.len() > LEVELS_MAX {
            problems.add(&at, &full, format!("a list of at most {LEVELS_MAX} levels, got {}", nodes.len()));
            nodes.truncate(1);
        }
        let levels: Vec<Setting> =
            nodes.into_iter().filter_map(|node| self.level(key, &full, node, problems)).collect();
        // Whatever it is called there, what is made of its levels goes by the key.
        let name = key.name();
        let name = stream.as_ref().map_or(name.to_owned(), |stream| format!("{stream}.{name}"));
        Some(FactorWith { name, stream, key, levels })
    }

    fn level(&self, key: Key, full: &str, node: Node, problems: &mut Problems) -> Option<Setting> {
        let at = node.at.clone();
        let given = problems.kept(&at, full, given(key, node, self.parameters))?;
        Some(Setting { key, given, at })
    }

    fn when(&self, section: &mut Section, problems: &mut Problems) -> Option<Placed> {
        let mut when = section.text("when", problems)?;
        let name = when.text.strip_prefix('$').unwrap_or_default().to_owned();
        let known = self.parameters.iter().map(|parameter| parameter.name.as_str());
        if !known.clone().any(|known| known == name) {
            let message = format!("`$` and the name of a parameter, got `{}`", when.text);
            problems.add_with(&when.at, &section.key("when"), message, Some(known_names(&name, known)));
            return None;
        }
        when.text = name;
        Some(when)
    }
}

/// A stream that has an experiment's trials to itself is called like its workload.
fn alone(workload: Placed) -> StreamDefinition {
    StreamDefinition { name: workload.text.clone(), workload, settings: Vec::new() }
}

/// Repeats are not a factor: they are what a factor's levels are compared with.
fn varies(key: Key) -> bool {
    !matches!(key.group, Group::Opening | Group::Placing | Group::Layout | Group::Mirror)
        && !key.is(&phases::REPLICATES)
        && !key.is(&phases::REPLICATES_MAX)
}

fn elsewhere(name: &str) -> Option<String> {
    let key = keys::find(name)?;
    Some(format!("`{}` stands in {}", key.name(), Tables::home(key.group)))
}

/// `search = { highest_rate = { p99 = "5 ms", from = "1k/s", to = "100k/s", step = "1k/s" } }`.
fn search(section: &mut Section, problems: &mut Problems) -> Option<SearchDefinition> {
    let entry = section.take("search")?;
    let at = entry.node.at.clone();
    let mut outer = Section::of(section.key("search"), entry.node, problems)?;
    let inner = outer.take("highest_rate");
    let missing = inner.is_none();
    outer.finish(&[], |_| None, problems);
    if missing {
        let message = "a search is `{ highest_rate = { p99 = \"5 ms\" } }`, got another table";
        problems.add(&at, &section.key("search"), message);
    }
    let mut inner = Section::of(section.key("search.highest_rate"), inner?.node, problems)?;
    let rate = |text: &str| {
        let rate = units::parse_rate(text).map_err(|e| e.to_string())?.0;
        if rate > 0.0 { Ok(rate) } else { Err(format!("a rate above 0 /s, got `{text}`")) }
    };
    let (from, to) = (inner.read("from", problems, rate), inner.read("to", problems, rate));
    let step = inner.read("step", problems, rate);
    let bound = bound(&mut inner, problems);
    inner.finish(&["p50", "p95", "p99", "p999"], |_| None, problems);
    if let (Some(from), Some(to)) = (from, to)
        && from >= to
    {
        let message = format!("`from` below `to`, got {} and {}", units::rate(from), units::rate(to));
        problems.add(&at, &section.key("search.highest_rate"), message);
    }
    let (quantile, bound) = bound?;
    let search = SearchDefinition { at, quantile, bound, from, to, step };
    if let (Some(to), Some(step)) = (to, step) {
        let most = to - search.lowest(to);
        if most > 0.0 && step > most {
            let (most, step) = (units::rate(most), units::rate(step));
            let message = format!("a step of at most `to` less `from`, {most}, got {step}");
            problems.add(&search.at, &section.key("search.highest_rate.step"), message);
        }
    }
    Some(search)
}

/// The bound on one quantile of response.
fn bound(inner: &mut Section, problems: &mut Problems) -> Option<(f64, units::Nanos)> {
    const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)];
    let quantile = |name: &str| QUANTILES.iter().find(|(known, _)| *known == name).map(|(_, quantile)| *quantile);
    let at = inner.at.clone();
    let mut taken = inner.take_all(quantile);
    if taken.len() != 1 {
        let message = format!("exactly one of `p50`, `p95`, `p99`, `p999` with a time, got {}", taken.len());
        problems.add(&at, &inner.key("p99"), message);
    }
    let (quantile, entry) = taken.pop()?;
    let key = inner.key(&entry.name);
    let text = match &entry.node.form {
        Form::Text(text) => text.clone(),
        _ => String::new(),
    };
    let bound = match units::parse_duration(&text) {
        Ok(bound) if bound.0 == 0 => Err(format!("a time above 0 s, got `{text}`")),
        read => read.map_err(|error| error.to_string()),
    };
    Some((quantile, problems.kept(&entry.node.at, &key, bound)?))
}
