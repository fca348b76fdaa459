//! Trade-Order: a customer orders, at the market's price or at a limit.
//!
//! The one idea: half want to buy and half to sell; who wants to sell sells what the account holds, at most all of it, and
//! buys when it holds nothing. One in a hundred thinks better of it at the last moment and rolls back.
//!
//! What it does not do: the price, tax and commission are estimates; the fill decides.

use super::super::codes::{self, basis_points};
use super::super::procedures::outcomes;
use super::super::statements::{House, Shared};
use super::{Inputs, Machine, Report};
use crate::transaction::texts::say;
use crate::transaction::{Answer, Answers, Batch, Step, Value};

/// An order on its way.
#[derive(Debug, Default)]
pub(super) struct Order {
    house: bool,
    step: u8,
    now: i64,
    number: i64,
    account: i64,
    wishes_to_sell: bool,
    limited: bool,
    stops: bool,
    lifo: bool,
    on_margin: bool,
    rolls_back: bool,
    by_another: bool,
    which: u64,
    away_bp: i64,
    symbol: String,
    quantity: i64,
    order_type: &'static str,
    price: i64,
    broker: i64,
    customer: i64,
    tier: i64,
    taxed: bool,
    placed_by: String,
}

impl Order {
    pub(super) fn new(inputs: Inputs) -> Order {
        let Inputs { scale, mut draws, .. } = inputs;
        Order {
            house: inputs.house(),
            now: inputs.now,
            number: inputs.number as i64,
            account: draws.account(scale),
            wishes_to_sell: draws.percent(50),
            limited: draws.percent(40),
            stops: draws.percent(50),
            lifo: draws.percent(35),
            on_margin: draws.percent(8),
            rolls_back: draws.percent(1),
            by_another: draws.percent(10),
            which: draws.bits(),
            away_bp: draws.between(0, 30),
            symbol: draws.symbol(scale),
            quantity: 100 * draws.between(1, 8),
            ..Order::default()
        }
    }

    fn sells(&self) -> bool {
        codes::sells(self.order_type)
    }

    fn ask_parties(&self, batch: &mut Batch) {
        batch.begin(true);
        say(batch, Shared::OrderAccount, [self.account.into()]);
        say(batch, Shared::OrderHoldings, [self.account.into()]);
        say(batch, Shared::OrderSecurity, [self.symbol.as_str().into()]);
        if self.house {
            say(batch, House::OrderGrants, [self.account.into()]);
        }
    }

    /// Takes the answers about the parties and settles what is ordered; not when there is no such account or security.
    fn decide(&mut self, answers: &Answers) -> bool {
        let (account, holdings, security) = (answers.get(1), answers.get(2), answers.get(3));
        if account.row_count() == 0 || security.row_count() == 0 {
            return false;
        }
        self.broker = account.int(0, 1);
        self.taxed = account.int(0, 2) != 0;
        self.customer = account.int(0, 4);
        self.tier = account.int(0, 5);
        self.placed_by = format!("{} {}", account.text(0, 6), account.text(0, 7));
        self.price = security.int(0, 3);
        let grants = answers.get(4);
        if self.by_another && grants.row_count() > 0 {
            let row = (self.which >> 32) as usize % grants.row_count();
            self.placed_by = format!("{} {}", grants.text(row, 2), grants.text(row, 3));
        }
        let sells = self.wishes_to_sell && holdings.row_count() > 0;
        if sells {
            self.choose_holding(&holdings);
        }
        self.order_type = match (sells, self.limited, self.stops) {
            (false, false, _) => codes::MARKET_BUY,
            (false, true, _) => codes::LIMIT_BUY,
            (true, false, _) => codes::MARKET_SELL,
            (true, true, false) => codes::LIMIT_SELL,
            (true, true, true) => codes::STOP_LOSS,
        };
        if self.limited {
            let away = basis_points(self.price, self.away_bp);
            self.price =
                if self.order_type == codes::LIMIT_SELL { self.price + away } else { (self.price - away).max(1) };
        }
        true
    }

    fn choose_holding(&mut self, holdings: &Answer) {
        let row = self.which as u32 as usize % holdings.row_count();
        self.symbol = holdings.text(row, 0).to_owned();
        self.quantity = self.quantity.min(holdings.int(row, 1));
        self.price = holdings.int(row, 2);
    }

    /// Begins with the lots of a sale; the small preset has nothing else to ask.
    fn ask_prices(&self, batch: &mut Batch) {
        if self.sells() {
            let lots = if self.lifo { Shared::OrderNewestLots } else { Shared::OrderOldestLots };
            say(batch, lots, [self.account.into(), self.symbol.as_str().into()]);
        }
        if self.house {
            let (tier, order_type, quantity) = (self.tier.into(), Value::from(self.order_type), self.quantity.into());
            say(batch, House::OrderFee, [self.tier.into(), order_type.clone()]);
            say(batch, House::OrderCommission, [tier, order_type, self.symbol.as_str().into(), quantity]);
            say(batch, House::OrderLevies, [self.customer.into()]);
        }
    }

    /// What is left of the sale of the lots after what they cost.
    fn gain(&self, lots: &Answer) -> i64 {
        let mut left = self.quantity;
        let mut gain = 0;
        for row in 0..lots.row_count() {
            let sold = left.min(lots.int(row, 1));
            gain += sold * (self.price - lots.int(row, 0));
            left -= sold;
        }
        gain
    }

    fn place(&self, answers: &Answers, batch: &mut Batch) {
        let first = usize::from(self.sells());
        let gain = if self.sells() { self.gain(&answers.get(0)).max(0) } else { 0 };
        let (mut fee, mut commission_bp, mut levy_bp) =
            (codes::DESK_FEE_CENTS, codes::DESK_COMMISSION_BP, codes::DESK_LEVY_BP);
        if self.house {
            fee = answers.get(first).int(0, 0);
            commission_bp = answers.get(first + 1).int(0, 0);
            let levies = answers.get(first + 2);
            levy_bp = (0..levies.row_count()).map(|row| levies.int(row, 0)).sum();
        }
        let tax = if self.taxed { basis_points(gain, levy_bp) } else { 0 };
        let commission = basis_points(self.price * self.quantity, commission_bp);
        self.write(batch, [fee, commission, tax]);
        if self.rolls_back { batch.rollback() } else { batch.commit() }
    }

    fn write(&self, batch: &mut Batch, [fee, commission, tax]: [i64; 3]) {
        let (number, symbol) = (Value::from(self.number), Value::from(self.symbol.as_str()));
        let status = Value::from(if self.limited { codes::PENDING } else { codes::SUBMITTED });
        let (order_type, quantity) = (Value::from(self.order_type), Value::from(self.quantity));
        let trade = [
            number.clone(),
            self.now.into(),
            status.clone(),
            order_type.clone(),
            i64::from(!self.on_margin).into(),
            symbol.clone(),
            quantity.clone(),
            self.price.into(),
            self.account.into(),
            self.placed_by.as_str().into(),
            fee.into(),
            commission.into(),
            tax.into(),
            i64::from(self.lifo).into(),
        ];
        say(batch, Shared::InsertTrade, trade);
        say(batch, Shared::InsertEvent, [number.clone(), status, self.now.into()]);
        if self.limited {
            let pending = [number, order_type, symbol, quantity, self.price.into(), self.broker.into()];
            say(batch, Shared::InsertPending, pending);
        }
    }
}

impl Machine for Order {
    fn step(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        self.step += 1;
        match self.step {
            1 => self.ask_parties(batch),
            2 => {
                if !self.decide(answers) {
                    return Step::Fail;
                }
                if !self.house && !self.sells() {
                    // Nothing else is to be known before the small preset buys.
                    self.step += 1;
                    self.place(&Answers::default(), batch);
                } else {
                    self.ask_prices(batch);
                }
            }
            3 => self.place(answers, batch),
            _ => return Step::Done { rolled_back: self.rolls_back },
        }
        Step::Send
    }

    fn parameters(&mut self) -> Vec<Value> {
        let flag = |flag: bool| Value::from(i64::from(flag));
        vec![
            self.number.into(),
            self.now.into(),
            self.account.into(),
            self.symbol.as_str().into(),
            self.quantity.into(),
            flag(self.wishes_to_sell),
            flag(self.limited),
            flag(self.stops),
            flag(self.lifo),
            flag(!self.on_margin),
            flag(self.by_another),
            i64::from(self.which as u32).into(),
            ((self.which >> 32) as i64).into(),
            self.away_bp.into(),
            flag(!self.rolls_back),
        ]
    }

    fn report(&mut self) -> Report {
        match self.rolls_back {
            true => Report::RolledBack,
            false => Report::Placed { symbol: std::mem::take(&mut self.symbol), waits: self.limited },
        }
    }

    fn complaint(&self) -> Option<String> {
        let account = self.account;
        let symbol = &self.symbol;
        Some(format!("account {account} or security {symbol} is not in the data set"))
    }

    fn rolls_back(&self) -> bool {
        self.rolls_back
    }

    /// The symbol of the order, when it was placed.
    fn told(&mut self, answer: &Answer) -> bool {
        let placed = outcomes(answer).next();
        if let Some(row) = &placed {
            self.symbol = row.first().copied().unwrap_or_default().to_owned();
        }
        placed.is_some()
    }
}
