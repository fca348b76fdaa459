//! The mark that the place of a data set carries: a small table of facts.

use study::Engine;
use workload::dataset::DataSet;
use workload::transaction::Value;

/// The table of the mark.
pub(crate) const TABLE: &str = "prony_dataset";

/// Version of tables and rows. Another one is another data set: it is filled anew.
pub(crate) const FORMAT: &str = "1";

observation::words! {
    /// How far a data set is, with the word in the mark.
    pub enum State {
        Filling = "filling" "A fill has begun and has not ended.",
        Ready = "ready" "It is as the fill left it.",
        Used = "used" "Transactions have changed it.",
    }
}

/// What a mark says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// How far it is.
    pub state: State,
    /// What it holds; none when another version of Prony made it, or when the mark was cut off.
    pub dataset: Option<DataSet>,
}

/// What is in the place of a data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing at all.
    Nothing,
    /// A schema, database or file with nothing in it.
    Empty,
    /// Something that does not carry our mark.
    NotOurs,
    /// Something that does.
    Ours(Mark),
}

impl Mark {
    /// The mark of a fill that was cut off before it could write one.
    pub fn cut_off() -> Mark {
        Mark { state: State::Filling, dataset: None }
    }

    /// The mark in the rows of its table.
    pub(crate) fn read(rows: &[Vec<Value>]) -> Mark {
        let fact = |name: &str| {
            let row = rows.iter().find(|row| row.first().and_then(Value::text) == Some(name))?;
            row.get(1).and_then(Value::text).map(str::to_owned)
        };
        let state = State::of_word(&fact("state").unwrap_or_default()).unwrap_or(State::Filling);
        let known = fact("format").as_deref() == Some(FORMAT);
        Mark { state, dataset: if known { workload::data_set(&fact) } else { None } }
    }
}

/// The script that makes the mark of a fill that has begun. `table` is the table's name with its schema.
pub(crate) fn script(engine: Engine, table: &str, dataset: &DataSet) -> String {
    let mut facts = vec![("format", FORMAT.to_owned()), ("state", State::Filling.word().to_owned())];
    facts.extend(dataset.facts());
    // Words and digits only: nothing to quote.
    let rows: Vec<String> = facts.iter().map(|(fact, value)| format!("('{fact}', '{value}')")).collect();
    let options = if engine == Engine::Mariadb { " ENGINE=InnoDB CHARACTER SET utf8mb4" } else { "" };
    format!(
        "CREATE TABLE {table} (fact VARCHAR(40) PRIMARY KEY, value VARCHAR(200) NOT NULL){options}; \
         INSERT INTO {table} (fact, value) VALUES {}",
        rows.join(", ")
    )
}

/// The statement that tells how far a data set is, in a session that is in it.
pub(crate) fn now(state: State) -> String {
    format!("UPDATE {TABLE} SET value = '{}' WHERE fact = 'state'", state.word())
}

/// The query that reads the mark. `table` is the table's name with its schema.
pub(crate) fn query(table: &str) -> String {
    format!("SELECT fact, value FROM {table}")
}
