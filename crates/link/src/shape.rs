//! How long, how wide and how crowded a path is.
//!
//! The one idea: a path is said in one line of words, `km=10 capacity=1GB/s jitter=5us`, the same on the command line, in a study
//! and to a relay that runs.

use std::fmt;
use units::{Nanos, PerSecond};

/// Light in glass takes about 5 us for a kilometre.
const NANOS_A_KM: f64 = 5_000.0;

/// Bytes that a queue without shares holds before a competing stream has to wait itself: some 100 full frames of 2,500 bytes.
pub(crate) const QUEUE_BYTES: f64 = 256.0 * 1024.0;

/// Traffic of somebody else on the same path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aggressor {
    /// What it would send if it were alone, bytes a second.
    pub demand: PerSecond,
    /// The share of the capacity that it has for certain, and beyond which the pair's own traffic goes first; none: both stand in one
    /// queue.
    pub share: Option<f64>,
}

/// A path.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Shape {
    /// Added to each way.
    pub delay: Nanos,
    /// At most so much more for a piece, evenly spread; order is kept.
    pub jitter: Nanos,
    /// Bytes a second each way; none: as fast as the machine.
    pub capacity: Option<PerSecond>,
    /// Who else travels there.
    pub aggressor: Option<Aggressor>,
}

/// Why words are no path.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// A word is no `key=value`, or its key is unknown.
    #[error(
        "`{0}` says nothing about a path: say delay=50us or km=10, jitter=5us, capacity=1GB/s, aggressor=500MB/s, share=20%"
    )]
    Word(String),
    /// A value cannot be read.
    #[error("`{word}`: {why}")]
    Value {
        /// As typed.
        word: String,
        /// What is wrong with it.
        why: String,
    },
    /// Both ways to say how long it is.
    #[error("a path has `km` or `delay`, not both")]
    Twice,
    /// An aggressor without a limit takes nothing away.
    #[error("an aggressor needs a `capacity` to compete for, and a `share` needs an `aggressor`")]
    Unlimited,
}

impl Shape {
    /// Whether it changes nothing.
    pub fn is_plain(&self) -> bool {
        self.delay == Nanos::ZERO && self.jitter == Nanos::ZERO && self.capacity.is_none()
    }

    /// A path in words, separated by blanks or commas.
    ///
    /// # Errors
    /// The first word that says nothing, as [`ShapeError`].
    pub fn parse(text: &str) -> Result<Shape, ShapeError> {
        let mut shape = Shape::default();
        let (mut lengths, mut demand, mut share) = (0, None, None);
        for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
            let (key, value) = word.split_once('=').ok_or_else(|| ShapeError::Word(word.into()))?;
            let bad = |why: String| ShapeError::Value { word: word.into(), why };
            let time = || units::parse_duration(value).map_err(|error| bad(error.to_string()));
            let rate = || bytes_per_second(value).map_err(bad);
            match key {
                "delay" => (lengths, shape.delay) = (lengths + 1, time()?),
                "km" => (lengths, shape.delay) = (lengths + 1, of_km(value).map_err(bad)?),
                "jitter" => shape.jitter = time()?,
                "capacity" => shape.capacity = Some(rate()?),
                "aggressor" => demand = Some(rate()?),
                "share" => share = Some(units::parse_share(value).map_err(|error| bad(error.to_string()))?.0),
                _ => return Err(ShapeError::Word(word.into())),
            }
        }
        shape.aggressor = demand.map(|demand| Aggressor { demand, share });
        match (lengths, shape.capacity, shape.aggressor, share) {
            (2.., ..) => Err(ShapeError::Twice),
            (_, None, Some(_), _) | (_, _, None, Some(_)) => Err(ShapeError::Unlimited),
            _ => Ok(shape),
        }
    }
}

fn of_km(value: &str) -> Result<Nanos, String> {
    let km: f64 = value.parse().map_err(|_| "a number of kilometres, such as 10".to_owned())?;
    match (0.0..=40_000.0).contains(&km) {
        true => Ok(Nanos((km * NANOS_A_KM).round() as u64)),
        false => Err("from 0 to 40000 km".to_owned()),
    }
}

fn bytes_per_second(value: &str) -> Result<PerSecond, String> {
    let size = units::parse_bytes(value.strip_suffix("/s").unwrap_or(value)).map_err(|error| error.to_string())?;
    match size.0 {
        0 => Err("more than 0 bytes a second".to_owned()),
        bytes => Ok(PerSecond(bytes as f64)),
    }
}

/// The same words again.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "delay={}ns", self.delay.0)?;
        if self.jitter > Nanos::ZERO {
            write!(f, " jitter={}ns", self.jitter.0)?;
        }
        if let Some(capacity) = self.capacity {
            write!(f, " capacity={:.0}B/s", capacity.0)?;
        }
        if let Some(aggressor) = self.aggressor {
            write!(f, " aggressor={:.0}B/s", aggressor.demand.0)?;
            if let Some(share) = aggressor.share {
                write!(f, " share={}%", share * 100.0)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "tests/shape.rs"]
mod tests;
