//! How far a fill is.

observation::words! {
    /// What a fill is doing, with the word for a progress line.
    pub enum Stage {
        Tables = "tables" "Making tables.",
        Rows = "rows" "Loading rows.",
        Keys = "keys" "Building primary keys.",
        Indexes = "indexes" "Building indexes.",
        References = "references" "Checking references between tables.",
        Statistics = "statistics" "Gathering statistics for the engine's plans.",
        Copy = "copy" "Keeping a copy.",
    }
}

/// A word about progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// How many rows, or statements, are done in this stage.
    pub done: u64,
    /// Of about how many.
    pub of: u64,
}
