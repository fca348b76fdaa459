//! What a mirror costs, told from trials made by hand.

use super::*;
use crate::point::groups;
use crate::run::tests::{judgement, trial};
use crate::{Finding, ServerSummary, TrialSummary, judge};
use study::{Mirrored, Pairing, Waits};

fn at(index: u32, system: &str, (factor, level): (&str, f64), throughput: f64) -> TrialSummary {
    let mut one = trial(index, system, index / 2, throughput);
    one.label.factors.push(crate::run::tests::level(factor, level));
    // What so many sessions complete, each of whose responses takes so long.
    let seconds = if factor == SESSIONS { level / throughput } else { 1.0 / throughput };
    one.streams[0].response.mean_ms = 1e3 * seconds;
    one
}

fn mirrored() -> Mirrored {
    Mirrored {
        system: "mirrored".to_owned(),
        pairing: Pairing::Postgres,
        waits: Waits::Flushed,
        apart: false,
        published: false,
        both: false,
    }
}

fn found(trials: &[TrialSummary]) -> Vec<MirrorFinding> {
    let judgement =
        Judgement { baseline: Some("alone".to_owned()), mirrored: vec![mirrored()], primary: None, ..judgement() };
    mirrors(&groups(trials), &judgement)
}

#[test]
fn as_many_sessions_make_up_for_a_mirror_as_the_response_has_grown_and_what_was_measured_stands_beside_it() {
    let mut trials = Vec::new();
    for block in 0..4 {
        let mut add = |system: &str, sessions: f64, per_s: f64| {
            trials.push(at(
                trials.len() as u32,
                system,
                (SESSIONS, sessions),
                per_s * (1.0 + 0.001 * f64::from(block)),
            ));
        };
        // 8 sessions of 2 ms; of 2.5 ms with the mirror.
        add("alone", 8.0, 4000.0);
        add("mirrored", 8.0, 3200.0);
        add("mirrored", 12.0, 4800.0);
    }
    let [one] = found(&trials).try_into().expect("one system with a mirror");
    let [compensation] = one.compensations.as_slice() else { panic!("{one:?}") };
    assert!((compensation.predicted.value - 10.0).abs() < 1e-6, "{compensation:?}");
    assert!((compensation.observed.expect("between levels") - 10.0).abs() < 1e-6, "{compensation:?}");
    let told = one.says();
    assert!(told.starts_with("the unit of waiting is the commit: "), "{told}");
    assert!(told.contains("; to make up for the mirror, 8 sessions become 10"), "{told}");
    assert!(told.ends_with("by the response-time law; 10 measured, between levels"), "{told}");
}

#[test]
fn a_rate_that_no_number_of_sessions_brought_back_is_told_with_how_near_it_came() {
    let few = [at(0, "alone", (SESSIONS, 8.0), 4000.0), at(1, "mirrored", (SESSIONS, 8.0), 2000.0)];
    assert!(found(&few)[0].says().ends_with("; more sessions were not measured"));
    let more = [few.to_vec(), vec![at(2, "mirrored", (SESSIONS, 16.0), 3000.0)]].concat();
    let told = found(&more)[0].says();
    assert!(told.ends_with("; not reached: at most 75% of the rate, with 16 sessions"), "{told}");
}

#[test]
fn a_rate_that_all_cores_together_do_not_carry_is_told_as_one_that_no_number_of_sessions_gives_back() {
    let full = |index, sessions: f64, per_s, server_cores: f64| {
        let mut one = at(index, "mirrored", (SESSIONS, sessions), per_s);
        one.machine.cores = Some(2);
        one.machine.cpu_user_cores = Some(2.0);
        one.machine.cpu_system_cores = Some(0.0);
        one.generator_cpu = Default::default();
        let (cpu_user_cores, cpu_system_cores) = (Some(server_cores), Some(0.0));
        one.server =
            Some(ServerSummary { cpu_user_cores, cpu_system_cores, mirror_cpu_cores: Some(0.2), ..Default::default() });
        one
    };
    let told = |server_cores| {
        let alone = at(0, "alone", (SESSIONS, 8.0), 4000.0);
        found(&[alone, full(1, 8.0, 2000.0, server_cores), full(2, 16.0, 3000.0, server_cores)])[0].says()
    };
    // 3,000 a second with 90 percent of the cores: 3,333 with all.
    let limit = "the cores are the limit, all of which carry at most 83.3% of it; 75% measured, with 16 sessions";
    assert!(told(1.6).contains("no number of sessions gives the rate of 8 sessions back"), "{}", told(1.6));
    assert!(told(1.6).ends_with(limit), "{}", told(1.6));
    // With 60 percent of them there is room for 5,000.
    assert!(told(1.0).ends_with("; not reached: at most 75% of the rate, with 16 sessions"), "{}", told(1.0));
}

#[test]
fn the_slope_over_the_distance_is_round_trips_a_transaction() {
    let mut trials = Vec::new();
    for km in [0.0, 10.0, 50.0, 100.0, 0.0, 10.0, 50.0, 100.0] {
        // 1 ms, and one way there and back.
        let seconds = 1e-3 + 1e-5 * km;
        trials.push(at(trials.len() as u32, "mirrored", (DISTANCE, km), 1.0 / seconds));
        trials.push(at(trials.len() as u32, "alone", (DISTANCE, km), 1000.0));
    }
    let [one] = found(&trials).try_into().expect("one system with a mirror");
    let trips = one.round_trips.expect("a slope");
    assert!((trips.value - 1.0).abs() < 1e-6, "{trips:?}");
    let judgement = Judgement { mirrored: vec![mirrored()], primary: None, ..judgement() };
    assert!(
        mirrors(&groups(&trials), &judgement).is_empty(),
        "the first system is the baseline unless another is named"
    );
}

#[test]
fn what_tuning_gives_stands_apart_from_what_the_mirror_costs() {
    let mut trials = Vec::new();
    for (system, untuned, tuned) in [("alone", 1000.0, 3000.0), ("mirrored", 600.0, 1500.0)] {
        for (stream, per_s) in [("untuned", untuned), ("tuned", tuned)] {
            let mut one = at(trials.len() as u32, system, ("reopen", 0.0), per_s);
            one.label.streams[0].name = stream.to_owned();
            trials.push(one);
        }
    }
    let found = found(&trials);
    let of = |stream: &str| found.iter().find(|one| one.point.stream == stream).expect("each stream has its cost");
    let (untuned, tuned) = (of("untuned"), of("tuned"));
    assert!(untuned.tuning.is_none() && (tuned.added[0].times.value - 2.0).abs() < 1e-9, "{tuned:?}");
    let told = tuned.tuning.as_ref().expect("beside the first stream");
    assert_eq!(told.against, "untuned");
    let close = |ratio: &Estimate, value: f64| assert!((ratio.value - value).abs() < 1e-9, "{told:?}");
    close(&told.alone, 3.0);
    close(&told.mirrored, 2.5);
    close(&told.across, 1.5);
    assert!(tuned.says().contains("with it 1.500 ("), "{}", tuned.says());
}

#[test]
fn a_study_without_mirrors_says_nothing_of_them() {
    let trials = [at(0, "a", (SESSIONS, 8.0), 4000.0), at(1, "b", (SESSIONS, 8.0), 2000.0)];
    let judged = judge(Default::default(), trials.to_vec(), &judgement());
    assert!(!judged.findings.iter().any(|finding| matches!(finding, Finding::Mirror(_))));
}

#[test]
fn what_a_second_server_gives_or_costs_is_told_for_each_way_to_spread_sessions_the_best_one_first() {
    let mut trials = Vec::new();
    for block in 0..4 {
        for (system, spread, per_s, retried) in [
            ("alone", "one", 1000.0, 0),
            ("mirrored", "one", 500.0, 0),
            ("alone", "random", 1000.0, 0),
            ("mirrored", "random", 800.0, 250),
        ] {
            let mut one = trial(trials.len() as u32, system, block, per_s * (1.0 + 0.001 * f64::from(block)));
            let level = Level::Word(spread.to_owned());
            one.label.factors.push(observation::Factor { name: SPREAD.to_owned(), level });
            one.streams[0].response.mean_ms = 1e3 / per_s;
            (one.streams[0].retried, one.streams[0].account.done) = (retried, 750);
            trials.push(one);
        }
    }
    let [one] = found(&trials).try_into().expect("one system with a mirror");
    let at: Vec<_> = one.spreads.iter().map(|spread| spread.at.as_str()).collect();
    assert_eq!(at, ["spread random", "spread one"]);
    assert!((one.spreads[0].rate.value - 0.8).abs() < 1e-6 && (one.spreads[0].again - 0.25).abs() < 1e-6, "{one:?}");
    let told = one.says();
    assert!(
        told.starts_with("a second server that takes writes costs 20% of the rate even at best, with spread random; "),
        "{told}"
    );
    assert!(told.contains("spread one: 0.500 (") && told.ends_with("0% of tries thrown away for conflicts"), "{told}");
}

#[test]
fn cpu_is_compared_of_server_and_mirror_together_and_never_of_the_load_generator() {
    let mut trials = Vec::new();
    for block in 0..4 {
        for (system, server_ms, mirror_ms) in [("alone", 1.0, None), ("mirrored", 1.2, Some(0.3))] {
            let mut one = at(trials.len() as u32, system, (SESSIONS, 1.0), 1000.0 + f64::from(block));
            let mut server = ServerSummary::default();
            (server.per_transaction.cpu_ms, server.per_transaction.mirror_cpu_ms) = (Some(server_ms), mirror_ms);
            one.server = Some(server);
            // The generator's own CPU is seven times as much beside a mirror.
            let user_us = if system == "alone" { 10.0 } else { 70.0 };
            one.streams[0].cpu = Some(crate::CpuPerOperation { user_us, system_us: 0.0 });
            trials.push(one);
        }
    }
    let compared = |mirrored: Vec<Mirrored>| {
        let judgement = Judgement { baseline: Some("alone".to_owned()), mirrored, primary: None, ..judgement() };
        let judged = judge(Default::default(), trials.clone(), &judgement);
        let each = judged.comparisons().map(|one| (one.metric.clone(), one.ratio.value));
        each.filter(|(metric, _)| metric.contains("cpu")).collect::<Vec<_>>()
    };
    let found = compared(vec![mirrored()]);
    let [(metric, ratio)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(metric, "cpu of server and mirror per transaction");
    assert!((ratio - 1.5).abs() < 1e-6, "{ratio}");
    assert_eq!(compared(Vec::new())[0].0, "cpu per operation", "without mirrors it stays as it was");
}

#[test]
fn a_slope_that_may_be_below_zero_tells_no_round_trips() {
    let mut trials = Vec::new();
    for (at_km, ms) in [(0.0, 9.0), (100.0, 2.0), (0.0, 3.0), (100.0, 8.0), (0.0, 8.0), (100.0, 3.0)] {
        trials.push(at(trials.len() as u32, "mirrored", (DISTANCE, at_km), 1e3 / ms));
        trials.push(at(trials.len() as u32, "alone", (DISTANCE, at_km), 1e3 / ms));
    }
    let found = found(&trials);
    assert!(found[0].round_trips.is_some_and(|trips| trips.low < 0.0), "the ends stay for the JSON: {found:?}");
    let told = found[0].says();
    assert!(
        told.contains("is unknown: the slope over the distance rests on too few trials, or they are too noisy"),
        "{told}"
    );
    assert!(!told.contains("waits for -"), "{told}");
}

#[test]
fn the_answer_of_a_study_of_distances_says_what_both_ends_cost_and_the_round_trips_between() {
    let mut trials = Vec::new();
    for block in 0..4 {
        for km in [0.0, 200.0, 1000.0] {
            for (system, ms) in [("alone", 1.0), ("mirrored", 1.5 + 0.01 * km)] {
                let mut one =
                    at(trials.len() as u32, system, (DISTANCE, km), 1e3 / ms * (1.0 + 1e-4 * f64::from(block)));
                one.label.block = block;
                trials.push(one);
            }
        }
    }
    let judgement =
        Judgement { baseline: Some("alone".to_owned()), mirrored: vec![mirrored()], primary: None, ..judgement() };
    let judged = judge(Default::default(), trials, &judgement);
    let head = &judged.answer[0];
    assert!(head.starts_with("mirrored adds 500 us ("), "{head}");
    assert!(
        head.contains(" at 0 km, and 10.5 ms (") && head.contains(" at 1000 km; a transaction waits for 1.000 ("),
        "{head}"
    );
    assert!(
        !judged.answer.iter().any(|line| line.contains("completes")),
        "one point is no answer: {:?}",
        judged.answer
    );
}
