//! What batch jobs are, as a study says it.

/// What the jobs do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Read rows, and update some or all of them.
    Update(Update),
    /// Copy blocks of rows into a second table.
    Copy {
        /// Bytes of a block.
        block_bytes: u64,
    },
    /// Insert rows into a second table.
    Insert {
        /// Rows of a statement, at least 1.
        block: u32,
    },
    /// Delete rows of a second table one by one.
    Delete,
}

/// How rows are read and updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Update {
    /// Read each row plainly before.
    pub read_first: bool,
    /// Read rows for update.
    pub locks: bool,
    /// How many of a hundred rows are updated; all others are only read.
    pub share: u32,
    /// By what.
    pub access: Access,
}

impl Default for Update {
    fn default() -> Update {
        Update { read_first: false, locks: true, share: 100, access: Access::Row }
    }
}

impl Update {
    /// Whether a row is updated, by its number: the same rows whatever the access, spread evenly.
    pub(super) fn changes(&self, row: i64) -> bool {
        row * i64::from(self.share) % 100 >= i64::from(100 - self.share)
    }

    /// The same in SQL.
    pub(super) fn changes_sql(row: &str, share: &str) -> String {
        format!("{row} * {share} % 100 >= 100 - {share}")
    }
}

units::words! {
    /// By what rows are read and updated.
    pub enum Access {
        Row = "row" "A statement for each row.",
        Set = "set" "One statement for all rows of a transaction.",
        Procedure = "procedure" "A procedure of the server, which goes row by row.",
    }
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
    /// Rows between two commits; a copy commits each block.
    pub commit_every: u32,
    /// Rows in all, where the jobs share a batch that ends.
    pub total: Option<u64>,
    /// What the jobs do.
    pub mode: Mode,
}

impl Spec {
    /// Rows of one arrival, from which rows a second follow: those between two commits, or those of a block. Inserts are whole
    /// statements.
    pub fn rows_per_arrival(&self) -> u64 {
        let most = self.rows_per_job.max(1);
        match self.mode {
            Mode::Update(_) | Mode::Delete => u64::from(self.commit_every).clamp(1, most),
            Mode::Copy { block_bytes } => (block_bytes / u64::from(self.row_bytes.max(1))).clamp(1, most),
            Mode::Insert { block } => u64::from(self.commit_every.max(1)).next_multiple_of(u64::from(block.max(1))),
        }
    }

    /// Rows of a round: inserts come in whole arrivals.
    pub(super) fn rows_per_round(&self) -> u64 {
        match self.mode {
            Mode::Insert { .. } => self.rows_per_job.max(1).next_multiple_of(self.rows_per_arrival()),
            _ => self.rows_per_job.max(1),
        }
    }

    /// Whether each job has a second table.
    pub(super) fn has_target(&self) -> bool {
        !matches!(self.mode, Mode::Update(_))
    }

    /// Whether an arrival ends with the table.
    pub(super) fn ends_with_table(&self) -> bool {
        match self.mode {
            Mode::Update(update) => update.access != Access::Row,
            Mode::Copy { .. } | Mode::Insert { .. } | Mode::Delete => true,
        }
    }

    /// Characters of a row's filler: what its two numbers leave of its bytes.
    pub(super) fn filler(&self) -> u32 {
        self.row_bytes.max(17) - 16
    }
}
