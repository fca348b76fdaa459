//! How hot extents are: operations that fade.
//!
//! The one idea: what came counts a half after a half-life. Nothing is done for extents that nobody asks for; they are faded when
//! they are looked at.

use super::map::Key;
use std::collections::HashMap;
use units::Nanos;

/// What was seen of an extent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Warmth {
    heat: f64,
    at: Nanos,
    pub(crate) reads: u64,
    pub(crate) writes: u64,
}

/// All extents that were asked for.
#[derive(Debug)]
pub(crate) struct Heat {
    half_life_s: f64,
    seen: HashMap<Key, Warmth>,
}

impl Heat {
    pub(crate) fn new(half_life: Nanos) -> Heat {
        Heat { half_life_s: half_life.seconds().max(1e-3), seen: HashMap::new() }
    }

    /// An operation of an extent came.
    pub(crate) fn touch(&mut self, key: Key, now: Nanos, write: bool) {
        let warmth = self.seen.entry(key).or_default();
        warmth.heat = faded(warmth, now, self.half_life_s) + 1.0;
        warmth.at = now;
        warmth.reads += u64::from(!write);
        warmth.writes += u64::from(write);
    }

    /// All that was seen, as of now.
    pub(crate) fn all(&self, now: Nanos) -> impl Iterator<Item = (Key, f64, Warmth)> + '_ {
        self.seen.iter().map(move |(key, warmth)| (*key, faded(warmth, now, self.half_life_s), *warmth))
    }

    /// Extents that are gone.
    pub(crate) fn forget(&mut self, gone: impl Fn(Key) -> bool) {
        self.seen.retain(|key, _| !gone(*key));
    }
}

fn faded(warmth: &Warmth, now: Nanos, half_life_s: f64) -> f64 {
    warmth.heat * (-now.saturating_sub(warmth.at).seconds() / half_life_s).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_halves_with_each_half_life_and_adds_up() {
        let mut heat = Heat::new(Nanos::from_secs(10));
        let only = |heat: &Heat, s| {
            heat.all(Nanos::from_secs(s)).next().map(|(_, heat, seen)| (heat, seen.reads, seen.writes))
        };
        (0..8).for_each(|_| heat.touch((1, 0), Nanos::ZERO, false));
        assert_eq!(only(&heat, 20), Some((2.0, 8, 0)));
        heat.touch((1, 0), Nanos::from_secs(20), true);
        assert_eq!(only(&heat, 30), Some((1.5, 8, 1)));
        heat.forget(|(file, _)| file == 1);
        assert_eq!(only(&heat, 30), None);
    }
}
