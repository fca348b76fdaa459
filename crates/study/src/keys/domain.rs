//! Values of access and state as texts: durability, priority, preconditioning.

use crate::{Cpus, Precondition, Priority, PriorityClass, SyncMode, Wire};
use reading::key::{Domain, Rate};
use std::fmt::Debug;
use units::{Bytes, Nanos, PerSecond};
use workload::happening::{self, Happening};

/// A value that a function reads.
pub(crate) struct Said<T> {
    /// What may be written, in words.
    pub(crate) allowed: &'static str,
    /// The value, or why there is none where more can be said than what may be written.
    pub(crate) read: fn(&str) -> Result<T, Option<String>>,
}

impl<T: Clone + PartialEq + Debug> Domain for Said<T> {
    type Value = T;

    fn read(&self, text: &str) -> Result<T, String> {
        (self.read)(text).map_err(|why| why.unwrap_or_else(|| self.refused(text)))
    }

    fn allowed(&self) -> String {
        self.allowed.to_owned()
    }
}

const OF_WIRES: &str = "`plain`, or some of `delay=TIME jitter=TIME capacity=RATE aggressor=RATE share=SHARE tls=on`";

/// `capacity=100MB/s jitter=5us`.
pub(crate) const WIRE: Said<Wire> = Said { allowed: OF_WIRES, read: wire };

fn wire(text: &str) -> Result<Wire, Option<String>> {
    let words = if text == "plain" { "" } else { text };
    Wire::parse(words).map_err(|error| Some(format!("{OF_WIRES}: {error}")))
}

/// A wire of its own, or `same`.
pub(crate) const OWN_WIRE: Said<Option<Wire>> = Said {
    allowed: "`same`, `plain`, or some of `delay=TIME jitter=TIME capacity=RATE aggressor=RATE share=SHARE tls=on`",
    read: |text| if text == "same" { Ok(None) } else { wire(text).map(Some).map_err(|_| None) },
};

/// Whether what was written is read back when a trial has ended.
pub(crate) const READ_BACK: Said<bool> = Said {
    allowed: "one of `never`, `after`",
    read: |text| match text {
        "never" => Ok(false),
        "after" => Ok(true),
        // Which seed and which writes they were is in the file of that run, and in no study.
        "only" => Err(Some(format!(
            "{}: `prony verify RUN` reads and checks what an earlier run wrote",
            READ_BACK.refused(text)
        ))),
        _ => Err(None),
    },
};

/// `any`, `0-3,8`, `node 1`.
pub(crate) const CPUS_OF: Said<Cpus> =
    Said { allowed: "`any`, a list such as `0-3,8`, or `node N`", read: |text| Cpus::read(text).ok_or(None) };

/// `never`, `each`, `o_sync`, `every 32`.
pub(crate) const SYNCS: Said<SyncMode> = Said { allowed: "`never`, `each`, `o_sync` or `every N`", read: sync };

fn sync(text: &str) -> Result<SyncMode, Option<String>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let found = match words.as_slice() {
        ["never"] => Some(SyncMode::Never),
        ["each"] => Some(SyncMode::Each),
        ["o_sync"] => Some(SyncMode::Whole),
        ["every", count] => count.parse().ok().filter(|count| *count > 0).map(SyncMode::Every),
        _ => None,
    };
    found.ok_or_else(|| {
        Some(format!("one of `never`, `each`, `o_sync` or `every N` with N a whole number from 1, got `{text}`"))
    })
}

/// `off`, `idle`, `best-effort 4`, `real-time 0`.
pub(crate) const PRIORITIES: Said<Option<Priority>> =
    Said { allowed: "`off`, `idle`, `best-effort 0`..`7` or `real-time 0`..`7`", read: priority };

fn priority(text: &str) -> Result<Option<Priority>, Option<String>> {
    let refused =
        || Some(format!("one of `off`, `idle`, `best-effort 0` to `7` or `real-time 0` to `7`, got `{text}`"));
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

/// The least share of a processor that a quota tells well: a hundredth of its period is the least that the kernel takes.
const CORES_LEAST: f64 = 0.05;

/// `all`, or so many processors.
pub(crate) struct Processors;

impl Domain for Processors {
    type Value = Option<f64>;

    fn read(&self, text: &str) -> Result<Option<f64>, String> {
        if text == "all" {
            return Ok(None);
        }
        let cores = text.parse().ok().filter(|cores| (CORES_LEAST..=4096.0).contains(cores));
        cores.map(Some).ok_or_else(|| self.refused(text))
    }

    fn allowed(&self) -> String {
        format!("`all`, or processors from {CORES_LEAST} to 4096, such as 0.5")
    }

    fn number(&self, value: &Option<f64>) -> Option<f64> {
        *value
    }
}

/// Operations or bytes a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pace {
    /// So many operations.
    Operations(PerSecond),
    /// So many bytes.
    Bytes(f64),
}

/// A rate above 0 of operations, or of bytes.
pub(crate) struct Rates {
    /// The most operations a second.
    pub(crate) most: Rate,
}

/// What bytes come by.
const BYTE_RATES: [&str; 3] = ["/s", "/min", "/h"];

impl Domain for Rates {
    type Value = Pace;

    fn read(&self, text: &str) -> Result<Pace, String> {
        let bytes = BYTE_RATES.into_iter().find_map(|per| {
            let size = text.trim().strip_suffix(per)?.trim_end();
            let whole = size.ends_with('B').then(|| units::parse_bytes(size));
            whole.map(|size| (size, units::parse_rate(&format!("1{per}"))))
        });
        match bytes {
            Some((Ok(Bytes(size)), Ok(PerSecond(each)))) if size > 0 => Ok(Pace::Bytes(size as f64 * each)),
            Some((Err(error), _)) => Err(error.to_string()),
            Some(_) => Err(self.refused(text)),
            None => {
                let told = |error| format!("{error}, or bytes such as `200 MB/s`");
                self.most.read(text).map(Pace::Operations).map_err(told)
            }
        }
    }

    fn allowed(&self) -> String {
        format!("{}, or bytes such as `200 MB/s`", self.most.allowed())
    }

    fn number(&self, value: &Pace) -> Option<f64> {
        match value {
            Pace::Operations(rate) => Some(rate.0),
            Pace::Bytes(rate) => Some(*rate),
        }
    }
}

/// SNIA's cap on the rounds of a preconditioning.
const ROUNDS_MAX: u32 = 25;
/// SNIA's length of a round.
const ROUND: Nanos = Nanos::from_secs(60);

const OF_PRECONDITIONS: &str = "`off`, `2 fills` or `2 fills until steady`";

/// `off`, `2 fills`, `0.5 fills until steady`.
pub(crate) const PRECONDITIONS: Said<Option<Precondition>> = Said { allowed: OF_PRECONDITIONS, read: precondition };

fn precondition(text: &str) -> Result<Option<Precondition>, Option<String>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (fills, until_steady) = match words.as_slice() {
        ["off"] => return Ok(None),
        [fills, "fill" | "fills"] => (fills, false),
        [fills, "fill" | "fills", "until", "steady"] => (fills, true),
        _ => return Err(Some(format!("one of {OF_PRECONDITIONS}, got `{text}`"))),
    };
    let number = fills.parse().ok().filter(|fills| (0.0..=100.0).contains(fills));
    let fills = number.ok_or_else(|| Some(format!("the number of fills lies between 0 and 100, got `{fills}`")))?;
    Ok(Some(Precondition { fills, until_steady, round: ROUND, rounds_max: ROUNDS_MAX }))
}

/// `2 s: fail controller 1; 4 s: restore controller 1`.
pub(crate) const HAPPENINGS: Said<Vec<(Nanos, Happening)>> =
    Said { allowed: "`TIME: EVENT`, several with `;` between", read: |text| happening::read(text).map_err(Some) };

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_rate_is_one_of_operations_or_of_bytes() {
        let rates = Rates { most: Rate { max: 100e6 } };
        assert_eq!(rates.read("10k/s"), Ok(Pace::Operations(PerSecond(10_000.0))));
        assert_eq!(rates.read("200 MB/s"), Ok(Pace::Bytes(200e6)));
        assert_eq!(rates.read("1.5MiB/s"), Ok(Pace::Bytes(1_572_864.0)));
        assert_eq!(rates.read("6 GB/min"), Ok(Pace::Bytes(100e6)));
        assert!(rates.read("0 MB/s").unwrap_err().contains("such as `200 MB/s`"));
        assert!(rates.read("200 Mb/s").is_err() && rates.read("0/s").is_err() && rates.read("200 MB").is_err());
    }

    #[test]
    fn sync_priority_and_precondition_say_what_is_allowed() {
        assert_eq!(SYNCS.read("every 32"), Ok(SyncMode::Every(32)));
        assert!(SYNCS.read("every 0").unwrap_err().contains("every N"));
        assert!(PRIORITIES.read("best-effort 9").unwrap_err().contains("best-effort 0"));
        assert!(matches!(PRECONDITIONS.read("2 fills until steady"), Ok(Some(p)) if p.until_steady));
    }

    proptest! {
        #[test]
        fn no_text_makes_a_value_panic(text in ".{0,32}") {
            let _ = (SYNCS.read(&text), CPUS_OF.read(&text), Rates { most: Rate { max: 1e9 } }.read(&text), PRIORITIES.read(&text), PRECONDITIONS.read(&text));
        }
    }
}
