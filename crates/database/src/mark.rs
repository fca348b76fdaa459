//! The mark that the place of a data set carries: a small table of facts.
//!
//! The one idea: only a mark that says everything that Prony writes, and says it of a data set that Prony has, makes a place
//! ours. A table of that name with anything else in it is somebody else's.

use study::Engine;
use workload::dataset::DataSet;
use workload::transaction::Value;

/// The table of the mark.
pub(crate) const TABLE: &str = "prony_dataset";

/// Version of tables and rows. Another one is another data set, which nothing here reads.
pub(crate) const FORMAT: &str = "1";

observation::words! {
    /// How far a data set is, with the word in the mark.
    pub enum State {
        Filling = "filling" "A fill has begun and has not ended.",
        Ready = "ready" "It is as the fill left it.",
        Used = "used" "Transactions have changed it.",
        Broken = "broken" "A check behind a trial found it broken.",
    }
}

/// What a mark says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// How far it is.
    pub state: State,
    /// What it holds.
    pub dataset: DataSet,
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
    /// A fill of ours that was cut off before its mark was whole.
    CutOff,
    /// A data set of another version of Prony, with the format that its mark names.
    OtherFormat(String),
    /// Something that does carry our mark.
    Ours(Mark),
}

impl Found {
    /// What the rows of a mark's table make of its place.
    pub(crate) fn by_mark(rows: &[Vec<Value>]) -> Found {
        let fact = |name: &str| {
            let row = rows.iter().find(|row| row.first().and_then(Value::text) == Some(name))?;
            row.get(1).and_then(Value::text).map(str::to_owned)
        };
        let state = fact("state").and_then(|word| State::of_word(&word));
        match (state, fact("format"), fact("kind")) {
            (Some(state), Some(format), Some(_)) if format == FORMAT => {
                let whole = |set: &DataSet| set.facts().into_iter().all(|(name, value)| fact(name) == Some(value));
                let dataset = workload::data_set(&fact).filter(whole);
                dataset.map_or(Found::NotOurs, |dataset| Found::Ours(Mark { state, dataset }))
            }
            (Some(_), Some(format), Some(_)) if format.parse::<u32>().is_ok() => Found::OtherFormat(format),
            _ => Found::NotOurs,
        }
    }

    /// The data set that is there, once it is filled.
    pub(crate) fn filled(self) -> Option<DataSet> {
        match self {
            Found::Ours(mark) if mark.state != State::Filling => Some(mark.dataset),
            _ => None,
        }
    }
}

/// The first of these names that is neither that of the mark nor one of the data set's tables and procedures: somebody else's.
pub(crate) fn foreign(names: &[Vec<Value>], engine: Engine, dataset: &DataSet) -> Option<String> {
    let procedures = engine.language().and_then(|language| dataset.procedures(language));
    let mut ours: Vec<String> = dataset.tables().into_iter().map(|table| table.name.to_string()).collect();
    ours.extend(procedures.into_iter().flat_map(|all| all.definitions).map(|definition| definition.name));
    ours.push(TABLE.to_owned());
    let mut names = names.iter().filter_map(|row| row.first().and_then(Value::text));
    names.find(|name| !ours.iter().any(|own| own == name)).map(str::to_owned)
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
