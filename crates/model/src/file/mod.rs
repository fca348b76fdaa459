//! Model files: a machine as text, and back.
//!
//! The one idea: every parameter says its unit and where its number came from, and an assumed one how far off it may be.
//! What the file does not say is refused with its place, but for states and the like that a kind has a default for, and that
//! default stands among the numbers as one.
//!
//! What it does not do: it opens no file.

mod answers;
mod change;
mod configuration;
mod discrepancy;
mod doubt;
mod parameter;
mod transaction;
mod write;

pub use answers::{Answer, Metric};
pub use configuration::Configuration;
pub use discrepancy::{Discrepancy, ENOUGH};
pub(crate) use discrepancy::{NEAR, before, beyond, freedom, learned};
pub use doubt::Doubt;
pub use parameter::{Before, Origin, Parameter};
pub use write::write;

use crate::asked::{Unanswered, Values};
use crate::kind::{ModelKind, Reach};
use crate::rows::{Row, Table};
use reading::{Form, Problems, Section, did_you_mean, listed};
use workload::Demand;

/// A described machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The name that it is called by.
    pub name: String,
    /// One line of what it is.
    pub title: String,
    /// Its kind.
    pub kind: ModelKind,
    /// Its parameters, in the order of the kind.
    pub parameters: Vec<Parameter>,
    /// Which columns of rows files it answers.
    pub answers: Vec<Answer>,
    /// What it is otherwise in rows that name a configuration.
    pub configurations: Vec<Configuration>,
    /// Rows that it was fitted on; they are never judged.
    pub calibration: Vec<String>,
    /// Standard deviation of the logarithm of rows around the model, beside their rounding.
    pub noise: f64,
    /// The transaction that its numbers hold for, where that is not the brokerage's mean one.
    pub transaction: Option<Demand>,
    /// How far off its numbers may be together; none before it was calibrated.
    pub doubt: Option<Doubt>,
    /// How far its form may be off; none before it was calibrated.
    pub discrepancy: Option<Discrepancy>,
}

impl Description {
    /// The numbers of all parameters, in the order of the kind.
    pub fn numbers(&self) -> Vec<f64> {
        self.parameters.iter().map(|parameter| parameter.value).collect()
    }

    /// Asks the kind something about the numbers.
    pub(crate) fn with_values<T>(&self, ask: impl FnOnce(ModelKind, &Values) -> T) -> T {
        ask(self.kind, &Values::new(self.kind.asks(), &self.numbers()))
    }

    /// The parameter of a name.
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// How many of the quantity's unit in published tables, which [`Description::answer`] answers in, one operation a second is.
    pub fn counted(&self, quantity: &str) -> f64 {
        let parameter = self.kind.counted(quantity).and_then(|name| self.parameter(name));
        parameter.map_or(1.0, |parameter| parameter.value)
    }

    /// What becomes of a key of a study on this machine.
    pub fn reach(&self, key: &str) -> Reach {
        // A server whose file says nothing of its data does as well with any.
        let unknown = key == "customers" && self.parameter(key).is_some_and(|known| known.value == 0.0);
        if unknown { Reach::Held } else { self.kind.reach(key) }
    }

    /// Whether a parameter counts things, which no fit can move.
    pub fn whole(&self, name: &str) -> bool {
        self.kind.asks().iter().any(|asked| asked.name == name && asked.whole)
    }

    /// The form of rows that fits a table best: the one with the most columns in it.
    pub fn answer_for(&self, table: &Table) -> Option<&Answer> {
        self.answer_where(table, |_| true)
    }

    /// The same for one row: tables hold rows of several machines, and different quantities in one column.
    pub fn answer_for_row(&self, table: &Table, row: &Row) -> Option<&Answer> {
        self.answer_where(table, |answer| answer.takes(row))
    }

    fn answer_where(&self, table: &Table, takes: impl Fn(&Answer) -> bool) -> Option<&Answer> {
        let fitting = self.answers.iter().filter(|answer| answer.fits(table) && takes(answer));
        fitting.max_by_key(|answer| answer.inputs.len() + answer.metrics.len())
    }

    /// The 95 percent interval of an answer: doubt of the numbers and of the form, noise of rows around the model, and rounding
    /// (half of the last digit, as a share) of the value that it will be held against. What cannot be lies outside.
    pub fn interval(&self, row: &Row, quantity: &str, rounding: f64) -> (f64, f64) {
        let middle = self.answer(row, quantity).unwrap_or(f64::NAN);
        let (below, above) = self.doubts(row, quantity);
        let (off, (reach, known)) = (self.off(row, quantity), self.deviations());
        let beside = reach * reach * off * off + known * known * rounding * rounding / 3.0;
        let low = middle * libm::exp(-libm::sqrt(known * known * below + beside));
        let high = middle * libm::exp(libm::sqrt(known * known * above + beside));
        (low.min(high), high.max(low).min(self.kind.most(quantity).max(middle)))
    }

    /// Variance of the logarithm of an answer, below and above, that comes from its numbers alone.
    pub(crate) fn doubts(&self, row: &Row, quantity: &str) -> (f64, f64) {
        let assumed = if self.doubt.is_none() { Doubt::assumed(self) } else { None };
        let doubt = self.doubt.as_ref().or(assumed.as_ref());
        doubt.map_or((0.0, 0.0), |doubt| doubt.variances(self, row, quantity))
    }

    /// The answer of this machine to a row.
    ///
    /// # Errors
    /// When the row does not say what the question needs.
    pub fn answer(&self, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
        self.answer_of(&self.numbers(), row, quantity)
    }
}

/// Noise of rows around a model whose file says nothing of it: half a percent.
const NOISE: f64 = 0.005;

/// Reads a model file.
///
/// # Errors
/// Every problem with its line and column.
pub fn read(name: &str, text: &str) -> Result<Description, Problems> {
    let mut problems = Problems::of(name);
    let entries = reading::read(name, text)?;
    let mut root = Section::new("", reading::Origin::File { line: 1, column: 1 }, entries);
    let title = root.text("title", &mut problems).map(|placed| placed.text).unwrap_or_default();
    let kind = kind(&mut root, &mut problems);
    let noise = root.read("noise", &mut problems, |text| share(text, 0.0, 0.5)).unwrap_or(NOISE);
    let calibration = root.texts("calibration", &mut problems).unwrap_or_default();
    let parameters = root.take("parameters");
    let places = places(parameters.as_ref());
    let answers = root.take("answers");
    let configurations = root.take("configurations");
    let transaction = root.take("transaction");
    let doubt = root.take("doubt");
    let discrepancy = root.take("discrepancy");
    root.finish(&[], |_| None, &mut problems);
    let Some(kind) = kind else { return problems.or_none() };
    let configurations = configuration::all(kind, configurations, &mut problems);
    let description = Description {
        name: name.to_owned(),
        title: if title.is_empty() { name.to_owned() } else { title },
        kind,
        parameters: parameter::all(kind, parameters, &mut problems),
        answers: answers::all(kind, &configurations, answers, &mut problems),
        configurations,
        calibration: calibration.into_iter().map(|placed| placed.text).collect(),
        noise,
        transaction: transaction.and_then(|entry| transaction::read(entry, &mut problems)),
        doubt: doubt.and_then(|entry| doubt::read(kind, entry, &mut problems)),
        discrepancy: discrepancy.and_then(|entry| discrepancy::read(entry, &mut problems)),
    };
    if problems.list.is_empty() {
        let at = |name: &str| places.iter().find(|(known, _)| known == name).map(|(_, at)| at.clone());
        description.conflict(|name| at(name).unwrap_or(reading::Origin::Whole), &mut problems);
    }
    problems.or(description)
}

/// Where each parameter stands.
fn places(entry: Option<&reading::Entry>) -> Vec<(String, reading::Origin)> {
    match entry.map(|entry| &entry.node.form) {
        Some(Form::Table(entries)) => entries.iter().map(|entry| (entry.name.clone(), entry.at.clone())).collect(),
        _ => Vec::new(),
    }
}

fn kind(root: &mut Section, problems: &mut Problems) -> Option<ModelKind> {
    let words = || ModelKind::ALL.iter().map(|kind| kind.word());
    let Some(placed) = root.text("kind", problems) else {
        problems.add(&root.at, "kind", format!("a model file says which kind of machine it is: {}", listed(words())));
        return None;
    };
    let found = ModelKind::ALL.iter().copied().find(|kind| kind.word() == placed.text);
    if found.is_none() {
        let hint = did_you_mean(&placed.text, words());
        problems.add_with(&placed.at, "kind", format!("one of {}, got `{}`", listed(words()), placed.text), hint);
    }
    found
}

fn share(text: &str, low: f64, high: f64) -> Result<f64, String> {
    let share = units::parse_share(text).map_err(|e| e.to_string())?.0;
    let refused = || format!("a share from {} to {}, got `{text}`", units::percent(low), units::percent(high));
    if (low..=high).contains(&share) { Ok(share) } else { Err(refused()) }
}

/// The entries of a table, or a problem when it is none.
fn table(node: reading::Node, key: &str, problems: &mut Problems) -> Vec<reading::Entry> {
    let noun = node.noun();
    match node.form {
        Form::Table(entries) => entries,
        _ => {
            problems.add(&node.at, key, format!("a table, got {noun}"));
            Vec::new()
        }
    }
}
