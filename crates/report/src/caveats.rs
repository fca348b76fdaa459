//! Caveats with their marks: one letter a kind, so that a letter beside a number leads to the words.
//!
//! A run of a hundred trials can hold a hundred caveats with figures that differ. Letters stand for kinds, the gravest first, and the
//! words of every caveat stand in one list under its letter.

use analysis::{Caveat, CaveatKind, Findings, PointSummary, Weight};
use std::collections::BTreeSet;

/// One kind of caveat with all its words.
#[derive(Clone, Debug, PartialEq)]
pub struct CaveatsOfKind {
    /// `a`, `b` and so on; what stands beside numbers.
    pub mark: char,
    /// Which kind.
    pub kind: CaveatKind,
    /// Every caveat of the kind, each once.
    pub caveats: Vec<Caveat>,
}

impl CaveatsOfKind {
    /// Those of its caveats that touch one of `trials`, or the whole run.
    pub fn about<'a>(&'a self, trials: &'a BTreeSet<u32>) -> impl Iterator<Item = &'a Caveat> {
        self.caveats.iter().filter(|caveat| caveat.trial.is_none_or(|trial| trials.contains(&trial)))
    }
}

/// How many trials these caveats are about; none where one of them is about no single trial.
pub fn trials_of<'a>(caveats: impl IntoIterator<Item = &'a Caveat>) -> Option<usize> {
    let trials: Option<BTreeSet<u32>> = caveats.into_iter().map(|caveat| caveat.trial).collect();
    trials.map(|trials| trials.len()).filter(|count| *count > 0)
}

/// All caveats of a report, in the order of their marks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Caveats(pub Vec<CaveatsOfKind>);

/// What a caveat touches: the amount of work done, or only the tail of its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touches {
    /// Throughput, elapsed time, means: the whole trial.
    All,
    /// Only high quantiles and maxima.
    Tail,
    /// Only how old the data was that others saw.
    Age,
}

/// What a kind of caveat touches.
pub fn touches(kind: CaveatKind) -> Touches {
    match kind {
        CaveatKind::ThinTail | CaveatKind::Censored => Touches::Tail,
        CaveatKind::Unseen => Touches::Age,
        _ => Touches::All,
    }
}

/// All caveats of the run, its trials and its points, each once, in the order in which they first appear.
pub fn all_caveats(findings: &Findings) -> Vec<&Caveat> {
    let trials = findings.trials.iter().flat_map(|trial| &trial.caveats);
    let points = findings.points.iter().flat_map(|point| &point.caveats);
    let mut seen: Vec<&Caveat> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for caveat in findings.caveats.iter().chain(trials).chain(points) {
        if known.insert((caveat.kind, caveat.trial, caveat.text.as_str())) {
            seen.push(caveat);
        }
    }
    seen
}

impl Caveats {
    /// Gives every kind its letter, the gravest first.
    pub fn of(findings: &Findings) -> Caveats {
        let mut kinds: Vec<CaveatsOfKind> = Vec::new();
        let mut all = all_caveats(findings);
        // Details are folded away: their letters come last, so that none seems to be missing among the others.
        let folded = |kind: CaveatKind| kind.weight() == Weight::Detail && touches(kind) != Touches::Tail;
        all.sort_by_key(|caveat| (folded(caveat.kind), caveat.kind.gravity()));
        for caveat in all {
            match kinds.iter_mut().find(|known| known.kind == caveat.kind) {
                Some(known) => known.caveats.push(caveat.clone()),
                None => {
                    let mark = char::from(b'a' + kinds.len().min(25) as u8);
                    kinds.push(CaveatsOfKind { mark, kind: caveat.kind, caveats: vec![caveat.clone()] });
                }
            }
        }
        Caveats(kinds)
    }

    /// The letters of those of `caveats` that are more than a detail, sorted, each once.
    pub fn grave<'a>(&self, caveats: impl IntoIterator<Item = &'a Caveat>) -> String {
        self.letters(caveats.into_iter().filter(|caveat| caveat.kind.weight() != Weight::Detail))
    }

    /// The letters of all that is to be said of a point, its tail included.
    pub fn of_number(&self, point: &PointSummary) -> String {
        let mut marks: Vec<char> = self.grave(&point.caveats).chars().chain(self.tail_marks(point).chars()).collect();
        marks.sort_unstable();
        marks.dedup();
        marks.into_iter().collect()
    }

    fn letters<'a>(&self, caveats: impl Iterator<Item = &'a Caveat>) -> String {
        let known = |caveat: &Caveat| self.0.iter().find(|known| known.kind == caveat.kind);
        let mut marks: Vec<char> = caveats.filter_map(|caveat| Some(known(caveat)?.mark)).collect();
        marks.sort_unstable();
        marks.dedup();
        marks.into_iter().collect()
    }

    /// Letters of what is to be said of the tail of a point; samples of several trials may be enough where those of each were too few.
    pub fn tail_marks(&self, point: &PointSummary) -> String {
        let known = point.response_p99_ms.has_interval() && point.response_p99_ms.tells();
        let of = point.caveats.iter().filter(|one| !(known && one.kind == CaveatKind::ThinTail));
        self.marks(of, Touches::Tail)
    }

    /// The letters of those of `caveats` that touch `what`, sorted, each once.
    pub fn marks<'a>(&self, caveats: impl IntoIterator<Item = &'a Caveat>, what: Touches) -> String {
        let touching = caveats.into_iter().filter(|caveat| touches(caveat.kind) == what);
        // A detail is no reason to look away from a number; few samples beyond a percentile are one.
        self.letters(touching.filter(|caveat| what == Touches::Tail || caveat.kind.weight() != Weight::Detail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_are_counted_once_however_many_notes_they_have() {
        let of = |trial| Caveat { kind: CaveatKind::ThinTail, trial, text: String::new() };
        assert_eq!(trials_of(&[of(Some(0)), of(Some(0)), of(Some(4))]), Some(2));
        assert_eq!(trials_of(&[of(Some(0)), of(None)]), None, "one is of no trial");
        assert_eq!(trials_of(&[]), None);
    }
}
