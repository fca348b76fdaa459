//! Two Pronys that want the same data set at once: the second is refused and told who was first, and the first is not disturbed.

use crate::house::House;
use database::{OpenOptions, Session};
use rustix::process::Signal;
use study::{At, DatabaseSpec, Engine};

const SETS: &str = "--set preset=desk --set customers=50 --set days=1";

#[test]
fn a_data_set_on_sqlite_is_one_pronys_at_a_time() {
    one_at_a_time(&House::new("sqlite:"));
}

#[test]
fn a_data_set_on_a_private_postgres_is_one_pronys_at_a_time() {
    let Some(house) = House::with_server("local:postgres") else { return };
    one_at_a_time(&house);
    // The same through an address, where a lock of the server's own stands in the place of a file.
    let folder = house.program.path("cache");
    let found = std::fs::read_dir(folder).expect("the cache").flatten().map(|entry| entry.path().join("server"));
    let folder = found.into_iter().find(|path| path.is_dir()).expect("the bare server");
    second_is_refused(&house, &format!("postgres://prony@/postgres?host={}/run", folder.display()), "prony process");
}

#[test]
fn a_data_set_on_a_private_mariadb_is_one_pronys_at_a_time() {
    let Some(house) = House::with_server("local:mariadb") else { return };
    one_at_a_time(&house);
    let folder = house.program.path("cache");
    let found = std::fs::read_dir(folder).expect("the cache").flatten().map(|entry| entry.path().join("server"));
    let folder = found.into_iter().find(|path| path.is_dir()).expect("the bare server");
    second_is_refused(&house, &format!("mysql://root@/?socket={}/run/socket", folder.display()), "connection ");
}

fn one_at_a_time(house: &House) {
    second_is_refused(house, house.on, "prony process");
}

fn second_is_refused(house: &House, on: &str, holder: &str) {
    let run = |name: &str| {
        format!(
            "run brokerage --on '{on}' {SETS} --set sessions=2 --set highest_rate=off --set measure=6s --set warm_up=0s --verbose -o {name}.prony"
        )
    };
    let name = format!("first-{}", on.split(':').next().unwrap_or_default());
    let mut first = house.program.start(&run(&name));
    first.until("· measure", 1);
    // A private server is not ended beneath the run either.
    let ends = ["db down", "db down --remove"].map(|down| format!("{down} {on}"));
    let ends = ends.into_iter().filter(|_| on.starts_with("local:"));
    for second in [run("second"), format!("db fill brokerage --on '{on}' {SETS}")].into_iter().chain(ends) {
        let ran = house.program.run(&second);
        assert_eq!(ran.code, Some(2), "{ran}");
        assert!(ran.stderr.contains("is in use by") && ran.stderr.contains(holder), "{ran}");
        assert!(ran.stderr.contains("hint: wait until that one has ended"), "{ran}");
        // Nothing was recorded: no file is left that would say otherwise.
        assert!(
            !house.program.path("second.prony").exists() && !ran.stderr.contains("every finished interval"),
            "{ran}"
        );
    }
    let (code, told) = first.end();
    assert_eq!(code, Some(0), "{told}");
    // The claim ended with its holder.
    house.program.fine(&format!("db fill brokerage --on '{on}' {SETS}"));
    let _ = std::fs::remove_file(house.program.path(&format!("{name}.prony")));
}

/// A session on the user's own file.
fn session(house: &House) -> Box<dyn Session> {
    let at = At::File(house.program.path("own.db").display().to_string());
    let cache_dir = house.program.path("cache");
    let options = OpenOptions {
        cache_dir,
        dataset: None,
        settings: Vec::new(),
        profiling: Default::default(),
        stop: Default::default(),
    };
    let database = database::open(&DatabaseSpec::new(Engine::Sqlite, at), &options).expect("a file");
    database.outside().expect("a session")
}

#[test]
fn a_file_of_the_users_keeps_its_journal_and_says_which_it_is() {
    let house = House::new("sqlite:own.db");
    session(&house).script("CREATE TABLE t (v INTEGER); INSERT INTO t VALUES (1)").expect("a table");
    house.program.write("touch.sql", "UPDATE t SET v = v + 1;\n");
    let line =
        "run sql --on sqlite:own.db --set script=touch.sql --set sessions=2 --set measure=300ms --set warm_up=0s";
    let mode = || session(&house).query("PRAGMA journal_mode").expect("a mode")[0][0].clone();
    house.program.fine(&format!("{line} --quiet -o x.prony"));
    assert_eq!(mode().text(), Some("delete"));
    let told = house.program.fine("show x.prony --json");
    assert!(told.contains("DELETE, as the file has it"), "{told}");
    house.program.fine(&format!("{line} --set server=journal_mode=wal --quiet -o y.prony"));
    assert_eq!(mode().text(), Some("wal"));
}

#[test]
fn a_file_that_prony_makes_has_the_journal_that_it_gives_it_and_a_resumed_run_says_no_other() {
    let house = House::new("sqlite:own.db");
    let mut going = house.program.start(&house.line(
        "run",
        &format!(
            "{SETS} --set sessions=1,2,4 --set highest_rate=off --set measure=2s --set warm_up=0s --verbose -o x.prony"
        ),
    ));
    going.until("· measure", 2);
    going.signal(Signal::INT);
    let (code, told) = going.end();
    assert_eq!(code, Some(2), "{told}");
    let told = house.program.fine("show x.prony --json");
    assert!(told.contains("WAL") && !told.contains("as the file has it"), "{told}");
    let again = house.program.run("run --resume x.prony --verbose");
    assert!(again.code == Some(0) && !again.stderr.contains("since the run began"), "{again}");
}

#[test]
fn a_server_that_was_stopped_already_is_not_said_to_be_stopped() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let down = || house.program.fine("db down local:postgres");
    assert!(down().starts_with("stopped "), "it ran");
    assert!(down().starts_with("was not running: "), "it does not run any more");
    assert!(house.program.fine("db down local:postgres --remove").starts_with("removed "));
}
