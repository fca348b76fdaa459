//! How long, how wide and how crowded the wire between two nodes is.
//!
//! The one idea: a wire is said in one line of words, `km=10 capacity=1GB/s jitter=5us`, the same on the command line, in a study
//! and to a relay that runs.

use std::fmt;
use units::{Nanos, PerSecond};

/// Light in glass takes about 5 us for a kilometre.
const NANOS_A_KM: f64 = 5_000.0;

/// The longest wire, one way: twice around the earth is under half a second.
const DELAY_MAX: Nanos = Nanos::from_secs(10);

/// Traffic of somebody else on the same path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aggressor {
    /// What it would send if it were alone, bytes a second.
    pub demand: PerSecond,
    /// The share of the capacity that it has for certain, and beyond which the pair's own traffic goes first; none: both stand in one
    /// queue.
    pub share: Option<f64>,
}

/// A wire, or one path of it.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Wire {
    /// Added to each way.
    pub delay: Nanos,
    /// At most so much more for a piece, evenly spread; order is kept.
    pub jitter: Nanos,
    /// Bytes a second each way; none: as fast as the machine.
    pub capacity: Option<PerSecond>,
    /// Whether what travels is sealed (TLS 1.3).
    pub tls: bool,
    /// Who else travels there.
    pub aggressor: Option<Aggressor>,
}

/// Why words are no path.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WireError {
    /// A word is no `key=value`, or its key is unknown.
    #[error(
        "`{0}` says nothing about a path: say delay=50us or km=10, jitter=5us, capacity=1GB/s, aggressor=500MB/s, share=20%, tls=on"
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
    /// Nothing is left for the pair.
    #[error("a `share` of less than 100%: an aggressor that has all of the wire leaves nothing for anybody else")]
    Nothing,
    /// An aggressor without a limit takes nothing away.
    #[error("an aggressor needs a `capacity` to compete for, and a `share` needs an `aggressor`")]
    Unlimited,
}

impl Wire {
    /// The delay of so many kilometres, one way.
    pub fn over(km: f64) -> Nanos {
        Nanos((km * NANOS_A_KM).round() as u64)
    }

    /// The kilometres that take as long.
    pub fn km(&self) -> f64 {
        self.delay.0 as f64 / NANOS_A_KM
    }

    /// Whether it changes nothing.
    pub fn is_plain(&self) -> bool {
        self.delay == Nanos::ZERO && self.jitter == Nanos::ZERO && self.capacity.is_none()
    }

    /// A path in words, separated by blanks or commas.
    ///
    /// # Errors
    /// The first word that says nothing, as [`WireError`].
    pub fn parse(text: &str) -> Result<Wire, WireError> {
        let mut wire = Wire::default();
        let (mut lengths, mut demand, mut share) = (0, None, None);
        for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
            let (key, value) = word.split_once('=').ok_or_else(|| WireError::Word(word.into()))?;
            let bad = |why: String| WireError::Value { word: word.into(), why };
            let time = || match units::parse_duration(value).map_err(|error| error.to_string()) {
                Ok(time) if time > DELAY_MAX => Err(bad(format!("at most {}", units::duration(DELAY_MAX)))),
                read => read.map_err(bad),
            };
            let rate = || bytes_per_second(value).map_err(bad);
            match key {
                "delay" => (lengths, wire.delay) = (lengths + 1, time()?),
                "km" => (lengths, wire.delay) = (lengths + 1, of_km(value).map_err(bad)?),
                "jitter" => wire.jitter = time()?,
                "capacity" => wire.capacity = Some(rate()?),
                "aggressor" => demand = Some(rate()?),
                "tls" => match value {
                    "on" | "off" => wire.tls = value == "on",
                    _ => return Err(bad("`on` or `off`".to_owned())),
                },
                "share" => share = Some(units::parse_share(value).map_err(|error| bad(error.to_string()))?.0),
                _ => return Err(WireError::Word(word.into())),
            }
        }
        wire.aggressor = demand.map(|demand| Aggressor { demand, share });
        match (lengths, wire.capacity, wire.aggressor, share) {
            (2.., ..) => Err(WireError::Twice),
            (_, None, Some(_), _) | (_, _, None, Some(_)) => Err(WireError::Unlimited),
            (.., Some(share)) if share >= 1.0 => Err(WireError::Nothing),
            _ => Ok(wire),
        }
    }
}

fn of_km(value: &str) -> Result<Nanos, String> {
    let km: f64 = value.parse().map_err(|_| "a number of kilometres, such as 10".to_owned())?;
    match (0.0..=40_000.0).contains(&km) {
        true => Ok(Wire::over(km)),
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
impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "delay={}", exactly(self.delay))?;
        if self.jitter > Nanos::ZERO {
            write!(f, " jitter={}", exactly(self.jitter))?;
        }
        if let Some(capacity) = self.capacity {
            write!(f, " capacity={}", in_units(capacity))?;
        }
        if self.tls {
            f.write_str(" tls=on")?;
        }
        if let Some(aggressor) = self.aggressor {
            write!(f, " aggressor={}", in_units(aggressor.demand))?;
            if let Some(share) = aggressor.share {
                write!(f, " share={}%", share * 100.0)?;
            }
        }
        Ok(())
    }
}

/// A rate of bytes as a word that reads back as the same: `5MB/s`, `1234567B/s`.
fn in_units(rate: PerSecond) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let (scale, unit) = units.into_iter().find(|(scale, _)| rate.0 % scale == 0.0).unwrap_or((1.0, "B"));
    format!("{:.0}{unit}/s", rate.0 / scale)
}

/// A time as a word that reads back as the same: `500us`, `1250ns`.
fn exactly(time: Nanos) -> String {
    match time.0 {
        ns if ns % 1_000 == 0 => format!("{}us", ns / 1_000),
        ns => format!("{ns}ns"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_what_it_was_told() {
        let wire = Wire::parse("km=10, jitter=5us capacity=1GB/s aggressor=500MB/s share=20% tls=on").expect("a path");
        assert_eq!(wire.delay, Nanos::from_micros(50));
        assert_eq!(wire.capacity, Some(PerSecond(1e9)));
        assert_eq!(wire.aggressor, Some(Aggressor { demand: PerSecond(5e8), share: Some(0.2) }));
        assert_eq!(Wire::parse(&wire.to_string()), Ok(wire));
        let told = "delay=50us jitter=5us capacity=1GB/s tls=on aggressor=500MB/s share=20%";
        assert_eq!(wire.to_string(), told, "in units in which people write them");
        let odd = "delay=0us capacity=1234567B/s";
        assert_eq!(Wire::parse(odd).map(|wire| wire.to_string()), Ok(odd.to_owned()));
        assert_eq!(Wire::parse("tls=off"), Ok(Wire::default()));
        assert_eq!(Wire::parse(""), Ok(Wire::default()));
    }

    #[test]
    fn words_that_say_nothing_about_a_path_are_named() {
        for (text, told) in [
            ("km=10 delay=5us", "a path has `km` or `delay`, not both"),
            ("capcity=5", "`capcity=5` says nothing"),
            ("slow", "`slow` says nothing"),
            ("delay=1000h", "`delay=1000h`: at most 10 s"),
            ("tls=yes", "`tls=yes`: `on` or `off`"),
            ("km=-1", "`km=-1`: from 0 to 40000 km"),
            ("capacity=0B", "`capacity=0B`: more than 0 bytes a second"),
            ("aggressor=1MB/s", "needs a `capacity`"),
            ("capacity=1MB/s share=5%", "needs an `aggressor`"),
            ("capacity=1MB/s aggressor=5MB/s share=100%", "a `share` of less than 100%"),
        ] {
            let error = Wire::parse(text).expect_err(text).to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
