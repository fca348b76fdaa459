//! Keys of how long a trial takes and how often it is repeated.

use super::domain::{HAPPENINGS, Said};
use super::group;
use reading::key::{Count, CountOr, Span};
use units::Nanos;
use workload::happening::Happening;

const DAY: Nanos = Nanos::from_secs(86_400);
/// The longest window.
pub const MEASURE_MAX: Nanos = Nanos(30 * DAY.0);

group! { PHASES, Phases;
    /// Load before the window; recorded, not counted.
    Always WARM_UP "warm_up": Span<Nanos> = Span { min: Nanos::ZERO, max: DAY },
        Follows("(a fifth of `measure`, from 200 ms to 10 s; none for fixed work)");
    /// The measured window; for fixed work the longest time that the work may take.
    Always MEASURE "measure": Span<Nanos> = Span { min: Nanos::from_millis(100), max: MEASURE_MAX },
        Follows("(60 s; 10 min at the longest for fixed work)");
    /// Length of the intervals that a trial is recorded in; `measure` and `warm_up` are whole multiples of it. When it
    /// is not set it is one that divides `measure`, and `warm_up` is rounded up to it.
    Always INTERVAL "interval": Span<Nanos> = Span { min: Nanos::from_millis(1), max: Nanos::from_secs(3600) },
        Follows("(50 ms up to 1 s of `measure`, 100 ms up to 10 s, then longer, so that a trial has at most 600)");
    /// Length of the rounds that the steady-state rule compares.
    Always ROUND "round": Span<Nanos> = Span { min: Nanos::from_millis(100), max: DAY },
        Follows("(a fifth of `measure`, at least 1 s)");
    /// How long operations that are still in flight may take to end after the window before they are censored.
    Always DRAIN "drain": Span<Nanos> = Span { min: Nanos::ZERO, max: Nanos::from_secs(3600) }, Is("10 s");
    /// What happens in the measured window, by the time since it began: parts of a model or of an emulated device fail
    /// and are restored (`2 s: fail controller 1`), a spare comes in and is rebuilt (`spare`), firmware is updated one
    /// half after the other (`firmware=TIME`); and the faults of an emulated device (`slow=10`, `full`, `hang`,
    /// `read-error=OFFSET`, `lie`, `power-loss`, `power-on`, `none`). A database with a mirror knows `kill-mirror`,
    /// `stop-mirror`, `cut`, `half-open`, `kill-primary`, `suspend`, `resume` and `swap`; where one lies on emulated
    /// devices also `full-mirror`, `power-loss-mirror`, `lie-mirror`, and the same with `-primary`. The model of a
    /// mirrored pair knows those at the mirror and at the wire.
    Always EVENTS "events": Said<Vec<(Nanos, Happening)>> = HAPPENINGS, Is("");
    /// Repeats of every trial. `auto` is one for a single system; for two or more it is a pilot of four pairs and then,
    /// where the primary metric is read, as many as find a difference of the margin in 80% of all cases.
    Always REPLICATES "replicates": CountOr = CountOr { min: 1, max: 1000, word: "auto" }, Is("auto");
    /// The most pairs that `replicates = "auto"` may run.
    Always REPLICATES_MAX "replicates_max": Count = Count { min: 4, max: 1000 }, Is("32");
}
