//! What a bank says by day.

use crate::transaction::{Sample, Statement, texts};

texts::list! { Said from 0, SAID in "statements.sql":
    LockAccount Prenotes InsertOrder InsertOrderItem InsertPrenote InsertItem UpdateBalance
    UpdateLaterBalances UpdateAccount LastItems LockStanding MoveStanding ListItems DetailItem DetailOrder
    ReadBalance ReadValueDates MasterCustomer MasterTerms MasterAccounts StatementHead StatementItems
}

/// The statements that [`Day`](super::Day) calls, in the order of their places.
pub fn statements() -> Vec<Statement> {
    SAID.statements()
}

/// What they would give on a data set of about this shape.
pub fn samples() -> Vec<Option<Sample>> {
    SAID.samples()
}
