//! How long a run takes, as far as that can be known before.

use super::written::fresh;
use super::{Occasion, Plan};
use crate::{Storage, Stream, Trial};
use units::{Bytes, Nanos};

/// Speed that is assumed for fills and file work, whose time follows from the system: bytes a second. A SATA solid-state
/// disk writes about this fast; on a slower system a run takes longer, by the bytes that the plan states.
pub const ASSUMED_BYTES_PER_S: f64 = 500e6;

/// Opening ports, starting threads and storing a trial.
const OVERHEAD: Nanos = Nanos::from_millis(100);

/// How long a run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimated {
    /// The certain trials.
    pub certain: Nanos,
    /// With every repeat and every search to its end.
    pub at_most: Nanos,
    /// Part of `certain` that the assumed speed decides: fills and fixed work.
    pub assumed: Nanos,
}

impl Plan {
    /// How long the run takes. Phases add up; fills and fixed work are taken at [`ASSUMED_BYTES_PER_S`].
    pub fn estimated(&self) -> Estimated {
        let fills: Nanos =
            self.written().iter().filter(|w| w.occasion == Occasion::Fill).map(|w| at_speed(w.bytes())).sum_up();
        let certain: Nanos = self.trials.iter().map(|trial| trial_time(trial).0).sum_up() + fills;
        let assumed: Nanos = self.trials.iter().map(|trial| trial_time(trial).1).sum_up() + fills;
        let repeats: Nanos = self
            .repeats
            .iter()
            .map(|repeat| {
                let block = repeat.points.iter().flat_map(|point| &point.systems);
                let block: Nanos = block.map(|(trial, _)| trial_time(trial).0).sum_up();
                Nanos(block.0.saturating_mul(u64::from(repeat.pairs_max - crate::pairs::PILOT)))
            })
            .sum_up();
        let probes = u64::from(crate::experiment::PROBES_MAX);
        let searches: Nanos =
            self.searches.iter().map(|search| Nanos(trial_time(&search.template).0.0.saturating_mul(probes))).sum_up();
        Estimated { certain, at_most: certain.saturating_add(repeats).saturating_add(searches), assumed }
    }
}

fn at_speed(bytes: Bytes) -> Nanos {
    Nanos::from_seconds(bytes.0 as f64 / ASSUMED_BYTES_PER_S)
}

/// Time of a trial, and the part of it that the assumed speed decides.
fn trial_time(trial: &Trial) -> (Nanos, Nanos) {
    let capacity = Bytes(trial.module_bytes.0.saturating_mul(u64::from(trial.modules)));
    let mut assumed = Nanos::ZERO;
    if fresh(trial) {
        assumed += at_speed(capacity);
    }
    if let Some(precondition) = trial.state.precondition {
        assumed += Nanos::from_seconds(precondition.fills * capacity.0 as f64 / ASSUMED_BYTES_PER_S);
        if precondition.until_steady {
            // Five rounds agree at the soonest.
            assumed += Nanos(precondition.round.0 * 5);
        }
    }
    let window = if trial.phases.fixed_work {
        let work = at_speed(fixed_bytes(trial)).min(trial.phases.measure);
        assumed += work;
        work
    } else {
        trial.phases.measure
    };
    assumed += at_speed(trial.read_back_in_all());
    let known = trial.state.settle.saturating_add(trial.phases.warm_up).saturating_add(OVERHEAD);
    let prepared = if trial.phases.fixed_work { assumed } else { assumed.saturating_add(window) };
    (known.saturating_add(prepared), assumed)
}

/// Bytes that the fixed work of a trial moves, reads included.
fn fixed_bytes(trial: &Trial) -> Bytes {
    let of = |operations: &crate::Operations| match &operations.of {
        Storage::Files(spec) => spec.written().0.saturating_add(spec.written().0 / 2),
        Storage::Block(spec) => operations.count.unwrap_or(0).saturating_mul(spec.transfer_max().0),
    };
    Bytes(trial.streams.iter().filter_map(Stream::operations).map(of).fold(0, u64::saturating_add))
}

trait SumUp {
    fn sum_up(self) -> Nanos;
}

impl<I: Iterator<Item = Nanos>> SumUp for I {
    /// The sum, or the end of time.
    fn sum_up(self) -> Nanos {
        self.fold(Nanos::ZERO, Nanos::saturating_add)
    }
}
