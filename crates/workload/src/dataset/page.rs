//! Rows of a fill beside those that are there.
//!
//! The one idea: a row is found by its key, so that neither the order of an answer nor rows that came later matter.
//!
//! What it does not do: it asks no database.

use crate::transaction::Value;
use std::collections::HashMap;

/// Rows of one table as the fill made them, and the query for those that are there.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The table.
    pub table: &'static str,
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
        let (table, key) = (self.table, self.key_of(made));
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
