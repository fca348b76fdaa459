//! Keys of what a trial finds when it starts.

use super::domain::{OWN_WIRE, PRECONDITIONS, Processors, Said, WIRE};
use super::group;
use crate::{Cache, Checkpoints, Precondition, Spread, Wire};
use reading::key::{Choice, Count, Flag, Span};
use units::Nanos;
use workload::happening::{Mishap, Side};

const DAY: Nanos = Nanos::from_secs(86_400);

units::words! {
    /// What becomes of the data of a database.
    pub(crate) enum Data {
        Left = "left",
        Restore = "restore",
    }
}

group! { STATE, State;
    /// Write each module so many times over, in order, before every trial; `until steady` then runs the trial's own
    /// workload in rounds of 60 s until five agree, at most 25.
    Storage PRECONDITION "precondition": Said<Option<Precondition>> = PRECONDITIONS, Is("off");
    /// Tell the device that the modules hold nothing, and fill them again, before every trial.
    Storage TRIM "trim": Flag = Flag, Is("false");
    /// Fill every module again before every trial.
    Storage REFILL "refill": Flag = Flag, Is("false");
    /// The page cache at the start of a trial: as the last trial left it, dropped, or read once in full.
    Storage CACHE "cache": Choice<Cache> = Choice(Cache::WORDS), Is("as-left");
    /// What a trial finds in a database: the data as the last trial left it, or the data set brought back.
    Database DATA "state": Choice<Data> = Choice(Data::WORDS), Is("left");
    /// Checkpoints of a database: force one before the warm-up and cut a window that holds whole cycles of them to
    /// these; force one and take the window as asked for; or force none.
    Database CHECKPOINTS "checkpoints": Choice<Checkpoints> = Choice(Checkpoints::WORDS), Is("cycles");
    /// Kilometres between a database and its mirror: each adds 5 us to the way there and as much to the way back.
    Database DISTANCE "distance": Count = Count { min: 0, max: 40_000 }, Is("0");
    /// What the wire to the mirror is like beyond its distance: slower, or shared with somebody else's traffic, who has
    /// a share of it for certain or stands in the same queue.
    Database LINK "link": Said<Wire> = WIRE, Is("plain");
    /// The wire over which the mirror of a `postgres-pair` catches up behind an outage: the `same` over which it
    /// follows, or one of its own, which it leaves for that one once it is level. What is new meanwhile comes over the
    /// wire of the resync, too.
    Database RESYNC_LINK "resync_link": Said<Option<Wire>> = OWN_WIRE, Is("same");
    /// Which server of a pair on which both write (`two-phase-pair`, `galera-pair`) a session goes to: the first; every
    /// other one to the second, with even keys for sessions of the first server and odd ones for those of the second;
    /// or every other one to the second, all with the same keys.
    Database SPREAD "spread": Choice<Spread> = Choice(Spread::WORDS), Is("one");
    /// Processors that each private server of a trial may use, the first and its mirror so many each: a quota of
    /// processor time in a control group, as `prony pair up --cores` sets it, from before the warm-up until the load
    /// has ended. It takes the right to make control groups. A list makes a factor.
    Database CORES "cores": Processors = Processors, Is("all");
    /// What happens to a database with a mirror in the measured window: the mirror is killed or ended in order, the
    /// wire to it is cut or carries one way only, the first server is killed and the mirror takes over, somebody
    /// suspends the mirror, or the emulated device of one is full or loses its power.
    Database FAULT "fault": Choice<Option<Mishap>> = Choice(&[
        ("none", None),
        ("kill-mirror", Some(Mishap::KillMirror)),
        ("stop-mirror", Some(Mishap::StopMirror)),
        ("cut", Some(Mishap::Cut)),
        ("half-open", Some(Mishap::HalfOpen)),
        ("kill-primary", Some(Mishap::KillPrimary)),
        ("suspend", Some(Mishap::Suspend)),
        ("full-mirror", Some(Mishap::Full(Side::Mirror))),
        ("full-primary", Some(Mishap::Full(Side::Primary))),
        ("power-loss-mirror", Some(Mishap::PowerLoss(Side::Mirror))),
        ("power-loss-primary", Some(Mishap::PowerLoss(Side::Primary))),
    ]), Is("none");
    /// When the fault happens, from the beginning of the measured window.
    Database AT "at": Span<Nanos> = Span { min: Nanos::ZERO, max: DAY }, Follows("(a quarter of `measure`)");
    /// When the mirror is started again, the wire healed, or the device of the mirror whole, from the beginning of the
    /// measured window. A first server that was lost stays away until the trial is over.
    Database RESUME "resume": Span<Nanos> = Span { min: Nanos::ZERO, max: DAY }, Follows("(half of `measure`)");
    /// How long a mirror may confirm nothing before the first server goes on alone, and a first server may not answer
    /// before the mirror takes over.
    Database PATIENCE "patience": Span<Nanos> = Span { min: Nanos::from_millis(50), max: DAY }, Is("1 s");
    /// Pause before the warm-up, in which burst credit returns and the device tidies up.
    Always SETTLE "settle": Span<Nanos> = Span { min: Nanos::ZERO, max: DAY }, Is("0 s");
}
