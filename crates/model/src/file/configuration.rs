//! Configurations of a machine: what it is otherwise in some rows.
//!
//! The one idea: published tables hold one server with this storage and with that, and often say no more than how much faster one
//! was than the other. A row's `config_id` names the configuration, and a ratio is of two answers of one machine, so that what
//! nobody knows of it stands on both sides.

use super::write::number;
use super::{Description, parameter};
use crate::asked::{Unanswered, Values};
use crate::kind::ModelKind;
use crate::rows::Row;
use reading::{Entry, Form, Problems};
use std::borrow::Cow;
use std::fmt::Write as _;

/// One configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// What rows call it, in `config_id`.
    pub name: String,
    /// Parameters that are otherwise in it, with their numbers.
    pub numbers: Vec<(String, f64)>,
}

/// Between a quantity and the configuration that is its base.
pub(super) const OVER: char = '/';

/// A quantity, and the configuration over which it is asked as a ratio.
pub(super) fn split(quantity: &str) -> (&str, Option<&str>) {
    quantity.split_once(OVER).map_or((quantity, None), |(quantity, base)| (quantity, Some(base)))
}

impl Description {
    /// The answer of this machine with such numbers, in the configuration that the row names.
    pub(crate) fn answer_of(&self, numbers: &[f64], row: &Row, quantity: &str) -> Result<f64, Unanswered> {
        let (quantity, base) = split(quantity);
        let of = |name: Option<&str>| {
            let numbers = self.configured(numbers, name);
            self.kind.answer(&Values::new(self.kind.asks(), &numbers), row, quantity)
        };
        let here = row.text("config_id");
        let Some(base) = base else { return of(here) };
        if self.configurations.iter().all(|known| Some(known.name.as_str()) != here) {
            let known = "the `configurations` of the model";
            return Err(Unanswered::unknown("config_id", here.unwrap_or_default(), known));
        }
        Ok(of(here)? / of(Some(base))?)
    }

    fn configured<'a>(&self, numbers: &'a [f64], name: Option<&str>) -> Cow<'a, [f64]> {
        let Some(found) = self.configurations.iter().find(|known| Some(known.name.as_str()) == name) else {
            return Cow::Borrowed(numbers);
        };
        let mut numbers = numbers.to_vec();
        for (place, asked) in self.kind.asks().iter().enumerate() {
            if let Some((_, value)) = found.numbers.iter().find(|(name, _)| name == asked.name) {
                numbers[place] = *value;
            }
        }
        Cow::Owned(numbers)
    }
}

/// Reads the tables.
pub(super) fn all(kind: ModelKind, entry: Option<Entry>, problems: &mut Problems) -> Vec<Configuration> {
    let Some(entry) = entry else { return Vec::new() };
    let entries = super::table(entry.node, "configurations", problems);
    let one = |entry: Entry| {
        let key = format!("configurations.{}", entry.name);
        let cells = super::table(entry.node, &key, problems);
        let numbers = cells.into_iter().filter_map(|cell| one(kind, &key, cell, problems)).collect();
        Configuration { name: entry.name, numbers }
    };
    entries.into_iter().map(one).collect()
}

fn one(kind: ModelKind, key: &str, cell: Entry, problems: &mut Problems) -> Option<(String, f64)> {
    let key = format!("{key}.{}", cell.name);
    let known = kind.asks().iter().find(|asked| asked.name == cell.name);
    let found = match (known, &cell.node.form) {
        (None, _) => Err(format!("a {} has no such parameter", kind.word())),
        (Some(asked), Form::Text(text)) => parameter::number(asked, text),
        (Some(_), _) => Err("a number".to_owned()),
    };
    found.map_err(|message| problems.add(&cell.at, &key, message)).ok().map(|value| (cell.name, value))
}

/// The tables of a model file.
pub(super) fn text(configurations: &[Configuration]) -> String {
    configurations.iter().fold(String::new(), |mut text, configuration| {
        let _ = write!(text, "\n[configurations.{}]\n", configuration.name);
        for (name, value) in &configuration.numbers {
            let _ = writeln!(text, "{name} = {}", number(*value));
        }
        text
    })
}
