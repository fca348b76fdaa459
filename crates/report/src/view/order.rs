//! The order in which systems, streams and levels stand: that of the study, for trials were run in random order.

use super::each_once;
use analysis::Findings;
use observation::{Factor, Level};

/// Systems in the order in which they were named, whatever order they were run in.
pub fn place_of_system(findings: &Findings, name: &str) -> usize {
    findings.run.systems.iter().position(|system| system.name == name).unwrap_or(usize::MAX)
}

/// Streams in the order of the study: trials were run in random order, and its text is the only other witness.
pub fn place_of_stream(findings: &Findings, name: &str) -> usize {
    findings.run.study_text.find(name).unwrap_or(usize::MAX)
}

/// Numbers ascend; words, and words beside numbers, come as they were listed.
pub fn in_order<'a>(findings: &Findings, mut levels: Vec<&'a Level>) -> Vec<&'a Level> {
    if levels.iter().all(|level| level.number().is_some()) {
        levels.sort_by(|a, b| order(a.number(), b.number()));
    } else {
        let lists = |line: &&str| levels.iter().all(|level| line.contains(level.text()));
        let run = &findings.run;
        let set = run.settings.iter().map(String::as_str).rfind(lists);
        let listed = set.or_else(|| run.study_text.lines().find(lists)).unwrap_or(&run.study_text);
        levels.sort_by_key(|level| place_in(listed, level));
    }
    levels
}

/// In a study levels stand in quotes, and their words elsewhere as well.
fn place_in(listed: &str, level: &Level) -> usize {
    let quoted = format!("\"{}\"", level.text());
    listed.find(&quoted).or_else(|| listed.find(level.text())).unwrap_or(usize::MAX)
}

pub fn order(a: Option<f64>, b: Option<f64>) -> std::cmp::Ordering {
    a.unwrap_or(f64::NAN).total_cmp(&b.unwrap_or(f64::NAN))
}

/// The levels of every factor of some rows, each factor's in order.
pub struct Levels<'a>(Vec<(&'a str, Vec<&'a Level>)>);

impl<'a> Levels<'a> {
    /// Those of all these factors.
    pub fn of(findings: &Findings, factors: impl Iterator<Item = &'a Factor> + Clone) -> Levels<'a> {
        let levels = |name: &'a str| {
            let of = factors.clone().filter(|factor| factor.name == name).map(|factor| &factor.level);
            (name, in_order(findings, each_once(of)))
        };
        Levels(each_once(factors.clone().map(|factor| factor.name.as_str())).into_iter().map(levels).collect())
    }

    /// Where the levels of a row stand among those, by factor: what rows are sorted by.
    pub fn ranks(&self, factors: &[Factor]) -> Vec<Option<usize>> {
        let level = |name: &str| factors.iter().find(|factor| factor.name == name).map(|factor| &factor.level);
        self.0.iter().map(|(name, all)| all.iter().position(|other| Some(*other) == level(name))).collect()
    }
}
