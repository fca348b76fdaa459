//! Whether a system is filled: a device that is only read is not.

use observation::PlainState;
use study::{Occasion, Overrides, Place, Plan, Study, Survey, plan};

/// Two experiments that read, on a device and beside it in a folder, with more lines for the device and the second one.
fn text(device: &str, second: &str) -> String {
    format!(
        "[system.disk]\nkind = \"device\"\npath = \"/dev/sdx\"\nsize = \"1 GiB\"\n{device}\n\
         [system.folder]\nkind = \"file\"\ndir = \".\"\nsize = \"1 GiB\"\n\
         [workload.reads]\nkind = \"block\"\n\
         [[experiment]]\nname = \"first\"\nworkload = \"reads\"\nreplicates = 1\nmeasure = \"1 s\"\n\
         [[experiment]]\nname = \"second\"\nworkload = \"reads\"\nreplicates = 1\nmeasure = \"1 s\"\n{second}\n"
    )
}

fn study(device: &str, second: &str) -> Study {
    Study::parse("made", &text(device, second)).unwrap_or_else(|problems| panic!("{problems}"))
}

fn set(study: &Study, settings: &[&str]) -> Result<Study, String> {
    let settings = settings.iter().map(|text| (*text).to_owned()).collect();
    study.with(&Overrides { settings, ..Overrides::default() }).map_err(|problems| problems.to_string())
}

fn filled(study: &Study) -> bool {
    match study.systems()[0].place {
        Place::Device { fill, .. } => fill,
        _ => panic!("not a device"),
    }
}

fn planned(study: &Study) -> Plan {
    plan(study, &Survey::default(), 1).unwrap_or_else(|problems| panic!("{problems}"))
}

/// What is written on a system, by occasion.
fn occasions(plan: &Plan, system: &str) -> Vec<Occasion> {
    plan.written().into_iter().filter(|written| written.system == system).map(|written| written.occasion).collect()
}

/// What a trial may do that only a filled device can bear.
const CHANGES: [(&str, &str); 5] = [
    ("read = \"90%\"", "`second` writes"),
    ("validate = true", "`second` checks its reads"),
    ("trim = true", "`second` trims"),
    ("refill = true", "`second` refills"),
    ("precondition = \"1 fills\"", "`second` preconditions"),
];

#[test]
fn a_device_that_is_only_read_is_not_written_and_the_plan_says_so() {
    let study = study("", "cache = \"cold\"");
    assert!(!filled(&study));
    let plan = planned(&study);
    assert_eq!(occasions(&plan, "disk"), []);
    assert_eq!(occasions(&plan, "folder"), [Occasion::Fill]);
    assert!(plan.occupied().iter().all(|(system, _)| system == "folder"));
    assert!(plan.notes.iter().any(|note| note.starts_with("nothing is written to `disk`: ")), "{:?}", plan.notes);
    for trial in &plan.trials {
        assert_eq!(trial.label.state.has(PlainState::AsFound), trial.label.system == "disk", "{}", trial.label.state);
    }
}

#[test]
fn a_device_on_which_any_trial_changes_or_checks_data_is_filled_for_all() {
    for (line, _) in CHANGES {
        let study = study("", line);
        assert!(filled(&study), "{line}");
        let plan = planned(&study);
        assert!(occasions(&plan, "disk").contains(&Occasion::Fill), "{line}");
        assert!(plan.notes.is_empty(), "{line}: {:?}", plan.notes);
        assert!(plan.trials.iter().all(|trial| !trial.label.state.has(PlainState::AsFound)), "{line}");
    }
}

#[test]
fn a_trial_that_only_a_larger_device_can_run_counts_as_well() {
    // A whole device is taken to have 1 GiB as long as nobody has looked, and a thousandth of it holds no such transfer.
    let text = text("", "read = \"0%\"\ntransfer = \"8 MiB\"\nrange = \"0.1%\"").replacen("size = \"1 GiB\"\n", "", 1);
    let text = text.replace("[system.folder]\nkind = \"file\"\ndir = \".\"\nsize = \"1 GiB\"\n", "");
    assert!(filled(&Study::parse("made", &text).unwrap_or_else(|problems| panic!("{problems}"))));
}

#[test]
fn workers_are_held_against_the_operations_of_all_modules() {
    let text = |modules: u32| {
        format!(
            "[system.folder]\nkind = \"file\"\ndir = \".\"\nmodules = {modules}\n[workload.reads]\nkind = \"block\"\n\
             [[experiment]]\nname = \"all\"\nworkload = \"reads\"\nworkers = 2\n\
             load = {{ outstanding = 1, per = \"module\" }}\n"
        )
    };
    if let Err(problems) = Study::parse("made", &text(2)) {
        panic!("{problems}");
    }
    let told = Study::parse("made", &text(1)).unwrap_err().to_string();
    assert!(told.contains("at most as many workers as operations in flight, which are 1, got 2"), "{told}");
}

#[test]
fn a_device_is_filled_where_that_is_asked_for() {
    assert!(filled(&study("fill = true", "")));
    let plain = study("", "");
    assert!(filled(&set(&plain, &["fill=true"]).unwrap()));
    assert!(filled(&set(&plain, &["disk.fill=true"]).unwrap()));
    assert!(!filled(&set(&study("fill = true", ""), &["disk.fill=false"]).unwrap()));
    assert_eq!(occasions(&planned(&set(&plain, &["fill=true"]).unwrap()), "disk"), [Occasion::Fill]);
}

#[test]
fn what_only_a_filled_device_can_bear_is_refused_where_fill_stands() {
    for (line, says) in CHANGES {
        let problems = Study::parse("made", &text("fill = false", line)).unwrap_err();
        let [problem] = problems.list.as_slice() else { panic!("{problems}") };
        assert_eq!((problem.line, problem.column, problem.key.as_str()), (Some(5), Some(8), "system.disk.fill"));
        let message = format!("`true` for a device that is not only read: {says}, got `false`");
        assert_eq!(problem.message, message);
    }
}

#[test]
fn files_are_always_filled() {
    let told = set(&study("", ""), &["fill=false"]).unwrap_err();
    assert!(told.contains("--set fill=false: `system.folder.fill`: `true` for a system of kind `file`"), "{told}");
    assert!(!told.contains("disk"), "{told}");
}

#[test]
fn fill_belongs_to_a_system_that_can_be_filled() {
    let null = "[system.s]\nkind = \"null\"\nfill = true\n[workload.w]\nkind = \"block\"\n\
                [[experiment]]\nname = \"e\"\nworkload = \"w\"\n";
    let told = Study::parse("made", null).unwrap_err().to_string();
    assert!(told.contains("made:3:8: `system.s.fill`: it belongs to systems of kind `file` or `device`"), "{told}");
    let told = set(&Study::parse("made", &null.replace("fill = true\n", "")).unwrap(), &["fill=true"]).unwrap_err();
    assert!(told.contains("does not apply to any system of the study"), "{told}");
    for line in ["fill = true", "factor.fill = [true, false]"] {
        assert!(Study::parse("made", &text("", line)).is_err(), "{line}");
    }
    for option in ["fill=true,false", "second.fill=true", "reads.fill=true", "disk.fill=true,false"] {
        assert!(set(&study("", ""), &[option]).is_err(), "{option}");
    }
}

#[test]
fn checked_reads_ask_for_no_fill_of_their_own() {
    let plan = planned(&study("", "validate = true"));
    assert_eq!(occasions(&plan, "folder"), [Occasion::Fill]);
    let states = |experiment: &str| {
        let own = plan.trials.iter().filter(|trial| trial.label.experiment == experiment);
        own.map(|trial| trial.label.state.to_string()).collect::<Vec<_>>()
    };
    for experiment in ["first", "second"] {
        assert_eq!(states(experiment), ["data as the last trial left it, caches as left"; 2]);
    }
    let both = planned(&study("", "refill = true\nprecondition = \"2 fills\""));
    assert_eq!(occasions(&both, "folder"), [Occasion::Fill, Occasion::Refill, Occasion::Precondition]);
}
