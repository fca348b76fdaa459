//! The tables of the bank.
//!
//! The one idea: an item lies under its account and its day, as it is asked for, and belongs to an order whose items add up to
//! nothing. Money is whole cents and days are days since 1970, so that all engines hold the same numbers.
//!
//! What it does not do: what is written all day long refers to other tables by the checks alone, as banks leave it to their
//! programs.

use crate::dataset::{Indexes, Table, tables as listed};

/// All tables, referred-to ones first, with their usual indexes.
pub const TABLES: &[Table] = &listed! {
    bank (id int, name text 60, code text 12) key (id);
    branch (id int, bank_id int, name text 60) key (id) refers [bank(bank_id)];
    product (id int, name text 40) key (id);
    terms (product_id int, charge_cents int, item_cents int, limit_cents int, debit_bp int, first_bp int, second_cents int,
        second_bp int, third_cents int, third_bp int) key (product_id) refers [product(product_id)];
    customer (id int, branch_id int, last_name text 25, first_name text 20, born int, street text 60, town text 60,
        phone text 24) key (id) refers [branch(branch_id)];
    account (id int, customer_id int, product_id int, branch_id int, limit_cents int, opening_cents int, balance_cents int,
        settled int) key (id)
        refers [customer(customer_id), product(product_id), branch(branch_id)] indexes [(customer_id), (branch_id)];
    payment_order (id int, kind text 8, status text 8, account_id int, entered_day int, due_day int, items int,
        total_cents int) key (id);
    order_item (order_id int, line int, account_id int, amount_cents int, reference text 24) key (order_id, line);
    standing_order (id int, account_id int, payee_id int, amount_cents int, due_day int, every_days int) key (id)
        indexes [(due_day, id)];
    prenote (order_id int, account_id int, value_day int, amount_cents int) key (order_id) indexes [(account_id)];
    item (account_id int, posted_day int, order_id int, value_day int, amount_cents int, kind text 8, contra_id int,
        reference text 24) key (account_id, posted_day, order_id);
    balance (account_id int, value_day int, turnover_cents int, balance_cents int) key (account_id, value_day);
    statement (account_id int, period int, day int, opening_cents int, closing_cents int, items int)
        key (account_id, period);
    settlement (account_id int, period int, order_id int, items int, numbers int, interest_cents int, charge_cents int)
        key (account_id, period);
    ledger (branch_id int, product_id int, day int, debit_cents int, credit_cents int, items int)
        key (branch_id, product_id, day);
    cut_off (period int, day int, accounts int, debit_cents int, credit_cents int) key (period);
};

/// All tables with so many indexes.
pub(super) fn tables(indexes: Indexes) -> Vec<Table> {
    let of = |table: &Table| match indexes {
        Indexes::Few => &[],
        Indexes::More if table.indexes.is_empty() => further(&table.name),
        Indexes::Usual | Indexes::More => table.indexes,
    };
    TABLES.iter().map(|table| Table { indexes: of(table), ..table.clone() }).collect()
}

/// What searches would like on tables that have no index else.
fn further(table: &str) -> &'static [&'static [&'static str]] {
    match table {
        "payment_order" | "order_item" => &[&["account_id"]],
        "item" => &[&["order_id"]],
        _ => &[],
    }
}

/// The table of that name.
pub fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}
