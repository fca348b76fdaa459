//! Whether a system is filled: decided once for a whole run, for a system is opened once.
//!
//! The one idea: a device on which every trial only reads needs no data of ours. It is opened so that nothing can be written
//! to it, and then asks for no consent.
//!
//! What it does not do: it opens nothing, and says nothing of refills before single trials; those are the state policy.

use crate::experiment::{SystemChoice, find};
use crate::keys::system::FILL;
use crate::point::Point;
use crate::{Place, Stream, state, stream};
use reading::Problems;

/// What the trials of a point do that only a filled system can bear, in words; none where they only read. A trial need not
/// be possible here: on a larger machine it may be.
pub(crate) fn change(point: &Point) -> Option<String> {
    // What streams do does not depend on the number of modules, but what is refused of them does: the draft of the trial
    // knows that number and tells.
    let (streams, _) = stream::streams(point, 1, &mut Problems::of(""));
    // File work never comes to a device: the point is left out.
    if streams.iter().any(|stream| stream.files().is_some()) {
        return None;
    }
    let state = state::state(point);
    let does = if streams.iter().any(Stream::writes) {
        "writes"
    } else if streams.iter().any(Stream::validates) {
        "checks its reads"
    } else if state.trim {
        "trims"
    } else if state.refill {
        "refills"
    } else if state.precondition.is_some() {
        "preconditions"
    } else {
        return None;
    };
    Some(format!("`{}` {does}", point.experiment.name))
}

/// Settles whether a system is filled, given what its trials do.
pub(crate) fn settle(system: &mut SystemChoice, change: Option<String>, problems: &mut Problems) {
    let asked = find(&system.settings, &FILL);
    let wants = asked.map(|asked| FILL.value(&asked.text));
    let word = system.spec.place.word();
    let mut refuse = |message: String| {
        if let Some(asked) = asked {
            problems.add(&asked.at, &format!("system.{}.fill", system.spec.name), message);
        }
    };
    match (&mut system.spec.place, wants, change) {
        (Place::File { .. }, Some(false), _) => {
            refuse("`true` for a system of kind `file`: new files are holes until they are filled, got `false`".into());
        }
        (Place::File { .. }, ..) => {}
        (Place::Device { .. }, Some(false), Some(change)) => {
            refuse(format!("`true` for a device that is not only read: {change}, got `false`"));
        }
        (Place::Device { fill, .. }, wants, change) => *fill = wants.unwrap_or(change.is_some()),
        _ => refuse(format!("it belongs to systems of kind `file` or `device`, this one is `{word}`")),
    }
}
