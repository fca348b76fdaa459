//! How far a model's form is off, beside the doubt of its numbers: by quantity, and more so away from what it was fitted on.
//!
//! The one idea: what a fit cannot see is learned from what it gets wrong when rows, whole curves and the largest sizes are
//! left out. It counts for each doubling of the size beyond the rows, and a few scores weigh against what other models got
//! wrong, so that two rows that are met by chance promise nothing.

use super::{Answer, Description};
use crate::fit::t95;
use crate::kind::Shape;
use crate::rows::Row;
use reading::{Entry, Form, Problems, Section};
use std::fmt::Write as _;

/// What was learned of a model by leaving rows out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Discrepancy {
    /// Standard deviation of the logarithm, by quantity, for a doubling of the size.
    pub each: Vec<(String, f64)>,
    /// Scores behind it; tied values count once.
    pub scores: u32,
    /// The factor by which intervals were stretched so that 95 of 100 scores lay inside; 1 below twenty of them.
    pub stretch: f64,
}

/// Scores from which on intervals are stretched to what was left out, and called calibrated.
pub const ENOUGH: u32 = 20;
/// How many scores of its own outweigh what other models got wrong.
pub(crate) const BEFORE: f64 = 4.0;
/// Within the rows a form is off by as much as for so much of a doubling beyond them.
const WITHIN: f64 = 0.2;
/// Below the smallest size a machine is less busy, and its parts have less to do with each other.
const BELOW: f64 = 0.4;

/// What a quantity is off by for a doubling before anything was learned: errors of published models of servers and storage
/// where they extrapolate by a factor of two are 3 to 10 percent, and larger for times.
pub(crate) fn before(shape: Shape) -> f64 {
    match shape {
        Shape::Rate => 0.04,
        Shape::TimeOfPopulation | Shape::Other => 0.05,
    }
}

/// How far a size lies from the sizes of the rows, in doublings, so that the error grows with it.
pub(crate) fn distance(size: Option<f64>, fitted: Option<(f64, f64)>) -> f64 {
    let beyond = match (size, fitted) {
        (Some(size), Some((_, high))) if size > high => libm::log2(size / high),
        (Some(size), Some((low, _))) if size < low && size > 0.0 => BELOW * libm::log2(low / size),
        _ => 0.0,
    };
    libm::sqrt(WITHIN * WITHIN + beyond * beyond)
}

impl Description {
    /// Standard deviation of the logarithm of an answer that comes from the form; nothing of a model that was never fitted.
    pub fn off(&self, row: &Row, quantity: &str) -> f64 {
        let Some(discrepancy) = &self.discrepancy else { return 0.0 };
        let each = discrepancy.each.iter().find(|(known, _)| known == quantity).map(|(_, each)| *each);
        let shape = self.kind.answers().iter().find(|known| known.name == quantity).map(|known| known.shape);
        let each = each.or_else(|| shape.map(before)).unwrap_or(0.0);
        let answer = self.answers.iter().find(|answer| answer.metrics.iter().any(|known| known.quantity == quantity));
        each * distance(answer.and_then(|answer| self.size(answer, row)), answer.and_then(|answer| answer.fitted))
    }

    /// The size that a question asks by: that of the rows, or the sessions of a study, of which a set or a user stands for some.
    fn size(&self, answer: &Answer, row: &Row) -> Option<f64> {
        let jobs = self.parameter("jobs_per_set").map_or(1.0, |parameter| parameter.value);
        row.number(&answer.size).or_else(|| row.number("threads").map(|threads| threads / jobs))
    }

    /// By how many deviations an interval of 95 percent reaches: more where few scores say how large they are.
    pub(super) fn deviations(&self) -> f64 {
        match &self.discrepancy {
            None => t95(f64::INFINITY),
            Some(discrepancy) => discrepancy.stretch * t95(BEFORE + f64::from(discrepancy.scores)),
        }
    }
}

impl Discrepancy {
    /// Whether there were enough scores to hold intervals against them.
    pub fn calibrated(&self) -> bool {
        self.scores >= ENOUGH
    }

    /// The table of a model file.
    pub(super) fn text(&self) -> String {
        let mut text = String::from(
            "# What the form is off by for each doubling of the size beyond the rows, learned by leaving rows out.\n[discrepancy]\n",
        );
        let _ = writeln!(text, "scores  = {}\nstretch = {:.4}", self.scores, self.stretch);
        let each: Vec<String> =
            self.each.iter().map(|(quantity, each)| format!("\"{quantity}\" = {each:.5}")).collect();
        let _ = writeln!(text, "each    = {{ {} }}", each.join(", "));
        text
    }
}

/// Reads the table; numbers that are none are problems.
pub(super) fn read(entry: Entry, problems: &mut Problems) -> Option<Discrepancy> {
    let mut section = Section::of("discrepancy", entry.node, problems)?;
    let scores = section.read("scores", problems, |text| inside(text, 0.0, 1e6));
    let stretch = section.read("stretch", problems, |text| inside(text, 0.01, 100.0));
    let entries = section.take("each").map(|entry| super::table(entry.node, "discrepancy.each", problems));
    section.finish(&[], |_| None, problems);
    let mut each = Vec::new();
    for entry in entries.unwrap_or_default() {
        let number = if let Form::Text(text) = &entry.node.form { inside(text, 0.0, 100.0).ok() } else { None };
        match number {
            Some(number) => each.push((entry.name, number)),
            None => problems.add(&entry.at, &format!("discrepancy.each.{}", entry.name), "a number from 0 to 100"),
        }
    }
    Some(Discrepancy { each, scores: scores.unwrap_or(0.0) as u32, stretch: stretch.unwrap_or(1.0) })
}

fn inside(text: &str, low: f64, high: f64) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (low..=high).contains(number));
    number.ok_or_else(|| format!("a number from {low} to {high}, got `{text}`"))
}
