//! How a server reads whole tables against each other while it knows nothing of them yet.

use super::across::{Cache, filled, filled_with, holds};
use crate::Texts;
use std::error::Error;
use study::{Engine, Sessions};
use workload::bank::{Scale, night};
use workload::brokerage::Preset;
use workload::dataset::DataSet;
use workload::kind::Transactions;
use workload::transaction::Statement;
use workload::warehouse::spec::Indexes;

/// Plans every invariant where all statistics are gone. Sums that are one row each may be joined as the server likes.
fn joined_once(dataset: &DataSet) {
    let cache = Cache::new(Engine::Postgres);
    let Some(database) = filled_with(&cache, Engine::Postgres, dataset) else { return };
    let mut session = database.session(&Texts::none(Engine::Postgres), &Sessions::default()).unwrap();
    holds(&mut *session, Engine::Postgres, dataset);
    session.query("DELETE FROM pg_statistic").unwrap();
    for invariant in dataset.invariants() {
        let plan = session.query(&format!("EXPLAIN {}", invariant.sql)).unwrap_or_else(|error| {
            panic!("{}: {error}: {:?}", invariant.name, error.source());
        });
        let lines: Vec<&str> = plan.iter().filter_map(|row| row.first()?.text()).collect();
        let of_many = |line: &&str| line.contains("Nested Loop") && !line.contains(" rows=1 ");
        let nested = lines.iter().any(of_many);
        assert!(!nested, "{}:\n{}", invariant.name, lines.join("\n"));
    }
}

#[test]
fn invariants_join_no_table_row_by_row_where_a_server_has_no_statistics() {
    let scale = Scale { accounts: 1_000, days: 20, indexes: Indexes::Usual };
    joined_once(&night::Spec { scale, commit_every: 100 }.data_set(false).unwrap());
}

/// The index of the fill that serves the statement below.
const INDEX: &str = "trade_symbol_at";

/// The plan of a statement that an index serves, and that without the index.
fn with_and_without(engine: Engine, drop: &str) -> Option<[String; 2]> {
    let cache = Cache::new(engine);
    let (database, _) = filled(&cache, engine, Preset::Desk)?;
    let sql = "SELECT id FROM trade WHERE symbol = $1 AND at > $2 ORDER BY at".to_owned();
    let statement = Statement { name: "trades".to_owned(), sql, rows: true };
    let texts = Texts::of(engine, &[statement]);
    let text = texts.get(0).unwrap();
    let planned = || crate::plan(&*database, &texts, text).unwrap().expect("it has a plan");
    let with = planned();
    assert_eq!(planned(), with, "it is the same text for as long as it is the same plan");
    database.session(&Texts::none(engine), &Sessions::default()).unwrap().script(drop).unwrap();
    Some([with, planned()])
}

#[test]
fn plans_of_every_engine_name_the_index_and_change_when_it_is_dropped() {
    for (engine, on, by) in [
        (Engine::Sqlite, "", "SEARCH trade USING"),
        (Engine::Mariadb, " ON trade", "SIMPLE trade: "),
        (Engine::Postgres, "", "trade"),
    ] {
        // A reference of another table needs the index, too.
        let unchecked = if engine == Engine::Mariadb { "SET foreign_key_checks = 0; " } else { "" };
        let drop = format!("{unchecked}DROP INDEX {INDEX}{on}");
        let Some([with, without]) = with_and_without(engine, &drop) else { continue };
        assert!(with.contains(by) && with.contains(INDEX), "{engine:?}: {with}");
        assert!(!without.contains(INDEX) && without.contains("trade"), "{engine:?}: {without}");
    }
}
