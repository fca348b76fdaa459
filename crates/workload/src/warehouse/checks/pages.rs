//! Rows that the fill made and no load changes, one by one.
//!
//! The one idea: the generator makes a row again, so that it is compared whole.
//!
//! What it does not do: aggregates change with every load and are left out. Of a table of many pages, evenly spread ones are
//! compared.

use crate::dataset::{Page, Table};
use crate::transaction::Value;
use crate::warehouse::fill::{part, row_count};
use crate::warehouse::scale::Scale;
use crate::warehouse::schema::{Holds, holds, tables};

/// Tables whose rows do not stay.
const LEFT_OUT: [&str; 3] = ["active_order", "delta", "change_log"];

/// Columns that changes and loads move.
fn changed(table: &str) -> &'static [&'static str] {
    match table {
        "source_order" => &["quantity", "changed"],
        "marker" => &["deltas", "facts", "delta_id", "moment"],
        _ => &[],
    }
}

/// Rows of a page, about.
const ROWS: u64 = 2_000;

/// Pages of a table that are compared.
const PAGES: u64 = 100;

/// Pages of all tables.
pub(in crate::warehouse) fn pages(scale: Scale, seed: u64) -> impl Iterator<Item = Page> {
    let stays = |table: &Table| match holds(&table.name) {
        Some(Holds::Plain(name)) => !LEFT_OUT.contains(&name),
        Some(Holds::Facts(_)) => true,
        Some(Holds::Aggregate(..)) | None => false,
    };
    tables(&scale).into_iter().filter(stays).flat_map(move |table| {
        let parts = row_count(&scale, &table.name).div_ceil(ROWS).max(1);
        let compared = parts.min(PAGES);
        let numbers = (0..compared).map(move |nth| (nth * parts / compared) as u32);
        numbers.filter_map(move |number| page(scale, seed, &table, number, parts as u32))
    })
}

fn page(scale: Scale, seed: u64, table: &Table, number: u32, parts: u32) -> Option<Page> {
    let kept = |name: &str| !changed(&table.name).contains(&name);
    let places: Vec<usize> = (0..table.columns.len()).filter(|place| kept(table.columns[*place].name)).collect();
    let columns: Vec<&'static str> = places.iter().map(|place| table.columns[*place].name).collect();
    let (mut made, mut rows, mut row) = (part(scale, seed, &table.name, number, parts), Vec::new(), Vec::new());
    while made.next(&mut row) {
        rows.push(places.iter().map(|place| row[*place].clone()).collect::<Vec<Value>>());
    }
    let within = table.key.iter().map(|key| {
        let place = columns.iter().position(|column| column == key)?;
        let values = || rows.iter().filter_map(|row| row[place].int());
        Some(format!("{key} BETWEEN {} AND {}", values().min()?, values().max()?))
    });
    let within = within.collect::<Option<Vec<String>>>()?.join(" AND ");
    let sql = format!("SELECT {} FROM {} WHERE {within}", columns.join(", "), table.name);
    Some(Page { table: named(&table.name)?, sql, columns, key: table.key, rows })
}

/// The name of a table that stays, as it stands in the program.
fn named(table: &str) -> Option<&'static str> {
    match holds(table)? {
        Holds::Plain(name) => Some(name),
        Holds::Facts(cube) => crate::warehouse::scale::CUBES.get(cube as usize).copied(),
        Holds::Aggregate(..) => None,
    }
}
