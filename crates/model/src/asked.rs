//! What a kind of machine asks a model file for, what it answers, and the numbers of one machine.
//!
//! The one idea: closed forms and machines in virtual time read the same named numbers.

/// A parameter that a kind asks a model file for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// Its name.
    pub name: &'static str,
    /// Its unit, as the file must write it.
    pub unit: &'static str,
    /// What it is.
    pub about: &'static str,
    /// It does not lie below.
    pub low: f64,
    /// It does not lie beyond.
    pub high: f64,
    /// Whether only whole numbers make sense.
    pub whole: bool,
    /// What it is in a file that leaves it out; without one the file must give it.
    pub default: Option<f64>,
}

impl Asked {
    /// A state that is seldom asked for, or what nearly every machine has: a file may leave it out.
    pub(crate) const fn or(self, default: f64) -> Asked {
        Asked { default: Some(default), ..self }
    }
}

/// A quantity that a kind answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// Its name in `answers` tables.
    pub name: &'static str,
    /// The unit of the answer, which the column that asks for it must have.
    pub unit: &'static str,
    /// What the baselines take it for.
    pub shape: Shape,
    /// It does not go beyond.
    pub most: f64,
}

impl Quantity {
    /// A rate.
    pub(crate) const fn rate(name: &'static str, unit: &'static str) -> Quantity {
        Quantity { name, unit, shape: Shape::Rate, most: f64::INFINITY }
    }

    /// A share of all of something, in percent, that grows with the size.
    pub(crate) const fn share(name: &'static str) -> Quantity {
        Quantity { name, unit: "%", shape: Shape::Rate, most: 100.0 }
    }

    /// A response of a population.
    pub(crate) const fn response(name: &'static str, unit: &'static str) -> Quantity {
        Quantity { name, unit, shape: Shape::TimeOfPopulation, most: f64::INFINITY }
    }

    /// Any other quantity.
    pub(crate) const fn other(name: &'static str, unit: &'static str) -> Quantity {
        Quantity { name, unit, shape: Shape::Other, most: f64::INFINITY }
    }
}

/// What a quantity is, so that a law meets it in its own form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A rate that grows with the size: operations, bytes, transactions a second.
    Rate,
    /// A time, at a size that is a population: linear scaling leaves it as it is, and the scalability law gives it as
    /// size over rate.
    TimeOfPopulation,
    /// Any other quantity, such as a time by transfer size: linear scaling is proportion.
    Other,
}

/// Numbers of one machine, by the names that its kind asks for.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    asked: &'static [Asked],
    values: &'a [f64],
}

impl<'a> Values<'a> {
    /// The values of all parameters of a kind, in its own order.
    pub fn new(asked: &'static [Asked], values: &'a [f64]) -> Values<'a> {
        debug_assert_eq!(asked.len(), values.len());
        Values { asked, values }
    }

    /// One of them.
    ///
    /// # Panics
    /// When the kind does not ask for it, which is a mistake in the kind.
    pub fn of(&self, name: &str) -> f64 {
        self.get(name).unwrap_or_else(|| panic!("the kind asks for no parameter `{name}`"))
    }

    /// The same; none when the kind does not ask for it.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.asked.iter().position(|asked| asked.name == name).map(|place| self.values[place])
    }
}

/// Why a row has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum Unanswered {
    /// A column that the question needs is empty or missing.
    #[error("the column `{0}` is needed and empty in this row")]
    Missing(String),
    /// A cell with more than is answered.
    #[error("the column `{column}` holds `{text}`; at most {most} is answered")]
    Beyond { column: &'static str, text: String, most: u32 },
    /// A question that no closed form of the kind answers, and its machine in virtual time does.
    #[error("the closed form does not know {0}, which is left to the simulation")]
    Simulated(&'static str),
    /// A cell that the kind does not understand.
    #[error("the column `{column}` holds `{text}`; known: {known}")]
    Unknown { column: String, text: String, known: &'static str },
}

impl Unanswered {
    /// A cell that holds something else than the texts that are known.
    pub(crate) fn unknown(column: &str, text: impl ToString, known: &'static str) -> Unanswered {
        Unanswered::Unknown { column: column.to_owned(), text: text.to_string(), known }
    }
}
