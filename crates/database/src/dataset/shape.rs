//! The shape of a data set in a database: its columns, keys, indexes and references, as the catalog of each engine tells them.
//!
//! The one idea: both what must be there and what is there are sets of the same words, so that a missing index is the
//! difference of two sets. What somebody added is left alone.

use std::collections::BTreeSet;
use study::Engine;
use workload::dataset::Table;

/// What must be there: `column trade.id`, `index trade(account_id,at)`, `reference trade to account`.
pub(super) fn expected(tables: &[Table]) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for table in tables {
        let name = &table.name;
        all.extend(table.columns.iter().map(|column| format!("column {name}.{}", column.name)));
        let keys = [table.key].into_iter().filter(|key| !key.is_empty()).chain(table.indexes.iter().copied());
        all.extend(keys.map(|columns| format!("index {name}({})", columns.join(","))));
        let present = table.references.iter().filter(|to| tables.iter().any(|other| other.name == to.table));
        all.extend(present.map(|to| format!("reference {name} to {}", to.table)));
    }
    all
}

/// The queries that tell what is there, in a session that is in the data set.
pub(super) fn queries(engine: Engine) -> [&'static str; 3] {
    match engine {
        Engine::Mariadb => [
            "SELECT CONCAT('column ', table_name, '.', column_name) FROM information_schema.columns \
             WHERE table_schema = DATABASE()",
            "SELECT CONCAT('index ', table_name, '(', GROUP_CONCAT(column_name ORDER BY seq_in_index), ')') \
             FROM information_schema.statistics WHERE table_schema = DATABASE() GROUP BY table_name, index_name",
            "SELECT CONCAT('reference ', table_name, ' to ', referenced_table_name) \
             FROM information_schema.referential_constraints WHERE constraint_schema = DATABASE()",
        ],
        Engine::Postgres => [
            "SELECT 'column ' || table_name || '.' || column_name FROM information_schema.columns \
             WHERE table_schema = current_schema()",
            "SELECT 'index ' || t.relname || '(' || string_agg(a.attname, ',' ORDER BY k.n) || ')' FROM pg_index i \
             JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace s ON s.oid = t.relnamespace \
             CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(number, n) \
             JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number \
             WHERE s.nspname = current_schema() AND i.indisvalid GROUP BY i.indexrelid, t.relname",
            "SELECT 'reference ' || t.relname || ' to ' || r.relname FROM pg_constraint c \
             JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class r ON r.oid = c.confrelid \
             JOIN pg_namespace s ON s.oid = t.relnamespace \
             WHERE c.contype = 'f' AND c.convalidated AND s.nspname = current_schema()",
        ],
        Engine::Sqlite | Engine::Null => [
            "SELECT 'column ' || m.name || '.' || p.name FROM sqlite_schema m JOIN pragma_table_info(m.name) p \
             WHERE m.type = 'table'",
            // The key of a table of whole numbers is the table itself, and no index.
            "SELECT 'index ' || m.name || '(' || (SELECT group_concat(name) FROM (SELECT name FROM \
             pragma_index_info(l.name) ORDER BY seqno)) || ')' FROM sqlite_schema m \
             JOIN pragma_index_list(m.name) l WHERE m.type = 'table' UNION SELECT 'index ' || m.name || '(' || \
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
