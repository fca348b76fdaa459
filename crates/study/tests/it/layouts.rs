//! Layouts: which data lies where, and what is refused of them.

use study::{Layout, Overrides, Place, Study, Tier};

const STUDY: &str = r#"
title = "A layout"

[system.target]
kind = "postgres"
drives = 2
slow_footprint = { drives = 96, watts = 1440 }
fast_footprint = { drives = 22, watts = 150, price = 4400 }

[layout.mine]
log_on = "fast"
fast_objects = "balance prenote_account_id"

[workload.day]
kind = "bank-day"
accounts = 1000

[[experiment]]
name = "all"
workload = "day"
"#;

fn changed(targets: &[&str], settings: &[&str]) -> Result<Study, String> {
    let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    let overrides = Overrides { targets: owned(targets), settings: owned(settings), ..Overrides::default() };
    let study = Study::parse("made", STUDY).unwrap_or_else(|problems| panic!("{problems}"));
    study.with(&overrides).map_err(|problems| problems.to_string())
}

fn laid_out(study: &Study, system: usize) -> &Layout {
    let Place::Database(spec) = &study.systems()[system].place else { panic!("no database") };
    spec.layout.as_ref().expect("a layout")
}

fn refused(targets: &[&str], settings: &[&str]) -> String {
    changed(targets, settings).err().unwrap_or_else(|| panic!("{settings:?} passed"))
}

#[test]
fn the_layouts_that_ship_lay_data_indexes_and_log_where_their_names_say() {
    let (slow, fast) = (Tier::Slow, Tier::Fast);
    for (name, lies) in [
        ("all-slow", [slow, slow, slow]),
        ("all-fast", [fast, fast, fast]),
        ("log-apart", [fast, fast, slow]),
        ("log-fast", [slow, slow, fast]),
        ("indexes-fast", [slow, fast, slow]),
    ] {
        let study =
            changed(&[], &[&format!("layout={name}"), "slow=/a", "fast=emulated:nand-device,ports=2:/b"]).unwrap();
        let layout = laid_out(&study, 0);
        assert_eq!((layout.name.as_str(), [layout.data, layout.indexes, layout.log]), (name, lies));
        assert_eq!((layout.temporary, layout.undo), (layout.data, layout.data));
        let device = layout.folder(fast).and_then(|at| at.folder.device.clone());
        assert_eq!(device.as_deref(), Some("nand-device,ports=2"));
    }
    let hot = changed(&[], &["layout=hot-fast", "fast_objects=balance, balance_pkey", "slow=/a", "fast=/b"]).unwrap();
    let layout = laid_out(&hot, 0);
    assert_eq!(
        (layout.name.as_str(), layout.of_table("balance"), layout.of_index("balance_pkey")),
        ("hot-fast", fast, fast)
    );
    assert_eq!((layout.of_table("item"), layout.of_index("item_pkey"), layout.data), (slow, slow, slow));
}

#[test]
fn the_study_names_layouts_of_its_own_and_single_keys_go_before_them() {
    let study = changed(&[], &["layout=mine", "slow=/a", "fast=/b"]).unwrap();
    let layout = laid_out(&study, 0);
    assert_eq!((layout.data, layout.log, layout.of_table("balance")), (Tier::Slow, Tier::Fast, Tier::Fast));
    assert_eq!(
        layout.shown(),
        "mine: the rest on slow (/a), the log and `balance` and `prenote_account_id` on fast (/b)"
    );
    let objects = "fast_objects=account, balance, bank, branch, customer, item, ledger, product";
    let shown = laid_out(&changed(&[], &["layout=hot-fast", objects, "slow=/a", "fast=/b"]).unwrap(), 0).shown();
    assert!(shown.contains("`branch` and `customer` and `item` and 2 others on fast (/b)"), "{shown}");
    let study = changed(&[], &["layout=mine", "log_on=slow", "temporary_on=fast", "slow=/a", "fast=/b"]).unwrap();
    let layout = laid_out(&study, 0);
    assert_eq!(
        (layout.name.as_str(), layout.log, layout.temporary),
        ("mine log_on=slow temporary_on=fast", Tier::Slow, Tier::Fast)
    );
    let study = changed(&[], &["slow=/a"]).unwrap();
    assert_eq!(laid_out(&study, 0).shown(), "all-slow: everything on slow (/a)");
}

#[test]
fn a_list_of_layouts_is_a_system_of_each() {
    let study = changed(
        &["local:postgres", "x=sqlite:"],
        &["postgres.layout=all-slow,log-fast", "slow=/a", "postgres.fast=/b"],
    )
    .unwrap();
    let names: Vec<&str> = study.systems().iter().map(|system| system.name.as_str()).collect();
    assert_eq!(names, ["postgres all-slow", "postgres log-fast", "x"]);
    assert_eq!((laid_out(&study, 0).log, laid_out(&study, 1).log), (Tier::Slow, Tier::Fast));
    assert_eq!(laid_out(&study, 2).name, "all-slow");
}

#[test]
fn the_footprint_of_a_layout_is_that_of_the_system_with_the_tiers_that_it_uses() {
    let footprint = |layout: &str| {
        let study = changed(&[], &[&format!("layout={layout}"), "slow=/a", "fast=/b"]).unwrap();
        let footprint = study.systems()[0].footprint;
        (footprint.drives, footprint.watts, footprint.price)
    };
    assert_eq!(footprint("all-slow"), (Some(98.0), Some(1440.0), None));
    assert_eq!(footprint("all-fast"), (Some(24.0), Some(150.0), Some(4400.0)));
    assert_eq!(footprint("log-apart"), (Some(120.0), Some(1590.0), Some(4400.0)));
    let said = changed(&[], &["layout=all-slow", "slow=/a", "slow_footprint=rack_units=2 floor=0.5"]).unwrap();
    assert_eq!((said.systems()[0].footprint.rack_units, said.systems()[0].footprint.floor), (Some(2.0), Some(0.5)));
}

#[test]
fn what_no_run_could_lay_out_is_refused_with_the_place_and_a_next_step() {
    let both = ["slow=/a", "fast=/b"];
    for (targets, settings, says) in [
        (
            &[][..],
            &["layout=all-slwo", "slow=/a"][..],
            "the name of a layout, got `all-slwo`\n  hint: did you mean `all-slow`?",
        ),
        (
            &[],
            &["layout=log-apart", "fast=/b"],
            "`system.target.slow`: a folder for what the layout `log-apart` puts there (the log), got none",
        ),
        (&[], &["layout=all-fast", "slow=/a"], "give `--set fast=DIR` or `--set fast=emulated:MODEL:DIR`"),
        (&[], &both, "a `layout`, or at least `data_on`, to say what lies on which tier, got none"),
        (&[], &["layout=hot-fast", "slow=/a", "fast=/b"], "name them with `--set fast_objects='NAME NAME'`"),
        (
            &[],
            &["layout=all-slow", "fast_objects=balanc", "slow=/a", "fast=/b"],
            "got `balanc`\n  hint: did you mean `balance`?",
        ),
        (
            &[],
            &["layout=all-slow", "fast_objects=item", "slow_objects=item", "slow=/a", "fast=/b"],
            "every object on one tier, got `item` on both",
        ),
        (&[], &["layout=all-slow", "slow=emulated:disk-15k"], "`emulated:MODEL:DIR`"),
        (&["local:postgres"], &["layout=all-slow", "undo_on=fast", "slow=/a", "fast=/b"], "PostgreSQL has no undo log"),
        (
            &["local:mariadb"],
            &["layout=indexes-fast", "slow=/a", "fast=/b"],
            "MariaDB keeps a table and its indexes in one file, got `fast`",
        ),
        (
            &["local:mariadb"],
            &["layout=all-slow", "fast_objects=item_pkey", "slow=/a", "fast=/b"],
            "MariaDB keeps an index in the file of its table",
        ),
        (
            &["sqlite:"],
            &["layout=log-fast", "slow=/a", "fast=/b"],
            "SQLite looks for its journal beside the file, and nowhere else, got `fast`",
        ),
        (
            &["sqlite:"],
            &["layout=all-slow", "fast_objects=item", "slow=/a", "fast=/b"],
            "SQLite keeps all of them in one file",
        ),
        (&["sqlite:/srv/a.db"], &["layout=all-slow", "slow=/a"], "a layout places what Prony makes itself"),
        (&["postgres://me:word@host/db"], &["layout=all-slow", "slow=/a"], "got `postgres://me:***@host/db`"),
        (&["null:"], &["layout=all-slow", "slow=/a"], "does not apply to any system of the study"),
        (&[], &["all.layout=all-slow"], "does not apply to any experiment"),
        (
            &[],
            &["layout=all-slow", "slow=/a,/b", "slow_footprint=drives=many"],
            "a number from 0, without a unit, got `many`",
        ),
    ] {
        let refused = refused(targets, settings);
        assert!(refused.contains(says), "{settings:?}: {refused}");
        assert!(!refused.contains("word@"), "{refused}");
    }
}

#[test]
fn keys_of_layouts_stand_in_their_tables_and_are_no_factors() {
    let with = |text: &str| Study::parse("made", &format!("{STUDY}{text}")).unwrap_err().to_string();
    assert!(
        with("[layout.more]\nlayout = 'mine'\n").contains("a layout does not take it: it stands in `[system.NAME]`")
    );
    assert!(with("factor.layout = ['all-slow', 'all-fast']\n").contains("a key that can be varied"));
    assert!(with("[layout.more]\nlog_on = 'third'\n").contains("one of `slow`, `fast`, got `third`"));
    let scripts = STUDY.replace("kind = \"bank-day\"\naccounts = 1000", "kind = \"sql\"\nscript = \"mine.sql\"");
    let scripts = Study::parse("made", &scripts).unwrap_or_else(|problems| panic!("{problems}"));
    let settings = ["layout=indexes-fast", "slow=/a", "fast=/b"].map(str::to_owned).to_vec();
    let refused = scripts.with(&Overrides { settings, ..Overrides::default() }).unwrap_err().to_string();
    assert!(refused.contains("a workload that brings its data set"), "{refused}");
}
