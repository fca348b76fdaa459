//! All tables of small data sets, held in memory and looked at from outside.

use super::*;
use crate::brokerage::Preset;
use crate::brokerage::codes::{self, COMPLETED, PENDING, SUBMITTED};
use crate::brokerage::schema::{table, tables};
use crate::dataset::{Table, Type};
use crate::transaction::Value;
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};

type Rows = Vec<Vec<Value>>;

fn part(scale: Scale, seed: u64, table: &'static Table, part: u32, parts: u32) -> Rows {
    let (mut rows, mut row, mut all) =
        (source(&scale, &table.name).part(Maker::new(scale, seed, true), (part, parts)), Vec::new(), Vec::new());
    while rows.next(&mut row) {
        all.push(row.clone());
    }
    all
}

/// How many rows there are.
fn made(scale: Scale, table: &'static Table) -> u64 {
    let (mut rows, mut row, mut count) =
        (source(&scale, &table.name).part(Maker::new(scale, 3, true), (0, 1)), Vec::new(), 0);
    while rows.next(&mut row) {
        count += 1;
    }
    count
}

/// All tables of a data set.
struct Data {
    preset: Preset,
    tables: HashMap<&'static str, Rows>,
}

impl Data {
    fn of(preset: Preset, customers: u64, days: u64, seed: u64) -> Data {
        let scale = Scale { preset, customers, days };
        Data { preset, tables: tables(preset).map(|table| (&*table.name, part(scale, seed, table, 0, 1))).collect() }
    }

    fn rows(&self, table: &str) -> &Rows {
        &self.tables[table]
    }

    /// The stated columns of all rows of a table.
    fn columns(&self, name: &str, columns: &[&str]) -> Vec<Vec<Value>> {
        let table = table(name).unwrap();
        let places: Vec<usize> = columns
            .iter()
            .map(|column| table.columns.iter().position(|other| other.name == *column).unwrap())
            .collect();
        let pick = |row: &Vec<Value>| places.iter().map(|place| row[*place].clone()).collect();
        self.rows(name).iter().map(pick).collect()
    }

    fn ints(&self, name: &str, columns: &[&str]) -> Vec<Vec<i64>> {
        let ints = |row: Vec<Value>| row.iter().map(|value| value.int().unwrap()).collect();
        self.columns(name, columns).into_iter().map(ints).collect()
    }

    fn assert_types_and_bounds(&self) {
        for table in tables(self.preset) {
            for row in self.rows(&table.name) {
                assert_eq!(row.len(), table.columns.len(), "{}", table.name);
                for (value, column) in row.iter().zip(&*table.columns) {
                    let fits = match (column.kind, value) {
                        (Type::Int, Value::Int(_)) => true,
                        (Type::Text(most), Value::Text(text)) => text.is_ascii() && text.len() <= usize::from(most),
                        (Type::Long, Value::Text(text)) => text.is_ascii() && text.len() <= article::LONGEST,
                        _ => false,
                    };
                    assert!(fits, "{}.{}: {value:?}", table.name, column.name);
                }
            }
        }
    }

    fn assert_keys_and_references(&self) {
        let words = |rows: Vec<Vec<Value>>| rows.into_iter().map(|row| format!("{row:?}"));
        let mut keys: HashMap<&str, HashSet<String>> = HashMap::new();
        for table in tables(self.preset) {
            let key: HashSet<String> = words(self.columns(&table.name, table.key)).collect();
            assert_eq!(key.len(), self.rows(&table.name).len(), "key of {}", table.name);
            keys.insert(&table.name, key);
        }
        for table in tables(self.preset) {
            for reference in table.references.iter().filter(|reference| keys.contains_key(reference.table)) {
                for value in words(self.columns(&table.name, reference.columns)) {
                    assert!(keys[reference.table].contains(&value), "{} to {}: {value}", table.name, reference.table);
                }
            }
        }
    }

    /// The invariants of the history, from rows alone.
    fn assert_history(&self) {
        let names = ["id", "account_id", "commission_cents", "is_cash", "quantity", "at", "price_cents"];
        let trades = self.ints("trade", &names);
        let account_of: HashMap<i64, i64> = trades.iter().map(|trade| (trade[0], trade[1])).collect();
        let accounts = self.ints("account", &["id", "broker_id", "opening_cents", "balance_cents"]);
        let broker_of: HashMap<i64, i64> = accounts.iter().map(|account| (account[0], account[1])).collect();
        let mut brokers: HashMap<i64, (i64, i64)> = HashMap::new();
        for trade in &trades {
            let broker = brokers.entry(broker_of[&trade[1]]).or_default();
            *broker = (broker.0 + 1, broker.1 + trade[2]);
        }
        for broker in self.ints("broker", &["id", "trades", "commission_cents"]) {
            assert_eq!(brokers.remove(&broker[0]).unwrap_or_default(), (broker[1], broker[2]));
        }
        let mut cash: HashMap<i64, i64> = HashMap::new();
        for entry in self.ints("cash_entry", &["trade_id", "amount_cents"]) {
            *cash.entry(account_of[&entry[0]]).or_default() += entry[1];
        }
        for account in &accounts {
            assert_eq!(account[3] - account[2], cash.get(&account[0]).copied().unwrap_or(0), "account {}", account[0]);
        }
        let settled: HashMap<i64, i64> =
            self.ints("settlement", &["trade_id", "amount_cents"]).iter().map(|row| (row[0], row[1])).collect();
        let entered: HashMap<i64, i64> =
            self.ints("cash_entry", &["trade_id", "amount_cents"]).iter().map(|row| (row[0], row[1])).collect();
        for trade in &trades {
            let paid = if trade[3] == 1 { Some(&settled[&trade[0]]) } else { None };
            assert_eq!(entered.get(&trade[0]), paid);
        }
        assert!(self.rows("pending_order").is_empty());
    }

    fn assert_positions(&self) {
        let mut held: HashMap<String, i64> = HashMap::new();
        for (key, lot) in self.columns("lot", &["account_id", "symbol"]).iter().zip(self.ints("lot", &["quantity"])) {
            assert!(lot[0] > 0);
            *held.entry(format!("{key:?}")).or_default() += lot[0];
        }
        let quantities = self.ints("position", &["quantity"]);
        for (key, quantity) in self.columns("position", &["account_id", "symbol"]).iter().zip(quantities) {
            assert_eq!(held.remove(&format!("{key:?}")), Some(quantity[0]), "{key:?}");
        }
        assert!(held.is_empty());
    }

    fn assert_events(&self) {
        let mut events: HashMap<i64, Vec<(i64, String)>> = HashMap::new();
        for row in self.rows("trade_event") {
            let event = (row[2].int().unwrap(), row[1].text().unwrap().to_owned());
            events.entry(row[0].int().unwrap()).or_default().push(event);
        }
        for trade in self.columns("trade", &["id", "order_type", "status", "at"]) {
            let chain = events.remove(&trade[0].int().unwrap()).unwrap();
            let states: Vec<&str> = chain.iter().map(|event| event.1.as_str()).collect();
            match codes::waits(trade[1].text().unwrap()) {
                true => assert_eq!(states, [PENDING, SUBMITTED, COMPLETED]),
                false => assert_eq!(states, [SUBMITTED, COMPLETED]),
            }
            assert!(chain.is_sorted() && chain[0].0 == trade[3].int().unwrap());
            assert_eq!(trade[2].text(), Some(COMPLETED));
        }
        assert!(events.is_empty());
    }

    fn assert_all(&self) {
        self.assert_types_and_bounds();
        self.assert_keys_and_references();
        self.assert_history();
        self.assert_positions();
        self.assert_events();
    }
}

#[test]
fn a_small_house_and_a_small_desk_hold_together() {
    Data::of(Preset::House, 120, 2, 11).assert_all();
    Data::of(Preset::Desk, 200, 3, 12).assert_all();
}

#[test]
fn parts_made_alone_and_again_are_the_whole() {
    let scale = Scale { preset: Preset::House, customers: 23, days: 2 };
    for table in tables(Preset::House) {
        let whole = part(scale, 5, table, 0, 1);
        for parts in [2, 7] {
            let joined: Rows = (0..parts).flat_map(|number| part(scale, 5, table, number, parts)).collect();
            assert_eq!(joined, whole, "{} in {parts} parts", table.name);
        }
        assert_eq!(part(scale, 5, table, 3, 7), part(scale, 5, table, 3, 7));
    }
}

#[test]
fn another_seed_is_another_history() {
    let scale = Scale { preset: Preset::Desk, customers: 20, days: 1 };
    for name in ["trade", "quote", "account", "lot"] {
        let table = table(name).unwrap();
        assert_ne!(part(scale, 1, table, 0, 1), part(scale, 2, table, 0, 1), "{name}");
    }
}

#[test]
fn a_row_written_over_a_longer_one_of_another_table_is_the_row_alone() {
    let scale = Scale { preset: Preset::House, customers: 20, days: 1 };
    let mut row = Vec::new();
    for table in ["trade", "status"] {
        source(&scale, table).part(Maker::new(scale, 1, true), (0, 1)).next(&mut row);
    }
    assert_eq!(row, [Value::from(codes::ACTIVE), Value::from("active")]);
}

#[test]
fn counts_are_exact_or_near() {
    let scale = Scale { preset: Preset::House, customers: 60, days: 20 };
    let estimated = ["access_grant", "trade_event", "cash_entry", "position", "lot", "lot_change"];
    for table in tables(Preset::House) {
        let (told, real) = (source(&scale, &table.name).rows, made(scale, table));
        match estimated.contains(&&*table.name) {
            true => assert!(told.abs_diff(real) * 4 < real, "{}: told {told}, made {real}", table.name),
            false => assert_eq!(told, real, "{}", table.name),
        }
    }
}

#[test]
fn daily_prices_quotes_and_trades_tell_one_price() {
    let scale = Scale { preset: Preset::House, customers: 20, days: 3 };
    let data = Data::of(Preset::House, 20, 3, 8);
    let mut bounds: HashMap<(String, i64), (i64, i64)> = HashMap::new();
    for row in data.rows("daily_price") {
        let (symbol, day) = (row[0].text().unwrap().to_owned(), row[1].int().unwrap());
        let (close, high, low) = (row[2].int().unwrap(), row[3].int().unwrap(), row[4].int().unwrap());
        assert!(low <= close && close <= high);
        bounds.insert((symbol, day), (low, high));
    }
    for row in data.rows("trade") {
        let (symbol, day) = (row[5].text().unwrap().to_owned(), row[1].int().unwrap().div_euclid(86_400_000_000));
        let (price, (low, high)) = (row[10].int().unwrap(), bounds[&(symbol, day)]);
        assert!(price * 100 >= low * 97 && price * 100 <= high * 103, "{price} outside {low} to {high}");
    }
    let now = crate::brokerage::scale::NOW_US;
    for (security, row) in (0..).zip(data.rows("quote")) {
        assert_eq!(row[0].text(), Some(scale.symbol(security).as_str()));
        assert_eq!(row[2].int(), Some(crate::brokerage::price_cents(8, security, now)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]

    #[test]
    fn any_small_data_set_holds_together(customers in 10u64..60, days in 1u64..=3, seed: u64) {
        Data::of(Preset::Desk, customers, days, seed).assert_all();
        Data::of(Preset::House, customers, days, seed).assert_all();
    }
}
