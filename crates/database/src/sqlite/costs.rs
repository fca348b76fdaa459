//! What statements cost a SQLite that runs inside this process.
//!
//! The one idea: about one execution in sixteen is measured on the CPU clock of its thread and by the connection's page
//! counters, and stands for those between; the first of a session finds a cold cache and stands for itself alone.
//!
//! What it does not do: it divides no pages of a commit among the statements before it. They are the commit's.

use crate::cost::{PageCounter, Pages, Profiling, StatementCost};
use crate::{Texts, fingerprint};
use observation::{COMMIT, OfStatement};
use rusqlite::Connection;
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use study::Engine;

/// Gaps between samples are between 1 and this, even on average: a workload's own rhythm must not meet ours.
const GAP_MAX: u32 = 31;

/// Bytes that the log has beside each page.
const FRAME_HEAD: u64 = 24;

/// The costs of all sessions that ended, by fingerprint.
pub(super) type Total = Arc<Mutex<BTreeMap<String, [f64; 5]>>>;

const AMOUNTS: [OfStatement; 5] = [
    OfStatement::ServerExecutions,
    OfStatement::CpuSeconds,
    OfStatement::Lookups,
    OfStatement::Reads,
    OfStatement::LogBytes,
];

/// The costs that sessions of the database left behind; log bytes only where pages are counted.
pub(super) fn read(total: &Total) -> Vec<StatementCost> {
    let Ok(total) = total.lock() else { return Vec::new() };
    let cost = |(key, sums): (&String, &[f64; 5])| StatementCost {
        key: key.clone(),
        amounts: AMOUNTS.iter().copied().zip(*sums).filter(|(_, sum)| sum.is_finite()).collect(),
    };
    total.iter().map(cost).collect()
}

/// The samples of one session.
#[derive(Debug)]
pub(super) struct Samples {
    pages: Option<PageCounter>,
    page_bytes: u64,
    total: Total,
    /// One for each text, and the last for commits.
    each: Vec<Sample>,
    random: u32,
}

#[derive(Clone, Debug)]
struct Sample {
    key: String,
    executions: u64,
    left: u32,
    measured: u64,
    first: Spent,
    later: Spent,
}

/// CPU and pages.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    cpu_s: f64,
    hits: u64,
    misses: u64,
    writes: u64,
}

/// What a connection had spent at a moment.
#[derive(Clone, Copy, Debug)]
struct Reading {
    cpu_s: f64,
    pages: Pages,
}

/// A measurement that was begun.
pub(super) struct Begun {
    at: usize,
    from: Reading,
}

impl Samples {
    /// Nothing when costs are not counted, or nothing is made known that could cost.
    pub(super) fn of(profiling: &Profiling, total: &Total, texts: &Texts, connection: &Connection) -> Option<Samples> {
        if !profiling.on || texts.is_empty() {
            return None;
        }
        let page_bytes = connection.pragma_query_value(None, "page_size", |row| row.get::<_, i64>(0)).unwrap_or(0);
        let keys = texts.iter().map(|text| fingerprint(Engine::Sqlite, &text.sql));
        let blank =
            |key| Sample { key, executions: 0, left: 0, measured: 0, first: Spent::default(), later: Spent::default() };
        Some(Samples {
            pages: profiling.pages,
            page_bytes: page_bytes as u64,
            total: total.clone(),
            each: keys.chain([COMMIT.to_owned()]).map(blank).collect(),
            random: 0x9e37_79b9,
        })
    }

    /// Where commits are counted.
    pub(super) fn commit(&self) -> usize {
        self.each.len() - 1
    }

    /// Counts an execution, and begins to measure it when it is its turn.
    pub(super) fn begin(&mut self, at: usize, connection: &Connection) -> Option<Begun> {
        let sample = self.each.get_mut(at)?;
        sample.executions += 1;
        if sample.left > 0 {
            sample.left -= 1;
            return None;
        }
        // Marsaglia's shifts: enough to be out of step with a workload.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        sample.left = self.random % GAP_MAX;
        Some(Begun { at, from: self.reading(connection) })
    }

    /// Ends a measurement.
    pub(super) fn end(&mut self, begun: Option<Begun>, connection: &Connection) {
        let Some(Begun { at, from }) = begun else { return };
        let now = self.reading(connection);
        let Some(sample) = self.each.get_mut(at) else { return };
        let into = if sample.executions == 1 { &mut sample.first } else { &mut sample.later };
        sample.measured += u64::from(sample.executions > 1);
        into.cpu_s += now.cpu_s - from.cpu_s;
        into.hits += u64::from(now.pages.hits.wrapping_sub(from.pages.hits));
        into.misses += u64::from(now.pages.misses.wrapping_sub(from.pages.misses));
        into.writes += u64::from(now.pages.writes.wrapping_sub(from.pages.writes));
    }

    fn reading(&self, connection: &Connection) -> Reading {
        // The kernel's account of this thread, not a time of day: no clock of the recorder is replaced by it.
        let cpu = clock_gettime(ClockId::ThreadCPUTime);
        let cpu_s = cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9;
        Reading { cpu_s, pages: self.pages.map(|pages| pages(connection)).unwrap_or_default() }
    }

    fn sums(&self, sample: &Sample) -> [f64; 5] {
        let others = sample.executions.saturating_sub(1) as f64;
        let scale = if sample.measured > 0 { others / sample.measured as f64 } else { 0.0 };
        // A statement that was measured but once is taken to cost the same each time.
        let first = if sample.measured == 0 { sample.executions as f64 } else { 1.0 };
        let whole = |of: fn(&Spent) -> f64| of(&sample.first) * first + of(&sample.later) * scale;
        let counted = |sum: f64| if self.pages.is_some() { sum } else { f64::NAN };
        let bytes = (self.page_bytes + FRAME_HEAD) as f64;
        [
            sample.executions as f64,
            whole(|spent| spent.cpu_s),
            counted(whole(|spent| (spent.hits + spent.misses) as f64)),
            counted(whole(|spent| spent.misses as f64)),
            counted(whole(|spent| spent.writes as f64) * bytes),
        ]
    }
}

impl Drop for Samples {
    fn drop(&mut self) {
        let Ok(mut total) = self.total.lock() else { return };
        for sample in self.each.iter().filter(|sample| sample.executions > 0) {
            let sums = total.entry(sample.key.clone()).or_default();
            sums.iter_mut().zip(self.sums(sample)).for_each(|(sum, more)| *sum += more);
        }
    }
}
