//! What statements cost a SQLite that runs inside this process.
//!
//! The one idea: the first executions of a session are all measured on the CPU clock of its thread and by the connection's page
//! counters, and stand for themselves alone: they find a cold cache, and there may be no others. Of those after them about one in
//! sixteen is measured, and stands for those between.
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

/// So many executions of a statement in a session are all measured.
const ALL_OF: u64 = 32;

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
        sample.left = if sample.executions < ALL_OF { 0 } else { self.random % GAP_MAX };
        Some(Begun { at, from: self.reading(connection) })
    }

    /// Ends a measurement.
    pub(super) fn end(&mut self, begun: Option<Begun>, connection: &Connection) {
        let Some(Begun { at, from }) = begun else { return };
        let now = self.reading(connection);
        let Some(sample) = self.each.get_mut(at) else { return };
        let first = sample.executions <= ALL_OF;
        let into = if first { &mut sample.first } else { &mut sample.later };
        sample.measured += u64::from(!first);
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
        let alone = sample.executions.min(ALL_OF) as f64;
        let others = sample.executions as f64 - alone;
        let scale = if sample.measured > 0 { others / sample.measured as f64 } else { 0.0 };
        // Where it was no other's turn yet, they cost what the first did.
        let first = if sample.measured == 0 { sample.executions as f64 / alone } else { 1.0 };
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The first of few, with its cold cache, used to stand for all of them.
    #[test]
    fn few_executions_are_all_measured_and_stand_for_themselves_alone() {
        let sample = Sample {
            key: "one".into(),
            executions: 0,
            left: 0,
            measured: 0,
            first: Spent::default(),
            later: Spent::default(),
        };
        let (connection, total) = (Connection::open_in_memory().unwrap(), Total::default());
        let mut samples = Samples { pages: None, page_bytes: 4_096, total, each: vec![sample], random: 0x9e37_79b9 };
        let mut measured =
            |executions: u64| (0..executions).filter(|_| samples.begin(0, &connection).is_some()).count();
        assert_eq!(measured(ALL_OF), ALL_OF as usize);
        let later = measured(16_000);
        assert!((900..1_100).contains(&later), "{later} of 16,000 in turn");
        let cost = |executions: u64, measured: u64, first_s: f64, later_s: f64| {
            let spent = |cpu_s: f64| Spent { cpu_s, ..Spent::default() };
            let (first, later) = (spent(first_s), spent(later_s));
            samples.sums(&Sample { executions, measured, first, later, ..samples.each[0].clone() })[1]
        };
        assert_eq!(cost(8, 0, 0.8, 0.0), 0.8);
        assert_eq!(cost(ALL_OF + 160, 10, 3.0, 0.1), 3.0 + 1.6);
        assert!((cost(ALL_OF + 2, 0, 3.2, 0.0) - 3.4).abs() < 1e-12, "none of two had its turn");
    }
}
