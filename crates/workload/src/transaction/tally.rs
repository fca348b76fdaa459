//! What the generator knows of the rows of a batch job, to be held against the database.

/// What a worker knows of the work of one job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The job.
    pub job: u32,
    /// Rows whose commit was acknowledged.
    pub done: u64,
    /// Rows of which it is not known.
    pub unknown: u64,
}

impl Tally {
    /// Whether the database holds the work, by the answers of [`tally_statement`](crate::rows::tally_statement) before and
    /// after it.
    pub fn agrees(&self, before: i64, after: i64) -> bool {
        let grown = after - before;
        (self.done as i64..=(self.done + self.unknown) as i64).contains(&grown)
    }
}
