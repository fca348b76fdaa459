//! Keys of a load that its kind has no use for: `slots` of a closed one, `think` of an open one.
//!
//! The one idea: a setting is refused only where not one point takes it up, because a key may be meant for some levels or
//! experiments alone; and one that the command line put aside with its whole load is no mistake.
//!
//! What it does not do: keys that a workload has no use for are refused where experiments are resolved.

use crate::Stream;
use crate::keys::load::{ARRIVALS, OUTSTANDING, PACING, PER, RATE, SLOTS, THINK, THINK_TIMES};
use crate::point::Point;
use load::Spec as Load;
use reading::{AnyKey, Origin, Problems};
use units::Nanos;

const OF_OPEN: &str = "nothing for a closed load: it belongs to an open one, with a `rate`";
const OF_CLOSED: &str = "nothing for an open load: it belongs to a closed one, without a `rate`";
const OF_WAITS: &str =
    "nothing for a load that never waits: it belongs to one with a `rate`, think time (`think`) or a `ramp`";

/// A key that belongs to one kind of load, whether a stream takes it up, and what is said where it does not.
type OfLoad = (&'static dyn AnyKey, fn(&Stream) -> bool, &'static str);

const KEYS: [OfLoad; 6] = [
    (&SLOTS, open, OF_OPEN),
    (&ARRIVALS, open, OF_OPEN),
    (&PACING, waits, OF_WAITS),
    (&PER, closed, OF_CLOSED),
    (&THINK, closed, OF_CLOSED),
    (&THINK_TIMES, closed, OF_CLOSED),
];

/// The settings of the points that were looked at.
#[derive(Default)]
pub(crate) struct Settings {
    idle: Vec<(Origin, String, &'static str, &'static str)>,
    taken: Vec<(Origin, &'static str)>,
}

impl Settings {
    /// Looks at the streams of one more point.
    pub(crate) fn look(&mut self, point: &Point, streams: &[Stream]) {
        for (i, stream) in streams.iter().enumerate() {
            for (key, takes, message) in KEYS {
                let Some((rank, chosen)) = point.setting(key, i) else { continue };
                let (at, name) = (&chosen.at, key.name());
                if !chosen.key.applies(point.streams[i].kind) || self.knows(at, name) {
                    continue;
                }
                if takes(stream) || rank > decided(point, i, stream) {
                    self.taken.push((at.clone(), name));
                } else {
                    self.idle.push((at.clone(), point.experiment.name.clone(), name, message));
                }
            }
        }
    }

    fn knows(&self, at: &Origin, name: &str) -> bool {
        self.taken.iter().any(|(taken, key)| taken == at && *key == name)
    }

    /// Refuses those that no point takes up.
    pub(crate) fn tell(&self, problems: &mut Problems) {
        for (at, experiment, key, message) in &self.idle {
            if !self.knows(at, key) {
                problems.add_if_new(at, &format!("{experiment}.{key}"), *message);
            }
        }
    }
}

fn open(stream: &Stream) -> bool {
    matches!(stream.load, Load::Open { .. })
}

fn closed(stream: &Stream) -> bool {
    !open(stream)
}

fn waits(stream: &Stream) -> bool {
    let thinks = matches!(stream.load, Load::Closed { think, .. } if think.mean() > Nanos::ZERO);
    open(stream) || thinks || stream.ramp.over > Nanos::ZERO
}

/// The rank of the setting that decided on the kind of the load: what is further from the command line was put aside by it.
fn decided(point: &Point, i: usize, stream: &Stream) -> usize {
    let key: &dyn AnyKey = if open(stream) { &RATE } else { &OUTSTANDING };
    point.setting(key, i).map_or(usize::MAX, |(rank, _)| rank)
}
