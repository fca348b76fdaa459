//! Customer-Position: what a customer owns, and for half of them what their account did last.
//!
//! The one idea: half are found by their tax number, which takes a question of its own; for the others all questions
//! travel at once.
//!
//! What it does not do: it changes nothing.

use super::super::statements::Shared;
use super::{DONE, Inputs, Machine};
use crate::transaction::texts::say;
use crate::transaction::{Answer, Answers, Batch, Step, Value};

/// A look at a customer on its way.
#[derive(Debug)]
pub(super) struct Customer {
    step: u8,
    customer: i64,
    tax_id: Option<String>,
    account: Option<i64>,
}

impl Customer {
    pub(super) fn new(inputs: Inputs) -> Customer {
        let Inputs { scale, mut draws, .. } = inputs;
        let customer = draws.customer(scale);
        let by_tax = draws.percent(50);
        let account = scale.first_account(customer) + draws.below(scale.accounts_of(customer));
        Customer {
            step: 0,
            customer: customer as i64,
            tax_id: by_tax.then(|| scale.tax_id(customer)),
            account: draws.percent(50).then_some(account as i64),
        }
    }

    fn ask(&self, batch: &mut Batch) {
        say(batch, Shared::CustomerRow, [self.customer.into()]);
        say(batch, Shared::CustomerAccounts, [self.customer.into()]);
        if let Some(account) = self.account {
            say(batch, Shared::CustomerTrades, [account.into()]);
        }
        batch.commit();
    }
}

impl Machine for Customer {
    fn step(&mut self, answers: &Answers, batch: &mut Batch) -> Step {
        self.step += 1;
        match (self.step, &self.tax_id) {
            (1, Some(tax_id)) => {
                batch.begin(false);
                say(batch, Shared::CustomerByTax, [tax_id.as_str().into()]);
            }
            (1, None) => {
                self.step += 1;
                batch.begin(false);
                self.ask(batch);
            }
            (2, _) => {
                if answers.last().row_count() == 0 {
                    return Step::Fail;
                }
                self.customer = answers.last().int(0, 0);
                self.ask(batch);
            }
            _ => return DONE,
        }
        Step::Send
    }

    fn parameters(&mut self) -> Vec<Value> {
        let tax_id = self.tax_id.as_deref().map_or(Value::Null, Value::from);
        vec![self.customer.into(), tax_id, self.account.map_or(Value::Null, Value::from)]
    }

    fn complaint(&self) -> Option<String> {
        let tax_id = self.tax_id.as_deref().unwrap_or("");
        Some(format!("no customer has the tax number {tax_id}"))
    }

    /// Whoever is looked for by a tax number may not be found.
    fn told(&mut self, answer: &Answer) -> bool {
        self.tax_id.is_none() || answer.row_count() > 0
    }
}
