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
    /// Closed load: operations in flight all the time.
    Block OUTSTANDING "outstanding": Count = Count { min: 1, max: 65_536 }, Is("1");
    /// Whether `outstanding` counts for the whole system or for each module.
    Block PER "per": Choice<Per> = Choice(Per::WORDS), Is("system");
    Database SESSIONS;
    /// Users who think (`think`) between transactions and share the sessions; waiting for a session counts.
    Shared USERS "users": CountOr = CountOr { min: 1, max: 1_000_000, word: "off" }, Is("off");
    /// Closed load: pause of a slot between the end of one operation and the start of its next.
    BlockOrDatabase THINK "think": Span<Nanos> = ANY_TIME, Is("0 s");
    /// Whether every pause is the same or is drawn from an exponential with that mean.
    BlockOrDatabase THINK_TIMES "think_times": Choice<ThinkTimes> =
        Choice(ThinkTimes::WORDS), Is("constant");
    /// Open load: operations, or bytes of blocks, that arrive each second, whatever the system does.
    BlockOrDatabase RATE "rate": Rates = Rates { most: Rate { max: 100e6 } }, Follows("(none: the load is closed)");
    /// Open load: independent arrivals, or all gaps alike.
    BlockOrDatabase ARRIVALS "arrivals": Choice<Arrivals> =
        Choice(Arrivals::WORDS), Is("poisson");
    /// Open load: how many may be in flight at once; arrivals beyond wait, and the wait counts as response.
    Block SLOTS "slots": Count = Count { min: 1, max: 65_536 }, Is("256");
    /// Open load: how the driver waits for the next arrival; spinning is exact and burns a core.
    BlockOrDatabase PACING "pacing": Choice<Pacing> = Choice(Pacing::WORDS), Is("sleep");
    /// Time in which the load grows from nothing to all; it should lie within the warm-up.
    BlockOrDatabase RAMP "ramp": Span<Nanos> = ANY_TIME, Is("0 s");
}
