//! The generator measures itself on a system that answers at once: what it can do, and how late it is.

use crate::observer::Unobserved;
use crate::sample;
use crate::{TrialError, run_trial};
use load::{Arrivals, Spec, Think};
use observation::{Ceiling, Observations};
use recorder::{Clock, WallClock};
use std::sync::atomic::AtomicBool;
use study::{Place, Trial};
use units::{Bytes, Nanos, PerSecond};

/// Outstanding operations of the closed part, as a worker of an array test would have.
const SLOTS: u32 = 32;

/// How often the closed part is measured.
const LOOKS: u32 = 3;

/// The rate of the open part, operations a second.
const OPEN_RATE: f64 = 300_000.0;

/// Measures the generator's own figures; takes about a second, and loads one core.
///
/// # Errors
/// When a thread cannot be started, and [`TrialError::Stopped`]; nothing else can fail on a system that does nothing.
pub fn measure_ceiling(stop: &AtomicBool) -> Result<Ceiling, TrialError> {
    let clock_read_ns = clock_read_ns();
    let mut null_operation_ns = f64::INFINITY;
    // The best of several looks: whatever else runs on the machine can only make it worse.
    for _ in 0..LOOKS {
        let load = Spec::Closed { slots: SLOTS, think: Think::None };
        let closed = run(&sample::trial(load, Nanos::from_millis(200)), stop)?;
        let done: u64 = closed.window_cells().map(|cell| cell.tally.done).sum();
        null_operation_ns = null_operation_ns.min(closed.window.length().0 as f64 / done.max(1) as f64);
    }
    let rate = PerSecond(OPEN_RATE);
    let load = Spec::Open { rate, arrivals: Arrivals::Poisson, slots: 1024 };
    let open = run(&sample::trial(load, Nanos::from_millis(500)), stop)?;
    let issued: u64 = open.window_cells().map(|cell| cell.tally.done).sum();
    let planned = open.accounts[0].planned as f64;
    let lateness = open.stream_total(0).lateness;
    Ok(Ceiling {
        null_operation_ns,
        clock_read_ns,
        lateness_p99_ns: lateness.quantile_ns(0.99).unwrap_or(0) as f64,
        open_rate_error_pct: (issued as f64 - planned) / planned.max(1.0) * 100.0,
    })
}

fn clock_read_ns() -> f64 {
    const READS: u32 = 200_000;
    let clock = WallClock::new();
    let start = clock.now();
    for _ in 0..READS {
        std::hint::black_box(clock.now());
    }
    clock.now().saturating_sub(start).0 as f64 / f64::from(READS)
}

fn run(trial: &Trial, stop: &AtomicBool) -> Result<Observations, TrialError> {
    // Opening nothing cannot fail.
    let mut opened = sample::open(Place::Null, 1, Bytes::gib(1), None).expect("a null system opens");
    run_trial(&mut opened, trial, &mut Unobserved, stop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ctrl-C in the first seconds of a run was heard only when the generator had measured itself.
    #[test]
    fn a_stop_ends_the_look_at_the_generator_itself() {
        assert!(matches!(measure_ceiling(&AtomicBool::new(true)), Err(TrialError::Stopped)));
    }
}
