//! What the engine refuses, a plan refuses before it: every place in the engine is listed, with what shows that the plan has it
//! too, or with why it cannot.

use std::fs;
use std::path::Path;
use study::{Study, Survey, SurveyedSystem, plan};
use units::Bytes;

/// How a plan knows of a refusal.
enum Known {
    /// It refuses a study with these lines, in these words.
    Refused { system: &'static str, workload: &'static str, ring: bool, words: &'static str },
    /// It leaves the point out on the system, in these words.
    LeftOut { system: &'static str, workload: &'static str, words: &'static str },
    /// It cannot know.
    Not(&'static str),
}

use Known::{LeftOut, Not, Refused};

const BLOCK: &str = "kind = 'block'\ntransfer = '4 KiB'\n";
const BY_KEY: &str = "kind = 'key-value'";

/// File of the engine, what the line says there, and how a plan knows of it.
const REFUSALS: &[(&str, &str, Known)] = &[
    ("database/databases.rs", "what() })", Not("a defect of ours: a trial that nobody prepared")),
    (
        "database/databases.rs",
        "what })",
        Refused {
            system: "kind = 'sqlite'",
            workload: "kind = 'brokerage'\n[workload.two]\nkind = 'key-value'",
            ring: true,
            words: "one data set for the streams of an experiment",
        },
    ),
    (
        "database/held.rs",
        "system: self.spec.shown(), what }",
        LeftOut {
            system: "kind = 'postgres'",
            workload: "kind = 'key-value'|cores = 0.5",
            words: "`cores`: no control group with a quota can be made (no right); run as root, or leave `cores` out",
        },
    ),
    (
        "database/sessions.rs",
        "stream.unsupported(what)",
        Refused {
            system: "kind = 'sqlite'",
            workload: "kind = 'brokerage'|load = { sessions = 3000 }",
            ring: true,
            words: "at most 2048 sessions where each has a thread of its own",
        },
    ),
    (
        "database/sessions.rs",
        "this database has no connections (`reopen`)",
        Refused { system: "kind = 'sqlite'", workload: "kind = 'key-value'\nreopen = 5", ring: true, words: "reopen" },
    ),
    (
        "database/sessions.rs",
        "carry storage work over sessions\"))",
        LeftOut { system: "kind = 'sqlite'", workload: BLOCK, words: "storage work" },
    ),
    (
        "database/sessions.rs",
        "stream.unsupported(what)",
        LeftOut {
            system: "kind = 'model'\nname = 'small-server'",
            workload: BY_KEY,
            words: "the transaction that a model describes is the brokerage's",
        },
    ),
    (
        "target/devices.rs",
        "run file work: it has no folder",
        LeftOut { system: "kind = 'device'\npath = '/dev/a'", workload: "kind = 'files'", words: "file work" },
    ),
    (
        "target/modules.rs",
        "trim through a polled ring",
        Refused {
            system: "kind = 'file'\ndir = '/x'",
            workload: "kind = 'block'\nread = '50%'\ntrims = '10%'\npoll = true",
            ring: true,
            words: "a polled ring takes reads and writes alone",
        },
    ),
    ("target/modules.rs", "give ranges of", Not("only an open file tells whether its filesystem gives ranges back")),
    (
        "target/modules.rs",
        "sync through a polled ring",
        Refused {
            system: "kind = 'file'\ndir = '/x'",
            workload: "kind = 'block'\ntransfer = '4 KiB'\npoll = true\nsync = 'every 8'",
            ring: true,
            words: "a polled ring takes no sync of its own",
        },
    ),
    (
        "target/modules.rs",
        "stream.unsupported(what)",
        Refused {
            system: "kind = 'file'\ndir = '/x'",
            workload: "kind = 'block'\ntransfer = '4 KiB'\ndriver = 'plain'|load = { outstanding = 3000 }",
            ring: true,
            words: "at most 2048 operations in flight where each has a thread of its own",
        },
    ),
    (
        "target/modules.rs",
        "hold more than {RING_MAX} operations in one io_uring",
        Refused {
            system: "kind = 'file'\ndir = '/x'",
            workload: "kind = 'block'\ntransfer = '4 KiB'|load = { outstanding = 40000 }",
            ring: true,
            words: "at most 32767 operations in flight on one io_uring",
        },
    ),
    (
        "target/modules.rs",
        "error.to_string()",
        Not("only opening a file tells whether its filesystem takes direct I/O"),
    ),
    (
        "target/modules.rs",
        "unsupported(format!(",
        LeftOut {
            system: "kind = 'device'\npath = '/dev/a'",
            workload: "kind = 'block'\ntransfer = '512 B'",
            words: "direct transfers that are no multiple of its sector of 4 KiB",
        },
    ),
    (
        "target/modules.rs",
        "NoRing { source }",
        Refused {
            system: "kind = 'file'\ndir = '/x'",
            workload: "kind = 'block'\ntransfer = '4 KiB'\ndriver = 'io_uring'",
            ring: false,
            words: "io_uring cannot be used on this machine",
        },
    ),
    (
        "target/known.rs",
        "TrialError::Workload",
        Refused {
            system: "kind = 'file'\ndir = '/x'",
            workload: "kind = 'block'\ntransfer = '4 KiB'\nvalidate = true\nshift = '256 B'\ndirect = false\n\
                   [workload.two]\nkind = 'block'\ntransfer = '4 KiB'\ndirect = false",
            ring: true,
            words: "validate",
        },
    ),
    (
        "target/known.rs",
        "TrialError::Watch",
        Refused {
            system: "kind = 'file'\ndir = '/x'",
            workload: "kind = 'block'\ntransfer = '4 KiB'\nvalidate = true|load = { outstanding = 65536 }",
            ring: true,
            words: "operations outstanding together",
        },
    ),
    (
        "trial/state.rs",
        "opened.setting.system",
        Refused {
            system: "kind = 'device'\npath = '/dev/a'\nfill = false",
            workload: "kind = 'block'\ntransfer = '4 KiB'\nread = '50%'",
            ring: true,
            words: "fill",
        },
    ),
    ("worker/assign.rs", "what.into() }", Not("what makes the error of the other lines")),
    (
        "worker/assign.rs",
        "it is no database",
        LeftOut { system: "kind = 'file'\ndir = '/x'", workload: BY_KEY, words: "transactions: they need a database" },
    ),
    (
        "worker/assign.rs",
        "TrialError::Workload",
        Refused {
            system: "kind = 'file'\ndir = '/x'\nsize = '1 MiB'",
            workload: "kind = 'block'\ntransfer = '2 MiB'",
            ring: true,
            words: "an active range that holds a transfer of 2 MiB",
        },
    ),
];

/// The notes of the plan of a study with this system and workload, or its problems. Behind a `|` stands what the experiment says.
fn planned(system: &str, workload: &str, ring: bool) -> Result<String, String> {
    let (workload, load) = workload.split_once('|').unwrap_or((workload, ""));
    let streams = match workload.contains("[workload.two]") {
        true => "streams = [{ workload = 'one' }, { workload = 'two' }]",
        false => "workload = 'one'",
    };
    let text = format!(
        "title = 'One'\nquestion = 'What?'\n[system.s]\n{system}\n[system.null]\nkind = 'null'\n[workload.one]\n{workload}\n\
         [[experiment]]\nname = 'all'\n{streams}\n{load}\n"
    );
    let study = Study::parse("one", &text).map_err(|problems| problems.to_string())?;
    let surveyed = SurveyedSystem {
        name: "s".to_owned(),
        modules_max: None,
        size_max: None,
        sector: if system.contains("device") { Bytes::kib(4) } else { Bytes(1) },
        free: None,
        null_or_scripted: false,
        transactions: false,
        ring,
        happens: Some(Vec::new()),
        loses: false,
        described: None,
    };
    let transactions = ["sqlite", "model", "postgres"].iter().any(|kind| system.contains(kind));
    let surveyed = SurveyedSystem { transactions, ..surveyed };
    let plan =
        plan(&study, &Survey { systems: vec![surveyed], cores: Some(2), unheld: Some("no right".to_owned()) }, 1)
            .map_err(|problems| problems.to_string())?;
    Ok(plan.notes.join("\n"))
}

#[test]
fn every_refusal_of_the_engine_that_follows_from_a_study_is_one_of_its_plan() {
    for (file, line, known) in REFUSALS {
        match known {
            Refused { system, workload, ring, words } => {
                let told = planned(system, workload, *ring).expect_err(&format!("{file}: {line}: it was planned"));
                assert!(told.contains(words), "{file}: {line}: {told}");
            }
            LeftOut { system, workload, words } => {
                // A study of which nothing is left is refused, with the same words.
                let told = planned(system, workload, true).unwrap_or_else(|problems| problems);
                assert!(told.contains(words), "{file}: {line}: {told}");
            }
            Not(why) => assert!(!why.is_empty()),
        }
    }
}

#[test]
fn reads_that_are_checked_are_planned_where_a_run_checks_nothing() {
    let workload = "kind = 'block'\ntransfer = '4 KiB'\nvalidate = true|load = { outstanding = 65536 }";
    for system in ["kind = 'null'", "kind = 'scripted'\nservice = '1 ms'", "kind = 'model'\nname = 'f5100'"] {
        planned(system, workload, true).unwrap_or_else(|problems| panic!("{system}: {problems}"));
    }
    let refused = planned("kind = 'file'\ndir = '/x'", workload, true).unwrap_err();
    assert!(refused.contains("operations outstanding together"), "{refused}");
}

#[test]
fn the_list_holds_every_place_where_the_engine_refuses_work() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    places(&source, &source, &mut found);
    let mut left: Vec<(&str, &str)> = REFUSALS.iter().map(|(file, line, _)| (*file, *line)).collect();
    for (file, line) in found {
        let at = left.iter().position(|(known, words)| *known == file && line.contains(words));
        left.remove(at.unwrap_or_else(|| panic!("{file}: `{line}` is a refusal that the list does not hold")));
    }
    assert!(left.is_empty(), "the engine refuses no more: {left:?}");
}

/// The lines below a folder that make such an error, tests left out.
fn places(root: &Path, folder: &Path, found: &mut Vec<(String, String)>) {
    const MAKE: [&str; 5] = [
        ".unsupported(",
        "TrialError::Unsupported {",
        "TrialError::Workload {",
        "TrialError::Watch {",
        "TrialError::NoRing {",
    ];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            places(root, &path, found);
            continue;
        }
        let file = path.strip_prefix(root).unwrap().display().to_string();
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let makes = |line: &&str| MAKE.iter().any(|make| line.contains(make)) && !line.trim_start().starts_with("//");
        found.extend(code.lines().filter(makes).map(|line| (file.clone(), line.trim().to_owned())));
    }
}
