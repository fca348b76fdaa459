//! Rows that the fill made and no transaction changes, one by one.
//!
//! The one idea: the generator makes a row again, so that it is compared whole.
//!
//! What it does not do: of a table of many pages, evenly spread ones are compared.

use crate::bank::fill::{TableRows, row_count};
use crate::bank::scale::Scale;
use crate::bank::schema::table;
use crate::dataset::Page;
use crate::transaction::Value;

/// Tables whose rows of the fill stay, but for the named columns.
const STAYING: [(&str, &[&str]); 10] = [
    ("bank", &[]),
    ("branch", &[]),
    ("product", &[]),
    ("terms", &[]),
    ("customer", &[]),
    ("account", &["balance_cents", "settled"]),
    ("payment_order", &[]),
    ("order_item", &[]),
    ("standing_order", &["due_day"]),
    ("item", &[]),
];

/// Rows of a page, about, and pages of a table that are compared.
const ROWS: u64 = 2_000;
const PAGES: u64 = 100;

/// Pages of all tables whose rows stay; of a large table, evenly spread ones.
pub(in crate::bank) fn pages(scale: Scale, seed: u64) -> impl Iterator<Item = Page> {
    STAYING.iter().flat_map(move |(name, changed)| {
        let parts = row_count(scale, seed, name).div_ceil(ROWS).max(1);
        let compared = parts.min(PAGES);
        (0..compared).filter_map(move |nth| {
            let rows = TableRows::new(scale, seed, name, (nth * parts / compared) as u32, parts as u32);
            page(name, changed, rows)
        })
    })
}

fn page(name: &'static str, changed: &[&str], mut made: TableRows) -> Option<Page> {
    let table = table(name)?;
    let places: Vec<usize> =
        (0..table.columns.len()).filter(|place| !changed.contains(&table.columns[*place].name)).collect();
    let columns: Vec<&str> = places.iter().map(|place| table.columns[*place].name).collect();
    let (mut rows, mut row) = (Vec::new(), Vec::new());
    while made.next(&mut row) {
        rows.push(places.iter().map(|place| row[*place].clone()).collect::<Vec<Value>>());
    }
    // The first column of every key is the first column of its table.
    let keys = || rows.iter().filter_map(|row| row.first()?.int());
    let (first, last) = (keys().min()?, keys().max()?);
    let sql =
        format!("SELECT {} FROM {name} WHERE {} BETWEEN {first} AND {last}", columns.join(", "), table.key.first()?);
    Some(Page { table: name, sql, columns, key: table.key, rows })
}
