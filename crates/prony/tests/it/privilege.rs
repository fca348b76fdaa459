//! What a user may not do is said with what was to be done; nothing is made on the way.

use crate::house::House;
use crate::program::skipped;
use crate::small::Small;
use database::{Database, OpenOptions};
use std::path::Path;
use std::process::Command;
use study::{At, DatabaseSpec, Engine};

const SETS: &str = "--set preset=desk --set customers=50 --set days=1";

/// The bare private server of a house, which `db up` started.
fn bare(house: &House, engine: Engine) -> Box<dyn Database> {
    let cache_dir = house.program.path("cache");
    let options = OpenOptions {
        cache_dir,
        dataset: None,
        settings: Vec::new(),
        profiling: Default::default(),
        stop: Default::default(),
    };
    database::open(&DatabaseSpec::new(engine, At::Local), &options).expect("the server runs")
}

fn refused(house: &House, url: &str) {
    for command in ["run", "db fill"] {
        let told = house.program.refused(&format!("{command} brokerage --on '{url}' {SETS}"));
        assert!(told.contains("lacks the privilege to create a schema"), "{told}");
        assert!(told.contains("hint: grant it, or name a user who has it"), "{told}");
        assert!(!told.contains("s3cret"), "{told}");
    }
}

#[test]
fn a_role_of_postgres_that_may_not_create_is_told_so() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let database = bare(&house, Engine::Postgres);
    let mut session = database.outside().expect("a session");
    session.script("CREATE ROLE clerk LOGIN PASSWORD 's3cret'").expect("it may");
    let folder = database.private().expect("it is private").socket_folder();
    refused(&house, &format!("postgres://clerk:s3cret@/postgres?host={}", folder.display()));
    let made = session.query("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'prony%'").expect("it may");
    assert!(made.is_empty(), "{made:?}");
}

/// What a role that owns nothing can do: read by a script, without a checkpoint, in as many sessions as it is allowed.
#[test]
fn a_role_of_postgres_is_told_how_to_do_without_its_missing_rights() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let database = bare(&house, Engine::Postgres);
    let mut session = database.outside().expect("a session");
    session.script("CREATE ROLE clerk LOGIN CONNECTION LIMIT 2").expect("it may");
    house.program.write("look.sql", "SELECT 1;\n");
    let folder = database.private().expect("it is private").socket_folder();
    let url = format!("postgres://clerk@/postgres?host={}", folder.display());
    let line = format!("run sql --on '{url}' --set script=look.sql --set measure=200ms --quiet");
    let told = house.program.refused(&format!("{line} --set sessions=1"));
    assert!(told.contains("lacks the privilege to ask for a checkpoint"), "{told}");
    assert!(told.contains("--set checkpoints=leave"), "{told}");
    house.program.fine(&format!("{line} --set sessions=1 --set checkpoints=leave -o x.prony"));
    let told = house.program.refused(&format!("{line} --set sessions=8 --set checkpoints=leave"));
    assert!(told.contains("ALTER ROLE .. CONNECTION LIMIT") && told.contains("8 sessions were asked for"), "{told}");
    assert!(!told.contains("max_connections"), "{told}");
}

#[test]
fn a_user_of_mariadb_who_may_not_create_is_told_so() {
    let Some(house) = House::with_server("local:mariadb") else { return };
    let database = bare(&house, Engine::Mariadb);
    let mut session = database.outside().expect("a session");
    session.script("CREATE USER 'clerk'@'%' IDENTIFIED BY 's3cret'").expect("it may");
    let socket = database.private().expect("it is private").socket_folder().join("socket");
    refused(&house, &format!("mysql://clerk:s3cret@/?socket={}", socket.display()));
    session.script("CREATE USER 'few'@'%' WITH MAX_USER_CONNECTIONS 2").expect("it may");
    house.program.write("look.sql", "SELECT 1;\n");
    let url = format!("mysql://few@/?socket={}", socket.display());
    let told = house.program.refused(&format!(
        "run sql --on '{url}' --set script=look.sql --set checkpoints=leave --set sessions=8 --set measure=200ms"
    ));
    assert!(told.contains("raise max_user_connections") && told.contains("8 sessions were asked for"), "{told}");
    let made = session.query("SHOW DATABASES LIKE 'prony%'").expect("it may");
    assert!(made.is_empty(), "{made:?}");
}

#[test]
fn a_sqlite_file_that_may_not_be_written_is_told_and_stays_as_it_is() {
    let house = House::new("sqlite:small/desk.sqlite");
    let Some(small) = Small::mount(house.program.path("small"), "64m") else {
        return skipped("mounting a tmpfs needs root");
    };
    house.program.fine(&house.line("db fill", SETS));
    let file = small.path.join("desk.sqlite");
    let before = std::fs::read(&file).expect("the file");
    remount(&small.path);
    let told = house.program.refused(&house.line("run", &format!("{SETS} --set measure=200ms -o x.prony")));
    assert!(told.contains("desk.sqlite") && told.contains("Read-only file system"), "{told}");
    assert!(told.contains("hint: check that the folder exists and may be written"), "{told}");
    assert!(before == std::fs::read(&file).expect("the file"), "the file was changed");
}

fn remount(path: &Path) {
    let done = Command::new("mount").args(["-o", "remount,ro"]).arg(path).status().expect("mount runs");
    assert!(done.success());
}
