//! The state policy of a point: what a trial finds when it starts.
//!
//! The one idea: the policy is a value, and what a label shows is made from it, so that the report shows what was done.
//!
//! What it does not do: it prepares nothing.

use crate::keys::state::{
    CACHE, CHECKPOINTS, CORES, DATA, DISTANCE, Data, LINK, PATIENCE, PRECONDITION, REFILL, RESYNC_LINK, SETTLE, SPREAD,
    TRIM,
};
use crate::point::Point;
use crate::{Cache, Checkpoints, Place, State, Wire};
use observation::{PlainState, StatePart, StatePolicy};
use units::Nanos;

/// The state of a point.
pub(crate) fn state(point: &Point) -> State {
    State {
        refill: point.get(&REFILL, 0),
        trim: point.get(&TRIM, 0),
        precondition: point.get(&PRECONDITION, 0),
        cache: point.get(&CACHE, 0),
        settle: if point.spec().place.holds_data() { point.get(&SETTLE, 0) } else { Nanos::ZERO },
        restore: point.get(&DATA, 0) == Data::Restore,
        checkpoints: point.get(&CHECKPOINTS, 0),
        wire: wire(point),
        resync: point.get(&RESYNC_LINK, 0),
        patience: point.get(&PATIENCE, 0),
        spread: point.get(&SPREAD, 0),
        cores: point.get(&CORES, 0),
    }
}

/// The wire to a mirror: as long as is said, and a distance on top.
fn wire(point: &Point) -> Wire {
    let wire = point.get(&LINK, 0);
    Wire { delay: wire.delay + Wire::over(point.get(&DISTANCE, 0) as f64), ..wire }
}

/// The policy on checkpoints of a trial that was planned or recorded.
pub fn checkpoints_of(state: &StatePolicy) -> Checkpoints {
    if state.has(PlainState::CheckpointForced) {
        Checkpoints::Force
    } else if state.has(PlainState::CheckpointsLeft) {
        Checkpoints::Leave
    } else {
        Checkpoints::Cycles
    }
}

/// What a trial finds where its policy asks for no fill.
pub(crate) fn unasked(point: &Point) -> PlainState {
    match point.spec().place {
        Place::Device { fill: false, .. } => PlainState::AsFound,
        Place::Database(_) if point.get(&DATA, 0) == Data::Restore => PlainState::Restored,
        _ => PlainState::AsLeft,
    }
}

/// The policy, part by part, as the report shows it.
pub(crate) fn policy(state: &State, unasked: PlainState) -> StatePolicy {
    let mut parts = Vec::new();
    let mut plain = |part: PlainState| parts.push(StatePart::Plain(part));
    match (state.trim, state.refill, unasked) {
        (true, ..) => plain(PlainState::Trimmed),
        (_, true, _) => plain(PlainState::Filled),
        _ if state.precondition.is_none() => plain(unasked),
        _ => {}
    }
    if let Some(precondition) = &state.precondition {
        parts.push(StatePart::Preconditioned { fills: precondition.fills });
        parts.extend(precondition.until_steady.then_some(StatePart::Plain(PlainState::UntilSteady)));
    }
    parts.push(StatePart::Plain(match state.cache {
        Cache::AsLeft => PlainState::CachesAsLeft,
        Cache::Cold => PlainState::CachesCold,
        Cache::Warm => PlainState::CachesWarm,
    }));
    parts.extend(match state.checkpoints {
        Checkpoints::Cycles => None,
        Checkpoints::Force => Some(StatePart::Plain(PlainState::CheckpointForced)),
        Checkpoints::Leave => Some(StatePart::Plain(PlainState::CheckpointsLeft)),
    });
    if state.settle > Nanos::ZERO {
        parts.push(StatePart::Settled { pause: state.settle });
    }
    StatePolicy(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Precondition, Spread};

    fn state(checkpoints: Checkpoints) -> State {
        State {
            refill: false,
            trim: false,
            precondition: None,
            cache: Cache::AsLeft,
            settle: Nanos::from_secs(2),
            restore: false,
            checkpoints,
            wire: Wire::default(),
            resync: None,
            patience: Nanos::ZERO,
            spread: Spread::One,
            cores: None,
        }
    }

    #[test]
    fn the_policy_on_checkpoints_is_read_back_from_the_words_of_a_state() {
        for checkpoints in [Checkpoints::Cycles, Checkpoints::Force, Checkpoints::Leave] {
            let words = policy(&state(checkpoints), PlainState::AsLeft).to_string();
            assert_eq!(checkpoints_of(&StatePolicy::read(&words)), checkpoints);
        }
    }

    #[test]
    fn a_policy_says_what_was_done_before_what_was_left() {
        let precondition = Precondition { fills: 1.5, until_steady: true, round: Nanos::from_secs(1), rounds_max: 25 };
        let words =
            |precondition, unasked| policy(&State { precondition, ..state(Checkpoints::Cycles) }, unasked).to_string();
        let end = "caches as left, 2 s to settle";
        assert_eq!(words(None, PlainState::AsFound), format!("data as it was found on the device, {end}"));
        let filled = "preconditioned with 1.5 fills, then the workload until steady";
        assert_eq!(words(Some(precondition), PlainState::AsLeft), format!("{filled}, {end}"));
    }
}
