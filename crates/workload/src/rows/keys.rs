//! What a study may say of batch jobs.

use super::{Access, Mode, Spec, Update};
use crate::kind::{COMMIT_EVERY, ROWS, SESSIONS};
use reading::key::{Choice, Count, CountOr, Flag, Span};
use reading::{Settings, keys};
use units::{Bytes, Share};

units::words! {
    /// What jobs do, without its details.
    pub enum Job {
        Update = "update" "Update rows.",
        Insert = "insert" "Insert rows.",
        Delete = "delete" "Delete them.",
        Copy = "copy" "Copy them.",
    }
}

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    /// What each job does with its own table, round and round: read rows for update and update them, insert or delete
    /// rows of a second table, or copy blocks of rows into it. A session is a job. When all rows of a round are
    /// inserted or deleted, the next transaction first takes them away or brings them back by one statement.
    JOB "job": Choice<Job> = Choice(Job::WORDS), Is("update");
    ROWS;
    /// Bytes of a row's columns.
    ROW "row": Span<Bytes> = Span { min: Bytes(24), max: Bytes(32 << 10) }, Is("200 B");
    /// Read each row plainly before it is read for update.
    READ_FIRST "read_first": Flag = Flag, Is("false");
    /// Whether an update job reads rows for update, those that it only reads among them, or plainly.
    READ_FOR_UPDATE "read_for_update": Flag = Flag, Is("true");
    /// Share of its rows that an update job updates, spread evenly and in whole percent; the others it only reads.
    WRITE_SHARE "write_share": Span<Share> = Span { min: Share(0.0), max: Share(1.0) }, Is("100%");
    /// By what an update job reads and updates the rows between two commits: a statement for each row, one statement
    /// for all of them, or a procedure of the server that goes row by row.
    ACCESS "access": Choice<Access> = Choice(Access::WORDS), Is("row");
    /// Rows that one statement of an insert job inserts.
    INSERT_BLOCK "insert_block": Count = Count { min: 1, max: 1_000 }, Is("1");
    /// Rows in all, which the jobs share in equal parts: the batch ends with them, and its time is what is measured.
    TOTAL "total": CountOr = CountOr { min: 1, max: 1 << 40, word: "unlimited" }, Is("unlimited");
    COMMIT_EVERY;
    /// Bytes of rows that one statement copies; a block is one operation.
    COPY_BLOCK "copy_block": Span<Bytes> = Span { min: Bytes(8 << 10), max: Bytes(256 << 10) }, Is("64 KiB");
}

/// The workload that these settings ask for. Its tables are made for the largest number of sessions that will be tried, so
/// that all trials of an experiment find the same data.
pub fn read(settings: &mut dyn Settings) -> Spec {
    let sessions = settings.most(&SESSIONS).unwrap_or(1.0);
    Spec {
        jobs: sessions as u32,
        rows_per_job: settings.get(&ROWS),
        row_bytes: settings.get(&ROW).0 as u32,
        commit_every: settings.given(&COMMIT_EVERY).unwrap_or(1) as u32,
        total: settings.get(&TOTAL),
        mode: match settings.get(&JOB) {
            Job::Copy => Mode::Copy { block_bytes: settings.get(&COPY_BLOCK).0 },
            Job::Insert => Mode::Insert { block: settings.get(&INSERT_BLOCK) as u32 },
            Job::Delete => Mode::Delete,
            Job::Update => Mode::Update(Update {
                read_first: settings.get(&READ_FIRST),
                locks: settings.get(&READ_FOR_UPDATE),
                share: (100.0 * settings.get(&WRITE_SHARE).0).round() as u32,
                access: settings.get(&ACCESS),
            }),
        },
    }
}
