//! Connections that an administrator ends in the middle of a run: the run goes on with new ones, what was lost is counted,
//! and what nobody knows the outcome of stands apart in the ledger.

use crate::house::House;
use database::{Database, OpenOptions, Profiling};
use observation::EventKind;
use std::time::Duration;
use study::{At, DatabaseSpec, Engine};
use workload::brokerage::data_set::seeded;
use workload::brokerage::{Preset, Scale};

const RUN: &str =
    "--set preset=desk --set customers=50 --set days=1 --set sessions=4 --set measure=4s --set warm_up=0s";

/// The data set of the run, opened beside it.
fn beside(house: &House, engine: Engine) -> Box<dyn Database> {
    let scale = Scale { preset: Preset::Desk, customers: 50, days: 1 };
    let dataset = Some(seeded(scale, 1));
    let cache_dir = house.program.path("cache");
    // The settings of the run's own server: with others it would be started anew.
    let profiling = Profiling { on: true, pages: None };
    let options = OpenOptions { cache_dir, dataset, settings: Vec::new(), profiling, stop: Default::default() };
    database::open(&DatabaseSpec::new(engine, At::Local), &options).expect("the server runs")
}

#[test]
fn sessions_that_postgres_ends_in_mid_run_are_opened_again_and_counted() {
    let Some(house) = House::with_server("local:postgres") else { return };
    goes_on(&house, Engine::Postgres, |database| {
        let mut session = database.outside().expect("a session");
        let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' \
                   AND pid <> pg_backend_pid()";
        session.query(sql).expect("it may").len()
    });
}

#[test]
fn sessions_that_mariadb_ends_in_mid_run_are_opened_again_and_counted() {
    let Some(house) = House::with_server("local:mariadb") else { return };
    goes_on(&house, Engine::Mariadb, |database| {
        let mut session = database.outside().expect("a session");
        let list = "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND user = 'root'";
        let ids: Vec<i64> = session.query(list).expect("it may").iter().filter_map(|row| row[0].int()).collect();
        // One that ended by itself meanwhile is no error of this test.
        ids.iter().filter(|id| session.script(&format!("KILL CONNECTION {id}")).is_ok()).count()
    });
}

fn goes_on(house: &House, engine: Engine, end_all: impl Fn(&dyn Database) -> usize) {
    let mut going = house.program.start(&house.line("run", &format!("{RUN} --verbose -o x.prony")));
    going.until("· measure", 1);
    let database = beside(house, engine);
    for _ in 0..2 {
        std::thread::sleep(Duration::from_millis(700));
        assert!(end_all(&*database) >= 4, "the run has four sessions");
    }
    let (code, told) = going.end();
    assert_eq!(code, Some(1), "transactions failed: {told}");
    house.holds_after(0);
    let events = house.events(0);
    let lost = events.iter().filter(|event| event.kind == EventKind::Failure && event.text.contains("connection lost"));
    let lost: Vec<_> = lost.collect();
    assert!(lost.len() >= 8, "{events:#?}");
    assert!(lost.iter().all(|event| event.text.contains("was opened again")), "{lost:#?}");
    let shown = house.program.json("show x.prony --json");
    let trial = &shown["trials"][0];
    let count = |key: &str| trial[key].as_u64().expect("a count");
    assert!(count("failed") >= 8, "{trial:#}");
    assert_eq!(count("planned"), count("done") + count("failed") + count("censored"), "{trial:#}");
}
