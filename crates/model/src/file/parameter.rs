//! Parameters of a model file: number, unit, origin, and how far off an assumed one may be.

use crate::asked::Asked;
use crate::kind::ModelKind;
use reading::{Entry, Problems, Section, did_you_mean, listed};

/// Where a number came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A document says it; calibration leaves it alone.
    Given(String),
    /// Fitted on the rows that the text names.
    Calibrated(String),
    /// Nobody says it; the text says why this number.
    Assumed(String),
}

/// A number with all that it needs to be believed.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The number.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// Where it came from.
    pub origin: Origin,
    /// An assumed or calibrated one lies between these with 95 percent; the number itself twice when it was given.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// What was known of a calibrated one before there were rows.
    pub before: Option<Before>,
}

/// What one knows of a number without any row.
#[derive(Clone, Debug, PartialEq)]
pub struct Before {
    /// It lies between this, with 95 percent, ...
    pub low: f64,
    /// ... and this.
    pub high: f64,
    /// Why.
    pub why: String,
}

/// Where a number came from that the file leaves out.
pub(super) const BY_DEFAULT: &str = "the default of its kind; the file leaves it out";

impl Parameter {
    /// A number that is not in doubt.
    pub(super) fn given(asked: &Asked, value: f64, source: String) -> Parameter {
        let (name, unit, origin) = (asked.name.to_owned(), asked.unit.to_owned(), Origin::Given(source));
        Parameter { name, value, unit, origin, low: value, high: value, before: None }
    }

    /// The range that it was in before there were rows; none when nobody says.
    pub(crate) fn prior(&self) -> Option<(f64, f64)> {
        match &self.origin {
            Origin::Given(_) => None,
            Origin::Assumed(_) => Some((self.low, self.high)),
            Origin::Calibrated(_) => self.before.as_ref().map(|before| (before.low, before.high)),
        }
    }

    /// Whether the file left it out.
    pub(super) fn left_out(&self) -> bool {
        self.origin == Origin::Given(BY_DEFAULT.to_owned())
    }
}

impl Origin {
    /// As files write it: `given: ...`.
    pub fn text(&self) -> String {
        match self {
            Origin::Given(why) => format!("given: {why}"),
            Origin::Calibrated(rows) => format!("calibrated: {rows}"),
            Origin::Assumed(why) => format!("assumed: {why}"),
        }
    }

    fn read(text: &str) -> Result<Origin, String> {
        let form = || format!("`given: SOURCE`, `calibrated: ROWS` or `assumed: WHY`, got `{text}`");
        let (word, rest) = text.split_once(':').ok_or_else(form)?;
        let rest = rest.trim().to_owned();
        match word.trim() {
            _ if rest.is_empty() => Err(form()),
            "given" => Ok(Origin::Given(rest)),
            "calibrated" => Ok(Origin::Calibrated(rest)),
            "assumed" => Ok(Origin::Assumed(rest)),
            _ => Err(form()),
        }
    }
}

/// All parameters that a kind asks for, in its order. Each one that is missing, and each that it does not ask for, is a
/// problem.
pub(super) fn all(kind: ModelKind, entry: Option<Entry>, problems: &mut Problems) -> Vec<Parameter> {
    let Some(entry) = entry else {
        let message = format!("a {} needs its numbers in a table `parameters`, got none", kind.word());
        problems.add(&reading::Origin::Whole, "parameters", message);
        return Vec::new();
    };
    let at = entry.at.clone();
    let mut found: Vec<Parameter> = Vec::new();
    let mut named: Vec<String> = Vec::new();
    for entry in super::table(entry.node, "parameters", problems) {
        named.push(entry.name.clone());
        let Some(asked) = kind.asks().iter().find(|asked| asked.name == entry.name) else {
            let names = || kind.asks().iter().map(|asked| asked.name);
            let hint = did_you_mean(&entry.name, names()).unwrap_or_else(|| format!("it has {}", listed(names())));
            let message = format!("a {} has no such parameter", kind.word());
            problems.add_with(&entry.at, &format!("parameters.{}", entry.name), message, Some(hint));
            continue;
        };
        found.extend(one(asked, entry, problems));
    }
    let missing: Vec<&Asked> = kind.asks().iter().filter(|asked| !found.iter().any(|p| p.name == asked.name)).collect();
    for asked in missing {
        if let Some(value) = asked.default {
            // A number that is there and wrong has been told of; the default only keeps the others in their order.
            found.push(Parameter::given(asked, value, BY_DEFAULT.to_owned()));
            continue;
        }
        if named.iter().any(|name| name == asked.name) {
            continue;
        }
        let message = format!("missing: {} ({})", asked.about, asked.unit);
        problems.add(&at, &format!("parameters.{}", asked.name), message);
    }
    kind.asks().iter().filter_map(|asked| found.iter().find(|p| p.name == asked.name).cloned()).collect()
}

fn one(asked: &Asked, entry: Entry, problems: &mut Problems) -> Option<Parameter> {
    let mut section = Section::of(format!("parameters.{}", asked.name), entry.node, problems)?;
    let value = section.read("value", problems, |text| number(asked, text));
    let unit = section.read("unit", problems, |text| {
        if text == asked.unit { Ok(text.to_owned()) } else { Err(format!("`{}`, got `{text}`", asked.unit)) }
    });
    let origin = section.read("from", problems, Origin::read);
    let low = section.read("low", problems, |text| number(asked, text));
    let high = section.read("high", problems, |text| number(asked, text));
    let before = section.take("before").and_then(|entry| before(asked, entry, problems));
    let (at, prefix) = (section.at.clone(), format!("parameters.{}", asked.name));
    section.finish(&[], |_| None, problems);
    let mut need = |what: &str, there: bool| {
        if !there && !problems.list.iter().any(|problem| problem.key.starts_with(&prefix)) {
            problems.add(&at, &prefix, format!("needs its {what}"));
        }
    };
    need("value", value.is_some());
    need("unit", unit.is_some());
    need("origin: `from = \"given: ..\"`, `\"calibrated: ..\"` or `\"assumed: ..\"`", origin.is_some());
    let (value, unit, origin) = (value?, unit?, origin?);
    let (low, high) = (low.unwrap_or(value), high.unwrap_or(value));
    if !(low <= value && value <= high) {
        problems.add(&at, &prefix, format!("a value between low and high, got {value} outside of {low} to {high}"));
    }
    if matches!(origin, Origin::Assumed(_)) && low >= high && !asked.whole {
        problems.add(&at, &prefix, "an assumed number says how far off it may be, by `low` and `high`");
    }
    Some(Parameter { name: asked.name.to_owned(), value, unit, origin, low, high, before })
}

fn before(asked: &Asked, entry: Entry, problems: &mut Problems) -> Option<Before> {
    let at = entry.at.clone();
    let mut section = Section::of(format!("parameters.{}.before", asked.name), entry.node, problems)?;
    let low = section.read("low", problems, |text| number(asked, text));
    let high = section.read("high", problems, |text| number(asked, text));
    let why = section.text("why", problems).map(|placed| placed.text);
    section.finish(&[], |_| None, problems);
    let found = low.zip(high).zip(why).filter(|((low, high), _)| low < high);
    if found.is_none() {
        problems.add(&at, &format!("parameters.{}.before", asked.name), "needs `low` below `high`, and `why`");
    }
    found.map(|((low, high), why)| Before { low, high, why })
}

pub(super) fn number(asked: &Asked, text: &str) -> Result<f64, String> {
    let number = text.replace('_', "").parse::<f64>().ok();
    let inside = |value: &f64| (asked.low..=asked.high).contains(value) && (!asked.whole || value.fract() == 0.0);
    let which = if asked.whole { "a whole number" } else { "a number" };
    number.filter(inside).ok_or_else(|| format!("{which} from {} to {}, got `{text}`", asked.low, asked.high))
}
