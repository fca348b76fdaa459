//! What a study may ask of data that is checked, and what that costs.

use study::{Plan, Study, Survey, plan};
use units::{Bytes, Nanos};

/// Writes on a file of 1 GiB in two modules, with more lines for the experiment.
fn text(lines: &str) -> String {
    format!(
        "[system.folder]\nkind = 'file'\ndir = '.'\nsize = '1 GiB'\nmodules = 2\n[workload.w]\nkind = 'block'\nread = '0%'\n\
         [[experiment]]\nname = 'all'\nworkload = 'w'\nreplicates = 1\nmeasure = '1 s'\nwarm_up = '0 s'\n{lines}\n"
    )
}

fn planned(lines: &str) -> Plan {
    let study = Study::parse("made", &text(lines)).unwrap_or_else(|problems| panic!("{problems}"));
    plan(&study, &Survey::default(), 1).unwrap_or_else(|problems| panic!("{problems}"))
}

fn refused(text: &str) -> String {
    let study = Study::parse("made", text);
    let planned = study.and_then(|study| plan(&study, &Survey::default(), 1));
    planned.expect_err("it is refused").to_string()
}

#[test]
fn trims_are_refused_where_reads_are_checked_and_where_reads_leave_no_room_for_them() {
    let told = |workload: &str, experiment: &str| {
        let text = format!(
            "title = 'T'\nquestion = 'Q?'\n[system.s]\nkind = 'file'\ndir = '/x'\n[workload.w]\nkind = 'block'\n{workload}\n\
             [[experiment]]\nname = 'e'\n{experiment}\n"
        );
        let study = Study::parse("s", &text).map_err(|problems| problems.to_string())?;
        let survey = Survey::default();
        plan(&study, &survey, 1).map(drop).map_err(|problems| problems.to_string())
    };
    told("read = '60%'\ntrims = '10%'", "workload = 'w'").unwrap();
    let checked = told("read = '60%'\ntrims = '10%'\nvalidate = true", "workload = 'w'").unwrap_err();
    assert!(checked.contains("trims`: none where reads are checked"), "{checked}");
    let beside = "streams = [{ workload = 'w', trims = '10%', read = '0%' }, { workload = 'w', verify = 'after', read = '50%' }]";
    let beside = told(
        "",
        &beside.replace("{ workload", "{ name = 'NN', workload").replacen("NN", "a", 1).replacen("NN", "b", 1),
    );
    assert!(beside.unwrap_err().contains("zeroes could be right or damage"));
    let full = told("trims = '10%'", "workload = 'w'").unwrap_err();
    assert!(
        full.contains("at most what `read` leaves") && full.contains("set `read` too, got 110% together"),
        "{full}"
    );
}

#[test]
fn what_is_read_back_is_the_range_that_is_written_and_its_time_is_told() {
    let never = planned("");
    for (lines, each) in [("", Bytes::gib(1)), ("range = '25%'", Bytes::mib(256))] {
        let after = planned(&format!("verify = 'after'\n{lines}"));
        assert_eq!(after.trials[0].read_back(), each, "{lines}");
        let more = after.estimated().certain.saturating_sub(never.estimated().certain);
        let expected = Nanos::from_seconds(2.0 * each.0 as f64 / study::ASSUMED_BYTES_PER_S);
        assert!(more.0.abs_diff(expected.0) < 1000, "{lines}: {more:?} where {expected:?} was expected");
    }
    for lines in ["", "verify = 'after'\nread = '100%'"] {
        assert_eq!(planned(lines).trials[0].read_back(), Bytes(0), "{lines}");
    }
}

#[test]
fn blocks_that_repeat_others_are_written_whole_and_alike_in_all_streams_that_are_checked() {
    for (lines, told) in [
        ("transfer = '512 B'", "every transfer and the shift are whole multiples, got 4 KiB for 512 B"),
        ("shift = '512 B'", "every transfer and the shift are whole multiples, got 4 KiB for 512 B"),
        ("duplicate_unit = '64 KiB'", "every transfer and the shift are whole multiples, got 64 KiB for 4 KiB"),
        ("duplicate_unit = '1000 B'", "a multiple of 512 B, got 1000 B"),
    ] {
        let got = refused(&text(&format!("duplicate = '50%'\n{lines}")));
        assert!(got.contains(told), "{lines}: {got}");
    }
    planned("duplicate = '50%'\ntransfer = '512 B'\nduplicate_unit = '512 B'");
    planned("transfer = '512 B'");
    let two = |checked: &str| {
        text(checked)
            .replace("workload = 'w'\n", "streams = [{ workload = 'w' }, { workload = 'v' }]\n")
            .replace("[[exp", "[workload.v]\nkind = 'block'\nread = '0%'\nduplicate = '50%'\n[[exp")
    };
    assert!(Study::parse("made", &two("")).is_ok());
    for checked in ["validate = true", "verify = 'after'"] {
        let got = refused(&two(checked));
        assert!(got.contains("the same in all streams that write, where reads are checked"), "{checked}: {got}");
    }
}

#[test]
fn a_threshold_on_damage_is_refused_where_nothing_is_checked() {
    let asked = |system: &str, lines: &str| {
        let text = text(lines).replace("kind = 'file'\ndir = '.'\nsize = '1 GiB'\nmodules = 2", system);
        let study = Study::parse("made", &format!("fail_if = 'damage > 0'\n{text}"));
        study.and_then(|study| plan(&study, &Survey::default(), 1))
    };
    let file = "kind = 'file'\ndir = '.'\nsize = '1 GiB'";
    for (system, lines) in [(file, ""), ("kind = 'null'", "validate = true")] {
        let refused = asked(system, lines).expect_err("nothing is checked").to_string();
        assert!(
            refused.contains("`damage` needs data that is checked") && refused.contains("`damage > 0`"),
            "{refused}"
        );
    }
    for lines in ["validate = true", "verify = 'after'"] {
        asked(file, lines).unwrap_or_else(|problems| panic!("{lines}: {problems}"));
    }
}
