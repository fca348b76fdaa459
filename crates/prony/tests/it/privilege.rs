//! What a user may not do is said with what was to be done; nothing is made on the way.

use crate::house::House;
use crate::program::skipped;
use crate::small::Small;
use database::{Database, OpenOptions};
use std::path::Path;
use std::process::Command;
use study::{At, DatabaseSpec, Engine};
use workload::transaction::Value;

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
    database::open(&DatabaseSpec { engine, at: At::Local }, &options).expect("the server runs")
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
    let made =
        session.query("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'prony%' AND nspname <> 'prony_script'");
    let made = made.expect("it may");
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
    assert_eq!(made, [[Value::Text("prony_script".to_owned())]]);
}

/// The tables of pgbench, made by hand as `prony db up` says, and asked by a script of the user's own.
fn with_tables(house: &House, tables: &str) {
    let dir = house.program.dir().display().to_string();
    let up = house.program.run(&format!("db up {}", house.on)).stderr.replace("[DIR]", &dir);
    let client = up.lines().find_map(|line| line.split_once("scripts of your own with: ")).expect("it is told").1;
    house.program.write("tables.sql", tables);
    let ran = Command::new("sh").arg("-c").arg(format!("{client} < {dir}/tables.sql")).output().expect("a shell");
    assert!(ran.status.success(), "{client}: {}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn db_up_names_the_folder_in_which_the_socket_of_the_server_is() {
    for (on, socket) in [("local:postgres", ".s.PGSQL.5432"), ("local:mariadb", "socket")] {
        let Some(house) = House::with_server(on) else { continue };
        let dir = house.program.dir().display().to_string();
        let told = house.program.run(&format!("db up {on}")).stderr.replace("[DIR]", &dir);
        let folder = told.lines().find_map(|line| line.split_once("its socket is in ")).expect("it is told").1;
        assert!(Path::new(folder).join(socket).exists(), "{told}");
    }
}

const BANK: &str = "
    CREATE TABLE pgbench_branches (bid int PRIMARY KEY, bbalance int, filler char(88));
    CREATE TABLE pgbench_tellers (tid int PRIMARY KEY, bid int, tbalance int, filler char(84));
    CREATE TABLE pgbench_accounts (aid int PRIMARY KEY, bid int, abalance int, filler char(84));
    CREATE TABLE pgbench_history (tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
    INSERT INTO pgbench_branches VALUES (1, 0, ''), (2, 0, '');
    INSERT INTO pgbench_tellers VALUES (1, 1, 0, ''), (2, 1, 0, '');
    INSERT INTO pgbench_accounts VALUES (1, 1, 0, ''), (2, 1, 0, '');
";

const PAY: &str = "
    \\set aid random(1, 2)
    \\set delta random(-5000, 5000)
    BEGIN;
    UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
    SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
    UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = 1;
    UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = 1;
    INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (1, 1, :aid, :delta, CURRENT_TIMESTAMP);
    END;
";

#[test]
fn a_script_of_a_users_own_works_on_tables_made_as_db_up_says_and_runs_no_command() {
    for (on, clean, bad) in [
        ("local:postgres", "VACUUM pgbench_branches", "COPY pgbench_history TO PROGRAM 'touch owned'"),
        ("local:mariadb", "OPTIMIZE TABLE pgbench_branches", "SELECT 1 INTO OUTFILE '/tmp/prony-owned'"),
    ] {
        let Some(house) = House::with_server(on) else { continue };
        with_tables(&house, BANK);
        house.program.write("pay.sql", PAY);
        house.program.write("clean.sql", &format!("{clean};\n"));
        let line = format!("run sql --on {on} --set measure=300ms --set warm_up=0s --set on_error=stop --quiet");
        house.program.fine(&format!("{line} --set script=pay.sql --set sessions=2 -o pay.prony"));
        house.program.fine(&format!("{line} --set script=clean.sql --set sessions=1 -o clean.prony"));
        house.program.write("bad.sql", &format!("{bad};\n"));
        let told = house.program.run(&format!("{line} --set script=bad.sql --set sessions=1 -o bad.prony"));
        assert_ne!(told.code, Some(0), "{told}");
        let told = told.to_string();
        assert!(told.contains("SQLSTATE 42501") || told.contains("the FILE privilege"), "{told}");
    }
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
