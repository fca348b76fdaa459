//! What users only look at.

use super::choose::Choose;
use super::mix::Class;
use super::statements::Said;
use crate::bank::history::History;
use crate::transaction::{Ask, Value};

/// The questions of a class.
pub(super) fn asked(class: Class, history: &History, mut choose: Choose) -> Ask {
    let scale = history.scale();
    let number = choose.account();
    let account = Value::Int(number as i64);
    match class {
        Class::List => Ask::default().with(Said::ListItems, [account]),
        Class::Detail => detail(history, number, choose.below(history.rounds())),
        Class::Master => Ask::default()
            .with(Said::MasterCustomer, [account.clone()])
            .with(Said::MasterTerms, [account])
            .with(Said::MasterAccounts, [Value::Int(scale.customer_of(number) as i64)]),
        Class::Statement => Ask::default()
            .with(Said::StatementHead, [account.clone()])
            .with(Said::StatementItems, [account, Value::Int(scale.first_day())]),
        _ => Ask::default()
            .with(Said::ReadBalance, [account.clone()])
            .with(Said::ReadValueDates, [account.clone()])
            .with(Said::Prenotes, [account]),
    }
}

/// An item of the history: that of the round, or of the next one in which the account has one.
fn detail(history: &History, account: u64, round: u64) -> Ask {
    let rounds = history.rounds();
    let item = (0..rounds).find_map(|step| history.item_of(account, (round + step) % rounds));
    let (day, order) = item.map_or((0, 0), |item| (item.posted_day, item.order as i64));
    Ask::default()
        .with(Said::DetailItem, [Value::Int(account as i64), day.into(), order.into()])
        .with(Said::DetailOrder, [order.into()])
}
