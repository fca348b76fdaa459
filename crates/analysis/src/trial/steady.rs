//! Whether the window was steady: SNIA's rule, which the study holds, over rounds cut from the window.

use crate::statistics::moments::mean;
use crate::{RoundsTrace, Steady, SteadyAnswer};
use study::{RoundsEvidence, SteadyRule};
use units::Nanos;

/// Judges the rates of the intervals of a window, each `interval` long. A round is the longer of the rule's shortest and
/// of the window over the rule's number of rounds.
pub fn steady(rates: &[f64], interval: Nanos, rule: &SteadyRule) -> Steady {
    let rounds = (rule.rounds.max(2)) as usize;
    let window = Nanos(interval.0 * rates.len() as u64);
    let round = Nanos((window.0 / rounds as u64).max(rule.round_min.0));
    // A window whose intervals do not divide into rounds may lack a sliver of the last; it is not too short for that.
    let held = (window.0 + interval.0 / 2) / round.0.max(1);
    if held < rounds as u64 || rates.len() < rounds {
        return Steady { answer: SteadyAnswer::TooShort, rounds: None };
    }
    let means = round_means(rates, rounds);
    let answer = if rule.holds(&means) { SteadyAnswer::Yes } else { SteadyAnswer::Never };
    // Rounds in which nothing was done are as unsteady as can be, and have no shares of a mean.
    let (range, slope) = RoundsEvidence::of(&means).map_or((f64::INFINITY, 0.0), |seen| (seen.range, seen.slope));
    Steady { answer, rounds: Some(RoundsTrace { means, range, slope }) }
}

/// The window in as many rounds of equal length, up to one interval.
fn round_means(rates: &[f64], rounds: usize) -> Vec<f64> {
    (0..rounds).map(|r| mean(&rates[r * rates.len() / rounds..(r + 1) * rates.len() / rounds])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(rates: &[f64]) -> Steady {
        steady(rates, Nanos::from_secs(1), &SteadyRule::default())
    }

    #[test]
    fn rounds_that_agree_are_steady_and_their_trace_is_kept() {
        let answer = judged(&[100.0, 104.0, 98.0, 101.0, 99.0]);
        assert_eq!(answer.answer, SteadyAnswer::Yes);
        assert!((answer.rounds.unwrap().range - 6.0 / 100.4).abs() < 1e-12);
    }

    /// The range is 12 percent, the line rises 12 percent: only the second rule catches it.
    #[test]
    fn a_slope_beyond_ten_percent_is_never_steady_though_the_range_is_small() {
        let answer = judged(&[94.0, 97.0, 100.0, 103.0, 106.0]);
        let trace = answer.rounds.unwrap();
        assert!((trace.range - 0.12).abs() < 1e-9 && (trace.slope - 0.12).abs() < 1e-9);
        assert_eq!(answer.answer, SteadyAnswer::Never);
    }

    #[test]
    fn a_window_below_five_rounds_is_too_short() {
        assert_eq!(judged(&[100.0; 4]).answer, SteadyAnswer::TooShort);
        let rule = SteadyRule { round_min: Nanos::from_secs(60), ..SteadyRule::default() };
        assert_eq!(steady(&[100.0; 299], Nanos::from_secs(1), &rule).answer, SteadyAnswer::TooShort);
        assert_eq!(steady(&[100.0; 300], Nanos::from_secs(1), &rule).answer, SteadyAnswer::Yes);
    }

    #[test]
    fn a_system_that_does_nothing_is_not_steady() {
        assert_eq!(judged(&[0.0; 10]).answer, SteadyAnswer::Never);
    }
}
