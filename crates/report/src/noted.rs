//! Notes with whom they are about: where a trial ran, and what several of them say alike.
//!
//! The one idea: two notes that differ in their figures alone contradict each other until each says where it was taken, or one
//! says the range.

use crate::caveats::{CaveatsOfKind, trials_of};
use analysis::{Caveat, Findings, TrialSummary};
use observation::Factor;
use std::collections::BTreeMap;

/// Where each trial of a run of several ran: a number alone says nothing to who sees one page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    of: BTreeMap<u32, String>,
    /// The trials that the answer rests on.
    answer: Vec<u32>,
}

impl Places {
    /// Streams, levels, and the system where there are several.
    pub fn of(findings: &Findings) -> Places {
        let several = findings.run.systems.len() > 1;
        let place = |trial: &TrialSummary| {
            let label = &trial.label;
            let streams: Vec<&str> = label.streams.iter().map(|stream| stream.name.as_str()).collect();
            let levels = label.factors.iter().filter(|factor| !streams.contains(&factor.level.text()));
            let system = several.then(|| label.system.clone());
            let words = [streams.join(" and ")].into_iter().chain(levels.map(Factor::in_words)).chain(system);
            (label.index, words.collect::<Vec<_>>().join(", "))
        };
        let of = if findings.trials.len() < 2 { BTreeMap::new() } else { findings.trials.iter().map(place).collect() };
        let answered = findings.points.iter().filter(|point| findings.answered.contains(&point.at));
        Places { of, answer: answered.flat_map(|point| point.trials.iter().copied()).collect() }
    }

    /// The same notes, those of trials that the answer rests on first: they are what a reader holds against it.
    pub fn answer_first<'a>(&self, about: impl Iterator<Item = &'a Caveat>) -> Vec<&'a Caveat> {
        let mut about: Vec<&Caveat> = about.collect();
        about.sort_by_key(|caveat| !caveat.trial.is_some_and(|trial| self.answer.contains(&trial)));
        about
    }

    /// ` (trial 7: random-read, queue depth 32)`, ` (trials 0, 3)`; nothing of none.
    pub fn whom(&self, trials: &[u32]) -> String {
        match trials {
            [] => String::new(),
            [one] => format!(" ({})", self.trial(*one)),
            all => format!(" (trials {})", all.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")),
        }
    }

    fn trial(&self, trial: u32) -> String {
        self.of.get(&trial).map_or_else(|| format!("trial {trial}"), |place| format!("trial {trial}: {place}"))
    }

    /// ` (trial 7: random-read, queue depth 32; also in 2 more trials)`: whom the first of these caveats of a kind is about, and in how
    /// many trials beside there is one.
    pub fn whose(&self, about: &[&Caveat]) -> String {
        let Some(caveat) = about.first() else { return String::new() };
        let beside = trials_of(about.iter().copied()).filter(|count| *count > 1);
        let more = beside.map(|count| format!("also in {}", units::counted(count as u64 - 1, "more trials")));
        let all: Vec<String> = caveat.trial.map(|trial| self.trial(trial)).into_iter().chain(more).collect();
        if all.is_empty() { String::new() } else { format!(" ({})", all.join("; ")) }
    }
}

/// The notes of a kind, each with the trials that it is about: those that differ in their figures alone are one, with the ranges.
pub fn told(kind: &CaveatsOfKind) -> Vec<(String, Vec<u32>)> {
    let mut alike: Vec<(String, Vec<&Caveat>)> = Vec::new();
    for caveat in &kind.caveats {
        let words = words(&caveat.text);
        match alike.iter_mut().find(|(known, _)| *known == words) {
            Some((_, all)) => all.push(caveat),
            None => alike.push((words, vec![caveat])),
        }
    }
    let one = |(_, all): (String, Vec<&Caveat>)| {
        let texts: Vec<&str> = all.iter().map(|caveat| caveat.text.as_str()).collect();
        (ranged(&texts), all.iter().filter_map(|caveat| caveat.trial).collect())
    };
    alike.into_iter().map(one).collect()
}

/// What stands before a figure, the figure, and what stands behind it; none of a word that is no figure.
fn figure(word: &str) -> Option<(&str, &str, &str)> {
    let from = word.find(|c: char| c.is_ascii_digit()).filter(|at| word[..*at].chars().all(|c| c == '('))?;
    let to = word.trim_end_matches([',', ';', '.', ':', ')']).len();
    let bare = word.get(from..to)?.trim_end_matches('%').replace('\u{202f}', "");
    bare.parse::<f64>().ok().map(|_| (&word[..from], &word[from..to], &word[to..]))
}

/// A text without its figures, and without the values of its options.
fn words(text: &str) -> String {
    let bare = |word: &str| match (figure(word), word.split_once('=')) {
        (Some((before, number, behind)), _) => {
            format!("{before}#{}{behind}", if number.ends_with('%') { "%" } else { "" })
        }
        (None, Some(("measure", _))) => "measure=#".to_owned(),
        _ => word.to_owned(),
    };
    text.split(' ').map(bare).collect::<Vec<_>>().join(" ")
}

/// Texts of the same words as one: each figure as the range of all, and the longest of the windows that they ask for.
fn ranged(texts: &[&str]) -> String {
    let all: Vec<Vec<&str>> = texts.iter().map(|text| text.split(' ').collect()).collect();
    let place = |at: usize| {
        let here: Vec<&str> = all.iter().map(|words| words[at]).collect();
        if here.iter().all(|word| *word == here[0]) {
            return here[0].to_owned();
        }
        let by = |value: fn(&str) -> f64| {
            let order = |a: &&&str, b: &&&str| value(a).total_cmp(&value(b));
            (here.iter().min_by(order).map_or("", |one| *one), here.iter().max_by(order).map_or("", |one| *one))
        };
        let Some((before, _, behind)) = figure(here[0]) else { return by(window_s).1.to_owned() };
        let (least, most) = by(number);
        let core = |word: &str| figure(word).map(|(_, core, _)| core.to_owned()).unwrap_or_default();
        format!("{before}{}{behind}", units::range(&core(least), " to ", &core(most)))
    };
    (0..all[0].len()).map(place).collect::<Vec<_>>().join(" ")
}

fn number(word: &str) -> f64 {
    let core = figure(word).map(|(_, core, _)| core.trim_end_matches('%').replace('\u{202f}', ""));
    core.and_then(|core| core.parse().ok()).unwrap_or(f64::NAN)
}

fn window_s(word: &str) -> f64 {
    let length = word.split_once('=').map(|(_, length)| length.trim_end_matches([',', ';', '.']));
    length.and_then(|length| units::parse_duration(length).ok()).map_or(0.0, |length| length.seconds())
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::CaveatKind;

    fn of(trial: impl Into<Option<u32>>, text: &str) -> Caveat {
        Caveat { kind: CaveatKind::ThinTail, trial: trial.into(), text: text.to_owned() }
    }

    #[test]
    fn a_footnote_says_in_how_many_more_trials_its_note_is() {
        let places = Places { of: BTreeMap::from([(7, "day, 8 sessions".to_owned())]), answer: vec![7] };
        let (first, again, other, run) = (of(3, ""), of(3, ""), of(7, ""), of(None, ""));
        assert_eq!(places.whose(&[&first, &again, &other]), " (trial 3; also in 1 more trial)");
        assert_eq!(places.whose(&[&other, &first]), " (trial 7: day, 8 sessions; also in 1 more trial)");
        assert_eq!(places.whose(&[&first, &again]), " (trial 3)", "of one trial there are no more");
        assert_eq!(places.answer_first([&first, &other].into_iter()), [&other, &first], "the answer rests on trial 7");
        assert_eq!((places.whose(&[&run]), places.whose(&[])), (String::new(), String::new()));
        assert_eq!(
            (places.whom(&[7]), places.whom(&[3, 7])),
            (" (trial 7: day, 8 sessions)".into(), " (trials 3, 7)".into())
        );
    }

    #[test]
    fn notes_that_differ_in_their_figures_alone_are_one_with_the_ranges() {
        let caveats = vec![
            of(0, "waited 69.1% of the time (1\u{202f}200 of 9\u{202f}000): needs --set measure=2min; stop them"),
            of(4, "waited 7.5% of the time (40 of 9\u{202f}000): needs --set measure=18s; stop them"),
            of(5, "waited for memory 3% of the time"),
            of(6, "waited 70% of the time (50 of 9\u{202f}000): needs --set measure=3s; stop them"),
        ];
        let told = told(&CaveatsOfKind { mark: 'a', kind: CaveatKind::ThinTail, caveats });
        let whole =
            "waited 7.5 to 70% of the time (40 to 1\u{202f}200 of 9\u{202f}000): needs --set measure=2min; stop them";
        assert_eq!(told, [(whole.to_owned(), vec![0, 4, 6]), ("waited for memory 3% of the time".to_owned(), vec![5])]);
    }
}
