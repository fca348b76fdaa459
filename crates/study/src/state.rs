//! The state policy of a point: what a trial finds when it starts.
//!
//! The one idea: the policy is a value, and its words are made from it, so that the report shows what was done.
//!
//! What it does not do: it prepares nothing.

use crate::keys::state::{CACHE, CHECKPOINTS, DATA, Data, PRECONDITION, REFILL, SETTLE, TRIM};
use crate::point::Point;
use crate::{Cache, Checkpoints, Place, State, Stream};
use units::Nanos;

/// The state of a point.
pub(crate) fn state(point: &Point) -> State {
    State {
        refill: point.get(&REFILL, 0),
        trim: point.get(&TRIM, 0),
        precondition: point.get(&PRECONDITION, 0),
        cache: point.get(&CACHE, 0),
        // What answers by itself has nothing to settle.
        settle: match point.spec().place {
            Place::Null | Place::Scripted(_) | Place::Model { .. } => Nanos::ZERO,
            Place::File { .. } | Place::Device { .. } | Place::Database(_) => point.get(&SETTLE, 0),
        },
        restore: point.get(&DATA, 0) == Data::Restore,
        checkpoints: point.get(&CHECKPOINTS, 0),
    }
}

/// How the words of a trial's state say that its window stays as it was asked for.
const FORCE: &str = "a checkpoint forced and the window as asked for";

/// How they say that no checkpoint is forced.
const LEAVE: &str = "checkpoints left alone";

/// The policy on checkpoints of a trial that was planned or recorded, out of the words of its state.
pub fn checkpoints_of(state: &str) -> Checkpoints {
    let says = |words: &str| state.split(", ").any(|part| part == words);
    if says(FORCE) {
        Checkpoints::Force
    } else if says(LEAVE) {
        Checkpoints::Leave
    } else {
        Checkpoints::Cycles
    }
}

/// The state of a device that is not filled, as it stands in the words of a trial.
pub const AS_FOUND: &str = "data as it was found on the device";

const RESTORED: &str = "data set restored to what it was after the fill";
const AS_LEFT: &str = "data as the last trial left it";
const CHECKED: &str = "filled again, because reads are checked";

/// What a trial finds where its policy asks for no fill.
pub(crate) fn unasked(point: &Point, streams: &[Stream]) -> &'static str {
    match point.spec().place {
        Place::Device { fill: false, .. } => AS_FOUND,
        Place::Database(_) if point.get(&DATA, 0) == Data::Restore => RESTORED,
        Place::Device { .. } | Place::File { .. } if streams.iter().any(|stream| stream.access.validate) => CHECKED,
        _ => AS_LEFT,
    }
}

/// The policy in words, as the report shows it.
pub(crate) fn words(state: &State, unasked: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    if state.trim {
        parts.push("trimmed and filled again".to_owned());
    } else if state.refill {
        parts.push("filled again".to_owned());
    } else if unasked == CHECKED {
        parts.push(CHECKED.to_owned());
    }
    if let Some(precondition) = &state.precondition {
        let until = if precondition.until_steady { ", then the workload until steady" } else { "" };
        parts.push(format!("preconditioned with {} fills{until}", precondition.fills));
    }
    if parts.is_empty() {
        parts.push(unasked.to_owned());
    }
    parts.push(
        match state.cache {
            Cache::AsLeft => "caches as left",
            Cache::Cold => "cold caches",
            Cache::Warm => "warm caches",
        }
        .to_owned(),
    );
    match state.checkpoints {
        Checkpoints::Cycles => {}
        Checkpoints::Force => parts.push(FORCE.to_owned()),
        Checkpoints::Leave => parts.push(LEAVE.to_owned()),
    }
    if state.settle > Nanos::ZERO {
        parts.push(format!("{} to settle", units::duration(state.settle)));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_on_checkpoints_is_read_back_from_the_words_of_a_state() {
        for checkpoints in [Checkpoints::Cycles, Checkpoints::Force, Checkpoints::Leave] {
            let state = State {
                refill: false,
                trim: false,
                precondition: None,
                cache: Cache::AsLeft,
                settle: Nanos::from_secs(2),
                restore: false,
                checkpoints,
            };
            assert_eq!(checkpoints_of(&words(&state, AS_LEFT)), checkpoints);
        }
    }
}
