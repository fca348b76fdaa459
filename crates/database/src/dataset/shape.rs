//! The shape of a data set in a database: its tables, columns, keys, indexes and references, as the catalog of each engine tells them.
//!
//! The one idea: both what must be there and what is there are sets of the same words, so that a missing index is the
//! difference of two sets, and so is an added one. What does other work (an index of some rows only or in another order of texts, a
//! reference that is switched off or takes rows with it) has other words.

use std::collections::BTreeSet;
use study::Engine;
use workload::dataset::{Column, Table, Type};

/// What must be there: `column trade.id (int not null)`, `index trade(account_id,at)`, `reference trade(account_id) to account`.
pub(super) fn expected(engine: Engine, tables: &[Table]) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for table in tables {
        let name = &table.name;
        all.insert(format!("{} {name}", table_word(engine)));
        all.extend(table.columns.iter().map(|column| format!("column {name}.{}", column_words(column))));
        all.extend((!table.key.is_empty()).then(|| format!("key {name}({})", table.key.join(","))));
        all.extend(table.indexes.iter().map(|columns| format!("index {name}({})", columns.join(","))));
        let present = table.references.iter().filter(|to| tables.iter().any(|other| other.name == to.table));
        all.extend(present.map(|to| format!("reference {name}({}) to {}", to.columns.join(","), to.table)));
    }
    all
}

/// What is there beyond what must be, of tables that must be there.
pub(super) fn added(found: BTreeSet<String>, engine: Engine, tables: &[Table]) -> impl Iterator<Item = String> {
    let mut expected = expected(engine, tables);
    if engine == Engine::Mariadb {
        // It makes an index for each reference that has none.
        let own = |table: &Table| {
            let name = table.name.to_string();
            table.references.iter().map(move |to| format!("index {name}({})", to.columns.join(",")))
        };
        expected.extend(tables.iter().flat_map(own));
    }
    let begins = |name: String| {
        ["column {}.", "key {}(", "index {}(", "unique index {}(", "reference {}(", "check {} "]
            .map(|begin| begin.replace("{}", &name))
    };
    let begins: Vec<String> = tables.iter().flat_map(|table| begins(table.name.to_string())).collect();
    let ours = move |what: &String| begins.iter().any(|begin| what.starts_with(begin));
    found.into_iter().filter(move |what| !expected.contains(what) && ours(what))
}

/// A table that outlasts a crash, where the engine has others, too.
fn table_word(engine: Engine) -> &'static str {
    match engine {
        Engine::Postgres => "logged table",
        Engine::Mariadb => "InnoDB table",
        Engine::Sqlite | Engine::Null => "table",
    }
}

fn column_words(column: &Column) -> String {
    let kind = if column.kind == Type::Int { "int" } else { "text" };
    format!("{} ({kind}{})", column.name, if column.null { "" } else { " not null" })
}

/// The queries that tell what is there, in a session that is in the data set. What an index or a reference does beside what ours do
/// (another order of texts, rows that go with others) is part of its words.
pub(super) fn queries(engine: Engine) -> impl Iterator<Item = &'static str> {
    let file = match engine {
        Engine::Mariadb => include_str!("shape_mariadb.sql"),
        Engine::Postgres => include_str!("shape_postgres.sql"),
        Engine::Sqlite | Engine::Null => include_str!("shape_sqlite.sql"),
    };
    file.split_terminator(";\n")
}

/// For each reference its words and the query for rows that lead nowhere.
pub(super) fn orphans(tables: &[Table]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for table in tables {
        for to in table.references {
            let Some(other) = tables.iter().find(|other| other.name == to.table) else { continue };
            let pairs = || to.columns.iter().zip(other.key);
            let on: Vec<String> = pairs().map(|(from, key)| format!("r.{key} = t.{from}")).collect();
            let (own, first) = (to.columns.iter().map(|from| format!("t.{from}")).collect::<Vec<_>>(), other.key[0]);
            let sql = format!(
                "SELECT {} FROM {} t LEFT JOIN {} r ON {} WHERE r.{first} IS NULL LIMIT 3",
                own.join(", "),
                table.name,
                other.name,
                on.join(" AND ")
            );
            all.push((format!("{}.{} leads to no {}", table.name, to.columns.join(","), other.name), sql));
        }
    }
    all
}
