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
    GeneratorBound "generator-bound" "The generator set the rate, not the system",
    LateLooks "late-looks" "The load generator was held up",
    LittleGap "little-gap" "Little's law does not close",
    NotSteady "not-steady" "Not steady",
    WindowTooShort "window-too-short" "Window too short",
    NoWholeCycle "no-whole-cycle" "The window leaves out what checkpoints cost",
    NotSustained "not-sustained" "The offered rate was not sustained",
    Late "late" "Users waited longer than the limits of their classes",
    Starved "starved" "Loads took the sessions of users",
    Stalled "stalled" "Nothing ended for a while, and a closed load hides what that costs",
    Failures "failures" "Operations failed",
    Hung "hung" "Operations hung",
    RingDiffers "ring-differs" "The kernel gave the rings of other trials more",
    Censored "censored" "Operations never ended: tails are lower bounds",
    ThinTail "thin-tail" "Too few samples beyond a quantile",
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
    CarryOver "carry-over" "The trial before left its mark",
    PlainDriver "plain-driver" "The plain driver was used",
    FewReplicates "few-replicates" "Too few replicates for a verdict",
    Unfinished "unfinished" "The run did not finish",
    Other "other" "Also",
}
