//! From the texts of a study to its judgement: primary metric, baseline, thresholds.
//!
//! The one idea: a name that the study itself does not have is a problem; a level that only the command line took away is
//! a note, because the rest of the run is still worth having.
//!
//! What it does not do: it judges nothing; analysis does.

use crate::definition::Definition;
use crate::experiment::{Experiment, SystemChoice};
use crate::keys::phases::ROUND;
use crate::keys::state::SPREAD;
use crate::overrides::Overrides;
use crate::phrase::{self, Names, Phrase};
use crate::resolve::Resolved;
use crate::{Judgement, Metric, Mirrored, Place, Primary, Selector, Spread, Threshold, proof};
use reading::{Origin, Problems, known_names, listed};
use units::Nanos;

/// The judgement of a study, with notes on what the overrides took away.
pub(crate) fn judgement(
    definition: &Definition,
    overrides: &Overrides,
    resolved: &mut Resolved,
    problems: &mut Problems,
) -> Judgement {
    let reader = Reader { definition, overrides, resolved };
    let mut notes = Vec::new();
    let primary = reader.primary(&mut notes, problems);
    let thresholds = reader.thresholds(&mut notes, problems);
    let baseline = reader.baseline(&mut notes, problems);
    if definition.proof.as_ref().is_some_and(|table| !table.is_promised()) {
        notes.push(
            "a run asks for the advice first, and measures a layout for each of its steps beside this one".to_owned(),
        );
    }
    resolved.notes.extend(notes);
    let proof = definition.proof.as_ref().map(|table| proof::resolved(table, &resolved.systems));
    Judgement {
        primary,
        baseline,
        other_baselines: definition.baselines.iter().skip(1).map(|placed| placed.text.clone()).collect(),
        margin: definition.margin,
        confidence: definition.confidence,
        thresholds,
        steady: definition.steady,
        deadline: resolved.deadline,
        asks_deadline: definition.deadline.is_some(),
        proof,
        mirrored: mirrored(resolved),
        storage: Vec::new(),
        points: Vec::new(),
        rounds: rounds(resolved),
        allow_inconclusive: definition.allow_inconclusive,
        planned: None,
        unfinished: false,
    }
}

/// The systems that have a mirror.
fn mirrored(resolved: &Resolved) -> Vec<Mirrored> {
    let both = resolved.experiments.iter().any(|one| one.general(&SPREAD).is_some_and(|spread| spread != Spread::One));
    let of = |system: &SystemChoice| {
        let Place::Database(spec) = &system.spec.place else { return None };
        let (pairing, apart, published) = (spec.pairing, spec.mirror_on.is_some(), spec.published.is_some());
        Some(Mirrored { system: system.spec.name.clone(), pairing, waits: spec.mirror?, apart, published, both })
    };
    resolved.systems.iter().filter_map(of).collect()
}

/// The rounds that experiments state.
fn rounds(resolved: &Resolved) -> Vec<(String, Nanos)> {
    let stated = |experiment: &Experiment| Some((experiment.name.clone(), experiment.general(&ROUND)?));
    resolved.experiments.iter().filter_map(stated).collect()
}

struct Reader<'a> {
    definition: &'a Definition,
    overrides: &'a Overrides,
    resolved: &'a Resolved,
}

impl Reader<'_> {
    fn names(&self) -> Names<'_> {
        let workloads = self.definition.workloads.iter().map(|workload| workload.name.as_str());
        let named = self.definition.experiments.iter().flat_map(|experiment| experiment.streams.iter().flatten());
        let named = named.filter(|stream| workloads.clone().any(|known| known == stream.workload.text));
        let mut streams: Vec<&str> = Vec::new();
        for name in workloads.clone().chain(named.map(|stream| stream.name.as_str())) {
            if !streams.contains(&name) {
                streams.push(name);
            }
        }
        Names { streams, experiments: self.definition.experiments.iter().map(|e| e.name.as_str()).collect() }
    }

    fn primary(&self, notes: &mut Vec<String>, problems: &mut Problems) -> Option<Primary> {
        let placed = self.definition.primary.as_ref()?;
        let read = phrase::metric(&placed.text, problems.has_run)
            .and_then(|(metric, rest)| phrase::place(rest, &self.names()).map(|phrase| (metric, phrase)));
        let (metric, phrase) = problems.kept(&placed.at, "primary", read)?;
        if metric.counts() {
            let message =
                format!("a metric that systems are compared by, got `{}`; bound it with fail_if", metric.word());
            problems.add(&placed.at, "primary", message);
            return None;
        }
        let selector = self.one(&phrase, "primary", &placed.text, &placed.at, notes, problems)?;
        Some(Primary { metric, selector })
    }

    /// The one selector of a phrase that must mean one experiment.
    fn one(
        &self,
        phrase: &Phrase,
        key: &str,
        text: &str,
        at: &Origin,
        notes: &mut Vec<String>,
        problems: &mut Problems,
    ) -> Option<Selector> {
        let mut found = phrase::matches(phrase, &self.resolved.experiments, &self.resolved.systems);
        match found.len() {
            0 if self.overrides.leaves_all() => {
                problems.add(at, key, format!("something that the study measures, got `{text}`"));
                None
            }
            0 => self.nearby(phrase, key, text, notes),
            1 => found.pop().map(|(_, selector)| selector),
            _ => {
                let names = listed(found.iter().map(|(experiment, _)| experiment.name.as_str()));
                let hint = Some(format!("add `in EXPERIMENT`: {names}"));
                let message = format!("a place in one experiment, got `{text}`, which several have");
                problems.add_with(at, key, message, hint);
                None
            }
        }
    }

    /// The selector of a phrase whose level the command line took away: that of the nearest level, which a note names.
    fn nearby(&self, phrase: &Phrase, key: &str, text: &str, notes: &mut Vec<String>) -> Option<Selector> {
        let mut found = phrase::matches(&phrase.nearby(), &self.resolved.experiments, &self.resolved.systems);
        let [_] = found.as_slice() else {
            notes.push(format!(
                "the {key} metric (`{text}`) is not measured with these options; all comparisons are exploratory"
            ));
            return None;
        };
        let selector = found.pop().map(|(_, selector)| selector)?;
        let level = |factor: &observation::Factor| format!("{} = {}", factor.name, factor.level.text());
        let levels: Vec<String> = selector.factors.iter().map(level).collect();
        let place = if levels.is_empty() { "the one level".to_owned() } else { levels.join(", ") };
        notes.push(format!(
            "the {key} metric (`{text}`) is read at {place}: these options leave out the level that the study names"
        ));
        Some(selector)
    }

    fn baseline(&self, notes: &mut Vec<String>, problems: &mut Problems) -> Option<String> {
        let names = || self.resolved.systems.iter().map(|system| system.spec.name.as_str());
        let first = || names().next().map(str::to_owned);
        let Some(placed) = self.definition.baselines.first() else { return first() };
        if names().any(|name| name == placed.text) {
            return Some(placed.text.clone());
        }
        // Systems that could not be read are not missing names too.
        let sound = !problems.list.iter().any(|problem| problem.key.starts_with("system."));
        if self.overrides.targets.is_empty() && sound {
            let names: Vec<&str> = names().collect();
            let message = format!("the name of a system, got `{}`", placed.text);
            problems.add_with(&placed.at, "baseline", message, Some(known_names(&placed.text, names)));
        } else if let (true, Some(first), [_, _, ..]) = (sound, first(), self.resolved.systems.as_slice()) {
            notes.push(format!(
                "the baseline is `{first}`, the first system given; the study's `{}` is not among them",
                placed.text
            ));
        }
        first()
    }

    fn thresholds(&self, notes: &mut Vec<String>, problems: &mut Problems) -> Vec<Threshold> {
        let own = self.definition.fail_if.iter().map(|placed| (placed.text.as_str(), placed.at.clone(), "fail_if"));
        let given = self.overrides.fail_if.iter();
        let given = given.map(|text| (text.as_str(), Origin::Option(format!("--fail-if {text}")), ""));
        let mut thresholds = Vec::new();
        for (text, at, key) in own.chain(given) {
            // What the command line asks for is new, even of an old run.
            let has_run = problems.has_run && !key.is_empty();
            match threshold(text, &self.names(), has_run) {
                Ok((threshold, phrase)) => {
                    let found = self.each(threshold, &phrase);
                    // Asked for on this very command line, it must be there; a study's own may be set aside by options.
                    if found.is_empty() && (key.is_empty() || self.overrides.leaves_all()) {
                        problems.add(&at, key, format!("something that the study measures, got `{text}`"));
                    } else if found.is_empty() {
                        notes.push(format!("the threshold `{text}` is not measured with these options"));
                    }
                    thresholds.extend(found);
                }
                Err(message) => problems.add(&at, key, message),
            }
        }
        thresholds
    }

    /// A threshold holds in every experiment that has what it names; where it names nothing, it is not narrowed.
    fn each(&self, threshold: Threshold, phrase: &Phrase) -> Vec<Threshold> {
        if *phrase == Phrase::default() {
            return vec![threshold];
        }
        let systems: &[SystemChoice] = &self.resolved.systems;
        let found = phrase::matches(phrase, &self.resolved.experiments, systems);
        found.into_iter().map(|(_, selector)| Threshold { selector, ..threshold.clone() }).collect()
    }
}

/// Reads `METRIC [PLACE] < LIMIT [PLACE]`: the study fails where this is true.
pub(crate) fn threshold(text: &str, names: &Names, has_run: bool) -> Result<(Threshold, Phrase), String> {
    let form =
        || format!("a condition such as `throughput < 10k/s` or `response p99 > 5 ms in EXPERIMENT`, got `{text}`");
    let place = text.find(['<', '>']).ok_or_else(form)?;
    let (left, right) = text.split_at(place);
    let fails_above = right.starts_with('>');
    let right = right[1..].trim_start_matches('=').trim();
    let (metric, before) = phrase::metric(left, has_run)?;
    let end = [" of ", " in ", " at "].iter().filter_map(|word| right.find(word)).min().unwrap_or(right.len());
    let limit = limit(metric, right[..end].trim())?;
    let phrase = phrase::place(&format!("{before} {}", &right[end..]), names)?;
    let threshold =
        Threshold { text: text.trim().to_owned(), metric, fails_above, limit, selector: Selector::default() };
    Ok((threshold, phrase))
}

/// The limit in base units.
fn limit(metric: Metric, text: &str) -> Result<f64, String> {
    let text_of = |error: units::UnitError| error.to_string();
    match metric {
        Metric::Throughput | Metric::Yield(_) => units::parse_rate(text).map(|rate| rate.0).map_err(text_of),
        Metric::Bandwidth => match text.strip_suffix("/s") {
            Some(size) => units::parse_bytes(size).map(|size| size.0 as f64).map_err(text_of),
            None => Err(format!("bytes a second, such as `200 MB/s`, got `{text}`")),
        },
        Metric::Damage => count(text),
        Metric::Failed | Metric::Retried if text == "0" => Ok(0.0),
        Metric::Failed | Metric::Retried => units::parse_share(text).map(|share| share.0).map_err(text_of),
        Metric::ResponseMean
        | Metric::ResponseQuantile(_)
        | Metric::ServiceMean
        | Metric::Elapsed
        | Metric::ServerCpu
        | Metric::CpuPerOperation => units::parse_duration(text).map(|time| time.seconds()).map_err(text_of),
    }
}

/// How often something may go wrong.
fn count(text: &str) -> Result<f64, String> {
    text.parse::<u64>().map(|count| count as f64).map_err(|_| format!("a whole number, such as `0`, got `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names<'static> {
        Names { streams: vec!["scan"], experiments: vec!["rates"] }
    }

    fn threshold(text: &str, names: &Names) -> Result<(Threshold, Phrase), String> {
        super::threshold(text, names, false)
    }

    #[test]
    fn a_threshold_is_read_with_its_place_on_either_side() {
        let (before, a) = threshold("response p99 of scan in rates > 5 ms", &names()).unwrap();
        let (after, b) = threshold("response p99 > 5 ms of scan in rates", &names()).unwrap();
        assert_eq!(a, b);
        assert_eq!((before.limit, before.fails_above), (after.limit, after.fails_above));
        assert_eq!((before.limit, before.fails_above, before.metric), (0.005, true, Metric::ResponseQuantile(0.99)));
    }

    #[test]
    fn a_limit_has_the_unit_of_its_metric() {
        assert_eq!(threshold("throughput < 10k/s", &names()).unwrap().0.limit, 10_000.0);
        assert_eq!(threshold("bandwidth < 200 MB/s", &names()).unwrap().0.limit, 200e6);
        assert_eq!(threshold("damage > 0", &names()).unwrap().0.limit, 0.0);
        assert_eq!(threshold("failed > 1% of scan", &names()).unwrap().0.limit, 0.01);
        assert_eq!(threshold("retried > 0", &names()).unwrap().0.limit, 0.0);
        assert!(threshold("damage > 1%", &names()).unwrap_err().contains("a whole number"));
        assert!(threshold("throughput < 10", &names()).unwrap_err().contains("has no unit"));
        let class = threshold("response p99 > 5 ms of payment-run", &names()).unwrap_err();
        assert!(class.contains("a bound holds for a whole stream, not for a class of it"), "{class}");
        assert!(threshold("throughput = 3", &names()).unwrap_err().contains("a condition such as"));
    }
}
