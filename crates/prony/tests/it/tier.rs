//! Advice and moves between tiers, on private servers: what is hot is found, moved, kept whole by whatever happens, and put back.

use crate::emulate::Device;
use crate::house::House;
use crate::program::{Program, Ran, skipped};
use crate::schema::hold;
use crate::skip;
use crate::small::Small;
use database::{Database, OpenOptions, Session};
use recorder::{Clock as _, WallClock};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use study::{At, DatabaseSpec, Engine};

/// One hot table among colder ones, far from what fits the buffer, with an index and long values.
const TABLES: &str = "CREATE TABLE hot (id int PRIMARY KEY, pad text); CREATE TABLE cold (id int PRIMARY KEY, pad text); \
    CREATE TABLE idle (id int PRIMARY KEY, long text); \
    INSERT INTO hot SELECT n, repeat('x', 500) FROM generate_series(1, 20000) n; \
    INSERT INTO cold SELECT n, repeat('x', 500) FROM generate_series(1, 60000) n; \
    INSERT INTO idle SELECT n, repeat(md5(n::text), 200) FROM generate_series(1, 500) n; \
    CREATE INDEX hot_length ON hot (length(pad), id); CREATE ROLE reader LOGIN; GRANT SELECT ON hot, cold, idle TO reader; ANALYZE; \
    CHECKPOINT";

/// Ninety-nine reads of the hot table for one of the cold one.
const READS: &str = "SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT sum(length(h.pad)) FROM \
    generate_series(1, 1980) n, LATERAL (SELECT pad FROM hot WHERE id = 1 + (n * 7919) % 20000 OFFSET 0) h; \
    SELECT sum(length(c.pad)) FROM generate_series(1, 20) n, LATERAL (SELECT pad FROM cold WHERE id = 1 + (n * 7919) % 60000 OFFSET 0) c";

/// As few of the hot table as a device answers within a fraction of a second: what a transaction read is counted when it ends.
const FEW: &str = "SET enable_seqscan = off; SET enable_bitmapscan = off; SELECT sum(length(h.pad)) FROM \
    (SELECT 1 + floor(20000 * random())::int AS id FROM generate_series(1, 200)) n, LATERAL (SELECT pad FROM hot WHERE id = n.id OFFSET 0) h";

/// Times that make the page cache of the test's machine a disk.
pub const TIMES: &str = "--slow-read 40us --fast-read 2us --slow-flush 40us --fast-flush 2us";

struct Tiers {
    house: House,
    database: Arc<dyn Database>,
    url: String,
    reader: String,
}

/// The server of a house, started anew with these settings.
pub fn open(house: &House, engine: Engine, settings: &[(&str, &str)]) -> Arc<dyn Database> {
    let cache_dir = house.program.path("cache");
    let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let dataset = None;
    let options = OpenOptions { cache_dir, dataset, settings, profiling: Default::default(), stop: Default::default() };
    database::open(&DatabaseSpec::new(engine, At::Local), &options).expect("the server runs").into()
}

/// A private PostgreSQL with a small buffer, a tablespace `fast`, and tables.
fn tiers() -> Option<Tiers> {
    let tiers = server()?;
    tiers.session().script(TABLES).expect("it may");
    Some(tiers)
}

/// The same with its tables on an emulated device of which nobody keeps pages: what memory answers is moved nowhere. What the test makes
/// there it drops.
fn on_a_device(test: impl FnOnce(&Tiers)) {
    let Some(tiers) = server() else { return };
    let Some(device) = Device::mount_at(&tiers.house.program, "nand-device --no-page-cache", "at") else {
        skip!("mounting needs root and /dev/fuse")
    };
    let folder = device.at("space");
    fs::create_dir(&folder).expect("a folder");
    let socket = tiers.database.private().expect("it is private").socket_folder();
    let owned = Command::new("chown").arg("--reference").arg(socket).arg(&folder).status();
    assert!(owned.expect("it starts").success());
    let mut session = tiers.session();
    session.script(&format!("CREATE TABLESPACE slow LOCATION '{}'", folder.display())).expect("it may");
    session.script("SET default_tablespace = slow").expect("it may");
    session.script(TABLES).expect("it may");
    test(&tiers);
    session.script("DROP TABLE hot, cold, idle").expect("it may");
    session.script("DROP TABLESPACE slow").expect("nothing is left in it");
    drop(session);
    device.unmount();
}

fn server() -> Option<Tiers> {
    let house = House::with_server("local:postgres")?;
    let database = open(&house, Engine::Postgres, &[("shared_buffers", "1MB"), ("track_io_timing", "on")]);
    let folder = database.private().expect("it is private").socket_folder();
    let url = |user: &str| format!("'postgres://{user}@/postgres?host={}'", folder.display());
    let mut session = database.outside().expect("a session");
    session.script("SET allow_in_place_tablespaces = on").expect("it may");
    session.script("CREATE TABLESPACE fast LOCATION ''").expect("it may");
    Some(Tiers { url: url("prony"), reader: url("reader"), database, house })
}

impl Tiers {
    fn session(&self) -> Box<dyn Session> {
        self.database.outside().expect("a session")
    }

    fn run(&self, line: &str) -> Ran {
        self.house.program.run(&format!("tier {line}").replace("URL", &self.url))
    }

    /// Runs it and expects that exit code; what it printed as JSON.
    fn json(&self, line: &str, code: i32) -> Value {
        let ran = self.run(&format!("{line} --json"));
        assert_eq!(ran.code, Some(code), "{line}\n{ran}");
        let value = ran.json();
        hold(&value);
        value
    }

    /// Advice over a window in which the hot table is read, as a plan in `plan.json`.
    fn advised(&self, options: &str) -> Value {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut session = self.session();
                while !stop.load(Ordering::Relaxed) {
                    session.script(READS).expect("it reads");
                }
            });
            let ran = self.run(&format!("advise URL --window 4s {TIMES} --json {options}"));
            stop.store(true, Ordering::Relaxed);
            assert_eq!(ran.code, Some(0), "{ran}");
            self.house.program.write("plan.json", &ran.raw);
            hold(&ran.json());
            ran.json()
        })
    }

    /// Where every table and index lies; a bare name where that is the place of the database, or the device.
    fn places(&self) -> BTreeMap<String, String> {
        let sql = "SELECT c.relname::text, coalesce(nullif(t.spcname, 'slow')::text, '') FROM pg_class c \
                   LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE c.oid >= 16384 AND c.relkind IN ('r', 'i') \
                   AND c.relnamespace = 'public'::regnamespace";
        let text = |row: &[workload::transaction::Value], at: usize| row[at].text().unwrap_or_default().to_owned();
        self.session().query(sql).expect("it may").iter().map(|row| (text(row, 0), text(row, 1))).collect()
    }

    fn fast(&self) -> Vec<String> {
        self.places().into_iter().filter(|(_, place)| place == "fast").map(|(name, _)| name).collect()
    }

    /// The rows as they were made, every index valid, and nothing of ours left.
    fn is_as_it_was(&self) {
        assert_eq!(self.fast(), [""; 0]);
        let mut session = self.session();
        let rows = session.query(
            "SELECT (SELECT count(*) FROM hot), (SELECT sum(length(long)) FROM idle), \
             (SELECT count(*) FROM pg_index WHERE NOT indisvalid), (SELECT count(*) FROM pg_namespace WHERE nspname = 'prony_tier'), \
             (SELECT count(*) FROM pg_class WHERE relname ~ '_cc(new|old)')",
        );
        let numbers: Vec<f64> = rows.expect("it may")[0].iter().filter_map(|value| value.number()).collect();
        assert_eq!(numbers, [20_000.0, 3_200_000.0, 0.0, 0.0, 0.0]);
        assert_eq!(self.places().len(), 7, "{:?}", self.places());
    }
}

#[test]
fn a_study_of_tiers_holds_what_each_step_gives_against_its_promise_and_leaves_no_step_behind() {
    proves("local:postgres", "");
}

#[test]
fn a_study_of_tiers_proves_the_advice_on_mariadb_table_by_table() {
    let settings = "innodb_buffer_pool_size=8M;performance_schema=ON";
    proves("local:mariadb", &format!("--on local:mariadb --set layout=all-slow --set server={settings}"));
}

fn proves(server: &'static str, on: &str) {
    let Some(house) = House::with_server(server) else { return };
    let program = &house.program;
    for name in ["slow", "fast"] {
        fs::create_dir(program.path(name)).expect("a tier");
        fs::set_permissions(program.path(name), fs::Permissions::from_mode(0o755)).expect("the folder is ours");
    }
    let run = program.json(&format!(
        "run tier --set slow=slow --set fast=fast --set accounts=1000 --set measure=1s --set warm_up=0s --set replicates=1 \
         --allow-inconclusive --json -o x.prony {on}"
    ));
    hold(&run);
    let found = run["findings"].as_array().expect("findings").iter().find(|one| one["kind"] == "tier");
    let steps = found.unwrap_or_else(|| panic!("no proof: {run:#}"))["steps"].as_array().expect("steps");
    let number = |step: &Value, key: &str| step[key].as_f64().unwrap_or_else(|| panic!("{key}: {step:#}"));
    let last = steps.last().expect("a step");
    assert!((2..=4).contains(&steps.len()), "{steps:#?}");
    assert_eq!((number(last, "of_bytes"), last["promised"]["value"].as_f64()), (1.0, Some(1.0)));
    assert!(steps.windows(2).all(|pair| number(&pair[0], "bytes") < number(&pair[1], "bytes")), "{steps:#?}");
    let objects: f64 = steps
        .iter()
        .flat_map(|step| step["objects"].as_array().expect("objects"))
        .map(|one| one["bytes"].as_f64().expect("bytes"))
        .sum();
    assert!((objects - number(last, "bytes")).abs() < 1.0, "{steps:#?}");
    let says = run["answer"][0].as_str().expect("an answer");
    assert!(
        says.contains("of the time that a transaction saves with all of them there")
            || says.starts_with("No gain is beyond doubt"),
        "{says}"
    );
    // Its file says all of it once more.
    let again = program.json("show x.prony --json");
    assert_eq!((&again["answer"], &again["findings"]), (&run["answer"], &run["findings"]));
    let folders = |tier: &str| fs::read_dir(program.path(tier)).expect("a tier").count();
    assert_eq!((folders("slow"), folders("fast")), (1, 1), "the baseline alone stays for the next run");
}

#[test]
fn where_the_hot_set_wanders_a_balancer_keeps_close_to_who_knows_it_and_ahead_of_a_cache_and_of_what_stays() {
    let program = Program::new();
    let line =
        "run tier-wander --set measure=60s --set warm_up=40s --set replicates=1 --seed 3 --allow-inconclusive --json";
    let run = program.json(line);
    let rates: BTreeMap<&str, f64> = run["trials"]
        .as_array()
        .expect("trials")
        .iter()
        .map(|one| (one["system"].as_str().expect("a name"), one["throughput_per_s"].as_f64().expect("a rate")))
        .collect();
    assert!(
        rates["balancer"] > 0.8 * rates["clairvoyant"] && rates["balancer"] <= 1.05 * rates["clairvoyant"],
        "{rates:?}"
    );
    assert!(rates["balancer"] > 1.1 * rates["cache"] && rates["cache"] > 1.3 * rates["static"], "{rates:?}");
}

#[test]
fn a_hot_set_wanders_over_a_live_database_and_who_moves_it_is_told_beside_the_model() {
    let Some(house) = House::with_server("local:postgres") else { return };
    if !rustix::process::geteuid().is_root() || !Path::new("/dev/fuse").exists() {
        skip!("mounting needs root and /dev/fuse")
    }
    let program = &house.program;
    for name in ["slow", "fast"] {
        fs::create_dir(program.path(name)).expect("a tier");
        fs::set_permissions(program.path(name), fs::Permissions::from_mode(0o755)).expect("the folder is ours");
    }
    let run = program.json(
        "run tier-wander --set slow=emulated:nand-device:slow --set fast=emulated:nand-device:fast --set measure=2s --set warm_up=1s \
         --set stay=1s --set rows=500 --set replicates=1 --set every=200ms --allow-inconclusive --json",
    );
    let of = |system: &str| {
        let trials = run["trials"].as_array().expect("trials");
        trials.iter().find(|one| one["system"] == system).unwrap_or_else(|| panic!("no trial of {system}: {run:#}"))
    };
    for system in ["stays", "sql-balancer", "sql-clairvoyant", "extents", "memory", "balancer", "static", "cache"] {
        assert!(of(system)["throughput_per_s"].as_f64().is_some_and(|rate| rate > 0.0), "{system}: {run:#}");
    }
    let moves = |system: &str| {
        let events = of(system)["events"].as_array().expect("events").iter();
        events.filter(|one| one["text"].as_str().is_some_and(|text| text.starts_with("moved "))).count()
    };
    // One table goes to the fast tier when the first second is over, and one back; the second exchange may not come to its end.
    assert!(moves("sql-clairvoyant") >= 2 && moves("stays") == 0, "{run:#}");
    let held = run["findings"].as_array().expect("findings").iter().filter(|one| one["baseline"] == "sql-clairvoyant");
    assert!(held.count() > 0, "the others are compared with who knows what comes: {run:#}");
    let left = |tier: &str| fs::read_dir(program.path(tier)).expect("a tier").count();
    assert_eq!(
        (left("slow"), left("fast")),
        (4, 4),
        "what lay under extents is gone, the layouts stay for the next run"
    );
}

#[test]
fn a_study_of_tiers_says_what_it_needs() {
    let program = Program::new();
    for (line, told) in [
        ("", "a private PostgreSQL or MariaDB with a layout of two tiers"),
        ("--set accounts=2000", "a folder for what the layout `all-slow` puts there"),
        ("--set slow=/tmp", "a folder for the fast tier, got none"),
        ("--set workload=night", "the name of an experiment or a workload, got `night`"),
    ] {
        let ran = program.run(&format!("run tier {line}"));
        assert!(ran.code == Some(2) && ran.stderr.contains(told), "{line}: {ran}");
    }
}

#[test]
fn what_is_hot_is_advised_moved_and_put_back() {
    let Some(tiers) = tiers() else { return };
    let advice = tiers.advised("--budget 20MiB");
    assert_eq!(advice["answer"]["benefit"], true, "{advice:#}");
    let curve: Vec<&str> =
        advice["curve"].as_array().expect("a list").iter().filter_map(|point| point["object"].as_str()).collect();
    let place = |name: &str| curve.iter().position(|one| *one == name).expect("it is on the curve");
    assert!(place("public.hot") < place("public.cold"), "{curve:?}");
    assert!(advice["answer"]["saved"].as_f64().is_some_and(|saved| saved > 0.5), "{advice:#}");
    assert!(advice["answer"]["bytes"].as_f64().is_some_and(|bytes| bytes <= 20.0 * 1_048_576.0));
    let rivals = &advice["rivals"];
    assert!(rivals["says"].as_str().is_some_and(|says| says.starts_with("The best use of ")), "{rivals:#}");
    let points = rivals["points"].as_array().expect("a list");
    assert_eq!(points.len(), advice["curve"].as_array().map_or(0, Vec::len) + 1);
    assert_eq!((&points[0]["memory"], rivals["buffer_bytes"].as_f64()), (&points[0]["cache"], Some(1_048_576.0)));
    let kinds: Vec<&str> =
        advice["objects"].as_array().expect("a list").iter().filter_map(|one| one["kind"].as_str()).collect();
    for kind in ["table", "index", "toast", "log", "temporary"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    let dry = tiers.json("move URL --plan plan.json --dry-run", 0);
    let (would, planned) = (dry["objects"].as_array().expect("a list"), advice["moves"].as_array().expect("a list"));
    assert_eq!((would.len(), tiers.fast()), (planned.len(), vec![]));
    // A move costs the same whoever asks, but for what the table's maps of free space hold.
    for (would, planned) in would.iter().zip(planned) {
        let (would, planned) = (&would["cost"], &planned["cost"]);
        assert_eq!(would["how"], planned["how"]);
        for key in ["seconds", "locked_s", "log_bytes", "room_bytes"] {
            let [one, other] = [would, planned].map(|cost| cost[key].as_f64().expect("a number"));
            assert!((one - other).abs() <= 0.05 * other, "{key}: {would:#} {planned:#}");
        }
    }
    let moved = tiers.json("move URL --plan plan.json", 0);
    assert!(
        moved["objects"].as_array().is_some_and(|all| all.iter().all(|one| one["outcome"] == "moved")),
        "{moved:#}"
    );
    assert!(
        tiers.fast().contains(&"hot".to_owned()) && !tiers.fast().contains(&"cold".to_owned()),
        "{:?}",
        tiers.fast()
    );
    let again = tiers.json("move URL --plan plan.json", 0);
    assert!(
        again["objects"].as_array().is_some_and(|all| all.iter().all(|one| one["outcome"] == "there")),
        "{again:#}"
    );
    tiers.json("undo URL", 0);
    tiers.is_as_it_was();
    let nothing = tiers.run("undo URL");
    assert!(nothing.code == Some(0) && nothing.stdout.contains("nothing to undo"), "{nothing}");
}

/// Reads of the files of tables and indexes that a device saw, by their names; of all their forks and segments.
fn seen(house: &House, session: &mut dyn Session) -> BTreeMap<String, f64> {
    let text = |value: &workload::transaction::Value| value.text().unwrap_or_default().to_owned();
    let sql = "SELECT pg_relation_filenode(oid)::text, oid::regclass::text FROM pg_class WHERE relkind IN ('r', 'i') AND oid >= 16384";
    let files = session.query(sql).expect("it may");
    let names: BTreeMap<String, String> = files.iter().map(|row| (text(&row[0]), text(&row[1]))).collect();
    let heat = house.program.json("emulate --at at --heat --json");
    let mut seen = BTreeMap::new();
    for file in heat["files"].as_array().expect("a list") {
        let number = file["file"].as_str().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
        let Some(name) = number.split(['_', '.']).next().and_then(|number| names.get(number)) else { continue };
        let reads = file["extents"].as_array().expect("a list").iter().filter_map(|one| one["reads"].as_f64());
        *seen.entry(name.clone()).or_insert(0.0) += reads.sum::<f64>();
    }
    seen
}

#[test]
fn the_reads_that_the_advice_counts_of_each_object_are_those_that_its_device_saw() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let database =
        open(&house, Engine::Postgres, &[("shared_buffers", "1MB"), ("track_io_timing", "on"), ("autovacuum", "off")]);
    let socket = database.private().expect("it is private").socket_folder();
    for folder in ["fast", "slow", "at"] {
        fs::create_dir(house.program.path(folder)).expect("a folder");
    }
    if !Path::new("/dev/fuse").exists() || !rustix::process::geteuid().is_root() {
        skip!("mounting needs root and /dev/fuse");
    }
    // Where nobody but the server keeps pages, reads agree object by object. Below a page cache one share holds for all objects, so that
    // only their sum can agree.
    for (space, more) in [("alone", "--no-page-cache"), ("cached", "")] {
        let device = Device::serve(
            &house.program,
            &format!("tiered --fast fast --slow nand-device:slow --budget 0B {more}"),
            "at",
        );
        let folder = device.at(space);
        fs::create_dir(&folder).expect("a folder");
        let owned = Command::new("chown").arg("--reference").arg(&socket).arg(&folder).status();
        assert!(owned.expect("it starts").success());
        let mut session = database.outside().expect("a session");
        session.script(&format!("CREATE TABLESPACE {space} LOCATION '{}'", folder.display())).expect("it may");
        session.script(&format!("SET default_tablespace = {space}")).expect("it may");
        session
            .script(&TABLES.replace("CREATE ROLE reader LOGIN;", "").replace("TO reader", "TO public"))
            .expect("it may");
        // What was written lies in the page cache.
        let forgotten = "find at -type f -exec dd if={} iflag=nocache count=0 status=none ;".split(' ');
        let mut forget = Command::new("find");
        forget.args(forgotten.skip(1)).current_dir(house.program.dir());
        assert!(forget.status().expect("it starts").success());
        let before = seen(&house, session.as_mut());
        let url = format!("'postgres://prony@/postgres?host={}'", socket.display());
        let line = format!("tier advise {url} --window 8s --slow-device nand-device --fast-device f5100 --json");
        let advice = std::thread::scope(|scope| {
            let asked = scope.spawn(|| house.program.json(&line));
            let watches = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'prony tier'";
            while session.one(watches).expect("it may").and_then(|count| count.number()) == Some(0.0) {
                std::thread::sleep(Duration::from_millis(20));
            }
            std::thread::sleep(Duration::from_secs(1));
            let mut load = database.outside().expect("a session");
            // A busy machine reads less often, and all of it within the window.
            let begun = WallClock::new();
            for _ in (0..5).take_while(|_| begun.now().seconds() < 2.0) {
                load.script(READS).expect("it reads");
            }
            // What it was counted for is told when it ends.
            drop(load);
            assert!(!asked.is_finished(), "the load ended within the window");
            asked.join().expect("it ends")
        });
        let after = seen(&house, session.as_mut());
        let share = advice["reach"]["share"].as_f64().expect("a share");
        let (mut estimated, mut requested, mut saw, mut read) = (0.0, 0.0, 0.0, 0);
        for object in advice["objects"].as_array().expect("a list") {
            let name = object["name"].as_str().expect("a name").trim_start_matches("public.");
            let (reads, then) = (object["reads"].as_f64().expect("reads"), before.get(name).copied().unwrap_or(0.0));
            let Some(own) = after.get(name).map(|now| now - then) else { continue };
            if space == "alone" {
                assert!((reads - own).abs() <= 0.02 * own + 1.0, "{name}: {reads} read, its device saw {own}");
            }
            (estimated, requested) = (estimated + reads * share, requested + reads);
            (saw, read) = (saw + own, read + usize::from(own > 0.0));
        }
        let told = format!("{space}: {estimated} estimated to reach the device, which saw {saw}\n");
        std::io::stderr().write_all(told.as_bytes()).expect("a place for it");
        assert!(read >= 4 && saw > 1_000.0 && advice["reach"]["way"] == "all-timed", "{advice:#}");
        // Times are longer on a busy machine, and the estimate with them; never beyond what the server read.
        assert!(estimated >= 0.5 * saw && estimated <= requested + 0.5 && requested >= saw, "{requested} read, {told}");
        session.script("DROP TABLE hot, cold, idle").expect("it may");
        session.script(&format!("DROP TABLESPACE {space}")).expect("it may");
        drop(session);
        device.unmount();
    }
}

/// A plan that moves these, each with its kind, in that order.
fn plan(tiers: &Tiers, objects: &[(&str, &str)]) {
    let mut advice = tiers.json(&format!("advise URL --window 1s {TIMES}"), 0);
    let of = |kind: &str, name: &str| {
        let all = advice["objects"].as_array().expect("a list");
        let known = all.iter().find(|one| one["name"] == format!("public.{name}")).expect("it is there");
        serde_json::json!({ "id": known["id"], "kind": kind, "name": known["name"], "bytes": known["bytes"], "to": "fast",
            "saved_s": 1.0, "says": "costs nothing at all",
            "cost": { "how": "copy", "seconds": 1.0, "locked_s": 1.0, "log_bytes": 1.0, "room_bytes": 1.0 } })
    };
    let moves: Vec<Value> = objects.iter().map(|(kind, name)| of(kind, name)).collect();
    advice["moves"] = moves.into();
    hold(&advice);
    tiers.house.program.write("plan.json", &advice.to_string());
}

#[test]
fn what_leaves_the_fast_tier_goes_back_to_its_own_tablespace() {
    let Some(tiers) = tiers() else { return };
    let mut session = tiers.session();
    session.script("SET allow_in_place_tablespaces = on").expect("it may");
    session.script("CREATE TABLESPACE archive LOCATION ''").expect("it may");
    session.script("ALTER TABLE cold SET TABLESPACE archive").expect("it may");
    plan(&tiers, &[("table", "cold")]);
    // Whoever wrote the plan does not say what it costs.
    let dry = tiers.run("move URL --plan plan.json --dry-run");
    let words = [
        "would move public.cold: ",
        " into fast\n    about ",
        "; nobody reads or writes it for about ",
        " of log, which every replica receives and replays under the same lock; ",
        " more room until it ends\n",
        "Times: slow 40 us a random read, ",
    ];
    assert!(words.iter().all(|word| dry.stdout.contains(word)) && !dry.stdout.contains("costs nothing"), "{dry}");
    tiers.json("move URL --plan plan.json", 0);
    assert_eq!(tiers.fast(), ["cold"]);
    let dry = tiers.run(&format!("undo URL --dry-run {TIMES}"));
    assert!(
        dry.stdout.contains(" into archive\n    ") && words[2..].iter().all(|word| dry.stdout.contains(word)),
        "{dry}"
    );
    let text = fs::read_to_string(tiers.house.program.path("plan.json")).expect("the plan");
    tiers.house.program.write("back.json", &text.replace("\"to\":\"fast\"", "\"to\":\"slow\""));
    tiers.json("move URL --plan back.json", 0);
    assert_eq!(tiers.places()["cold"], "archive");
    tiers.json("undo URL", 0);
    tiers.is_as_it_was();
    // Its own tablespace may be gone by then.
    session.script("ALTER TABLE cold SET TABLESPACE archive").expect("it may");
    plan(&tiers, &[("table", "cold")]);
    tiers.json("move URL --plan plan.json", 0);
    session.script("DROP TABLESPACE archive").expect("nothing is left in it");
    for more in ["--dry-run", ""] {
        let ran = tiers.run(&format!("undo URL {more}"));
        let told = "left public.cold where it is: the tablespace where it lay is gone: bring it elsewhere by hand";
        assert!(ran.code == Some(1) && ran.stderr.contains(told), "{ran}");
    }
    session.script("ALTER TABLE cold SET TABLESPACE pg_default; DELETE FROM prony_tier.moved").expect("it may");
    tiers.json("undo URL", 0);
    tiers.is_as_it_was();
}

#[test]
fn what_somebody_else_has_moved_since_stays_where_he_put_it_and_the_others_go_back() {
    let Some(tiers) = tiers() else { return };
    let mut session = tiers.session();
    session.script("SET allow_in_place_tablespaces = on").expect("it may");
    session.script("CREATE TABLESPACE archive LOCATION ''").expect("it may");
    plan(&tiers, &[("table", "hot"), ("index", "hot_pkey"), ("index", "hot_length")]);
    tiers.json("move URL --plan plan.json", 0);
    session.script("ALTER TABLE hot SET TABLESPACE archive").expect("it may");
    session.script("REINDEX (CONCURRENTLY, TABLESPACE archive) INDEX hot_length").expect("it may");
    let places = || ["hot", "hot_length", "hot_pkey"].map(|name| tiers.places()[name].clone());
    let told = "left public.hot where it is: prony tier had put it into fast, and somebody has moved it into archive since; before both it lay in \
                pg_default";
    let dry = tiers.run("undo URL --dry-run");
    assert!(
        dry.code == Some(1) && dry.stderr.contains(told) && dry.stdout.contains("would move public.hot_pkey"),
        "{dry}"
    );
    assert!(!dry.stdout.contains("would move public.hot:"), "{dry}");
    assert_eq!(places(), ["archive", "archive", "fast"]);
    let ran = tiers.run("undo URL");
    assert!(ran.code == Some(1) && ran.stderr.contains(told), "{ran}");
    assert!(ran.stdout.contains("1 object moved, 2 objects left") && ran.stdout.contains("--even-if-moved"), "{ran}");
    assert_eq!(places(), ["archive", "archive", ""]);
    // The next move takes them from where they are his, and so the one after it brings them back there.
    tiers.json("move URL --plan plan.json", 0);
    assert_eq!(places(), ["fast"; 3]);
    tiers.json("undo URL", 0);
    assert_eq!(places(), ["archive", "archive", ""]);
    tiers.json("move URL --plan plan.json", 0);
    session.script("ALTER TABLE hot SET TABLESPACE pg_default").expect("it may");
    let again = tiers.json("undo URL", 1);
    assert_eq!(
        again["objects"].as_array().expect("a list").iter().filter(|one| one["outcome"] == "elsewhere").count(),
        1
    );
    assert_eq!(places(), ["", "archive", ""]);
    tiers.json("undo URL --even-if-moved", 0);
    assert_eq!(places(), ["archive", "archive", ""]);
    session
        .script("ALTER TABLE hot SET TABLESPACE pg_default; ALTER INDEX hot_length SET TABLESPACE pg_default")
        .expect("it may");
    tiers.is_as_it_was();
}

#[test]
fn a_journal_of_an_earlier_version_is_undone_as_before() {
    let Some(tiers) = tiers() else { return };
    plan(&tiers, &[("table", "hot"), ("index", "hot_pkey")]);
    tiers.json("move URL --plan plan.json", 0);
    let mut session = tiers.session();
    session
        .script("ALTER TABLE prony_tier.moved DROP COLUMN put_into, DROP COLUMN relation, DROP COLUMN rebuilds")
        .expect("it may");
    tiers.json("undo URL", 0);
    tiers.is_as_it_was();
}

#[test]
fn an_index_that_was_renamed_since_its_move_is_put_back_under_its_name_of_now() {
    let Some(tiers) = tiers() else { return };
    plan(&tiers, &[("index", "hot_length"), ("index", "cold_pkey")]);
    tiers.json("move URL --plan plan.json", 0);
    let mut session = tiers.session();
    session
        .script("ALTER INDEX hot_length RENAME TO hot_renamed; ALTER INDEX cold_pkey RENAME TO cold_key")
        .expect("it may");
    session.script("CREATE INDEX hot_length ON hot (id, length(pad))").expect("it may");
    let moved = tiers.json("undo URL", 0);
    let names: Vec<&str> =
        moved["objects"].as_array().expect("a list").iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(names, ["public.cold_key", "public.hot_renamed"], "{moved:#}");
    session.script("DROP INDEX hot_length").expect("it may");
    tiers.is_as_it_was();
}

#[test]
fn an_index_that_may_be_the_one_that_was_moved_keeps_the_journal_until_it_is_known() {
    let Some(tiers) = tiers() else { return };
    plan(&tiers, &[("index", "hot_length")]);
    tiers.json("move URL --plan plan.json", 0);
    let mut session = tiers.session();
    session.script("REINDEX INDEX CONCURRENTLY hot_length").expect("it may");
    session.script("ALTER INDEX hot_length RENAME TO hot_renamed").expect("it may");
    let lost = tiers.json("undo URL", 1);
    assert_eq!(lost["objects"][0]["outcome"], "lost", "{lost:#}");
    assert!(lost["objects"][0]["says"].as_str().is_some_and(|says| says.contains("hot_renamed")), "{lost:#}");
    session.script("ALTER INDEX hot_renamed RENAME TO hot_length").expect("it may");
    tiers.json("undo URL", 0);
    tiers.is_as_it_was();
    // By now the plan has neither its number nor its name.
    session.script("ALTER INDEX hot_length RENAME TO hot_renamed").expect("it may");
    let told = "public.hot_length is not found by its number or name; what its table has had since the plan was made may be it: \
                public.hot_renamed: make a new plan";
    let ran = tiers.run("move URL --plan plan.json");
    assert!(ran.code == Some(1) && ran.stderr.contains(told) && !ran.stdout.contains("tries them again"), "{ran}");
    session.script("DROP INDEX hot_renamed").expect("it may");
    let ran = tiers.run("move URL --plan plan.json");
    assert!(ran.code == Some(1) && ran.stderr.contains("public.hot_length is gone"), "{ran}");
}

#[test]
fn an_undo_is_priced_with_the_table_of_an_index_where_it_is_when_its_turn_comes() {
    let Some(tiers) = tiers() else { return };
    plan(&tiers, &[("index", "hot_pkey"), ("table", "hot")]);
    let seconds = |line: &str| {
        let dry = tiers.json(line, 0);
        let index = dry["objects"].as_array().expect("a list").iter().find(|one| one["name"] == "public.hot_pkey");
        index.and_then(|one| one["cost"]["seconds"].as_f64()).unwrap_or_else(|| panic!("{dry:#}"))
    };
    let forth = seconds("move URL --plan plan.json --dry-run");
    tiers.json("move URL --plan plan.json", 0);
    // The table goes back first, and the index is built from its rows on the slow tier, as on the way forth.
    let back = seconds(&format!("undo URL --dry-run {TIMES}"));
    assert!((back - forth).abs() <= 0.05 * forth, "{back} back, {forth} forth");
    tiers.json("undo URL", 0);
    tiers.is_as_it_was();
}

#[test]
fn a_table_that_a_long_transaction_locks_is_left_and_the_others_go_on() {
    let Some(tiers) = tiers() else { return };
    plan(&tiers, &[("table", "cold"), ("table", "hot"), ("index", "hot_pkey")]);
    let mut long = tiers.session();
    long.script("BEGIN; LOCK TABLE cold IN ACCESS SHARE MODE").expect("it may");
    let ran = tiers.run("move URL --plan plan.json --lock-timeout 300ms");
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.stderr.contains("left public.cold where it is: somebody holds a lock on it"), "{ran}");
    assert!(tiers.fast().contains(&"hot".to_owned()) && !tiers.fast().contains(&"cold".to_owned()), "{ran}");
    long.script("ROLLBACK").expect("it may");
    tiers.json("move URL --plan plan.json --rate 1GB/s", 0);
    assert_eq!(tiers.fast(), ["cold", "hot", "hot_pkey"]);
    tiers.json("undo URL", 0);
    tiers.is_as_it_was();
}

#[test]
fn an_index_that_an_old_snapshot_alone_keeps_from_being_rebuilt_is_told_with_the_transaction() {
    let Some(tiers) = tiers() else { return };
    plan(&tiers, &[("index", "hot_length")]);
    let mut old = tiers.session();
    old.script("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM cold").expect("it may");
    let ran = tiers.run("move URL --plan plan.json --lock-timeout 300ms");
    let told = "left public.hot_length where it is: an old transaction keeps the index from being rebuilt (process ";
    assert!(ran.code == Some(1) && ran.stderr.contains(told) && !ran.stderr.contains("00:00:00"), "{ran}");
    old.script("ROLLBACK").expect("it may");
    tiers.json("undo URL", 0);
    tiers.is_as_it_was();
}

#[test]
fn a_fast_tier_that_is_the_place_of_the_data_is_refused() {
    let Some(tiers) = tiers() else { return };
    for command in ["advise URL --window 1s", "balance URL --budget 1GiB --every 1s --rounds 1 --dry-run"] {
        let ran = tiers.run(&format!("{command} --fast pg_default"));
        assert!(
            ran.code == Some(2) && ran.stderr.contains("`--fast pg_default` is pg_default, where the data lies"),
            "{ran}"
        );
    }
}

/// A hot standby of a private server, which ends with this value.
struct Standby {
    folder: PathBuf,
    server: Child,
}

impl Standby {
    /// One that receives all that its primary does, and listens on a socket in a folder of its own.
    fn of(tiers: &Tiers) -> Standby {
        let primary = tiers.house.server_processes("postmaster.pid")[0];
        let program = fs::read_link(format!("/proc/{primary}/exe")).expect("its program");
        let socket = tiers.database.private().expect("it is private").socket_folder().to_owned();
        let owner = fs::metadata(&socket).expect("it is there");
        let folder = tiers.house.program.path("standby");
        fs::create_dir(&folder).expect("a folder");
        std::os::unix::fs::chown(&folder, Some(owner.uid()), Some(owner.gid())).expect("it is ours");
        let command = |name: &str| {
            let mut command = Command::new(program.with_file_name(name));
            if rustix::process::geteuid().is_root() {
                command.uid(owner.uid()).gid(owner.gid());
            }
            let log = fs::File::options().create(true).append(true).open(folder.join("log")).expect("a log");
            command.current_dir("/").arg("-D").arg(folder.join("data")).stdout(Stdio::null()).stderr(log);
            command
        };
        let mut copy = command("pg_basebackup");
        copy.args(["-R", "-X", "stream", "-c", "fast", "-U", "prony", "-d", "dbname=postgres", "-h"]).arg(&socket);
        assert!(copy.status().expect("it runs").success(), "a copy of the primary");
        let mut server = command("postgres");
        // It recovers with no fewer than its primary has.
        let most = tiers.session().one("SHOW max_connections").expect("it may").expect("a number");
        server.args(["-c", &format!("max_connections={}", most.text().unwrap_or_default())]);
        let prepared = tiers.session().one("SHOW max_prepared_transactions").expect("it may").expect("a number");
        server.args(["-c", &format!("max_prepared_transactions={}", prepared.text().unwrap_or_default())]);
        server.args(["-c", "allow_in_place_tablespaces=on", "-c", "listen_addresses=", "-k"]).arg(&folder);
        Standby { server: server.spawn().expect("it starts"), folder }
    }

    fn url(&self) -> String {
        format!("'postgres://prony@/postgres?host={}'", self.folder.display())
    }
}

impl Drop for Standby {
    fn drop(&mut self) {
        // At once, and with all of its processes.
        let _ = kill_process(Pid::from_child(&self.server), Signal::QUIT);
        let _ = self.server.wait();
    }
}

#[test]
fn a_hot_standby_gets_advice_and_refuses_to_move_and_its_primary_tells_what_it_will_feel() {
    let Some(tiers) = tiers() else { return };
    let standby = Standby::of(&tiers);
    let program = &tiers.house.program;
    tiers.advised("--budget 15MiB");
    let told = tiers.run(&format!("advise URL --window 1s {TIMES}"));
    assert!(told.code == Some(0) && !told.stdout.contains("standby"), "{told}");
    // Whether it serves already is asked of it until it does.
    let advised = || program.run(&format!("tier advise {} --window 1s {TIMES} --json", standby.url()));
    let mut ran = advised();
    for _ in 0..100 {
        if ran.code == Some(0) {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
        ran = advised();
    }
    let log = fs::read_to_string(standby.folder.join("log")).expect("its log");
    assert_eq!(ran.code, Some(0), "{ran}{log}");
    hold(&ran.json());
    assert!(ran.raw.contains("give the plan to `prony tier move` on its primary"), "{ran}");
    let url = standby.url();
    for more in ["", "--dry-run"] {
        let told = program.refused(&format!("tier move {url} --plan plan.json {more}"));
        assert!(told.contains("this server is a standby: run the same command on its primary"), "{told}");
    }
    let balance = format!("tier balance {url} --fast fast --budget 15MiB --every 1s --rounds 1 {TIMES}");
    let told = program.refused(&balance);
    assert!(told.contains("this server is a standby"), "{told}");
    let ran = program.run(&format!("{balance} --dry-run"));
    assert!(ran.code == Some(0) && ran.stderr.contains("this server is a standby"), "{ran}");
    let moved = tiers.run("move URL --plan plan.json");
    assert_eq!(moved.code, Some(0), "{moved}");
    let told = program.refused(&format!("tier undo {url}"));
    assert!(told.contains("this server is a standby"), "{told}");
    tiers.json("undo URL", 0);
    tiers.is_as_it_was();
}

#[test]
fn sessions_that_change_nothing_are_told_before_a_move() {
    let Some(tiers) = tiers() else { return };
    plan(&tiers, &[("table", "hot")]);
    let mut session = tiers.session();
    session.script("ALTER ROLE prony SET default_transaction_read_only = on").expect("it may");
    let ran = tiers.run("move URL --plan plan.json");
    session.script("ALTER ROLE prony RESET default_transaction_read_only").expect("it may");
    assert!(ran.code == Some(2) && ran.stderr.contains("default_transaction_read_only = on"), "{ran}");
    tiers.is_as_it_was();
}

#[test]
fn an_object_in_a_schema_that_the_user_may_not_use_is_left_and_the_others_go_on() {
    let Some(tiers) = tiers() else { return };
    plan(&tiers, &[("table", "idle"), ("table", "hot")]);
    let mut session = tiers.session();
    let made = "CREATE ROLE mover LOGIN; GRANT CREATE ON TABLESPACE fast TO mover; GRANT CREATE ON DATABASE postgres TO mover; \
                CREATE SCHEMA closed; ALTER TABLE idle SET SCHEMA closed; ALTER TABLE closed.idle OWNER TO mover; ALTER TABLE hot OWNER TO mover";
    session.script(made).expect("it may");
    let url = tiers.url.replace("prony@", "mover@");
    let told = "left closed.idle where it is: the user lacks USAGE on the schema closed";
    let dry = tiers.house.program.run(&format!("tier move {url} --plan plan.json --dry-run"));
    let goes = dry.stdout.contains("would move public.hot: ") && !dry.stdout.contains("would move closed.idle");
    assert!(dry.code == Some(1) && dry.stderr.contains(told) && goes, "{dry}");
    let ran = tiers.house.program.run(&format!("tier move {url} --plan plan.json"));
    assert!(ran.code == Some(1) && ran.stderr.contains(told), "{ran}");
    assert_eq!(tiers.fast(), ["hot"]);
    session.script("ALTER TABLE closed.idle SET SCHEMA public").expect("it may");
    tiers.house.program.fine(&format!("tier undo {url}"));
    tiers.is_as_it_was();
}

#[test]
fn long_values_that_were_never_vacuumed_count_among_the_bytes_of_a_move() {
    let Some(tiers) = tiers() else { return };
    let made = "CREATE TABLE wide AS SELECT n AS id, (SELECT string_agg(md5((n * 1000 + k)::text), '') FROM generate_series(1, 300) k) AS long \
                FROM generate_series(1, 500) n";
    tiers.session().script(made).expect("it may");
    plan(&tiers, &[("table", "wide")]);
    let dry = tiers.run("move URL --plan plan.json --dry-run");
    assert!(dry.stdout.contains("MB into fast") || dry.stdout.contains("MiB into fast"), "{dry}");
}

#[test]
fn an_index_that_cannot_be_finished_leaves_nothing_behind() {
    let Some(tiers) = tiers() else { return };
    plan(&tiers, &[("index", "hot_length"), ("index", "cold_pkey")]);
    let mut long = tiers.session();
    long.script("BEGIN; UPDATE hot SET pad = pad WHERE id = 1").expect("it may");
    let ran = tiers.run("move URL --plan plan.json --lock-timeout 300ms");
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.stderr.contains("left public.hot_length where it is"), "{ran}");
    long.script("ROLLBACK").expect("it may");
    tiers.json("undo URL", 0);
    tiers.is_as_it_was();
}

#[test]
fn a_tool_that_is_killed_in_the_middle_is_undone_and_one_that_is_stopped_says_what_it_did() {
    let Some(tiers) = tiers() else { return };
    plan(&tiers, &[("index", "hot_pkey"), ("table", "cold"), ("table", "hot")]);
    for signal in [Signal::KILL, Signal::INT] {
        // The second move waits for this one, and cannot come to its end before the signal.
        let mut long = tiers.session();
        long.script("BEGIN; LOCK TABLE cold IN ACCESS SHARE MODE").expect("it may");
        let line = format!("tier move {} --plan plan.json --lock-timeout 60s", tiers.url);
        let mut going = tiers.house.program.start(&line);
        going.until("moved public.hot_pkey", 1);
        std::thread::sleep(Duration::from_millis(300));
        going.signal(signal);
        let (code, said) = going.end();
        assert_eq!(code, Some(2).filter(|_| signal == Signal::INT), "{said}");
        if signal == Signal::INT {
            assert!(said.contains("after 1 move") && said.contains("prony tier undo"), "{said}");
        }
        assert_eq!(tiers.fast(), ["hot_pkey"]);
        long.script("ROLLBACK").expect("it may");
        tiers.json("undo URL", 0);
        tiers.is_as_it_was();
    }
}

#[test]
fn a_server_that_is_killed_during_a_move_has_everything_back_after_an_undo() {
    let Some(tiers) = tiers() else { return };
    plan(&tiers, &[("index", "cold_pkey"), ("index", "hot_length")]);
    let mut long = tiers.session();
    // The second index is built, and cannot be put in place before this one ends.
    long.script("BEGIN; UPDATE hot SET pad = pad WHERE id = 1").expect("it may");
    let line = format!("tier move {} --plan plan.json --lock-timeout 60s", tiers.url);
    let mut going = tiers.house.program.start(&line);
    going.until("moved public.cold_pkey", 1);
    std::thread::sleep(Duration::from_millis(500));
    let servers = tiers.house.server_processes("postmaster.pid");
    servers
        .iter()
        .for_each(|server| kill_process(Pid::from_raw(*server).expect("a process"), Signal::KILL).expect("ours"));
    let (code, said) = going.end();
    assert!(code == Some(2) && said.contains("after 1 move of `prony tier move`"), "{said}");
    drop(long);
    tiers.house.program.fine("db up local:postgres");
    tiers.json("undo URL", 0);
    tiers.is_as_it_was();
}

#[test]
fn a_fast_tier_that_is_full_stops_in_time_and_what_fits_is_moved() {
    let Some(tiers) = tiers() else { return };
    let Some(small) = Small::mount(tiers.house.program.path("small"), "4m") else {
        return skipped("mounting a tmpfs needs root");
    };
    let chown = Command::new("chown").arg("postgres").arg(&small.path).status().expect("chown runs");
    assert!(chown.success());
    let mut session = tiers.session();
    session.script("DROP TABLESPACE fast").expect("it may");
    session.script(&format!("CREATE TABLESPACE fast LOCATION '{}'", small.path.display())).expect("it may");
    plan(&tiers, &[("table", "hot"), ("index", "hot_pkey")]);
    let ran = tiers.run("move URL --plan plan.json");
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.stderr.contains("left public.hot where it is: no room (it needs"), "{ran}");
    assert_eq!(tiers.fast(), ["hot_pkey"]);
    tiers.json("undo URL", 0);
    tiers.is_as_it_was();
    session.script("DROP TABLESPACE fast").expect("nothing is left in it");
}

#[test]
fn a_reader_gets_advice_and_a_clear_refusal_to_move() {
    let Some(tiers) = tiers() else { return };
    plan(&tiers, &[("table", "hot")]);
    let odd = "--fast 'Fast \"x'";
    let advised = tiers.house.program.run(&format!("tier advise {} --window 1s --json {odd}", tiers.reader));
    assert_eq!(advised.code, Some(0), "{advised}");
    hold(&advised.json());
    let lacking = advised.json()["lacking"].to_string();
    assert!(lacking.contains(r#"CREATE TABLESPACE \"Fast \"\"x\" LOCATION"#), "{lacking}");
    for more in ["", "--dry-run"] {
        let told = tiers.house.program.refused(&format!("tier move {} --plan plan.json {more}", tiers.reader));
        assert!(told.contains("lacks the privilege to move public.hot: only its owner may"), "{more}: {told}");
    }
    let mut session = tiers.session();
    session.script("ALTER TABLE hot OWNER TO reader").expect("it may");
    for (lacks, given) in [
        ("it needs CREATE on the tablespace", "GRANT CREATE ON TABLESPACE fast TO reader"),
        ("it needs CREATE on the database", "GRANT CREATE ON DATABASE postgres TO reader"),
    ] {
        for more in ["", "--dry-run"] {
            let told = tiers.house.program.refused(&format!("tier move {} --plan plan.json {more}", tiers.reader));
            assert!(told.contains(lacks), "{more}: {told}");
        }
        session.script(given).expect("it may");
    }
    let dry = tiers.house.program.run(&format!("tier move {} --plan plan.json --dry-run", tiers.reader));
    assert!(dry.code == Some(0) && dry.stdout.contains("would move public.hot: "), "{dry}");
    tiers.is_as_it_was();
    tiers.house.program.fine(&format!("tier move {} --plan plan.json", tiers.reader));
    // What leaves the fast tier needs no right to it.
    session.script("REVOKE CREATE ON TABLESPACE fast FROM reader").expect("it may");
    let text = fs::read_to_string(tiers.house.program.path("plan.json")).expect("the plan");
    tiers.house.program.write("back.json", &text.replace("\"to\":\"fast\"", "\"to\":\"slow\""));
    tiers.house.program.fine(&format!("tier move {} --plan back.json", tiers.reader));
    assert_eq!(tiers.fast(), [""; 0]);
    session.script("GRANT CREATE ON TABLESPACE fast TO reader").expect("it may");
    tiers.house.program.fine(&format!("tier move {} --plan plan.json", tiers.reader));
    // Who owns it no more is told before he undoes it, and when he tries.
    session.script("ALTER TABLE hot OWNER TO prony").expect("it may");
    for (more, why) in [("--dry-run", "only its owner may move it"), ("", "must be owner of table hot")] {
        let ran = tiers.house.program.run(&format!("tier undo {} {more}", tiers.reader));
        let told = format!("left public.hot where it is: {why}");
        assert!(ran.code == Some(1) && ran.stderr.contains(&told), "{ran}");
    }
    session.script("REASSIGN OWNED BY reader TO prony").expect("it may");
    tiers.json("undo URL", 0);
    tiers.is_as_it_was();
}

#[test]
fn objects_that_come_and_go_do_not_break_a_window_or_a_plan() {
    let Some(tiers) = tiers() else { return };
    let program = &tiers.house.program;
    // Nobody may even look at this one.
    let mut holder = tiers.session();
    holder.script("BEGIN; LOCK TABLE cold IN ACCESS EXCLUSIVE MODE").expect("it may");
    let output = std::thread::scope(|scope| {
        let ran = scope.spawn(|| program.run(&format!("tier advise {} --window 3s --json", tiers.url)));
        let mut session = tiers.session();
        std::thread::sleep(Duration::from_secs(1));
        session.script("CREATE TABLE came AS SELECT * FROM hot; DROP TABLE idle").expect("it may");
        ran.join().expect("it ends")
    });
    let advice = output.json();
    hold(&advice);
    let names = advice["objects"].to_string();
    holder.script("ROLLBACK").expect("it may");
    assert!(
        names.contains("public.came") && names.contains("public.cold\"") && !names.contains("public.idle\""),
        "{names}"
    );
    assert!(advice["vanished"].to_string().contains("public.idle"), "{}", advice["vanished"]);
    plan(&tiers, &[("table", "came"), ("table", "hot")]);
    tiers.session().script("DROP TABLE came").expect("it may");
    let moved = tiers.json("move URL --plan plan.json", 1);
    assert_eq!((&moved["objects"][0]["outcome"], &moved["objects"][1]["outcome"]), (&"gone".into(), &"moved".into()));
}

#[test]
fn a_plan_of_tables_that_were_dropped_or_made_anew_since_moves_nothing_and_says_so() {
    let Some(tiers) = tiers() else { return };
    plan(&tiers, &[]);
    assert!(tiers.run("move URL --plan plan.json").stdout.starts_with("the plan has no moves"));
    plan(&tiers, &[("table", "cold"), ("index", "hot_pkey"), ("table", "idle")]);
    let anew = "DROP TABLE cold, hot, idle; CREATE TABLE hot (id int PRIMARY KEY, pad text); CREATE TABLE idle (id int PRIMARY KEY)";
    tiers.session().script(anew).expect("it may");
    for (more, begins) in [("--dry-run", "nothing would be moved"), ("", "0 objects moved")] {
        let ran = tiers.run(&format!("move URL --plan plan.json {more}"));
        let says = format!("{begins}, 2 objects left where they were, 1 object of the plan gone\n");
        assert!(ran.code == Some(1) && ran.stdout == says && ran.stderr.contains("public.cold is gone"), "{ran}");
        for name in ["hot_pkey", "idle"] {
            let told = format!(
                "left public.{name} where it is: something of this name exists, but is another one than the plan's"
            );
            assert!(
                ran.stderr.contains(&told) && ran.stderr.contains("make a new plan with `prony tier advise`"),
                "{ran}"
            );
        }
    }
    let outcomes = tiers.json("move URL --plan plan.json", 1)["objects"].to_string();
    assert_eq!((outcomes.matches("\"another\"").count(), outcomes.matches("\"gone\"").count()), (2, 1), "{outcomes}");
    assert_eq!(tiers.fast(), [""; 0]);
}

#[test]
fn a_journal_of_another_role_is_told_with_its_role_and_read_once_a_superuser_has_taken_it_over() {
    let Some(tiers) = tiers() else { return };
    plan(&tiers, &[("table", "hot"), ("table", "cold")]);
    let mut session = tiers.session();
    let made = "CREATE ROLE mallory LOGIN; GRANT CREATE ON TABLESPACE fast TO mallory; GRANT CREATE ON DATABASE postgres TO mallory; \
                ALTER TABLE hot OWNER TO mallory; ALTER TABLE cold OWNER TO mallory";
    session.script(made).expect("it may");
    let theirs = tiers.url.replace("prony@", "mallory@");
    tiers.house.program.fine(&format!("tier move {theirs} --plan plan.json"));
    plan(&tiers, &[("table", "idle")]);
    let refused = |line: &str| tiers.house.program.refused(&format!("tier {line}").replace("URL", &tiers.url));
    let hand = "ALTER SCHEMA prony_tier OWNER TO prony; ALTER TABLE prony_tier.moved OWNER TO prony";
    for line in ["move URL --plan plan.json", "move URL --plan plan.json --dry-run", "undo URL", "undo URL --dry-run"] {
        let told = refused(line);
        let words = ["made by prony tier as the role mallory, and is not read as prony", "connect as mallory", hand];
        assert!(words.iter().all(|word| told.contains(word)) && !told.contains("remove"), "{line}: {told}");
    }
    // What a role plants there is found before and after, and runs for nobody.
    let planted = "CREATE FUNCTION public.noted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN CREATE ROLE got SUPERUSER; RETURN NEW; END $$; \
                   CREATE TRIGGER t BEFORE DELETE OR UPDATE ON prony_tier.moved FOR EACH ROW EXECUTE FUNCTION public.noted()";
    session.script(planted).expect("it may");
    assert!(refused("undo URL").contains("the trigger t on moved was not made by Prony"));
    session.script(hand).expect("it may");
    assert!(refused("undo URL").contains("the trigger t on moved was not made by Prony"));
    session.script("DROP TRIGGER t ON prony_tier.moved; DROP FUNCTION public.noted()").expect("nothing ran");
    tiers.json("undo URL", 0);
    session.script("REASSIGN OWNED BY mallory TO prony").expect("it may");
    tiers.is_as_it_was();
}

#[test]
fn an_invalid_index_that_was_there_before_a_rebuild_stays_and_is_named() {
    let Some(tiers) = tiers() else { return };
    let mut session = tiers.session();
    session.script("CREATE TABLE cc AS SELECT n / 2 AS a FROM generate_series(1, 1000) n").expect("it may");
    session.script("CREATE INDEX cc_i ON cc (a)").expect("it may");
    session.script("CREATE UNIQUE INDEX CONCURRENTLY cc_i_ccnew ON cc (a)").expect_err("there are duplicates");
    let there = |session: &mut dyn Session| {
        let sql =
            "SELECT count(*) FROM pg_index WHERE NOT indisvalid AND indexrelid = to_regclass('public.cc_i_ccnew')";
        session.one(sql).expect("it may").and_then(|count| count.number())
    };
    plan(&tiers, &[("index", "cc_i"), ("table", "cc")]);
    let told = "left public.cc_i_ccnew: invalid before this rebuild began, and not of a move of ours";
    let ran = tiers.run("move URL --plan plan.json");
    assert!(ran.code == Some(0) && ran.stderr.contains(told) && !ran.stderr.contains("dropped"), "{ran}");
    assert_eq!((tiers.fast(), there(session.as_mut())), (vec!["cc".to_owned(), "cc_i".to_owned()], Some(1.0)));
    // One that cannot come to its end leaves one of ours beside it, which alone is dropped.
    let mut long = tiers.session();
    long.script("BEGIN; UPDATE cc SET a = a WHERE a = 1").expect("it may");
    let ran = tiers.run("undo URL --lock-timeout 300ms");
    assert!(ran.code == Some(1) && ran.stderr.contains("left public.cc_i where it is"), "{ran}");
    long.script("ROLLBACK").expect("it may");
    let ran = tiers.run("undo URL");
    assert!(ran.code == Some(0) && ran.stderr.contains("dropped public.cc_i_ccnew1, which a move of ours"), "{ran}");
    assert_eq!((tiers.fast(), there(session.as_mut())), (vec![], Some(1.0)));
    session.script("DROP TABLE cc").expect("it may");
    tiers.is_as_it_was();
}

#[test]
fn reads_of_long_values_stand_with_their_table_as_their_wait_does() {
    let Some(tiers) = tiers() else { return };
    let made = "CREATE TABLE wide AS SELECT n AS id, (SELECT string_agg(md5((n * 1000 + k)::text), '') FROM generate_series(1, 300) k) AS long \
                FROM generate_series(1, 500) n";
    tiers.session().script(made).expect("it may");
    let stop = AtomicBool::new(false);
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut session = tiers.session();
            while !stop.load(Ordering::Relaxed) {
                session.script("SELECT sum(length(long || 'x')) FROM wide").expect("it reads");
            }
        });
        let ran = tiers.run(&format!("advise URL --window 3s {TIMES}"));
        stop.store(true, Ordering::Relaxed);
        ran
    });
    let line = ran.stdout.lines().find(|line| line.starts_with("public.wide ")).unwrap_or_else(|| panic!("{ran}"));
    let reads = line.split_whitespace().nth(4).expect("a number").replace(',', "");
    assert!(reads.parse::<f64>().is_ok_and(|reads| reads > 50.0), "{line}\n{ran}");
}

#[test]
fn a_plan_of_another_server_and_a_schema_of_somebody_else_are_refused() {
    let Some(tiers) = tiers() else { return };
    plan(&tiers, &[("table", "hot")]);
    let text = fs::read_to_string(tiers.house.program.path("plan.json")).expect("the plan");
    let value: Value = text.parse().expect("JSON");
    let other = text.replace(value["server"]["system"].as_str().expect("a number"), "4711");
    tiers.house.program.write("other.json", &other);
    let told = tiers.house.program.refused(&format!("tier move {} --plan other.json", tiers.url));
    assert!(told.contains("it is for the database postgres of the server 4711"), "{told}");
    let mut session = tiers.session();
    session.script("CREATE SCHEMA prony_tier").expect("it may");
    let told = tiers.house.program.refused(&format!("tier move {} --plan plan.json", tiers.url));
    assert!(told.contains("prony_tier: the schema prony_tier was not made by Prony"), "{told}");
    session.script("DROP SCHEMA prony_tier").expect("it may");
    session.script("DROP TABLESPACE fast").expect("it may");
    let told = tiers.house.program.refused(&format!("tier move {} --plan plan.json", tiers.url));
    assert!(told.contains("there is no tablespace fast any more"), "{told}");
    tiers.is_as_it_was();
}

#[test]
fn a_balancer_tells_its_decisions_and_a_dry_run_moves_nothing() {
    on_a_device(|tiers| {
        let stop = AtomicBool::new(false);
        let rounds = |more: &str| {
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let mut session = tiers.session();
                    while !stop.load(Ordering::Relaxed) {
                        session.script(FEW).expect("it reads");
                    }
                });
                let ran =
                    tiers.run(&format!("balance URL --fast fast --budget 15MiB --every 3s --rounds 1 {TIMES} {more}"));
                stop.store(true, Ordering::Relaxed);
                assert_eq!(ran.code, Some(0), "{ran}");
                ran.stdout
            })
        };
        let told = rounds("--dry-run");
        assert!(told.contains("move public.hot (") && told.contains("pays for itself after"), "{told}");
        assert!(
            told.contains("nobody reads or writes it for about ") && told.contains(" more room until it ends"),
            "{told}"
        );
        tiers.is_as_it_was();
        stop.store(false, Ordering::Relaxed);
        rounds("");
        assert!(tiers.fast().contains(&"hot".to_owned()), "{:?}", tiers.fast());
        tiers.json("undo URL", 0);
        tiers.is_as_it_was();
    });
}

#[test]
fn a_balancer_leaves_what_somebody_else_has_moved_since_its_look_and_brings_the_others_back() {
    on_a_device(|tiers| {
        let mut session = tiers.session();
        session.script("SET allow_in_place_tablespaces = on").expect("it may");
        session.script("CREATE TABLESPACE archive LOCATION ''").expect("it may");
        session
            .script("CREATE TABLE one AS SELECT * FROM hot; CREATE TABLE two AS SELECT * FROM hot; ANALYZE")
            .expect("it may");
        plan(tiers, &[("table", "one"), ("table", "two")]);
        tiers.json("move URL --plan plan.json", 0);
        let places = || ["hot", "one", "two"].map(|name| tiers.places()[name].clone());
        let stop = AtomicBool::new(false);
        let line = format!("balance URL --budget 15MiB --every 3s --rounds 1 --lock-timeout 60s {TIMES}");
        let ran = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut session = tiers.session();
                while !stop.load(Ordering::Relaxed) {
                    session.script(FEW).expect("it reads");
                }
            });
            // There is room for the hot one alone, and the first that makes room cannot while somebody reads it.
            let mut reader = tiers.session();
            reader.script("BEGIN; LOCK TABLE one IN ACCESS SHARE MODE").expect("it may");
            let ran = scope.spawn(|| tiers.run(&line));
            let waits = "SELECT count(*) FROM pg_locks WHERE relation = 'one'::regclass AND NOT granted";
            while session.one(waits).expect("it may").and_then(|count| count.number()) == Some(0.0) {
                assert!(!ran.is_finished(), "it waits for the first table");
                std::thread::sleep(Duration::from_millis(20));
            }
            session.script("ALTER TABLE two SET TABLESPACE archive").expect("it may");
            reader.script("ROLLBACK").expect("it may");
            let ran = ran.join().expect("it ends");
            stop.store(true, Ordering::Relaxed);
            ran
        });
        let told = "left public.two where it is: somebody has moved it into archive since the last look";
        assert!(ran.code == Some(0) && ran.stderr.contains(told) && ran.stderr.contains("moved public.one ("), "{ran}");
        assert_eq!(places(), ["fast", "", "archive"], "{ran}");
        tiers.json("undo URL", 1);
        assert_eq!(places(), ["", "", "archive"]);
        tiers.json("undo URL --even-if-moved", 0);
        session.script("DROP TABLE one, two").expect("it may");
        tiers.is_as_it_was();
    });
}

#[test]
fn a_dry_run_of_a_balancer_tells_what_could_not_be_moved_and_does_not_take_it_for_moved() {
    on_a_device(|tiers| {
        let mut session = tiers.session();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut session = tiers.session();
                while !stop.load(Ordering::Relaxed) {
                    session.script(FEW).expect("it reads");
                }
            });
            let rules = format!("--budget 12MiB --every 3s --rounds 2 --dry-run {TIMES}");
            for (why, given) in [
                (
                    "only its owner may move it: name prony as the user, or GRANT prony TO reader",
                    "ALTER TABLE hot OWNER TO reader",
                ),
                (
                    "it needs CREATE on the tablespace fast: GRANT CREATE ON TABLESPACE fast TO reader",
                    "GRANT CREATE ON TABLESPACE fast TO reader",
                ),
                (
                    "it needs CREATE on the database, for the journal of moves: GRANT CREATE ON DATABASE postgres TO reader",
                    "GRANT CREATE ON DATABASE postgres TO reader",
                ),
                ("", ""),
            ] {
                let ran = tiers.house.program.run(&format!("tier balance {} {rules}", tiers.reader));
                let told = format!("left public.hot where it is: {why}");
                let (decided, left) =
                    (ran.stdout.matches("  move public.hot (").count(), ran.stderr.matches(&told).count());
                let expected = if why.is_empty() { (1, 0) } else { (2, 2) };
                assert!(ran.code == Some(0) && (decided, left) == expected, "{why}: {ran}");
                if !given.is_empty() {
                    session.script(given).expect("it may");
                }
            }
            stop.store(true, Ordering::Relaxed);
        });
        session.script("REASSIGN OWNED BY reader TO prony").expect("it may");
        tiers.is_as_it_was();
    });
}

#[test]
fn mariadb_counts_by_file_once_it_is_told_to() {
    let Some(house) = House::with_server("local:mariadb") else { return };
    let database = open(&house, Engine::Mariadb, &[]);
    let socket = database.private().expect("it is private").socket_folder().join("socket");
    let url = format!("'mysql://root@/?socket={}'", socket.display());
    let told = house.program.refused(&format!("tier advise {url} --window 1s"));
    assert!(told.contains("reads and their times by table are not counted there"), "{told}");
    assert!(told.contains("hint: set performance_schema = ON"), "{told}");
    let counting = [("performance_schema", "ON"), ("innodb_buffer_pool_size", "8M")];
    let mut session = open(&house, Engine::Mariadb, &counting).outside().expect("a session");
    let switch = "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME LIKE 'wait/io/file/innodb/%'";
    session.script(switch).expect("it may");
    let made = "CREATE DATABASE shop; USE shop; CREATE TABLE shop.hot (id int PRIMARY KEY, pad varchar(500)); \
                INSERT INTO shop.hot SELECT seq, repeat('x', 500) FROM seq_1_to_40000; FLUSH TABLES shop.hot FOR EXPORT; UNLOCK TABLES";
    session.script(made).expect("it may");
    let program = &house.program;
    let ran = std::thread::scope(|scope| {
        let ran = scope.spawn(|| program.run(&format!("tier advise {url} --window 2s --json")));
        for n in 0..20 {
            session.script(&format!("SELECT sum(length(pad)) FROM shop.hot WHERE id % 20 = {n}")).expect("it may");
            std::thread::sleep(Duration::from_millis(100));
        }
        ran.join().expect("it ends")
    });
    assert_eq!(ran.code, Some(0), "{ran}");
    let advice = ran.json();
    hold(&advice);
    assert_eq!(advice["reach"]["way"], "timed", "{advice:#}");
    let objects = advice["objects"].as_array().expect("a list");
    let hot = objects.iter().find(|one| one["name"] == "shop.hot").expect("the table's file");
    assert!(hot["kind"] == "file" && hot["reads"].as_f64().is_some_and(|reads| reads > 0.0), "{hot:#}");
}

#[test]
fn wrong_options_are_told_before_anything_is_asked() {
    let program = Program::new();
    program.write("plan.json", "{\"schema\": \"prony/run/1\"}");
    for (line, told) in [
        ("tier advise postgres://me@127.0.0.1:1/db --budget 10", "`10` has no unit"),
        ("tier advise postgres://me@127.0.0.1:1/db --window 0s", "a time above 0 s"),
        ("tier advise postgres://me@127.0.0.1:1/db --window 3s --slices 4", "1 to 3 slices of at least 1 s"),
        ("tier advise postgres://me@127.0.0.1:1/db --slow-device small-server", "a model of storage is needed"),
        ("tier advise postgres:/me@host/db", "a target is"),
        ("tier advise sqlite:x.db --window 1s", "tiers are those of PostgreSQL or MariaDB"),
        (
            "tier move postgres://me@127.0.0.1:1/db --plan plan.json",
            "a document `prony/tier-advice/1`, got `\"prony/run/1\"`",
        ),
        ("tier move postgres://me@127.0.0.1:1/db --plan none.json", "reading the plan `none.json`"),
        ("tier balance postgres://me@127.0.0.1:1/db --budget 1", "`1` has no unit"),
        ("tier undo postgres://me@127.0.0.1:1/db", "no connection"),
    ] {
        let said = program.refused(line);
        assert!(said.contains(told), "{line}\n{said}");
    }
}
