//! Rows of a fill beside those that are there.
//!
//! The one idea: a row is found by its key, so that neither the order of an answer nor rows that came later matter.
//!
//! What it does not do: it asks no database.

use super::{Contents, Table};
use crate::transaction::Value;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// Rows of a page, about.
const ROWS: u64 = 2_000;

/// What of a data set stays as the fill made it.
pub(crate) struct Staying {
    /// Columns of a table that transactions change; none for a table whose rows do not stay.
    pub(crate) changed: fn(&str) -> Option<&'static [&'static str]>,
    /// What transactions put behind some texts or take away, and these texts by table and column.
    pub(crate) mark: &'static str,
    pub(crate) marked: &'static [(&'static str, &'static str)],
    /// Pages of a table that are compared at most.
    pub(crate) pages: u64,
}

impl Staying {
    /// All but these columns.
    pub(crate) const fn but(changed: fn(&str) -> Option<&'static [&'static str]>) -> Staying {
        Staying { changed, mark: "", marked: &[], pages: 100 }
    }

    /// The column, without a mark that a transaction may have put behind it.
    fn term(&self, table: &str, column: &'static str) -> Cow<'static, str> {
        if !self.marked.contains(&(table, column)) {
            return column.into();
        }
        let (mark, length) = (self.mark, self.mark.len());
        format!(
            "CASE WHEN {column} LIKE '%{mark}' THEN SUBSTR({column}, 1, LENGTH({column}) - {length}) ELSE {column} END"
        )
        .into()
    }
}

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
    /// Pages of all tables that stay, without the columns that transactions change; of a large table, evenly spread ones.
    pub(crate) fn staying<C: Contents + Copy + 'static>(
        of: C,
        stays: &'static Staying,
    ) -> Box<dyn Iterator<Item = Page>> {
        let tables = of.tables().into_iter().filter_map(|table| Some(((stays.changed)(&table.name)?, table)));
        Box::new(tables.flat_map(move |(changed, table)| {
            let parts = of.row_count(&table.name).div_ceil(ROWS).max(1);
            let compared = parts.min(stays.pages);
            let numbers = (0..compared).map(move |nth| (nth * parts / compared) as u32);
            numbers.filter_map(move |number| Page::made(&of, &table, stays, changed, (number, parts as u32)))
        }))
    }

    fn made(
        of: &impl Contents,
        table: &Table,
        stays: &Staying,
        changed: &[&str],
        (part, parts): (u32, u32),
    ) -> Option<Page> {
        let places: Vec<usize> =
            (0..table.columns.len()).filter(|place| !changed.contains(&table.columns[*place].name)).collect();
        let columns: Vec<&'static str> = places.iter().map(|place| table.columns[*place].name).collect();
        let (mut made, mut rows, mut row) = (of.part(&table.name, part, parts), Vec::new(), Vec::new());
        while made.next(&mut row) {
            rows.push(places.iter().map(|place| row[*place].clone()).collect::<Vec<Value>>());
        }
        let terms: Vec<_> = columns.iter().map(|column| stays.term(&table.name, column)).collect();
        let sql = format!("SELECT {} FROM {} WHERE {}", terms.join(", "), table.name, within(table, &columns, &rows)?);
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

/// The rows of a page by their key, and others: by all of its numbers, and by texts where it begins with them. None where there are no rows.
fn within(table: &Table, columns: &[&str], rows: &[Vec<Value>]) -> Option<String> {
    let mut bounds = Vec::new();
    for (nth, key) in table.key.iter().enumerate() {
        let place = columns.iter().position(|column| column == key)?;
        let numbers = || rows.iter().filter_map(|row| row[place].int());
        if let (Some(first), Some(last)) = (numbers().min(), numbers().max()) {
            bounds.push(format!("{key} BETWEEN {first} AND {last}"));
        } else if nth == 0 {
            let texts: BTreeSet<&str> = rows.iter().filter_map(|row| row[place].text()).collect();
            let texts: Vec<String> = texts.into_iter().map(|text| format!("'{text}'")).collect();
            bounds.push(format!("{key} IN ({})", texts.join(", ")));
        }
    }
    (!rows.is_empty()).then(|| bounds.join(" AND "))
}
