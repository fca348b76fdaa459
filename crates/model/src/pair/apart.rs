//! What changed while the nodes were apart, and how it reaches the mirror.
//!
//! The one idea: a row waits once, however often it changed. Rows leave in the order in which they first changed, no faster
//! than they are sent and no more at once than there are jobs; when none waits and none is on its way the pair mirrors again.

use super::plan::{PairPlan, Resync};
use random::Draws;
use std::collections::VecDeque;
use units::Nanos;

/// How a pair stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Mirroring,
    /// Nothing is confirmed any more, and whoever changes data waits.
    Waiting,
    Apart,
    Resyncing,
}

/// Rows that wait for the mirror.
#[derive(Clone, Debug)]
pub(super) struct Apart {
    pub state: State,
    rule: Resync,
    /// Whether a row waits; nothing where no row changes twice.
    marked: Vec<bool>,
    queue: VecDeque<u32>,
    /// Rows that wait where no row changes twice.
    count: u64,
    /// Jobs that are free, and when the next row may leave.
    free: Vec<u32>,
    next_ns: f64,
    draws: Draws,
    pub resumed: Option<Nanos>,
    pub ended: Option<Nanos>,
}

impl Apart {
    /// Jobs are numbered from `first`.
    pub fn new(plan: &PairPlan, first: u32, draws: Draws) -> Apart {
        let rule = plan.resync;
        Apart {
            state: if plan.apart { State::Apart } else { State::Mirroring },
            rule,
            marked: vec![false; rule.rows as usize],
            queue: VecDeque::new(),
            count: 0,
            free: (first..first + rule.jobs.max(1)).rev().collect(),
            next_ns: 0.0,
            draws,
            resumed: None,
            ended: None,
        }
    }

    /// Different rows that wait.
    pub fn waiting(&self) -> u64 {
        self.count + self.queue.len() as u64
    }

    /// Notes so many changed rows.
    pub fn track(&mut self, changes: u32) {
        for _ in 0..changes {
            if self.marked.is_empty() {
                self.count += 1;
                continue;
            }
            let row = self.draws.below(self.marked.len() as u64) as u32;
            if !std::mem::replace(&mut self.marked[row as usize], true) {
                self.queue.push_back(row);
            }
        }
    }

    /// The job that takes the next row now; or when one may, if none is missing but time.
    pub fn send(&mut self, now: Nanos) -> Result<u32, Option<Nanos>> {
        if self.state != State::Resyncing || self.waiting() == 0 || self.free.is_empty() {
            return Err(None);
        }
        if self.next_ns > now.0 as f64 {
            return Err(Some(Nanos(libm::ceil(self.next_ns) as u64)));
        }
        self.next_ns = self.next_ns.max(now.0 as f64 - 1.0) + 1e9 / self.rule.sends_per_s;
        match self.queue.pop_front() {
            Some(row) => self.marked[row as usize] = false,
            None => self.count -= 1,
        }
        self.free.pop().ok_or(None)
    }

    /// A row is at the mirror. Whether the pair mirrors again.
    pub fn arrived(&mut self, now: Nanos, job: u32) -> bool {
        self.free.push(job);
        self.settle(now)
    }

    /// Whether nothing waits any more.
    pub fn settle(&mut self, now: Nanos) -> bool {
        let all = self.free.len() == self.rule.jobs.max(1) as usize;
        if self.state != State::Resyncing || self.waiting() > 0 || !all {
            return false;
        }
        (self.state, self.ended) = (State::Mirroring, Some(now));
        true
    }
}
