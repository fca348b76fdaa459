//! What somebody may do to a filled data set, in 52 ways, and 7 more on PostgreSQL: each is found.

use super::across::{Cache, filled};
use crate::dataset::{Depth, added, check, check_added};
use crate::{Session, Texts};
use std::time::Duration;
use study::{Engine, Sessions};
use workload::brokerage::Preset;
use workload::dataset::DataSet;

/// What is done, in words and in SQL that SQLite and PostgreSQL both understand.
const WAYS: [(&str, &str); 52] = [
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
    ("all tax numbers are one", "UPDATE customer SET tax_id = 'T0'"),
    (
        "two customers exchanged their tax numbers",
        "UPDATE customer SET tax_id = CASE id WHEN 1 THEN (SELECT o.tax_id FROM customer o WHERE o.id = 2) \
         ELSE (SELECT o.tax_id FROM customer o WHERE o.id = 1) END WHERE id IN (1, 2)",
    ),
    ("a customer has another name", "UPDATE customer SET last_name = 'x' WHERE id = 3"),
    ("securities have another name", "UPDATE security SET name = 'x'"),
    ("securities are of another exchange", "UPDATE security SET exchange_id = (SELECT MIN(id) FROM exchange)"),
    ("a security has no shares", "UPDATE security SET shares_out = 0 WHERE symbol = 'AAC'"),
    (
        "an account is of another customer",
        "UPDATE account SET customer_id = (SELECT MAX(id) FROM customer) WHERE id = 1",
    ),
    ("an account has another name", "UPDATE account SET name = 'x' WHERE id = 1"),
    ("an untaxed account is taxed", "UPDATE account SET tax_status = 1 WHERE tax_status = 0"),
    ("a broker has another name", "UPDATE broker SET name = 'x' WHERE id = 1"),
    ("a settlement is of no known kind", "UPDATE settlement SET kind = 'xyz' WHERE trade_id = 7"),
    ("a settlement is due a day later", "UPDATE settlement SET due = due + 1 WHERE trade_id = 7"),
    (
        "a cash entry is an hour later",
        "UPDATE cash_entry SET at = at + 3600000000 WHERE trade_id = (SELECT MIN(trade_id) FROM cash_entry)",
    ),
    ("trades use up other lots first", "UPDATE trade SET lifo = 1 - lifo WHERE id = 7"),
    (
        "an index is of few rows",
        "DROP INDEX trade_symbol_at; CREATE INDEX trade_symbol_at ON trade (symbol, at) WHERE id < 0",
    ),
    ("a trade began a day after it was filled", "UPDATE trade SET at = at + 86400000000 WHERE id = 7"),
    (
        "a limit buy was filled above its limit",
        "UPDATE trade SET bid_cents = price_cents - 1 WHERE id = (SELECT MIN(id) FROM trade WHERE order_type = 'LB')",
    ),
    ("somebody else placed a trade", "UPDATE trade SET placed_by = 'x' WHERE id = 7"),
];

/// The same in the SQL of PostgreSQL alone.
const WAYS_OF_POSTGRES: [(&str, &str); 7] = [
    (
        "an index is of blocks",
        "DROP INDEX trade_symbol_at; CREATE INDEX trade_symbol_at ON trade USING brin (symbol, at)",
    ),
    (
        "an index has a column beside it only",
        "DROP INDEX trade_symbol_at; CREATE INDEX trade_symbol_at ON trade (symbol) INCLUDE (at)",
    ),
    (
        "a key is an index only",
        "ALTER TABLE cash_entry DROP CONSTRAINT cash_entry_pkey; CREATE INDEX cash_entry_key ON cash_entry (trade_id)",
    ),
    ("a column may be null", "ALTER TABLE quote ALTER COLUMN volume DROP NOT NULL"),
    ("a column is of another type", "ALTER TABLE quote ALTER COLUMN volume TYPE numeric"),
    ("a table does not outlast a crash", "ALTER TABLE cash_entry SET UNLOGGED"),
    ("references are switched off", "ALTER TABLE trade DISABLE TRIGGER ALL"),
];

fn broken(session: &mut dyn Session, engine: Engine, set: &DataSet) -> Vec<String> {
    let outcomes = check(&mut [session], engine, set, Depth::All, &|| Duration::ZERO).unwrap();
    outcomes.into_iter().filter(|outcome| !outcome.passed).map(|outcome| outcome.name).collect()
}

/// `begin` begins a transaction in which the engine does not look at references.
fn each_is_found(engine: Engine, begin: &str, further: &[(&str, &str)]) {
    let cache = Cache::new(engine);
    let Some((database, set)) = filled(&cache, engine, Preset::House) else { return };
    let mut session = database.session(&Texts::none(engine), &Sessions::default()).unwrap();
    assert_eq!(broken(&mut *session, engine, &set), [""; 0]);
    let mut missed = Vec::new();
    for (words, sql) in WAYS.iter().chain(further) {
        session.script(&format!("{begin}; {sql}")).unwrap_or_else(|failure| panic!("{words}: {failure}"));
        if broken(&mut *session, engine, &set).is_empty() {
            missed.push(*words);
        }
        session.script("ROLLBACK").unwrap();
    }
    assert_eq!(missed, [""; 0]);
}

/// What an engine lets somebody put in the place of an index, a column or a reference of ours, and what is missing then.
fn replaced(engine: Engine, session: &mut dyn Session) -> Vec<(String, &'static str)> {
    let (index, cascades) = ("index trade(symbol,at)", "reference cash_entry(trade_id) to trade");
    let add =
        "ALTER TABLE cash_entry ADD CONSTRAINT mine FOREIGN KEY (trade_id) REFERENCES trade (id) ON DELETE CASCADE";
    match engine {
        Engine::Mariadb => vec![
            (
                "ALTER TABLE trade MODIFY placed_by VARCHAR(50) COLLATE utf8mb4_general_ci NOT NULL".to_owned(),
                "column trade.placed_by (text not null)",
            ),
            (
                "DROP INDEX broker_name ON broker; CREATE INDEX broker_name ON broker (name DESC)".to_owned(),
                "index broker(name)",
            ),
            ("ALTER TABLE customer ALTER INDEX customer_tax_id IGNORED".to_owned(), "index customer(tax_id)"),
            (format!("ALTER TABLE cash_entry DROP FOREIGN KEY cash_entry_to_trade_trade_id; {add}"), cascades),
        ],
        Engine::Postgres => vec![
            (
                "ALTER TABLE trade ALTER placed_by TYPE varchar(50) COLLATE \"POSIX\"".to_owned(),
                "column trade.placed_by (text not null)",
            ),
            (
                "DROP INDEX trade_symbol_at; CREATE INDEX trade_symbol_at ON trade (symbol COLLATE \"POSIX\", at)"
                    .to_owned(),
                index,
            ),
            (
                "DROP INDEX trade_account_id_at; CREATE INDEX trade_account_id_at ON trade (account_id, at DESC)"
                    .to_owned(),
                "index trade(account_id,at)",
            ),
            (format!("ALTER TABLE cash_entry DROP CONSTRAINT cash_entry_to_trade_trade_id; {add}"), cascades),
        ],
        _ => {
            let made = session.query("SELECT sql FROM sqlite_schema WHERE name = 'cash_entry'").unwrap();
            let made = made[0][0].text().unwrap().replace("\"cash_entry\"", "fresh");
            let made = made.replace("\"trade\" (\"id\")", "\"trade\" (\"id\") ON DELETE CASCADE");
            let takes = "INSERT INTO fresh SELECT * FROM cash_entry; DROP TABLE cash_entry; ALTER TABLE fresh RENAME TO cash_entry";
            vec![
                (
                    "DROP INDEX trade_symbol_at; CREATE INDEX trade_symbol_at ON trade (symbol COLLATE nocase, at)"
                        .to_owned(),
                    index,
                ),
                (format!("{made}; {takes}"), cascades),
            ]
        }
    }
}

#[test]
fn an_index_in_another_order_of_texts_and_a_reference_that_takes_rows_with_it_are_not_in_force() {
    for engine in [Engine::Sqlite, Engine::Postgres, Engine::Mariadb] {
        let cache = Cache::new(engine);
        let Some((database, set)) = filled(&cache, engine, Preset::Desk) else { continue };
        let mut session = database.session(&Texts::none(engine), &Sessions::default()).unwrap();
        let mut all = Vec::new();
        for (sql, missing) in replaced(engine, &mut *session) {
            session.script(&sql).unwrap_or_else(|failure| panic!("{engine:?}: {sql}: {failure}"));
            all.push(format!("{missing} is missing"));
            all.sort();
            let outcomes = check(&mut [&mut *session], engine, &set, Depth::Moved, &|| Duration::ZERO).unwrap();
            let schema = outcomes.into_iter().find(|outcome| outcome.name == "schema").unwrap();
            assert_eq!(schema.violations, all, "{engine:?}: {sql}");
        }
        let told = added(&*database, &set).unwrap();
        assert_eq!(told.len(), all.len(), "{engine:?}: what took its place is told: {told:?}");
        assert!(told.iter().any(|what| what.ends_with("to trade on delete cascade")), "{told:?}");
    }
}

#[test]
fn what_somebody_added_to_our_tables_is_told_in_words_of_the_catalogue() {
    for engine in [Engine::Sqlite, Engine::Postgres, Engine::Mariadb] {
        let cache = Cache::new(engine);
        let Some((database, set)) = filled(&cache, engine, Preset::Desk) else { continue };
        let mut session = database.session(&Texts::none(engine), &Sessions::default()).unwrap();
        assert!(check_added(&*database, &set, &|| Duration::ZERO).unwrap().passed);
        let add = "CREATE INDEX mine ON trade (quantity, id); CREATE UNIQUE INDEX one ON trade (id, lifo); \
                   ALTER TABLE trade ADD COLUMN hint INTEGER CHECK (hint > 0); CREATE TABLE theirs (n int CHECK (n > 0))";
        session.script(add).unwrap();
        let found = check_added(&*database, &set, &|| Duration::ZERO).unwrap();
        let begins =
            ["check trade ", "column trade.hint (", "index trade(quantity,id) was", "unique index trade(id,lifo) was"];
        assert_eq!((found.passed, found.violations.len()), (false, begins.len()), "{engine:?}: {found:?}");
        let pairs = found.violations.iter().zip(begins);
        assert!(pairs.into_iter().all(|(told, begin)| told.starts_with(begin)), "{engine:?}: {found:?}");
    }
}

#[test]
fn every_way_to_tamper_with_a_data_set_is_found_on_sqlite() {
    each_is_found(Engine::Sqlite, "PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE", &[]);
}

#[test]
fn every_way_to_tamper_with_a_data_set_is_found_on_postgres() {
    each_is_found(Engine::Postgres, "BEGIN; SET LOCAL session_replication_role = replica", &WAYS_OF_POSTGRES);
}
