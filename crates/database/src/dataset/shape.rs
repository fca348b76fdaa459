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
pub(super) fn queries(engine: Engine) -> [&'static str; 5] {
    match engine {
        // What stands in `/*M! */` is for MariaDB alone: MySQL calls it otherwise.
        Engine::Mariadb => [
            "SELECT CONCAT(engine, ' table ', table_name) FROM information_schema.tables WHERE table_schema = DATABASE()",
            "SELECT CONCAT('column ', table_name, '.', column_name, ' (', CASE WHEN data_type = 'bigint' THEN 'int' \
             WHEN data_type IN ('varchar', 'text', 'mediumtext', 'longtext') THEN 'text' ELSE data_type END, \
             CASE WHEN coalesce(collation_name, 'utf8mb4_bin') = 'utf8mb4_bin' THEN '' ELSE CONCAT(' collate ', collation_name) END, \
             CASE is_nullable WHEN 'NO' THEN ' not null)' ELSE ')' END) \
             FROM information_schema.columns WHERE table_schema = DATABASE()",
            "SELECT CONCAT(CASE WHEN index_name = 'PRIMARY' THEN 'key ' WHEN MIN(non_unique) = 0 THEN 'unique index ' ELSE 'index ' END, \
             table_name, '(', GROUP_CONCAT(CONCAT(column_name, CASE WHEN sub_part IS NULL THEN '' ELSE CONCAT('(', sub_part, ')') END, \
             CASE collation WHEN 'D' THEN ' desc' ELSE '' END) ORDER BY seq_in_index), ')', \
             CASE MIN(index_type) WHEN 'BTREE' THEN '' ELSE CONCAT(' using ', LOWER(MIN(index_type))) END\
             /*M! , CASE MAX(ignored) WHEN 'YES' THEN ' ignored' ELSE '' END */) \
             FROM information_schema.statistics WHERE table_schema = DATABASE() GROUP BY table_name, index_name",
            "SELECT CONCAT('reference ', r.table_name, '(', GROUP_CONCAT(k.column_name ORDER BY k.ordinal_position), ') to ', \
             r.referenced_table_name, CASE WHEN r.delete_rule IN ('RESTRICT', 'NO ACTION') THEN '' \
             ELSE CONCAT(' on delete ', LOWER(r.delete_rule)) END, CASE WHEN r.update_rule IN ('RESTRICT', 'NO ACTION') THEN '' \
             ELSE CONCAT(' on update ', LOWER(r.update_rule)) END) FROM information_schema.referential_constraints r \
             JOIN information_schema.key_column_usage k ON k.constraint_schema = r.constraint_schema \
             AND k.table_name = r.table_name AND k.constraint_name = r.constraint_name \
             WHERE r.constraint_schema = DATABASE() \
             GROUP BY r.table_name, r.constraint_name, r.referenced_table_name, r.delete_rule, r.update_rule",
            "SELECT CONCAT('check ', coalesce(/*M! c.table_name, */ t.table_name), ' (', c.check_clause, ')') \
             FROM information_schema.check_constraints c LEFT JOIN information_schema.table_constraints t \
             ON t.constraint_schema = c.constraint_schema AND t.constraint_name = c.constraint_name \
             AND t.constraint_type = 'CHECK' WHERE c.constraint_schema = DATABASE()",
        ],
        Engine::Postgres => [
            "SELECT 'logged table ' || t.relname FROM pg_class t JOIN pg_namespace s ON s.oid = t.relnamespace \
             WHERE t.relkind IN ('r', 'p') AND t.relpersistence = 'p' AND s.nspname = current_schema()",
            "SELECT 'column ' || table_name || '.' || column_name || ' (' || CASE WHEN data_type = 'bigint' THEN 'int' \
             WHEN data_type NOT IN ('character varying', 'text') THEN data_type WHEN collation_name = 'C' THEN 'text' \
             ELSE 'text collate ' || coalesce(collation_name, 'default') END || \
             CASE is_nullable WHEN 'NO' THEN ' not null)' ELSE ')' END \
             FROM information_schema.columns WHERE table_schema = current_schema()",
            "SELECT CASE WHEN i.indisprimary THEN 'key ' WHEN i.indisunique THEN 'unique index ' ELSE 'index ' END \
             || t.relname || '(' || (SELECT string_agg(coalesce(a.attname, pg_get_indexdef(x.oid, k.n::int, true)) \
             || CASE WHEN i.indcollation[(k.n - 1)::int] NOT IN (0, a.attcollation) \
             THEN ' collate ' || (SELECT c.collname FROM pg_collation c WHERE c.oid = i.indcollation[(k.n - 1)::int]) ELSE '' END \
             || CASE WHEN o.opcdefault THEN '' ELSE ' ' || o.opcname END \
             || CASE i.indoption[(k.n - 1)::int] WHEN 0 THEN '' ELSE ' in another order' END, ',' ORDER BY k.n) \
             FROM unnest(i.indkey) WITH ORDINALITY AS k(number, n) \
             JOIN pg_opclass o ON o.oid = i.indclass[(k.n - 1)::int] \
             LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number WHERE k.n <= i.indnkeyatts) || ')' \
             || CASE m.amname WHEN 'btree' THEN '' ELSE ' using ' || m.amname END \
             || CASE WHEN i.indpred IS NULL THEN '' ELSE ' where ' || pg_get_expr(i.indpred, t.oid) END \
             || CASE WHEN i.indisvalid AND i.indisready THEN '' ELSE ' not valid' END \
             FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace s ON s.oid = t.relnamespace \
             JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam WHERE s.nspname = current_schema()",
            "SELECT 'reference ' || t.relname || '(' || (SELECT string_agg(a.attname, ',' ORDER BY k.n) \
             FROM unnest(c.conkey) WITH ORDINALITY AS k(number, n) \
             JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number) || ') to ' || r.relname \
             || CASE c.confdeltype WHEN 'a' THEN '' WHEN 'c' THEN ' on delete cascade' WHEN 'n' THEN ' on delete set null' \
             WHEN 'd' THEN ' on delete set default' ELSE ' on delete restrict' END \
             || CASE c.confupdtype WHEN 'a' THEN '' ELSE ' with an action on update' END \
             || CASE WHEN c.condeferrable THEN ' deferrable' ELSE '' END \
             || CASE WHEN c.convalidated THEN '' ELSE ' not valid' END \
             || CASE WHEN EXISTS (SELECT 1 FROM pg_trigger g WHERE g.tgconstraint = c.oid AND g.tgenabled IN ('D', 'R')) \
             THEN ' switched off' ELSE '' END FROM pg_constraint c \
             JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class r ON r.oid = c.confrelid \
             JOIN pg_namespace s ON s.oid = t.relnamespace WHERE c.contype = 'f' AND s.nspname = current_schema()",
            "SELECT 'check ' || t.relname || ' ' || substr(pg_get_constraintdef(c.oid), 7) FROM pg_constraint c \
             JOIN pg_class t ON t.oid = c.conrelid JOIN pg_namespace s ON s.oid = t.relnamespace \
             WHERE c.contype = 'c' AND s.nspname = current_schema()",
        ],
        Engine::Sqlite | Engine::Null => [
            "SELECT 'table ' || name FROM sqlite_schema WHERE type = 'table'",
            "SELECT 'column ' || m.name || '.' || p.name || ' (' || \
             CASE p.type WHEN 'INTEGER' THEN 'int' WHEN 'TEXT' THEN 'text' ELSE p.type END || \
             CASE p.\"notnull\" WHEN 1 THEN ' not null)' ELSE ')' END FROM sqlite_schema m JOIN pragma_table_info(m.name) p \
             WHERE m.type = 'table'",
            // The key of a table of whole numbers is the table itself, and no index. An expression has no name.
            "SELECT CASE l.\"unique\" WHEN 1 THEN 'unique index ' ELSE 'index ' END || m.name || '(' || \
             (SELECT group_concat(coalesce(name, '?') || CASE upper(coll) WHEN 'BINARY' THEN '' ELSE ' collate ' || coll END || \
             CASE \"desc\" WHEN 1 THEN ' desc' ELSE '' END) FROM (SELECT * FROM pragma_index_xinfo(l.name) \
             WHERE \"key\" = 1 ORDER BY seqno)) || ')' || CASE l.partial WHEN 1 THEN ' of some rows' ELSE '' END \
             FROM sqlite_schema m JOIN pragma_index_list(m.name) l WHERE m.type = 'table' AND l.origin <> 'pk' \
             UNION SELECT 'key ' || m.name || '(' || \
             (SELECT group_concat(name) FROM (SELECT name FROM pragma_table_info(m.name) WHERE pk > 0 ORDER BY pk)) \
             || ')' FROM sqlite_schema m WHERE m.type = 'table'",
            "SELECT 'reference ' || own || '(' || group_concat(\"from\") || ') to ' || \"table\" || \
             CASE on_delete WHEN 'NO ACTION' THEN '' ELSE ' on delete ' || lower(on_delete) END || \
             CASE on_update WHEN 'NO ACTION' THEN '' ELSE ' on update ' || lower(on_update) END \
             FROM (SELECT m.name AS own, f.* FROM sqlite_schema m JOIN pragma_foreign_key_list(m.name) f \
             WHERE m.type = 'table' ORDER BY m.name, f.id, f.seq) GROUP BY own, id",
            // No catalogue lists them; names of ours stand in quotes.
            "SELECT 'check ' || name || ' in its definition' FROM sqlite_schema WHERE type = 'table' \
             AND upper(sql) GLOB '*[^A-Z0-9_\"]CHECK[^A-Z0-9_\"]*'",
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
