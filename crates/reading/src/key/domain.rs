//! What keys hold: the common forms of values, each read from one text in the file, behind `--set`, and as a level.

use crate::Entry;
use std::fmt;
use units::{Bytes, Nanos, PerSecond, Share};

/// A kind of value with its limits.
pub trait Domain: Sync {
    /// What it is read into.
    type Value: Clone + PartialEq + fmt::Debug;

    /// Reads a value.
    ///
    /// # Errors
    /// The limit, then the value that was given.
    fn read(&self, text: &str) -> Result<Self::Value, String>;

    /// What may be written, in words.
    fn allowed(&self) -> String;

    /// The number of a value in base units, for levels and charts; a word has none.
    fn number(&self, value: &Self::Value) -> Option<f64> {
        let _ = value;
        None
    }

    /// The text of a value that was spelled out as a table.
    ///
    /// # Errors
    /// The form that the table should have.
    fn spelled(&self, entries: &[Entry]) -> Option<Result<String, String>> {
        let _ = entries;
        None
    }

    /// The limit and the value that was given.
    fn refused(&self, text: &str) -> String {
        format!("{}, got `{text}`", self.allowed())
    }
}

/// A quantity between two others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span<T> {
    /// The least.
    pub min: T,
    /// The most.
    pub max: T,
}

/// A whole number between two others.
pub type Count = Span<u64>;

impl<T: PartialOrd + Copy> Span<T> {
    fn holds(&self, value: T) -> bool {
        self.min <= value && value <= self.max
    }

    fn within(&self, value: T, refused: impl FnOnce() -> String) -> Result<T, String> {
        if self.holds(value) { Ok(value) } else { Err(refused()) }
    }
}

impl Domain for Span<u64> {
    type Value = u64;

    fn read(&self, text: &str) -> Result<u64, String> {
        let count = units::parse_count(text).map_err(|_| self.refused(text))?;
        self.within(count, || self.refused(text))
    }

    fn allowed(&self) -> String {
        format!("a whole number from {} to {}", self.min, self.max)
    }

    fn number(&self, value: &u64) -> Option<f64> {
        Some(*value as f64)
    }
}

impl Domain for Span<Bytes> {
    type Value = Bytes;

    fn read(&self, text: &str) -> Result<Bytes, String> {
        let size = units::parse_bytes(text).map_err(|error| error.to_string())?;
        self.within(size, || self.refused(text))
    }

    fn allowed(&self) -> String {
        // A rounded limit would be refused itself.
        let limit = |size: Bytes| match size.0 % 1024 {
            0 => units::bytes(size),
            _ => format!("{} B", size.0),
        };
        format!("a size from {} to {}", limit(self.min), limit(self.max))
    }

    fn number(&self, value: &Bytes) -> Option<f64> {
        Some(value.0 as f64)
    }
}

impl Domain for Span<Nanos> {
    type Value = Nanos;

    fn read(&self, text: &str) -> Result<Nanos, String> {
        let time = units::parse_duration(text).map_err(|error| error.to_string())?;
        self.within(time, || self.refused(text))
    }

    fn allowed(&self) -> String {
        let shown = |time: Nanos| if time == Nanos::ZERO { "0 s".to_owned() } else { units::duration(time) };
        format!("a time from {} to {}", shown(self.min), shown(self.max))
    }

    fn number(&self, value: &Nanos) -> Option<f64> {
        Some(value.seconds())
    }
}

impl Domain for Span<Share> {
    type Value = Share;

    /// A hundredth has no exact binary form, so 70% comes as 0.7000000000000001; the last digits are rounded away, because
    /// levels are compared and printed.
    fn read(&self, text: &str) -> Result<Share, String> {
        let share = units::parse_share(text).map_err(|error| error.to_string())?;
        self.within(Share((share.0 * 1e12).round() / 1e12), || self.refused(text))
    }

    fn allowed(&self) -> String {
        format!("a share from {} to {}", units::percent(self.min.0), units::percent(self.max.0))
    }

    fn number(&self, value: &Share) -> Option<f64> {
        Some(value.0)
    }
}

/// Events a second, above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// The most.
    pub max: f64,
}

impl Domain for Rate {
    type Value = PerSecond;

    fn read(&self, text: &str) -> Result<PerSecond, String> {
        let rate = units::parse_rate(text).map_err(|error| error.to_string())?;
        if rate.0 > 0.0 && rate.0 <= self.max { Ok(rate) } else { Err(self.refused(text)) }
    }

    fn allowed(&self) -> String {
        format!("a rate above 0 /s, at most {}", units::rate(self.max))
    }

    fn number(&self, value: &PerSecond) -> Option<f64> {
        Some(value.0)
    }
}

/// A whole number, or one word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountOr {
    /// The least.
    pub min: u64,
    /// The most.
    pub max: u64,
    /// The word; its value is none.
    pub word: &'static str,
}

impl Domain for CountOr {
    type Value = Option<u64>;

    fn read(&self, text: &str) -> Result<Option<u64>, String> {
        if text == self.word {
            return Ok(None);
        }
        let count = Span { min: self.min, max: self.max };
        count.read(text).map(Some).map_err(|_| self.refused(text))
    }

    fn allowed(&self) -> String {
        format!("a whole number from {} to {}, or `{}`", self.min, self.max, self.word)
    }

    fn number(&self, value: &Option<u64>) -> Option<f64> {
        value.map(|count| count as f64)
    }
}

/// `true` or `false`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flag;

impl Domain for Flag {
    type Value = bool;

    fn read(&self, text: &str) -> Result<bool, String> {
        text.parse().map_err(|_| self.refused(text))
    }

    fn allowed(&self) -> String {
        "`true` or `false`".to_owned()
    }
}

/// One of these words, each with what it means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice<T: 'static>(pub &'static [(&'static str, T)]);

impl<T: Copy + PartialEq + fmt::Debug + Sync> Domain for Choice<T> {
    type Value = T;

    fn read(&self, text: &str) -> Result<T, String> {
        let known = self.0.iter().find(|(word, _)| *word == text);
        known.map(|(_, value)| *value).ok_or_else(|| self.refused(text))
    }

    fn allowed(&self) -> String {
        format!("one of {}", self.0.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", "))
    }
}

/// Any text, described in words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Text(pub &'static str);

impl Domain for Text {
    type Value = String;

    fn read(&self, text: &str) -> Result<String, String> {
        Ok(text.to_owned())
    }

    fn allowed(&self) -> String {
        self.0.to_owned()
    }
}
