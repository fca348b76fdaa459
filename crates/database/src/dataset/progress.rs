//! How far a fill is.

/// What a fill is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Making tables.
    Tables,
    /// Loading rows.
    Rows,
    /// Building primary keys.
    Keys,
    /// Building indexes.
    Indexes,
    /// Checking references between tables.
    References,
    /// Gathering statistics for the engine's plans.
    Statistics,
    /// Keeping a copy.
    Copy,
}

impl Stage {
    /// The word for a progress line.
    pub fn word(self) -> &'static str {
        match self {
            Stage::Tables => "tables",
            Stage::Rows => "rows",
            Stage::Keys => "keys",
            Stage::Indexes => "indexes",
            Stage::References => "references",
            Stage::Statistics => "statistics",
            Stage::Copy => "copy",
        }
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
