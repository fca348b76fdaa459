//! Each kind of damage is seen by the invariant that is for it.

use super::night::run;
use super::{Bench, SCALE, data};
use crate::bank::night::{Spec, statements};

/// What is done to the data after a night, and which invariants must see it.
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
];

#[test]
fn each_damage_is_seen_by_the_invariants_that_are_for_it() {
    let data = data();
    let mut bench = Bench::filled(&data, statements());
    run(&mut bench, Spec { scale: SCALE, commit_every: 100 }, u64::MAX);
    bench.db.execute_batch("pragma foreign_keys = off").unwrap();
    let mut seen: Vec<&str> = Vec::new();
    for (damage, by) in DAMAGES {
        bench.db.execute_batch("begin").unwrap();
        let changed = bench.db.execute(damage, []).unwrap_or_else(|error| panic!("{damage}: {error}"));
        assert!(changed > 0, "{damage} changes nothing");
        let found = bench.broken(&data);
        assert!(by.iter().all(|name| found.contains(name)), "{damage} is seen by {found:?}");
        seen.extend(*by);
        bench.db.execute_batch("rollback").unwrap();
    }
    for invariant in data.invariants() {
        assert!(seen.contains(&invariant.name), "nothing here breaks `{}`", invariant.name);
    }
}

#[test]
fn a_changed_row_of_the_fill_is_found_by_its_page() {
    let data = data();
    let mut bench = Bench::filled(&data, Vec::new());
    let differences = |bench: &mut Bench| -> Vec<String> {
        let found = |sql: &str, bench: &mut Bench| crate::kind::Queries::query(bench, "", sql).unwrap();
        data.pages().flat_map(|page| page.differences(&found(&page.sql, bench))).collect()
    };
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
