//! Problems: all at once, each with its place, its limit and what was given.

use proptest::prelude::*;
use study::{Overrides, Study, Survey, plan, shipped};

fn problems(text: &str) -> String {
    Study::parse("broken", text).unwrap_err().to_string()
}

const BROKEN: &str = r#"titel = "Broken"
primary = "speed of scan"
baseline = "nobody"
margin = "90%"
fail_if = ["throughput < 10", "response p99 > 5 ms of nothing"]

[parameter.long]
help = "no default"

[parameter.transfer]
default = "4 KiB"

[system.one]
kind = "file"
path = "/dev/sda"
size = 4096

[system.two]
kind = "tape"

[system.three]
kind = "scripted"
service = ["100 us", "2"]
stall = { every = "1 s", lasts = "2 s" }

[workload.scan]
kind = "block"
tranfser = "4 KiB"
transfer = "100 B"
read = "130%"
pattern = "randm"
offsets = { zipf = 1.0 }
width = 4

[workload.loop]
kind = "files"
sync = "every 0"
file = 10

[workload.idle]
pattern = "random"

[[experiment]]
name = "rates"
workload = ["scan", "skan"]
factor.outstandng = [1, 2]
factor.modules = [1, 0]
load = { outstanding = 4, rate = "10k/s", shift = "1 KiB" }
measure = 60
warm_up = "5 m"
when = "$lnog"
outstanding = 3

[[experiment]]
workload = "scan"
streams = [{ workload = "scan" }]
search = { highest_rate = { p98 = "5 ms" } }
transfer = ["4 KiB", "8 KiB"]

[experiments]
"#;

#[test]
fn a_broken_study_is_told_everything_at_once() {
    insta::assert_snapshot!(problems(BROKEN));
}

#[test]
fn text_that_is_not_toml_is_told_where() {
    insta::assert_snapshot!(problems("title = \"a\"\n[system.one\nkind = 3\n"));
}

#[test]
fn an_empty_text_is_told_what_is_missing() {
    insta::assert_snapshot!(problems(""));
}

/// A sound study, with a part in the middle to be broken.
fn sound(part: &str) -> String {
    format!(
        "[system.here]\nkind = \"file\"\ndir = \".\"\n[workload.scan]\nkind = \"block\"\n[workload.loop]\nkind = \"files\"\n\
         [[experiment]]\nname = \"rates\"\n{part}\n"
    )
}

#[test]
fn keys_that_do_not_go_together_are_refused_where_they_stand() {
    let refused = [
        "workload = \"scan\"\nworkers = 4\nload = { outstanding = 2 }",
        "workload = \"scan\"\npattern = \"sequential\"\noffsets = \"zipf 0.9\"",
        "workload = \"scan\"\npoll = true\ndriver = \"plain\"",
        "workload = \"scan\"\ntransfer = \"1 kB\"",
        "workload = \"scan\"\nmeasure = \"1 s\"\ninterval = \"300 ms\"",
        "workload = \"scan\"\nmeasure = \"1 h\"\ninterval = \"1 s\"",
        "workload = \"loop\"\nsync = \"every 3\"",
        "workload = \"loop\"\ndirect = true",
        "workload = \"loop\"\nload = { outstanding = 3 }",
        "workload = [\"loop\", \"scan\"]\nfactor.width = [1, 2]",
        "workload = \"scan\"\nfactor.outstanding = [1, 2]\nfactor.rate = [\"1k/s\"]",
        "workload = \"scan\"\nfactor.transfer = [\"1 KiB\", \"1024 B\"]",
        "streams = [{ workload = \"scan\" }, { workload = \"scan\" }]",
        "streams = [{ workload = \"scan\", operations = 5 }, { name = \"b\", workload = \"scan\" }]",
        "workload = \"scan\"\nwarm_up = \"1 s\"\nload = { ramp = \"2 s\" }",
        "workload = \"scan\"\nload = { outstanding = 4 }\nsearch = { highest_rate = { p99 = \"5 ms\" } }",
        "workload = \"scan\"\nfactor.scan.measure = [\"1 s\", \"2 s\"]",
        "workload = \"loop\"\nwarm_up = \"1 s\"",
        "workload = \"scan\"\nfactor.outstanding = [1, 2]\nfactor.think = \"$pause\"",
        "workload = \"scan\"\nsize = \"1 MiB\"\nrange = \"1%\"\ntransfer = \"64 KiB\"",
    ];
    let told: Vec<String> = refused
        .iter()
        .map(|part| match Study::parse("s", &sound(part)) {
            Ok(_) => format!("{part}\n    => accepted"),
            Err(problems) => format!("{part}\n    => {}", problems.to_string().replace('\n', "\n    => ")),
        })
        .collect();
    insta::assert_snapshot!(told.join("\n\n"));
}

/// Parts of a sound study, which stand from its tenth line on, with place, key and words of the one problem of each.
fn refused_at(cases: &[(&str, (u32, u32), &str, &str)]) {
    for (part, (line, column), key, words) in cases {
        let Err(problems) = Study::parse("s", &sound(part)) else { panic!("{part}: accepted") };
        let [problem] = problems.list.as_slice() else { panic!("{part}: {problems}") };
        assert_eq!((problem.line, problem.column, problem.key.as_str()), (Some(*line), Some(*column), *key));
        assert!(problem.message.contains(words), "{part}: {problems}");
    }
}

#[test]
fn a_mixture_of_sizes_that_should_come_once_is_refused_where_the_pattern_stands() {
    refused_at(&[(
        "workload = \"scan\"\ntransfer = \"70% 4 KiB + 30% 8 KiB\"\npattern = \"random-once\"",
        (12, 11),
        "rates.pattern",
        "one transfer size, got 2; use one size or the random pattern",
    )]);
}

#[test]
fn more_operations_in_flight_than_threads_may_be_started_are_refused_where_the_load_stands() {
    let words = "at most 2048 operations in flight where each has a thread of its own, got 2049: take `driver = \"io_uring\"`, \
                 or fewer";
    let plain = |load: &str| format!("workload = \"scan\"\ndriver = \"plain\"\nload = {{ {load} }}");
    refused_at(&[
        (&plain("outstanding = 2049"), (12, 24), "rates.outstanding", words),
        (&plain("rate = \"1k/s\", slots = 2049"), (12, 33), "rates.slots", words),
    ]);
    for part in [plain("outstanding = 2048"), plain("outstanding = 2049").replace("plain", "auto")] {
        Study::parse("s", &sound(&part)).unwrap_or_else(|problems| panic!("{part}: {problems}"));
    }
}

#[test]
fn more_operations_in_flight_than_a_ring_holds_are_refused_where_the_load_stands() {
    let words = "at most 32767 operations in flight on one io_uring, got 65536: take `workers = 3`, or fewer";
    let ring = |load: &str, workers: u32| format!("workload = \"scan\"\nload = {{ {load} }}\nworkers = {workers}");
    refused_at(&[
        (&ring("outstanding = 65536", 1), (11, 24), "rates.outstanding", words),
        (&ring("rate = \"1k/s\", slots = 65536", 1), (11, 33), "rates.slots", words),
    ]);
    for part in [ring("outstanding = 32767", 1), ring("outstanding = 65536", 3)] {
        Study::parse("s", &sound(&part)).unwrap_or_else(|problems| panic!("{part}: {problems}"));
    }
}

#[test]
fn a_search_over_a_fixed_amount_of_work_is_refused_where_the_search_stands() {
    let search = "search = { highest_rate = { p99 = \"5 ms\" } }";
    let words = "got a fixed amount of work";
    refused_at(&[
        (&format!("workload = \"scan\"\n{search}\noperations = 1000"), (11, 10), "rates.search", words),
        (&format!("workload = \"loop\"\n{search}"), (11, 10), "rates.search", words),
    ]);
}

#[test]
fn a_step_beyond_the_range_of_a_search_is_refused_where_the_search_stands() {
    let search =
        |range: &str| format!("workload = \"scan\"\nsearch = {{ highest_rate = {{ p99 = \"5 ms\", {range} }} }}");
    let key = "rates.search.highest_rate.step";
    let place = (11, 10);
    refused_at(&[
        (
            &search("from = \"1k/s\", to = \"3k/s\", step = \"2001/s\""),
            place,
            key,
            "a step of at most `to` less `from`, 2000 /s, got 2001 /s",
        ),
        // Without `from` the lowest rate is a twentieth of `to`.
        (&search("to = \"2k/s\", step = \"2k/s\""), place, key, "1900 /s, got 2000 /s"),
    ]);
    let whole = search("from = \"1k/s\", to = \"3k/s\", step = \"2k/s\"");
    Study::parse("s", &sound(&whole)).unwrap_or_else(|problems| panic!("{problems}"));
}

/// A study of a scripted system, with a part of the system and a part of the experiment.
fn scripted(system: &str, experiment: &str) -> String {
    format!(
        "[system.s]\nkind = \"scripted\"\n{system}\n[workload.w]\nkind = \"block\"\n[[experiment]]\nname = \"e\"\n\
         workload = \"w\"\n{experiment}\n"
    )
}

#[test]
fn a_script_without_time_would_never_end_and_is_refused() {
    let told = |text: &str| Study::parse("s", text).unwrap_err();
    let zero = told(&scripted("service = [\"0 s\", \"0 ns\"]", ""));
    assert!(zero.to_string().starts_with("s:3:12: `system.s.service`: a time above 0 s, or `per_byte`"), "{zero}");
    let on = Overrides { targets: vec!["scripted:service=0s".to_owned()], ..Overrides::default() };
    let sound = Study::parse("s", &scripted("", "")).unwrap();
    let zero = sound.with(&on).unwrap_err();
    assert!(zero.to_string().starts_with("--on scripted:service=0s: `service`: a time above 0 s"), "{zero}");
    Study::parse("s", &scripted("service = \"0 s\"\nper_byte = \"0.5 ns\"", "")).unwrap();
    Study::parse_run("s", &scripted("service = \"0 s\"", "")).unwrap();
}

#[test]
fn a_drift_that_leaves_no_service_time_before_the_window_ends_is_refused() {
    let drifting = |drift: &str, rest: &str| scripted(&format!("service = \"1 ms\"\ndrift = \"{drift}\""), rest);
    let problems = Study::parse("s", &drifting("-10%", "measure = \"100 s\"")).unwrap_err();
    let told = problems.to_string();
    assert!(
        told.starts_with("s:10:11: `e.measure`: less than 10 s with the warm-up: with a `drift` of -10%"),
        "{told}"
    );
    assert!(told.ends_with("got 110 s"), "{told}");
    assert!(Study::parse("s", &drifting("-50%", "")).is_err());
    Study::parse("s", &drifting("-10%", "measure = \"8 s\"\nwarm_up = \"1 s\"")).unwrap();
    Study::parse("s", &drifting("-50%", "operations = 1000")).unwrap();
}

#[test]
fn a_metric_that_no_trial_can_have_is_refused_where_it_stands() {
    let asked = |line: &str, rest: &str| format!("{line}\n{}", scripted("", rest));
    for (line, place, words) in [
        ("primary = \"elapsed of w\"", "s:1:11: `primary`", "`elapsed` needs a fixed amount of work"),
        ("primary = \"cpu per operation of w\"", "s:1:11: `primary`", "needs a system that is not simulated"),
        ("fail_if = \"elapsed > 20 s\"", "s:1:11: `fail_if`", "`elapsed` needs a fixed amount of work"),
        ("fail_if = \"cpu per operation > 1 us in e\"", "s:1:11: `fail_if`", "needs a system that is not simulated"),
    ] {
        let told = Study::parse("s", &asked(line, "")).unwrap_err().to_string();
        assert!(told.starts_with(place) && told.contains(words), "{told}");
        Study::parse_run("s", &asked(line, "")).unwrap_or_else(|problems| panic!("{problems}"));
    }
    let search = "search = { highest_rate = { p99 = \"5 ms\", to = \"1k/s\" } }";
    let told = Study::parse("s", &asked("fail_if = \"response p99 > 9 ms\"", search)).unwrap_err().to_string();
    assert!(told.contains("the trials of a search are held against its own bound alone"), "{told}");
    let sound = Study::parse("s", &asked("primary = \"elapsed of w\"", "operations = 10")).unwrap();
    let fail_if = Overrides { fail_if: vec!["cpu per operation > 1 us".to_owned()], ..Overrides::default() };
    let told = sound.with(&fail_if).unwrap_err().to_string();
    assert!(told.starts_with("--fail-if cpu per operation > 1 us: a metric that its trials have"), "{told}");
    // Options may take away what the study measures; a note says so.
    let real = asked("primary = \"cpu per operation of w\"", "").replace("scripted", "null");
    let on = Overrides { targets: vec!["scripted:".to_owned()], ..Overrides::default() };
    let study = Study::parse("s", &real).unwrap().with(&on).unwrap();
    let note = "the primary metric `cpu per operation of w` is not measured with these options";
    assert!(study.notes.iter().any(|known| known.starts_with(note)), "{:?}", study.notes);
}

#[test]
fn a_key_that_the_load_has_no_use_for_is_refused_where_it_stands() {
    let load = |keys: &str| format!("workload = \"scan\"\nload = {{ {keys} }}");
    let (open, closed) = ("it belongs to an open one", "it belongs to a closed one");
    refused_at(&[
        (&load("outstanding = 4, slots = 3"), (11, 35), "rates.slots", open),
        (&load("arrivals = \"constant\""), (11, 21), "rates.arrivals", open),
        (&load("pacing = \"spin\""), (11, 19), "rates.pacing", "a load that never waits"),
        (&load("rate = \"1k/s\", think = \"1 ms\""), (11, 33), "rates.think", closed),
        (&load("rate = \"1k/s\", per = \"module\""), (11, 31), "rates.per", closed),
    ]);
    let sound = [
        load("think = \"1 ms\", pacing = \"spin\""),
        load("rate = \"1k/s\", slots = 3, arrivals = \"constant\", pacing = \"spin\""),
        // The key is for one of the levels.
        "workload = \"scan\"\nfactor.think = [\"0 s\", \"1 ms\"]\nload = { pacing = \"spin\" }".to_owned(),
    ];
    for part in &sound {
        Study::parse("s", &self::sound(part)).unwrap_or_else(|problems| panic!("{part}: {problems}"));
    }
    Study::parse_run("s", &self::sound(&load("slots = 3"))).unwrap();
}

#[test]
fn an_option_that_no_load_has_a_use_for_is_refused_and_one_that_puts_a_load_aside_is_not() {
    let with = |part: &str, settings: &[&str]| {
        let settings = settings.iter().map(|text| (*text).to_owned()).collect();
        Study::parse("s", &sound(part)).unwrap().with(&Overrides { settings, ..Overrides::default() })
    };
    let closed = "workload = \"scan\"\nload = { outstanding = 4 }";
    let told = with(closed, &["slots=3"]).unwrap_err().to_string();
    assert!(told.starts_with("--set slots=3: `rates.slots`: nothing for a closed load"), "{told}");
    with(closed, &["rate=1k/s", "slots=3"]).unwrap();
    with("workload = \"scan\"\nload = { rate = \"1k/s\", slots = 3 }", &["outstanding=4"]).unwrap();
    with("workload = \"scan\"\nload = { outstanding = 4, think = \"1 ms\" }", &["rate=1k/s"]).unwrap();
    let told = with(closed, &["outstanding=1,1"]).unwrap_err().to_string();
    assert!(told.contains("every level once, got `1` twice"), "{told}");
}

#[test]
fn a_window_that_no_interval_divides_is_refused_and_any_other_is_measured_as_it_is_written() {
    refused_at(&[(
        "workload = \"scan\"\nmeasure = \"100000007 ns\"",
        (11, 11),
        "rates.measure",
        "a window of whole microseconds",
    )]);
    for (measure, ns) in [("333 ms", 333_000_000), ("100001 us", 100_001_000), ("1.00000001 s", 1_000_000_010)] {
        let text = sound(&format!("workload = \"scan\"\nmeasure = \"{measure}\""));
        let study = Study::parse("s", &text).unwrap();
        let plan = plan(&study, &Survey::default(), 1).unwrap();
        assert_eq!(plan.trials[0].phases.measure, units::Nanos(ns), "{measure}");
    }
}

#[test]
fn a_name_that_cannot_be_seen_is_refused_wherever_it_is_given() {
    for (table, place) in [("system", "s:1:9"), ("workload", "s:1:11"), ("parameter", "s:1:12")] {
        for (name, shown) in [("", ""), ("a\\nb", "a\\nb"), ("\\u001b[31m", "\\u{1b}[31m")] {
            let problems = Study::parse("s", &format!("[{table}.\"{name}\"]\n")).unwrap_err().to_string();
            let told = format!("{place}: `{table}`: a name of characters that can be seen, got `{shown}`");
            assert!(problems.contains(&told), "{problems}");
        }
    }
    let stream = "streams = [{ name = \"\\t\", workload = \"scan\" }]";
    let told = Study::parse("s", &sound(stream)).unwrap_err().to_string();
    assert!(told.contains("`rates.streams.name`: a name of characters that can be seen"), "{told}");
    let told = Study::parse("s", &sound("workload = \"scan\"").replace("\"rates\"", "\"ra\\ntes\"")).unwrap_err();
    assert!(told.to_string().contains("a name of characters that can be seen, got `ra\\ntes`"), "{told}");
}

#[test]
fn the_shape_of_a_problem_is_plain_for_programs() {
    let problems = Study::parse("s", &sound("workload = \"scan\"\nmeasure = 60")).unwrap_err();
    let [problem] = problems.list.as_slice() else { panic!("{problems}") };
    assert_eq!((problem.source.as_str(), problem.line, problem.column), ("s", Some(11), Some(11)));
    assert_eq!(problem.key, "rates.measure");
    assert!(problem.message.starts_with("`60` has no unit; write one of ns, us, ms"));
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        let _ = Study::parse("any", &text);
    }

    /// Almost right is where readers break: a line lost, doubled, or a few characters changed.
    #[test]
    fn no_damage_to_a_sound_study_makes_the_reader_panic(
        which in 0usize..3, line in 0usize..80, kind in 0u8..4, at in 0usize..60, with in "[\\[\\]{}=\"',.$%0-9a-z \\-]{0,6}",
    ) {
        let text = shipped()[which].text;
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let line = line % lines.len();
        match kind {
            0 => { lines.remove(line); }
            1 => { let copy = lines[line].clone(); lines.insert(line, copy); }
            2 => lines[line] = with,
            _ => {
                let place = lines[line].char_indices().nth(at).map_or(lines[line].len(), |(i, _)| i);
                lines[line].insert_str(place, &with);
            }
        }
        if let Err(problems) = Study::parse("damaged", &lines.join("\n")) {
            prop_assert!(!problems.list.is_empty() && !problems.to_string().is_empty());
        }
    }
}

#[test]
fn more_trials_than_anybody_waits_for_are_refused_before_they_are_made() {
    let levels = (1..=100).map(|level| level.to_string()).collect::<Vec<_>>().join(", ");
    let text = |replicates: u32| {
        format!(
            "[system.a]\nkind = \"null\"\n[workload.w]\nkind = \"block\"\n[[experiment]]\nname = \"x\"\nworkload = \"w\"\n\
             factor.outstanding = [{levels}]\nreplicates = {replicates}\n"
        )
    };
    assert!(Study::parse("many", &text(200)).is_ok());
    let refused = problems(&text(1000));
    assert!(
        refused.contains("at most 20000 trials in a study, all systems and repeats together, got 100000"),
        "{refused}"
    );
}

#[test]
fn a_study_without_systems_takes_them_from_on_and_its_run_is_read_without() {
    let text = "title = \"t\"\nquestion = \"q?\"\n[workload.r]\nkind = \"block\"\n[[experiment]]\nname = \"x\"\nworkload = \"r\"\n\
                load = { outstanding = 1 }\n";
    let on = ["null".to_owned()];
    let refused = Study::parse("s", text).unwrap_err().to_string();
    assert!(refused.contains("at least one system, got none"), "{refused}");
    let study = Study::parse_on("s", text, &on).unwrap_or_else(|problems| panic!("{problems}"));
    let study = study.with(&Overrides { targets: on.into(), ..Overrides::default() });
    assert_eq!(study.unwrap_or_else(|problems| panic!("{problems}")).systems().len(), 1);
    Study::parse_run("s", text).unwrap_or_else(|problems| panic!("{problems}"));
}

#[test]
fn far_too_many_systems_are_told_before_they_are_compared() {
    let systems: String = (0..20_000).map(|n| format!("[system.s{n}]\nkind = \"null\"\n")).collect();
    let told = Study::parse("s", &format!("title = \"t\"\n{systems}")).unwrap_err().to_string();
    assert!(told.contains("at most 256 systems in a study, got 20000"), "{told}");
}

#[test]
fn partitions_are_refused_where_nobody_makes_tables_or_no_table_can_be_divided() {
    let problem = |system: &str, script: &str| {
        let text = format!(
            "title = 'P'\nquestion = 'What?'\n[system.db]\n{system}\n[workload.w]\nkind = 'sql'\npartitions = 4\n\
             script = '{script}'\n[[experiment]]\nname = 'one'\nworkload = 'w'\nload = {{ sessions = 1 }}\nmeasure = '1 s'\n"
        );
        let planned = Study::parse("p", &text).and_then(|study| plan(&study, &Survey::default(), 1));
        planned.err().map(|problems| problems.to_string()).unwrap_or_default()
    };
    assert_eq!(problem("kind = 'postgres'", "tpcb-like"), "");
    for (system, script, words) in [
        ("kind = 'sqlite'", "tpcb-like", "0 on SQLite, which divides no tables, got 4"),
        ("kind = 'postgres'\nurl = 'postgres://me@host/db'", "tpcb-like", "none on a server by URL"),
        ("kind = 'postgres'", "own.sql", "none for scripts of your own"),
    ] {
        let told = problem(system, script);
        assert!(told.contains(words), "{system}, {script}: {told}");
    }
}
