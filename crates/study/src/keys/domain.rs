//! Values of access and state as texts: durability, priority, preconditioning.

use crate::{Precondition, Priority, PriorityClass, SyncMode, Wire};
use reading::key::Domain;
use units::Nanos;
use workload::happening::{self, Happening};

/// `capacity=100MB/s jitter=5us`.
pub(crate) struct Wires;

impl Domain for Wires {
    type Value = Wire;

    fn read(&self, text: &str) -> Result<Wire, String> {
        let words = if text == "plain" { "" } else { text };
        Wire::parse(words).map_err(|error| format!("{}: {error}", self.allowed()))
    }

    fn allowed(&self) -> String {
        "`plain`, or some of `delay=TIME jitter=TIME capacity=RATE aggressor=RATE share=SHARE tls=on`".to_owned()
    }
}

/// A wire of its own, or `same`.
pub(crate) struct OwnWires;

impl Domain for OwnWires {
    type Value = Option<Wire>;

    fn read(&self, text: &str) -> Result<Option<Wire>, String> {
        if text == "same" { Ok(None) } else { Wires.read(text).map(Some).map_err(|_| self.refused(text)) }
    }

    fn allowed(&self) -> String {
        format!("`same`, {}", Wires.allowed())
    }
}

/// `never`, `each`, `every 32`.
pub(crate) struct Syncs;

impl Domain for Syncs {
    type Value = SyncMode;

    fn read(&self, text: &str) -> Result<SyncMode, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let refused = || format!("one of `never`, `each` or `every N` with N a whole number from 1, got `{text}`");
        match words.as_slice() {
            ["never"] => Ok(SyncMode::Never),
            ["each"] => Ok(SyncMode::Each),
            ["every", count] => count.parse().ok().filter(|count| *count > 0).map(SyncMode::Every).ok_or_else(refused),
            _ => Err(refused()),
        }
    }

    fn allowed(&self) -> String {
        "`never`, `each` or `every N`".to_owned()
    }
}

/// `off`, `idle`, `best-effort 4`, `real-time 0`.
pub(crate) struct Priorities;

impl Domain for Priorities {
    type Value = Option<Priority>;

    fn read(&self, text: &str) -> Result<Option<Priority>, String> {
        let refused = || format!("one of `off`, `idle`, `best-effort 0` to `7` or `real-time 0` to `7`, got `{text}`");
        let words: Vec<&str> = text.split_whitespace().collect();
        let (class, level) = match words.as_slice() {
            ["off"] => return Ok(None),
            ["idle"] => (PriorityClass::Idle, "0"),
            ["best-effort", level] => (PriorityClass::BestEffort, *level),
            ["real-time", level] => (PriorityClass::RealTime, *level),
            _ => return Err(refused()),
        };
        let level: u8 = level.parse().ok().filter(|level| *level <= 7).ok_or_else(refused)?;
        Ok(Some(Priority { class, level }))
    }

    fn allowed(&self) -> String {
        "`off`, `idle`, `best-effort 0`..`7` or `real-time 0`..`7`".to_owned()
    }
}

/// SNIA's cap on the rounds of a preconditioning.
const ROUNDS_MAX: u32 = 25;
/// SNIA's length of a round.
const ROUND: Nanos = Nanos::from_secs(60);

/// `off`, `2 fills`, `0.5 fills until steady`.
pub(crate) struct Preconditions;

impl Domain for Preconditions {
    type Value = Option<Precondition>;

    fn read(&self, text: &str) -> Result<Option<Precondition>, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (fills, until_steady) = match words.as_slice() {
            ["off"] => return Ok(None),
            [fills, "fill" | "fills"] => (fills, false),
            [fills, "fill" | "fills", "until", "steady"] => (fills, true),
            _ => return Err(format!("one of {}, got `{text}`", self.allowed())),
        };
        let number = fills.parse().ok().filter(|fills| (0.0..=100.0).contains(fills));
        let fills = number.ok_or_else(|| format!("the number of fills lies between 0 and 100, got `{fills}`"))?;
        Ok(Some(Precondition { fills, until_steady, round: ROUND, rounds_max: ROUNDS_MAX }))
    }

    fn allowed(&self) -> String {
        "`off`, `2 fills` or `2 fills until steady`".to_owned()
    }
}

/// `2 s: fail controller 1; 4 s: restore controller 1`.
pub(crate) struct Events;

impl Domain for Events {
    type Value = Vec<(Nanos, Happening)>;

    fn read(&self, text: &str) -> Result<Vec<(Nanos, Happening)>, String> {
        happening::read(text)
    }

    fn allowed(&self) -> String {
        "`TIME: EVENT`, several with `;` between".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sync_priority_and_precondition_say_what_is_allowed() {
        assert_eq!(Syncs.read("every 32"), Ok(SyncMode::Every(32)));
        assert!(Syncs.read("every 0").unwrap_err().contains("every N"));
        assert!(Priorities.read("best-effort 9").unwrap_err().contains("best-effort 0"));
        assert!(matches!(Preconditions.read("2 fills until steady"), Ok(Some(p)) if p.until_steady));
    }

    proptest! {
        #[test]
        fn no_text_makes_a_value_panic(text in ".{0,32}") {
            let _ = (Syncs.read(&text), Priorities.read(&text), Preconditions.read(&text));
        }
    }
}
