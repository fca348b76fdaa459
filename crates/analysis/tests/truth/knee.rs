//! Is a stated knee the true one, does its range hold the truth, and is the peak without bias?

use super::hand::{judgement, level, trial};
use analysis::{Knee, judge};
use observation::RunFacts;
use random::Draws;
use std::fmt::Write as _;

/// Name, rates by level, noise of a level, and the place of the knee.
const WORLDS: [(&str, &[f64], f64, usize); 6] = [
    ("flat, service of 1 ms", &[100.0; 6], 0.016, 0),
    ("flat, service of 10 ms", &[100.0; 6], 0.05, 0),
    ("flat, service of 40 ms", &[100.0; 6], 0.10, 0),
    ("saturates", &[50.0, 80.0, 97.0, 100.0, 100.0, 100.0], 0.03, 2),
    ("falls again", &[30.0, 60.0, 100.0, 85.0, 70.0], 0.03, 2),
    ("still rises", &[10.0, 20.0, 40.0, 75.0], 0.03, 3),
];

/// A row for each curve.
pub fn rows(runs: u32, seed: u64) -> String {
    let mut text = "| curve | noise | stated | stated wrongly | outside what is said | bias of the peak |\n\
                    |---|---|---|---|---|---|\n"
        .to_owned();
    for (number, (name, truth, noise, at)) in WORLDS.iter().enumerate() {
        let mut draws = Draws::numbered(seed, number as u64);
        let (mut stated, mut wrong, mut outside, mut bias) = (0u32, 0u32, 0u32, 0.0);
        for _ in 0..runs {
            let one = |(i, rate): (usize, &f64)| {
                let mut made = trial(i as u32, "a", 0, rate * (1.0 + noise * draws.normal()), noise * rate);
                made.label.factors = vec![level("outstanding", f64::from(1u32 << i))];
                made
            };
            let trials = truth.iter().enumerate().map(one).collect();
            let found = judge(RunFacts::default(), trials, &judgement(0.05));
            let Some(knee) = found.findings.iter().find_map(Knee::of) else { continue };
            let (level, last) = (f64::from(1u32 << at), at + 1 == truth.len());
            stated += u32::from(knee.stated().is_some());
            wrong += u32::from(knee.stated().is_some_and(|said| said != level));
            let inside = knee.at.map_or(last || knee.scatters, |at| at.low <= level && level <= at.high);
            outside += u32::from(!inside);
            bias += knee.peak_per_s.value / truth.iter().copied().fold(f64::MIN, f64::max) - 1.0;
        }
        let share = |part: u32| 100.0 * f64::from(part) / f64::from(runs);
        let _ = writeln!(
            text,
            "| {name} | {:.1}% | {:.1}% | {:.1}% | {:.1}% | {:+.1}% |",
            100.0 * noise,
            share(stated),
            share(wrong),
            share(outside),
            100.0 * bias / f64::from(runs)
        );
    }
    text
}
