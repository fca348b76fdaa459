//! Keys of the load.

pub(crate) use super::domain::Pace;
use super::domain::Rates;
use super::group;
use load::{Arrivals, Pacing};
use reading::key::{Choice, Count, CountOr, Rate, Span};
use units::Nanos;
use workload::kind::SESSIONS;

units::words! {
    /// What `outstanding` counts for.
    pub(crate) enum Per {
        System = "system",
        Module = "module",
    }
}

units::words! {
    /// How pauses are drawn.
    pub(crate) enum ThinkTimes {
        Constant = "constant",
        Exponential = "exponential",
    }
}

const ANY_TIME: Span<Nanos> = Span { min: Nanos::ZERO, max: Nanos::from_secs(86_400) };

group! { LOAD, Load;
    Block OUTSTANDING "outstanding": Count = Count { min: 1, max: 65_536 }, Is("1"),
        "Closed load: operations in flight all the time.";
    Block PER "per": Choice<Per> = Choice(Per::WORDS), Is("system"),
        "Whether `outstanding` counts for the whole system or for each module.";
    Database SESSIONS;
    Shared USERS "users": CountOr = CountOr { min: 1, max: 1_000_000, word: "off" }, Is("off"),
        "Users who think (`think`) between transactions and share the sessions; waiting for a session counts.";
    BlockOrDatabase THINK "think": Span<Nanos> = ANY_TIME, Is("0 s"),
        "Closed load: pause of a slot between the end of one operation and the start of its next.";
    BlockOrDatabase THINK_TIMES "think_times": Choice<ThinkTimes> =
        Choice(ThinkTimes::WORDS), Is("constant"),
        "Whether every pause is the same or is drawn from an exponential with that mean.";
    BlockOrDatabase RATE "rate": Rates = Rates { most: Rate { max: 100e6 } }, Follows("(none: the load is closed)"),
        "Open load: operations, or bytes of blocks, that arrive each second, whatever the system does.";
    BlockOrDatabase ARRIVALS "arrivals": Choice<Arrivals> =
        Choice(Arrivals::WORDS), Is("poisson"),
        "Open load: independent arrivals, or all gaps alike.";
    Block SLOTS "slots": Count = Count { min: 1, max: 65_536 }, Is("256"),
        "Open load: how many may be in flight at once; arrivals beyond wait, and the wait counts as response.";
    BlockOrDatabase PACING "pacing": Choice<Pacing> = Choice(Pacing::WORDS), Is("sleep"),
        "Open load: how the driver waits for the next arrival; spinning is exact and burns a core.";
    BlockOrDatabase RAMP "ramp": Span<Nanos> = ANY_TIME, Is("0 s"),
        "Time in which the load grows from nothing to all; it should lie within the warm-up.";
}
