//! A piece of the night as a step machine.
//!
//! The one idea: each piece first asks the data what is left. A span of which nothing is left ends there; a branch or a period of
//! which something is left cannot be closed.
//!
//! What it does not do: it does not look at other pieces; who must wait for them is told to.

use super::statements::Said;
use super::work::Piece;
use super::{FIRST_ORDER, PERIOD};
use crate::bank::Scale;
use crate::bank::scale::TODAY;
use crate::transaction::texts::say;
use crate::transaction::{Answers, Batch, Step, Value};
use std::collections::VecDeque;
use std::ops::Range;

/// A piece on its way.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    scale: Scale,
    pub(super) piece: Piece,
    stage: Stage,
    /// Accounts of a span that this one settled; of a branch or the bank, accounts that are left.
    pub(super) accounts: u64,
    /// Accounts of a span that wait to be settled, without those between them that are: but for a night that is gone on with, one
    /// stretch.
    left: VecDeque<Range<u64>>,
}

/// What a piece does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Ask,
    Look,
    GoOn,
    Over,
}

impl Machine {
    pub(super) fn new(scale: Scale, piece: Piece) -> Machine {
        Machine { scale, piece, stage: Stage::Ask, accounts: 0, left: VecDeque::new() }
    }

    pub(super) fn restart(&mut self) {
        *self = Machine::new(self.scale, self.piece.clone());
    }

    pub(super) fn complaint(&self) -> String {
        let left = self.accounts;
        let whose = match self.piece {
            Piece::Branch(branch) => format!("of branch {branch} "),
            _ => String::new(),
        };
        format!("{left} accounts {whose}are not settled, because jobs of the night failed; run it again to settle them")
    }

    pub(super) fn step(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        match (self.stage, &self.piece) {
            (_, Piece::Nothing) | (Stage::Over, _) => return Step::Done { rolled_back: false },
            (Stage::Ask, _) => {
                batch.begin(true);
                self.ask(batch);
                self.stage = Stage::Look;
            }
            (Stage::Look, Piece::Span(span)) => {
                let ids = answers.get(1).rows().filter_map(|row| row.first()?.int());
                self.left = stretches(span, ids);
                self.accounts = answers.get(1).row_count() as u64;
                self.settle_next(batch);
            }
            (_, Piece::Span(_)) => self.settle_next(batch),
            _ => {
                self.accounts = answers.get(1).int(0, 0) as u64;
                if self.accounts > 0 {
                    return Step::Fail;
                }
                // An earlier try of the same night may have come so far.
                if !matches!(self.piece, Piece::Branch(_)) || answers.get(2).int(0, 0) == 0 {
                    self.close(batch);
                }
                batch.commit();
                self.stage = Stage::Over;
            }
        }
        Step::Send
    }

    fn ask(&self, batch: &mut Batch) {
        let (all, period) = (number(self.scale.accounts), Value::Int(PERIOD));
        match &self.piece {
            Piece::Span(span) => say(batch, Said::Left, [number(span.start), number(span.end), period]),
            Piece::Branch(branch) => {
                say(batch, Said::LeftInBranch, [number(*branch), all, period]);
                say(batch, Said::Totalled, [number(*branch)]);
            }
            Piece::CutOff | Piece::Nothing => say(batch, Said::LeftInBank, [all, period]),
        }
    }

    /// Settles the next stretch of what is left; the last one ends the transaction.
    fn settle_next(&mut self, batch: &mut Batch) {
        if let Some(accounts) = self.left.pop_front() {
            self.settle(&accounts, batch);
        }
        self.stage = Stage::GoOn;
        if self.left.is_empty() {
            batch.commit();
            self.stage = Stage::Over;
        }
    }

    /// Settles accounts of which none is settled.
    fn settle(&self, accounts: &Range<u64>, batch: &mut Batch) {
        let (first, end) = (accounts.start as i64, accounts.end as i64);
        let own_of = |account: u64| self.scale.own_account(self.scale.branch_of(account)) as i64;
        let (owns, owns_end) = (own_of(accounts.start), own_of(accounts.end - 1) + 1);
        let (from, to, last, orders, all) =
            (self.scale.first_day(), TODAY, TODAY - 1, FIRST_ORDER as i64, self.scale.accounts as i64);
        let calls: [(Said, &[i64]); 12] = [
            (Said::Settle, &[first, end, orders, PERIOD, from, to]),
            (Said::CreditAccounts, &[first, end, PERIOD]),
            (Said::CreditBalances, &[first, end, PERIOD, TODAY]),
            (Said::PostInterest, &[first, end, orders, all, last, TODAY]),
            (Said::PostCharges, &[first, end, orders, all, last, TODAY]),
            (Said::Statements, &[first, end, last]),
            (Said::InterestOrder, &[first, end, orders, all, last]),
            (Said::ChargeOrder, &[first, end, orders, all, last]),
            (Said::OwnInterest, &[first, end, orders, all, last, TODAY]),
            (Said::OwnCharges, &[first, end, orders, all, last, TODAY]),
            (Said::OwnAccount, &[first, end, orders, owns, owns_end]),
            (Said::OwnBalance, &[first, end, orders, all, TODAY]),
        ];
        for (said, parameters) in calls {
            batch.call(said as u16, parameters.iter().copied().map(Value::Int));
        }
    }

    fn close(&self, batch: &mut Batch) {
        match &self.piece {
            Piece::Branch(branch) => {
                let (scale, own) = (self.scale, self.scale.own_account(*branch));
                let spans = [scale.first_account(*branch)..scale.first_account(branch + 1), own..own + 1];
                spans
                    .into_iter()
                    .for_each(|span| say(batch, Said::Total, [number(span.start), number(span.end), TODAY.into()]));
            }
            _ => say(batch, Said::CutOff, [PERIOD.into(), (TODAY - 1).into(), number(self.scale.accounts)]),
        }
    }
}

/// Accounts of a span as stretches of neighbours. A database that holds nothing names one account again and again.
fn stretches(span: &Range<u64>, ids: impl Iterator<Item = i64>) -> VecDeque<Range<u64>> {
    let mut all: VecDeque<Range<u64>> = VecDeque::new();
    for id in ids.map(|id| (id.max(0) as u64).clamp(span.start, span.end - 1)) {
        match all.back_mut() {
            Some(last) if id <= last.end => last.end = last.end.max(id + 1),
            _ => all.push_back(id..id + 1),
        }
    }
    all
}

fn number(number: u64) -> Value {
    Value::Int(number as i64)
}
