//! The phrases in which a study names a metric and a place: `response p99 of random-read in rates at modules=2`.
//!
//! The one idea: primary metric and thresholds speak one language, read once here and resolved against the experiments
//! as they are after the overrides.
//!
//! What it does not do: it holds no number against a limit; analysis does.

use crate::experiment::{Chosen, Experiment, StreamChoice, SystemChoice};
use crate::keys::{self, Key, keys};
use crate::point::{Point, level_of};
use crate::{Metric, Selector};
use observation::Factor;
use reading::{did_you_mean, known_names};
use workload::kind::Yield;

/// A place as it is written, its names checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Phrase {
    pub stream: Option<String>,
    pub experiment: Option<String>,
    pub levels: Vec<(Key, At)>,
}

/// Which level of a key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum At {
    /// This one: its text, and its number where it has one.
    Level(String, Option<f64>),
    /// This one when it is measured, else the largest below it that is, else the smallest.
    Nearest(f64),
    /// The smallest that is measured.
    Smallest,
    /// The largest that is measured.
    Largest,
}

impl Phrase {
    /// The same place, but where a level that is a number may be another one.
    pub(crate) fn nearby(&self) -> Phrase {
        let levels = self.levels.iter().map(|(key, at)| match at {
            At::Level(_, Some(number)) => (*key, At::Nearest(*number)),
            at => (*key, at.clone()),
        });
        Phrase { levels: levels.collect(), ..self.clone() }
    }
}

/// The names that a phrase may use.
pub(crate) struct Names<'a> {
    pub streams: Vec<&'a str>,
    pub experiments: Vec<&'a str>,
}

const METRICS: &str = "`throughput`, `bandwidth`, `elapsed`, `response mean`, `response p99` (or `p50`, `p90`, \
                       `p95`, `p99.9`, `p99.99`), `service mean`, `cpu per operation`, `postings`, `accounts balanced`, \
                       `dialog steps`, `rows loaded`, `damage`, `failed`, `retried`";

/// The percentiles that can be named, in all their spellings.
const PERCENTILES: [(&str, f64); 8] = [
    ("50", 0.5),
    ("90", 0.9),
    ("95", 0.95),
    ("99", 0.99),
    ("99.9", 0.999),
    ("999", 0.999),
    ("99.99", 0.9999),
    ("9999", 0.9999),
];

/// Reads a metric at the front of a text; what follows it is returned. Of a text that was run before, every percentile is
/// read as it was then.
pub(crate) fn metric(text: &str, has_run: bool) -> Result<(Metric, &str), String> {
    let text = text.trim();
    for metric in Metric::PLAIN.into_iter().chain(Yield::ALL.iter().copied().map(Metric::Yield)) {
        if let Some(rest) = after_word(text, &metric.word()) {
            return Ok((metric, rest));
        }
    }
    let refused = || format!("a metric, one of {METRICS}, got `{text}`");
    // `latency p99` and `p99 latency` are what others call it.
    let words = ["response p", "latency p"].into_iter().find_map(|words| text.strip_prefix(words));
    let rest = words.ok_or_else(refused)?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let known = PERCENTILES.iter().find(|(digits, _)| *digits == &rest[..end]).map(|(_, quantile)| *quantile);
    let earlier = || if has_run { any_quantile(&rest[..end]) } else { None };
    let quantile = known.or_else(earlier).ok_or_else(refused)?;
    Ok((Metric::ResponseQuantile(quantile), rest[end..].trim_start()))
}

/// As version 0.1.0 read it: `75` and `99.5` are per cent, and of more than two digits the rest are decimals.
fn any_quantile(digits: &str) -> Option<f64> {
    let per_cent: f64 = match digits.split_once('.') {
        Some(_) => digits.parse().ok()?,
        None if digits.len() <= 2 => digits.parse().ok()?,
        None => format!("{}.{}", &digits[..2], &digits[2..]).parse().ok()?,
    };
    (per_cent > 0.0 && per_cent < 100.0).then_some((per_cent * 1e4).round() / 1e6)
}

fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(word)?;
    if rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace() || c == '<' || c == '>') {
        Some(rest.trim_start())
    } else {
        None
    }
}

/// Reads `of STREAM`, `in EXPERIMENT` and `at LEVELS` in any order.
pub(crate) fn place(text: &str, names: &Names) -> Result<Phrase, String> {
    let mut phrase = Phrase::default();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some(behind) = after_word(rest, "of") {
            let (name, behind) = known(behind, &names.streams, "stream")?;
            phrase.stream = Some(name.to_owned());
            rest = behind;
        } else if let Some(behind) = after_word(rest, "in") {
            let (name, behind) = known(behind, &names.experiments, "experiment")?;
            phrase.experiment = Some(name.to_owned());
            rest = behind;
        } else if let Some(behind) = after_word(rest, "at") {
            let end = [" of ", " in "].iter().filter_map(|word| behind.find(word)).min().unwrap_or(behind.len());
            phrase.levels = behind[..end].split(',').map(level).collect::<Result<_, _>>()?;
            rest = behind[end..].trim_start();
        } else {
            return Err(format!("`of STREAM`, `in EXPERIMENT` or `at KEY=VALUE`, got `{rest}`"));
        }
    }
    Ok(phrase)
}

/// The longest known name at the front of a text, quoted or not.
fn known<'a>(text: &'a str, names: &[&'a str], what: &str) -> Result<(&'a str, &'a str), String> {
    if let Some((name, rest)) = text.strip_prefix('\'').and_then(|text| text.split_once('\''))
        && names.contains(&name)
    {
        return Ok((name, rest.trim_start()));
    }
    let fits = names.iter().filter(|name| after_word(text, name).is_some());
    match fits.max_by_key(|name| name.len()) {
        Some(name) => Ok((name, text[name.len()..].trim_start())),
        None => {
            let first = text.split_whitespace().next().unwrap_or_default();
            // A class looks like a stream to whoever reads a report.
            let whole =
                if what == "stream" { " (a bound holds for a whole stream, not for a class of it)" } else { "" };
            Err(format!("the name of a {what}{whole}, got `{text}`; {}", known_names(first, names.iter().copied())))
        }
    }
}

/// Reads `modules=2`, `32 outstanding` or `largest width`.
pub(crate) fn level(text: &str) -> Result<(Key, At), String> {
    let text = text.trim();
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name.trim(), value.trim()),
        None => {
            let form = || format!("a level such as `modules=2`, `32 outstanding` or `largest width`, got `{text}`");
            let (value, name) = text.rsplit_once(' ').ok_or_else(form)?;
            (name, value.trim())
        }
    };
    let key = keys::find(name).or_else(|| keys::find(&format!("{name}s"))).ok_or_else(|| {
        let hint = did_you_mean(name, keys().map(|key| key.name())).map(|hint| format!("; {hint}"));
        format!("a key, got `{name}`{}", hint.unwrap_or_default())
    })?;
    match value {
        "smallest" => Ok((key, At::Smallest)),
        "largest" => Ok((key, At::Largest)),
        text => Ok((key, At::Level(text.to_owned(), key.check(text)?))),
    }
}

/// The experiments that have what a phrase names, each with the selector for it.
pub(crate) fn matches<'a>(
    phrase: &Phrase,
    experiments: &'a [Experiment],
    systems: &'a [SystemChoice],
) -> Vec<(&'a Experiment, Selector)> {
    let named = |experiment: &&Experiment| phrase.experiment.as_ref().is_none_or(|name| *name == experiment.name);
    experiments.iter().filter(named).filter_map(|e| selector(phrase, e, systems).map(|s| (e, s))).collect()
}

fn selector(phrase: &Phrase, experiment: &Experiment, systems: &[SystemChoice]) -> Option<Selector> {
    let wanted = |stream: &StreamChoice| {
        phrase.stream.as_ref().is_none_or(|name| *name == stream.name || *name == stream.workload)
    };
    let variant = experiment.variants.iter().find(|streams| streams.iter().any(wanted))?;
    let i = variant.iter().position(wanted)?;
    let mut factors = Vec::new();
    for (key, at) in &phrase.levels {
        let factor = experiment
            .factors
            .iter()
            .find(|factor| factor.key == *key && factor.stream.as_ref().is_none_or(|own| *own == variant[i].name));
        match factor {
            Some(factor) => {
                let level = chosen_level(&factor.levels, at)?;
                factors.push(Factor { name: factor.name.clone(), level: level_of(level) });
            }
            None if fixed(*key, at, experiment, variant, i, systems) => {}
            None => return None,
        }
    }
    Some(Selector {
        experiment: Some(experiment.name.clone()),
        stream: phrase.stream.as_ref().map(|_| variant[i].name.clone()),
        factors,
    })
}

fn chosen_level<'a>(levels: &'a [Chosen], at: &At) -> Option<&'a Chosen> {
    let number = |chosen: &&Chosen| chosen.number.unwrap_or(f64::NAN);
    match at {
        At::Level(text, number) => {
            levels.iter().find(|level| same(level.key, (&level.text, level.number), (text, *number)))
        }
        At::Nearest(number) => nearest(levels, *number),
        At::Smallest => levels.iter().min_by(|a, b| number(a).total_cmp(&number(b))),
        At::Largest => levels.iter().max_by(|a, b| number(a).total_cmp(&number(b))),
    }
}

fn nearest(levels: &[Chosen], wanted: f64) -> Option<&Chosen> {
    let numbers = levels.iter().filter_map(|level| Some((level.number?, level)));
    let below = numbers.clone().filter(|(number, _)| *number <= wanted).max_by(|a, b| a.0.total_cmp(&b.0));
    below.or_else(|| numbers.min_by(|a, b| a.0.total_cmp(&b.0))).map(|(_, level)| level)
}

/// A key that is not varied stands at the one value that it has on the first system.
fn fixed(
    key: Key,
    at: &At,
    experiment: &Experiment,
    streams: &[StreamChoice],
    i: usize,
    systems: &[SystemChoice],
) -> bool {
    let wanted = match at {
        At::Level(text, number) => (text.as_str(), *number),
        At::Nearest(_) => return key.applies(streams[i].kind),
        At::Smallest | At::Largest => return true,
    };
    let Some(system) = systems.first() else { return false };
    let levels = vec![0; experiment.factors.len()];
    let point = Point { experiment, streams, levels: &levels, system };
    key.applies(streams[i].kind) && point.shown(&*key, i).is_some_and(|shown| same(key, shown, wanted))
}

/// Whether two texts of a key, each with its number, mean the same level.
fn same(key: Key, a: (&str, Option<f64>), b: (&str, Option<f64>)) -> bool {
    match (a.1, b.1) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
        _ => key.same(a.0, b.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names<'static> {
        Names { streams: vec!["random-read", "random-write"], experiments: vec!["rates", "rates by modules"] }
    }

    #[test]
    fn a_metric_is_read_with_its_quantile() {
        let metric = |text| metric(text, false);
        assert_eq!(metric("response p99 of x").unwrap(), (Metric::ResponseQuantile(0.99), "of x"));
        assert_eq!(metric("response p999").unwrap().0, Metric::ResponseQuantile(0.999));
        assert_eq!(metric("response p99.9").unwrap().0, Metric::ResponseQuantile(0.999));
        assert!(metric("speed").unwrap_err().contains("`throughput`"));
        assert!(metric("throughputs").is_err());
    }

    #[test]
    fn a_percentile_that_is_not_kept_is_refused_with_those_that_are() {
        for text in ["response p100", "response p500", "response p10", "response p75", "response p99.5", "response p"] {
            let refused = metric(text, false).unwrap_err();
            assert!(refused.contains("`p50`, `p90`, `p95`, `p99.9`, `p99.99`") && refused.contains(text), "{refused}");
        }
        assert_eq!(metric("response p75", true).unwrap().0, Metric::ResponseQuantile(0.75));
    }

    #[test]
    fn the_longest_known_name_wins() {
        let phrase = place("of random-read in rates by modules at 32 outstanding, modules=2", &names()).unwrap();
        assert_eq!(phrase.experiment.as_deref(), Some("rates by modules"));
        assert_eq!(phrase.levels.len(), 2);
        assert_eq!(phrase.levels[0].0.name(), "outstanding");
        assert!(place("of random-raed", &names()).unwrap_err().contains("did you mean `random-read`?"));
    }

    #[test]
    fn levels_have_three_spellings() {
        assert_eq!(level("modules=2").unwrap(), (keys::find("modules").unwrap(), At::Level("2".into(), Some(2.0))));
        assert_eq!(level("1 module").unwrap().0.name(), "modules");
        assert_eq!(level("largest width").unwrap(), (keys::find("width").unwrap(), At::Largest));
        assert!(level("4 KiB").is_err());
    }
}
