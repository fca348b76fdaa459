//! The search for the highest rate, played against systems whose answer is known.

use load::Spec as LoadSpec;
use observation::Searched;
use proptest::prelude::*;
use study::{Answer, Outcome, Planner, ResponseQuantiles, Step, Study, Survey, Trial, plan};

fn planner(goal: &str, measure: &str) -> Planner {
    let text = format!(
        "[system.s]\nkind = \"null\"\n[workload.w]\nkind = \"block\"\n[[experiment]]\nname = \"e\"\nworkload = \"w\"\n\
         load = {{ slots = 64 }}\nmeasure = \"{measure}\"\nsearch = {{ highest_rate = {{ {goal} }} }}\n"
    );
    let study = Study::parse("made", &text).unwrap_or_else(|problems| panic!("{problems}"));
    Planner::new(plan(&study, &Survey::default(), 5).unwrap())
}

/// A system of one server: response rises as 1 / (1 - rate / peak), and beyond the peak the backlog grows.
fn queue(peak: f64, base_ms: f64) -> impl FnMut(&Trial) -> Outcome {
    move |trial| {
        let rate = match trial.streams[0].load {
            LoadSpec::Open { rate, .. } => rate.0,
            LoadSpec::Closed { .. } => f64::INFINITY,
        };
        let busy = rate / peak;
        let p99 = if busy < 1.0 { base_ms / (1.0 - busy) } else { 1e6 };
        Outcome {
            index: trial.label.index,
            finished: true,
            throughput_per_s: rate.min(peak),
            response_quantile_ms: ResponseQuantiles { p50: p99 / 7.0, p95: p99 / 1.5, p99, p999: p99 * 1.5 },
            backlog_grew: busy >= 1.0,
            ..Outcome::default()
        }
    }
}

fn play(planner: &Planner, mut system: impl FnMut(&Trial) -> Outcome) -> (Vec<Trial>, Answer) {
    let (mut outcomes, mut trials) = (Vec::new(), Vec::new());
    while let Some(trial) = planner.next(&outcomes) {
        assert_eq!(trial.label.index, trials.len() as u32);
        assert!(trials.len() < 50, "the search does not end");
        outcomes.push(system(&trial));
        trials.push(trial);
    }
    let own: Vec<&Outcome> = outcomes.iter().collect();
    let Step::Ended(answer) = planner.plan().searches[0].step(&own) else { panic!("not ended") };
    (trials, answer)
}

/// Rate of a probe, if it is one.
fn rate(trial: &Trial) -> Option<f64> {
    trial.streams.iter().find_map(|stream| match stream.load {
        LoadSpec::Open { rate, .. } => Some(rate.0),
        LoadSpec::Closed { .. } => None,
    })
}

#[test]
fn the_highest_step_that_holds_is_found_passed_three_times_afresh_and_failed_one_step_higher() {
    // 1 ms / (1 - r / 50.01k) <= 5 ms holds up to r = 40.008k.
    let planner = planner("p99 = \"5 ms\", from = \"1k/s\", to = \"60k/s\", step = \"500/s\"", "2 s");
    let (trials, answer) = play(&planner, queue(50_010.0, 1.0));
    assert_eq!(answer, Answer::Found { rate: 40_000.0, failed: 40_500.0 });
    let last: Vec<f64> = trials.iter().rev().take(3).filter_map(rate).collect();
    assert_eq!(last, [40_000.0; 3]);
    assert!(trials.iter().any(|trial| rate(trial) == Some(40_500.0)));
    let wanted = Searched::read("highest rate with p99 under 5 ms".to_owned());
    assert!(wanted.goal.is_some() && trials.iter().all(|trial| trial.label.search.as_ref() == Some(&wanted)));
    assert!(trials.len() <= 14, "{}", trials.len());
}

#[test]
fn without_a_range_the_peak_of_a_closed_load_is_measured_first() {
    let planner = planner("p99 = \"5 ms\"", "2 s");
    let (trials, answer) = play(&planner, queue(50_000.0, 1.0));
    assert_eq!(rate(&trials[0]), None);
    assert_eq!(trials[0].label.streams[0].slots, Some(64));
    assert!(trials[0].label.search.as_ref().unwrap().words.starts_with("peak before"));
    let Answer::Found { rate, failed } = answer else { panic!("{answer:?}") };
    assert!(rate <= 40_000.0 && failed > 40_000.0 && failed - rate < 1_500.0, "{rate} {failed}");
}

#[test]
fn a_system_that_never_holds_and_one_that_always_holds_are_told_apart() {
    let range = "p99 = \"5 ms\", from = \"1k/s\", to = \"20k/s\", step = \"1k/s\"";
    assert_eq!(play(&planner(range, "2 s"), queue(50_000.0, 9.0)).1, Answer::NoneHolds { lowest: 1_000.0 });
    assert_eq!(play(&planner(range, "2 s"), queue(1e6, 0.1)).1, Answer::RangeHolds { rate: 20_000.0 });
}

#[test]
fn a_rate_that_fails_when_tried_again_gives_way_to_the_step_below() {
    let planner = planner("p99 = \"5 ms\", from = \"1k/s\", to = \"60k/s\", step = \"1k/s\"", "2 s");
    let mut tries = 0;
    let mut system = queue(50_010.0, 1.0);
    let (_, answer) = play(&planner, |trial| {
        let mut outcome = system(trial);
        if rate(trial) == Some(40_000.0) {
            tries += 1;
            // It holds at first, and then not again.
            outcome.backlog_grew |= tries > 2;
        }
        outcome
    });
    assert_eq!(answer, Answer::Found { rate: 39_000.0, failed: 40_000.0 });
}

#[test]
fn a_flaky_system_cannot_keep_a_search_going_for_ever() {
    let planner = planner("p99 = \"5 ms\", from = \"1k/s\", to = \"60k/s\", step = \"10/s\"", "2 s");
    let mut n = 0u32;
    let (trials, _) = play(&planner, |trial| {
        n += 1;
        Outcome { index: trial.label.index, finished: true, backlog_grew: n.is_multiple_of(3), ..Outcome::default() }
    });
    assert!(trials.len() <= study::PROBES_MAX as usize);
}

#[test]
fn a_last_step_that_the_range_cuts_short_ends_at_its_top() {
    // 1k, 5k, 9k, and then not 13k.
    let planner = planner("p99 = \"5 ms\", from = \"1k/s\", to = \"10k/s\", step = \"4k/s\"", "2 s");
    let (trials, answer) = play(&planner, queue(1e6, 0.1));
    assert_eq!(answer, Answer::RangeHolds { rate: 10_000.0 });
    assert_eq!(trials.iter().filter_map(rate).fold(0.0, f64::max), 10_000.0);
    let (_, answer) = play(&planner, queue(11_300.0, 1.0));
    assert_eq!(answer, Answer::Found { rate: 9_000.0, failed: 10_000.0 });
}

proptest! {
    #[test]
    fn no_probe_is_above_the_highest_rate_that_was_asked_for(
        from in 1u32..50_000, wide in 1u32..50_000, part in 0.0001f64..=1.0, peak in 1e3f64..2e5,
    ) {
        let (to, step) = (from + wide, (f64::from(wide) * part).floor().max(1.0));
        let planner = planner(&format!("p99 = \"5 ms\", from = \"{from}/s\", to = \"{to}/s\", step = \"{step}/s\""), "2 s");
        let (trials, _) = play(&planner, queue(peak, 1.0));
        prop_assert!(trials.iter().filter_map(rate).all(|rate| rate >= f64::from(from) && rate <= f64::from(to)));
    }
}

#[test]
fn a_generator_at_its_limit_ends_the_search() {
    let planner = planner("p99 = \"5 ms\", from = \"1k/s\", to = \"60k/s\", step = \"1k/s\"", "2 s");
    let mut system = queue(50_000.0, 1.0);
    let (_, answer) =
        play(&planner, |trial| Outcome { generator_bound: rate(trial) > Some(20_000.0), ..system(trial) });
    assert!(matches!(answer, Answer::GeneratorBound { .. }), "{answer:?}");
}

#[test]
fn a_search_begins_in_the_middle_and_tries_low_rates_only_when_higher_ones_fail() {
    let planner = planner("p99 = \"5 ms\", from = \"1k/s\", to = \"60k/s\", step = \"500/s\"", "2 s");
    let (trials, _) = play(&planner, queue(50_010.0, 1.0));
    let rates: Vec<f64> = trials.iter().filter_map(rate).collect();
    assert_eq!(rates[..3], [30_500.0, 45_500.0, 38_000.0]);
    assert!(rates.iter().all(|rate| *rate >= 30_500.0), "{rates:?}");
}

#[test]
fn a_low_rate_is_measured_long_enough_for_its_quantile() {
    let planner = planner("p99 = \"50 ms\", from = \"100/s\", to = \"200/s\", step = \"10/s\"", "2 s");
    let trial = planner.next(&[]).unwrap();
    let samples = trial.phases.measure.seconds() * rate(&trial).unwrap();
    assert!(samples * 0.01 >= 100.0, "{samples}");
    assert!(trial.phases.measure.0.is_multiple_of(trial.phases.interval.0));
    assert!((trial.phases.measure.0 + trial.phases.warm_up.0) / trial.phases.interval.0 <= 601);
}

#[test]
fn a_stream_with_a_load_of_its_own_stays_the_background_of_a_search() {
    let text = r#"
        [system.s]
        kind = "null"
        [workload.front]
        kind = "block"
        [workload.back]
        kind = "block"
        [[experiment]]
        name = "e"
        streams = [{ workload = "front" }, { workload = "back", load = { outstanding = 3 } }]
        search = { highest_rate = { p99 = "5 ms", from = "1k/s", to = "9k/s", step = "1k/s" } }
    "#;
    let study = Study::parse("made", text).unwrap_or_else(|problems| panic!("{problems}"));
    let planner = Planner::new(plan(&study, &Survey::default(), 5).unwrap());
    let (trials, _) = play(&planner, queue(5_000.0, 1.0));
    assert!(trials.iter().all(|trial| trial.label.streams[1].slots == Some(3)));
    assert!(trials.iter().all(|trial| trial.label.streams[0].offered.is_some()));
}

#[test]
fn a_search_goes_on_from_any_set_of_outcomes_as_if_nothing_had_happened() {
    let planner = planner("p99 = \"5 ms\", from = \"1k/s\", to = \"60k/s\", step = \"500/s\"", "2 s");
    let mut system = queue(50_000.0, 1.0);
    let mut outcomes = Vec::new();
    while let Some(trial) = planner.next(&outcomes) {
        // A planner made anew from the same plan, told in another order, chooses the same.
        let mut shuffled = outcomes.clone();
        shuffled.reverse();
        assert_eq!(Planner::new(planner.plan().clone()).next(&shuffled), Some(trial.clone()));
        outcomes.push(system(&trial));
    }
}
