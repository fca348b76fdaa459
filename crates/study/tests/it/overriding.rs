//! `--on`, `--set`, `--only` and `--fail-if`.

use study::{Metric, Overrides, Place, Study, Survey, SurveyedSystem, plan, runnable, shipped};
use units::Bytes;

fn study(name: &str) -> Study {
    Study::parse(name, shipped().iter().find(|shipped| shipped.name == name).unwrap().text).unwrap()
}

fn overrides(on: &[&str], set: &[&str], only: &[&str], fail_if: &[&str]) -> Overrides {
    let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    Overrides {
        targets: owned(on),
        settings: owned(set),
        only: owned(only),
        fail_if: owned(fail_if),
        ..Overrides::default()
    }
}

fn changed(name: &str, on: &[&str], set: &[&str], only: &[&str]) -> Study {
    study(name).with(&overrides(on, set, only, &[])).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn wrong_options_are_told_all_at_once() {
    let wrong = overrides(
        &["tape:0", "file:"],
        &[
            "sise=1GiB",
            "measure=2",
            "modules=0,2",
            "width=3",
            "nobody.measure=1s",
            "replicates=2,3",
            "size",
            "sustained=soon",
        ],
        &["random-raed", "sustained"],
        &["speed > 3", "throughput < 5"],
    );
    insta::assert_snapshot!(study("flash").with(&wrong).unwrap_err().to_string());
}

/// Each `--set` was told not to apply to any experiment beside the one slip.
#[test]
fn a_misspelt_experiment_is_the_only_problem_of_its_line() {
    let wrong = overrides(&[], &["modules=2", "replicates=3"], &["random-raed"], &[]);
    let problems = study("flash").with(&wrong).unwrap_err().to_string();
    assert_eq!(problems.matches("--set").count(), 0, "{problems}");
    assert_eq!(problems.matches("--only").count(), 1, "{problems}");
}

#[test]
fn a_parameter_of_another_shipped_study_is_named_with_it_and_else_the_nearest_keys_and_where_all_are() {
    let told = |study_name: &str, set: &str| {
        study(study_name).with(&overrides(&[], &[set], &[], &[])).unwrap_err().to_string()
    };
    for (name, set, has) in [
        ("bank-day", "deadline=6h", "the shipped study `bank-night`"),
        ("bank-overrun", "work=10000000", "the shipped study `bank-night`"),
        ("bank-night", "jobs=4", "the shipped study `bank-overrun`"),
    ] {
        let told = told(name, set);
        assert!(told.contains("unknown key") && told.contains(has) && !told.contains("reference keys"), "{told}");
    }
    assert!(told("flash", "iodeph=1").contains("did you mean `iodepth`?"));
    assert!(told("flash", "transfr=1").contains("did you mean `transfer`?"));
    let told = told("flash", "foo=1");
    for has in
        ["unknown key", "did you mean one of `", "`prony reference keys` prints all keys", "`bs`, `block_size`, `rw`"]
    {
        assert!(told.contains(has) && told.len() < 400, "{told}");
    }
}

#[test]
fn a_key_that_leaves_no_room_in_a_module_is_named_with_the_size() {
    for (sets, has) in [
        (
            ["offset=40MiB", "shift=0B"],
            "offset`: room for a transfer of 4 KiB behind it in a module of 32 MiB, got 40 MiB",
        ),
        (
            ["offset=0B", "shift=64MiB"],
            "shift`: room for a transfer of 4 KiB behind it in the active range, 32 MiB of a module of 32 MiB, got 64 MiB",
        ),
        (
            ["range=50%", "shift=20MiB"],
            "shift`: room for a transfer of 4 KiB behind it in the active range, 16 MiB of a module of 32 MiB, got 20 MiB",
        ),
        (["range=0.01%", "shift=0B"], "range`: an active range that holds a transfer of 4 KiB"),
    ] {
        let asked = overrides(&["file:."], &["size=32MiB", sets[0], sets[1]], &["rates by modules"], &[]);
        let told = study("flash").with(&asked).unwrap_err().to_string();
        assert!(told.contains(has), "{told}");
    }
}

#[test]
fn a_list_replaces_the_levels_of_a_factor_and_leaves_other_experiments_alone() {
    let study = changed("flash", &[], &["modules=1,8"], &[]);
    let plan = plan(&study, &Survey::default(), 3).unwrap();
    let rates: Vec<u32> =
        plan.trials.iter().filter(|t| t.label.experiment == "rates by modules").map(|t| t.modules).collect();
    assert_eq!(rates.len(), 10);
    assert!(rates.iter().all(|modules| [1, 8].contains(modules)));
    assert!(plan.trials.iter().filter(|t| t.label.experiment != "rates by modules").all(|t| t.modules == 1));
    assert_eq!(study.systems()[0].modules, Some(8));
}

#[test]
fn a_list_for_a_key_that_is_no_factor_makes_it_one() {
    let study = changed("wide", &[], &["block=4KiB,64KiB,1MiB", "width=2"], &[]);
    let plan = plan(&study, &Survey::default(), 3).unwrap();
    assert_eq!(plan.trials.len(), 3);
    let names: Vec<&str> = plan.trials[0].label.factors.iter().map(|factor| factor.name.as_str()).collect();
    assert_eq!(names, ["width", "block"]);
}

#[test]
fn an_option_can_be_narrowed_to_an_experiment_a_workload_or_a_system() {
    let set = ["rates by modules.measure=7s", "random-read.transfer=8KiB", "b.size=2GiB"];
    let study = changed("flash", &["a=/x", "b=/y"], &set, &[]);
    let plan = plan(&study, &Survey::default(), 3).unwrap();
    for trial in &plan.trials {
        let rates = trial.label.experiment == "rates by modules";
        assert_eq!(trial.phases.measure.seconds(), if rates { 7.0 } else { 5.0 });
        let bytes = if trial.label.system == "b" { Bytes::gib(2) } else { Bytes::gib(4) };
        assert_eq!(trial.module_bytes, bytes);
        if rates && trial.label.streams[0].workload == "random-read" {
            let spec = trial.streams[0].block().expect("blocks");
            assert_eq!(spec.transfers[0].size, Bytes::kib(8));
        }
    }
}

#[test]
fn scratch_files_keep_the_size_of_the_study_and_a_device_is_used_whole() {
    let study = changed("flash", &["file:/x", "device:/dev/a,/dev/b"], &[], &["random-read"]);
    assert_eq!(study.systems()[0].size, Some(Bytes::gib(4)));
    assert_eq!(study.systems()[1].size, None);
    let surveyed = SurveyedSystem {
        name: "a".into(),
        modules_max: Some(2),
        size_max: Some(Bytes::gib(100)),
        sector: Bytes(512),
        free: None,
        null_or_scripted: false,
        transactions: false,
        ring: true,
        happens: Some(Vec::new()),
        loses: false,
        described: None,
    };
    let plan = plan(&study, &Survey { systems: vec![surveyed], ..Survey::default() }, 3).unwrap();
    let device: Vec<_> = plan.trials.iter().filter(|trial| trial.label.system == "a").collect();
    assert!(device.iter().all(|trial| trial.module_bytes == Bytes::gib(100) && trial.modules <= 2));
    assert!(
        plan.notes.iter().any(|note| note.contains("left out on `a`") && note.contains("it offers 2 modules")),
        "{:?}",
        plan.notes
    );
}

#[test]
fn a_device_with_large_sectors_leaves_out_what_it_cannot_transfer() {
    let study = changed("flash", &["device:/dev/a"], &[], &["random-read"]);
    let surveyed = SurveyedSystem {
        name: "a".into(),
        modules_max: Some(1),
        size_max: Some(Bytes::gib(100)),
        sector: Bytes(4096),
        free: None,
        null_or_scripted: false,
        transactions: false,
        ring: true,
        happens: Some(Vec::new()),
        loses: false,
        described: None,
    };
    let plan = plan(&study, &Survey { systems: vec![surveyed], ..Survey::default() }, 3).unwrap();
    assert!(plan.trials.iter().all(|trial| trial.label.experiment != "service time off alignment"));
    let sizes = plan.trials.iter().filter(|trial| trial.label.experiment == "service time by transfer size").count();
    assert_eq!(sizes, 9);
    insta::assert_snapshot!(plan.notes.join("\n"));
}

#[test]
fn scratch_files_that_do_not_fit_are_refused_before_anything_is_written() {
    let study = changed("flash", &["/x"], &[], &[]);
    let surveyed = SurveyedSystem {
        name: "x".into(),
        modules_max: None,
        size_max: None,
        sector: Bytes(512),
        free: Some(Bytes::gib(10)),
        null_or_scripted: false,
        transactions: false,
        ring: true,
        happens: Some(Vec::new()),
        loses: false,
        described: None,
    };
    let problems = plan(&study, &Survey { systems: vec![surveyed], ..Survey::default() }, 3).unwrap_err().to_string();
    assert!(problems.contains("at most the free space, 10 GiB, got scratch files of 16 GiB"), "{problems}");
    assert!(problems.contains("--set size="));
}

#[test]
fn only_keeps_what_it_names() {
    let names = |only: &[&str]| {
        let study = changed("quick", &[], &[], only);
        study.experiments().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(names(&["random-read"]), ["random read"]);
    assert_eq!(names(&["random write", "durable-write"]), ["random write", "durable write"]);
}

#[test]
fn a_primary_metric_that_is_left_out_is_a_note_and_not_an_error() {
    let study = changed("quick", &[], &[], &["random write"]);
    assert_eq!(study.judgement().primary, None);
    assert!(study.notes.iter().any(|note| note.contains("not measured with these options")));
}

#[test]
fn one_value_for_all_names_the_experiments_that_it_leaves_nothing_to_compare_in() {
    let told = |set: &str, only: &[&str]| {
        let study = changed("flash", &[], &[set], only);
        study.notes.iter().find(|note| note.contains("nothing to compare")).cloned().unwrap_or_default()
    };
    let note = told("block_size=4KiB", &[]);
    assert!(note.contains("`service time by transfer size`") && !note.contains("`sustained`"), "{note}");
    assert_eq!(told("service time by transfer size.block_size=4KiB", &[]), "");
    assert_eq!(told("block_size=4KiB,8KiB", &[]), "");
    assert_eq!(told("block_size=4KiB", &["service time by transfer size"]), "");
}

#[test]
fn the_largest_level_of_the_primary_follows_the_options() {
    let study = changed("wide", &["/a", "/b"], &["width=1,2,4"], &[]);
    let selector = &study.judgement().primary.as_ref().unwrap().selector;
    assert_eq!(selector.factors[0].level.number(), Some(4.0));
    assert_eq!(study.judgement().baseline.as_deref(), Some("a"));
}

#[test]
fn a_level_of_the_primary_that_the_options_leave_out_becomes_the_nearest_one_that_is_run() {
    let level = |sessions: &str| {
        let study = changed("brokerage", &[], &[&format!("sessions={sessions}")], &[]);
        let said = study.notes.iter().any(|note| note.contains("is read at"));
        let primary = study.judgement().primary.clone().unwrap();
        (primary.selector.factors.first().and_then(|factor| factor.level.number()), said)
    };
    assert_eq!(level("1,2,4"), (Some(4.0), true));
    assert_eq!(level("300,32,16"), (Some(16.0), true));
    assert_eq!(level("1,8"), (Some(8.0), false));
    // One level is no factor: there is nothing to choose from.
    assert!(level("4").1);
}

#[test]
fn thresholds_of_the_command_line_join_those_of_the_study() {
    let texts = ["throughput < 10k/s", "latency p99 > 5 ms of random-read in random read at outstanding=8"];
    let study = study("quick").with(&overrides(&[], &[], &[], &texts)).unwrap();
    let [first, second] = study.judgement().thresholds.as_slice() else { panic!("two thresholds") };
    assert_eq!((first.metric, first.limit, first.fails_above), (Metric::Throughput, 10_000.0, false));
    assert_eq!((second.metric, second.limit, second.fails_above), (Metric::ResponseQuantile(0.99), 0.005, true));
    assert_eq!(second.selector.experiment.as_deref(), Some("random read"));
    assert_eq!(second.selector.factors[0].name, "outstanding");
}

#[test]
fn systems_are_named_after_their_place_or_as_told() {
    let study =
        changed("flash", &["/mnt/fast", "old=/mnt/slow", "null:", "scripted:service=1ms"], &[], &["random-read"]);
    let names: Vec<&str> = study.systems().iter().map(|system| system.name.as_str()).collect();
    assert_eq!(names, ["fast", "old", "null", "scripted"]);
    assert!(matches!(study.systems()[3].place, Place::Scripted(_)));
}

#[test]
fn a_study_forgets_earlier_options() {
    let once = changed("wide", &["/a"], &["width=2"], &[]);
    let again = once.with(&Overrides::default()).unwrap();
    assert_eq!(again.systems(), study("wide").systems());
    assert_eq!(plan(&again, &Survey::default(), 1).unwrap().trials.len(), 8);
}

#[test]
fn a_threshold_of_the_command_line_that_names_nothing_is_refused() {
    let quick = shipped().iter().find(|shipped| shipped.name == "quick").expect("quick ships");
    let study = Study::parse("quick", quick.text).expect("it is well");
    let asked = overrides(&[], &["measure=1s"], &["random read"], &["throughput at 5 outstanding < 1M/s"]);
    let problems = study.with(&asked).expect_err("there is no such level");
    assert!(problems.to_string().contains("something that the study measures"), "{problems}");
}

#[test]
fn a_mistyped_key_is_taken_for_one_that_the_workload_has() {
    let told = study("key-value").with(&overrides(&[], &["rowz=20000"], &[], &[])).unwrap_err().to_string();
    assert!(told.contains("did you mean `rows`?"), "{told}");
    let told = study("flash").with(&overrides(&[], &["custumers=2"], &[], &[])).unwrap_err().to_string();
    assert!(told.contains("did you mean `customers`?"), "{told}");
}

#[test]
fn a_target_that_ends_in_a_colon_is_shown_as_it_was_typed() {
    let told = study("key-value").with(&overrides(&["sqllite:"], &[], &[], &[])).unwrap_err().to_string();
    assert!(told.starts_with("`--on sqllite:`: a target is"), "{told}");
}

#[test]
fn a_server_by_url_has_no_copy_to_restore_and_that_is_said_before_anything_is_filled() {
    let on = |on: &str, set: &[&str]| {
        let study = changed("bank-night", &[on], set, &[]);
        runnable(&study, plan(&study, &Survey::default(), 1).expect("who only fills or checks the data is not refused"))
    };
    let url = "postgres://me@10.0.0.1/bank";
    let refused = on(url, &[]).unwrap_err().to_string();
    assert!(
        refused.contains("a server by URL: copies to restore") && refused.contains("--set state=left"),
        "{refused}"
    );
    assert!(on(url, &["state=left"]).is_ok() && on("local:postgres", &[]).is_ok());
}

/// Where the database of a study is after the command line.
fn url(study: &Study) -> String {
    let Place::Database(spec) = &study.systems()[0].place else { panic!("a database") };
    let study::At::Url(url) = &spec.at else { panic!("a URL") };
    url.clone()
}

#[test]
fn a_password_goes_to_servers_that_this_command_line_names_and_to_no_others() {
    let secret = || vec![(study::Engine::Postgres, study::Secret("s3cret".to_owned()))];
    let text = "title = \"t\"\n[system.db]\nkind = \"postgres\"\nurl = \"postgres://me@far/d\"\n[workload.w]\nkind = \"rows\"\n\
                [[experiment]]\nname = \"e\"\nworkload = \"w\"\nmeasure = \"1 s\"\n";
    let of_study = Study::parse("s", text).unwrap_or_else(|problems| panic!("{problems}"));
    let with = |study: &Study, targets: &[&str], named: &[&str]| {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        let overrides =
            Overrides { targets: owned(targets), named: owned(named), passwords: secret(), ..Overrides::default() };
        url(&study.with(&overrides).unwrap_or_else(|problems| panic!("{problems}")))
    };
    // A study, and a run that goes on: nobody but its author named the server.
    assert_eq!(with(&of_study, &[], &[]), "postgres://me@far/d");
    assert_eq!(with(&of_study, &["postgres://me@evil/d"], &[]), "postgres://me@evil/d");
    assert_eq!(with(&of_study, &["postgres://me@evil/d"], &["postgres://me@far/d"]), "postgres://me@evil/d");
    let given = "postgres://me@far/d?password=s3cret";
    assert_eq!(with(&of_study, &[], &["postgres://me@far/d"]), given);
    assert_eq!(with(&of_study, &["postgres://me@far/d"], &["postgres://me@far/d"]), given);
    assert_eq!(with(&of_study, &["postgres://me:***@far/d"], &["postgres://me:own@far/d"]), "postgres://me:own@far/d");
}

#[test]
fn words_of_other_tools_say_the_same_as_ours() {
    let text = |words: [&str; 3]| {
        let [pattern, block, depth] = words;
        format!(
            "title = 't'\nquestion = '?'\n[system.s]\nkind = 'null'\n[workload.w]\nkind = 'block'\n{pattern}\n{block}\n\
             [[experiment]]\nname = 'e'\nworkload = 'w'\nload = {{ {depth} }}\nmeasure = '1 s'\n"
        )
    };
    let planned = |words: [&str; 3], set: &[&str]| {
        let study = Study::parse("t", &text(words)).map_err(|problems| problems.to_string())?;
        let study = study.with(&overrides(&[], set, &[], &[])).map_err(|problems| problems.to_string())?;
        let plan = plan(&study, &Survey::default(), 1).map_err(|problems| problems.to_string())?;
        Ok::<_, String>(plan.trials.iter().map(|trial| trial.label.clone()).collect::<Vec<_>>())
    };
    let ours = ["pattern = 'random'\nread = '50%'", "transfer = '8 KiB'", "outstanding = 4"];
    for theirs in
        [["rw = 'randrw'", "bs = '8 KiB'", "iodepth = 4"], ["rw = 'randrw'", "block_size = '8 KiB'", "queue_depth = 4"]]
    {
        assert_eq!(planned(theirs, &[]), planned(ours, &[]));
    }
    let said = ["rw=write", "bs=64KiB", "queue_depth=1,8"];
    let known = ["pattern=sequential", "read=0%", "transfer=64KiB", "outstanding=1,8"];
    assert_eq!(planned(ours, &said), planned(ours, &known));
    assert!(planned(ours, &["rw=randtrim"]).unwrap_err().contains("one of `read`, `write`"));
    assert!(planned(["rw = 'trim'", "", "outstanding = 1"], &[]).unwrap_err().contains("one of `read`, `write`"));
}

/// A study that said `queue_depth` was shown no knee: that was looked for by the name of the key alone.
#[test]
fn a_factor_has_the_name_of_its_key_whatever_the_study_calls_it() {
    let text = shipped().iter().find(|shipped| shipped.name == "quick").unwrap().text;
    let text =
        text.replacen("factor.queue_depth", "factor.iodepth", 1).replacen("factor.outstanding", "factor.iodepth", 1);
    assert!(text.contains("factor.iodepth"), "it varies the depth");
    let study = Study::parse("quick", &text).unwrap();
    let trials = plan(&study, &Survey::default(), 1).unwrap().trials;
    let names: Vec<&str> =
        trials.iter().flat_map(|trial| &trial.label.factors).map(|factor| factor.name.as_str()).collect();
    assert!(names.contains(&"outstanding") && !names.contains(&"iodepth"), "{names:?}");
}
