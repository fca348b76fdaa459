//! What can be done to an emulated device on command.

use std::fmt;
use std::str::FromStr;

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// Every write that no flush made durable is lost, the last one is torn, and nothing is served any more.
    PowerLoss,
    /// Flushes are acknowledged and make nothing durable.
    Lie,
    /// Writes fail for want of room.
    Full,
    /// Reads that touch this byte of the device's files fail, in each file.
    ReadError(u64),
    /// Everything takes so many times as long.
    Slow(f64),
    /// Nothing is answered any more.
    Hang,
    /// All faults but a lost power end.
    None,
}

/// What is no fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a fault is `power-loss`, `lie`, `full`, `read-error=OFFSET`, `slow=TIMES`, `hang` or `none`, got `{0}`")]
pub struct NoFault(String);

impl FromStr for Fault {
    type Err = NoFault;

    fn from_str(text: &str) -> Result<Fault, NoFault> {
        let no = || NoFault(text.to_owned());
        let (word, value) = text.split_once('=').map_or((text, None), |(word, value)| (word, Some(value)));
        match (word, value) {
            ("power-loss", None) => Ok(Fault::PowerLoss),
            ("lie", None) => Ok(Fault::Lie),
            ("full", None) => Ok(Fault::Full),
            ("hang", None) => Ok(Fault::Hang),
            ("none", None) => Ok(Fault::None),
            ("read-error", Some(at)) => at.parse().map(Fault::ReadError).map_err(|_| no()),
            ("slow", Some(times)) => {
                let times = times.trim_start_matches('x').parse().map_err(|_| no())?;
                if (0.01..=100_000.0).contains(&times) { Ok(Fault::Slow(times)) } else { Err(no()) }
            }
            _ => Err(no()),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::PowerLoss => f.write_str("power-loss"),
            Fault::Lie => f.write_str("lie"),
            Fault::Full => f.write_str("full"),
            Fault::ReadError(at) => write!(f, "read-error={at}"),
            Fault::Slow(times) => write!(f, "slow={times}"),
            Fault::Hang => f.write_str("hang"),
            Fault::None => f.write_str("none"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_as_they_are_written_and_nothing_else_is() {
        for text in ["power-loss", "lie", "full", "read-error=4096", "slow=10", "hang", "none"] {
            assert_eq!(text.parse::<Fault>().map(|fault| fault.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("slow=x10".parse(), Ok(Fault::Slow(10.0)));
        for text in ["", "slow", "slow=0", "slow=-1", "slow=nan", "read-error", "read-error=-1", "full=1"] {
            assert!(text.parse::<Fault>().is_err(), "{text}");
        }
    }
}
