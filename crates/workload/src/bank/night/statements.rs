//! What a bank says at night.
//!
//! The one idea: each statement goes over a span of accounts. Interest numbers are added up over all value dates of the period,
//! and interest is cut to whole cents towards nothing once, for 360 days of a year. Whole numbers divide without a rest on every
//! engine, because the rest is taken off before.
//!
//! Sums of an account are looked up account by account, which every engine plans alike; with a limit, so that none of them
//! computes a sum again wherever it is named.
//!
//! What it does not do: no row comes back but the accounts of a span that are left.

use crate::transaction::{Sample, Statement, texts};

texts::list! { Said from 0, SAID in "statements.sql":
    Left Settle CreditAccounts CreditBalances PostInterest PostCharges Statements InterestOrder ChargeOrder
    OwnInterest OwnCharges OwnAccount OwnBalance LeftInBranch Totalled Total LeftInBank CutOff
}

/// The statements that [`Night`](super::Night) calls, in the order of their places.
pub fn statements() -> Vec<Statement> {
    SAID.statements()
}

/// What they would give on a data set of about this shape.
pub fn samples() -> Vec<Option<Sample>> {
    SAID.samples()
}
