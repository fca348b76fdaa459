//! Reasons to doubt a number, shown beside it.

use observation::words;

/// A reason to doubt a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Caveat {
    /// What kind; stable word for programs.
    pub kind: CaveatKind,
    /// Trial that it touches; none is the run.
    pub trial: Option<u32>,
    /// In words, with figures and, where the user can do something, what.
    pub text: String,
}

macro_rules! kinds {
    ($($variant:ident $word:literal $heading:literal,)+) => {
        words! {
            /// Kinds of caveats.
            pub enum CaveatKind {
                $(#[doc = concat!($heading, ".")] $variant = $word,)+
            }
        }

        impl CaveatKind {
            /// The heading under which a kind is explained.
            pub fn heading(self) -> &'static str {
                match self {
                    $(CaveatKind::$variant => $heading,)+
                }
            }
        }
    };
}

kinds! {
    GeneratorBound "generator-bound" "The load generator was at its limit: these are at least the system's numbers",
    LateLooks "late-looks" "The load generator was delayed",
    DeviceLate "device-late" "An emulated device was slower than its model",
    LittleGap "little-gap" "The queue was not always full",
    NotSteady "not-steady" "Not steady",
    WindowTooShort "window-too-short" "Window too short",
    NoWholeCycle "no-whole-cycle" "The window leaves out what checkpoints cost",
    NotSustained "not-sustained" "The offered rate was not sustained",
    Late "late" "Users waited longer than the limits of their classes",
    Starved "starved" "Loads took the sessions of users",
    Stalled "stalled" "Nothing completed for a while",
    Outage "outage" "The server was lost for a while",
    LockHeld "lock-held" "A lock was held for long",
    Failures "failures" "Operations failed",
    Hung "hung" "Operations hung",
    RingDiffers "ring-differs" "Trials were not given the same io_uring features",
    Censored "censored" "Operations never ended: high percentiles are lower bounds",
    ThinTail "thin-tail" "Too few independent samples for a percentile",
    Unseen "unseen" "Freshness is a lower bound",
    Cached "cached" "Almost nothing reached the device",
    Steal "steal" "The hypervisor took CPU time",
    Pressure "pressure" "Tasks waited for CPU, memory or I/O",
    Throttled "throttled" "The control group was throttled",
    ClockPause "clock-pause" "The clock or the machine paused",
    ClockScale "clock-scale" "The clock of the measurement ran at another pace than the kernel's",
    OtherWriters "other-writers" "Somebody else used the device",
    Frequency "frequency" "The CPU frequency changed",
    SharedDevice "shared-device" "Two systems share a device",
    Damage "damage" "Damaged data",
    Replanned "replanned" "The plan of a statement changed",
    CarryOver "carry-over" "The trial before left its mark",
    PlainDriver "plain-driver" "The plain driver was used",
    FewReplicates "few-replicates" "Too few replicates for a verdict",
    MeasuredTwice "measured-twice" "The same point, measured twice, differs",
    Unfinished "unfinished" "The run is not finished",
    Other "other" "Also",
}

words! {
    /// How much a doubt matters to somebody who decides by a number.
    pub enum Weight {
        Decisive = "decisive" "The number may be of something else, or work is missing.",
        WorthKnowing = "worth knowing" "The number holds, and may be another one tomorrow.",
        Detail = "detail" "Of interest to whoever looks closer.",
    }
}

impl CaveatKind {
    /// Which is told first: damaged data before numbers that are not the storage's, before numbers that may move. From 0.
    pub fn gravity(self) -> u8 {
        use CaveatKind as K;
        match self {
            K::Damage => 0,
            K::Outage | K::Failures => 1,
            // What never ended and how old it got follows from a load that was not sustained.
            K::NotSustained | K::Starved | K::Stalled | K::LockHeld => 2,
            K::Late | K::Hung | K::Censored => 3,
            K::Cached => 4,
            K::GeneratorBound => 5,
            // A difference that cannot be one of devices is no answer about them.
            K::SharedDevice => 5,
            K::Throttled | K::ClockPause | K::ClockScale | K::Pressure => 6,
            K::MeasuredTwice | K::NotSteady | K::CarryOver | K::Replanned | K::OtherWriters => 7,
            K::Steal | K::Frequency | K::LateLooks | K::DeviceLate => 8,
            K::Unfinished => 9,
            K::WindowTooShort | K::NoWholeCycle => 10,
            K::LittleGap | K::RingDiffers | K::FewReplicates => 11,
            K::ThinTail | K::Unseen | K::PlainDriver | K::Other => 12,
        }
    }

    /// How much it matters.
    pub fn weight(self) -> Weight {
        match self.gravity() {
            _ if self == CaveatKind::Unfinished => Weight::Decisive,
            0..=5 => Weight::Decisive,
            6..=10 => Weight::WorthKnowing,
            _ => Weight::Detail,
        }
    }
}
