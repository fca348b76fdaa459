//! The checks on SQLite in memory: they hold after the fill, and each kind of damage is seen by the check that is for it.

use super::*;
use crate::brokerage::fill::{Maker, source};
use crate::brokerage::schema::tables;
use crate::brokerage::{Preset, Scale};
use crate::dataset::{Invariant, Type};
use crate::transaction::Value;
use rusqlite::Connection;
use rusqlite::types::Value as Field;

/// A data set in memory.
fn filled(preset: Preset, seed: u64) -> Connection {
    let database = Connection::open_in_memory().unwrap();
    let scale = Scale { preset, customers: 20, days: 1 };
    database.execute_batch("BEGIN").unwrap();
    for table in tables(preset) {
        let kind = |kind| if kind == Type::Int { "INTEGER" } else { "TEXT" };
        let columns: Vec<String> =
            table.columns.iter().map(|column| format!("{} {}", column.name, kind(column.kind))).collect();
        let (name, columns, key) = (&table.name, columns.join(", "), table.key.join(", "));
        database.execute_batch(&format!("CREATE TABLE {name} ({columns}, PRIMARY KEY ({key}))")).unwrap();
        let marks = vec!["?"; table.columns.len()].join(", ");
        let mut insert = database.prepare(&format!("INSERT INTO {name} VALUES ({marks})")).unwrap();
        let (mut rows, mut row) = (source(&scale, &table.name).part(Maker::new(scale, seed, true), (0, 1)), Vec::new());
        while rows.next(&mut row) {
            insert.execute(rusqlite::params_from_iter(row.iter().map(field))).unwrap();
        }
    }
    database.execute_batch("COMMIT").unwrap();
    database
}

fn field(value: &Value) -> Field {
    match value {
        Value::Null => Field::Null,
        Value::Int(number) => Field::Integer(*number),
        Value::Float(number) => Field::Real(*number),
        Value::Text(text) => Field::Text(text.clone()),
    }
}

/// Names of the invariants that do not hold.
fn broken(database: &Connection, preset: Preset) -> Vec<&'static str> {
    let holds = |invariant: &Invariant| !database.prepare(&invariant.sql).unwrap().exists([]).unwrap();
    invariants(preset).iter().filter(|invariant| !holds(invariant)).map(|invariant| invariant.name).collect()
}

/// The checksums of all tables but the largest ones that no trade touches, to be quick.
fn checksums(database: &Connection, preset: Preset) -> Vec<(String, Vec<i64>)> {
    let row = |sql: &str| {
        let mut statement = database.prepare(sql).unwrap();
        let columns = statement.column_count();
        statement.query_row([], |row| (0..columns).map(|column| row.get(column)).collect()).unwrap()
    };
    let large = ["article", "daily_price", "postal_area"];
    let kept = tables(preset).filter(|table| !large.contains(&&*table.name));
    let queries = kept.map(crate::dataset::checksum);
    queries.map(|(table, sql)| (table, row(&sql))).collect()
}

/// What is done to the data, and which invariants must see it.
const DAMAGES: &[(&str, &[&str])] = &[
    ("UPDATE broker SET trades = trades + 1 WHERE id = 1", &["brokers"]),
    ("UPDATE broker SET commission_cents = commission_cents - 1 WHERE id = 1", &["brokers"]),
    ("UPDATE trade SET commission_cents = commission_cents + 1 WHERE id = 7", &["brokers"]),
    ("UPDATE position SET quantity = quantity + 1 WHERE account_id = 3", &["positions", "positions and trades"]),
    ("DELETE FROM position WHERE account_id = 3", &["positions", "positions and trades"]),
    ("INSERT INTO position VALUES (3, 'ZZZ', 1)", &["positions", "positions and trades"]),
    ("UPDATE lot SET quantity = quantity - 1 WHERE account_id = 3", &["positions", "lots replayed"]),
    ("DELETE FROM lot WHERE account_id = 3", &["positions", "lots replayed"]),
    ("UPDATE account SET balance_cents = balance_cents + 1 WHERE id = 5", &["cash"]),
    ("DELETE FROM cash_entry WHERE trade_id = (SELECT MIN(trade_id) FROM cash_entry)", &["cash", "cash entries"]),
    (
        "UPDATE cash_entry SET amount_cents = amount_cents + 1 WHERE trade_id = (SELECT MAX(trade_id) FROM cash_entry)",
        &["cash", "cash entries"],
    ),
    ("INSERT INTO cash_entry SELECT MIN(id), 0, 0, '' FROM trade WHERE is_cash = 0", &["cash entries"]),
    ("DELETE FROM settlement WHERE trade_id = (SELECT MIN(id) FROM trade WHERE is_cash = 0)", &["settlements"]),
    ("UPDATE trade SET price_cents = NULL WHERE id = 9", &["settlements"]),
    (
        "INSERT INTO trade SELECT 9000, at, 'sent', 'MB', 0, symbol, 1, 1, 1, '', NULL, 1, 1, 0, 0 FROM trade WHERE id = 1; \
         INSERT INTO trade_event VALUES (9000, 'sent', 1); INSERT INTO settlement VALUES (9000, 'cash', 1, 1)",
        &["settlements"],
    ),
    ("DELETE FROM trade_event WHERE trade_id = 4", &["events"]),
    ("DELETE FROM trade_event WHERE trade_id = 4 AND status = 'done'", &["events"]),
    ("DELETE FROM trade_event WHERE trade_id = 4 AND status = 'sent'", &["events"]),
    (
        "DELETE FROM trade_event WHERE status = 'wait' AND trade_id = (SELECT MIN(trade_id) FROM trade_event WHERE status = 'wait')",
        &["events"],
    ),
    ("INSERT INTO trade_event VALUES (4, 'void', 99)", &["events"]),
    ("INSERT INTO trade_event VALUES (4, 'live', 99)", &["events"]),
    ("UPDATE trade_event SET at = at - 3600000000 WHERE trade_id = 4 AND status = 'done'", &["events"]),
    (
        "INSERT INTO pending_order SELECT id, order_type, symbol, quantity, bid_cents, 1 FROM trade WHERE id = 4",
        &["pending orders"],
    ),
    (
        "INSERT INTO trade SELECT 9000, at, 'wait', 'LB', 0, symbol, 1, 1, 1, '', NULL, 1, 1, 0, 0 FROM trade WHERE id = 1; \
         INSERT INTO trade_event VALUES (9000, 'wait', 1)",
        &["pending orders"],
    ),
    ("UPDATE lot_change SET quantity_after = quantity_after + 1 WHERE trade_id = 6", &["lots replayed", "lots moved"]),
    ("DELETE FROM lot_change WHERE trade_id = 6", &["lots replayed", "lots moved"]),
    (
        "UPDATE lot_change SET quantity_before = quantity_before + 100, quantity_after = quantity_after + 100 \
         WHERE lot_id = trade_id AND lot_id = (SELECT MIN(lot_id) FROM lot_change)",
        &["lots replayed"],
    ),
    ("UPDATE trade SET at = at + 86400000000 WHERE id = 7", &["events"]),
    ("UPDATE trade SET at = at - 1 WHERE id = 7", &["events"]),
    (
        "UPDATE trade SET bid_cents = price_cents - 1 WHERE id = (SELECT MIN(id) FROM trade WHERE order_type = 'LB')",
        &["limits"],
    ),
    (
        "UPDATE trade SET bid_cents = price_cents + 1 WHERE id = (SELECT MIN(id) FROM trade WHERE order_type = 'LS')",
        &["limits"],
    ),
    ("UPDATE settlement SET kind = 'xyz' WHERE trade_id = 7", &["settlement terms"]),
    (
        "UPDATE settlement SET kind = 'cash' WHERE trade_id = (SELECT MIN(id) FROM trade WHERE is_cash = 0)",
        &["settlement terms"],
    ),
    ("UPDATE settlement SET due = due + 1 WHERE trade_id = 7", &["settlement terms"]),
    ("UPDATE settlement SET due = due - 1 WHERE trade_id = 7", &["settlement terms"]),
    (
        "UPDATE cash_entry SET at = at + 1 WHERE trade_id = (SELECT MIN(trade_id) FROM cash_entry)",
        &["settlement terms"],
    ),
    ("INSERT INTO position VALUES (3, 'ZZZ', 0)", &["positions held"]),
    ("UPDATE lot SET price_cents = price_cents + 1 WHERE account_id = 3", &["lots bought"]),
    ("UPDATE trade SET fee_cents = fee_cents + 1 WHERE id = 7", &["amounts"]),
    (
        "UPDATE trade SET tax_cents = 1 WHERE id = (SELECT MIN(id) FROM trade WHERE order_type IN ('MB', 'LB'))",
        &["taxes"],
    ),
    ("DELETE FROM trade WHERE id = 6", &["brokers", "positions and trades", "lots moved"]),
];

#[test]
fn a_filled_house_and_a_filled_desk_pass() {
    for preset in [Preset::Desk, Preset::House] {
        assert_eq!(broken(&filled(preset, 1), preset), [""; 0]);
    }
}

#[test]
fn orders_on_their_way_and_cancelled_ones_are_legal() {
    let database = filled(Preset::House, 2);
    // What waited began at 9000, what did not with its own event.
    let trade = |id: u64, status: &str, kind: &str| {
        let at = if id == 9_001 { id } else { 9_000 };
        format!(
            "INSERT INTO trade SELECT {id}, {at}, '{status}', '{kind}', 1, symbol, 5, 7, 1, '', NULL, 1, 1, 0, 0 \
             FROM trade WHERE id = 1; INSERT INTO trade_event VALUES ({id}, '{status}', {id});"
        )
    };
    let all = [
        trade(9_000, "wait", "LB"),
        "INSERT INTO pending_order SELECT id, order_type, symbol, quantity, bid_cents, 1 FROM trade WHERE id = 9000;"
            .into(),
        trade(9_001, "sent", "MS"),
        trade(9_002, "sent", "SL"),
        "INSERT INTO trade_event VALUES (9002, 'wait', 9000);".into(),
        trade(9_003, "void", "LB"),
        "INSERT INTO trade_event VALUES (9003, 'wait', 9000);".into(),
        trade(9_004, "void", "MS"),
        "INSERT INTO trade_event VALUES (9004, 'sent', 9000);".into(),
    ];
    database.execute_batch(&all.concat()).unwrap();
    assert_eq!(broken(&database, Preset::House), [""; 0]);
}

#[test]
fn each_damage_is_seen_by_the_checks_that_are_for_it_and_by_the_checksums() {
    let database = filled(Preset::House, 3);
    let whole = checksums(&database, Preset::House);
    let mut seen: Vec<&str> = Vec::new();
    for (damage, by) in DAMAGES {
        database.execute_batch("SAVEPOINT damage").unwrap();
        database.execute_batch(damage).unwrap();
        let found = broken(&database, Preset::House);
        assert!(by.iter().all(|name| found.contains(name)), "{damage}: {found:?}");
        assert_ne!(checksums(&database, Preset::House), whole, "{damage}");
        database.execute_batch("ROLLBACK TO damage").unwrap();
        seen.extend(*by);
    }
    assert!(invariants(Preset::House).iter().all(|invariant| seen.contains(&invariant.name)));
    assert_eq!(broken(&database, Preset::House), [""; 0]);
    assert_eq!(checksums(&database, Preset::House), whole);
}

#[test]
fn checksums_tell_seeds_and_exchanged_values_apart() {
    let database = filled(Preset::Desk, 4);
    let whole = checksums(&database, Preset::Desk);
    assert_eq!(whole, checksums(&filled(Preset::Desk, 4), Preset::Desk));
    assert_ne!(whole, checksums(&filled(Preset::Desk, 5), Preset::Desk));
    let exchange = "UPDATE account SET balance_cents = (SELECT SUM(balance_cents) FROM account WHERE id IN (1, 2)) \
                    - balance_cents WHERE id IN (1, 2)";
    database.execute_batch(exchange).unwrap();
    let exchanged = checksums(&database, Preset::Desk);
    let differ: Vec<&str> = whole.iter().zip(&exchanged).filter(|(a, b)| a != b).map(|(a, _)| a.0.as_str()).collect();
    assert_eq!(differ, ["account"]);
}

#[test]
fn queries_name_only_tables_that_they_state_and_the_preset_has() {
    for preset in [Preset::Desk, Preset::House] {
        let known: Vec<&str> = tables(preset).map(|table| &*table.name).collect();
        for invariant in invariants(preset) {
            assert!(invariant.tables.iter().all(|table| known.contains(table)), "{}", invariant.name);
            assert!(invariant.sql.ends_with("LIMIT 10") && !invariant.sql.contains('{'), "{}", invariant.sql);
        }
    }
}

#[test]
fn pages_hold_every_row_that_the_fill_made_and_find_one_that_was_changed() {
    for preset in [Preset::Desk, Preset::House] {
        let (database, scale) = (filled(preset, 6), Scale { preset, customers: 20, days: 1 });
        let differences = || -> Vec<String> {
            crate::brokerage::data_set::seeded(scale, 6)
                .pages()
                .flat_map(|page| page.differences(&answer(&database, &page.sql)))
                .collect()
        };
        assert_eq!(differences(), [""; 0]);
        database.execute_batch("UPDATE settlement SET kind = kind || ' *'; UPDATE broker SET trades = 0").unwrap();
        assert_eq!(differences(), [""; 0]);
        database
            .execute_batch("UPDATE customer SET tier = 9 WHERE id = 4; DELETE FROM trade_event WHERE trade_id = 8")
            .unwrap();
        let found = differences();
        assert!(found[0].starts_with("customer 4: tier is 9, the fill made "), "{found:?}");
        assert!(
            found[1..].iter().all(|one| one.starts_with("trade_event 8,") && one.ends_with(" is not there")),
            "{found:?}"
        );
    }
}

fn answer(database: &Connection, sql: &str) -> Vec<Vec<Value>> {
    let mut statement = database.prepare(sql).unwrap();
    let columns = statement.column_count();
    let value = |field: Field| match field {
        Field::Integer(number) => Value::Int(number),
        Field::Text(text) => Value::Text(text),
        _ => Value::Null,
    };
    let row = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column).map(value)).collect();
    statement.query_map([], row).unwrap().map(Result::unwrap).collect()
}
