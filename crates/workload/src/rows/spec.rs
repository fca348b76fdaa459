//! What batch jobs are, as a study says it.

/// What the jobs do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Read each row for update, and update it.
    Update {
        /// Read it plainly before.
        read_first: bool,
    },
    /// Copy blocks of rows into a second table.
    Copy {
        /// Bytes of a block.
        block_bytes: u64,
    },
}

/// Batch jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spec {
    /// Jobs; each has its own tables.
    pub jobs: u32,
    /// Rows of each job's table.
    pub rows_per_job: u64,
    /// Bytes of a row's columns, 17 at least.
    pub row_bytes: u32,
    /// Rows between two commits of an update; a copy commits each block.
    pub commit_every: u32,
    /// What the jobs do.
    pub mode: Mode,
}

impl Spec {
    /// Rows of one arrival, from which rows a second follow: those between two commits, or those of a block.
    pub fn rows_per_arrival(&self) -> u64 {
        let rows = match self.mode {
            Mode::Update { .. } => u64::from(self.commit_every),
            Mode::Copy { block_bytes } => block_bytes / u64::from(self.row_bytes.max(1)),
        };
        rows.clamp(1, self.rows_per_job.max(1))
    }

    /// Characters of a row's filler: what its two numbers leave of its bytes.
    pub(super) fn filler(&self) -> u32 {
        self.row_bytes.max(17) - 16
    }
}
