//! Tables of a MariaDB that move between folders: the same rows and the same definition, whatever happens meanwhile.

use crate::house::House;
use crate::program::{Ran, skipped};
use crate::schema::hold;
use crate::small::Small;
use crate::tier::{TIMES, open};
use database::{Database, Session};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use study::Engine;

/// Tables with what a copy could lose, and tables that cannot be moved.
const TABLES: &str = "CREATE DATABASE shop; USE shop; \
    CREATE TABLE hot (id int PRIMARY KEY AUTO_INCREMENT, pad varchar(500) CHECK (pad <> ''), at timestamp NULL, hidden int INVISIBLE DEFAULT 7, \
    size int AS (length(pad)) PERSISTENT, twice int AS (id * 2) VIRTUAL, KEY by_size (size, id)) \
    COMMENT 'it''s; `hot` \\\\ DATA DIRECTORY=''/nowhere'''; \
    INSERT INTO hot (pad, at) SELECT repeat('x', 500), '2021-10-31 00:30:00' + INTERVAL seq SECOND FROM seq_1_to_30000; \
    SET SESSION check_constraint_checks = 0, sql_mode = 'NO_AUTO_VALUE_ON_ZERO'; INSERT INTO hot (id, pad) VALUES (0, ''); \
    SET SESSION check_constraint_checks = 1, sql_mode = ''; DELETE FROM hot WHERE id > 29990; ALTER TABLE hot AUTO_INCREMENT = 90000; \
    CREATE TABLE `co$ld` (id int PRIMARY KEY, pad varchar(500)); INSERT INTO `co$ld` SELECT seq, repeat('y', 500) FROM seq_1_to_20000; \
    CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE child (id int PRIMARY KEY, CONSTRAINT kin FOREIGN KEY (id) REFERENCES parent (id)); \
    CREATE TABLE watched (id int PRIMARY KEY); CREATE TRIGGER seen BEFORE INSERT ON watched FOR EACH ROW SET @a = 1; \
    CREATE TABLE words (id int PRIMARY KEY, word text, FULLTEXT KEY read_all (word)); \
    CREATE TABLE parts (id int PRIMARY KEY) PARTITION BY HASH (id) PARTITIONS 2; \
    CREATE USER reader@localhost; GRANT SELECT, PROCESS ON *.* TO reader@localhost; FLUSH TABLES hot, `co$ld` FOR EXPORT; UNLOCK TABLES";

struct Shop {
    house: House,
    database: Arc<dyn Database>,
    url: String,
    fast: PathBuf,
    before: String,
}

fn shop() -> Option<Shop> {
    let house = House::with_server("local:mariadb")?;
    let settings = [("performance_schema", "ON"), ("innodb_buffer_pool_size", "8M")];
    let database = open(&house, Engine::Mariadb, &settings);
    let mut session = database.outside().expect("a session");
    let switch = "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE 'wait/io/file/innodb/%'";
    session.script(switch).expect("it may");
    session.script(TABLES).expect("it may");
    let fast = house.program.path("fast");
    std::fs::create_dir(&fast).expect("a folder");
    if rustix::process::geteuid().is_root() {
        assert!(Command::new("chown").arg("mysql").arg(&fast).status().expect("chown runs").success());
    }
    let folder = database.private().expect("it is private").socket_folder();
    let url = format!("'mysql://root@/?socket={}'", folder.join("socket").display());
    let mut shop = Shop { house, database, url, fast, before: String::new() };
    shop.before = shop.is();
    Some(shop)
}

impl Shop {
    fn session(&self) -> Box<dyn Session> {
        self.database.outside().expect("a session")
    }

    fn run(&self, line: &str) -> Ran {
        self.house.program.run(&format!("tier {line}").replace("URL", &self.url))
    }

    fn json(&self, line: &str, code: i32) -> Value {
        let ran = self.run(&format!("{line} --json"));
        assert_eq!(ran.code, Some(code), "{line}\n{ran}");
        let value = ran.json();
        hold(&value);
        value
    }

    /// How the tables are made, what is in them, and which tables there are; not where they lie.
    fn is(&self) -> String {
        let mut session = self.session();
        session.script("SET SESSION time_zone = '+00:00'").expect("it may");
        let mut ask = |sql: &str| format!("{:?}\n", session.query(sql).expect("it may"));
        let made = "SET STATEMENT sql_mode = 'NO_DIR_IN_CREATE' FOR SHOW CREATE TABLE shop.";
        let rows = "SELECT count(*), sum(crc32(concat_ws('|', id, pad, at, hidden, size, twice))) FROM shop.hot";
        [
            ask(&format!("{made}hot")),
            ask(&format!("{made}`co$ld`")),
            ask(rows),
            ask("SELECT count(*), sum(crc32(concat_ws('|', id, pad))) FROM shop.`co$ld`"),
            ask("SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema IN ('shop', 'prony_tier') ORDER BY 1, 2"),
        ]
        .concat()
    }

    /// Tables that lie in the fast folder, as their files are called.
    fn on_fast(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.fast.join("shop")).into_iter().flatten().flatten();
        let mut names: Vec<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn is_as_it_was(&self) {
        assert_eq!(self.is(), self.before);
        assert_eq!(self.on_fast(), [""; 0]);
    }

    /// A plan that moves these.
    fn plan(&self, tables: &[&str]) {
        let mut advice = self.json(&format!("advise URL --window 1s {TIMES} --fast {}", self.fast.display()), 0);
        let of = |table: &&str| {
            json!({ "id": format!("./shop/{table}.ibd"), "kind": "file", "name": format!("shop.{table}"), "bytes": 1.0, "to": "fast",
                "saved_s": 1.0, "says": "costs nothing at all",
                "cost": { "how": "copy", "seconds": 1.0, "locked_s": 1.0, "log_bytes": 1.0, "room_bytes": 1.0 } })
        };
        advice["moves"] = tables.iter().map(of).collect::<Vec<_>>().into();
        hold(&advice);
        self.house.program.write("plan.json", &advice.to_string());
    }
}

#[test]
fn a_hot_table_of_mariadb_is_advised_moved_and_put_back_with_the_same_rows_and_definition() {
    let Some(shop) = shop() else { return };
    let stop = AtomicBool::new(false);
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut session = shop.session();
            for n in 0.. {
                session
                    .script(&format!("SELECT sum(length(pad)) FROM shop.hot WHERE id % 20 = {}", n % 20))
                    .expect("it may");
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let ran = shop.run(&format!("advise URL --window 3s {TIMES} --fast {} --json", shop.fast.display()));
        stop.store(true, Ordering::Relaxed);
        ran
    });
    assert_eq!(ran.code, Some(0), "{ran}");
    shop.house.program.write("plan.json", &ran.raw);
    let advice = ran.json();
    assert_eq!(advice["moves"][0]["name"], "shop.hot", "{advice:#}");
    assert!(advice["moves"][0]["says"].as_str().is_some_and(|says| says.contains("nobody writes it for about")));
    let dry = shop.run("move URL --plan plan.json --dry-run");
    assert!(dry.stdout.contains("would move shop.hot: ") && dry.stdout.contains("and nothing for replicas"), "{dry}");
    let moved = shop.json("move URL --plan plan.json", 0);
    assert_eq!(moved["objects"][0]["outcome"], "moved", "{moved:#}");
    assert!(shop.on_fast().contains(&"hot.ibd".to_owned()), "{:?}", shop.on_fast());
    let journal = "(\"prony_tier\"), Text(\"moved\")";
    let without =
        |text: &str| text.lines().filter(|line| !line.contains("Text(\"child\")")).collect::<Vec<_>>().join("\n");
    assert_eq!(without(&shop.is()), without(&shop.before));
    assert!(shop.is().contains(journal) && !shop.is().contains("_prony_"), "{}", shop.is());
    let again = shop.json("move URL --plan plan.json", 0);
    assert_eq!(again["objects"][0]["outcome"], "there", "{again:#}");
    shop.json("undo URL", 0);
    shop.is_as_it_was();
    // The next row gets the number that it would have got.
    let mut session = shop.session();
    session.script("INSERT INTO shop.hot (pad) VALUES ('z')").expect("it may");
    let next = session.one("SELECT max(id) FROM shop.hot").expect("it may").and_then(|id| id.int());
    assert_eq!(next, Some(90_000));
}

#[test]
fn a_folder_in_which_the_server_can_make_no_files_is_refused_before_the_window_with_who_must_own_it() {
    let Some(shop) = shop() else { return };
    shop.plan(&["hot"]);
    let folder = shop.house.program.path("other");
    let refused = |what: &str, help: &str| {
        let plan = std::fs::read_to_string(shop.house.program.path("plan.json")).expect("it is there");
        let plan = plan.replace(&shop.fast.display().to_string(), &folder.display().to_string());
        shop.house.program.write("other.json", &plan);
        for line in
            [format!("advise URL --window 30s --fast {}", folder.display()), "move URL --plan other.json".to_owned()]
        {
            let ran = shop.run(&line);
            let told = format!("`--fast [DIR]/other`: {what}");
            assert!(ran.code == Some(2) && ran.stderr.contains(&told) && ran.stderr.contains(help), "{ran}");
        }
    };
    refused("there is no such folder on the server's machine", "make it: mkdir -p '[DIR]/other' && chown --reference=");
    std::fs::write(&folder, "").expect("a file");
    refused("it is no folder", "name another with --fast");
    std::fs::remove_file(&folder).expect("it is ours");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o500)).expect("it is ours");
    refused("the server's user may make no files in it", "give it to the owner of the data: chown --reference=");
}

#[test]
fn the_wait_for_a_log_whose_flushes_nobody_times_is_bound_and_told_and_is_not_taken_for_none() {
    let Some(shop) = shop() else { return };
    let stop = AtomicBool::new(false);
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut session = shop.session();
            while !stop.load(Ordering::Relaxed) {
                session.script("INSERT INTO shop.hot (pad) VALUES ('w')").expect("it may");
            }
        });
        let ran = shop.run(&format!("advise URL --window 2s --fast {} --json", shop.fast.display()));
        stop.store(true, Ordering::Relaxed);
        ran
    });
    assert_eq!(ran.code, Some(0), "{ran}");
    let advice = ran.json();
    hold(&advice);
    let object = |advice: &Value| {
        let all = advice["objects"].as_array().expect("a list");
        all.iter().find(|one| one["kind"] == "log").cloned().expect("the log is an object")
    };
    let (log, window_s) = (object(&advice), advice["window_s"].as_f64().expect("a number"));
    let wait_s = log["slow_wait_s"].as_f64().expect("a number");
    assert!(wait_s > 0.0 && wait_s <= window_s + 1e-9, "{log:#}");
    let text = advice.to_string();
    let timed = shop.session().one("SELECT version() REGEXP '^10[.][0-7][.]'").expect("it may");
    if timed.and_then(|timed| timed.int()) == Some(0) {
        assert!(text.contains("MariaDB times none since 10.8; give the time of one with --slow-flush"), "{text}");
    }
    // Where commits wait for no flush, nobody waits for the log.
    let mut session = shop.session();
    session.script("SET GLOBAL innodb_flush_log_at_trx_commit = 0").expect("it may");
    session.script("INSERT INTO shop.hot (pad) VALUES ('w')").expect("it may");
    let advice = shop.json(&format!("advise URL --window 1s --fast {}", shop.fast.display()), 0);
    assert_eq!(object(&advice)["slow_wait_s"].as_f64(), Some(0.0), "{advice:#}");
}

#[test]
fn a_user_who_lacks_a_right_is_told_the_grant_and_one_who_has_it_by_a_role_is_not() {
    let Some(shop) = shop() else { return };
    let mut session = shop.session();
    session
        .script(
            "CREATE USER few@localhost; GRANT SELECT ON shop.* TO few@localhost; CREATE USER `o'dd @x`@localhost; \
             GRANT SELECT ON *.* TO `o'dd @x`@localhost; CREATE ROLE tiering; GRANT PROCESS ON *.* TO tiering; \
             GRANT SELECT ON *.* TO tiering; CREATE USER most@localhost; GRANT tiering TO most@localhost; \
             SET DEFAULT ROLE tiering FOR most@localhost",
        )
        .expect("it may");
    let asks = |user: &str| {
        let url = shop.url.replace("root@", &format!("{user}@"));
        shop.house.program.run(&format!("tier advise {url} --window 1s --fast {}", shop.fast.display()))
    };
    let few = asks("few");
    assert!(
        few.code == Some(2) && few.stderr.contains("GRANT SELECT ON performance_schema.* TO 'few'@'localhost'"),
        "{few}"
    );
    let odd = asks("o%27dd%20%40x");
    assert!(odd.code == Some(2) && odd.stderr.contains("GRANT PROCESS ON *.* TO 'o\\'dd @x'@'localhost'"), "{odd}");
    let most = asks("most");
    assert!(most.code == Some(0) && !most.stdout.contains("GRANT"), "{most}");
}

#[test]
fn a_table_that_somebody_else_has_moved_since_stays_in_his_folder_and_the_others_go_back() {
    let Some(shop) = shop() else { return };
    shop.plan(&["hot", "co@0024ld"]);
    shop.json("move URL --plan plan.json", 0);
    let third = shop.house.program.path("third");
    std::fs::create_dir(&third).expect("a folder");
    if rustix::process::geteuid().is_root() {
        assert!(Command::new("chown").arg("mysql").arg(&third).status().expect("chown runs").success());
    }
    let mut session = shop.session();
    let theirs = format!(
        "CREATE TABLE shop.theirs (id int PRIMARY KEY, pad varchar(500)) DATA DIRECTORY='{}'; \
         INSERT INTO shop.theirs SELECT * FROM shop.`co$ld`; DROP TABLE shop.`co$ld`; RENAME TABLE shop.theirs TO shop.`co$ld`",
        third.display()
    );
    session.script(&theirs).expect("it may");
    let ran = shop.run("undo URL");
    let told = "left shop.co$ld where it is: prony tier had put it into [DIR]/fast, and somebody has moved it into [DIR]/third since; before \
                both it lay in the folder of the data";
    assert!(ran.code == Some(1) && ran.stderr.contains(told), "{ran}");
    assert!(!ran.stdout.contains("tries them again"), "{ran}");
    assert_eq!(shop.on_fast(), [""; 0]);
    shop.json("undo URL --even-if-moved", 0);
    assert_eq!(std::fs::read_dir(third.join("shop")).expect("a folder").count(), 0);
    shop.is_as_it_was();
    // A journal of an earlier version does not say where it put a table.
    shop.json("move URL --plan plan.json", 0);
    session.script("ALTER TABLE prony_tier.moved DROP COLUMN put_into, DROP COLUMN relation, DROP COLUMN beside, DROP COLUMN copied_as").expect("it may");
    shop.json("undo URL", 0);
    shop.is_as_it_was();
}

#[test]
fn a_table_that_was_renamed_since_goes_back_and_the_one_that_took_its_name_left_alone() {
    let Some(shop) = shop() else { return };
    let mut session = shop.session();
    let theirs = "RENAME TABLE shop.hot TO shop.cool; CREATE TABLE shop.hot (n int); INSERT INTO shop.hot VALUES (7)";
    let back = "DROP TABLE shop.hot; RENAME TABLE shop.cool TO shop.hot";
    shop.plan(&["hot"]);
    shop.json("move URL --plan plan.json", 0);
    session.script(theirs).expect("it may");
    let undone = shop.json("undo URL", 0);
    assert_eq!((&undone["objects"][0]["name"], shop.on_fast()), (&"shop.cool".into(), vec![]), "{undone:#}");
    assert_eq!(session.one("SELECT n FROM shop.hot").expect("it is his").and_then(|n| n.int()), Some(7));
    session.script(back).expect("it may");
    shop.is_as_it_was();
    // Altered, it has another number as well.
    shop.json("move URL --plan plan.json", 0);
    session.script("ALTER TABLE shop.hot FORCE").expect("it may");
    shop.json("undo URL", 0);
    shop.is_as_it_was();
    shop.json("move URL --plan plan.json", 0);
    session.script(theirs).expect("it may");
    session.script("ALTER TABLE shop.cool FORCE").expect("it may");
    let ran = shop.run("undo URL");
    let told = "shop.hot is not found, and what lies on another tier may be it under another name: shop.cool";
    assert!(ran.code == Some(1) && ran.stderr.contains(told) && ran.stdout.contains("give it its old name"), "{ran}");
    assert_eq!(shop.on_fast(), ["cool.ibd"]);
    session.script(back).expect("it may");
    // What would not follow it keeps it there.
    session.script("CREATE TRIGGER shop.late BEFORE INSERT ON shop.hot FOR EACH ROW SET @a = 1").expect("it may");
    let ran = shop.run("undo URL");
    assert!(ran.code == Some(1) && ran.stderr.contains("its trigger late would not follow it"), "{ran}");
    session.script("DROP TRIGGER shop.late").expect("it may");
    shop.json("undo URL", 0);
    shop.is_as_it_was();
}

#[test]
fn tables_of_somebody_else_that_are_called_like_those_of_a_move_are_never_dropped() {
    let Some(shop) = shop() else { return };
    let mut session = shop.session();
    shop.plan(&["hot"]);
    shop.json("move URL --plan plan.json", 0);
    // As where a move was killed before it had made anything.
    session.script("UPDATE prony_tier.moved SET at_work = true").expect("it may");
    for ending in ["new", "old"] {
        let theirs = format!("shop.hot_prony_{ending}");
        session.script(&format!("CREATE TABLE {theirs} (n int); INSERT INTO {theirs} VALUES (7)")).expect("it may");
        for more in ["--dry-run", ""] {
            let ran = shop.run(&format!("undo URL {more}"));
            let told = format!(
                "needs the name `shop`.`hot_prony_{ending}` for a while, and the table that has it was not made by Prony"
            );
            assert!(ran.code == Some(1) && ran.stderr.contains(&told), "{ran}");
        }
        let row = session.one(&format!("SELECT n FROM {theirs}")).expect("it is there").and_then(|n| n.int());
        assert_eq!((row, shop.on_fast()), (Some(7), vec!["hot.ibd".to_owned()]));
        session.script(&format!("DROP TABLE {theirs}; UPDATE prony_tier.moved SET at_work = true")).expect("it may");
    }
    shop.json("undo URL", 0);
    shop.is_as_it_was();
}

#[test]
fn writers_who_go_on_lose_nothing_while_their_table_moves() {
    let Some(shop) = shop() else { return };
    let (stop, done) = (AtomicBool::new(false), AtomicU64::new(0));
    shop.plan(&["hot"]);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut session = shop.session();
                while !stop.load(Ordering::Relaxed) {
                    if session.script("INSERT INTO shop.hot (pad) VALUES ('w')").is_ok() {
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        for turn in 0..8u64 {
            let mut going = shop.house.program.start(&format!("tier move {} --plan plan.json", shop.url));
            // Each second one comes to its end, and the others do not.
            if turn % 2 > 0 {
                std::thread::sleep(Duration::from_millis(150 * turn));
            }
            if turn % 2 > 0 && going.runs() {
                going.signal(Signal::KILL);
            }
            let (code, said) = going.end();
            let undone = shop.run("undo URL");
            if (turn % 2 == 0 && code != Some(0)) || undone.code != Some(0) {
                stop.store(true, Ordering::Relaxed);
                panic!("{said}\n{undone}");
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    let there = shop.session().one("SELECT count(*) FROM shop.hot WHERE pad = 'w'").expect("it may");
    assert_eq!(there.and_then(|count| count.int()), Some(done.load(Ordering::Relaxed) as i64));
    assert!(done.load(Ordering::Relaxed) > 100);
}

#[test]
fn a_table_of_mariadb_that_a_long_transaction_uses_is_left_and_the_others_go_on() {
    let Some(shop) = shop() else { return };
    shop.plan(&["co@0024ld", "hot"]);
    let mut long = shop.session();
    long.script("BEGIN; UPDATE shop.`co$ld` SET pad = 'z' WHERE id = 1").expect("it may");
    let ran = shop.run("move URL --plan plan.json --lock-timeout 300ms");
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.stderr.contains("left shop.co$ld where it is: somebody holds a lock on it"), "{ran}");
    assert_eq!(shop.on_fast(), ["hot.ibd"]);
    long.script("ROLLBACK").expect("it may");
    // A reader holds the exchange up, and the copy was for nothing.
    let mut reader = shop.session();
    reader.script("BEGIN; SELECT id FROM shop.`co$ld` WHERE id = 1").expect("it may");
    let ran = shop.run("move URL --plan plan.json --lock-timeout 1s");
    assert!(ran.code == Some(1) && ran.stderr.contains("left shop.co$ld where it is: somebody holds a lock"), "{ran}");
    assert!(!shop.is().contains("_prony_"), "{}", shop.is());
    reader.script("ROLLBACK").expect("it may");
    shop.json("move URL --plan plan.json --rate 1GB/s", 0);
    assert_eq!(shop.on_fast(), ["co@0024ld.ibd", "hot.ibd"]);
    shop.json("undo URL", 0);
    shop.is_as_it_was();
}

#[test]
fn a_move_in_mariadb_that_is_killed_at_any_moment_is_undone() {
    let Some(shop) = shop() else { return };
    shop.plan(&["hot", "co@0024ld"]);
    for (turn, signal) in [Signal::KILL, Signal::INT].into_iter().cycle().take(8).enumerate() {
        let mut going =
            shop.house.program.start(&format!("tier move {} --plan plan.json --lock-timeout 20s", shop.url));
        std::thread::sleep(Duration::from_millis(60 + 110 * turn as u64));
        if going.runs() {
            going.signal(signal);
        }
        let (code, said) = going.end();
        assert!(code.is_none_or(|code| code != 1), "{said}");
        shop.json("undo URL", 0);
        shop.is_as_it_was();
    }
}

#[test]
fn a_mariadb_that_is_killed_during_a_move_has_everything_back_after_an_undo() {
    let Some(shop) = shop() else { return };
    shop.plan(&["hot", "co@0024ld"]);
    for after_ms in [150, 400, 700] {
        let going = shop.house.program.start(&format!("tier move {} --plan plan.json", shop.url));
        std::thread::sleep(Duration::from_millis(after_ms));
        let server = shop.database.private().and_then(|server| server.pid()).expect("it runs");
        kill_process(Pid::from_raw(server as i32).expect("a process"), Signal::KILL).expect("ours");
        let (code, said) = going.end();
        assert!(matches!(code, Some(0 | 2)), "{said}");
        shop.house.program.fine("db up local:mariadb");
        shop.json("undo URL", 0);
        shop.is_as_it_was();
    }
}

#[test]
fn what_would_lose_something_or_has_no_room_stays_where_it_is_and_says_why() {
    let Some(mut shop) = shop() else { return };
    shop.plan(&["child", "parent", "watched", "words", "parts#P#p0", "gone"]);
    let ran = shop.run("move URL --plan plan.json");
    assert_eq!(ran.code, Some(1), "{ran}");
    for why in [
        "left shop.child where it is: the foreign key kin would not follow it",
        "left shop.parent where it is: the foreign key kin would not follow it",
        "left shop.watched where it is: its trigger seen would not follow it",
        "left shop.words where it is: its full-text index read_all lies in tables of its own",
        "left shop.parts where it is: it is partitioned",
        "shop.gone is gone",
    ] {
        assert!(ran.stderr.contains(why), "{why}\n{ran}");
    }
    shop.json("undo URL", 0);
    shop.is_as_it_was();
    let Some(small) = Small::mount(shop.house.program.path("small"), "4m") else {
        return skipped("mounting a tmpfs needs root");
    };
    assert!(Command::new("chown").arg("mysql").arg(&small.path).status().expect("chown runs").success());
    shop.fast.clone_from(&small.path);
    shop.plan(&["hot"]);
    let ran = shop.run("move URL --plan plan.json");
    assert!(ran.code == Some(1) && ran.stderr.contains("left shop.hot where it is: no room (it needs"), "{ran}");
    shop.json("undo URL", 0);
    shop.is_as_it_was();
}

#[test]
fn a_reader_of_mariadb_gets_advice_and_a_clear_refusal_to_move() {
    let Some(shop) = shop() else { return };
    shop.plan(&["hot"]);
    let reader = shop.url.replace("root@", "reader@");
    let advised = shop.house.program.run(&format!("tier advise {reader} --window 1s --json"));
    assert_eq!(advised.code, Some(0), "{advised}");
    let told = shop.house.program.refused(&format!("tier move {reader} --plan plan.json"));
    assert!(told.contains("lacks the privilege to make the journal of moves"), "{told}");
    shop.is_as_it_was();
}

#[test]
fn a_balancer_keeps_a_hot_table_of_mariadb_in_the_fast_folder() {
    let Some(shop) = shop() else { return };
    let stop = AtomicBool::new(false);
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut session = shop.session();
            while !stop.load(Ordering::Relaxed) {
                session.script("SELECT sum(length(pad)) FROM shop.hot").expect("it reads");
            }
        });
        let line = format!("balance URL --fast {} --budget 60MiB --every 2s --rounds 1 {TIMES}", shop.fast.display());
        let ran = shop.run(&line);
        stop.store(true, Ordering::Relaxed);
        ran
    });
    assert!(ran.code == Some(0) && ran.stdout.contains("move shop.hot ("), "{ran}");
    assert_eq!(shop.on_fast(), ["hot.ibd"]);
    shop.json("undo URL", 0);
    shop.is_as_it_was();
}

#[test]
fn advice_leaves_out_what_would_not_follow_and_has_the_names_and_sizes_of_a_move() {
    let Some(shop) = shop() else { return };
    let made = "USE shop; CREATE TABLE shop.`o'd` (id int PRIMARY KEY, pad varchar(500)); INSERT INTO shop.`o'd` SELECT seq, repeat('z', 500) \
        FROM seq_1_to_20000; CREATE TABLE shop.`h't` LIKE shop.`o'd`; INSERT INTO shop.`h't` SELECT * FROM shop.`o'd`; \
        CREATE TRIGGER shop.late BEFORE INSERT ON shop.`o'd` FOR EACH ROW SET @a = 1; FLUSH TABLES shop.`o'd`, shop.`h't` FOR EXPORT; \
        UNLOCK TABLES";
    shop.session().script(made).expect("it may");
    let stop = AtomicBool::new(false);
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut session = shop.session();
            while !stop.load(Ordering::Relaxed) {
                for table in ["o'd", "h't"] {
                    session.script(&format!("SELECT sum(length(pad)) FROM shop.`{table}`")).expect("it may");
                }
            }
        });
        let line = format!("advise URL --window 3s {TIMES} --budget 1GiB --fast {} --json", shop.fast.display());
        let ran = shop.run(&line);
        stop.store(true, Ordering::Relaxed);
        ran
    });
    let advice = ran.json();
    hold(&advice);
    shop.house.program.write("plan.json", &ran.raw);
    let of = |list: &str, name: &str| {
        advice[list].as_array().expect("a list").iter().find(|one| one["name"] == name).cloned().unwrap_or_default()
    };
    let bound = of("objects", "shop.o'd");
    assert!(
        bound["stays"] == "its trigger late would not follow it" && of("moves", "shop.o'd").is_null(),
        "{advice:#}"
    );
    assert!(bound["reads"].as_f64().is_some_and(|reads| reads > 0.0), "{bound:#}");
    let planned = of("moves", "shop.h't");
    let dry = shop.json("move URL --plan plan.json --dry-run", 0);
    let would = dry["objects"].as_array().expect("a list").iter().find(|one| one["name"] == "shop.h't");
    let would = would.unwrap_or_else(|| panic!("{dry:#}"));
    assert_eq!(
        (&would["bytes_before"], &would["cost"]["room_bytes"]),
        (&planned["bytes"], &planned["cost"]["room_bytes"])
    );
    // Where it is gone by then, nothing of the plan can be carried out.
    shop.plan(&["h@0027t"]);
    shop.session().script("RENAME TABLE shop.`h't` TO shop.other").expect("it may");
    let ran = shop.run("move URL --plan plan.json");
    assert!(ran.code == Some(1) && ran.stdout == "0 objects moved, 1 object of the plan gone\n", "{ran}");
}

#[test]
fn a_user_of_mariadb_who_may_not_write_the_journal_is_told_before_the_first_move() {
    let Some(shop) = shop() else { return };
    shop.plan(&["hot"]);
    let mut session = shop.session();
    let made = "CREATE USER mover@localhost; GRANT SELECT ON performance_schema.* TO mover@localhost; GRANT PROCESS ON *.* TO mover@localhost; \
        GRANT SELECT, INSERT, CREATE, DROP, ALTER, LOCK TABLES ON shop.* TO mover@localhost; \
        GRANT SELECT, INSERT, DELETE, CREATE, DROP, ALTER ON prony_tier.* TO mover@localhost";
    session.script(made).expect("it may");
    let url = shop.url.replace("root@", "mover@");
    let told = shop.house.program.refused(&format!("tier move {url} --plan plan.json"));
    assert!(told.contains("lacks the privilege to write the journal of moves in the database prony_tier"), "{told}");
    assert!(!told.contains("after "), "it is told before the first move: {told}");
    shop.is_as_it_was();
    session.script("GRANT UPDATE ON prony_tier.* TO mover@localhost").expect("it may");
    // Who may not make triggers is shown them all the same: they would go with the old table.
    session
        .script("CREATE TRIGGER shop.kept BEFORE INSERT ON shop.hot FOR EACH ROW SET NEW.pad = 'kept'")
        .expect("it may");
    let ran = shop.house.program.run(&format!("tier move {url} --plan plan.json"));
    assert!(ran.code == Some(1) && ran.stderr.contains("its trigger kept would not follow it"), "{ran}");
    session.script("DROP TRIGGER shop.kept").expect("it may");
    shop.house.program.fine(&format!("tier move {url} --plan plan.json"));
    assert_eq!(shop.on_fast(), ["hot.ibd"]);
    shop.house.program.fine(&format!("tier undo {url}"));
    shop.is_as_it_was();
}

#[test]
fn a_fast_folder_below_that_of_the_data_is_refused() {
    let Some(shop) = shop() else { return };
    shop.plan(&["hot"]);
    let data =
        shop.session().one("SELECT @@datadir").expect("it may").and_then(|value| value.text().map(str::to_owned));
    let data = data.expect("a folder");
    let inside = format!("{}/shop/fast", data.trim_end_matches('/'));
    let plan = std::fs::read_to_string(shop.house.program.path("plan.json")).expect("the plan");
    shop.house.program.write("inside.json", &plan.replace(&*shop.fast.to_string_lossy(), &inside));
    for command in [
        format!("advise URL --window 1s --fast {data}"),
        format!("advise URL --window 1s --fast {inside}"),
        format!("balance URL --budget 1GiB --every 1s --rounds 1 --dry-run --fast {inside}"),
        "move URL --plan inside.json".to_owned(),
    ] {
        let ran = shop.run(&command);
        let told = ["is, or lies in, the folder of the data", "both tiers are one", "hint: name the tablespace"];
        assert!(ran.code == Some(2) && told.iter().all(|told| ran.stderr.contains(told)), "{command}\n{ran}");
    }
    shop.is_as_it_was();
}
