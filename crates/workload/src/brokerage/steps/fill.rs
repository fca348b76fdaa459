//! Trade-Result: the market's answer to an order, one unit of work over eight tables.
//!
//! The one idea: the trade is locked first and its account second; whoever holds the account may read its positions and
//! lots plainly, because nobody else changes them without it. Lots are used up from the oldest or the newest; the
//! position is looked at again here, because it may have shrunk since the order: what is gone is not sold, and an order
//! that finds nothing left is cancelled.
//!
//! What it does not do: it fills no trade twice; one that is no longer in the market is left as it is.

use super::super::codes::{self, basis_points};
use super::super::procedures::outcomes;
use super::super::scale::CALENDAR_DAY_US;
use super::super::statements::{House, Shared};
use super::{DONE, Inputs, Machine, Report};
use crate::transaction::texts::say;
use crate::transaction::{Answer, Answers, Batch, Step, Value};

/// A fill on its way.
#[derive(Debug, Default)]
pub(super) struct Fill {
    house: bool,
    step: u8,
    now: i64,
    number: i64,
    account: i64,
    symbol: String,
    order_type: String,
    quantity: i64,
    bid: i64,
    cash: bool,
    lifo: bool,
    fee: i64,
    filled: bool,
}

/// A lot that a sale uses up, wholly or in part.
#[derive(Clone, Copy, Debug)]
struct Used {
    lot: i64,
    before: i64,
    after: i64,
    cost: i64,
}

/// The money of a fill.
struct Money {
    price: i64,
    commission: i64,
    tax: i64,
    /// What the account gains; negative for a purchase.
    amount: i64,
}

impl Fill {
    pub(super) fn new(inputs: Inputs) -> Fill {
        Fill { house: inputs.house(), now: inputs.now, number: inputs.number as i64, ..Fill::default() }
    }

    /// Takes the trade; not when it is not, or no longer, in the market.
    fn take_trade(&mut self, answers: &Answers) -> bool {
        let trade = answers.get(1);
        if trade.text(0, 7) != codes::SUBMITTED {
            return false;
        }
        self.account = trade.int(0, 0);
        self.symbol = trade.text(0, 1).to_owned();
        self.order_type = trade.text(0, 2).to_owned();
        self.quantity = trade.int(0, 3);
        self.bid = trade.int(0, 4);
        self.cash = trade.int(0, 5) != 0;
        self.lifo = trade.int(0, 6) != 0;
        self.fee = trade.int(0, 8);
        true
    }

    fn sells(&self) -> bool {
        codes::sells(&self.order_type)
    }

    /// Account, position, quote, in the house commission and levies, and for a sale the lots.
    fn ask(&self, batch: &mut Batch) {
        let (account, symbol) = (Value::from(self.account), Value::from(self.symbol.as_str()));
        say(batch, Shared::FillAccount, [account.clone()]);
        say(batch, Shared::FillPosition, [account.clone(), symbol.clone()]);
        say(batch, Shared::FillQuote, [symbol.clone()]);
        if self.house {
            let (order_type, quantity) = (self.order_type.as_str().into(), self.quantity.into());
            say(batch, House::FillCommission, [account.clone(), symbol.clone(), order_type, quantity]);
            say(batch, House::FillLevies, [account.clone()]);
        }
        if self.sells() {
            let lots = if self.lifo { Shared::FillNewestLots } else { Shared::FillOldestLots };
            say(batch, lots, [account, symbol]);
        }
    }

    fn settle(&mut self, answers: &Answers, batch: &mut Batch) {
        let position = answers.get(1);
        let held = if position.row_count() > 0 { Some(position.int(0, 0)) } else { None };
        if !self.sells() {
            let money = self.money(answers, 0);
            self.buy(held, &money, batch);
            return self.book(answers, &money, batch);
        }
        self.quantity = self.quantity.min(held.unwrap_or(0));
        if self.quantity == 0 {
            return self.cancel(batch);
        }
        let used = self.use_lots(answers);
        let cost = used.iter().map(|used| used.cost).sum();
        let money = self.money(answers, cost);
        self.sell(held.unwrap_or(0), used, batch);
        self.book(answers, &money, batch);
    }

    fn cancel(&self, batch: &mut Batch) {
        say(batch, Shared::SetStatus, [codes::CANCELLED.into(), self.number.into()]);
        say(batch, Shared::InsertEvent, [self.number.into(), codes::CANCELLED.into(), self.now.into()]);
        batch.commit();
    }

    /// The market's price, but for a limit never worse than the bid.
    fn price(&self, quoted: i64) -> i64 {
        match self.order_type.as_str() {
            codes::LIMIT_BUY => quoted.min(self.bid),
            codes::LIMIT_SELL => quoted.max(self.bid),
            _ => quoted,
        }
    }

    /// `cost` is what the sold lots had cost.
    fn money(&self, answers: &Answers, cost: i64) -> Money {
        let price = self.price(answers.get(2).int(0, 0));
        let (mut commission_bp, mut levy_bp) = (codes::DESK_COMMISSION_BP, codes::DESK_LEVY_BP);
        if self.house {
            commission_bp = answers.get(3).int(0, 0);
            let levies = answers.get(4);
            levy_bp = (0..levies.row_count()).map(|row| levies.int(row, 0)).sum();
        }
        let value = price * self.quantity;
        let commission = basis_points(value, commission_bp);
        let tax_status = answers.get(0).int(0, 2);
        let taxed = self.sells() && tax_status != 0 && value > cost;
        let tax = if taxed { basis_points(value - cost, levy_bp) } else { 0 };
        // Tax is withheld from accounts of status 1; those of status 2 pay it themselves.
        let withheld = if tax_status == 1 { tax } else { 0 };
        let gross = if self.sells() { value } else { -value };
        Money { price, commission, tax, amount: gross - self.fee - commission - withheld }
    }

    fn buy(&self, held: Option<i64>, money: &Money, batch: &mut Batch) {
        let (account, symbol) = (Value::from(self.account), Value::from(self.symbol.as_str()));
        let (number, quantity) = (Value::from(self.number), Value::from(self.quantity));
        match held {
            Some(held) => {
                say(batch, Shared::UpdatePosition, [(held + self.quantity).into(), account.clone(), symbol.clone()]);
            }
            None => say(batch, Shared::InsertPosition, [account.clone(), symbol.clone(), quantity.clone()]),
        }
        let lot = [number.clone(), account, symbol, self.now.into(), money.price.into(), quantity.clone()];
        say(batch, Shared::InsertLot, lot);
        if self.house {
            say(batch, House::InsertLotChange, [number.clone(), number, 0.into(), quantity]);
        }
    }

    /// The lots that the sale uses up, in the order of their numbers, which is that of locks.
    fn use_lots(&self, answers: &Answers) -> Vec<Used> {
        let lots = answers.last();
        let (mut left, mut used) = (self.quantity, Vec::new());
        for row in 0..lots.row_count() {
            let sold = left.min(lots.int(row, 2));
            if sold == 0 {
                break;
            }
            let before = lots.int(row, 2);
            used.push(Used { lot: lots.int(row, 0), before, after: before - sold, cost: sold * lots.int(row, 1) });
            left -= sold;
        }
        used.sort_by_key(|used| used.lot);
        used
    }

    fn sell(&self, held: i64, used: Vec<Used>, batch: &mut Batch) {
        for Used { lot, before, after, .. } in used {
            match after {
                0 => say(batch, Shared::DeleteLot, [lot.into()]),
                left => say(batch, Shared::UpdateLot, [left.into(), lot.into()]),
            }
            if self.house {
                say(batch, House::InsertLotChange, [lot.into(), self.number.into(), before.into(), after.into()]);
            }
        }
        let (account, symbol) = (Value::from(self.account), Value::from(self.symbol.as_str()));
        match held - self.quantity {
            0 => say(batch, Shared::DeletePosition, [account, symbol]),
            left => say(batch, Shared::UpdatePosition, [left.into(), account, symbol]),
        }
    }

    fn book(&mut self, answers: &Answers, money: &Money, batch: &mut Batch) {
        let (number, now) = (Value::from(self.number), Value::from(self.now));
        let (amount, commission) = (Value::from(money.amount), Value::from(money.commission));
        let completed = Value::from(codes::COMPLETED);
        let (price, quantity, tax) = (money.price.into(), self.quantity.into(), money.tax.into());
        let trade = [completed.clone(), price, quantity, commission.clone(), tax, number.clone()];
        say(batch, Shared::CompleteTrade, trade);
        say(batch, Shared::InsertEvent, [number.clone(), completed, now.clone()]);
        let kind = if self.cash { codes::CASH } else { codes::MARGIN };
        let due = self.now / CALENDAR_DAY_US + codes::SETTLEMENT_DAYS;
        say(batch, Shared::InsertSettlement, [number.clone(), kind.into(), due.into(), amount.clone()]);
        if self.cash {
            let verb = if self.sells() { "Sold" } else { "Bought" };
            let text = format!("{verb} {} of {}", self.quantity, answers.get(2).text(0, 1));
            say(batch, Shared::InsertCash, [number, now, amount.clone(), text.into()]);
            say(batch, Shared::AddBalance, [amount, self.account.into()]);
        }
        say(batch, Shared::AddBroker, [commission, answers.get(0).int(0, 1).into()]);
        batch.commit();
        self.filled = true;
    }
}

impl Machine for Fill {
    fn step(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        self.step += 1;
        match self.step {
            1 => {
                batch.begin(true);
                say(batch, Shared::FillTrade, [self.number.into()]);
            }
            2 => match self.take_trade(answers) {
                true => self.ask(batch),
                false => {
                    self.step += 1;
                    batch.commit();
                }
            },
            3 => self.settle(answers, batch),
            _ => return DONE,
        }
        Step::Send
    }

    fn parameters(&mut self) -> Vec<Value> {
        vec![self.number.into(), self.now.into()]
    }

    fn report(&mut self) -> Report {
        let symbol = std::mem::take(&mut self.symbol);
        if self.filled { Report::Filled { symbol, quantity: self.quantity } } else { Report::Nothing }
    }

    /// Symbol and quantity, when the trade was filled.
    fn told(&mut self, answer: &Answer) -> bool {
        if let Some([symbol, quantity, ..]) = outcomes(answer).next().as_deref() {
            self.symbol = (*symbol).to_owned();
            (self.quantity, self.filled) = (quantity.parse().unwrap_or(0), true);
        }
        true
    }
}
