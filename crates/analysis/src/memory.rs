//! What analysis says of checkpoints in the window, and of the data beside the memories that may hold it.
//!
//! The one idea: a rate leaves out what checkpoints cost unless whole cycles of them lie in the window, and it says nothing
//! of the storage while all of the data lies in a memory. Both are told beside the rate.

use observation::{Window, words};

/// Checkpoints of the server and the measured window.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoints {
    /// What the window holds.
    pub held: Held,
    /// The window as it was asked for; the trial's own is shorter where it was cut to whole cycles.
    pub measured: Window,
    /// How many began in the window as it was asked for; none where the server counts none.
    pub begun: Option<u32>,
    /// Whole cycles in that window.
    pub cycles: u32,
    /// Length of a cycle, seconds: as measured where there are whole cycles, else as expected of the server's limits and of
    /// how fast its log grew.
    pub cycle_s: Option<f64>,
    /// Which of these it is, in words, with what to do.
    pub text: String,
}

words! {
    /// What a window holds of the cycles of checkpoints.
    pub enum Held {
        Cycles = "whole-cycles" "Whole cycles, to which it was cut.",
        Forced = "forced" "It begins right after a forced checkpoint and was not cut.",
        AsItCame = "as-it-came" "It begins wherever checkpoints were, and was not cut.",
        NoCycles = "no-cycles" "The engine has no cycles.",
    }
}

/// The data beside the memories that may hold it, at the end of a trial; in bytes, and none is not observed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkingSet {
    /// The data on the disk, indexes included, log excluded.
    pub data_bytes: Option<f64>,
    /// The engine's own buffer.
    pub buffer_bytes: Option<f64>,
    /// Whether each session has such a buffer.
    pub buffer_each: bool,
    /// What of the buffer holds pages of data.
    pub buffered_bytes: Option<f64>,
    /// The machine's memory, or what its control group may use of it.
    pub memory_bytes: Option<f64>,
    /// What of the data's files lies in the page cache.
    pub page_cached_bytes: Option<f64>,
    /// Where the data fits.
    pub fits: Option<Fits>,
}

words! {
    /// The smallest memory that holds all of the data.
    pub enum Fits {
        Buffer = "buffer" "The engine's buffer.",
        PageCache = "page-cache" "The page cache beside that buffer.",
        AroundPageCache = "around-page-cache" "It would fit the page cache, but the engine goes around it.",
        Nothing = "nothing" "None.",
    }
}
