//! The state policy of a trial: what it finds when it starts, and what a search looks for with it.
//!
//! The one idea: both are values, and words are made from them last. A run file keeps the words, which are read back here
//! when it is opened; what no version known here has written is kept as it stands.

use std::fmt::{self, Display, Formatter};
use units::Nanos;

crate::words! {
    /// A part of a state policy that is always said in the same words.
    pub enum PlainState {
        Trimmed = "trimmed and filled again" "The modules were told to hold nothing, then filled.",
        Filled = "filled again" "The modules were filled.",
        ForChecks = "because reads are checked" "Why they were filled, where the policy did not ask for it.",
        UntilSteady = "then the workload until steady" "Preconditioning went on with the trial's own workload.",
        AsFound = "data as it was found on the device" "A device that is not filled.",
        AsLeft = "data as the last trial left it" "Nothing was done to the data.",
        Restored = "data set restored to what it was after the fill" "A database's data set was brought back.",
        CachesAsLeft = "caches as left" "Nothing was done to the page cache.",
        CachesCold = "cold caches" "The page cache was dropped.",
        CachesWarm = "warm caches" "The modules were read once.",
        /// A checkpoint is forced, and the window is not cut to whole cycles of checkpoints.
        CheckpointForced = "a checkpoint forced and the window as asked for",
        CheckpointsLeft = "checkpoints left alone" "No checkpoint is forced.",
    }
}

/// One part of a state policy.
#[derive(Clone, Debug, PartialEq)]
pub enum StatePart {
    /// One that has a word.
    Plain(PlainState),
    /// Written over in order, so many times the capacity.
    Preconditioned {
        /// How many times.
        fills: f64,
    },
    /// A pause before the warm-up, in which burst credit returns.
    Settled {
        /// How long.
        pause: Nanos,
    },
    /// Anything that is only shown.
    Said(String),
}

/// What a trial finds when it starts, part by part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatePolicy(pub Vec<StatePart>);

impl StatePolicy {
    /// Whether it has this part.
    pub fn has(&self, part: PlainState) -> bool {
        self.0.contains(&StatePart::Plain(part))
    }

    /// Whether the modules were written over before the trial.
    pub fn preconditioned(&self) -> bool {
        self.0.iter().any(|part| matches!(part, StatePart::Preconditioned { .. }))
    }

    /// Whether there was a pause in which burst credit returns.
    pub fn settled(&self) -> bool {
        self.0.iter().any(|part| matches!(part, StatePart::Settled { .. }))
    }

    /// Reads the words of a run file back.
    pub fn read(words: &str) -> StatePolicy {
        StatePolicy(if words.is_empty() { Vec::new() } else { words.split(", ").map(StatePart::read).collect() })
    }
}

impl StatePart {
    fn read(words: &str) -> StatePart {
        let fills = || words.strip_prefix("preconditioned with ")?.strip_suffix(" fills")?.parse().ok();
        let known = PlainState::of_word(words).map(StatePart::Plain);
        let known = known.or_else(|| fills().map(|fills| StatePart::Preconditioned { fills }));
        let pause = || units::parse_duration(words.strip_suffix(" to settle")?).ok();
        let known = known.or_else(|| pause().map(|pause| StatePart::Settled { pause }));
        known.filter(|part| part.to_string() == words).unwrap_or_else(|| StatePart::Said(words.to_owned()))
    }
}

impl Display for StatePart {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            StatePart::Plain(part) => f.write_str(part.word()),
            StatePart::Preconditioned { fills } => write!(f, "preconditioned with {fills} fills"),
            StatePart::Settled { pause } => write!(f, "{} to settle", units::duration(*pause)),
            StatePart::Said(words) => f.write_str(words),
        }
    }
}

impl Display for StatePolicy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (place, part) in self.0.iter().enumerate() {
            write!(f, "{}{part}", if place == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// The bound that a search for the highest rate holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchGoal {
    /// Which quantile of response: 0.99.
    pub quantile: f64,
    /// What it must stay under.
    pub bound: Nanos,
}

impl SearchGoal {
    fn read(words: &str) -> Option<SearchGoal> {
        let (quantile, bound) = words.strip_prefix("highest rate with p")?.split_once(" under ")?;
        // `p999` is 0.999: the digits are those behind the point.
        let quantile = format!("0.{}", quantile.replace('.', "")).parse().ok()?;
        Some(SearchGoal { quantile, bound: units::parse_duration(bound).ok()? })
    }
}

/// `highest rate with p99 under 5 ms`, without rounding, because it is read back.
impl Display for SearchGoal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 4] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
        let quantile = format!("{}", (self.quantile * 1e6).round() / 1e4).replace('.', "");
        let (unit, name) = UNITS.iter().find(|(unit, _)| self.bound.0.is_multiple_of(*unit)).unwrap_or(&UNITS[3]);
        write!(f, "highest rate with p{quantile} under {} {name}", self.bound.0 / unit)
    }
}

/// What a search planned a trial for.
#[derive(Clone, Debug, PartialEq)]
pub struct Searched {
    /// In words.
    pub words: String,
    /// The bound that its rate was held against; none when it looked for the peak, to know where to search.
    pub goal: Option<SearchGoal>,
}

impl Searched {
    /// A trial at a rate that may hold the bound.
    pub fn probe(goal: SearchGoal) -> Searched {
        Searched { words: goal.to_string(), goal: Some(goal) }
    }

    /// The trial before the first rate is chosen.
    pub fn peak(goal: SearchGoal) -> Searched {
        Searched { words: format!("peak before the {goal}"), goal: None }
    }

    /// Reads the words of a run file back. Early versions wrote the purpose of a trial behind a colon.
    pub fn read(words: String) -> Searched {
        let (goal, purpose) = words.split_once(':').unwrap_or((&words, ""));
        let goal = SearchGoal::read(goal).filter(|_| purpose.trim() != "peak");
        Searched { goal, words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_back_from_its_words_and_unknown_words_stay() {
        let plain: Vec<StatePart> = PlainState::ALL.iter().map(|part| StatePart::Plain(*part)).collect();
        let pause = Nanos::from_secs(2);
        let other = [
            StatePart::Preconditioned { fills: 1.5 },
            StatePart::Settled { pause },
            StatePart::Said("whatever else".into()),
        ];
        let all = StatePolicy(plain.into_iter().chain(other).collect());
        assert_eq!(StatePolicy::read(&all.to_string()), all);
        for words in ["", ", ", "preconditioned with 02 fills", "cold caches, cold"] {
            assert_eq!(StatePolicy::read(words).to_string(), words);
        }
        assert!(all.settled() && !StatePolicy::read("caches as left").settled());
        assert!(all.preconditioned() && !StatePolicy::read("preconditioned with 02 fills").preconditioned());
    }

    #[test]
    fn goals_are_read_as_the_planner_writes_them() {
        let goal = |words: &str| Searched::read(words.to_owned()).goal;
        let found = |quantile, ns| Some(SearchGoal { quantile, bound: Nanos(ns) });
        assert_eq!(goal("highest rate with p999 under 250 us"), found(0.999, 250_000));
        assert_eq!(goal("highest rate with p99 under 5 ms: confirm"), found(0.99, 5_000_000));
        assert_eq!(goal("highest rate with p99 under 5 ms: peak"), None);
        assert_eq!(goal("knee"), None);
        for ns in [1, 1_500, 2_000_000, 3_000_000_000] {
            let goal = SearchGoal { quantile: 0.9995, bound: Nanos(ns) };
            assert_eq!(Searched::read(Searched::probe(goal).words), Searched::probe(goal));
            assert_eq!(Searched::read(Searched::peak(goal).words), Searched::peak(goal));
        }
    }
}
