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

/// A piece on its way.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    scale: Scale,
    pub(super) piece: Piece,
    step: u8,
    /// Accounts of a span that this one settled; of a branch or the bank, accounts that are left.
    pub(super) accounts: u64,
}

impl Machine {
    pub(super) fn new(scale: Scale, piece: Piece) -> Machine {
        Machine { scale, piece, step: 0, accounts: 0 }
    }

    pub(super) fn restart(&mut self) {
        (self.step, self.accounts) = (0, 0);
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
        self.step += 1;
        match (self.step, &self.piece) {
            (_, Piece::Nothing) => return Step::Done { rolled_back: false },
            (1, _) => {
                batch.begin(true);
                self.ask(batch);
            }
            (2, Piece::Span(_)) => {
                self.accounts = answers.get(1).row_count() as u64;
                if self.accounts > 0 {
                    self.settle(answers.get(1).int(0, 0), batch);
                }
                batch.commit();
            }
            (2, _) => {
                self.accounts = answers.get(1).int(0, 0) as u64;
                if self.accounts > 0 {
                    return Step::Fail;
                }
                // An earlier try of the same night may have come so far.
                if !matches!(self.piece, Piece::Branch(_)) || answers.get(2).int(0, 0) == 0 {
                    self.close(batch);
                }
                batch.commit();
            }
            _ => return Step::Done { rolled_back: false },
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

    /// Settles what is left of the span, from one account on. The order of its interest has a number that follows from that
    /// account, which is settled but once.
    fn settle(&self, first: i64, batch: &mut Batch) {
        let Piece::Span(span) = &self.piece else { return };
        let order = FIRST_ORDER as i64 + 2 * first;
        let own = self.scale.own_account(self.scale.branch_of(span.start)) as i64;
        let with = |more: &[i64]| {
            let head = [span.start as i64, span.end as i64, order];
            head.into_iter().chain(more.iter().copied()).map(Value::Int).collect::<Vec<_>>()
        };
        let (from, to, last) = (self.scale.first_day(), TODAY, TODAY - 1);
        let calls: [(Said, Vec<Value>); 12] = [
            (Said::Settle, with(&[PERIOD, from, to])),
            (Said::CreditAccounts, vec![number(span.start), number(span.end), PERIOD.into()]),
            (Said::CreditBalances, with(&[PERIOD, TODAY])),
            (Said::PostInterest, with(&[last, TODAY, own])),
            (Said::PostCharges, with(&[last, TODAY, own])),
            (Said::Statements, with(&[last])),
            (Said::InterestOrder, with(&[own, last])),
            (Said::ChargeOrder, with(&[own, last, order + 1])),
            (Said::OwnInterest, with(&[last, TODAY, own])),
            (Said::OwnCharges, with(&[last, TODAY, own, order + 1])),
            (Said::OwnAccount, with(&[own])),
            (Said::OwnBalance, with(&[own, TODAY])),
        ];
        calls.into_iter().for_each(|(said, parameters)| batch.call(said as u16, parameters));
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

fn number(number: u64) -> Value {
    Value::Int(number as i64)
}
