//! Checkpoints and the working set of a trial that asks a database.

use super::value::{object, objects};
use analysis::{Checkpoints, Fits, WorkingSet};
use observation::Window;
use serde_json::Value;

objects! {
    window: Window { "start": window.start.seconds(), "end": window.end.seconds() }

    found: Checkpoints { "window": found.held.word(), "measured_s": found.measured, begun, cycles, cycle_s, text }
}

/// The data beside the memories that may hold it, with the sentence that judges it.
pub(super) fn working_set(set: &WorkingSet, text: Option<String>) -> Value {
    object!(set {
        data_bytes, buffer_bytes, "buffer_of_each_session": set.buffer_each, buffered_bytes, memory_bytes,
        page_cached_bytes, "fits": set.fits.map(Fits::word), "text": text,
    })
}
