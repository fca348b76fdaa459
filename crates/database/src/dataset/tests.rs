//! Checks, checksums and the ledger, on real SQLite files.

use super::*;
use crate::{Database, OpenOptions, Profiling, Session, Texts, open};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use study::{At, DatabaseSpec, Engine, Sessions};
use workload::brokerage::data_set::seeded;
use workload::brokerage::ledger::Known;
use workload::brokerage::{Ledger, Preset, Scale, judge};
use workload::rows;
use workload::rows::Mode;
use workload::sql::branches;

fn filled(preset: Preset, customers: u64) -> (tempfile::TempDir, Box<dyn Database>, DataSet) {
    let folder = tempfile::tempdir().unwrap();
    let set = seeded(Scale { preset, customers, days: 2 }, 11);
    let spec = DatabaseSpec::new(Engine::Sqlite, At::Cache);
    let (cache_dir, stop) = (folder.path().to_owned(), Arc::default());
    let options = OpenOptions {
        cache_dir,
        dataset: Some(set.clone()),
        settings: Vec::new(),
        profiling: Profiling::default(),
        stop,
    };
    let database = open(&spec, &options).unwrap();
    fill(&*database, &set, true, &|_| {}, &AtomicBool::new(false)).unwrap();
    (folder, database, set)
}

/// The tables of jobs that copy.
fn jobs(jobs: u32, rows_per_job: u64, row_bytes: u32) -> DataSet {
    let mode = Mode::Copy { block_bytes: 8 << 10 };
    DataSet::new(
        rows::data_set::MARKED,
        rows::Spec { jobs, rows_per_job, row_bytes, commit_every: 1, total: None, mode },
    )
}

fn plain(database: &dyn Database) -> Box<dyn Session> {
    database.session(&Texts::none(Engine::Sqlite), &Sessions::default()).unwrap()
}

fn broken(session: &mut dyn Session, set: &DataSet) -> Vec<String> {
    let outcomes = check(&mut [session], Engine::Sqlite, set, Depth::Moved, &|| Duration::ZERO).unwrap();
    assert!(outcomes.len() >= 8 && outcomes.iter().all(|outcome| outcome.passed == outcome.violations.is_empty()));
    outcomes.into_iter().filter(|outcome| !outcome.passed).map(|outcome| outcome.name).collect()
}

/// What is done to the data, and exactly which invariants see it.
const DAMAGES: &[(&str, &[&str])] = &[
    ("UPDATE broker SET trades = trades + 1 WHERE id = 1", &["brokers"]),
    ("UPDATE broker SET commission_cents = commission_cents - 1 WHERE id = 1", &["brokers"]),
    ("UPDATE position SET quantity = quantity + 1 WHERE account_id = 3", &["positions", "positions and trades"]),
    ("UPDATE lot SET quantity = quantity - 1 WHERE account_id = 3", &["positions", "lots replayed"]),
    ("UPDATE account SET balance_cents = balance_cents + 1 WHERE id = 5", &["cash"]),
    ("DELETE FROM cash_entry WHERE trade_id = (SELECT min(trade_id) FROM cash_entry)", &["cash", "cash entries"]),
    ("INSERT INTO cash_entry SELECT min(id), 0, 0, '' FROM trade WHERE is_cash = 0", &["cash entries"]),
    ("DELETE FROM settlement WHERE trade_id = (SELECT min(id) FROM trade WHERE is_cash = 0)", &["settlements"]),
    ("DELETE FROM trade_event WHERE trade_id = 4 AND status = 'done'", &["events"]),
    (
        "INSERT INTO pending_order SELECT id, order_type, symbol, quantity, bid_cents, 1 FROM trade WHERE id = 4",
        &["pending orders"],
    ),
    ("DELETE FROM lot_change WHERE trade_id = 6", &["lots replayed", "lots moved"]),
];

#[test]
fn each_damage_breaks_its_own_invariants_and_a_restore_mends_it() {
    let (_folder, database, set) = filled(Preset::House, 50);
    let whole = checksums(&mut *plain(&*database), &set).unwrap();
    assert_eq!(broken(&mut *plain(&*database), &set), [""; 0]);
    let mut session = plain(&*database);
    for (damage, by) in DAMAGES {
        session.script(&format!("BEGIN IMMEDIATE; {damage}")).unwrap();
        assert_eq!(broken(&mut *session, &set), *by, "{damage}");
        session.script("ROLLBACK").unwrap();
    }
    let all: Vec<&str> = DAMAGES.iter().map(|(damage, _)| *damage).collect();
    session.script(&all.join("; ")).unwrap();
    assert_ne!(checksums(&mut *session, &set).unwrap(), whole);
    drop(session);
    database.restore(&set).unwrap();
    assert_eq!(checksums(&mut *plain(&*database), &set).unwrap(), whole);
}

#[test]
fn a_fresh_desk_passes_and_each_check_says_how_long_it_took() {
    let (_folder, database, set) = filled(Preset::Desk, 50);
    let ticks = AtomicU64::new(0);
    let clock = || Duration::from_secs(ticks.fetch_add(1, Ordering::Relaxed));
    let outcomes = check(&mut [&mut *plain(&*database)], Engine::Sqlite, &set, Depth::All, &clock).unwrap();
    assert!(outcomes.iter().all(|outcome| outcome.passed && outcome.took == Duration::from_secs(1)));
}

#[test]
fn the_ledger_finds_a_commit_that_was_forgotten_across_pages() {
    let (_folder, database, _) = filled(Preset::Desk, 20);
    let mut session = plain(&*database);
    let trades = "WITH RECURSIVE n(id) AS (SELECT 1000000 UNION ALL SELECT id + 1 FROM n WHERE id < 1119999) \
                  INSERT INTO trade SELECT n.id, at, 'sent', order_type, is_cash, symbol, quantity, bid_cents, account_id, \
                  placed_by, NULL, fee_cents, commission_cents, tax_cents, lifo FROM n JOIN trade t ON t.id = 1";
    session.script(trades).unwrap();
    let held = |ledger: &Ledger| Asking::on(&*database, |queries| judge(queries, ledger, 1_000_000));
    let mut ledger = Ledger::default();
    (1_000_000..1_120_000).for_each(|trade| ledger.record(trade, Known::Placed));
    let judged = held(&ledger).unwrap();
    assert!(judged.passed());
    assert_eq!(judged.ok, 120_000);
    session.script("DELETE FROM trade WHERE id IN (1000000, 1050000, 1119999)").unwrap();
    ledger.record(1_120_005, Known::RolledBack);
    let judged = held(&ledger).unwrap();
    assert_eq!(judged.missing.first, [1_000_000, 1_050_000, 1_119_999]);
    session.script("DROP INDEX trade_account_id_at; ALTER TABLE trade RENAME TO lost").unwrap();
    assert!(held(&ledger).is_err());
}

#[test]
fn a_mark_says_what_its_data_set_is() {
    let set = seeded(Scale { preset: Preset::House, customers: 6_000, days: 30 }, u64::MAX);
    let facts = set.facts();
    let fact = |name: &str| facts.iter().find(|(fact, _)| *fact == name).map(|(_, value)| value.clone());
    assert_eq!(workload::data_set(&fact), Some(set.clone()));
    assert_eq!(workload::data_set(&|_| None), None);
    for other in [branches(7), jobs(3, 1 << 40, 200)] {
        let facts = other.facts();
        let fact = |name: &str| facts.iter().find(|(fact, _)| *fact == name).map(|(_, value)| value.clone());
        assert_eq!(workload::data_set(&fact), Some(other));
    }
    assert_eq!(set.schema(), format!("prony_brokerage_house_6000_30_{}", u64::MAX));
    // A server's names have 63 letters at most.
    assert!(set.schema().len() <= 63);
}

#[test]
fn tables_of_scripts_and_jobs_are_filled_recognised_and_restored_like_all_others() {
    let jobs = jobs(2, 500, 64);
    for (set, table, rows) in [(branches(1), "pgbench_accounts", 100_000), (jobs, "batch_1", 500)] {
        let folder = tempfile::tempdir().unwrap();
        let spec = DatabaseSpec::new(Engine::Sqlite, At::Cache);
        let (cache_dir, stop) = (folder.path().to_owned(), Arc::default());
        let options = OpenOptions {
            cache_dir,
            dataset: Some(set.clone()),
            settings: Vec::new(),
            profiling: Profiling::default(),
            stop,
        };
        let database = open(&spec, &options).unwrap();
        let again = || fill(&*database, &set, true, &|_| {}, &AtomicBool::new(false)).unwrap();
        assert!(matches!(again(), Filled::Anew { .. }), "{set:?}");
        let count = || {
            let rows = plain(&*database).query(&format!("SELECT count(*) FROM {table}")).unwrap();
            rows[0][0].int().unwrap()
        };
        assert_eq!(count(), rows);
        use_up(&*database, &set).unwrap();
        plain(&*database).script(&format!("DELETE FROM {table}")).unwrap();
        assert_eq!((again(), count()), (Filled::Restored, rows));
        let [Ok(found)] = &database.datasets().unwrap()[..] else { panic!("one data set") };
        assert_eq!(*found, set);
    }
}

#[test]
fn a_part_of_the_accounts_holds_its_own_rows() {
    let set = branches(2);
    let table = set.tables().into_iter().find(|table| table.name == "pgbench_accounts").unwrap();
    let (mut row, mut last) = (Vec::new(), 0);
    for part in 0..3 {
        let mut rows = set.part(&table, part, 3);
        while rows.next(&mut row) {
            let number = row[0].int().unwrap();
            assert_eq!((number, row.len()), (last + 1, 4));
            last = number;
        }
    }
    assert_eq!(last, 200_000);
}
