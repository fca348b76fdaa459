//! What somebody may do to a filled data set, in 34 ways: each is found.

use super::across::{Cache, filled};
use crate::dataset::{Depth, check};
use crate::{Session, Texts};
use std::time::Duration;
use study::{Engine, Sessions};
use workload::brokerage::Preset;
use workload::dataset::DataSet;

/// What is done, in words and in SQL that SQLite and PostgreSQL both understand.
const WAYS: [(&str, &str); 34] = [
    ("a position is gone", "DELETE FROM position WHERE account_id = 3"),
    ("a balance is a cent more", "UPDATE account SET balance_cents = balance_cents + 1 WHERE id = 5"),
    (
        "a trade is there twice",
        "INSERT INTO trade SELECT (SELECT MAX(id) + 1 FROM trade), at, status, order_type, is_cash, symbol, quantity, \
         bid_cents, account_id, placed_by, price_cents, fee_cents, commission_cents, tax_cents, lifo FROM trade WHERE id = 7",
    ),
    ("an account is gone", "DELETE FROM account WHERE id = 9"),
    (
        "a trade has another status",
        "UPDATE trade SET status = (SELECT MIN(id) FROM status WHERE id <> 'done') WHERE id = 7",
    ),
    ("a commission is a cent more", "UPDATE trade SET commission_cents = commission_cents + 1 WHERE id = 7"),
    (
        "a settlement in cash is a cent more",
        "UPDATE settlement SET amount_cents = amount_cents + 1 \
         WHERE trade_id = (SELECT MIN(id) FROM trade WHERE is_cash = 1)",
    ),
    ("a cash entry is gone", "DELETE FROM cash_entry WHERE trade_id = (SELECT MIN(trade_id) FROM cash_entry)"),
    (
        "a cash entry and the balance are a cent more",
        "UPDATE account SET balance_cents = balance_cents + 1 WHERE id = (SELECT account_id FROM trade \
         WHERE id = (SELECT MIN(trade_id) FROM cash_entry)); UPDATE cash_entry SET amount_cents = amount_cents + 1 \
         WHERE trade_id = (SELECT MIN(trade_id) FROM cash_entry)",
    ),
    (
        "a trade is of another symbol",
        "UPDATE trade SET symbol = (SELECT MIN(symbol) FROM security WHERE symbol <> trade.symbol) WHERE id = 7",
    ),
    ("a trade is of another account", "UPDATE trade SET account_id = account_id + 1 WHERE id = 7"),
    ("a change of a lot is gone", "DELETE FROM lot_change WHERE trade_id = (SELECT MIN(trade_id) FROM lot_change)"),
    (
        "an event is that of another trade",
        "UPDATE trade_event SET trade_id = (SELECT MAX(id) + 1 FROM trade) WHERE trade_id = 4 AND status = 'done'",
    ),
    ("an event is gone", "DELETE FROM trade_event WHERE trade_id = 4 AND status = 'sent'"),
    ("a broker's sum is a cent more", "UPDATE broker SET commission_cents = commission_cents + 1 WHERE id = 1"),
    ("the latest trade is gone", "DELETE FROM trade WHERE id = (SELECT MAX(id) FROM trade)"),
    ("a price of a trade is a cent more", "UPDATE trade SET price_cents = price_cents + 1 WHERE id = 7"),
    ("a fee is a cent more", "UPDATE trade SET fee_cents = fee_cents + 1 WHERE id = 7"),
    (
        "a tax that is not withheld is a cent more",
        "UPDATE trade SET tax_cents = tax_cents + 1 WHERE id = (SELECT MIN(t.id) FROM trade t \
         JOIN account a ON a.id = t.account_id WHERE a.tax_status = 2 AND t.tax_cents > 0)",
    ),
    (
        "a price of a lot is a cent more",
        "UPDATE lot SET price_cents = price_cents + 1 WHERE trade_id = (SELECT MIN(trade_id) FROM lot)",
    ),
    (
        "an account began with a cent more, and has it",
        "UPDATE account SET opening_cents = opening_cents + 1, balance_cents = balance_cents + 1 WHERE id = 5",
    ),
    (
        "a settlement on margin is a cent more",
        "UPDATE settlement SET amount_cents = amount_cents + 1 \
         WHERE trade_id = (SELECT MIN(id) FROM trade WHERE is_cash = 0)",
    ),
    ("a customer is gone", "DELETE FROM customer WHERE id = 3"),
    (
        "a security and its quote are gone",
        "DELETE FROM quote WHERE symbol = 'AAB'; DELETE FROM security WHERE symbol = 'AAB'",
    ),
    ("addresses are gone", "DELETE FROM address WHERE id > 10"),
    (
        "a customer is too many",
        "INSERT INTO customer SELECT 1000000, tax_id, status, last_name, first_name, tier, born, address_id, phone, email \
         FROM customer WHERE id = 1",
    ),
    (
        "a position is empty",
        "INSERT INTO position SELECT 1, MIN(symbol), 0 FROM security \
         WHERE symbol NOT IN (SELECT symbol FROM position WHERE account_id = 1)",
    ),
    ("entries of watch lists are gone", "DELETE FROM watch_entry WHERE watchlist_id < 5"),
    ("the list of fees is gone", "DELETE FROM fee"),
    (
        "a thousand daily prices are gone",
        "DELETE FROM daily_price WHERE symbol = 'AAC' AND day < (SELECT MIN(day) + 1000 FROM daily_price)",
    ),
    ("volumes of quotes are others", "UPDATE quote SET volume = volume + 1000"),
    ("a price of a quote is a cent more", "UPDATE quote SET price_cents = price_cents + 1 WHERE symbol = 'AAA'"),
    (
        "a change of a lot is moved at both ends",
        "UPDATE lot_change SET quantity_before = quantity_before + 100, quantity_after = quantity_after + 100 \
         WHERE lot_id = trade_id AND lot_id = (SELECT MIN(lot_id) FROM lot_change)",
    ),
    ("an index is gone", "DROP INDEX trade_symbol_at"),
];

fn broken(session: &mut dyn Session, engine: Engine, set: &DataSet) -> Vec<String> {
    let outcomes = check(session, engine, set, Depth::All, &|| Duration::ZERO).unwrap();
    outcomes.into_iter().filter(|outcome| !outcome.passed).map(|outcome| outcome.name).collect()
}

/// `begin` begins a transaction in which the engine does not look at references.
fn each_is_found(engine: Engine, begin: &str) {
    let cache = Cache::new(engine);
    let Some((database, set)) = filled(&cache, engine, Preset::House) else { return };
    let mut session = database.session(&Texts::none(engine), &Sessions::default()).unwrap();
    assert_eq!(broken(&mut *session, engine, &set), [""; 0]);
    let mut missed = Vec::new();
    for (words, sql) in WAYS {
        session.script(&format!("{begin}; {sql}")).unwrap_or_else(|failure| panic!("{words}: {failure}"));
        if broken(&mut *session, engine, &set).is_empty() {
            missed.push(words);
        }
        session.script("ROLLBACK").unwrap();
    }
    assert_eq!(missed, [""; 0]);
}

#[test]
fn every_way_to_tamper_with_a_data_set_is_found_on_sqlite() {
    each_is_found(Engine::Sqlite, "PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE");
}

#[test]
fn every_way_to_tamper_with_a_data_set_is_found_on_postgres() {
    each_is_found(Engine::Postgres, "BEGIN; SET LOCAL session_replication_role = replica");
}
