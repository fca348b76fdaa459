//! What is done to a system while it is loaded: parts that fail and come back, updates, and faults of a device.
//!
//! The one idea: one text says it everywhere, in a study, to a model in virtual time, and to a device that is mounted.
//!
//! What it does not do: which system knows what is for the system to say.

use std::fmt;
use std::str::FromStr;
use units::{Nanos, duration};

units::words! {
    /// A part of a machine. Parts of a kind are numbered from 0.
    pub enum Part {
        Path = "path" "A way from host to controller.",
        Port = "port" "A port, with what is reached over it.",
        Controller = "controller" "A controller with its paths.",
        Module = "module" "A module or disk.",
        Channel = "channel" "A channel inside a module.",
    }
}

/// Something that happens to a system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Happening {
    /// A part fails.
    Fail(Part, u32),
    /// A part that failed is there again.
    Restore(Part, u32),
    /// A spare takes the place of the module that was lost first, and is rebuilt.
    Spare,
    /// Firmware is updated: one half of the paths takes nothing new for so long, then the other half.
    Firmware(Nanos),
    /// A fault of an emulated device.
    Fault(Fault),
    /// Something that happens to a database with a mirror.
    Pair(Mishap),
}

/// One of a database with a mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The mirror.
    Mirror,
    /// The first server.
    Primary,
}

impl Side {
    /// Both.
    pub const ALL: [Side; 2] = [Side::Mirror, Side::Primary];
}

/// What happens to a database, its mirror, or the wire between both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// The mirror's processes are killed.
    KillMirror,
    /// The mirror is ended in order, and nobody tells the first server.
    StopMirror,
    /// The wire carries nothing any more, and says nothing of it.
    Cut,
    /// The wire carries to the first server, and nothing to the mirror.
    HalfOpen,
    /// The first server's processes are killed.
    KillPrimary,
    /// Somebody lets the first server go on alone.
    Suspend,
    /// The mirror is started, or the wire healed, and follows again.
    Resume,
    /// Both servers end in order and come back with their roles swapped.
    Swap,
    /// There is no room left on the device of one.
    Full(Side),
    /// One loses its power: its processes are gone, and so is all that its device had not made durable.
    PowerLoss(Side),
    /// The device of one acknowledges flushes from now on, and makes nothing durable.
    Lie(Side),
}

impl Mishap {
    const ALL: [(&str, Mishap); 14] = [
        ("kill-mirror", Mishap::KillMirror),
        ("stop-mirror", Mishap::StopMirror),
        ("cut", Mishap::Cut),
        ("half-open", Mishap::HalfOpen),
        ("kill-primary", Mishap::KillPrimary),
        ("suspend", Mishap::Suspend),
        ("resume", Mishap::Resume),
        ("swap", Mishap::Swap),
        ("full-mirror", Mishap::Full(Side::Mirror)),
        ("full-primary", Mishap::Full(Side::Primary)),
        ("power-loss-mirror", Mishap::PowerLoss(Side::Mirror)),
        ("power-loss-primary", Mishap::PowerLoss(Side::Primary)),
        ("lie-mirror", Mishap::Lie(Side::Mirror)),
        ("lie-primary", Mishap::Lie(Side::Primary)),
    ];

    /// As a study says it.
    pub fn word(self) -> &'static str {
        Mishap::ALL.iter().find(|(_, one)| *one == self).map_or("", |(word, _)| word)
    }

    /// What it does to the device of which of both.
    pub fn at_device(self) -> Option<(Side, Fault)> {
        match self {
            Mishap::Full(side) => Some((side, Fault::Full)),
            Mishap::PowerLoss(side) => Some((side, Fault::PowerLoss)),
            Mishap::Lie(side) => Some((side, Fault::Lie)),
            _ => None,
        }
    }

    /// Whether the first server is gone with it, so that the mirror takes over.
    pub fn takes_primary(self) -> bool {
        matches!(self, Mishap::KillPrimary | Mishap::Full(Side::Primary) | Mishap::PowerLoss(Side::Primary))
    }
}

/// What a device does wrong from now on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// Every write that no flush made durable is lost, the last one is torn, and nothing is served any more.
    PowerLoss,
    /// A device that lost its power serves again what is durable.
    PowerOn,
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

/// What is nothing that could happen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoHappening {
    /// No word that is known.
    #[error(
        "`fail PART N` or `restore PART N` (path, port, controller, module, channel), `spare`, `firmware=TIME`, or a fault: `power-loss`, \
         `power-on`, `lie`, `full`, `read-error=OFFSET`, `slow=TIMES`, `hang` or `none`; of a database with a mirror `kill-mirror`, `stop-mirror`, `cut`, \
         `half-open`, `kill-primary`, `suspend`, `resume` or `swap`, and of one on emulated devices `full`, `power-loss` or `lie` with `-mirror` or \
         `-primary`; got `{0}`"
    )]
    Unknown(String),
    /// A fault that takes another value.
    #[error("`{word}` takes {allowed}, got `{got}`")]
    Value {
        /// The fault.
        word: &'static str,
        /// What it takes, with an example.
        allowed: &'static str,
        /// What it was given.
        got: String,
    },
}

/// What the faults with a value take.
const OFFSET: &str = "the number of a byte or a size, such as `read-error=4096` or `read-error=1MiB`";
const TIMES: &str = "1 to 100000, how many times as long everything takes, such as `slow=10`";

impl Happening {
    /// What it is without its number.
    pub fn word(&self) -> String {
        match self {
            Happening::Fail(part, _) => format!("fail {}", part.word()),
            Happening::Restore(part, _) => format!("restore {}", part.word()),
            Happening::Spare => "spare".to_owned(),
            Happening::Firmware(_) => "firmware".to_owned(),
            Happening::Fault(fault) => {
                let text = fault.to_string();
                text.split('=').next().unwrap_or_default().to_owned()
            }
            Happening::Pair(mishap) => mishap.word().to_owned(),
        }
    }

    /// The part that it is about, by number.
    pub fn number(&self) -> Option<u32> {
        match self {
            Happening::Fail(_, number) | Happening::Restore(_, number) => Some(*number),
            Happening::Spare | Happening::Firmware(_) | Happening::Fault(_) | Happening::Pair(_) => None,
        }
    }

    /// What can happen to a database with a mirror. Where either server finds the other without the wire (`past_wire`), nothing
    /// can happen to that; nor does anybody suspend one that both agree on. Faults of devices happen where a side is `emulated`, and data
    /// change places (`swaps`) where both lie in one folder.
    pub fn of_pairs(past_wire: bool, emulated: [bool; 2], swaps: bool) -> Vec<(String, u32)> {
        let at_wire = |one: Mishap| matches!(one, Mishap::Cut | Mishap::HalfOpen | Mishap::Suspend);
        let can =
            |one: Mishap| one.at_device().map_or(swaps || one != Mishap::Swap, |(side, _)| emulated[side as usize]);
        let all = Mishap::ALL.iter().filter(|(_, one)| can(*one) && !(past_wire && at_wire(*one)));
        all.map(|(word, _)| ((*word).to_owned(), 1)).collect()
    }

    /// What a machine can do with so many parts of a kind: fail them and have them back.
    pub fn of_parts(part: Part, count: u32) -> [(String, u32); 2] {
        [Happening::Fail(part, 0), Happening::Restore(part, 0)].map(|happening| (happening.word(), count))
    }

    /// What an emulated device does whatever its model: every fault.
    pub fn of_devices() -> Vec<(String, u32)> {
        use Fault::{Full, Hang, Lie, None, PowerLoss, PowerOn, ReadError, Slow};
        let all = [PowerLoss, PowerOn, Lie, Full, ReadError(0), Slow(1.0), Hang, None];
        all.into_iter().map(|fault| (Happening::Fault(fault).word(), 1)).collect()
    }
}

impl FromStr for Happening {
    type Err = NoHappening;

    fn from_str(text: &str) -> Result<Happening, NoHappening> {
        let no = || NoHappening::Unknown(text.to_owned());
        let words: Vec<&str> = text.split_whitespace().collect();
        let number = |text: &str| text.parse().map_err(|_| no());
        let part = |word: &str| Part::of_word(word).ok_or_else(no);
        match words[..] {
            ["spare"] => Ok(Happening::Spare),
            ["fail", word] => Ok(Happening::Fail(part(word)?, 0)),
            ["fail", word, n] => Ok(Happening::Fail(part(word)?, number(n)?)),
            ["restore", word] => Ok(Happening::Restore(part(word)?, 0)),
            ["restore", word, n] => Ok(Happening::Restore(part(word)?, number(n)?)),
            _ => match text.trim().strip_prefix("firmware=") {
                Some(lasts) => match units::parse_duration(lasts) {
                    Ok(lasts) if lasts > Nanos::ZERO => Ok(Happening::Firmware(lasts)),
                    _ => Err(no()),
                },
                None => match Mishap::ALL.iter().find(|(known, _)| *known == text.trim()) {
                    Some((_, mishap)) => Ok(Happening::Pair(*mishap)),
                    None => text.trim().parse().map(Happening::Fault),
                },
            },
        }
    }
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Happening::Fail(_, number) | Happening::Restore(_, number) => write!(f, "{} {number}", self.word()),
            Happening::Spare => f.write_str("spare"),
            Happening::Firmware(lasts) => write!(f, "firmware={}", duration(*lasts)),
            Happening::Fault(fault) => fault.fmt(f),
            Happening::Pair(mishap) => f.write_str(mishap.word()),
        }
    }
}

impl FromStr for Fault {
    type Err = NoHappening;

    fn from_str(text: &str) -> Result<Fault, NoHappening> {
        let (word, value) = text.split_once('=').map_or((text, None), |(word, value)| (word, Some(value)));
        let not = |word, allowed| NoHappening::Value { word, allowed, got: value.unwrap_or_default().to_owned() };
        match (word, value) {
            ("power-loss", None) => Ok(Fault::PowerLoss),
            ("power-on", None) => Ok(Fault::PowerOn),
            ("lie", None) => Ok(Fault::Lie),
            ("full", None) => Ok(Fault::Full),
            ("hang", None) => Ok(Fault::Hang),
            ("none", None) => Ok(Fault::None),
            ("read-error", value) => {
                let value = value.unwrap_or_default();
                let at = value.parse().ok().or_else(|| units::parse_bytes(value).ok().map(|size| size.0));
                at.map(Fault::ReadError).ok_or_else(|| not("read-error", OFFSET))
            }
            ("slow", value) => {
                let times = value.and_then(|value| value.trim_start_matches('x').parse().ok());
                // Below 1 for devices that hurry while nothing is measured, which no study asks for.
                let times = times.filter(|times| (0.01..=100_000.0).contains(times));
                times.map(Fault::Slow).ok_or_else(|| not("slow", TIMES))
            }
            _ => Err(NoHappening::Unknown(text.to_owned())),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::PowerLoss => f.write_str("power-loss"),
            Fault::PowerOn => f.write_str("power-on"),
            Fault::Lie => f.write_str("lie"),
            Fault::Full => f.write_str("full"),
            Fault::ReadError(at) => write!(f, "read-error={at}"),
            Fault::Slow(times) => write!(f, "slow={times}"),
            Fault::Hang => f.write_str("hang"),
            Fault::None => f.write_str("none"),
        }
    }
}

/// What happens when, from the beginning of the measured window: `2 s: fail controller 1; 4 s: restore controller 1`, in the order of
/// time.
///
/// # Errors
/// With what is allowed and what was got.
pub fn read(text: &str) -> Result<Vec<(Nanos, Happening)>, String> {
    let mut all = Vec::new();
    if !text.trim().is_empty() && text.split(';').all(|one| one.trim().is_empty()) {
        return Err(format!("`TIME: EVENT`, got `{}`", text.trim()));
    }
    for one in text.split(';').filter(|one| !one.trim().is_empty()) {
        let (at, what) = one.split_once(':').ok_or_else(|| format!("`TIME: EVENT`, got `{}`", one.trim()))?;
        let at = units::parse_duration(at.trim()).map_err(|error| error.to_string())?;
        let what = what.trim().parse::<Happening>().map_err(|error| error.to_string())?;
        if let Happening::Fault(fault @ Fault::Slow(..1.0)) = what {
            return Err(format!(
                "`slow` of 1 or more, got `{fault}`: choose another model for a faster device, and `none` to end a `slow`"
            ));
        }
        all.push((at, what));
    }
    all.sort_by_key(|(at, _)| *at);
    Ok(all)
}

/// The first of these, in the order of time, that changes nothing on a machine that is whole: what it would bring back was not lost, or what
/// it takes is lost already.
pub fn idle(events: &[(Nanos, Happening)]) -> Option<&(Nanos, Happening)> {
    let mut lost = Lost::default();
    events.iter().find(|(_, what)| !lost.changes(*what))
}

/// What a system knows of these, each with the numbers of its parts: `fail module 0..3`.
pub fn known(happens: &[(String, u32)]) -> Vec<String> {
    let numbered = |(word, count): &(String, u32)| match count {
        0 | 1 => word.clone(),
        count => format!("{word} 0..{}", count - 1),
    };
    happens.iter().map(numbered).collect()
}

/// What a machine has lost that was whole.
#[derive(Debug, Default)]
pub struct Lost {
    parts: Vec<(Part, u32)>,
    /// Whoever loses a controller, or updates its firmware, may have paths of it back.
    paths_away: bool,
    /// Whether a mirror follows no more, or the first server is gone.
    apart: bool,
}

impl Lost {
    /// Something happens to it; whether that changes anything: a part that was not lost does not come back, and one that is lost is not
    /// lost again. A module has several channels, of which one more fails each time.
    pub fn changes(&mut self, what: Happening) -> bool {
        let back = match what {
            Happening::Fail(part, number) if self.has_lost(part, number) => return false,
            Happening::Fail(part, number) => {
                self.parts.push((part, number));
                self.paths_away |= part == Part::Controller;
                return true;
            }
            Happening::Restore(Part::Path, _) if self.paths_away => return true,
            Happening::Restore(part, number) => self.parts.iter().position(|one| *one == (part, number)),
            Happening::Spare => self.parts.iter().position(|(part, _)| matches!(part, Part::Module | Part::Channel)),
            Happening::Firmware(_) => {
                self.paths_away = true;
                return true;
            }
            Happening::Fault(_) => return true,
            Happening::Pair(Mishap::Resume) => return std::mem::take(&mut self.apart),
            Happening::Pair(Mishap::Swap | Mishap::Lie(_)) => return true,
            Happening::Pair(_) => {
                self.apart = true;
                return true;
            }
        };
        back.map(|at| self.parts.remove(at)).is_some()
    }

    fn has_lost(&self, part: Part, number: u32) -> bool {
        let several = part == Part::Channel || part == Part::Path && self.paths_away;
        !several && self.parts.contains(&(part, number))
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told: Vec<String> = self.parts.iter().map(|(part, number)| format!("{} {number}", part.word())).collect();
        let told = told.join(", ");
        f.write_str(if told.is_empty() { "nothing" } else { &told })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_event_that_brings_back_what_was_not_lost_is_found() {
        for (text, found) in [
            ("5 s: spare", Some("spare")),
            ("5 s: restore controller 1", Some("restore controller 1")),
            ("1 s: fail controller 0; 2 s: restore controller 1", Some("restore controller 1")),
            ("1 s: fail path 0; 2 s: restore path 0; 3 s: restore path 0", Some("restore path 0")),
            ("2 s: fail path 0; 1 s: restore path 0", Some("restore path 0")),
            ("1 s: fail module 3; 2 s: spare", None),
            ("1 s: spare; 2 s: fail module 3", Some("spare")),
            ("1 s: fail module 3; 2 s: fail module 3", Some("fail module 3")),
            ("1 s: fail module 3; 2 s: spare; 3 s: fail module 3", None),
            ("1 s: fail channel 3; 2 s: fail channel 3", None),
            ("1 s: fail controller 0; 2 s: restore path 0; 3 s: restore controller 0", None),
            ("1 s: firmware=1s; 1 s: restore path 0", None),
            ("1 s: slow=10; 2 s: none", None),
            ("1 s: resume", Some("resume")),
            ("1 s: cut; 2 s: resume; 3 s: resume", Some("resume")),
            ("1 s: kill-mirror; 2 s: suspend; 3 s: resume", None),
            ("1 s: swap; 2 s: swap", None),
        ] {
            let events = read(text).unwrap();
            assert_eq!(idle(&events).map(|(_, what)| what.to_string()).as_deref(), found, "{text}");
        }
        assert!(read(" ; ").is_err() && read("").is_ok_and(|all| all.is_empty()));
    }

    #[test]
    fn what_happens_is_read_as_it_is_written_and_nothing_else_is() {
        for text in [
            "fail path 0",
            "restore controller 1",
            "fail module 17",
            "spare",
            "firmware=500 ms",
            "power-loss",
            "power-on",
            "lie",
            "full",
            "read-error=4096",
            "slow=10",
            "hang",
            "none",
            "kill-mirror",
            "stop-mirror",
            "cut",
            "half-open",
            "kill-primary",
            "suspend",
            "resume",
            "full-mirror",
            "power-loss-primary",
            "lie-mirror",
        ] {
            assert_eq!(text.parse::<Happening>().map(|one| one.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("slow=x10".parse(), Ok(Happening::Fault(Fault::Slow(10.0))));
        assert_eq!("fail port".parse(), Ok(Happening::Fail(Part::Port, 0)));
        for text in [
            "",
            "slow",
            "slow=0",
            "slow=-1",
            "slow=nan",
            "read-error=-1",
            "full=1",
            "fail",
            "fail wall",
            "fail path -1",
            "firmware=0 s",
        ] {
            assert!(text.parse::<Happening>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_fault_with_a_value_that_it_does_not_take_says_which_it_takes() {
        for (text, said) in [
            (
                "slow=nan",
                "`slow` takes 1 to 100000, how many times as long everything takes, such as `slow=10`, got `nan`",
            ),
            ("slow=0", "got `0`"),
            ("slow", "got ``"),
            ("read-error=-1", "`read-error` takes the number of a byte or a size"),
            ("read-error=1MB/s", "got `1MB/s`"),
        ] {
            let told = text.parse::<Happening>().unwrap_err().to_string();
            assert!(told.contains(said), "{text}: {told}");
        }
        assert_eq!("read-error=1MiB".parse(), Ok(Happening::Fault(Fault::ReadError(1 << 20))));
    }

    #[test]
    fn a_list_is_put_in_the_order_of_time() {
        let read = read(" 4 s: restore path 1; 500 ms : fail path 1;").unwrap();
        assert_eq!(read[0], (Nanos::from_millis(500), Happening::Fail(Part::Path, 1)));
        assert_eq!(read[1], (Nanos::from_secs(4), Happening::Restore(Part::Path, 1)));
        assert!(super::read("2 s fail path").unwrap_err().contains("TIME: EVENT"));
        assert!(super::read("2 s: fall").unwrap_err().contains("got `fall`"));
        let faster = super::read("1 s: slow=10; 2 s: slow=0.5").unwrap_err();
        assert!(faster.starts_with("`slow` of 1 or more, got `slow=0.5`: choose another model"), "{faster}");
        assert!(super::read("1 s: slow=1").is_ok() && super::read("1 s: slow=0.99").is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,40}") {
            let _ = read(&text);
        }
    }
}
