//! Plan expansion: how many, in which order, balanced over systems.

use proptest::prelude::*;
use std::collections::BTreeMap;
use study::{Plan, Study, Survey, Trial, plan};
use units::Nanos;

/// A study with so many workloads, levels, systems and replicates.
fn text(workloads: usize, factors: &[usize], systems: usize, replicates: usize) -> String {
    let mut text = String::new();
    for i in 0..systems {
        text += &format!("[system.s{i}]\nkind = \"null\"\n");
    }
    let names: Vec<String> = (0..workloads).map(|i| format!("\"w{i}\"")).collect();
    for i in 0..workloads {
        text += &format!("[workload.w{i}]\nkind = \"block\"\n");
    }
    text += &format!(
        "[[experiment]]\nname = \"e\"\nworkload = [{}]\nreplicates = {replicates}\nmeasure = \"1 s\"\n",
        names.join(", ")
    );
    for (key, count) in ["modules", "outstanding", "validate"].iter().zip(factors) {
        let level = |i: usize| {
            if *key == "validate" {
                if i == 0 { "true".to_owned() } else { "false".to_owned() }
            } else {
                (i + 1).to_string()
            }
        };
        let levels: Vec<String> = (0..*count).map(level).collect();
        text += &format!("factor.{key} = [{}]\n", levels.join(", "));
    }
    text
}

fn planned(text: &str, seed: u64) -> Plan {
    plan(&Study::parse("made", text).unwrap_or_else(|p| panic!("{p}\n{text}")), &Survey::default(), seed).unwrap()
}

/// What a trial is, its system and its place in the order aside.
fn point(trial: &Trial) -> String {
    format!("{:?} {}", trial.label.factors, trial.label.streams[0].name)
}

proptest! {
    #[test]
    fn there_are_as_many_trials_as_the_product_of_everything_that_is_varied(
        workloads in 1usize..4, modules in 1usize..4, outstanding in 1usize..4, flags in 1usize..3,
        systems in 1usize..4, replicates in 1usize..4, seed: u64,
    ) {
        let plan = planned(&text(workloads, &[modules, outstanding, flags], systems, replicates), seed);
        let points = workloads * modules * outstanding * flags;
        prop_assert_eq!(plan.trials.len(), points * systems * replicates);
        let indices: Vec<u32> = plan.trials.iter().map(|trial| trial.label.index).collect();
        prop_assert_eq!(indices, (0..plan.trials.len() as u32).collect::<Vec<_>>());
        // Inside a block every point stands once on every system.
        let mut seen: BTreeMap<(u32, String, String), u32> = BTreeMap::new();
        for trial in &plan.trials {
            *seen.entry((trial.label.block, trial.label.system.clone(), point(trial))).or_default() += 1;
        }
        prop_assert_eq!(seen.len(), plan.trials.len());
    }

    #[test]
    fn one_seed_gives_one_plan(seed: u64) {
        let text = text(2, &[3, 3, 1], 2, 2);
        prop_assert_eq!(planned(&text, seed), planned(&text, seed));
    }

    #[test]
    fn the_two_trials_of_a_pair_stand_side_by_side_and_ask_for_the_same(seed: u64) {
        let plan = planned(&text(2, &[3, 1, 1], 2, 4), seed);
        for pair in plan.trials.chunks(2) {
            prop_assert_eq!(point(&pair[0]), point(&pair[1]));
            prop_assert_eq!(pair[0].seed, pair[1].seed);
            prop_assert_ne!(&pair[0].label.system, &pair[1].label.system);
        }
    }

    #[test]
    fn over_an_even_number_of_blocks_each_system_of_a_point_goes_first_equally_often(seed: u64) {
        let plan = planned(&text(2, &[3, 1, 1], 2, 4), seed);
        let mut firsts: BTreeMap<String, i32> = BTreeMap::new();
        for pair in plan.trials.chunks(2) {
            *firsts.entry(point(&pair[0])).or_default() += if pair[0].label.system == "s0" { 1 } else { -1 };
        }
        prop_assert!(firsts.values().all(|balance| *balance == 0), "{:?}", firsts);
    }

    #[test]
    fn windows_and_warm_ups_are_whole_multiples_of_the_interval(ms in 100u64..4_000_000) {
        let text = format!(
            "[system.s]\nkind = \"null\"\n[workload.w]\nkind = \"block\"\n[[experiment]]\nname = \"e\"\nworkload = \"w\"\nmeasure = \"{ms} ms\"\n"
        );
        let plan = planned(&text, 1);
        let phases = plan.trials[0].phases;
        prop_assert!(phases.measure.0.is_multiple_of(phases.interval.0) && phases.warm_up.0.is_multiple_of(phases.interval.0));
        prop_assert!(phases.round.0.is_multiple_of(phases.interval.0) && phases.round <= phases.measure);
        prop_assert!(phases.measure >= Nanos::from_millis(ms));
        prop_assert!((phases.measure.0 + phases.warm_up.0) / phases.interval.0 <= 601);
    }
}

#[test]
fn a_rate_of_bytes_is_as_many_operations_as_move_them() {
    let rate = |workload: &str, rate: &str| {
        let text = format!(
            "title = 'T'\nquestion = 'Q?'\n[system.s]\nkind = 'null'\n[workload.w]\nkind = 'block'\n{workload}\n\
             [[experiment]]\nname = 'e'\nworkload = 'w'\nload = {{ rate = '{rate}' }}\n"
        );
        let study = Study::parse("s", &text).map_err(|problems| problems.to_string())?;
        let plan = plan(&study, &Survey::default(), 1).map_err(|problems| problems.to_string())?;
        match plan.trials[0].streams[0].load {
            load::Spec::Open { rate, .. } => Ok(rate.0),
            other => Err(format!("{other:?}")),
        }
    };
    assert_eq!(rate("transfer = '8 KiB'", "80 MiB/s"), Ok(10_240.0));
    assert_eq!(rate("transfer = '50% 4 KiB + 50% 12 KiB'", "8192 kB/s"), Ok(1_000.0));
    let apart = rate("transfer = '4 KiB'\nwrite_transfer = '8 KiB'\nread = '50%'\ntrims = '25%'", "4 MiB/s").unwrap();
    assert!((apart - 1_024.0).abs() < 1e-9, "half of them read 4 KiB and a quarter write 8 KiB, got {apart}");
    assert!(
        rate("read = '0%'\ntrims = '100%'", "1 MB/s").unwrap_err().contains("bytes a second are for blocks that move")
    );
    assert!(rate("", "1 TB/s").unwrap_err().contains("at most 100 M/s"));
}

#[test]
fn trials_of_different_blocks_draw_different_operations() {
    let plan = planned(&text(1, &[2, 1, 1], 1, 3), 9);
    let mut seeds: Vec<u64> = plan.trials.iter().map(|trial| trial.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), plan.trials.len());
}

#[test]
fn streams_run_at_once_each_with_its_own_load() {
    let text = r#"
        [system.s]
        kind = "null"
        [workload.queries]
        kind = "block"
        [workload.fills]
        kind = "block"
        pattern = "sequential"
        transfer = "1 MiB"
        read = "0%"
        [[experiment]]
        name = "queries beside fills"
        streams = [
            { name = "front", workload = "queries", load = { rate = "2k/s", arrivals = "constant" }, priority = "best-effort 0" },
            { name = "back", workload = "fills", load = { outstanding = 4, think = "1 ms" }, priority = "idle", sync = "every 8" },
        ]
        factor.back.outstanding = [1, 4]
        measure = "2 s"
    "#;
    let plan = planned(text, 1);
    assert_eq!(plan.trials.len(), 2);
    for trial in &plan.trials {
        assert_eq!(trial.label.factors[0].name, "back.outstanding");
        let slots = trial.label.factors[0].level.number().unwrap() as u32;
        assert_eq!(trial.label.streams[0].load, "open, 2000 /s constant gaps, at most 256 in flight");
        assert_eq!(trial.label.streams[1].slots, Some(slots));
        assert_eq!(trial.label.streams[1].think_mean, Nanos::from_millis(1));
        assert_eq!(trial.streams[1].operations().unwrap().access.sync, study::SyncMode::Every(8));
    }
}

#[test]
fn a_parameter_may_hold_the_levels_of_a_factor() {
    let text = r#"
        [parameter.depths]
        default = "1, 2, 4"
        [system.s]
        kind = "null"
        [workload.w]
        kind = "block"
        [[experiment]]
        name = "e"
        workload = "w"
        factor.outstanding = "$depths"
    "#;
    assert_eq!(planned(text, 1).trials.len(), 3);
}
