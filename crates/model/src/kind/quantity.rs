//! What a kind answers.

/// A quantity that a kind answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// Its name in `answers` tables.
    pub name: &'static str,
    /// The unit of the answer, which the column that asks for it must have.
    pub unit: &'static str,
    /// What the baselines take it for.
    pub shape: Shape,
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
