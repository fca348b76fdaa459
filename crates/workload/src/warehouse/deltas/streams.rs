//! Streams of deltas beside the users: when which change and which load is due.
//!
//! The one idea: a stream is a chain. A change in the source causes its load, and the end of the load causes the next change, when its
//! time has come: at a rate, each delta has its moment, and what comes late is late. A stream belongs to the worker that claims
//! it when one of its transactions has ended: of many workers with few users some never carry any.
//!
//! What it does not do: it carries nothing out, and reads no clock.

use super::super::Spec;
use super::super::scale::{STREAMS, Scale};
use super::super::spec::LoadRate;
use super::Delta;
use crate::kind::Share;
use crate::transaction::{Caused, Ending};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use units::Nanos;

/// How long a stream waits after a load that failed.
const AGAIN: Nanos = Nanos::from_millis(100);

/// What a transaction is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::warehouse) enum Errand {
    /// An arrival of the schedule: a step of a user.
    Step,
    /// Change `nth` of a stream.
    Change { stream: u64, nth: u64 },
    /// The next load of a stream.
    Load { stream: u64 },
}

const KIND: u32 = 56;
const STREAM: u32 = 48;

impl Errand {
    pub(in crate::warehouse) fn payload(self) -> u64 {
        match self {
            Errand::Step => 0,
            Errand::Change { stream, nth } => 1 << KIND | stream << STREAM | nth,
            Errand::Load { stream } => 2 << KIND | stream << STREAM,
        }
    }

    pub(in crate::warehouse) fn of(payload: u64) -> Errand {
        let stream = payload >> STREAM & 0xff;
        match payload >> KIND {
            1 => Errand::Change { stream, nth: payload & ((1 << STREAM) - 1) },
            2 => Errand::Load { stream },
            _ => Errand::Step,
        }
    }
}

/// Streams that no worker of the trial has claimed yet.
#[derive(Clone, Debug, Default)]
pub(in crate::warehouse) struct Unclaimed(Arc<AtomicU64>);

impl Unclaimed {
    fn claim(&self) -> Option<u64> {
        Some(self.0.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < STREAMS)
    }
}

/// One stream.
#[derive(Clone, Copy, Debug)]
struct Stream {
    number: u64,
    began: Nanos,
    /// Changes so far.
    changes: u64,
    /// The last change that may be there.
    newest: i64,
}

/// The streams of one worker.
#[derive(Clone, Debug)]
pub(in crate::warehouse) struct Streams {
    scale: Scale,
    delta: u64,
    /// Between two deltas of a stream; none when nothing is loaded.
    pace: Option<Nanos>,
    /// The greatest delta before the trial.
    pub(in crate::warehouse) before: u64,
    streams: Vec<Stream>,
    unclaimed: Unclaimed,
    /// How many more it may claim.
    more: u64,
}

impl Streams {
    pub(in crate::warehouse) fn new(spec: &Spec, share: &Share, unclaimed: Unclaimed) -> Streams {
        let scale = Scale::of(spec);
        let a_round = (scale.delta(spec.delta) * STREAMS) as f64;
        let pace = match spec.load_rate {
            LoadRate::Off => None,
            LoadRate::Full => Some(Nanos::ZERO),
            LoadRate::Rows(rows) => Some(Nanos((a_round / rows.max(1) as f64 * 1e9) as u64)),
        };
        let more = pace.map_or(0, |_| STREAMS.div_ceil(share.workers.max(1).into()));
        Streams { scale, delta: spec.delta, pace, before: share.epoch, streams: Vec::new(), unclaimed, more }
    }

    /// What change `nth` of a stream is.
    pub(in crate::warehouse) fn delta(&self, stream: u64, nth: u64, at: Nanos) -> Delta {
        let delta = Delta::nth(&self.scale, self.delta, stream, nth, self.before);
        Delta { moment: (at.0 / 1_000) as i64, ..delta }
    }

    /// A transaction of the worker has ended: it begins the streams that it can claim.
    pub(in crate::warehouse) fn begin(&mut self, at: Nanos, caused: &mut Vec<Caused>) {
        while self.more > 0 {
            self.more -= 1;
            let Some(number) = self.unclaimed.claim() else { return };
            self.streams.push(Stream { number, began: at, changes: 0, newest: 0 });
            self.change(self.streams.len() - 1, at, caused);
        }
    }

    /// A change has ended. One of which nobody knows whether it is there is looked for.
    pub(in crate::warehouse) fn changed(
        &mut self,
        delta: &Delta,
        stream: u64,
        ending: Ending,
        at: Nanos,
        caused: &mut Vec<Caused>,
    ) {
        let Some(place) = self.place(stream) else { return };
        if ending == Ending::Failed {
            return self.change(place, at + AGAIN, caused);
        }
        self.streams[place].newest = delta.id;
        caused.push(Caused { due: at, payload: Errand::Load { stream }.payload() });
    }

    /// A load has ended. What it left is loaded before anything else is changed.
    pub(in crate::warehouse) fn loaded(
        &mut self,
        loaded: Option<i64>,
        stream: u64,
        ending: Ending,
        at: Nanos,
        caused: &mut Vec<Caused>,
    ) {
        let Some(place) = self.place(stream) else { return };
        let load = |due| Caused { due, payload: Errand::Load { stream }.payload() };
        match (ending, loaded) {
            (Ending::Done, Some(delta)) if delta < self.streams[place].newest => caused.push(load(at)),
            (Ending::Done, _) => self.change(place, at, caused),
            _ => caused.push(load(at + AGAIN)),
        }
    }

    fn place(&self, stream: u64) -> Option<usize> {
        self.streams.iter().position(|own| own.number == stream)
    }

    /// The next change: at its moment, also when that is over; as fast as it goes, at once.
    fn change(&mut self, place: usize, at: Nanos, caused: &mut Vec<Caused>) {
        let Some(pace) = self.pace else { return };
        let Stream { number: stream, began, changes: nth, .. } = self.streams[place];
        self.streams[place].changes += 1;
        // Streams take turns.
        let moment = began.0 + pace.0 * nth + pace.0 * stream / STREAMS;
        let due = if pace == Nanos::ZERO { at } else { Nanos(moment) };
        caused.push(Caused { due, payload: Errand::Change { stream, nth }.payload() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errands_survive_the_way_through_a_payload() {
        for errand in [Errand::Step, Errand::Change { stream: 2, nth: 1 << 40 }, Errand::Load { stream: 1 }] {
            assert_eq!(Errand::of(errand.payload()), errand);
        }
    }
}
