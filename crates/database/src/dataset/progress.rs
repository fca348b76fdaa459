//! How far a fill is.

observation::words! {
    /// What a fill is doing, with the word for a progress line.
    pub enum Stage {
        /// Making tables.
        Tables = "tables",
        /// Loading rows.
        Rows = "rows",
        /// Building primary keys.
        Keys = "keys",
        /// Building indexes.
        Indexes = "indexes",
        /// Checking references between tables.
        References = "references",
        /// Gathering statistics for the engine's plans.
        Statistics = "statistics",
        /// Keeping a copy.
        Copy = "copy",
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
