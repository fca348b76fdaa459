//! Rows of a fill beside those that are there.
//!
//! The one idea: a row is found by its key, so that neither the order of an answer nor rows that came later matter.
//!
//! What it does not do: it asks no database.

use super::{Contents, Table};
use crate::transaction::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// Rows of a page, about, and pages of a table that are compared.
const ROWS: u64 = 2_000;
const PAGES: u64 = 100;

/// Rows of one table as the fill made them, and the query for those that are there.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The table.
    pub table: Cow<'static, str>,
    /// The query for rows with these columns; it may find others, too.
    pub sql: String,
    /// Columns of the rows and of the query.
    pub columns: Vec<&'static str>,
    /// Columns of the key.
    pub key: &'static [&'static str],
    /// The rows that the fill made.
    pub rows: Vec<Vec<Value>>,
}

impl Page {
    /// Pages of all tables for which `changed` names the columns that transactions change, without these columns; of a large table,
    /// evenly spread ones. Keys are whole numbers.
    pub(crate) fn staying<C: Contents + Copy + 'static>(
        of: C,
        changed: fn(&str) -> Option<&'static [&'static str]>,
    ) -> Box<dyn Iterator<Item = Page>> {
        let tables = of.tables().into_iter().filter_map(move |table| Some((changed(&table.name)?, table)));
        Box::new(tables.flat_map(move |(changed, table)| {
            let parts = of.row_count(&table.name).div_ceil(ROWS).max(1);
            let compared = parts.min(PAGES);
            let numbers = (0..compared).map(move |nth| (nth * parts / compared) as u32);
            numbers.filter_map(move |number| Page::made(&of, &table, changed, (number, parts as u32)))
        }))
    }

    fn made(of: &impl Contents, table: &Table, changed: &[&str], (part, parts): (u32, u32)) -> Option<Page> {
        let places: Vec<usize> =
            (0..table.columns.len()).filter(|place| !changed.contains(&table.columns[*place].name)).collect();
        let columns: Vec<&'static str> = places.iter().map(|place| table.columns[*place].name).collect();
        let (mut made, mut rows, mut row) = (of.part(&table.name, part, parts), Vec::new(), Vec::new());
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
        Some(Page { table: table.name.clone(), sql, columns, key: table.key, rows })
    }

    /// In words, each row of the fill that is not there as it was made, given what the query found.
    pub fn differences(&self, found: &[Vec<Value>]) -> Vec<String> {
        // Mostly nothing was changed, and engines answer in the order of the key.
        if found == self.rows {
            return Vec::new();
        }
        let found: HashMap<String, &Vec<Value>> = found.iter().map(|row| (self.key_of(row), row)).collect();
        self.rows.iter().filter_map(|made| self.difference(made, &found)).collect()
    }

    fn difference(&self, made: &[Value], found: &HashMap<String, &Vec<Value>>) -> Option<String> {
        let (table, key) = (&self.table, self.key_of(made));
        let Some(row) = found.get(&key) else { return Some(format!("{table} {key} is not there")) };
        let place = (0..made.len()).find(|place| row.get(*place) != made.get(*place))?;
        let (column, is, made) = (self.columns[place], row.get(place).unwrap_or(&Value::Null), &made[place]);
        Some(format!("{table} {key}: {column} is {is}, the fill made {made}"))
    }

    fn key_of(&self, row: &[Value]) -> String {
        let value =
            |name: &&str| self.columns.iter().position(|column| column == name).and_then(|place| row.get(place));
        self.key.iter().filter_map(value).map(Value::to_string).collect::<Vec<_>>().join(",")
    }
}
