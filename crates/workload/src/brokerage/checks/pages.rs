//! Rows that the fill made and no transaction changes, one by one.
//!
//! The one idea: the generator makes a row again, so that it is compared whole: texts, dates and references too.
//!
//! What it does not do: columns that transactions change are left out, and so are tables of what is held, waits or is watched. Of a
//! table of more than a million rows, evenly spread pages are compared.

use crate::brokerage::Scale;
use crate::brokerage::codes::MARK;
use crate::brokerage::fill::{TableRows, row_count};
use crate::brokerage::schema::tables;
use crate::dataset::{Page, Table};
use crate::transaction::Value;

/// Tables whose rows of the fill do not stay.
const LEFT_OUT: [&str; 5] = ["quote", "watch_entry", "pending_order", "position", "lot"];

/// Columns that transactions change, by table.
const CHANGED: [(&str, &str); 14] = [
    ("access_grant", "last_name"),
    ("account", "balance_cents"),
    ("address", "line2"),
    ("article", "source"),
    ("broker", "commission_cents"),
    ("broker", "trades"),
    ("company", "chief"),
    ("customer", "email"),
    ("daily_price", "volume"),
    ("exchange", "description"),
    ("financial", "inventory_cents"),
    ("levy", "name"),
    ("postal_area", "town"),
    ("security", "dividend_cents"),
];

/// Texts that transactions only put a mark behind, or take it away.
const MARKED: [(&str, &str); 3] = [("cash_entry", "description"), ("settlement", "kind"), ("trade", "placed_by")];

/// Rows of a page, about.
const ROWS: u64 = 2_000;

/// Pages of a table that are compared.
const PAGES: u64 = 500;

/// Pages of all tables.
pub fn pages(scale: Scale, seed: u64) -> impl Iterator<Item = Page> {
    let all = tables(scale.preset).filter(|table| !LEFT_OUT.contains(&&*table.name));
    all.flat_map(move |table| {
        let parts = row_count(scale, table).div_ceil(ROWS).max(1);
        let compared = parts.min(PAGES);
        (0..compared).filter_map(move |nth| page(scale, seed, table, (nth * parts / compared) as u32, parts as u32))
    })
}

fn page(scale: Scale, seed: u64, table: &'static Table, part: u32, parts: u32) -> Option<Page> {
    let kept = |name: &str| !CHANGED.contains(&(&table.name, name));
    let places: Vec<usize> = (0..table.columns.len()).filter(|place| kept(table.columns[*place].name)).collect();
    let columns: Vec<&str> = places.iter().map(|place| table.columns[*place].name).collect();
    let mut made = TableRows::new(scale, seed, table, part, parts).without_sums();
    let (mut rows, mut row) = (Vec::new(), Vec::new());
    while made.next(&mut row) {
        rows.push(places.iter().map(|place| row[*place].clone()).collect::<Vec<Value>>());
    }
    let sql = format!(
        "SELECT {} FROM {} WHERE {}",
        columns.iter().map(|column| term(&table.name, column)).collect::<Vec<_>>().join(", "),
        table.name,
        within(table, &columns, &rows)?
    );
    Some(Page { table: table.name.clone(), sql, columns, key: table.key, rows })
}

/// The column, without a mark that a transaction may have put behind it.
fn term(table: &str, column: &str) -> String {
    if !MARKED.contains(&(table, column)) {
        return column.to_owned();
    }
    let (behind, length) = (MARK, MARK.len());
    format!(
        "CASE WHEN {column} LIKE '%{behind}' THEN SUBSTR({column}, 1, LENGTH({column}) - {length}) ELSE {column} END"
    )
}

/// The rows of the page by the first column of the key; changes of lots by their trade, because later trades change old lots.
fn within(table: &Table, columns: &[&str], rows: &[Vec<Value>]) -> Option<String> {
    let by = if table.name == "lot_change" { "trade_id" } else { table.key[0] };
    let place = columns.iter().position(|column| *column == by)?;
    let values = || rows.iter().map(|row| &row[place]);
    if let Some(first) = values().filter_map(Value::int).min() {
        return Some(format!("{by} BETWEEN {first} AND {}", values().filter_map(Value::int).max()?));
    }
    let mut texts: Vec<String> = values().filter_map(Value::text).map(|text| format!("'{text}'")).collect();
    texts.dedup();
    (!texts.is_empty()).then(|| format!("{by} IN ({})", texts.join(", ")))
}
