//! Definitions of the tables of a data set, in the order in which a fill carries them out.
//!
//! The one idea: rows go into bare tables, and what is built from rows is built once, afterwards, where the engine can. SQLite
//! knows keys and references only as part of a table; MariaDB's tables lie in the order of their key, so that a key that came
//! later would write every row twice.

use study::Engine;
use workload::dataset::{Column, Partitions, Reference, Table, Type};

/// What a fill says before and after the rows. Statements of one list may run side by side; the lists follow one another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definitions {
    /// Makes the tables.
    pub tables: Vec<String>,
    /// Makes the primary keys that the tables do not have yet.
    pub keys: Vec<String>,
    /// Makes the other indexes.
    pub indexes: Vec<String>,
    /// Makes the references that the tables do not have yet.
    pub references: Vec<String>,
    /// Tells the engine what it needs to know for its plans.
    pub statistics: Vec<String>,
}

impl Definitions {
    /// Definitions of these tables. A reference to a table that is not among them is left out.
    pub fn of(engine: Engine, tables: &[Table]) -> Definitions {
        let mut all = Definitions::default();
        for table in tables {
            let present = |reference: &&Reference| tables.iter().any(|other| other.name == reference.table);
            let references: Vec<&Reference> = table.references.iter().filter(present).collect();
            let parts = table.partitions.map_or_else(Vec::new, |parts| partitions(engine, table, &parts));
            let made = [create(engine, table, tables, &references)].into_iter().chain(parts);
            all.tables.push(made.collect::<Vec<_>>().join("; "));
            all.statistics.push(statistics(engine, &table.name));
            if engine == Engine::Postgres && !table.key.is_empty() {
                let key = list(engine, table.key);
                all.keys.push(format!("ALTER TABLE {} ADD PRIMARY KEY ({key})", quoted(engine, &table.name)));
            }
            all.indexes.extend(indexes(engine, table));
            all.references.extend(added_references(engine, table, tables, &references));
        }
        all
    }
}

/// A name that no word of the engine's grammar can be mistaken for.
pub fn quoted(engine: Engine, name: &str) -> String {
    match engine {
        Engine::Mariadb => format!("`{}`", name.replace('`', "``")),
        _ => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

fn list(engine: Engine, names: &[&str]) -> String {
    names.iter().map(|name| quoted(engine, name)).collect::<Vec<_>>().join(", ")
}

/// Texts compare and sort by their bytes on every engine, so that all give the same answers in the same order.
fn type_name(engine: Engine, kind: Type) -> String {
    match (engine, kind) {
        (Engine::Sqlite, Type::Int) => "INTEGER".to_owned(),
        (Engine::Sqlite, _) => "TEXT".to_owned(),
        (_, Type::Int) => "BIGINT".to_owned(),
        (Engine::Mariadb, Type::Text(most)) => format!("VARCHAR({most})"),
        (Engine::Mariadb, Type::Long) => "TEXT".to_owned(),
        (_, Type::Text(most)) => format!("VARCHAR({most}) COLLATE \"C\""),
        (_, Type::Long) => "TEXT COLLATE \"C\"".to_owned(),
    }
}

fn column(engine: Engine, column: &Column) -> String {
    let null = if column.null { "" } else { " NOT NULL" };
    format!("{} {}{null}", quoted(engine, column.name), type_name(engine, column.kind))
}

fn create(engine: Engine, table: &Table, tables: &[Table], references: &[&Reference]) -> String {
    let mut parts: Vec<String> = table.columns.iter().map(|one| column(engine, one)).collect();
    if engine != Engine::Postgres && !table.key.is_empty() {
        parts.push(format!("PRIMARY KEY ({})", list(engine, table.key)));
    }
    if engine == Engine::Sqlite {
        parts.extend(references.iter().map(|reference| foreign_key(engine, reference, tables)));
    }
    let options = match engine {
        Engine::Sqlite if table.key.is_empty() || whole_number_key(table) => " STRICT",
        // Such a key would otherwise be an index beside the table.
        Engine::Sqlite => " STRICT, WITHOUT ROWID",
        Engine::Mariadb => " ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        _ => "",
    };
    let divided = table.partitions.map_or_else(String::new, |parts| divided(engine, &parts));
    format!("CREATE TABLE {} ({}){options}{divided}", quoted(engine, &table.name), parts.join(", "))
}

/// How a table says that it is divided. SQLite knows no partitions, and a study that asks for some there is refused.
fn divided(engine: Engine, parts: &Partitions) -> String {
    let (column, count) = (quoted(engine, parts.column), parts.count);
    match (engine, parts.by_range) {
        (Engine::Postgres, true) => format!(" PARTITION BY RANGE ({column})"),
        (Engine::Postgres, false) => format!(" PARTITION BY HASH ({column})"),
        (Engine::Mariadb, false) => format!(" PARTITION BY HASH ({column}) PARTITIONS {count}"),
        (Engine::Mariadb, true) => {
            let ends = parts.bounds().map(|bound| format!("({bound})")).chain(["MAXVALUE".to_owned()]);
            let parts = ends.zip(1..).map(|(end, number)| format!("PARTITION p{number} VALUES LESS THAN {end}"));
            format!(" PARTITION BY RANGE ({column}) ({})", parts.collect::<Vec<_>>().join(", "))
        }
        (Engine::Sqlite | Engine::Null, _) => String::new(),
    }
}

/// The partitions that are tables of their own, called as pgbench calls them.
fn partitions(engine: Engine, table: &Table, parts: &Partitions) -> Vec<String> {
    if engine != Engine::Postgres {
        return Vec::new();
    }
    let bounds: Vec<String> = parts.bounds().map(|bound| bound.to_string()).collect();
    let from = ["MINVALUE".to_owned()].into_iter().chain(bounds.clone());
    let ranges = from.zip(bounds.into_iter().chain(["MAXVALUE".to_owned()]));
    let part = |(number, (from, to)): (u32, (String, String))| {
        let values = match parts.by_range {
            true => format!("FROM ({from}) TO ({to})"),
            false => format!("WITH (MODULUS {}, REMAINDER {})", parts.count, number - 1),
        };
        let name = quoted(engine, &format!("{}_{number}", table.name));
        format!("CREATE TABLE {name} PARTITION OF {} FOR VALUES {values}", quoted(engine, &table.name))
    };
    (1..).zip(ranges).map(part).collect()
}

fn whole_number_key(table: &Table) -> bool {
    let kind = |name: &str| table.columns.iter().find(|column| column.name == name).map(|column| column.kind);
    table.key.len() == 1 && kind(table.key[0]) == Some(Type::Int)
}

fn foreign_key(engine: Engine, reference: &Reference, tables: &[Table]) -> String {
    let key = tables.iter().find(|other| other.name == reference.table).map_or(&[] as &[&str], |other| other.key);
    let (from, table) = (list(engine, reference.columns), quoted(engine, reference.table));
    format!("FOREIGN KEY ({from}) REFERENCES {table} ({})", list(engine, key))
}

fn indexes(engine: Engine, table: &Table) -> Vec<String> {
    let name = |columns: &[&str]| quoted(engine, &table.index_name(columns));
    let on = quoted(engine, &table.name);
    let columns = |columns: &&'static [&'static str]| list(engine, columns);
    match engine {
        // One statement a table, so that its rows are read once.
        Engine::Mariadb if !table.indexes.is_empty() => {
            let parts = table.indexes.iter().map(|one| format!("ADD INDEX {} ({})", name(one), columns(one)));
            vec![format!("ALTER TABLE {on} {}", parts.collect::<Vec<_>>().join(", "))]
        }
        _ => table.indexes.iter().map(|one| format!("CREATE INDEX {} ON {on} ({})", name(one), columns(one))).collect(),
    }
}

/// References of a table that exists, all in one statement. Two such statements cannot block each other for ever: a table
/// refers only to earlier ones, so that all take their locks in one order.
fn added_references(engine: Engine, table: &Table, tables: &[Table], references: &[&Reference]) -> Option<String> {
    if engine == Engine::Sqlite || references.is_empty() {
        return None;
    }
    let name = |reference: &Reference| format!("{}_to_{}_{}", table.name, reference.table, reference.columns.join("_"));
    let add = |reference: &&Reference| {
        format!("ADD CONSTRAINT {} {}", quoted(engine, &name(reference)), foreign_key(engine, reference, tables))
    };
    let parts: Vec<String> = references.iter().map(add).collect();
    Some(format!("ALTER TABLE {} {}", quoted(engine, &table.name), parts.join(", ")))
}

fn statistics(engine: Engine, table: &str) -> String {
    let table = quoted(engine, table);
    match engine {
        Engine::Postgres => format!("VACUUM (ANALYZE, FREEZE) {table}"),
        Engine::Mariadb => format!("ANALYZE TABLE {table}"),
        _ => format!("ANALYZE {table}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::brokerage::{Preset, schema};

    fn definitions(engine: Engine, preset: Preset) -> Definitions {
        Definitions::of(engine, &schema::tables(preset).cloned().collect::<Vec<_>>())
    }

    #[test]
    fn servers_build_keys_and_references_after_the_rows_and_sqlite_with_the_table() {
        let postgres = definitions(Engine::Postgres, Preset::House);
        assert!(postgres.tables.iter().all(|sql| !sql.contains("KEY")), "{:?}", postgres.tables);
        assert_eq!(postgres.keys.len(), 33);
        assert!(
            postgres.keys.contains(&"ALTER TABLE \"position\" ADD PRIMARY KEY (\"account_id\", \"symbol\")".to_owned())
        );
        let sqlite = definitions(Engine::Sqlite, Preset::House);
        assert!(sqlite.keys.is_empty() && sqlite.references.is_empty());
        let lot = sqlite.tables.iter().find(|sql| sql.starts_with("CREATE TABLE \"lot\" ")).unwrap();
        assert!(
            lot.contains(
                "FOREIGN KEY (\"account_id\", \"symbol\") REFERENCES \"position\" (\"account_id\", \"symbol\")"
            )
        );
        let mariadb = definitions(Engine::Mariadb, Preset::House);
        assert!(mariadb.tables.iter().all(|sql| sql.contains("PRIMARY KEY") && !sql.contains("FOREIGN")));
        assert_eq!(mariadb.references.len(), postgres.references.len());
    }

    #[test]
    fn partitions_by_range_divide_the_fill_in_equal_parts_and_take_every_number() {
        let tables = |by_range| workload::sql::partitioned(1, std::num::NonZeroU32::new(3).unwrap(), by_range).tables();
        let accounts = |engine, by_range| Definitions::of(engine, &tables(by_range)).tables.remove(2);
        let ranges = accounts(Engine::Postgres, true);
        let bounds = ["(MINVALUE) TO (33335)", "(33335) TO (66669)", "(66669) TO (MAXVALUE)"];
        assert!(
            ranges.contains("PARTITION BY RANGE (\"aid\"); CREATE TABLE \"pgbench_accounts_1\" PARTITION OF"),
            "{ranges}"
        );
        assert!(bounds.iter().all(|bound| ranges.contains(&format!("FROM {bound}"))), "{ranges}");
        assert!(
            accounts(Engine::Postgres, false)
                .ends_with("\"pgbench_accounts\" FOR VALUES WITH (MODULUS 3, REMAINDER 2)")
        );
        let lists = accounts(Engine::Mariadb, true);
        let less = "(PARTITION p1 VALUES LESS THAN (33335), PARTITION p2 VALUES LESS THAN (66669), PARTITION p3 VALUES LESS THAN MAXVALUE)";
        assert!(lists.ends_with(less), "{lists}");
        assert!(accounts(Engine::Mariadb, false).ends_with(" PARTITION BY HASH (`aid`) PARTITIONS 3"));
    }

    #[test]
    fn the_desk_refers_only_to_tables_that_it_has() {
        let desk = definitions(Engine::Postgres, Preset::Desk);
        assert!(
            desk.references.iter().all(|sql| !sql.contains("\"status\" (\"id\")") && !sql.contains("\"company\" ("))
        );
        assert!(desk.references.iter().any(|sql| sql.contains("trade_to_account_account_id")));
    }
}
