//! `replicates = "auto"`: the pilot, the decision, and the power that it promises.

use study::{Outcome, PILOT, Planner, Study, Survey, Trial, plan};

const TEXT: &str = r#"
    primary = "throughput of w in e at outstanding=1"
    margin = "5%"
    [system.a]
    kind = "null"
    [system.b]
    kind = "null"
    [workload.w]
    kind = "block"
    [[experiment]]
    name = "e"
    workload = "w"
    factor.outstanding = [1, 2]
    measure = "1 s"
    [[experiment]]
    name = "other"
    workload = "w"
    measure = "1 s"
"#;

fn planner(seed: u64, most: u32) -> Planner {
    let text = format!("{TEXT}\n[defaults]\nreplicates_max = {most}\n");
    let study = Study::parse("made", &text).unwrap_or_else(|problems| panic!("{problems}"));
    Planner::new(plan(&study, &Survey::default(), seed).unwrap())
}

/// Normal draws (Box and Muller) from SplitMix64.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.uniform()).ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

fn run(planner: &Planner, noise: &mut Noise, spread: f64, slower: f64) -> Vec<(Trial, f64)> {
    let (mut outcomes, mut seen) = (Vec::new(), Vec::new());
    while let Some(trial) = planner.next(&outcomes) {
        let scale = if trial.label.system == "b" { 1.0 - slower } else { 1.0 };
        let throughput = 1e5 * scale * (spread * noise.normal()).exp();
        outcomes.push(Outcome {
            index: trial.label.index,
            finished: true,
            throughput_per_s: throughput,
            ..Outcome::default()
        });
        seen.push((trial, throughput));
    }
    seen
}

/// Log ratios of the primary point by block.
fn ratios(seen: &[(Trial, f64)]) -> Vec<f64> {
    let value = |block: u32, system: &str| {
        let found = seen.iter().find(|(trial, _)| {
            trial.label.experiment == "e"
                && trial.label.block == block
                && trial.label.system == system
                && trial.label.factors[0].level.number() == Some(1.0)
        });
        found.map(|(_, value)| *value)
    };
    (0..1000).map_while(|block| Some((value(block, "b")? / value(block, "a")?).ln())).collect()
}

#[test]
fn the_pilot_is_four_pairs_everywhere_and_only_the_primary_point_is_repeated() {
    let planner = planner(3, 32);
    assert_eq!(planner.plan().trials.len(), (2 * 2 + 2) * PILOT as usize);
    let seen = run(&planner, &mut Noise(1), 0.05, 0.0);
    let more = &seen[planner.plan().trials.len()..];
    assert!(!more.is_empty());
    assert!(more.iter().all(|(trial, _)| trial.label.experiment == "e"));
    assert!(more.iter().all(|(trial, _)| trial.label.factors[0].level.number() == Some(1.0)));
    assert_eq!(ratios(&seen).len() % 2, 0);
}

#[test]
fn a_quiet_pair_needs_no_more_than_the_pilot_and_a_wild_one_stops_at_the_cap() {
    assert_eq!(ratios(&run(&planner(3, 32), &mut Noise(1), 0.001, 0.0)).len(), PILOT as usize);
    let planner = planner(3, 12);
    let seen = run(&planner, &mut Noise(1), 0.5, 0.0);
    assert_eq!(ratios(&seen).len(), 12);
    let outcomes: Vec<Outcome> = seen
        .iter()
        .map(|(trial, value)| Outcome {
            index: trial.label.index,
            finished: true,
            throughput_per_s: *value,
            ..Outcome::default()
        })
        .collect();
    let decision = planner.plan().repeats[0].decide(&outcomes).unwrap();
    assert!(decision.capped && decision.pairs == 12);
}

#[test]
fn a_planted_difference_of_the_margin_is_found_in_eighty_of_a_hundred_runs() {
    let t_975 = |pairs: usize| {
        // Student's t, 0.975 quantile, by degrees of freedom (published table); even numbers of pairs only.
        let table = [
            (3, 3.182),
            (5, 2.571),
            (7, 2.365),
            (9, 2.262),
            (11, 2.201),
            (13, 2.160),
            (15, 2.131),
            (17, 2.110),
            (19, 2.093),
        ];
        table.iter().find(|(freedom, _)| *freedom == pairs - 1).map_or(2.08, |(_, t)| *t)
    };
    let (planner, mut noise) = (planner(3, 100), Noise(42));
    let (mut found, mut pairs, runs) = (0, 0, 400);
    for _ in 0..runs {
        let ratios = ratios(&run(&planner, &mut noise, 0.025, 0.05));
        let n = ratios.len() as f64;
        let mean = ratios.iter().sum::<f64>() / n;
        let sd = (ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
        found += u32::from((mean / (sd / n.sqrt())).abs() > t_975(ratios.len()));
        pairs += ratios.len();
    }
    assert!(found * 100 >= runs * 80, "{found} of {runs}");
    let mean = pairs as f64 / f64::from(runs);
    assert!(mean < 20.0, "{mean} pairs on average are too many for a spread of 2.5%");
}

#[test]
fn an_unfinished_pilot_trial_neither_stops_the_run_nor_is_counted() {
    let planner = planner(3, 32);
    let mut outcomes = Vec::new();
    while let Some(trial) = planner.next(&outcomes) {
        let throughput_per_s = if trial.label.system == "a" { 1e5 } else { 1.1e5 };
        let finished = trial.label.index != 2;
        outcomes.push(Outcome { index: trial.label.index, finished, throughput_per_s, ..Outcome::default() });
    }
    assert_eq!(outcomes.len(), planner.plan().trials.len());
}

#[test]
fn an_interrupted_run_goes_on_with_the_first_trial_that_is_missing() {
    let planner = planner(3, 32);
    let of = |index| Outcome { index, finished: true, throughput_per_s: 1e5, ..Outcome::default() };
    let outcomes = [of(0), of(1), of(3)];
    assert_eq!(planner.next(&outcomes).unwrap().label.index, 2);
}
