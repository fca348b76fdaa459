//! The values that a key can hold, and the texts that they are read from.
//!
//! The one idea: a value is read from the same text in the file, as a level of a factor, and behind `--set`.
//!
//! What it does not do: it knows no key; ranges and choices stand in the table of keys.

use crate::{Precondition, Priority, PriorityClass, SyncMode};
use units::{Bytes, Nanos, PerSecond, Share};
use workload::block::{Hotspot, Offsets, Transfer};

/// A checked value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A size.
    Bytes(Bytes),
    /// A time.
    Duration(Nanos),
    /// Events a second.
    Rate(PerSecond),
    /// A part of a whole.
    Share(Share),
    /// A whole number.
    Count(u64),
    /// Yes or no.
    Flag(bool),
    /// One of a few words; `off` and `auto` among them.
    Word(&'static str),
    /// Transfer sizes with their weights.
    Transfers(Vec<Transfer>),
    /// Which offsets a random pattern prefers.
    Offsets(Offsets),
    /// When written data is made durable.
    Sync(SyncMode),
    /// I/O priority.
    Priority(Priority),
    /// What is written before a trial.
    Precondition(Precondition),
    /// Any text.
    Text(String),
}

impl Value {
    /// The number in base units, for levels and charts; a word has none.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Bytes(size) => Some(size.0 as f64),
            Value::Duration(time) => Some(time.seconds()),
            Value::Rate(rate) => Some(rate.0),
            Value::Share(share) => Some(share.0),
            Value::Count(count) => Some(*count as f64),
            Value::Transfers(list) if list.len() == 1 => Some(list[0].size.0 as f64),
            _ => None,
        }
    }
}

/// Reads a share. A hundredth has no exact binary form, so 70% comes as 0.7000000000000001; the last digits are rounded
/// away, because levels are compared and printed.
pub(crate) fn share(text: &str) -> Result<Share, String> {
    let share = units::parse_share(text).map_err(|e| e.to_string())?;
    Ok(Share((share.0 * 1e12).round() / 1e12))
}

/// Reads transfer sizes: `4 KiB`, or a mixture such as `70% 4 KiB + 30% 64 KiB`.
pub(crate) fn transfers(text: &str) -> Result<Vec<Transfer>, String> {
    if !text.contains('+') && !text.contains('%') {
        let size = units::parse_bytes(text).map_err(|e| e.to_string())?;
        return Ok(vec![Transfer { size, weight: 1.0 }]);
    }
    let parts: Result<Vec<Transfer>, String> = text.split('+').map(|part| weighted(part.trim())).collect();
    let parts = parts?;
    let total: f64 = parts.iter().map(|part| part.weight).sum();
    if (total - 1.0).abs() > 1e-9 {
        return Err(format!("the shares of a mixture add up to 100%, got {}", units::percent(total)));
    }
    Ok(parts)
}

fn weighted(part: &str) -> Result<Transfer, String> {
    let form = || format!("a part of a mixture is a share and a size, as in `70% 4 KiB`, got `{part}`");
    let (share, size) = part.split_once('%').ok_or_else(form)?;
    let weight = self::share(&format!("{share}%"))?.0;
    let size = units::parse_bytes(size).map_err(|e| e.to_string())?;
    if weight <= 0.0 {
        return Err(form());
    }
    Ok(Transfer { size, weight })
}

/// Reads offsets: `uniform`, `zipf 0.99`, `hotspot 90% to 10%` (of the operations, to of the blocks).
pub(crate) fn offsets(text: &str) -> Result<Offsets, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["uniform"] => Ok(Offsets::Uniform),
        ["zipf", exponent] => zipf(exponent),
        ["hotspot", operations, "to", blocks] => hotspot(operations, blocks),
        _ => Err(format!("one of `uniform`, `zipf 0.99` or `hotspot 90% to 10%`, got `{text}`")),
    }
}

/// Reads the exponent of Zipf's law.
pub(crate) fn zipf(text: &str) -> Result<Offsets, String> {
    let refused = || format!("a zipf exponent lies above 0 and at most 4, and is not 1 within 0.000001, got `{text}`");
    let exponent: f64 = text.parse().map_err(|_| refused())?;
    if exponent > 0.0 && exponent <= 4.0 && (exponent - 1.0).abs() > 1e-6 {
        Ok(Offsets::Zipf { exponent })
    } else {
        Err(refused())
    }
}

/// Reads the two shares of a hot spot.
pub(crate) fn hotspot(operations: &str, blocks: &str) -> Result<Offsets, String> {
    let (operations, blocks) = (share(operations)?, share(blocks)?);
    if blocks.0 <= 0.0 || blocks.0 >= 1.0 {
        return Err(format!("the hot blocks are more than 0% and less than 100%, got {}", units::percent(blocks.0)));
    }
    Ok(Offsets::Hotspot(Hotspot { operations, blocks }))
}

/// Reads a sync mode: `never`, `each`, `every 32`.
pub(crate) fn sync(text: &str) -> Result<SyncMode, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["never"] => Ok(SyncMode::Never),
        ["each"] => Ok(SyncMode::Each),
        ["every", count] if matches!(count.parse::<u32>(), Ok(1..)) => Ok(SyncMode::Every(count.parse().unwrap_or(1))),
        _ => Err(format!("one of `never`, `each` or `every N` with N a whole number from 1, got `{text}`")),
    }
}

/// Reads an I/O priority: `off`, `idle`, `best-effort 4`, `real-time 0`.
pub(crate) fn priority(text: &str) -> Result<Value, String> {
    let refused = || format!("one of `off`, `idle`, `best-effort 0` to `7` or `real-time 0` to `7`, got `{text}`");
    let words: Vec<&str> = text.split_whitespace().collect();
    let (class, level) = match words.as_slice() {
        ["off"] => return Ok(Value::Word("off")),
        ["idle"] => return Ok(Value::Priority(Priority { class: PriorityClass::Idle, level: 0 })),
        ["best-effort", level] => (PriorityClass::BestEffort, level),
        ["real-time", level] => (PriorityClass::RealTime, level),
        _ => return Err(refused()),
    };
    let level: u8 = level.parse().ok().filter(|level| *level <= 7).ok_or_else(refused)?;
    Ok(Value::Priority(Priority { class, level }))
}

/// SNIA's cap on the rounds of a preconditioning.
const ROUNDS_MAX: u32 = 25;
/// SNIA's length of a round.
const ROUND: Nanos = Nanos::from_secs(60);

/// Reads a preconditioning: `off`, `2 fills`, `0.5 fills until steady`.
pub(crate) fn precondition(text: &str) -> Result<Value, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (fills, until_steady) = match words.as_slice() {
        ["off"] => return Ok(Value::Word("off")),
        [fills, "fill" | "fills"] => (fills, false),
        [fills, "fill" | "fills", "until", "steady"] => (fills, true),
        _ => return Err(format!("one of `off`, `2 fills` or `2 fills until steady`, got `{text}`")),
    };
    let fills: f64 = fills
        .parse()
        .ok()
        .filter(|fills| (0.0..=100.0).contains(fills))
        .ok_or_else(|| format!("the number of fills lies between 0 and 100, got `{fills}`"))?;
    Ok(Value::Precondition(Precondition { fills, until_steady, round: ROUND, rounds_max: ROUNDS_MAX }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_mixture_keeps_its_weights_and_must_add_up() {
        assert_eq!(
            transfers("70% 4 KiB + 30% 64 KiB"),
            Ok(vec![Transfer { size: Bytes::kib(4), weight: 0.7 }, Transfer { size: Bytes::kib(64), weight: 0.3 }])
        );
        assert!(transfers("70% 4 KiB + 40% 8 KiB").unwrap_err().contains("110%"));
        assert!(transfers("4096").unwrap_err().contains("no unit"));
    }

    #[test]
    fn offsets_are_read_from_words() {
        assert_eq!(offsets("zipf 0.99"), Ok(Offsets::Zipf { exponent: 0.99 }));
        assert!(offsets("zipf 1").is_err());
        let hot = Hotspot { operations: Share(0.9), blocks: Share(0.1) };
        assert_eq!(offsets("hotspot 90% to 10%"), Ok(Offsets::Hotspot(hot)));
    }

    #[test]
    fn sync_priority_and_precondition_say_what_is_allowed() {
        assert_eq!(sync("every 32"), Ok(SyncMode::Every(32)));
        assert!(sync("every 0").unwrap_err().contains("every N"));
        assert!(priority("best-effort 9").unwrap_err().contains("best-effort 0"));
        assert!(matches!(precondition("2 fills until steady"), Ok(Value::Precondition(p)) if p.until_steady));
    }

    proptest! {
        #[test]
        fn no_text_makes_a_value_panic(text in ".{0,32}") {
            let _ = (transfers(&text), offsets(&text), sync(&text), priority(&text), precondition(&text));
        }
    }
}
