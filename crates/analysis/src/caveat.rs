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

words! {
    /// Kinds of caveats.
    pub enum CaveatKind {
        /// The generator, not the system, set the rate.
        GeneratorBound = "generator-bound",
        /// Little's law does not close.
        LittleGap = "little-gap",
        /// The window was not steady.
        NotSteady = "not-steady",
        /// The window was too short to say.
        WindowTooShort = "window-too-short",
        /// The window holds no whole cycle of checkpoints.
        NoWholeCycle = "no-whole-cycle",
        /// The open load was not sustained; the backlog grew.
        NotSustained = "not-sustained",
        /// Operations failed.
        Failures = "failures",
        /// Operations never ended; tails are lower bounds.
        Censored = "censored",
        /// Fewer than 100 samples beyond a quantile.
        ThinTail = "thin-tail",
        /// Almost nothing reached the device.
        Cached = "cached",
        /// The hypervisor took time.
        Steal = "steal",
        /// Tasks waited for CPU, memory or I/O.
        Pressure = "pressure",
        /// The cgroup was throttled.
        Throttled = "throttled",
        /// The clock or the machine paused.
        ClockPause = "clock-pause",
        /// Somebody else wrote to the device.
        OtherWriters = "other-writers",
        /// The frequency changed or the machine ran on battery.
        Frequency = "frequency",
        /// Two systems share a device.
        SharedDevice = "shared-device",
        /// Damage was found in the data.
        Damage = "damage",
        /// The trial before left its mark.
        CarryOver = "carry-over",
        /// The plain driver was used because io_uring is not allowed.
        PlainDriver = "plain-driver",
        /// Fewer replicates than a verdict needs.
        FewReplicates = "few-replicates",
        /// The run, or one of its trials, did not finish.
        Unfinished = "unfinished",
        /// Something else.
        Other = "other",
    }
}
