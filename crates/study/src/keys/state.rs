//! Keys of what a trial finds when it starts.

use super::domain::{Preconditions, Wires};
use super::group;
use crate::{Cache, Checkpoints};
use reading::key::{Choice, Count, Flag, Span};
use units::Nanos;

/// What becomes of the data of a database.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Data {
    Left,
    Restore,
}

group! { STATE, State;
    Storage PRECONDITION "precondition": Preconditions = Preconditions, Is("off"),
        "Write each module so many times over, in order, before every trial; `until steady` then runs the trial's own \
         workload in rounds of 60 s until five agree, at most 25.";
    Storage TRIM "trim": Flag = Flag, Is("false"),
        "Tell the device that the modules hold nothing, and fill them again, before every trial.";
    Storage REFILL "refill": Flag = Flag, Is("false"), "Fill every module again before every trial.";
    Storage CACHE "cache": Choice<Cache> =
        Choice(&[("as-left", Cache::AsLeft), ("cold", Cache::Cold), ("warm", Cache::Warm)]), Is("as-left"),
        "The page cache at the start of a trial: as the last trial left it, dropped, or read once in full.";
    Database DATA "state": Choice<Data> = Choice(&[("left", Data::Left), ("restore", Data::Restore)]), Is("left"),
        "What a trial finds in a database: the data as the last trial left it, or the data set brought back.";
    Database CHECKPOINTS "checkpoints": Choice<Checkpoints> = Choice(&[
        ("cycles", Checkpoints::Cycles),
        ("force", Checkpoints::Force),
        ("leave", Checkpoints::Leave),
    ]), Is("cycles"),
        "Checkpoints of a database: force one before the warm-up and cut a window that holds whole cycles of them to these; \
         force one and take the window as asked for; or force none.";
    Database DISTANCE "distance": Count = Count { min: 0, max: 40_000 }, Is("0"),
        "Kilometres between a database and its mirror: each adds 5 us to the way there and as much to the way back.";
    Database LINK "link": Wires = Wires, Is("plain"),
        "What the wire to the mirror is like beyond its distance: slower, or shared with somebody else's traffic, who has a share of \
         it for certain or stands in the same queue.";
    Always SETTLE "settle": Span<Nanos> = Span { min: Nanos::ZERO, max: Nanos::from_secs(86_400) }, Is("0 s"),
        "Pause before the warm-up, in which burst credit returns and the device tidies up.";
}
