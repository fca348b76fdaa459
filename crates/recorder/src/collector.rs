//! Turns full sets into cells, away from the hot path.
//!
//! The one idea: workers leave their sets in a queue, and whoever keeps the trial calls [`Collector::collect`] now and
//! then; nothing wakes it, and nothing waits for it.

use crate::hand_over::HandOver;
use crate::recorder::{Layout, Recorder};
use observation::Cell;
use std::sync::Arc;

/// The receiving end of all recorders of a trial.
#[derive(Debug, Default)]
pub struct Collector {
    exchanges: Vec<Arc<HandOver>>,
}

/// What all workers have done so far, at most a few hundredths of a second old.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Operations that ended well, warm-up included.
    pub done: u64,
    /// Operations that ended with an error, warm-up included.
    pub failed: u64,
}

impl Collector {
    /// Makes the recorder of one worker and stream. All its memory is taken here, and most of it is never touched.
    pub fn recorder(&mut self, layout: Layout) -> Recorder {
        let (recorder, hand_over) = Recorder::new(layout);
        self.exchanges.push(hand_over);
        recorder
    }

    /// Appends the cells of all sets that were handed over since the last call, and gives the sets back. Call it every
    /// 10 to 100 ms, and once more when every recorder is finished.
    pub fn collect(&mut self, into: &mut Vec<Cell>) {
        for hand_over in &self.exchanges {
            while let Some(mut set) = hand_over.full.pop() {
                set.freeze(&hand_over.layout, into);
                let _ = hand_over.clear.push(set);
            }
            into.append(&mut hand_over.take_leftover());
        }
    }

    /// Running counts, for progress; cheap at any time.
    pub fn live(&self) -> Live {
        let add = |sum: Live, live: Live| Live { done: sum.done + live.done, failed: sum.failed + live.failed };
        self.exchanges.iter().map(|hand_over| hand_over.live()).fold(Live::default(), add)
    }
}
