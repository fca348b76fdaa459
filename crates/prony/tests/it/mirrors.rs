//! A private PostgreSQL with a mirror, in trials that take turns with those of the same server alone.

use crate::house::House;
use crate::networks::can_be_made;
use crate::program::Program;
use serde_json::Value;

const SMALL: &str = "--set rows=1000 --set sessions=2 --set warm_up=100ms --set measure=500ms --set replicates=1";

#[test]
fn a_mirror_follows_in_its_trials_holds_the_same_rows_and_is_gone_with_the_run() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let program = &house.program;
    let told = program.json(&format!(
        "run key-value --on local:postgres --set mirror=none,on,remote_apply --set distance=0,100 {SMALL} --json"
    ));
    let trials = told["trials"].as_array().expect("trials");
    assert_eq!(trials.len(), 6, "{told}");
    for trial in trials {
        let mirrored = trial["system"] != "postgres none";
        let cpu = &trial["server"]["mirror_cpu_cores"];
        assert_eq!(cpu.is_number(), mirrored, "{trial}");
        let checks = told["checks"].as_array().expect("checks");
        let of_mirror = |check: &&Value| check["name"] == "mirror" && check["trial"] == trial["trial"];
        let equal: Vec<_> = checks.iter().filter(of_mirror).collect();
        assert_eq!(equal.len(), usize::from(mirrored), "{checks:?}");
        assert!(equal.iter().all(|check| check["result"] == "passed"), "{checks:?}");
        let events = trial["events"].to_string();
        assert_eq!(events.contains("the wire carried"), mirrored, "{events}");
        let parted = trial["events"].as_array().is_some_and(|all| all.iter().any(|event| event["kind"] == "parted"));
        assert_eq!(parted, mirrored && can_be_made(), "{events}");
        assert_eq!(events.contains("both servers share the network of this machine"), mirrored && !can_be_made());
    }
    let findings = told["findings"].as_array().expect("findings").iter();
    assert!(findings.filter(|f| f["kind"] == "mirror").all(|f| f["own_networks"] == can_be_made()), "{told}");
    assert_eq!(told["answer"].to_string().contains("Shared-host overhead"), !can_be_made(), "{}", told["answer"]);
    let far = trials.iter().find(|trial| trial["events"].to_string().contains("over a wire of delay=500us each way"));
    assert!(far.is_some(), "{told}");
    added_time(&told);
    assert!(!program.files().iter().any(|name| name.ends_with("mirror")));
    let family =
        std::fs::read_dir(program.path("cache")).expect("the cache").filter_map(|entry| Some(entry.ok()?.path()));
    let servers: Vec<_> = family.filter_map(|family| std::fs::read_dir(family).ok()).flatten().flatten().collect();
    assert!(!servers.iter().any(|server| server.file_name().to_string_lossy().ends_with("mirror")), "{servers:?}");
    program.fine("db down local:postgres --remove");
}

#[test]
fn order_entry_keeps_its_books_on_both_servers_and_tells_how_many_sessions_make_up_for_the_mirror() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let told = house.program.json(
        "run mirror-oltp --only order-entry --set depots=2 --set sessions=2,4 --set users=20 --set warm_up=200ms --set measure=1s \
         --set replicates=1 --json",
    );
    let trials = told["trials"].as_array().expect("trials");
    assert_eq!(trials.len(), 4, "{told:#}");
    let checks = told["checks"].as_array().expect("checks");
    assert!(checks.iter().all(|check| check["result"] == "passed"), "{checks:#?}");
    for (name, count) in [("order numbers", 4), ("ledger", 4), ("count", 4), ("mirror", 2)] {
        let of: Vec<_> = checks.iter().filter(|check| check["name"] == name).collect();
        assert_eq!(of.len(), count, "{name}: {checks:#?}");
    }
    let findings = told["findings"].as_array().expect("findings");
    let mirror = findings.iter().find(|finding| finding["kind"] == "mirror").expect("what the mirror costs");
    let made: Vec<_> = mirror["compensations"].as_array().expect("sessions").iter().collect();
    assert_eq!(made.iter().map(|one| one["sessions"].as_f64().unwrap()).collect::<Vec<_>>(), [2.0, 4.0], "{mirror:#}");
    house.program.fine("db check order-entry --on local:postgres --set depots=2");
    house.program.fine("db down local:postgres --remove");
}

/// The added time is told in parts with their sources, and they add up to it.
fn added_time(told: &Value) {
    let mirrors: Vec<_> =
        told["findings"].as_array().expect("findings").iter().filter(|f| f["kind"] == "mirror").collect();
    assert_eq!(mirrors.len(), 2, "one for each system with a mirror: {told}");
    for found in mirrors {
        assert!(
            found["unit"].as_str().is_some_and(|unit| unit.starts_with("the unit of waiting is the commit")),
            "{found}"
        );
        let points = found["added"].as_array().expect("points");
        assert_eq!(points.len(), 2, "{found:#}");
        for point in points {
            let parts = point["parts"].as_array().expect("parts");
            let of = |name: &str| parts.iter().find(|part| part["part"] == name).and_then(|part| part["ms"].as_f64());
            let sum: f64 = parts.iter().filter_map(|part| part["ms"].as_f64()).sum();
            assert!((sum - point["added_ms"]["value"].as_f64().expect("ms")).abs() < 1e-6, "{point:#}");
            assert!(of("on the wire") > Some(0.0) && of("sent and written").is_some(), "{point:#}");
            let applies = found["system"] == "postgres remote_apply";
            assert_eq!(of("applied by the mirror").is_some(), applies, "{point:#}");
        }
    }
    let timed = told["trials"]
        .as_array()
        .expect("trials")
        .iter()
        .filter(|trial| trial["server"]["mirror"]["flush_ms"].is_number());
    assert!(timed.count() > 0, "the mirror times its flushes");
}

const BANK: &str = "--set accounts=1000 --set sessions=2 --set warm_up=500ms";

/// What a run with a fault came to: its document, the finding, and when each event that holds such words happened.
fn outage(program: &Program, fault: &str) -> (Value, Value, impl Fn(&str) -> f64 + use<>) {
    let told = program.json(&format!(
        "run mirror-outage --set fault={fault} {BANK} --set measure=5s --set patience=400ms --allow-errors --json"
    ));
    let pair: Vec<_> = told["findings"].as_array().expect("findings").iter().filter(|f| f["kind"] == "pair").collect();
    let [pair] = pair[..] else { panic!("{told:#}") };
    let events = told["trials"][0]["events"].as_array().expect("events").clone();
    let at = move |words: &str| {
        let holds = |event: &&Value| event["text"].as_str().is_some_and(|text| text.contains(words));
        events
            .iter()
            .find(holds)
            .and_then(|event| event["at_s"].as_f64())
            .unwrap_or_else(|| panic!("{words}: {events:#?}"))
    };
    (told.clone(), pair.clone(), at)
}

fn holds(told: &Value, check: &str) -> bool {
    let checks = told["checks"].as_array().expect("checks");
    let named: Vec<_> = checks.iter().filter(|one| one["name"] == check).collect();
    assert!(checks.iter().all(|one| one["result"] == "passed"), "{checks:#?}");
    !named.is_empty()
}

#[test]
fn when_a_mirror_goes_away_clients_wait_the_first_server_goes_on_alone_and_both_are_equal_again() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let program = &house.program;
    for (fault, alone) in [("kill-mirror", "alone, connection ended"), ("cut", "alone, nothing confirmed")] {
        let (told, pair, at) = outage(program, fault);
        let (away, alone_at, back) = (at(fault), at("the first server goes on alone"), at("resume"));
        let level = at("the mirror has caught up");
        assert!(away < alone_at && alone_at < back && back < level, "{told:#}");
        assert!(pair["event"] == fault && pair["alone"] == alone, "{pair:#}");
        // Patience is twice an interval at the least, whatever the machine does.
        assert!(pair["freeze_s"].as_f64() > Some(0.1), "{pair:#}");
        let positive = |name: &str| assert!(pair[name].as_f64() > Some(0.0), "{name}: {pair:#}");
        ["kept_bytes", "resync_s", "resync_bytes", "rate_before_per_s", "rate_alone_per_s"]
            .into_iter()
            .for_each(positive);
        assert!(pair["acknowledged_kept"] == true && pair["rows_equal"] == true, "{pair:#}");
        assert!(holds(&told, "ledger") && holds(&told, "mirror"), "{told:#}");
    }
    program.fine("db down local:postgres --remove");
}

#[test]
fn a_mirror_catches_up_over_a_link_of_its_own_and_follows_over_the_other_again() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let program = &house.program;
    for fault in ["kill-mirror", "cut"] {
        let (told, pair, at) = outage(program, &format!("{fault} --set resync_link=capacity=20MB/s"));
        assert!(at("resume") < at("over the link of the resync: it turns"), "{told:#}");
        assert!(at("over the link of the resync: it turns") <= at("the mirror has caught up"), "{told:#}");
        assert!(!told["trials"][0]["events"].to_string().contains("and 0 B over the link"), "{told:#}");
        assert!(pair["resync_bytes"].as_f64() > Some(0.0) && pair["rows_equal"] == true, "{pair:#}");
        assert!(holds(&told, "ledger") && holds(&told, "mirror"), "{told:#}");
    }
    program.fine("db down local:postgres --remove");
}

#[test]
fn when_the_first_server_is_killed_the_mirror_takes_over_with_all_that_was_acknowledged() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let program = &house.program;
    // The second run finds a pair again.
    for _ in 0..2 {
        let (told, pair, at) = outage(program, "kill-primary");
        assert!(at("kill-primary") < at("the mirror took over within"), "{told:#}");
        assert!(pair["alone"] == "taken over" && pair["rate_alone_per_s"].as_f64() > Some(0.0), "{pair:#}");
        assert!(pair["acknowledged_kept"] == true && holds(&told, "ledger"), "{pair:#}");
        let events = told["trials"][0]["events"].to_string();
        assert!(events.contains("the server that counted them ended in the trial, and its counts with it"), "{events}");
        assert!(!events.contains("shared_preload_libraries"), "{events}");
    }
    // The first server was started again as it was lost: nobody calls the run broken for what went with the mirror.
    program.fine(&format!(
        "run mirror-outage --set fault=kill-primary {BANK} --set measure=5s --allow-errors --quiet -o x.prony"
    ));
    let refused = program.refused("db check --ledger x.prony");
    assert!(refused.contains("has no longer what it acknowledged") && refused.contains("prony show"), "{refused}");
    program.fine("db down local:postgres --remove");
}

#[test]
fn roles_are_swapped_and_swapped_back_under_load_and_nothing_is_lost() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let program = &house.program;
    let told = program.json(&format!(
        "run mirror-upgrade --set events=1s:swap;5s:swap {BANK} --set measure=9s --allow-errors --json"
    ));
    let found = told["findings"].as_array().expect("findings").iter();
    let swaps: Vec<_> = found.filter(|found| found["kind"] == "pair" && found["event"] == "swap").collect();
    assert_eq!(swaps.len(), 2, "{told:#}");
    for swap in swaps {
        // Both servers end and start.
        assert!(swap["freeze_s"].as_f64() > Some(0.1) && swap["alone"].is_null(), "{swap:#}");
        assert!(swap["acknowledged_kept"] == true && swap["rows_equal"] == true, "{swap:#}");
    }
    let events = told["trials"][0]["events"].to_string();
    assert_eq!(events.matches("serve with swapped roles after").count(), 2, "{events}");
    // Each swap may show the one that it asks for. What either server had counted before is nothing that began here.
    let begun = &told["trials"][0]["server"]["checkpoints"]["begun"];
    assert!(begun.as_u64() <= Some(2), "{begun}: {events}");
    let twice = told["findings"].as_array().expect("findings").iter().any(|found| found["kind"] == "felt");
    assert!(!twice, "what happened to a pair is told once: {told:#}");
    assert!(holds(&told, "ledger") && holds(&told, "mirror"), "{told:#}");
    program.fine("db down local:postgres --remove");
}

#[test]
fn what_a_mirror_lacks_that_nobody_waited_for_is_found_to_be_lost_and_nothing_where_commits_waited() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let program = &house.program;
    // What the first server acknowledges behind the cut dies with it.
    let line = |mirror: &str| {
        format!(
            "run mirror-outage --set mirror={mirror} --set fault=none --set events=1s:cut;2s:kill-primary {BANK} --set patience=2s \
             --set measure=6s --allow-errors --json"
        )
    };
    for (mirror, code, kept) in [("local", 1, false), ("on", 0, true)] {
        let ran = program.run(&line(mirror));
        assert_eq!(ran.code, Some(code), "{mirror}\n{ran}");
        let told = ran.json();
        let pair = told["findings"].as_array().expect("findings").iter().find(|found| found["kind"] == "pair");
        assert_eq!(pair.map(|pair| &pair["acknowledged_kept"]), Some(&Value::Bool(kept)), "{told:#}");
        assert_eq!(told["checks"].to_string().contains("missing, the first is"), !kept, "{told:#}");
    }
    program.fine("db down local:postgres --remove");
}

#[test]
fn what_cannot_happen_to_a_database_is_refused_before_anything_is_started() {
    let told = Program::new().refused("plan key-value --on local:postgres --set fault=cut");
    assert!(told.contains("`cut`"), "{told}");
    let told = Program::new().refused("plan mirror-outage --set fault=cut --set at=3s --set resume=2s");
    assert!(told.contains("later than the fault at 3 s, got 2 s"), "{told}");
    let told = Program::new().refused("plan mirror-outage --set fault=cut --set measure=5s --set resume=6s");
    assert!(told.contains("before the end of the window, 5 s"), "{told}");
    let told = Program::new().refused("plan mirror-outage --set pair=two-phase-pair --set fault=kill-primary");
    let whose = "the event `kill-primary`: it happens to a `postgres-pair` and to a `galera-pair`";
    assert!(told.contains(whose) && !told.contains("emulated device"), "{told}");
}

#[test]
fn a_link_of_the_resync_is_refused_where_nothing_is_sent_over_it() {
    for (line, words) in [
        ("mirror-oltp --set resync_link=capacity=1MB/s", "an outage behind which the mirror comes back"),
        ("mirror-outage --set fault=kill-primary --set resync_link=capacity=1MB/s", "an outage behind which"),
        ("mirror-outage --set pair=galera-pair --set fault=kill-mirror --set resync_link=plain", "past the wire"),
        ("mirror-oltp --set pair=two-phase-pair --set resync_link=plain", "copied before each trial"),
        ("key-value --on local:postgres --set resync_link=plain", "a system with a mirror"),
        ("mirror-outage --set fault=cut --set resync_link=wide", "`same`, `plain`, or some of"),
    ] {
        let told = Program::new().refused(&format!("plan {line}"));
        assert!(told.contains(words), "{line}: {told}");
    }
}

#[test]
fn a_mirror_by_publication_has_its_tables_and_says_how_many_are_left_out() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let program = &house.program;
    let told = program.json(
        "run bank-day --on local:postgres --set mirror=none,on --set mirror_by=log,publication --set accounts=2000 --set sessions=2 \
         --set 'leave_out=none,order_* item' --set warm_up=100ms --set measure=1s --set replicates=1 --json",
    );
    let trials = told["trials"].as_array().expect("trials");
    assert_eq!(trials.len(), 4, "alone, by the log, and by two publications: {told}");
    for (system, words) in [
        ("postgres on log", "16 tables with the same rows on both"),
        ("postgres on publication none", "16 tables with the same rows on both"),
        (
            "postgres on publication order_* item",
            "14 tables with the same rows on both; 2 tables left out of the mirror",
        ),
    ] {
        let trial = trials.iter().find(|trial| trial["system"] == system).expect(system);
        let of = |check: &&Value| check["name"] == "mirror" && check["trial"] == trial["trial"];
        let check = told["checks"].as_array().expect("checks").iter().find(of).expect("a check");
        assert_eq!((&check["result"], &check["found"]), (&Value::from("passed"), &Value::from(words)), "{system}");
        let events = trial["events"].to_string();
        assert_eq!(events.contains("values of sequences do not follow"), system.contains("publication"), "{events}");
    }
    let split = |found: &&Value| found["added"].to_string().contains("decoded, sent, applied and in queues");
    let found = told["findings"].as_array().expect("findings").iter();
    assert_eq!(found.filter(|found| found["kind"] == "mirror").filter(split).count(), 2, "of both by publication");
    program.fine("db down local:postgres --remove");
}

#[test]
fn when_a_subscriber_goes_away_the_first_server_goes_on_alone_and_both_are_equal_again() {
    let Some(house) = House::with_server("local:postgres") else { return };
    for fault in ["kill-mirror", "cut"] {
        let told = house.program.json(&format!(
            "run mirror-outage --set mirror_by=publication --set fault={fault} {BANK} --set measure=5s --set patience=400ms \
             --allow-errors --json"
        ));
        let events = told["trials"][0]["events"].to_string();
        assert!(events.contains("goes on alone") && events.contains("the mirror has caught up"), "{fault}: {events}");
        assert!(holds(&told, "ledger") && holds(&told, "mirror"), "{told:#}");
    }
    house.program.fine("db down local:postgres --remove");
}

#[test]
fn cores_of_servers_are_planned_where_they_can_be_held_to_them_and_refused_by_name_elsewhere() {
    for (line, words) in [
        ("key-value --on local:postgres --set cores=4096", "processors of this machine for each server, got 4096"),
        ("key-value --on local:postgres --set cores=0", "`all`, or processors from 0.05 to 4096"),
        ("key-value --on sqlite: --set cores=0.5", "only servers that Prony starts"),
        ("mirror-outage --set fault=kill-mirror --set cores=0.5", "is in no control group, got 0.5"),
    ] {
        let told = Program::new().refused(&format!("plan {line}"));
        assert!(told.contains(words), "{line}: {told}");
    }
    Program::new().fine("plan mirror-oltp --on null-database:");
}

#[test]
fn servers_that_are_held_to_cores_tell_how_many_more_make_up_for_the_mirror() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let line = "key-value --on local:postgres --set mirror=none,on --set rows=1000 --set sessions=8 --set cores=0.3,0.8 --set warm_up=300ms \
         --set measure=2s --set replicates=1";
    if Program::new().run(&format!("plan {line}")).stderr.contains("no control group with a quota can be made") {
        return;
    }
    let told = house.program.json(&format!("run {line} --json"));
    let held =
        |trial: &&Value, cores: &str| trial["events"].to_string().contains(&format!("held to {cores} processors"));
    let trials = told["trials"].as_array().expect("trials");
    for cores in ["0.3", "0.8"] {
        let of: Vec<_> = trials.iter().filter(|trial| held(trial, cores)).collect();
        assert_eq!(of.len(), 2, "{cores}: {told:#}");
        for trial in of {
            let used: f64 =
                ["user", "system"].map(|part| trial["server"]["cpu_cores"][part].as_f64().unwrap()).iter().sum();
            assert!(used < 1.3 * cores.parse::<f64>().unwrap(), "{cores}: {used}");
        }
    }
    let findings = told["findings"].as_array().expect("findings");
    let mirror = findings.iter().find(|finding| finding["kind"] == "mirror").expect("what the mirror costs");
    let made = mirror["core_compensations"].as_array().expect("cores");
    assert_eq!(made.iter().map(|one| one["cores"].as_f64().unwrap()).collect::<Vec<_>>(), [0.3, 0.8], "{mirror:#}");
    assert!(made.iter().all(|one| one["cpu_ms"]["mirror"].as_f64() > Some(0.0)), "{mirror:#}");
    assert!(told["answer"].to_string().contains("To compensate for "), "{}", told["answer"]);
    house.program.fine("db down local:postgres --remove");
}

#[test]
fn in_lock_step_what_writes_to_a_table_that_is_left_out_goes_to_no_second_server() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let told = house.program.json(
        "run order-entry --on local:postgres --set pair=two-phase-pair --set mirror=none,on --set depots=2 --set sessions=2 \
         --set 'leave_out=none,order_line payment' --set warm_up=100ms --set measure=2s --set replicates=1 --json",
    );
    let checks = told["checks"].as_array().expect("checks");
    assert!(checks.iter().all(|check| check["result"] == "passed"), "{checks:#?}");
    let equal: Vec<_> =
        checks.iter().filter(|check| check["name"] == "mirror").map(|check| check["found"].as_str()).collect();
    assert!(equal.iter().flatten().any(|found| found.ends_with("; 2 tables left out of the mirror")), "{equal:?}");
    // Bytes to the second server for each transaction, half of which insert ten lines or a payment.
    let sent = |of: &str| {
        let trial = told["trials"].as_array().expect("trials").iter().find(|trial| trial["system"] == of).expect(of);
        let events = trial["events"].to_string();
        let carried = events.split("the wire carried ").nth(1).expect("a wire");
        let [number, unit] = carried.split(' ').take(2).collect::<Vec<_>>()[..] else { panic!("{events}") };
        let one = units::parse_bytes(&format!("1 {unit}")).expect("a unit of bytes").0;
        number.parse::<f64>().expect("a number") * one as f64 / trial["done"].as_f64().unwrap()
    };
    let (all, some) = (sent("postgres on none"), sent("postgres on order_line payment"));
    assert!(some < 0.8 * all, "{some} {all}");
    house.program.fine("db down local:postgres --remove");
}

#[test]
fn what_no_publication_can_do_is_refused_with_the_reason() {
    let postgres = "key-value --on local:postgres --set mirror=on";
    for (line, words) in [
        ("key-value --on local:postgres --set mirror_by=publication", "a system with a mirror"),
        (&format!("{postgres} --set leave_out=record"), "the log carries all tables"),
        (&format!("{postgres} --set mirror_by=publication --set leave_out=foo*"), "which has `record`, got `foo*`"),
        (&format!("{postgres} --set mirror_by=publication --set leave_out=*"), "a table of `record` that is left"),
        (&format!("{postgres} --set mirror_by=publication --set server=wal-level=replica"), "no `wal_level`"),
        (&format!("{postgres} --set pair=two-phase-pair --set leave_out=record"), "a table of `record` that is left"),
        (
            &format!("{postgres} --set pair=two-phase-pair --set mirror_by=publication"),
            "no `mirror_by` in a `two-phase-pair`",
        ),
        (
            "bank-day --on local:postgres --set mirror=on --set pair=two-phase-pair --set leave_out=item --set spread=random",
            "`one` with `leave_out`",
        ),
        (
            "brokerage --on local:postgres --set mirror=on --set pair=two-phase-pair --set leave_out=trade --set procedures=true",
            "none in a `two-phase-pair` with procedures",
        ),
        (
            "brokerage --on local:postgres --set mirror=on --set pair=two-phase-pair --set leave_out=customer",
            "which `account` refers to",
        ),
        ("mirror-oltp --set pair=galera-pair --set mirror_by=publication", "all tables of InnoDB"),
        ("mirror-outage --set mirror_by=publication --set fault=kill-primary", "takes nobody's place"),
        ("mirror-upgrade --set mirror_by=publication", "takes nobody's place"),
    ] {
        let told = Program::new().refused(&format!("plan {line}"));
        assert!(told.contains(words), "{line}: {told}");
    }
}

#[test]
fn two_servers_in_lock_step_hold_the_same_rows_and_nothing_stays_prepared() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let program = &house.program;
    let line = format!(
        "run key-value --on local:postgres --set pair=two-phase-pair --set mirror=none,on --set spread=one,random,split {SMALL} --json"
    );
    let told = program.json(&line);
    let checks = told["checks"].as_array().expect("checks");
    let equal: Vec<_> = checks.iter().filter(|check| check["name"] == "mirror").collect();
    assert_eq!(equal.len(), 3, "{checks:?}");
    assert!(checks.iter().all(|check| check["result"] == "passed"), "{checks:?}");
    let trials = told["trials"].as_array().expect("trials");
    let both: Vec<_> = trials.iter().filter(|trial| trial["system"] == "postgres on").collect();
    assert_eq!(both.len(), 3, "{trials:?}");
    for second in &both {
        assert!(second["events"].to_string().contains("; 0 transactions were left prepared and ended"), "{second}");
    }
    // Processors are counted by the tick.
    let cpu = both.iter().filter_map(|second| second["server"]["mirror_cpu_cores"].as_f64()).sum::<f64>();
    assert!(cpu > 0.0, "{both:?}");
    // What a transaction that writes says to the second server: begin, the change, prepare, commit. Half of all write.
    let found =
        told["findings"].as_array().expect("findings").iter().find(|f| f["kind"] == "mirror").expect("a mirror");
    let trips = found["added"][0]["round_trips"].as_f64().expect("they are counted");
    assert!((1.2..=2.8).contains(&trips), "{found:#}");
    program.fine("db down local:postgres --remove");
}

#[test]
fn a_mirror_of_what_is_no_private_postgresql_is_refused() {
    let told = Program::new().refused("plan key-value --on sqlite: --set mirror=on");
    assert!(told.contains("a mirror is made of a server that Prony starts"), "{told}");
    for wire in ["distance=0,50", "link=km=10"] {
        let told = Program::new().refused(&format!("plan key-value --on local:postgres --set {wire}"));
        assert!(told.contains("a system with a mirror") && told.contains("--set mirror=on"), "{told}");
    }
    let told = Program::new().refused("plan key-value --on local:postgres --set mirror=perhaps");
    assert!(told.contains("`remote_apply`") && told.contains("`perhaps`"), "{told}");
}

/// The folder of a server's mirror, while there is one.
fn mirror_folder(house: &House) -> Option<std::path::PathBuf> {
    let families = std::fs::read_dir(house.program.path("cache")).ok()?.flatten();
    let servers = families.filter_map(|family| std::fs::read_dir(family.path()).ok()).flatten().flatten();
    servers.map(|server| server.path()).find(|path| path.extension().is_some_and(|ending| ending == "mirror"))
}

/// Waits until a mirror serves in the middle of a run, and answers with its folder.
fn serving(house: &House) -> std::path::PathBuf {
    loop {
        let folder = mirror_folder(house);
        let state = folder.as_ref().and_then(|folder| std::fs::read_to_string(folder.join("data/postmaster.pid")).ok());
        if state
            .is_some_and(|text| text.lines().nth(7).is_some_and(|state| matches!(state.trim(), "ready" | "standby")))
        {
            // Trials begin a moment later.
            std::thread::sleep(std::time::Duration::from_secs(2));
            return folder.expect("it is there");
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn a_run_that_is_killed_with_a_mirror_keeps_no_log_and_no_commit_waiting_for_the_next() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let program = &house.program;
    for by in ["log", "publication"] {
        let going = program.start(&format!(
            "run key-value --on local:postgres --set rows=1000 --set mirror=on --set mirror_by={by} --set measure=30s --set sessions=2"
        ));
        let mirror = serving(&house);
        going.signal(rustix::process::Signal::KILL);
        going.end();
        program.json(&format!("run key-value --on local:postgres --set sessions=2 {SMALL} --json"));
        assert!(!mirror.exists(), "it goes when the server is opened next");
        let server =
            database::server::postgres::Server::at(&mirror.with_extension(""), Default::default()).expect("a server");
        let mut session = database::server::Member::session(&server, "postgres").expect("it answers");
        let left = "SELECT slot_name::text FROM pg_replication_slots UNION SELECT pubname FROM pg_publication";
        let left = session.query(left).expect("an answer");
        assert!(left.is_empty(), "{by}: {left:?}");
        for (setting, value) in [("synchronous_standby_names", ""), ("wal_level", "replica")] {
            let told = session.query(&format!("SHOW {setting}")).expect("an answer");
            assert_eq!(told[0][0].text(), Some(value), "{by}: {setting}");
        }
    }
    program.fine("db down local:postgres --remove");
}

#[test]
fn a_mirror_that_ends_by_itself_is_named_and_keeps_no_commit_waiting() {
    let Some(house) = House::with_server("local:postgres") else { return };
    let program = &house.program;
    let going = program.start("run key-value --on local:postgres --set rows=1000 --set mirror=on --set measure=4s --set replicates=1 --set sessions=2");
    let file = serving(&house).join("data/postmaster.pid");
    let text = std::fs::read_to_string(file).expect("it runs");
    let pid = text
        .lines()
        .next()
        .and_then(|line| line.parse().ok())
        .and_then(rustix::process::Pid::from_raw)
        .expect("a number");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it is ours");
    let (code, told) = going.end();
    assert_eq!(code, Some(0), "{told}");
    let told = program.fine("show latest");
    assert!(told.replace('\n', " ").contains("the mirror ended in the trial, and nobody had asked for it"), "{told}");
    program.fine("db down local:postgres --remove");
}
