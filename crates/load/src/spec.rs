//! What a load is, as a study says it.

use units::{Nanos, PerSecond};

/// The load of one stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spec {
    /// A fixed number of operations is outstanding; each slot starts its next when its last has ended.
    Closed {
        /// Operations outstanding, or sessions.
        slots: u32,
        /// Pause of a slot between the end of one operation and the intended start of the next.
        think: Think,
    },
    /// Operations arrive on a schedule that does not wait for the system.
    Open {
        /// Mean arrivals a second, over all workers.
        rate: PerSecond,
        /// How the gaps are drawn.
        arrivals: Arrivals,
        /// How many may be outstanding at once; arrivals beyond wait, and the wait is part of their response time.
        slots: u32,
    },
}

/// Think time of a closed load.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Think {
    /// None: the next operation is due when the last has ended.
    #[default]
    None,
    /// Always the same.
    Constant(Nanos),
    /// Exponential with this mean, as people are usually modelled.
    Exponential(Nanos),
    /// Until the moment that the workload names for the slot ([`Load::due`](crate::Load::due)); a slot for which it names none goes
    /// on at once.
    Given,
}

impl Think {
    /// The mean.
    pub fn mean(&self) -> Nanos {
        match self {
            Think::None | Think::Given => Nanos::ZERO,
            Think::Constant(time) | Think::Exponential(time) => *time,
        }
    }
}

units::words! {
    /// How the gaps of an open load are drawn.
    #[derive(Default)]
    pub enum Arrivals {
        #[default]
        Poisson = "poisson" "Independent arrivals: gaps are exponential.",
        Constant = "constant" "Every gap is the same; the n-th arrival is exact, without drift.",
    }
}

units::words! {
    /// How a driver waits for the next arrival.
    #[derive(Default)]
    pub enum Pacing {
        #[default]
        Sleep = "sleep" "Sleeps in the kernel: cheap, and late by the wake-up.",
        Spin = "spin" "Spins on the clock: exact, and burns a core.",
    }
}

/// The beginning of a trial, while the load grows in a straight line from nothing to all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ramp {
    /// How long it takes; zero starts with the full load.
    pub over: Nanos,
}

/// When a load ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// No operation is due at or after this moment.
    pub until: Nanos,
    /// No more than this many operations, all workers together.
    pub count: Option<u64>,
}
