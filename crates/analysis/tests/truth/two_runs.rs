//! How often do two runs of the same claim a difference, and how often is one found?

use super::hand::trial;
use analysis::{BetweenRuns, Comparison, Findings, Verdict, compare_runs};
use observation::RunFacts;
use random::Draws;
use std::fmt::Write as _;
use study::Metric;

/// How much each point of a run scatters from run to run.
const WORLDS: [(&str, &[f64]); 5] = [
    ("one point, 2%", &[0.02]),
    ("eight points, 2%", &[0.02; 8]),
    ("four of 2% and one of 10%", &[0.02, 0.02, 0.02, 0.02, 0.10]),
    ("two of 1% and one of 5%", &[0.01, 0.01, 0.05]),
    ("1% to 6%", &[0.01, 0.02, 0.03, 0.04, 0.05, 0.06]),
];

/// A row for each world and number of earlier runs.
pub fn rows(runs: u32, seed: u64) -> String {
    let mut text = "| points | earlier runs | families with a false claim | points found that differ by 15% |\n\
                    |---|---|---|---|\n"
        .to_owned();
    for (number, (name, scatters)) in WORLDS.iter().enumerate() {
        for earlier in [3, 5, 10] {
            let mut draws = Draws::named(seed, &[number as u64, earlier as u64]);
            let (families, _) = claims(&mut draws, scatters, earlier, 0.0, runs);
            let (_, points) = claims(&mut draws, scatters, earlier, 0.15, runs);
            let _ = writeln!(text, "| {name} | {earlier} | {:.1}% | {:.0}% |", 100.0 * families, 100.0 * points);
        }
    }
    text
}

fn claims(draws: &mut Draws, scatters: &[f64], earlier: usize, shift: f64, runs: u32) -> (f64, f64) {
    let (mut families, mut points) = (0u32, 0usize);
    for _ in 0..runs {
        let kind: Vec<Findings> = (0..earlier).map(|_| run(draws, scatters, 0.0)).collect();
        let both = [kind[0].clone(), run(draws, scatters, shift)];
        let between = BetweenRuns::learn(&[kind], Metric::Throughput);
        let found = compare_runs(&both, Metric::Throughput, 1e-4, 0.95, between.as_ref());
        let claimed = |c: &&Comparison| matches!(c.verdict, Verdict::Better | Verdict::Worse);
        let count = found.comparisons().filter(claimed).count();
        families += u32::from(count > 0);
        points += count;
    }
    let runs = f64::from(runs);
    (f64::from(families) / runs, points as f64 / runs / scatters.len() as f64)
}

fn run(draws: &mut Draws, scatters: &[f64], shift: f64) -> Findings {
    let one = |(at, scatter): (usize, &f64)| {
        let mut made = trial(at as u32, "a", 0, 1000.0 * (shift + scatter * draws.normal()).exp(), 1.0);
        made.label.experiment = format!("experiment {at}");
        made
    };
    Findings { run: RunFacts::default(), trials: scatters.iter().enumerate().map(one).collect(), ..Findings::default() }
}
