//! What is to be done in a night, and in which order.
//!
//! The one idea: all spans of accounts, then the ledger of each branch, then the cut-off; each is an arrival, whose number says
//! which. Jobs take turns, and each turn of a job is the next span of its own range.
//!
//! What it does not do: it does not know what is done already; the data says so.

use crate::bank::Scale;
use crate::bank::scale::{ACCOUNTS, scale};
use crate::kind::{COMMIT_EVERY, DAYS, INDEXES};
use reading::{Settings, keys};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// A piece of the night.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Settles these accounts.
    Span(Range<u64>),
    /// Totals a branch.
    Branch(u64),
    /// Closes the period.
    CutOff,
    /// Nothing is left to be done.
    Nothing,
}

impl Spec {
    /// Spans of accounts.
    pub(super) fn spans(&self) -> u64 {
        self.scale.accounts.div_ceil(self.commit_every)
    }

    /// Transactions of the whole night.
    pub(super) fn pieces(&self) -> u64 {
        self.spans() + self.scale.branches() + 1
    }

    /// The piece of an arrival, when so many jobs take turns.
    pub(super) fn piece(&self, n: u64, jobs: u64) -> Piece {
        let spans = self.spans();
        match n.checked_sub(spans) {
            None => {
                // The first jobs have one span more where they do not come out even, which is their last turn.
                let (job, turn) = (n % jobs, n / jobs);
                let first = 1 + (job * (spans / jobs) + job.min(spans % jobs) + turn) * self.commit_every;
                Piece::Span(first..(first + self.commit_every).min(self.scale.accounts + 1))
            }
            Some(branch) if branch < self.scale.branches() => Piece::Branch(branch + 1),
            Some(last) if last == self.scale.branches() => Piece::CutOff,
            Some(_) => Piece::Nothing,
        }
    }
}

/// How far the jobs of a trial are, all together.
#[derive(Debug)]
pub(super) struct Progress {
    spans: AtomicU64,
    branches: AtomicU64,
}

impl Progress {
    pub(super) fn of(spec: &Spec) -> Progress {
        Progress { spans: spec.spans().into(), branches: spec.scale.branches().into() }
    }

    /// Whether what comes before a piece has ended, well or not.
    pub(super) fn allows(&self, piece: &Piece) -> bool {
        let none = |left: &AtomicU64| left.load(Ordering::Acquire) == 0;
        match piece {
            Piece::Span(_) | Piece::Nothing => true,
            Piece::Branch(_) => none(&self.spans),
            Piece::CutOff => none(&self.spans) && none(&self.branches),
        }
    }

    /// A piece has ended.
    pub(super) fn ended(&self, piece: &Piece) {
        match piece {
            Piece::Span(_) => self.spans.fetch_sub(1, Ordering::AcqRel),
            Piece::Branch(_) => self.branches.fetch_sub(1, Ordering::AcqRel),
            Piece::CutOff | Piece::Nothing => 0,
        };
    }
}

// What a bank's night is, as a study says it.

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    ACCOUNTS;
    DAYS;
    INDEXES;
    COMMIT_EVERY;
}

/// A bank's night.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The bank.
    pub scale: Scale,
    /// Accounts of a transaction.
    pub commit_every: u64,
}

/// The workload that these settings ask for.
pub fn read(settings: &mut dyn Settings) -> Spec {
    Spec { scale: scale(settings), commit_every: settings.given(&COMMIT_EVERY).unwrap_or(100) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bank::Scale;
    use crate::dataset::Indexes;

    #[test]
    fn every_account_is_in_one_span_however_many_jobs_take_turns() {
        for (accounts, commit_every, jobs) in [(1_000, 100, 1), (1_001, 100, 4), (5_000, 7, 3), (1_000, 1_000_000, 8)] {
            let spec = Spec { scale: Scale { accounts, days: 20, indexes: Indexes::Usual }, commit_every };
            let mut seen = vec![0; accounts as usize + 1];
            for n in 0..spec.spans() {
                let Piece::Span(span) = spec.piece(n, jobs) else { panic!("{n} is no span") };
                span.for_each(|account| seen[account as usize] += 1);
            }
            assert!(seen[1..].iter().all(|times| *times == 1), "{accounts} by {commit_every}, {jobs} jobs");
            let branches = spec.scale.branches();
            assert_eq!(spec.piece(spec.spans(), jobs), Piece::Branch(1));
            assert_eq!(spec.piece(spec.spans() + branches - 1, jobs), Piece::Branch(branches));
            assert_eq!(spec.piece(spec.pieces() - 1, jobs), Piece::CutOff);
            assert_eq!(spec.piece(spec.pieces(), jobs), Piece::Nothing);
        }
    }

    #[test]
    fn a_job_goes_through_a_range_of_its_own() {
        let spec = Spec { scale: Scale { accounts: 1_000, days: 20, indexes: Indexes::Usual }, commit_every: 10 };
        let firsts: Vec<u64> = (0..8)
            .map(|n| spec.piece(n, 4))
            .map(|piece| match piece {
                Piece::Span(span) => span.start,
                _ => 0,
            })
            .collect();
        assert_eq!(firsts, [1, 251, 501, 751, 11, 261, 511, 761]);
    }
}
