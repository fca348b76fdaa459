//! The shape of a data set in a database: its tables, columns, keys, indexes and references, as the catalog of each engine tells them.
//!
//! The one idea: both what must be there and what is there are sets of the same words, so that a missing index is the
//! difference of two sets. What somebody added is left alone. What cannot do the work (an index of some rows only, a reference that
//! is switched off) has other words, or none.

use std::collections::BTreeSet;
use study::Engine;
use workload::dataset::{Column, Table, Type};

/// What must be there: `column trade.id (int not null)`, `index trade(account_id,at)`, `reference trade to account`.
pub(super) fn expected(engine: Engine, tables: &[Table]) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for table in tables {
        let name = &table.name;
        all.insert(format!("{} {name}", table_word(engine)));
        all.extend(table.columns.iter().map(|column| format!("column {name}.{}", column_words(column))));
        all.extend((!table.key.is_empty()).then(|| format!("key {name}({})", table.key.join(","))));
        all.extend(table.indexes.iter().map(|columns| format!("index {name}({})", columns.join(","))));
        let present = table.references.iter().filter(|to| tables.iter().any(|other| other.name == to.table));
        all.extend(present.map(|to| format!("reference {name} to {}", to.table)));
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
        [format!("column {name}."), format!("key {name}("), format!("index {name}("), format!("reference {name} to ")]
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

/// The queries that tell what is there, in a session that is in the data set.
pub(super) fn queries(engine: Engine) -> [&'static str; 4] {
    match engine {
        Engine::Mariadb => [
            "SELECT CONCAT(engine, ' table ', table_name) FROM information_schema.tables WHERE table_schema = DATABASE()",
            "SELECT CONCAT('column ', table_name, '.', column_name, ' (', CASE WHEN data_type = 'bigint' THEN 'int' \
             WHEN data_type IN ('varchar', 'text', 'mediumtext', 'longtext') THEN 'text' ELSE data_type END, \
             CASE is_nullable WHEN 'NO' THEN ' not null)' ELSE ')' END) \
             FROM information_schema.columns WHERE table_schema = DATABASE()",
            "SELECT CONCAT(CASE index_name WHEN 'PRIMARY' THEN 'key ' ELSE 'index ' END, table_name, '(', \
             GROUP_CONCAT(column_name ORDER BY seq_in_index), ')') \
             FROM information_schema.statistics WHERE table_schema = DATABASE() GROUP BY table_name, index_name \
             HAVING SUM(sub_part IS NOT NULL) = 0 AND MIN(index_type) = 'BTREE'",
            "SELECT CONCAT('reference ', table_name, ' to ', referenced_table_name) \
             FROM information_schema.referential_constraints WHERE constraint_schema = DATABASE()",
        ],
        Engine::Postgres => [
            "SELECT 'logged table ' || t.relname FROM pg_class t JOIN pg_namespace s ON s.oid = t.relnamespace \
             WHERE t.relkind IN ('r', 'p') AND t.relpersistence = 'p' AND s.nspname = current_schema()",
            "SELECT 'column ' || table_name || '.' || column_name || ' (' || CASE WHEN data_type = 'bigint' THEN 'int' \
             WHEN data_type IN ('character varying', 'text') THEN 'text' ELSE data_type END || \
             CASE is_nullable WHEN 'NO' THEN ' not null)' ELSE ')' END \
             FROM information_schema.columns WHERE table_schema = current_schema()",
            "SELECT CASE WHEN i.indisprimary THEN 'key ' ELSE 'index ' END || t.relname || '(' || \
             string_agg(a.attname, ',' ORDER BY k.n) || ')' FROM pg_index i \
             JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace s ON s.oid = t.relnamespace \
             JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam AND m.amname = 'btree' \
             CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(number, n) \
             JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number \
             WHERE s.nspname = current_schema() AND i.indisvalid AND i.indisready AND i.indpred IS NULL \
             AND i.indexprs IS NULL AND k.n <= i.indnkeyatts GROUP BY i.indexrelid, i.indisprimary, t.relname",
            "SELECT 'reference ' || t.relname || ' to ' || r.relname FROM pg_constraint c \
             JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class r ON r.oid = c.confrelid \
             JOIN pg_namespace s ON s.oid = t.relnamespace \
             WHERE c.contype = 'f' AND c.convalidated AND s.nspname = current_schema() \
             AND NOT EXISTS (SELECT 1 FROM pg_trigger g WHERE g.tgconstraint = c.oid AND g.tgenabled IN ('D', 'R'))",
        ],
        Engine::Sqlite | Engine::Null => [
            "SELECT 'table ' || name FROM sqlite_schema WHERE type = 'table'",
            "SELECT 'column ' || m.name || '.' || p.name || ' (' || \
             CASE p.type WHEN 'INTEGER' THEN 'int' WHEN 'TEXT' THEN 'text' ELSE p.type END || \
             CASE p.\"notnull\" WHEN 1 THEN ' not null)' ELSE ')' END FROM sqlite_schema m JOIN pragma_table_info(m.name) p \
             WHERE m.type = 'table'",
            // The key of a table of whole numbers is the table itself, and no index. An expression has no name.
            "SELECT 'index ' || m.name || '(' || (SELECT group_concat(coalesce(name, '?')) FROM (SELECT name FROM \
             pragma_index_info(l.name) ORDER BY seqno)) || ')' FROM sqlite_schema m \
             JOIN pragma_index_list(m.name) l WHERE m.type = 'table' AND l.origin <> 'pk' AND l.partial = 0 \
             UNION SELECT 'key ' || m.name || '(' || \
             (SELECT group_concat(name) FROM (SELECT name FROM pragma_table_info(m.name) WHERE pk > 0 ORDER BY pk)) \
             || ')' FROM sqlite_schema m WHERE m.type = 'table'",
            "SELECT 'reference ' || m.name || ' to ' || f.\"table\" FROM sqlite_schema m \
             JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'",
        ],
    }
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
