//! Why a point was left out on a system.
//!
//! The one idea: what a system cannot do is a value, so that whoever decides on it reads no words; they are made for the
//! notes of a plan alone.

use reading::listed;
use std::fmt::{self, Display, Formatter};
use units::{Bytes, Nanos};
use workload::happening::{self, Happening, Mishap, Side};

/// What a system cannot do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LeftOut {
    /// The active range of a device of this size holds no transfer.
    Range { range: Bytes, needed: Bytes },
    /// File work on a device.
    FileWork,
    /// More modules than it offers.
    Modules { max: u32 },
    /// Modules larger than it holds.
    Size { max: Bytes },
    /// Transfers that are no multiple of its sector.
    Transfers { sector: Bytes },
    /// A shift that is none.
    Shift { sector: Bytes },
    /// Operations on storage, asked of a database.
    Storage,
    /// Transactions, asked of storage.
    Transactions,
    /// A key that a described machine does not answer, varied or set to something else than its default.
    Key { kind: String, key: &'static str, varied: bool, answered: Vec<&'static str> },
    /// So many processors for its servers, of which there are none that Prony starts, or which nothing can hold to them.
    Cores { unheld: Option<String> },
    /// Something that cannot happen to it, which is described or real.
    Happens { event: String, known: Vec<(String, u32)>, described: bool },
    /// Something that changes nothing, because what it would bring back was not lost before, or what it takes is lost already.
    Idle { event: String, at: Nanos },
    /// Transactions that say nothing of what they ask for, and are not those that a model describes.
    OtherTransactions,
}

impl LeftOut {
    /// Whether the point is for the other kind of system.
    pub(crate) fn of_other_kind(&self) -> bool {
        matches!(self, LeftOut::Storage | LeftOut::Transactions | LeftOut::OtherTransactions)
    }
}

impl Display for LeftOut {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        use LeftOut::*;
        match self {
            Range { range, needed } => {
                let (range, needed) = (units::bytes(*range), units::bytes(*needed));
                write!(f, "an active range of {range}, which holds no transfer of {needed}")
            }
            FileWork => f.write_str("file work: it needs a folder, and this is a device"),
            Modules { max: 1 } => f.write_str("`modules` above 1: it offers one module"),
            Modules { max } => write!(f, "`modules` above {max}: it offers {max} modules"),
            Size { max } => write!(f, "`size` above {}: its modules hold no more", units::bytes(*max)),
            Transfers { sector } => {
                write!(f, "direct transfers that are no multiple of its sector of {}", units::bytes(*sector))
            }
            Shift { sector } => write!(f, "a shift that is no multiple of its sector of {}", units::bytes(*sector)),
            Key { kind, key, varied: true, answered } => write!(
                f,
                "`{key}` as a factor, which moves no answer of a {kind}: set one value, or vary {}",
                listed(answered.iter().copied())
            ),
            Key { kind, key, .. } => {
                write!(f, "`{key}`, of which a {kind} knows nothing: leave it at its default, or measure")
            }
            Cores { unheld: None } => {
                write!(f, "`cores`: only servers that Prony starts (`local:postgres`, `local:mariadb`) are held to some")
            }
            Cores { unheld: Some(why) } => write!(
                f,
                "`cores`: no control group with a quota can be made ({why}); run as root, or leave `cores` out"
            ),
            Happens { event, known, .. } if known.is_empty() && matches!(event.parse(), Ok(Happening::Pair(_))) => write!(
                f,
                "the event `{event}`: it happens to a `postgres-pair` and to a `galera-pair` of private servers, with `mirror`, and to the \
                 model of a mirrored pair; a `two-phase-pair` knows no faults in a study, and `prony pair` suspends and swaps one by hand"
            ),
            Happens { event, known, .. } if known.is_empty() => {
                write!(f, "the event `{event}`: it needs an emulated device, the model of an array, or a database with a mirror")
            }
            Happens { event, known, described } => {
                let known_words = happening::known(known);
                let known = listed(known_words.iter().map(String::as_str));
                write!(f, "the event `{event}`, which it does not know: it knows {known}")?;
                f.write_str(match event.parse() {
                    _ if *described => "",
                    Ok(Happening::Pair(mishap))
                        if (mishap.takes_primary() || mishap == Mishap::Swap)
                            && known_words.iter().all(|word| word != Mishap::KillPrimary.word()) =>
                    {
                        "; a mirror by `publication` takes nobody's place, since it lacks sequences, definitions and what is left out"
                    }
                    Ok(Happening::Pair(mishap)) => match mishap.at_device() {
                        Some((Side::Mirror, _)) => "; lay its mirror on `--set mirror_device=emulated:MODEL:DIR`",
                        Some((Side::Primary, _)) => "; lay the first server on `--set slow=emulated:MODEL:DIR`",
                        None if mishap == Mishap::Swap => "; roles are swapped where both lie in the cache folder",
                        None => "",
                    },
                    _ => "",
                })
            }
            Idle { event, at } => {
                let at = units::duration(*at);
                let why = match event.parse() {
                    Ok(Happening::Fail(..)) => "that part is lost already by then",
                    _ => "what it would bring back was not lost before",
                };
                write!(f, "the event `{event}` at {at}: it changes nothing, because {why}")
            }
            Storage => f.write_str("storage work: this carries transactions"),
            Transactions => f.write_str(
                "transactions: they need a database, as `sqlite:`, `local:postgres`, `local:mariadb` or a URL, or the \
                 model of a server",
            ),
            OtherTransactions => f.write_str(
                "transactions that do not say what they ask of a database, such as scripts, batch jobs or rows by key: the \
                 transaction that a model describes is the brokerage's, and others are scaled by what they say",
            ),
        }
    }
}
