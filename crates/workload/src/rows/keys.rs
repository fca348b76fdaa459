//! What a study may say of batch jobs.

use super::{Mode, Spec};
use crate::kind::{COMMIT_EVERY, ROWS, SESSIONS};
use reading::key::{Choice, Flag, Span};
use reading::{Settings, keys};
use units::Bytes;

/// What jobs do, without its details.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Job {
    /// Update rows.
    Update,
    /// Copy them.
    Copy,
}

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    JOB "job": Choice<Job> = Choice(&[("update", Job::Update), ("copy", Job::Copy)]), Is("update"),
        "What each job does with its own table, round and round: read rows for update and update them one by one, or copy \
         blocks of rows into a second table. A session is a job.";
    ROWS;
    ROW "row": Span<Bytes> = Span { min: Bytes(24), max: Bytes(32 << 10) }, Is("200 B"), "Bytes of a row's columns.";
    READ_FIRST "read_first": Flag = Flag, Is("false"), "Read each row plainly before it is read for update.";
    COMMIT_EVERY;
    COPY_BLOCK "copy_block": Span<Bytes> = Span { min: Bytes(8 << 10), max: Bytes(256 << 10) }, Is("64 KiB"),
        "Bytes of rows that one statement copies; a block is one operation.";
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
        mode: match settings.get(&JOB) {
            Job::Copy => Mode::Copy { block_bytes: settings.get(&COPY_BLOCK).0 },
            Job::Update => Mode::Update { read_first: settings.get(&READ_FIRST) },
        },
    }
}
