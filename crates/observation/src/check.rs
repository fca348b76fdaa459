//! What checks of the data found, what was acknowledged, and what went wrong, counted by kind.
//!
//! The one idea: whatever decides whether data can be trusted is a value with a word and a count. Sentences are made of these
//! values, and never the other way round.

use crate::{EventKind, words};
use std::collections::BTreeMap;

words! {
    /// What is checked.
    #[derive(Default)]
    pub enum CheckKind {
        #[default]
        Invariant = "invariant" "Something that always holds for the data.",
        Ledger = "ledger" "What was acknowledged is there, and what was rolled back is not.",
        Fingerprint = "fingerprint" "Tables, keys, indexes and counts of rows are those of the data set.",
        Recovery = "recovery" "The server takes connections again after it was lost.",
    }
}

words! {
    /// When it was checked.
    #[derive(Default)]
    pub enum CheckMoment {
        Before = "before the trial" "Before the load of the trial began.",
        #[default]
        After = "after the trial" "When the load of the trial had ended.",
        Outage = "after an outage" "When the server was back after it had been lost in the trial.",
    }
}

words! {
    /// What a check came to.
    #[derive(Default)]
    pub enum CheckResult {
        #[default]
        Passed = "passed" "It holds.",
        Failed = "failed" "It does not hold: the data is damaged, or acknowledged work is missing.",
        NotDone = "not done" "It could not be found out.",
    }
}

/// One check of the data of a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Check {
    /// What is checked.
    pub kind: CheckKind,
    /// When.
    pub moment: CheckMoment,
    /// Its name: `positions`, `ledger`.
    pub name: String,
    /// What should hold, as a sentence.
    pub says: String,
    /// What it came to.
    pub result: CheckResult,
    /// What was found, a line each: rows that break it, the count of acknowledged work that is missing.
    pub found: String,
    /// How long it took, seconds.
    pub took_s: f64,
}

impl Check {
    /// The name of a recovery after which an attempt at a trial was given up.
    pub const GAVE_UP: &str = "recovery";
}

/// A check with the attempt at a trial that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialCheck {
    /// Number of the trial.
    pub trial: u32,
    /// Which attempt at it, from 0: one that was interrupted and run again counts, too.
    pub attempt: u32,
    /// The check.
    pub check: Check,
}

/// What a trial knows of acknowledged work: enough to hold it against the data at any later time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Counts, by the name that the workload gives them.
    pub counts: BTreeMap<String, i64>,
    /// What is known of numbered pieces of work, in pages of the workload's own form.
    pub pages: BTreeMap<u64, Vec<u8>>,
}

/// What went wrong in one way, counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mishap {
    /// Index of the stream.
    pub stream: u16,
    /// [`EventKind::Damage`] or [`EventKind::Failure`].
    pub kind: EventKind,
    /// In which way, in words that are the same for all that went wrong so: `torn`, `connection lost`.
    pub what: String,
    /// How often in the measured window, by the moment at which it was due; damage of the whole trial counts.
    pub count: u64,
    /// The first of them.
    pub first: String,
}

impl Mishap {
    /// Adds what went wrong to others: those of one kind count together.
    pub fn add_to(self, all: &mut Vec<Mishap>) {
        let same = |one: &&mut Mishap| (one.stream, one.kind, &one.what) == (self.stream, self.kind, &self.what);
        match all.iter_mut().find(same) {
            Some(known) => known.count += self.count,
            None => all.push(self),
        }
    }
}
