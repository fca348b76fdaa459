//! How far a model's form is off, beside the doubt of its numbers: by quantity, and more so away from what it was fitted on.
//!
//! The one idea: what a fit cannot see is learned from what it gets wrong when rows, whole curves and the largest sizes are
//! left out: among the rows, and for each doubling of the size beyond them. A few scores weigh against what was known before,
//! so that two rows that are met by chance promise little.

use super::{Answer, Description};
use crate::fit::t95;
use crate::kind::Shape;
use crate::rows::Row;
use reading::{Entry, Form, Problems, Section};
use std::fmt::Write as _;

/// What was learned of a model by leaving rows out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Discrepancy {
    /// Standard deviation of the logarithm of rows around the form, among the rows: by quantity, and by quantity and the
    /// words that a row asks by, where enough scores say so.
    pub near: Vec<(String, f64)>,
    /// The same by quantity, for a doubling of the size beyond the rows.
    pub each: Vec<(String, f64)>,
    /// Scores behind it; tied values count once.
    pub scores: u32,
    /// The factor by which intervals were stretched so that 95 of 100 scores lay inside; 1 where too few say so.
    pub stretch: f64,
}

/// Scores from which on intervals are stretched to what was left out, and called calibrated.
pub const ENOUGH: u32 = 20;
/// How many scores of its own outweigh what was known before.
const BEFORE: f64 = 4.0;
/// Below the smallest size a machine is less busy, and its parts have less to do with each other.
const BELOW: f64 = 0.4;
/// Up to so much of a doubling beyond the rows, what is off is as among them.
pub(crate) const NEAR: f64 = 0.25;
/// No few scores make a deviation less than this share of what was known before.
const LEAST: f64 = 0.25;

/// What a quantity is off by for a doubling before anything was learned: errors of published models of servers and storage
/// where they extrapolate by a factor of two are 3 to 10 percent, and larger for times.
pub(crate) fn before(shape: Shape) -> f64 {
    match shape {
        Shape::Rate => 0.04,
        Shape::TimeOfPopulation | Shape::Other => 0.05,
    }
}

/// A deviation from what was known before, and from scores: the square of each, what of it is accounted for, and its weight. A
/// score that is accounted for by more than what is asked for says little of it.
pub(crate) fn learned(before: f64, scores: impl Iterator<Item = (f64, f64, f64)>) -> f64 {
    let known = before * before;
    let (mut sum, mut weights) = (BEFORE * known, BEFORE);
    for (square, accounted, weight) in scores {
        let said = known / (known + accounted);
        sum += weight * said * said * (square - accounted);
        weights += weight * said * said;
    }
    libm::sqrt((sum / weights).max(LEAST * LEAST * known))
}

/// Degrees of freedom of deviations that so many scores say.
pub(crate) fn freedom(scores: u32) -> f64 {
    BEFORE + f64::from(scores)
}

/// How far a size lies beyond the sizes of the rows, in doublings.
pub(crate) fn beyond(size: Option<f64>, fitted: Option<(f64, f64)>) -> f64 {
    match (size, fitted) {
        (Some(size), Some((_, high))) if size > high => libm::log2(size / high),
        (Some(size), Some((low, _))) if size < low && size > 0.0 => BELOW * libm::log2(low / size),
        _ => 0.0,
    }
}

impl Description {
    /// Standard deviation of the logarithm of a row around the answer, with what comes from the form.
    pub fn off(&self, row: &Row, quantity: &str) -> f64 {
        let Some(discrepancy) = &self.discrepancy else { return self.noise };
        let find =
            |known: &[(String, f64)], name: &str| known.iter().find(|(known, _)| known == name).map(|(_, off)| *off);
        let shape = self.kind.answers().iter().find(|known| known.name == quantity).map(|known| known.shape);
        let each = find(&discrepancy.each, quantity).or_else(|| shape.map(before)).unwrap_or(0.0);
        let answer = self.answers.iter().find(|answer| answer.metrics.iter().any(|known| known.quantity == quantity));
        let said = answer.and_then(|answer| find(&discrepancy.near, &answer.said(row, quantity)));
        let near = said.or_else(|| find(&discrepancy.near, quantity)).unwrap_or(self.noise);
        let beyond = beyond(answer.and_then(|answer| self.size(answer, row)), answer.and_then(|answer| answer.fitted));
        libm::sqrt(near * near + each * each * beyond * beyond)
    }

    /// The size that a question asks by: that of the rows, or the sessions of a study, of which a set or a user stands for some.
    fn size(&self, answer: &Answer, row: &Row) -> Option<f64> {
        let jobs = self.parameter("jobs_per_set").map_or(1.0, |parameter| parameter.value);
        row.number(&answer.size).or_else(|| row.number("threads").map(|threads| threads / jobs))
    }

    /// By how many deviations an interval of 95 percent reaches: of what was learned, which is more where few scores say how
    /// large they are, and of what is known.
    pub(super) fn deviations(&self) -> (f64, f64) {
        let known = t95(f64::INFINITY);
        let learned = |found: &Discrepancy| (found.stretch * t95(freedom(found.scores)), found.stretch * known);
        self.discrepancy.as_ref().map_or((known, known), learned)
    }
}

impl Answer {
    /// A quantity and the words that a row asks for it by.
    pub(crate) fn said(&self, row: &Row, quantity: &str) -> String {
        let words = self.inputs.iter().filter(|input| row.number(input).is_none()).filter_map(|input| row.text(input));
        words.fold(quantity.to_owned(), |said, word| format!("{said} {word}"))
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
            "# What rows are off by, among those fitted and for each doubling of the size beyond, learned by leaving rows out.\n[discrepancy]\n",
        );
        let _ = writeln!(text, "scores  = {}\nstretch = {:.4}", self.scores, self.stretch);
        for (name, offs) in [("near   ", &self.near), ("each   ", &self.each)] {
            let offs: Vec<String> = offs.iter().map(|(said, off)| format!("\"{said}\" = {off:.5}")).collect();
            let _ = writeln!(text, "{name} = {{ {} }}", offs.join(", "));
        }
        text
    }
}

/// Reads the table; numbers that are none are problems.
pub(super) fn read(entry: Entry, problems: &mut Problems) -> Option<Discrepancy> {
    let mut section = Section::of("discrepancy", entry.node, problems)?;
    let scores = section.read("scores", problems, |text| inside(text, 0.0, 1e6));
    let stretch = section.read("stretch", problems, |text| inside(text, 0.01, 100.0));
    let near = section.take("near").map(|entry| offs("near", entry, problems)).unwrap_or_default();
    let each = section.take("each").map(|entry| offs("each", entry, problems)).unwrap_or_default();
    section.finish(&[], |_| None, problems);
    Some(Discrepancy { near, each, scores: scores.unwrap_or(0.0) as u32, stretch: stretch.unwrap_or(1.0) })
}

/// Deviations by name.
fn offs(key: &str, entry: Entry, problems: &mut Problems) -> Vec<(String, f64)> {
    let key = format!("discrepancy.{key}");
    let mut found = Vec::new();
    for entry in super::table(entry.node, &key, problems) {
        let number = if let Form::Text(text) = &entry.node.form { inside(text, 0.0, 100.0).ok() } else { None };
        match number {
            Some(number) => found.push((entry.name, number)),
            None => problems.add(&entry.at, &format!("{key}.{}", entry.name), "a number from 0 to 100"),
        }
    }
    found
}

fn inside(text: &str, low: f64, high: f64) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (low..=high).contains(number));
    number.ok_or_else(|| format!("a number from {low} to {high}, got `{text}`"))
}
