//! Counts and sums of what the fill made and no transaction changes.

use crate::bank::fill::source;
use crate::bank::history::History;
use crate::bank::scale::Scale;
use crate::dataset::Figure;

/// Tables that no transaction grows or shrinks.
const RESTING: [&str; 8] = ["bank", "branch", "product", "terms", "customer", "account", "standing_order", "balance"];

/// Everything that is counted or added up.
pub(in crate::bank) fn figures(scale: Scale, seed: u64, history: bool) -> Vec<Figure> {
    let told = History::new(scale, seed);
    let count = |table: &&str| Figure::rows_of(table, source(&scale, seed, table).rows);
    let mut all: Vec<Figure> = RESTING.iter().map(count).collect();
    all.push(Figure {
        what: "cents that all accounts began with".to_owned(),
        sql: "SELECT SUM(opening_cents) FROM account".to_owned(),
        is: (1..=scale.accounts).map(|account| told.opening_cents(account)).sum(),
    });
    if history {
        all.push(Figure {
            what: "items of the history".to_owned(),
            sql: format!("SELECT COUNT(*) FROM item WHERE order_id <= {}", told.last_order()),
            is: told.items() as i64,
        });
        all.push(weight(scale, &told));
    }
    all
}

/// A sum over all items of the history that changes with each of their columns.
fn weight(scale: Scale, told: &History) -> Figure {
    let mut is = 0;
    for account in 1..=scale.accounts {
        let mut items = told.items_of(account);
        while let Some(item) = items.next(told) {
            let kind = 1 + KINDS.iter().position(|kind| *kind == item.kind).unwrap_or(KINDS.len()) as i64;
            let sum = item.posted_day * 3 + item.value_day * 5 + item.cents * 7 + item.contra as i64 * 11 + kind * 13;
            is += sum % 1_000_003 * ((item.account * 31 + item.order) % 997 + 1) as i64;
        }
    }
    let kinds: String = KINDS.iter().zip(1..).map(|(kind, place)| format!("WHEN '{kind}' THEN {place} ")).collect();
    Figure {
        what: "days, amounts, other sides and kinds of the items of the history, weighted and added up".to_owned(),
        sql: format!(
            "SELECT SUM((posted_day * 3 + value_day * 5 + amount_cents * 7 + contra_id * 11 + 13 * CASE kind {kinds}ELSE 0 END) \
             % 1000003 * ((account_id * 31 + order_id) % 997 + 1)) FROM item WHERE order_id <= {}",
            told.last_order()
        ),
        is,
    }
}

/// Kinds of items of the history.
const KINDS: [&str; 3] = ["salary", "debit", "single"];
