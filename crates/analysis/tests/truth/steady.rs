//! What is said of series that are stationary, and of series that are not?

use super::hand::{ar1, course};
use analysis::SteadyAnswer;
use random::Draws;
use std::fmt::Write as _;
use units::Nanos;

/// A series of relative rates.
type Course = fn(&mut Draws, usize) -> Vec<f64>;

const WORLDS: [(&str, Course); 11] = [
    ("exponential service", |draws, n| (0..n).map(|_| 1.0 + 0.1 * draws.normal()).collect()),
    ("AR(1) 0.7, 15%", |draws, n| noisy(draws, n, 0.7, 0.15)),
    ("AR(1) 0.9, 15%", |draws, n| noisy(draws, n, 0.9, 0.15)),
    ("AR(1) 0.95, 20%", |draws, n| noisy(draws, n, 0.95, 0.20)),
    ("AR(1) 0.98, 20%", |draws, n| noisy(draws, n, 0.98, 0.20)),
    ("switching 0.8 and 1.2", |draws, n| switching(draws, n, 0.2)),
    ("switching 0.7 and 1.3", |draws, n| switching(draws, n, 0.3)),
    ("quiet, 2%", |draws, n| (0..n).map(|_| 1.0 + 0.02 * draws.normal()).collect()),
    ("falls by 30% in a line", |draws, n| drifting(draws, n, |x| 1.0 - 0.3 * x)),
    ("falls by 30% at a step", |draws, n| drifting(draws, n, |x| if x < 0.4 { 1.0 } else { 0.7 })),
    ("falls by 60% and levels out", |draws, n| drifting(draws, n, |x| 0.4 + 0.6 * (-5.0 * x).exp())),
];

/// A row for each world and length of the window.
pub fn rows(runs: u32, seed: u64) -> String {
    let mut text =
        "| series | window | yes | never | cannot tell | shows a fall |\n|---|---|---|---|---|---|\n".to_owned();
    for (number, (name, series)) in WORLDS.iter().enumerate() {
        for intervals in [40usize, 100, 600] {
            let mut draws = Draws::named(seed, &[number as u64, intervals as u64]);
            let (mut answers, mut falls) = ([0u32; 3], 0);
            for _ in 0..runs {
                let rates: Vec<f64> = series(&mut draws, intervals).iter().map(|rate| 1000.0 * rate.max(0.0)).collect();
                let stream = course(&rates, Nanos::from_millis(100)).streams.remove(0);
                falls += u32::from(stream.sustained.is_some_and(|found| found.burst.is_some()));
                match stream.steady.answer {
                    SteadyAnswer::Yes => answers[0] += 1,
                    SteadyAnswer::Never => answers[1] += 1,
                    SteadyAnswer::CannotTell | SteadyAnswer::TooShort => answers[2] += 1,
                }
            }
            let share = |part: u32| 100.0 * f64::from(part) / f64::from(runs);
            let [yes, never, open] = answers.map(share);
            let seconds = intervals / 10;
            let _ = writeln!(
                text,
                "| {name} | {seconds} s | {yes:.1}% | {never:.1}% | {open:.1}% | {:.1}% |",
                share(falls)
            );
        }
    }
    text
}

fn noisy(draws: &mut Draws, n: usize, phi: f64, scatter: f64) -> Vec<f64> {
    ar1(draws, n, phi).iter().map(|e| 1.0 + scatter * e).collect()
}

/// Service that is slower or faster by a share, for half a second on average.
fn switching(draws: &mut Draws, n: usize, share: f64) -> Vec<f64> {
    let mut slow = draws.fraction() < 0.5;
    let mut one = || {
        slow ^= draws.fraction() < 0.2;
        1.0 / if slow { 1.0 + share } else { 1.0 - share } + 0.05 * draws.normal()
    };
    (0..n).map(|_| one()).collect()
}

fn drifting(draws: &mut Draws, n: usize, course: fn(f64) -> f64) -> Vec<f64> {
    (0..n).map(|i| course(i as f64 / n as f64) + 0.03 * draws.normal()).collect()
}
