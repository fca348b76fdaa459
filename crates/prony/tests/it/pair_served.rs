//! A two-phase pair that is served: whatever a client of PostgreSQL does is on both nodes, whoever is killed meanwhile.

use crate::house::House;
use crate::program::{Going, skipped};
use crate::schema::hold;
use database::server::postgres::Server;
use database::server::{Member as _, Private as _};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

/// A pair and who serves it, which end with it.
struct Served {
    house: House,
    going: Going,
    port: String,
}

/// What a program said, and whether it came to its end in order.
struct Said {
    fine: bool,
    out: String,
}

impl Served {
    /// One that replicates; none, said and counted, where PostgreSQL or its clients are not installed.
    fn up(options: &str) -> Option<Served> {
        let house = House::new("null:");
        if ["psql", "pgbench"].iter().any(|name| Command::new(name).arg("--version").output().is_err()) {
            skipped("no clients of PostgreSQL");
            return None;
        }
        let ran = house.program.run(&format!("pair up two-phase-pair --dir pair {options} --json"));
        if ran.stderr.contains("is not installed") {
            skipped("no package of PostgreSQL");
            return None;
        }
        assert_eq!(ran.code, Some(0), "{ran}");
        hold(&ran.json());
        let (going, port) = serve(&house, "127.0.0.1:0");
        Some(Served { house, going, port })
    }

    /// Whoever serves is killed at once, and another one comes.
    fn served_anew(&mut self) {
        self.going.signal(Signal::KILL);
        (self.going, self.port) = serve(&self.house, "127.0.0.1:0");
    }

    fn client(&self, program: &str, arguments: &[&str]) -> Command {
        client(&self.port, program, arguments)
    }

    /// Statements of one client.
    fn psql(&self, sql: &str) -> Said {
        said(self.client("psql", &["-XAtq", "-v", "ON_ERROR_STOP=1", "-v", "VERBOSITY=verbose"]), sql)
    }

    /// The same, which are carried out.
    fn does(&self, sql: &str) -> String {
        let said = self.psql(sql);
        assert!(said.fine, "{sql}\n{}", said.out);
        said.out.trim().to_owned()
    }

    /// The same, of which one is refused in these words.
    fn refuses(&self, sql: &str, words: &str) {
        let said = self.psql(sql);
        assert!(!said.fine && said.out.contains(words), "{sql}\n{}", said.out);
    }

    fn pgbench(&self, arguments: &str) -> Said {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        said(self.client("pgbench", &arguments), "")
    }

    /// pgbench from the beginning: its tables, and some transactions.
    fn begins(&self) -> u64 {
        let filled = self.pgbench("-i -s 1");
        assert!(filled.fine, "{}", filled.out);
        self.banks("-n -c 4 -t 25")
    }

    /// Transactions of pgbench that it counts as done.
    fn banks(&self, arguments: &str) -> u64 {
        let said = self.pgbench(arguments);
        assert!(said.fine, "{}", said.out);
        said.processed()
    }

    /// The sums of a bank are one, and it has no less history than was acknowledged.
    fn balances(&self, acknowledged: u64) {
        let sums = self.does(
            "SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) FROM pgbench_history) \
             AND (SELECT sum(tbalance) FROM pgbench_tellers) = (SELECT sum(bbalance) FROM pgbench_branches) \
             AND (SELECT sum(tbalance) FROM pgbench_tellers) = (SELECT sum(delta) FROM pgbench_history), count(*) FROM pgbench_history",
        );
        let history = sums.strip_prefix("t|").and_then(|count| count.parse::<u64>().ok());
        assert!(history.is_some_and(|history| history >= acknowledged), "{sums}, of {acknowledged}");
    }

    /// A command of the pair that comes to its end with the status.
    fn pair(&self, line: &str) -> Value {
        self.house.pair(line)
    }

    fn is_equal(&self) -> Value {
        self.house.pair("check")
    }

    fn server(&self, node: &str) -> Server {
        Server::at(&self.house.program.path("pair").join(node), Default::default()).expect("it is installed")
    }

    /// A statement on a node itself, past whoever serves.
    fn at(&self, node: &str, sql: &str) -> Result<String, String> {
        let mut session = self.server(node).session("postgres").expect("it answers");
        sql.split(';').try_fold(String::new(), |_, sql| {
            let rows = session.query(sql).map_err(|failure| failure.text)?;
            Ok(rows
                .into_iter()
                .flatten()
                .map(|value| value.text().map_or_else(|| format!("{value:?}"), str::to_owned))
                .collect())
        })
    }

    fn kill(&self, node: &str) {
        let pid = self.server(node).pid().and_then(|pid| Pid::from_raw(pid as i32)).expect("it runs");
        kill_process(pid, Signal::KILL).expect("it is ours");
        while self.server(node).pid().is_some() {
            std::thread::yield_now();
        }
    }

    /// Rows of the bank's history on the primary, once there are so many.
    fn once_there_are(&self, node: &str, rows: u64) {
        let count =
            || self.at(node, "SELECT count(*)::text FROM pgbench_history").ok().and_then(|count| count.parse().ok());
        while count().is_some_and(|count: u64| count < rows) {
            std::thread::yield_now();
        }
    }

    fn nothing_in_doubt(&self) {
        // The last commit on the other node is on its way when the client has its answer.
        let none = "SELECT 1::text WHERE NOT EXISTS (SELECT 1 FROM pg_prepared_xacts)";
        (0..200).find(|_| {
            self.at("b", none).is_ok_and(|row| !row.is_empty()) || self.at("b", "SELECT pg_sleep(0.02)").is_err()
        });
        for node in ["a", "b"] {
            assert_eq!(
                self.at(node, "SELECT count(*)::text FROM pg_prepared_xacts").as_deref(),
                Ok("0"),
                "node {node}"
            );
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.house.program.command("pair down --remove").output();
    }
}

impl Said {
    fn processed(&self) -> u64 {
        let line = self.out.lines().find_map(|line| line.strip_prefix("number of transactions actually processed: "));
        line.and_then(|count| count.split('/').next()?.parse().ok()).unwrap_or_else(|| panic!("{}", self.out))
    }
}

/// A client program at an address of this machine.
fn client(port: &str, program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(["-h", "127.0.0.1", "-p", port, "-U", "prony"]).args(arguments).arg("postgres");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn serve(house: &House, listen: &str) -> (Going, String) {
    let mut going = house.program.start(&format!("pair serve --dir pair --listen {listen}"));
    going.until("listening at ", 1);
    let port =
        going.said().lines().find_map(|line| line.split("listening at 127.0.0.1:").nth(1)).expect("a port").to_owned();
    (going, port)
}

fn said(mut command: Command, input: &str) -> Said {
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let output = std::thread::scope(|scope| {
        // Who ends early reads no more; and who is not heard meanwhile reads no more either.
        scope.spawn(move || stdin.write_all(input.as_bytes()));
        child.wait_with_output().expect("it ends")
    });
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said { fine: output.status.success(), out: text(&output.stdout) + &text(&output.stderr) }
}

/// A client's counter goes up by one, and whoever reads another number than he wrote fails.
const SEES_ITSELF: &str = "UPDATE own SET n = n + 1 WHERE id = :client_id RETURNING n AS wrote \\gset
SELECT n AS read FROM own WHERE id = :client_id \\gset
\\if :read <> :wrote
SELECT read_:read, wrote_:wrote;
\\endif
";

#[test]
fn a_client_of_node_b_reads_there_what_it_committed_and_on_node_a_while_b_is_away() {
    let Some(mut pair) = Served::up("") else { return };
    pair.going.signal(Signal::KILL);
    (pair.going, pair.port) = serve(&pair.house, "127.0.0.1:0 --node b");
    pair.does("CREATE TABLE own (id int PRIMARY KEY, n int); INSERT INTO own SELECT g, 0 FROM generate_series(0, 9) g");
    // Which node answers, said by a function that looks like any other.
    pair.does(
        "CREATE FUNCTION at() RETURNS text LANGUAGE sql AS $$ SELECT right(current_setting('data_directory'), 6) $$",
    );
    assert_eq!(pair.does("SELECT at()"), "b/data");
    assert_eq!(pair.does("UPDATE own SET n = 5 WHERE id = 9; SELECT n FROM own WHERE id = 9"), "5");
    // Of its session both know the same, and what only the primary has is read there.
    let set = "CREATE SCHEMA s; CREATE TABLE s.own (n int); INSERT INTO s.own VALUES (77)";
    pair.does(set);
    assert_eq!(pair.does("SET search_path = s, public; SELECT n, at() FROM own"), "77|b/data");
    assert_eq!(pair.does("BEGIN; SELECT at(); COMMIT"), "a/data");
    assert_eq!(pair.does("CREATE TEMP TABLE own (n int); SELECT count(*), at() FROM own"), "0|a/data");
    assert_eq!(pair.does("CREATE SEQUENCE q; SELECT nextval('q'); SELECT currval('q'), at()"), "1\n1|a/data");
    pair.refuses("SELECT 1/(n-5) FROM own WHERE id = 9", "division by zero");
    let file = pair.house.program.path("own.sql");
    std::fs::write(&file, SEES_ITSELF).expect("a script");
    let script = file.display().to_string();
    let read = |pair: &Served| pair.house.pair("status")["served"][0]["reads_on"].clone();
    for protocol in ["simple", "extended", "prepared"] {
        assert_eq!(pair.banks(&format!("-n -c 4 -t 25 -M {protocol} -f {script}")), 100);
        assert_eq!(read(&pair), "b");
        let far = pair.at("b", "SELECT sum(n)::text FROM public.own").expect("it answers");
        std::thread::scope(|scope| {
            let load =
                scope.spawn(|| pair.banks(&format!("-n -c 4 -t 100 -M {protocol} -f {script} --max-tries 1000")));
            let going = || pair.at("a", "SELECT sum(n)::text FROM public.own").is_ok_and(|now| now == far);
            while going() && !load.is_finished() {
                std::thread::yield_now();
            }
            pair.kill("b");
            assert_eq!(load.join().expect("it ends"), 400, "{protocol}");
        });
        assert_eq!((pair.does("SELECT at()").as_str(), read(&pair)), ("a/data", "a".into()));
        let ran = pair.house.program.run("pair up two-phase-pair --dir pair");
        assert_eq!(ran.code, Some(0), "{ran}");
        pair.pair("resume");
        assert_eq!((pair.does("SELECT at()").as_str(), read(&pair)), ("b/data", "b".into()));
    }
    // Several statements before one point of synchronisation, with and without a name.
    std::fs::write(&file, "\\startpipeline\nSELECT n FROM own WHERE id = 1;\nSELECT at();\nSELECT 1;\n\\endpipeline\n")
        .expect("a script");
    for protocol in ["extended", "prepared"] {
        let reads = || {
            pair.at("b", "SELECT pg_stat_force_next_flush(); SELECT xact_commit::text FROM pg_stat_database WHERE datname = 'postgres'")
        };
        let before: u64 = reads().expect("it answers").parse().expect("a count");
        assert_eq!(pair.banks(&format!("-n -c 2 -t 200 -M {protocol} -f {script}")), 400);
        let after: u64 = reads().expect("it answers").parse().expect("a count");
        assert!(after - before >= 400, "{protocol}: node b read them: {before} to {after}");
    }
    pair.pair("suspend");
    assert_eq!(pair.does("UPDATE own SET n = 6 WHERE id = 9; SELECT n, at() FROM own WHERE id = 9"), "6|a/data");
    assert!(pair.house.program.fine("pair status").contains("because node b is not in step"));
    pair.pair("resume");
    assert_eq!(pair.does("SELECT n, at() FROM own WHERE id = 9"), "6|b/data");
    assert_eq!(pair.is_equal()["equal"], true);
}

#[test]
fn pgbench_fills_and_loads_a_served_pair_in_every_protocol_and_both_nodes_hold_its_rows() {
    let Some(pair) = Served::up("") else { return };
    let mut done = pair.begins();
    for protocol in ["simple", "extended", "prepared"] {
        done += pair.banks(&format!("-n -c 4 -t 10 -M {protocol}"));
    }
    assert_eq!(done, 220);
    // One beside each node, at the same time.
    let (_second, port) = serve(&pair.house, "127.0.0.1:0");
    std::thread::scope(|scope| {
        let beside = scope.spawn(|| said(client(&port, "pgbench", &["-n", "-c", "2", "-t", "20"]), "").processed());
        assert_eq!((pair.banks("-n -c 2 -t 20"), beside.join().expect("it ends")), (40, 40));
    });
    pair.balances(300);
    pair.is_equal();
    pair.nothing_in_doubt();
    assert_eq!(pair.at("b", "SELECT count(*)::text FROM pgbench_history").as_deref(), Ok("300"));
}

#[test]
fn whoever_serves_a_pair_ends_with_it_and_says_so() {
    let Some(mut pair) = Served::up("") else { return };
    assert_eq!(pair.house.program.run("pair down").code, Some(0));
    pair.going.until("the pair is down, so that it is served no more", 1);
    while pair.going.runs() {
        std::thread::yield_now();
    }
}

#[test]
fn one_of_two_that_serve_is_killed_under_load_and_clients_of_the_other_lose_nothing_and_wait_for_nobody() {
    let Some(pair) = Served::up("") else { return };
    let first = pair.begins();
    let (other, port) = serve(&pair.house, "127.0.0.1:0");
    let endless = ["-n", "-c", "3", "-T", "300", "--max-tries", "100"];
    let (lost, kept) = std::thread::scope(|scope| {
        let lost = scope.spawn(|| said(client(&port, "pgbench", &endless), ""));
        let kept = scope.spawn(|| pair.banks("-n -c 3 -t 100 --max-tries 100"));
        pair.once_there_are("a", first + 60);
        other.signal(Signal::KILL);
        (lost.join().expect("it ends"), kept.join().expect("it ends"))
    });
    assert!(!lost.fine, "its clients saw that it went: {}", lost.out);
    assert_eq!(kept, 300);
    pair.balances(first + kept + lost.processed());
    pair.is_equal();
    pair.nothing_in_doubt();
    // Who knows both addresses is served by the one that is left.
    let both = format!("host=127.0.0.1,127.0.0.1 port={port},{} user=prony dbname=postgres", pair.port);
    let mut psql = Command::new("psql");
    psql.args(["-XAtq", "-c", "SELECT 1", &both]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let found = said(psql, "");
    assert!(found.fine && found.out.trim() == "1", "{}", found.out);
}

#[test]
fn values_that_one_node_makes_are_the_same_on_both_whatever_they_are_and_whoever_undoes_them() {
    let Some(pair) = Served::up("") else { return };
    pair.does(
        r#"CREATE TYPE mood AS ENUM ('so', 'la "la"'); CREATE SCHEMA "Odd one";
        CREATE TABLE "Odd one"."T x" ("K" int GENERATED ALWAYS AS IDENTITY, part text, at timestamptz DEFAULT now(), r float8 DEFAULT random(),
            b bytea, a int[], n numeric, m mood, i interval, j jsonb, twice numeric GENERATED ALWAYS AS (n * 2) STORED, gone int,
            u uuid DEFAULT gen_random_uuid(), PRIMARY KEY (part, "K"));
        ALTER TABLE "Odd one"."T x" DROP COLUMN gone;
        SET datestyle = 'SQL, DMY'; SET intervalstyle = 'iso_8601'; SET extra_float_digits = 0; SET bytea_output = 'escape'; SET timezone = 'Asia/Tokyo';
        INSERT INTO "Odd one"."T x" (part, b, a, n, m, i, j) VALUES ('it''s \ "x",(', '\x00ff', '{1,NULL,3}', 'NaN', 'la "la"', '1 day -2 s', '{"a": "\\ ü"}'),
            ('', NULL, '{}', 1.50, NULL, NULL, NULL), (E'new\nline', NULL, NULL, NULL, 'so', NULL, 'null');
        UPDATE "Odd one"."T x" SET n = 1e-30, part = part || '2' WHERE m = 'so';
        DELETE FROM "Odd one"."T x" WHERE part = '';
        CREATE TABLE serials (id serial PRIMARY KEY, v text UNIQUE);
        INSERT INTO serials (v) SELECT 'v' || g FROM generate_series(1, 2500) g;
        UPDATE serials SET v = 'x' || v; DELETE FROM serials WHERE id % 3 = 0;
        UPDATE serials SET id = id + 10000 WHERE id < 50;
        CREATE TABLE logged (what text, at timestamptz DEFAULT clock_timestamp());
        CREATE TABLE made AS SELECT g AS id, random() AS r FROM generate_series(1, 100) g;
        ALTER TABLE serials ADD COLUMN r float8 DEFAULT random();
        CREATE TABLE parted (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);
        CREATE TABLE parted_low PARTITION OF parted FOR VALUES FROM (0) TO (10); CREATE TABLE parted_high PARTITION OF parted DEFAULT;
        INSERT INTO parted VALUES (1, 'a'), (20, 'b'); INSERT INTO parted_low VALUES (2, 'c'); UPDATE parted SET id = id + 9 WHERE id = 2;
        CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES serials ON DELETE CASCADE, v text);
        INSERT INTO child SELECT id, id, 'c' FROM serials WHERE id < 100;
        CREATE FUNCTION follows() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF NEW.v NOT LIKE '%!' THEN UPDATE child SET v = v || '!' WHERE id = NEW.id; END IF; INSERT INTO logged VALUES ('follows'); RETURN NULL; END $$;
        CREATE TRIGGER follows AFTER UPDATE ON child FOR EACH ROW EXECUTE FUNCTION follows();
        UPDATE child SET v = 'new'; DELETE FROM serials WHERE id BETWEEN 60 AND 80;
        DO $$ BEGIN INSERT INTO logged VALUES ('kept'); BEGIN INSERT INTO logged VALUES ('undone'); UPDATE serials SET v = 'undone' WHERE id = 100;
            RAISE 'no'; EXCEPTION WHEN raise_exception THEN NULL; END; END $$;
        BEGIN; INSERT INTO logged VALUES ('one'); SAVEPOINT s; INSERT INTO logged VALUES ('never'); UPDATE serials SET v = 'never' WHERE id = 1000;
        ROLLBACK TO s; INSERT INTO logged VALUES ('two'); RELEASE s; COMMIT;
        BEGIN; INSERT INTO logged VALUES ('never'); CREATE TABLE never (id int); ROLLBACK;
        CREATE TEMP TABLE mine (id int); INSERT INTO mine VALUES (1); DROP TABLE mine; DROP TABLE IF EXISTS nowhere;
        CREATE DATABASE other; CREATE ROLE worker LOGIN; GRANT SELECT ON logged TO worker; CREATE INDEX CONCURRENTLY ON logged (what);
        INSERT INTO logged VALUES ('a'), ('b'); TRUNCATE made; INSERT INTO made VALUES (1, random()); VACUUM made;
        INSERT INTO serials (id, v) VALUES (1, 'up') ON CONFLICT (v) DO NOTHING;
        INSERT INTO serials (id, v) VALUES (10001, 'up') ON CONFLICT (id) DO UPDATE SET v = excluded.v || ' again';
        COPY logged (what) FROM STDIN;
copied \\ \N
\.
        INSERT INTO logged VALUES ('with'), ('copy');
        PREPARE p AS INSERT INTO logged VALUES ($1); EXECUTE p('prepared'); SELECT nextval('serials_id_seq');"#,
    );
    let checked = pair.is_equal();
    assert!(checked["tables"].as_array().is_some_and(|tables| tables.len() == 7), "{checked:#}");
    assert_eq!(pair.does("SELECT count(*) FROM logged WHERE what IN ('never', 'undone')"), "0");
    assert_eq!(
        pair.does("COPY (SELECT count(*) FROM logged WHERE what IN ('kept', 'one', 'two', 'prepared')) TO STDOUT"),
        "4"
    );
    for node in ["a", "b"] {
        let has = "SELECT (SELECT count(*) FROM pg_indexes WHERE tablename = 'logged')::text || has_table_privilege('worker', 'logged', 'SELECT')::text \
            || (SELECT count(*) FROM pg_database WHERE datname = 'other')::text";
        assert_eq!(pair.at(node, has).as_deref(), Ok("1true1"), "node {node}");
    }
    // What is made after the roles have changed is new.
    pair.pair("swap");
    while pair.psql("SELECT 1").out.trim() != "1"
        || pair.at("b", "SELECT last_value::text FROM prony_pair.mode").as_deref() != Ok("1")
    {}
    let next: i64 = pair.does("INSERT INTO serials (v) VALUES ('later') RETURNING id").parse().expect("a number");
    assert!(next > 10_000, "{next}");
    pair.is_equal();
}

#[test]
fn what_cannot_be_kept_in_lock_step_is_refused_by_name_and_so_is_who_goes_past_the_pair() {
    let Some(pair) = Served::up("") else { return };
    pair.does("CREATE TABLE bare (v int); INSERT INTO bare VALUES (1); CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)");
    pair.does("CREATE PROCEDURE ends() LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t VALUES (9); COMMIT; END $$");
    for (sql, words) in [
        ("UPDATE bare SET v = 2", "cannot update public.bare: it has no primary key"),
        ("DELETE FROM bare", "cannot delete public.bare: it has no primary key"),
        ("LISTEN here", "LISTEN and NOTIFY"),
        ("BEGIN; INSERT INTO t VALUES (2); PREPARE TRANSACTION 'x'", "the pair itself commits in two phases"),
        ("SELECT lo_create(0)", "large objects"),
        ("CALL ends()", "COMMIT or ROLLBACK inside of a procedure or DO"),
        ("DO $$ BEGIN INSERT INTO t VALUES (9); COMMIT; END $$", "COMMIT or ROLLBACK inside of a procedure or DO"),
        ("DO $$ BEGIN CREATE TABLE inside (id int); END $$", "definitions inside of a function"),
        ("SET session_replication_role = replica", "session_replication_role"),
        ("ALTER SYSTEM SET work_mem = '1GB'", "settings of a node"),
        ("SET client_encoding = LATIN1; INSERT INTO t VALUES (3)", "in UTF-8 alone"),
        ("SET standard_conforming_strings = off", "standard_conforming_strings = off: a pair"),
        ("SELECT set_config('standard_conforming_strings', 'off', false)", "standard_conforming_strings = off: a pair"),
        ("BEGIN; CREATE TEMP TABLE x (id int); INSERT INTO t VALUES (4); COMMIT", "temporary objects"),
    ] {
        pair.refuses(sql, words);
    }
    assert_eq!(pair.does("SELECT (SELECT sum(id) FROM t), (SELECT sum(v) FROM bare), to_regclass('inside')"), "1|1|");
    pair.is_equal();
    let past = pair.at("a", "INSERT INTO t VALUES (5)").expect_err("it would be on one node");
    assert!(past.contains("prony pair serve") || past.contains("in lock step"), "{past}");
    assert!(pair.at("b", "INSERT INTO t VALUES (5)").is_err());
    let guarded = pair
        .at("b", "SET default_transaction_read_only = off; INSERT INTO t VALUES (5)")
        .expect_err("it is the mirror");
    assert!(guarded.contains("this node is not the primary"), "{guarded}");
    let defined = pair.at("a", "CREATE TABLE here (id int)").expect_err("it would be on one node");
    assert!(defined.contains("in lock step"), "{defined}");
    pair.is_equal();
}

#[test]
fn whoever_switches_triggers_off_changes_nothing_on_one_node_alone() {
    let Some(pair) = Served::up("") else { return };
    pair.does(
        "CREATE TABLE t (id int PRIMARY KEY); CREATE ROLE quiet LOGIN SUPERUSER; ALTER ROLE quiet SET session_replication_role = replica; \
         CREATE FUNCTION quietly() RETURNS void LANGUAGE sql SET session_replication_role = replica AS 'INSERT INTO t VALUES (1)'",
    );
    let role = "session_replication_role = replica";
    let set = "SELECT set_config('session_replication_role', 'replica', false);";
    for (sql, words) in [
        (format!("{set} INSERT INTO t VALUES (2)"), role),
        (format!("{set} CREATE TABLE quiet (id int)"), role),
        (format!("DO $$ BEGIN EXECUTE $x$ {set} $x$; INSERT INTO t VALUES (3); END $$"), role),
        ("SET prony.adopting = on; CREATE TABLE quiet (id int)".to_owned(), "prony.adopting"),
        ("UPDATE pg_trigger SET tgenabled = 'D' WHERE tgname = 'prony_insert'".to_owned(), "switched off on public.t"),
        ("ALTER EVENT TRIGGER prony_defined DISABLE".to_owned(), "an event trigger of the pair is switched off"),
    ] {
        pair.refuses(&sql, words);
    }
    for (name, value) in [("PGOPTIONS", "-c session_replication_role=replica"), ("PGUSER", "quiet")] {
        for sql in
            ["INSERT INTO t VALUES (4)", "BEGIN; INSERT INTO t VALUES (4); COMMIT", "CREATE TABLE quiet (id int)"]
        {
            let mut psql = Command::new("psql");
            psql.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", &pair.port, "postgres"])
                .env(name, value);
            if name == "PGOPTIONS" {
                psql.env("PGUSER", "prony");
            }
            psql.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let said = said(psql, sql);
            assert!(!said.fine && said.out.contains(role), "{name} {sql}\n{}", said.out);
        }
    }
    // What only its caller switches off is told all the same, and what is switched off in order comes back.
    pair.does("SELECT quietly(); ALTER TABLE t DISABLE TRIGGER ALL; INSERT INTO t VALUES (5)");
    // So is what somebody changes who says that it comes from the other node.
    pair.does(
        "CREATE ROLE plain; GRANT ALL ON t TO plain; SET ROLE plain; SET prony.applies = on; INSERT INTO t VALUES (8)",
    );
    pair.pair("suspend");
    pair.at("a", "SET session_replication_role = replica; INSERT INTO t VALUES (6)").expect("it is noted");
    pair.pair("resume");
    pair.is_equal();
    assert_eq!(pair.at("b", "SELECT string_agg(id::text, ',' ORDER BY id) FROM t").as_deref(), Ok("1,5,6,8"));
    let guarded = pair.at(
        "b",
        "SET default_transaction_read_only = off; SET session_replication_role = replica; INSERT INTO t VALUES (7)",
    );
    assert!(guarded.is_err_and(|says| says.contains("this node is not the primary")));
}

#[test]
fn what_would_end_the_mirroring_of_a_table_is_refused_and_keys_that_are_only_equal_are_mirrored() {
    let Some(pair) = Served::up("") else { return };
    pair.does("CREATE TABLE p (id int PRIMARY KEY); INSERT INTO p VALUES (1)");
    pair.refuses("CREATE TABLE c (x int) INHERITS (p)", "public.p is mirrored, and this would end that");
    pair.refuses("ALTER TABLE p SET UNLOGGED", "public.p is mirrored, and this would end that: it is unlogged");
    pair.does("CREATE TABLE f (a int); ALTER TABLE f REPLICA IDENTITY FULL; INSERT INTO f VALUES (1)");
    pair.refuses("UPDATE f SET a = 2", "no primary key and no REPLICA IDENTITY USING INDEX");
    pair.does("CREATE TABLE n (k numeric PRIMARY KEY, v int); INSERT INTO n VALUES (1.0, 1); UPDATE n SET k = 1.00");
    let icu = pair.does("SELECT count(*) FROM pg_collation WHERE collprovider = 'i'") != "0";
    if icu {
        pair.does(
            "CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false); \
             CREATE TABLE k (k text COLLATE ci PRIMARY KEY, v int); INSERT INTO k VALUES ('abc', 1), ('def', 1); UPDATE k SET k = upper(k)",
        );
        assert_eq!(pair.at("b", "SELECT string_agg(k, ',' ORDER BY k) FROM k").as_deref(), Ok("ABC,DEF"));
    }
    pair.pair("suspend");
    pair.does("INSERT INTO p VALUES (2); UPDATE n SET k = 1.000");
    if icu {
        pair.does("UPDATE k SET k = lower(k), v = 2");
    }
    pair.pair("resume");
    pair.is_equal();
    assert_eq!(pair.at("b", "SELECT (SELECT count(*) FROM p)::text || k::text FROM n").as_deref(), Ok("21.000"));
}

#[test]
fn tables_that_are_left_out_are_told_and_no_role_changes_past_their_rows_unless_that_is_accepted() {
    let Some(pair) = Served::up("--leave-out 'public.work_*=only for a while'") else { return };
    pair.does("CREATE TABLE work_a (id int PRIMARY KEY); CREATE MATERIALIZED VIEW seen AS SELECT 1 AS one");
    let left = |status: &Value, name: &str| {
        let all = status["left_out"].as_array().cloned().unwrap_or_default();
        all.into_iter().find(|one| one["table"] == name).unwrap_or_else(|| panic!("{status:#}"))
    };
    let status = pair.pair("status");
    assert_eq!(left(&status, "postgres: public.work_a")["has_rows"], false);
    assert!(left(&status, "postgres: public.seen")["reason"].as_str().is_some_and(|why| why.contains("by itself")));
    let checked = pair.is_equal();
    assert!(left(&checked, "public.seen")["why"].as_str().is_some_and(|why| why.contains("materialized")));
    pair.pair("swap");
    while !pair.psql("INSERT INTO work_a VALUES (1)").fine {}
    assert_eq!(left(&pair.pair("status"), "postgres: public.work_a")["has_rows"], true);
    let refused = pair.house.program.refused("pair swap");
    assert!(refused.contains("public.work_a") && refused.contains("--accept-missing"), "{refused}");
    pair.kill("b");
    let refused = pair.house.program.refused("pair resume");
    assert!(refused.contains("node b does not answer"), "{refused}");
    let refused = pair.house.program.refused("pair take-over");
    assert!(refused.contains("public.work_a") && refused.contains("--accept-missing"), "{refused}");
    assert_eq!(pair.pair("take-over --accept-missing")["primary"], "a");
    let refused = pair.house.program.refused("pair serve --dir pair --listen 127.0.0.1:0 --patience 1ms");
    assert!(refused.contains("at least 100 ms"), "{refused}");
}

#[test]
fn what_a_lost_mirror_kept_prepared_is_ended_though_its_clients_go_on() {
    let Some(pair) = Served::up("") else { return };
    pair.does("CREATE TABLE steps (id int PRIMARY KEY)");
    let mut open = said_by(&pair);
    let find = "SELECT coalesce(min(pid), 0)::text FROM pg_stat_activity WHERE application_name = 'psql'";
    let owner = || pair.at("a", find).expect("it answers");
    while owner() == "0" {}
    let owner = owner();
    for (node, id) in [("a", 1), ("b", 1), ("a", 2), ("b", 2)] {
        let sql = format!(
            "SET default_transaction_read_only = off; SET prony.served = on; SET prony.applies = on; BEGIN; INSERT INTO steps VALUES ({id}); \
             PREPARE TRANSACTION 'prony_{owner}_1_{id}'"
        );
        pair.at(node, &sql).expect("it may");
    }
    pair.at("a", &format!("COMMIT PREPARED 'prony_{owner}_1_1'")).expect("it is prepared");
    pair.pair("status");
    let left = "SELECT string_agg(gid, ',') FROM pg_prepared_xacts";
    for node in ["a", "b"] {
        // Who has not decided on the primary yet still may.
        assert_eq!(pair.at(node, left), Ok(format!("prony_{owner}_1_2")), "node {node}");
    }
    drop(open.stdin.take());
    open.wait().expect("it ends");
    while pair.at("a", find).is_ok_and(|pid| pid != "0") {}
    pair.pair("status");
    pair.nothing_in_doubt();
    assert_eq!(pair.at("b", "SELECT string_agg(id::text, ',' ORDER BY id) FROM steps").as_deref(), Ok("1,2"));
    pair.is_equal();
}

#[test]
fn whoever_compares_lets_clients_go_on_and_says_in_the_end_why_it_did_not_come_to_that() {
    let Some(pair) = Served::up("") else { return };
    pair.does(
        "CREATE TABLE first (id int PRIMARY KEY, n int); CREATE TABLE second (id int PRIMARY KEY, n int); \
        INSERT INTO first VALUES (1, 0); INSERT INTO second VALUES (1, 0)",
    );
    let client = std::thread::scope(|scope| {
        let crosses =
            "BEGIN; UPDATE second SET n = 1; SELECT pg_sleep(2); UPDATE first SET n = 1; SELECT pg_sleep(2); COMMIT";
        let client = scope.spawn(|| pair.psql(crosses));
        let held =
            "SELECT count(*)::text FROM pg_locks WHERE relation = 'second'::regclass AND mode = 'RowExclusiveLock'";
        while pair.at("a", held).as_deref() == Ok("0") {}
        pair.is_equal();
        client.join().expect("it ends")
    });
    assert!(client.fine, "{}", client.out);
    pair.pair("suspend");
    let mut open = said_by(&pair);
    open.stdin
        .as_mut()
        .expect("a pipe")
        .write_all(b"BEGIN; LOCK TABLE second IN ROW EXCLUSIVE MODE;\n")
        .expect("it is there");
    let held = "SELECT count(*)::text FROM pg_locks WHERE relation = 'second'::regclass AND mode = 'RowExclusiveLock'";
    while pair.at("a", held).as_deref() == Ok("0") {}
    let refused = pair.house.program.refused("pair resume");
    assert!(refused.contains("cannot lock its tables"), "{refused}");
    assert_eq!(pair.pair("status")["state"], "tracking");
    drop(open.stdin.take());
    open.wait().expect("it ends");
    assert_eq!(pair.pair("resume")["state"], "replicating");

    // Rows that somebody changed on the mirror alone.
    pair.pair("suspend");
    pair.at("b", "SET default_transaction_read_only = off; SET prony.applies = on; DELETE FROM first").expect("it may");
    let differs = pair.house.program.run("pair resume --json");
    assert_eq!((differs.code, &differs.json()["state"]), (Some(1), &"diverged".into()), "{differs}");
    let copied = pair.house.program.run("pair resume");
    assert!(copied.code == Some(0) && copied.stderr.contains("everything is copied to node b"), "{copied}");
    assert!(!copied.stderr.contains("sent 0 rows"), "{copied}");
    pair.is_equal();
}

#[test]
fn clients_hear_of_a_change_of_roles_as_of_a_conflict() {
    let Some(pair) = Served::up("") else { return };
    pair.does("CREATE TABLE pgbench_history (id serial PRIMARY KEY)");
    // More than it can send while roles change on a slow machine, where each is refused at once: its session ends before.
    let inserts = "INSERT INTO pgbench_history DEFAULT VALUES;\n".repeat(200_000);
    let said = std::thread::scope(|scope| {
        let client = scope.spawn(|| said(pair.client("psql", &["-XAtq", "-v", "VERBOSITY=verbose"]), &inserts));
        pair.once_there_are("a", 20);
        pair.pair("swap");
        client.join().expect("it ends")
    });
    assert!(said.out.contains("57P01") && !said.out.contains("25006"), "{}", said.out);
    let read_only = pair.psql("BEGIN READ ONLY; DELETE FROM pgbench_history");
    assert!(read_only.out.contains("25006"), "what a client asked for itself stays: {}", read_only.out);
    pair.is_equal();
}

#[test]
fn what_changes_while_a_pair_is_suspended_is_sent_once_and_what_was_left_out_is_added_back() {
    let Some(pair) = Served::up("--leave-out 'public.work_*=only for a while'") else { return };
    pair.begins();
    pair.does("CREATE TABLE work_a (id int PRIMARY KEY); INSERT INTO work_a VALUES (1); CREATE TABLE kept (v text)");
    let checked = pair.is_equal();
    assert_eq!(checked["left_out"][0]["why"], "only for a while");
    let suspended = pair.pair("suspend");
    assert_eq!(
        (&suspended["state"], &suspended["left_out"][0]["pattern"]),
        (&"tracking".into(), &"public.work_*".into())
    );
    pair.banks("-n -c 4 -t 100");
    // Straight to the primary is allowed now, and noted.
    pair.at(
        "a",
        "UPDATE pgbench_accounts SET abalance = abalance WHERE aid <= 100; DELETE FROM pgbench_tellers WHERE false",
    )
    .expect("it may");
    pair.does("CREATE TABLE later (id int PRIMARY KEY, r float8 DEFAULT random()); INSERT INTO later SELECT generate_series(1, 50); TRUNCATE kept");
    pair.does("INSERT INTO kept VALUES ('x'); ALTER TABLE later ADD COLUMN s float8 DEFAULT random(); ALTER TABLE kept ADD PRIMARY KEY (v)");
    let distinct: u64 =
        pair.at("a", "SELECT count(*)::text FROM prony_pair.changed").expect("it answers").parse().expect("a number");
    assert_eq!(pair.house.program.run("pair check").code, Some(1), "they differ");
    let lacks = pair.pair("status");
    assert!(lacks["behind_objects"].as_u64() > Some(3), "{lacks:#}");
    let resumed = pair.pair("resume --parallel 2");
    assert_eq!(resumed["state"], "replicating");
    let sent = resumed["sent"]["rows"].as_u64().expect("a number");
    assert!(sent > 0 && sent as f64 <= 1.2 * distinct as f64, "{sent} rows of {distinct}");
    pair.is_equal();
    let adding = pair.pair("add public.work_a");
    assert_eq!((&adding["state"], &adding["added"][0]), (&"replicating".into(), &"public.work_a".into()));
    pair.does("INSERT INTO work_a VALUES (2)");
    assert_eq!(pair.is_equal()["left_out"], serde_json::json!([]));
    assert_eq!(pair.at("b", "SELECT sum(id)::text FROM work_a").as_deref(), Ok("3"));
    assert!(pair.house.program.refused("pair add public.nowhere").contains("is left out"));
}

#[test]
fn a_mirror_that_is_killed_under_load_costs_no_acknowledged_transaction_and_is_resumed_under_load() {
    let Some(pair) = Served::up("") else { return };
    let begun = pair.begins();
    let load = |transactions: &str| {
        let arguments = format!("-n -c 4 --max-tries 1000 -t {transactions}");
        move |pair: &Served| pair.banks(&arguments)
    };
    let first = std::thread::scope(|scope| {
        let work = scope.spawn(|| load("100")(&pair));
        pair.once_there_are("a", begun + 50);
        pair.kill("b");
        work.join().expect("it ends")
    });
    assert_eq!(first, 400, "who is told to try again comes through");
    assert_eq!(pair.pair("status")["reason"], "the mirror does not answer");
    assert_eq!(pair.pair("up two-phase-pair")["state"], "tracking");
    let second = std::thread::scope(|scope| {
        let work = scope.spawn(|| load("100")(&pair));
        pair.once_there_are("a", begun + first + 20);
        assert_eq!(pair.pair("resume")["state"], "replicating");
        work.join().expect("it ends")
    });
    pair.is_equal();
    pair.balances(begun + first + second);
    pair.nothing_in_doubt();
}

#[test]
fn a_mirror_that_hangs_is_given_up_and_a_list_that_is_full_means_a_copy() {
    let Some(pair) = Served::up("--list 32MiB") else { return };
    let begun = pair.begins();
    let first = pair.server("b").pid().expect("it runs");
    let children = std::fs::read_to_string(format!("/proc/{first}/task/{first}/children")).expect("it runs");
    for pid in children.split_whitespace().filter_map(|pid| pid.parse().ok()).chain([first as i32]) {
        // A session may have ended meanwhile.
        let _ = kill_process(Pid::from_raw(pid).expect("a number"), Signal::STOP);
    }
    let done = pair.banks("-n -c 2 -t 20 --max-tries 1000");
    assert_eq!(pair.pair("status")["reason"], "the mirror does not answer");
    assert_eq!(pair.pair("up two-phase-pair")["state"], "tracking");
    pair.does("CREATE TABLE much (v text); INSERT INTO much SELECT repeat('x', 1000) FROM generate_series(1, 40000)");
    assert_eq!(pair.pair("status")["state"], "copy-needed");
    assert_eq!(
        pair.at("a", "SELECT count(*)::text FROM prony_pair.changed").as_deref(),
        Ok("0"),
        "nothing is noted in vain"
    );
    pair.does("INSERT INTO much VALUES ('more')");
    assert_eq!(pair.pair("resume")["state"], "replicating");
    pair.balances(begun + done);
    pair.is_equal();
}

#[test]
fn a_primary_that_is_killed_is_succeeded_without_a_loss_and_comes_back_as_the_mirror() {
    let Some(pair) = Served::up("") else { return };
    let begun = pair.begins();
    // Its numbers are in no row: in lock step the other node is told how far it comes.
    assert_eq!(pair.does("CREATE SEQUENCE loose; SELECT nextval('loose')"), "1");
    let done = std::thread::scope(|scope| {
        let work = scope.spawn(|| pair.pgbench("-n -c 4 -t 100000"));
        pair.once_there_are("a", begun + 50);
        pair.kill("a");
        work.join().expect("it ends")
    });
    assert!(done.out.contains("FATAL"), "{}", done.out);
    let acknowledged = begun + done.processed();
    let blocked = pair.pair("status");
    assert!(blocked["says"].as_str().is_some_and(|says| says.contains("node b has all")), "{blocked:#}");
    assert!(blocked["served"][0]["process"].is_u64() && blocked["served"][0]["reads_on"].is_null(), "{blocked:#}");
    let told = pair.house.program.fine("pair status");
    assert!(told.contains("no reads and no writes, since node a, the primary, does not answer"), "{told}");
    let taken = pair.house.program.run("pair take-over --json");
    assert_eq!((taken.code, &taken.json()["primary"]), (Some(0), &"b".into()), "{taken}");
    assert!(!taken.stderr.contains("sequences"), "{taken}");
    while !pair.psql("SELECT 1").fine {}
    pair.balances(acknowledged);
    let more = pair.banks("-n -c 4 -t 25");
    assert_eq!(pair.pair("up two-phase-pair")["nodes"]["a"]["writes"], false);
    assert_eq!(pair.pair("resume")["state"], "replicating");
    pair.balances(acknowledged + more);
    pair.is_equal();
    pair.nothing_in_doubt();

    // A primary that is lost while it was alone: what is missing is said, and thrown away only when that is accepted.
    pair.pair("suspend");
    let alone = pair.banks("-n -c 2 -t 5");
    let seen = pair.pair("status")["seen_last"].clone();
    pair.kill("b");
    let blocked = pair.pair("status");
    let says = blocked["says"].as_str().expect("a sentence");
    assert!(says.contains("lacks at least ") && says.contains(", as seen last "), "{says}");
    assert!(seen.is_string() && blocked["seen_last"].is_string(), "{blocked:#}");
    assert!(pair.house.program.fine("pair status").contains("lacking: at least "), "what came since is not known");
    let refused = pair.house.program.refused("pair take-over");
    assert!(refused.contains("public.pgbench_history") && refused.contains("--accept-missing"), "{refused}");
    let taken = pair.house.program.run("pair take-over --accept-missing");
    assert!(taken.stderr.contains("how far it came in the sequences public.loose, which no column owns"), "{taken}");
    while !pair.psql("SELECT 1").fine {}
    pair.balances(acknowledged + more);
    pair.pair("up two-phase-pair");
    assert_eq!(pair.pair("resume")["state"], "replicating");
    pair.is_equal();
    let history: u64 = pair.does("SELECT count(*) FROM pgbench_history").parse().expect("a number");
    assert!(
        alone == 10 && history < acknowledged + more + alone + 4,
        "what only the lost primary had is gone from both"
    );
}

/// Sequences of every kind that no column owns, and one that a column owns.
const SEQUENCES: &str = "CREATE SEQUENCE plain; CREATE SEQUENCE short MAXVALUE 5; CREATE SEQUENCE down INCREMENT -2 CACHE 10; \
    CREATE SEQUENCE round MAXVALUE 100 CYCLE; CREATE SEQUENCE \"Set by hand\"; CREATE TABLE one (id serial PRIMARY KEY); \
    CREATE TABLE t (id bigint PRIMARY KEY)";

#[test]
fn a_take_over_gives_no_number_of_a_sequence_twice_and_loses_none_of_its_last_ones() {
    let Some(mut pair) = Served::up("") else { return };
    pair.does(SEQUENCES);
    for _ in 0..2 {
        // Alone, and with rows in the same commit.
        pair.does("SELECT nextval('plain'), nextval('short'), nextval('down')");
        pair.does("INSERT INTO t VALUES (nextval('plain')); SELECT nextval('down')");
        // Another one who serves knows nothing of what was told.
        pair.served_anew();
    }
    pair.does("SELECT nextval('short'); SELECT setval('\"Set by hand\"', 1000, false)");
    pair.does("SELECT nextval('plain') FROM generate_series(1, 100)");
    assert_eq!(pair.does("SELECT setval('round', 99); SELECT nextval('round'); SELECT nextval('round')"), "99\n100\n1");
    assert_eq!(pair.does("INSERT INTO one DEFAULT VALUES RETURNING id"), "1");
    // What is undone may be given again, and what another node refuses is told with the next commit.
    pair.does("CREATE SEQUENCE late; CREATE TABLE refused (id bigint PRIMARY KEY)");
    let there = |sql: &str| {
        let alone = "SET default_transaction_read_only = off; SET prony.applies = 'on'";
        pair.at("b", &format!("{alone}; {sql} refused")).expect("it is there alone")
    };
    there("INSERT INTO refused VALUES (1); TABLE");
    pair.refuses("INSERT INTO refused VALUES (nextval('late'))", "did not take what node a took");
    there("DELETE FROM");
    assert_eq!(pair.does("SELECT nextval('late')"), "2");
    pair.kill("a");
    pair.pair("status");
    let taken = pair.house.program.run("pair take-over");
    assert!(taken.code == Some(0) && !taken.stderr.contains("sequences"), "{taken}");
    while !pair.psql("SELECT 1").fine {}
    let next = |sequence: &str| pair.does(&format!("SELECT nextval('{sequence}')")).parse::<i64>().expect("a number");
    let (plain, down, late) = (next("plain"), next("down"), next("late"));
    assert!((105..=104 + 33).contains(&plain) && (3..=2 + 33).contains(&late), "{plain} and {late}");
    // Each session took ten numbers at once.
    assert!((-1 - 2 * (40 + 33)..-1 - 2 * 3).contains(&down), "{down}");
    assert_eq!((next("short"), next("round")), (4, 2));
    assert!((1000..=1000 + 32).contains(&next("\"Set by hand\"")));
    assert_eq!(pair.does("INSERT INTO one DEFAULT VALUES RETURNING id"), "2");

    // Both change their roles in order: each goes on with the very next number.
    pair.pair("up two-phase-pair");
    assert_eq!(pair.pair("resume")["state"], "replicating");
    pair.does("SELECT setval('\"Set by hand\"', 5000, false)");
    pair.pair("swap");
    while !pair.psql("SELECT 1").fine {}
    let next = |sequence: &str| pair.does(&format!("SELECT nextval('{sequence}')")).parse::<i64>().expect("a number");
    assert_eq!((next("plain"), next("late"), next("short"), next("\"Set by hand\"")), (plain + 1, late + 1, 5, 5000));
}

#[test]
fn sequences_that_were_used_while_the_other_node_was_away_are_told_when_it_is_back() {
    let Some(pair) = Served::up("") else { return };
    pair.does("CREATE SEQUENCE plain; SELECT nextval('plain')");
    pair.kill("b");
    // Whoever uses it first finds that the node is gone, and is answered once the primary goes on alone.
    assert_eq!(pair.does("SELECT max(nextval('plain')) FROM generate_series(1, 50)"), "51");
    pair.pair("up two-phase-pair");
    assert_eq!(pair.pair("resume")["state"], "replicating");
    pair.kill("a");
    pair.pair("status");
    let taken = pair.house.program.run("pair take-over");
    assert!(taken.code == Some(0) && !taken.stderr.contains("sequences"), "{taken}");
    while !pair.psql("SELECT 1").fine {}
    let next: u64 = pair.does("SELECT nextval('plain')").parse().expect("a number");
    assert!((52..=51 + 33).contains(&next), "{next}");
}

#[test]
fn whoever_serves_may_be_killed_between_any_two_steps_and_nothing_stays_in_doubt() {
    let Some(mut pair) = Served::up("") else { return };
    let mut acknowledged = pair.begins();
    for round in 1..=6 {
        let begun = acknowledged;
        let killed = std::thread::scope(|scope| {
            let work = scope.spawn(|| pair.pgbench("-n -c 4 -t 100000"));
            pair.once_there_are("a", begun + 7 * round);
            pair.going.signal(Signal::KILL);
            work.join().expect("it ends")
        });
        acknowledged += killed.processed();
        pair.served_anew();
        pair.pair("status");
        pair.nothing_in_doubt();
        pair.balances(acknowledged);
        acknowledged = pair.does("SELECT count(*) FROM pgbench_history").parse().expect("a number");
    }
    pair.is_equal();
    // What was prepared on one node alone, on both, and committed on one, as by one who was killed there.
    pair.does("CREATE TABLE steps (id int PRIMARY KEY)");
    let prepared = |node: &str, id: u32| {
        let sql = format!(
            "SET default_transaction_read_only = off; SET prony.served = on; SET prony.applies = on; BEGIN; INSERT INTO steps VALUES ({id}); \
             PREPARE TRANSACTION 'prony_999999_1_{id}'"
        );
        pair.at(node, &sql).expect("it may");
    };
    for (node, id) in [("a", 1), ("a", 2), ("b", 2), ("a", 3), ("b", 3)] {
        prepared(node, id);
    }
    pair.at("a", "COMMIT PREPARED 'prony_999999_1_3'").expect("it is prepared");
    pair.pair("status");
    pair.nothing_in_doubt();
    assert_eq!(pair.does("SELECT string_agg(id::text, ',') FROM steps"), "2,3");
    pair.is_equal();
}

#[test]
fn a_resume_that_is_killed_beside_a_load_is_gone_on_with() {
    let Some(pair) = Served::up("") else { return };
    let mut acknowledged = pair.begins();
    for round in 0..4 {
        pair.pair("suspend");
        acknowledged += pair.banks("-n -c 4 -t 50");
        let more = std::thread::scope(|scope| {
            let work = scope.spawn(|| pair.banks("-n -c 2 -t 100 --max-tries 1000"));
            let killed = pair.house.program.start("pair resume --dir pair");
            pair.once_there_are("a", acknowledged + 10 * round);
            drop(killed);
            if pair.pair("status")["state"] != "replicating" {
                assert_eq!(pair.pair("resume")["state"], "replicating");
            }
            work.join().expect("it ends")
        });
        acknowledged += more;
        pair.is_equal();
    }
    pair.balances(acknowledged);
    pair.nothing_in_doubt();
}

#[test]
fn clients_that_deadlock_or_say_nonsense_hurt_nobody_else() {
    let Some(pair) = Served::up("") else { return };
    pair.does("CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t VALUES (1, 0), (2, 0); SET deadlock_timeout = '100ms'");
    let crosses = |first: u32, second: u32| {
        format!(
            "SET deadlock_timeout = '100ms'; BEGIN; UPDATE t SET n = n + 1 WHERE id = {first}; SELECT pg_sleep(0.5); \
             UPDATE t SET n = n + 1 WHERE id = {second}; COMMIT; "
        )
    };
    let both = std::thread::scope(|scope| {
        [(1, 2), (2, 1)]
            .map(|(a, b)| {
                scope.spawn({
                    let (pair, sql) = (&pair, crosses(a, b));
                    move || pair.psql(&sql)
                })
            })
            .map(|thread| thread.join().expect("it ends"))
    });
    assert!(
        both.iter().any(|said| said.out.contains("40P01")) && both.iter().any(|said| said.fine),
        "{} {}",
        both[0].out,
        both[1].out
    );
    assert_eq!(pair.does("SELECT sum(n) FROM t"), "2");
    let serializes = "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT sum(n) FROM t; SELECT pg_sleep(0.5); UPDATE t SET n = n + 1 WHERE id = 1; COMMIT";
    let both = std::thread::scope(|scope| {
        [0, 1].map(|_| scope.spawn(|| pair.psql(serializes))).map(|thread| thread.join().expect("it ends"))
    });
    assert!(both.iter().any(|said| said.out.contains("40001")), "{} {}", both[0].out, both[1].out);

    let mut open = said_by(&pair);
    for nonsense in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0, 0, 0, 4],
        &[0xff; 64],
        &[0, 0, 0, 8, 0, 9, 0, 0],
        b"\0\0\0\x09\0\x03\0\0\0",
    ] {
        let mut stream = TcpStream::connect(format!("127.0.0.1:{}", pair.port)).expect("it listens");
        let _ = stream.write_all(nonsense);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty() || answer[0] == b'E', "{nonsense:?}: {answer:?}");
    }
    // A message that says it is longer than any, behind a start in order.
    let mut stream = TcpStream::connect(format!("127.0.0.1:{}", pair.port)).expect("it listens");
    stream.write_all(b"\0\0\0\x26\0\x03\0\0user\0prony\0database\0postgres\0\0").expect("it reads");
    stream.write_all(b"Q\x7f\xff\xff\xff").expect("it reads");
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(String::from_utf8_lossy(&answer).contains("08P01"), "{}", String::from_utf8_lossy(&answer));
    open.stdin.take().expect("a pipe").write_all(b"INSERT INTO t VALUES (9, 9);\n").expect("it is there");
    assert!(open.wait().expect("it ends").success(), "whoever was there before is served");
    assert_eq!(pair.does("SELECT n FROM t WHERE id = 9"), "9");
    pair.is_equal();
}

/// A client that is connected and has not said anything yet.
fn said_by(pair: &Served) -> std::process::Child {
    let mut child = pair.client("psql", &["-XAtq", "-v", "ON_ERROR_STOP=1"]).spawn().expect("it starts");
    child.stdin.as_mut().expect("a pipe").write_all(b"SELECT 1;\n").expect("it is there");
    child
}
