//! Problems: all at once, each with its place, its limit and what was given.

use proptest::prelude::*;
use study::{Study, shipped};

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
