//! Data-Maintenance: once a minute an edit of one of twelve tables that are quiet otherwise.
//!
//! The one idea: rounds go through the tables in turn; the twelfth exchanges a security on a watch list, which needs a
//! look at the list first.
//!
//! What it does not do: it touches nothing that a check adds up.

use super::super::Scale;
use super::super::draws::Draws;
use super::super::procedures::names;
use super::super::scale::{LAST_DAY, PRICE_DAYS};
use super::super::statements::House;
use super::{DONE, Inputs, Machine};
use crate::transaction::texts::{Place, say};
use crate::transaction::{Answers, Batch, Step, Value};

/// Tables that are visited in turn.
const TABLES: u64 = 12;

/// A round on its way.
#[derive(Debug)]
pub(super) struct Maintenance {
    step: u8,
    number: u64,
    statement: House,
    parameters: Vec<Value>,
    /// A security that the watch list may get.
    symbol: String,
}

impl Maintenance {
    pub(super) fn new(inputs: Inputs) -> Maintenance {
        let Inputs { scale, mut draws, number, .. } = inputs;
        let (statement, parameters) = round(number, &mut draws, scale);
        Maintenance { step: 0, number, statement, parameters, symbol: draws.symbol(scale) }
    }

    /// Exchanges the first security of the list, unless the list has the new one already.
    fn exchange(&self, answers: &Answers, batch: &mut Batch) {
        let list = answers.last();
        let has = (0..list.row_count()).any(|row| list.text(row, 1) == self.symbol);
        if list.row_count() > 0 && !has {
            let (id, old) = (list.field(0, 0).clone(), list.field(0, 1).clone());
            say(batch, House::MaintainWatch, [self.symbol.as_str().into(), id, old]);
        }
        batch.commit();
    }
}

impl Machine for Maintenance {
    fn step(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        self.step += 1;
        match self.step {
            1 => {
                batch.begin(true);
                batch.call(self.statement.place(), self.parameters.drain(..));
                if self.statement != House::MaintainWatched {
                    self.step += 1;
                    batch.commit();
                }
            }
            2 => self.exchange(answers, batch),
            _ => return DONE,
        }
        Step::Send
    }

    /// The round, and by name what its statement needs.
    fn parameters(&mut self) -> Vec<Value> {
        let mut known: Vec<(&str, Value)> =
            names(self.statement).iter().copied().zip(self.parameters.drain(..)).collect();
        known.push(("p_round", ((self.number % TABLES) as i64).into()));
        known.push(("p_new", self.symbol.as_str().into()));
        let value = |name: &str| known.iter().find(|one| one.0 == name).map_or(Value::Null, |one| one.1.clone());
        ["p_round", "p_text", "p_step", "p_key", "p_symbol", "p_day", "p_new"].map(value).into()
    }
}

fn round(number: u64, draws: &mut Draws, scale: &Scale) -> (House, Vec<Value>) {
    // Sums come back to where they were after two visits.
    let step = Value::from(if (number / TABLES).is_multiple_of(2) { 1 } else { -1 });
    let company = Value::from(draws.between(1, scale.companies() as i64));
    let (account, customer) = (Value::from(draws.account(scale)), Value::from(draws.customer(scale) as i64));
    let (symbol, day) = (Value::from(draws.symbol(scale)), Value::from(LAST_DAY - draws.between(1, PRICE_DAYS)));
    let text = |what: &str| Value::from(format!("{what} {number}"));
    match number % TABLES {
        0 => (House::MaintainGrant, vec![text("Heir"), account]),
        1 => (House::MaintainAddress, vec![text("Floor"), customer]),
        2 => (House::MaintainArticle, vec![text("Desk"), company]),
        3 => (House::MaintainCompany, vec![text("Chief"), company]),
        4 => (House::MaintainCustomer, vec![text("mail"), customer]),
        5 => (House::MaintainPrice, vec![step, symbol, day]),
        6 => (House::MaintainExchange, vec![text("Hall"), symbol]),
        7 => (House::MaintainFinancial, vec![step, company]),
        8 => (House::MaintainLevy, vec![text("Levy"), customer]),
        9 => (House::MaintainSecurity, vec![step, symbol]),
        10 => (House::MaintainPostal, vec![text("Town"), customer]),
        _ => (House::MaintainWatched, vec![customer]),
    }
}
