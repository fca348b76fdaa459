//! Which columns of a rows file a model answers, and what they ask.

use super::configuration::{self, Configuration};
use crate::kind::ModelKind;
use crate::rows::{Row, Table};
use reading::{Entry, Problems, Section, did_you_mean, listed};

/// One form of rows that the model answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What the form is called.
    pub name: String,
    /// The columns that are answered.
    pub metrics: Vec<Metric>,
    /// The columns that ask; rows of equal ones are repeats.
    pub inputs: Vec<String>,
    /// The one of them that is a size, for the laws that a model must beat.
    pub size: String,
    /// Cells that a row must have to be of this machine: tables hold rows of several.
    pub only: Vec<(String, String)>,
    /// The least and the greatest size of the rows that it was fitted on.
    pub fitted: Option<(f64, f64)>,
}

/// A column that is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Name of the column.
    pub column: String,
    /// The quantity of the kind that it asks for; `throughput/CONFIG` is the ratio to that of a configuration.
    pub quantity: String,
}

impl Answer {
    /// Whether a row is of this machine. A row that does not say so is taken for one.
    pub fn takes(&self, row: &Row) -> bool {
        self.only.iter().all(|(column, wanted)| row.text(column).is_none_or(|text| text == wanted))
    }

    /// Whether a table has every column that this form asks by, and at least one that it answers.
    pub fn fits(&self, table: &Table) -> bool {
        let has = |column: &String| table.columns.contains(column);
        self.inputs.iter().all(has) && self.metrics.iter().any(|metric| has(&metric.column))
    }
}

pub(super) fn all(
    kind: ModelKind,
    configurations: &[Configuration],
    entry: Option<Entry>,
    problems: &mut Problems,
) -> Vec<Answer> {
    let Some(entry) = entry else { return Vec::new() };
    let entries = super::table(entry.node, "answers", problems);
    entries.into_iter().filter_map(|entry| one((kind, configurations), entry, problems)).collect()
}

/// A kind, and the configurations that ratios may be over.
type Known<'a> = (ModelKind, &'a [Configuration]);

fn one(known: Known, entry: Entry, problems: &mut Problems) -> Option<Answer> {
    let name = entry.name.clone();
    let mut section = Section::of(format!("answers.{name}"), entry.node, problems)?;
    let metrics = section.take("metrics").map(|entry| metrics(known, &name, entry, problems)).unwrap_or_default();
    let texts = section.texts("inputs", problems).unwrap_or_default();
    let inputs: Vec<String> = texts.into_iter().map(|placed| placed.text).collect();
    let size = section.text("size", problems);
    let only = section.take("only").map(|entry| cells(&name, entry, problems)).unwrap_or_default();
    let fitted = section.take("fitted").map(|entry| entry.node.form);
    let (at, key) = (section.at.clone(), format!("answers.{name}"));
    section.finish(&[], |_| None, problems);
    if metrics.is_empty() || inputs.is_empty() {
        problems.add(&at, &key, "needs `metrics = { COLUMN = \"QUANTITY\" }` and `inputs = [COLUMN, ..]`");
    }
    let size = size.map(|placed| placed.text).filter(|size| inputs.contains(size));
    if size.is_none() {
        problems.add(
            &at,
            &key,
            format!("needs `size`, one of its inputs {}", listed(inputs.iter().map(String::as_str))),
        );
    }
    let fitted = fitted.and_then(|form| {
        let found = sizes(form);
        if found.is_none() {
            problems.add(&at, &format!("{key}.fitted"), "the least and the greatest size of the rows, above zero");
        }
        found
    });
    Some(Answer { name, metrics, inputs, size: size?, only, fitted })
}

/// Two sizes in order.
fn sizes(form: reading::Form) -> Option<(f64, f64)> {
    let reading::Form::List(nodes) = form else { return None };
    let number =
        |node: &reading::Node| if let reading::Form::Text(text) = &node.form { text.parse().ok() } else { None };
    let found: Vec<f64> = nodes.iter().filter_map(number).collect();
    match found[..] {
        [low, high] if nodes.len() == 2 && low > 0.0 && low <= high && high.is_finite() => Some((low, high)),
        _ => None,
    }
}

fn metrics((kind, configurations): Known, name: &str, entry: Entry, problems: &mut Problems) -> Vec<Metric> {
    let key = format!("answers.{name}.metrics");
    let mut found = Vec::new();
    for entry in super::table(entry.node, &key, problems) {
        let column = entry.name.clone();
        let reading::Form::Text(quantity) = entry.node.form else {
            problems.add(&entry.at, &format!("{key}.{column}"), "the name of a quantity");
            continue;
        };
        let names = || kind.answers().iter().map(|quantity| quantity.name);
        let (asked, base) = configuration::split(&quantity);
        if let Some(base) = base.filter(|base| configurations.iter().all(|known| known.name != *base)) {
            let message = format!("a ratio is over one of `configurations`, got `{base}`");
            problems.add(&entry.at, &format!("{key}.{column}"), message);
        } else if names().any(|known| known == asked) {
            found.push(Metric { column, quantity });
        } else {
            let message = format!("a {} answers {}, got `{quantity}`", kind.word(), listed(names()));
            problems.add_with(&entry.at, &format!("{key}.{column}"), message, did_you_mean(&quantity, names()));
        }
    }
    found
}

/// Cells by column.
fn cells(name: &str, entry: Entry, problems: &mut Problems) -> Vec<(String, String)> {
    let key = format!("answers.{name}.only");
    let mut found = Vec::new();
    for entry in super::table(entry.node, &key, problems) {
        match entry.node.form {
            reading::Form::Text(text) => found.push((entry.name, text)),
            _ => problems.add(&entry.at, &format!("{key}.{}", entry.name), "the text of a cell"),
        }
    }
    found
}
