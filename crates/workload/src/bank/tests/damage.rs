//! Each kind of damage is seen by the invariant that is for it.

use super::night::run;
use super::{Bench, SCALE, data, day};
use crate::bank::day::{self as by_day, Day};
use crate::bank::night::{Spec, statements};
use crate::dataset::DataSet;

/// What is done to the data after a day and a night, and which invariants must see it.
const DAMAGES: &[(&str, &[&str])] = &[
    ("update balance set balance_cents = balance_cents + 1 where account_id = 5 and value_day = 20450", &["balances"]),
    (
        "update balance set balance_cents = balance_cents + 1 where account_id = 5 and value_day = 20454",
        &["balances", "accounts"],
    ),
    (
        "update balance set turnover_cents = turnover_cents - 1 where account_id = 7 and value_day = 20440",
        &["turnovers"],
    ),
    ("delete from balance where account_id = 9 and value_day = 20454", &["accounts"]),
    ("update account set balance_cents = balance_cents + 1 where id = 5", &["accounts"]),
    (
        "insert into item select account_id, posted_day, order_id + 1, value_day, amount_cents, kind, contra_id, reference \
         from item where account_id = 11 and kind = 'debit' limit 1",
        &["double entry", "turnovers", "ledger"],
    ),
    ("delete from item where account_id = 11 and kind = 'debit'", &["double entry", "turnovers", "ledger"]),
    // Both sides are posted again, so that only the settlement tells.
    (
        "insert into item select account_id, posted_day, order_id + 900001, value_day, amount_cents, kind, contra_id, reference \
         from item where order_id = (select order_id from settlement where account_id = 12)",
        &["settlements", "items"],
    ),
    ("delete from settlement where account_id = 13", &["settlements"]),
    ("update account set settled = 2 where id = 13", &["settlements"]),
    ("delete from statement where account_id = 13 and period = 1", &["settlements"]),
    (
        "update ledger set debit_cents = debit_cents + 1 where branch_id = 1 and product_id = 2 and day = 20440",
        &["ledger", "cut-off"],
    ),
    (
        "update ledger set debit_cents = debit_cents + 1, credit_cents = credit_cents + 1 \
         where branch_id = 1 and product_id = 2 and day = 20440",
        &["ledger"],
    ),
    ("delete from ledger where branch_id = 1 and product_id = 2 and day = 20440", &["ledger", "cut-off"]),
    ("update account set settled = 0 where id = 13", &["settlements", "cut-off"]),
    (
        "update payment_order set status = 'rejected' where id = (select max(id) from payment_order where kind = 'debit')",
        &["orders"],
    ),
    ("update payment_order set status = 'posted' where status = 'open'", &["orders", "prenotes"]),
    (
        "update payment_order set status = 'lost' where id = (select max(id) from payment_order where kind = 'debit')",
        &["orders"],
    ),
    (
        "delete from payment_order where id = (select max(id) from payment_order where kind = 'debit')",
        &["items", "order items"],
    ),
    (
        "update payment_order set total_cents = total_cents + 1 where id = (select max(id) from payment_order where kind = 'debit')",
        &["order items", "posted orders"],
    ),
    (
        "delete from order_item where order_id = (select max(id) from payment_order where kind = 'debit')",
        &["order items"],
    ),
    ("update balance set value_day = 30000 where account_id = 9 and value_day = 20440", &["accounts"]),
    ("update item set value_day = 30000 where account_id = 11 and kind = 'debit'", &["items", "turnovers"]),
    ("delete from prenote", &["prenotes"]),
    ("update prenote set amount_cents = amount_cents + 1", &["prenotes"]),
    ("update standing_order set payee_id = 1000000 where id = 1", &["payees"]),
    (
        "update item set posted_day = posted_day + 1 where account_id = 11 and kind = 'single'",
        &["double entry by day", "ledger"],
    ),
    // What a settlement says of itself.
    ("update settlement set numbers = numbers + 1 where account_id = 13", &["interest and charges"]),
    ("update settlement set items = items + 1 where account_id = 13", &["interest and charges", "statements"]),
    ("update settlement set period = 2 where account_id = 13", &["interest and charges", "statements"]),
    (
        "insert into settlement select 5000, period, order_id, items, numbers, 0, 0 from settlement where account_id = 13",
        &["interest and charges"],
    ),
    // Interest that is wrong wherever it stands: in the settlement, the items of both sides, the order, balances and statement.
    (
        "update settlement set interest_cents = interest_cents + 100, order_id = order_id where account_id = 13",
        &["interest and charges", "settlements", "items of the night", "orders of the night", "statements"],
    ),
    ("update balance set balance_cents = balance_cents + 1000000 where account_id = 13", &["interest and charges"]),
    ("update terms set debit_bp = debit_bp + 1, first_bp = first_bp + 1", &["interest and charges"]),
    (
        "update item set contra_id = 7 where account_id = 13 and order_id = (select order_id from settlement where account_id = 13)",
        &["items of the night"],
    ),
    // Every other side of the night lies on the own account of another branch.
    ("update account set branch_id = 3 - branch_id where id > 1000", &["items of the night"]),
    ("update item set kind = 'debit' where account_id = 13 and kind = 'charge'", &["items of the night", "items"]),
    ("update payment_order set items = items + 1 where kind = 'night'", &["orders of the night"]),
    ("update payment_order set account_id = account_id + 1 where kind = 'night'", &["orders of the night"]),
    ("update payment_order set total_cents = total_cents + 1 where kind = 'night'", &["orders of the night"]),
    ("update account set settled = 1 where id = 1001", &["settlements"]),
    // Statements.
    ("update statement set opening_cents = opening_cents + 1 where account_id = 13 and period = 1", &["statements"]),
    ("update statement set closing_cents = closing_cents + 1 where account_id = 13 and period = 1", &["statements"]),
    ("update statement set items = items - 1 where account_id = 13 and period = 1", &["statements"]),
    ("update statement set day = day - 1 where account_id = 13 and period = 1", &["statements"]),
    ("update statement set opening_cents = 0, closing_cents = 0 where account_id = 13 and period = 0", &["statements"]),
    ("delete from statement where account_id = 13 and period = 0", &["settlements", "statements"]),
    ("update cut_off set day = day - 1", &["cut-off"]),
    ("update cut_off set period = 2", &["cut-off"]),
    // Orders, their parties and their days.
    ("update order_item set account_id = account_id % 1000 + 1 where order_id = 1000000 + 1", &["payers and payees"]),
    (
        "update order_item set amount_cents = amount_cents + case line when 0 then 1 else -1 end \
         where line < 2 and order_id = (select min(id) from payment_order where kind = 'bulk')",
        &["payers and payees"],
    ),
    (
        "update payment_order set account_id = account_id % 1000 + 1 where id = (select max(id) from payment_order where kind = 'debit')",
        &["payers and payees"],
    ),
    (
        "update item set contra_id = 7 where order_id = (select min(id) from payment_order where kind = 'bulk')",
        &["payers and payees"],
    ),
    (
        "update item set kind = 'single' where order_id = (select max(id) from payment_order where kind = 'debit')",
        &["payers and payees"],
    ),
    ("update item set reference = 'order 7' where account_id = 11 and kind = 'single'", &["items"]),
    (
        "update order_item set reference = 'order 7' where order_id = (select max(order_id) from order_item)",
        &["order items"],
    ),
    ("update order_item set line = 90 where line = 3", &["order items"]),
    (
        "update item set posted_day = posted_day - 1 where order_id = (select max(id) from payment_order where kind = 'debit')",
        &["payers and payees", "ledger"],
    ),
    ("update item set posted_day = posted_day - 1 where account_id = 11 and kind = 'debit'", &["double entry"]),
    (
        "update item set value_day = value_day - 1 where account_id = 11 and kind = 'debit'",
        &["double entry", "turnovers"],
    ),
    ("update payment_order set entered_day = entered_day - 1 where status = 'rejected'", &["days of orders"]),
    ("update payment_order set due_day = due_day + 1 where kind = 'card' and status = 'rejected'", &["days of orders"]),
    ("update payment_order set due_day = 20454 where status = 'open'", &["days of orders", "prenotes"]),
    ("update payment_order set kind = 'night' where status = 'open'", &["days of orders", "order items"]),
    ("update prenote set order_id = order_id + 5000000", &["prenotes"]),
    (
        "insert into item select 999, posted_day, order_id, value_day, 0, kind, contra_id, reference from item \
         where order_id = (select max(id) from payment_order where kind = 'debit') and amount_cents > 0",
        &["posted orders"],
    ),
    // Standing orders.
    ("update standing_order set due_day = due_day + 1 where id = 5", &["standing orders"]),
    ("update standing_order set due_day = due_day + every_days where id = 5", &["standing orders"]),
    ("update standing_order set amount_cents = amount_cents + 1", &["standing orders"]),
    ("update standing_order set payee_id = payee_id % 1000 + 1", &["standing orders"]),
    ("update account set limit_cents = limit_cents + 1 where id = 5", &["accounts"]),
];

/// A bank after a day and a night.
fn worked(data: &DataSet) -> Bench {
    let mut bench = Bench::filled(data, by_day::statements());
    day::run(&mut bench, &mut Day::new(day(), &day::share(0, 0)), 600);
    (bench.statements, bench.touched) = (statements(), vec![0; statements().len()]);
    run(&mut bench, Spec { scale: SCALE, commit_every: 100 }, u64::MAX);
    assert_eq!(bench.broken(data), [""; 0]);
    bench.db.execute_batch("pragma foreign_keys = off").unwrap();
    bench
}

#[test]
fn each_damage_is_seen_by_the_invariants_that_are_for_it() {
    let data = data();
    worked(&data).sees(&data, DAMAGES);
}

/// What nothing else in the data tells, as rows in which a column is not changed here: of an order that posts nothing, whom it was
/// to pay; of one that was rejected, also who, and when it was due.
const KNOWN_ONCE: [(&str, &str, &str); 3] = [
    (
        "order_item",
        "account_id",
        "order_id in (select id from payment_order where status <> 'posted' and id > 1000000)",
    ),
    ("payment_order", "account_id", "status = 'rejected'"),
    ("payment_order", "due_day", "status = 'rejected'"),
];

#[test]
fn a_change_of_any_column_of_any_table_is_seen() {
    let data = data();
    assert_eq!(worked(&data).unseen(&data, &KNOWN_ONCE), [""; 0]);
}

#[test]
fn a_changed_row_of_the_fill_is_found_by_its_page() {
    let data = data();
    let mut bench = Bench::filled(&data, Vec::new());
    let differences =
        |bench: &mut Bench| -> Vec<String> { data.pages().flat_map(|page| bench.differences(&page)).collect() };
    assert_eq!(differences(&mut bench), [""; 0]);
    bench
        .db
        .execute_batch("update account set balance_cents = 1, settled = 1; update standing_order set due_day = 0")
        .unwrap();
    assert_eq!(differences(&mut bench), [""; 0]);
    bench
        .db
        .execute_batch(
            "update customer set town = 'Elsewhere' where id = 4; update item set contra_id = 0 where account_id = 8",
        )
        .unwrap();
    let found = differences(&mut bench);
    assert!(found[0].starts_with("customer 4: town is Elsewhere"), "{found:?}");
    assert!(found[1..].iter().all(|one| one.starts_with("item 8,")) && found.len() > 2, "{found:?}");
}
