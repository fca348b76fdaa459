//! Whatever is posted: one payer, one or more payees.
//!
//! The one idea: accounts are locked in the order of their numbers, then the limit is checked, then everything is written in the
//! same order. What is over the limit becomes an order that is rejected; what is for a day to come, one that is open and has a
//! prenote. What is back-dated has the value date before the posting date, and moves all balances from then on; where an account is
//! settled the night has that date behind it, and all of the order counts from today.
//!
//! What it does not do: it draws nothing; it is told who pays whom.

use super::statements::Said;
use crate::bank::scale::TODAY;
use crate::transaction::texts::say;
use crate::transaction::{Answers, Batch, Step, Value};

/// One who is paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Payee {
    pub(super) account: u64,
    pub(super) cents: i64,
}

/// What is to be posted.
#[derive(Clone, Debug, Default)]
pub(super) struct Post {
    pub(super) order: u64,
    pub(super) kind: &'static str,
    pub(super) payer: u64,
    /// In ascending order of their accounts.
    pub(super) payees: Vec<Payee>,
    /// The day that it is for.
    pub(super) day: i64,
    /// Whether the payer's last items are read afterwards.
    pub(super) statement: bool,
    /// Whether it is to count from the day before.
    pub(super) back_dated: bool,
    /// Whether it is the standing order that is due next, which is posted like any other and is due again later. Nobody asks which day
    /// it is: days pass as fast as standing orders are carried out.
    pub(super) standing: bool,
    /// The number of the standing order.
    id: i64,
    step: u8,
    rejected: bool,
    /// From when on it counts.
    value_day: i64,
}

impl Post {
    /// An order for today.
    pub(super) fn new(order: u64, kind: &'static str, payer: u64, payees: Vec<Payee>) -> Post {
        Post { order, kind, payer, payees, day: TODAY, ..Post::default() }
    }

    /// The same from its beginning.
    pub(super) fn restart(&mut self) {
        (self.step, self.rejected) = (0, false);
    }

    /// Whether it was posted, given that it was committed.
    pub(super) fn posted(&self) -> bool {
        !self.rejected && self.day == TODAY
    }

    pub(super) fn complaint(&self) -> String {
        format!("account {} or one that it pays is not in the data set", self.payer)
    }

    fn total(&self) -> i64 {
        self.payees.iter().map(|payee| payee.cents).sum()
    }

    /// All accounts in ascending order, each with what it gets; that of the payer is given nothing yet.
    fn accounts(&self) -> impl Iterator<Item = (u64, i64)> {
        let at = self.payees.partition_point(|payee| payee.account < self.payer);
        let pair = |payee: &Payee| (payee.account, payee.cents);
        let (before, behind) = self.payees.split_at(at);
        before.iter().map(pair).chain([(self.payer, -self.total())]).chain(behind.iter().map(pair))
    }

    pub(super) fn step(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        self.step += 1;
        match self.step {
            1 => {
                batch.begin(true);
                if self.standing {
                    say(batch, Said::LockStanding, []);
                } else {
                    self.step = 2;
                    self.lock(batch);
                }
            }
            2 => {
                let next = answers.get(1);
                (self.id, self.payer) = (next.int(0, 0), next.int(0, 1) as u64);
                self.payees = vec![Payee { account: next.int(0, 2) as u64, cents: next.int(0, 3) }];
                self.lock(batch);
            }
            3 => {
                if !self.check(answers, usize::from(!self.standing)) {
                    return Step::Fail;
                }
                self.write(batch);
                if self.standing {
                    say(batch, Said::MoveStanding, [self.id.into()]);
                }
                batch.commit();
            }
            _ => return Step::Done { rolled_back: false },
        }
        Step::Send
    }

    /// Locks all accounts, and asks what the payer is about to pay.
    fn lock(&self, batch: &mut Batch) {
        self.accounts().for_each(|(account, _)| say(batch, Said::LockAccount, [number(account)]));
        say(batch, Said::Prenotes, [number(self.payer)]);
    }

    /// Whether all accounts are there; decides whether the payer may pay, and from when on it counts. The locks were answered from `first` on.
    fn check(&mut self, answers: &Answers, first: usize) -> bool {
        let count = self.payees.len() + 1;
        let payer = self.accounts().position(|(account, _)| account == self.payer).unwrap_or(0);
        let (account, prenotes) = (answers.get(first + payer), answers.get(first + count));
        let noted: i64 = (0..prenotes.row_count()).map(|row| prenotes.int(row, 0)).sum();
        self.rejected = account.int(0, 0) + account.int(0, 1) - noted < self.total();
        let settled = (0..count).any(|place| answers.get(first + place).int(0, 2) > 0);
        self.value_day = if self.back_dated && !settled { TODAY - 1 } else { TODAY };
        (0..count).all(|place| answers.get(first + place).row_count() == 1)
    }

    /// Writes the order, and its items if it is posted now.
    fn write(&self, batch: &mut Batch) {
        let (order, total) = (number(self.order), Value::Int(self.total()));
        let (later, items) = (self.day != TODAY, Value::Int(self.payees.len() as i64));
        let status = match (self.rejected, later) {
            (true, _) => "rejected",
            (false, true) => "open",
            (false, false) => "posted",
        };
        let (payer, kind, day) = (number(self.payer), Value::from(self.kind), Value::Int(self.day));
        let head = [order.clone(), kind, status.into(), payer.clone(), TODAY.into(), day.clone(), items, total.clone()];
        say(batch, Said::InsertOrder, head);
        let reference = Value::from(format!("order {}", self.order));
        for (line, payee) in (0i64..).zip(&self.payees) {
            let item = [order.clone(), line.into(), number(payee.account), payee.cents.into(), reference.clone()];
            say(batch, Said::InsertOrderItem, item);
        }
        match status {
            "open" => say(batch, Said::InsertPrenote, [order, payer, day, total]),
            "posted" => self.post(batch, &reference),
            _ => {}
        }
        if self.statement {
            say(batch, Said::LastItems, [number(self.payer)]);
        }
    }

    fn post(&self, batch: &mut Batch, reference: &Value) {
        // One who pays several has one item, whose other side is none of them.
        let contra = if let [payee] = self.payees[..] { payee.account } else { 0 };
        for (account, cents) in self.accounts() {
            let other = if account == self.payer { contra } else { self.payer };
            let (account, cents, valued) = (number(account), Value::Int(cents), Value::Int(self.value_day));
            let (order, kind) = (number(self.order), Value::from(self.kind));
            let (posted, other) = (Value::Int(TODAY), number(other));
            let reference = reference.clone();
            let item = [account.clone(), posted, order, valued.clone(), cents.clone(), kind, other, reference];
            say(batch, Said::InsertItem, item);
            say(batch, Said::UpdateBalance, [cents.clone(), account.clone(), valued.clone()]);
            if self.value_day < TODAY {
                say(batch, Said::UpdateLaterBalances, [cents.clone(), account.clone(), valued]);
            }
            say(batch, Said::UpdateAccount, [cents, account]);
        }
    }
}

fn number(number: u64) -> Value {
    Value::Int(number as i64)
}
