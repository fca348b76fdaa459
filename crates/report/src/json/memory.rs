//! Checkpoints and the working set of a trial that asks a database.

use super::{number, optional};
use analysis::{Checkpoints, Fits, WorkingSet};
use serde_json::{Value, json};

/// Checkpoints and the window.
pub(super) fn checkpoints(found: &Checkpoints) -> Value {
    json!({
        "window": found.held.word(),
        "measured_s": { "start": number(found.measured.start.seconds()), "end": number(found.measured.end.seconds()) },
        "begun": found.begun,
        "cycles": found.cycles,
        "cycle_s": optional(found.cycle_s),
        "text": found.text,
    })
}

/// The data beside the memories that may hold it, with the sentence that judges it.
pub(super) fn working_set(set: &WorkingSet, text: Option<String>) -> Value {
    json!({
        "data_bytes": optional(set.data_bytes),
        "buffer_bytes": optional(set.buffer_bytes),
        "buffer_of_each_session": set.buffer_each,
        "buffered_bytes": optional(set.buffered_bytes),
        "memory_bytes": optional(set.memory_bytes),
        "page_cached_bytes": optional(set.page_cached_bytes),
        "fits": set.fits.map(Fits::word),
        "text": text,
    })
}
