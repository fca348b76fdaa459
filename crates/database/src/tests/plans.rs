//! How a server reads whole tables against each other while it knows nothing of them yet.

use super::across::{Cache, filled_with, holds};
use crate::Texts;
use std::error::Error;
use study::{Engine, Sessions};
use workload::bank::{Scale, night};
use workload::dataset::DataSet;
use workload::kind::Transactions;
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
