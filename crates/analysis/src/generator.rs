//! What the generator says of itself in a trial.

/// What the generator says of itself; `None` is not observed, or does not apply to the way in which it reached the system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeneratorSummary {
    /// Times between two looks at what has ended, where what ends waits for a look.
    pub looks: Option<LooksSummary>,
    /// Share of the window in which the worker that waited longest for a CPU could have run, and did not.
    pub waited_for_cpu: Option<f64>,
    /// Cores that other processes which Prony started kept busy, but for servers: emulated devices and voters; none where it started nothing.
    pub children_cores: Option<f64>,
    /// How the clock that stamps operations stood to the kernel's.
    pub clock: Option<ClockSummary>,
    /// The rings that carried operations.
    pub rings: Option<RingsSummary>,
    /// Operations that had not come back when the time to drain was over.
    pub hung: u64,
    /// The same of the trial before on this system.
    pub hung_before: u64,
}

/// What the kernel gave the rings of all workers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RingsSummary {
    /// The least generation: 0 has none of what helps, 3 all that Prony asks for.
    pub generation: f64,
    /// Share of the rings whose buffers the kernel knew beforehand; none where data moves through sockets.
    pub registered_buffers: Option<f64>,
    /// Share of the rings that wait for the first byte before they look for one; none without sockets.
    pub poll_first: Option<f64>,
}

/// The clock that stamps operations beside CLOCK_MONOTONIC and CLOCK_BOOTTIME, over the whole trial.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClockSummary {
    /// How much faster it ran than the kernel's, parts in a million.
    pub error_ppm: f64,
    /// How much of that the readings cannot tell.
    pub uncertainty_ppm: f64,
    /// How long the machine was suspended.
    pub suspended_s: f64,
    /// How far it jumped against the kernel's; 0 when it did not.
    pub jump_s: f64,
}

/// Times between two looks at what has ended, while operations were out. An operation that ends in between is seen at the
/// next look, and what it waits is part of its service. Milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LooksSummary {
    /// Mean.
    pub mean_ms: f64,
    /// 99th percentile, at most an eighth too high.
    pub p99_ms: f64,
    /// Exact maximum.
    pub max_ms: f64,
}
