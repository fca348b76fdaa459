//! Whether the window was steady: SNIA's rule, which the study holds, over rounds cut from the window.
//!
//! The one idea: the rule looks at five figures that vary by chance. Where chance alone moves them by more than a third of
//! what the rule allows (for the line, by half), nothing can be said; `never` is said only where the rule is broken by more than chance can do.

use crate::statistics::moments::mean;
use crate::statistics::noise::Noise;
use crate::statistics::student::{normal_quantile, t_quantile};
use crate::statistics::studentised_range::range_quantile;
use crate::{RoundsTrace, Steady, SteadyAnswer};
use study::{RoundsEvidence, SteadyRule};
use units::Nanos;

/// What the noise of a round may be of the range that the rule allows.
const RANGE_SHARE: f64 = 1.0 / 3.0;

/// What the noise of the line may be of the rise that the rule allows: a line that rises by twice as much is then taken for
/// steady in two of a hundred windows.
const SLOPE_SHARE: f64 = 0.5;

/// How often a steady window may be called `never`, for each part of the rule.
const ALPHA: f64 = 0.01;

/// Judges the rates of the intervals of a window, each `interval` long. A round is as long as the study says, and all that
/// the window holds are looked at; else it is the longer of the rule's shortest and of the window over the rule's number of
/// rounds.
pub fn steady(rates: &[f64], interval: Nanos, rule: &SteadyRule, stated: Option<Nanos>) -> Steady {
    let wanted = (rule.rounds.max(2)) as usize;
    let window = Nanos(interval.0 * rates.len() as u64);
    let round = stated.unwrap_or(Nanos((window.0 / wanted as u64).max(rule.round_min.0)));
    // A window whose intervals do not divide into rounds may lack a sliver of the last; it is not too short for that.
    let held = ((window.0 + interval.0 / 2) / round.0.max(1)) as usize;
    if held < wanted || rates.len() < wanted {
        return Steady { answer: SteadyAnswer::TooShort, rounds: None };
    }
    let rounds = if stated.is_some() { held.min(rates.len()) } else { wanted };
    let counted = ((round.0 * rounds as u64).div_ceil(interval.0.max(1)) as usize).clamp(rounds, rates.len());
    let rates = if stated.is_some() { &rates[rates.len() - counted..] } else { rates };
    judged(rates, rounds, rule)
}

fn judged(rates: &[f64], rounds: usize, rule: &SteadyRule) -> Steady {
    let means = round_means(rates, rounds);
    // Rounds in which nothing was done are as unsteady as can be, and have no shares of a mean.
    let Some(seen) = RoundsEvidence::of(&means) else {
        let trace = RoundsTrace { means, range: f64::INFINITY, slope: 0.0, noise: 0.0, freedom: 0.0 };
        return Steady { answer: SteadyAnswer::Never, rounds: Some(trace) };
    };
    let chance = Chance::of(rates, rounds, seen.mean);
    let holds = seen.range <= rule.range_max && seen.slope.abs() <= rule.slope_max;
    let answer = if chance.breaks(&seen, rule, rounds) {
        SteadyAnswer::Never
    } else if holds && chance.small(rule) {
        SteadyAnswer::Yes
    } else {
        SteadyAnswer::CannotTell
    };
    let (noise, freedom) = (chance.round, chance.freedom);
    let trace = RoundsTrace { means, range: seen.range, slope: seen.slope, noise, freedom };
    Steady { answer, rounds: Some(trace) }
}

/// What chance alone does to the rounds, as shares of their mean.
struct Chance {
    /// Standard error of a round.
    round: f64,
    /// Standard error of the rise of the line across the rounds.
    slope: f64,
    freedom: f64,
}

impl Chance {
    fn of(rates: &[f64], rounds: usize, mean: f64) -> Chance {
        let Some(noise) = Noise::of(rates) else { return Chance { round: 0.0, slope: 0.0, freedom: 1.0 } };
        let count = rates.len() as f64 / rounds as f64;
        let middle = (rounds as f64 - 1.0) / 2.0;
        let squares: f64 = (0..rounds).map(|i| (i as f64 - middle).powi(2)).sum();
        let weights: Vec<f64> = (0..rounds).map(|i| (i as f64 - middle) / squares * 2.0 * middle).collect();
        Chance {
            round: noise.error_of_mean(count) / mean,
            slope: noise.error_of_sum(&weights, count) / mean,
            freedom: noise.freedom,
        }
    }

    /// Whether the rounds break the rule by more than chance does once in a hundred windows.
    fn breaks(&self, seen: &RoundsEvidence, rule: &SteadyRule, rounds: usize) -> bool {
        // The range is the greatest difference of all pairs of rounds (Bonferroni).
        let pairs = rounds as f64 * (rounds as f64 - 1.0);
        let range = std::f64::consts::SQRT_2 * self.round * self.quantile(1.0 - ALPHA / pairs);
        let slope = self.slope * self.quantile(1.0 - ALPHA / 2.0);
        seen.range - range > rule.range_max || seen.slope.abs() - slope > rule.slope_max
    }

    fn quantile(&self, p: f64) -> f64 {
        if self.freedom < 100.0 { t_quantile(p, self.freedom) } else { normal_quantile(p) }
    }

    /// Whether noise is small enough for the rule to say anything.
    fn small(&self, rule: &SteadyRule) -> bool {
        self.round <= RANGE_SHARE * rule.range_max && self.slope <= SLOPE_SHARE * rule.slope_max
    }
}

impl RoundsTrace {
    /// The range that chance alone stays within in 95 of 100 steady windows, as a share of the mean: that of several rounds is
    /// wider than the error of one, of five 3.86 times as wide where that is known well.
    pub fn by_chance(&self) -> f64 {
        if self.noise > 0.0 { self.noise * range_quantile(0.95, self.means.len(), self.freedom) } else { 0.0 }
    }
}

/// How many times longer a window has to be for its rounds to be told from noise; nothing where they already are.
pub fn longer(trace: &RoundsTrace, rule: &SteadyRule) -> Option<f64> {
    // The line through five independent rounds rises by 1.26 of their error.
    let most = (RANGE_SHARE * rule.range_max).min(SLOPE_SHARE * rule.slope_max / 1.26);
    (trace.noise > most).then(|| (trace.noise / most).powi(2))
}

/// The window in as many rounds of equal length, up to one interval.
fn round_means(rates: &[f64], rounds: usize) -> Vec<f64> {
    (0..rounds).map(|r| mean(&rates[r * rates.len() / rounds..(r + 1) * rates.len() / rounds])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::autocorrelation::tests::ar1;
    use crate::statistics::bootstrap::Draws;

    fn judged(rates: &[f64]) -> Steady {
        steady(rates, Nanos::from_secs(1), &SteadyRule::default(), None)
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
        let second = Nanos::from_secs(1);
        assert_eq!(judged(&[100.0; 4]).answer, SteadyAnswer::TooShort);
        let rule = SteadyRule { round_min: Nanos::from_secs(60), ..SteadyRule::default() };
        assert_eq!(steady(&[100.0; 299], second, &rule, None).answer, SteadyAnswer::TooShort);
        assert_eq!(steady(&[100.0; 300], second, &rule, None).answer, SteadyAnswer::Yes);
    }

    #[test]
    fn a_round_that_the_study_states_is_obeyed() {
        let (second, rule) = (Nanos::from_secs(1), SteadyRule::default());
        let long = Some(Nanos::from_secs(60));
        assert_eq!(steady(&[100.0; 299], second, &rule, long).answer, SteadyAnswer::TooShort);
        assert_eq!(steady(&[100.0; 300], second, &rule, long).rounds.unwrap().means.len(), 5);
        // Shorter than a second, and more than five: all that the window holds, from its end.
        let tenth = Nanos::from_millis(100);
        let short = steady(&[100.0; 27], tenth, &rule, Some(Nanos::from_millis(500)));
        assert_eq!((short.answer, short.rounds.unwrap().means.len()), (SteadyAnswer::Yes, 5));
        assert_eq!(steady(&[100.0; 27], tenth, &rule, None).answer, SteadyAnswer::TooShort);
    }

    #[test]
    fn a_system_that_does_nothing_is_not_steady() {
        assert_eq!(judged(&[0.0; 10]).answer, SteadyAnswer::Never);
    }

    /// The share of ten-second series that get an answer.
    fn share(answer: SteadyAnswer, seed: u64, series: impl Fn(&mut Draws) -> Vec<f64>) -> f64 {
        let mut draws = Draws::new(seed);
        let rule = SteadyRule::default();
        let told = (0..400).filter(|_| {
            let rates: Vec<f64> = series(&mut draws).iter().map(|rate| 1000.0 * rate).collect();
            steady(&rates, Nanos::from_millis(100), &rule, None).answer == answer
        });
        told.count() as f64 / 400.0
    }

    /// 44 to 95 of a hundred of such series used to be called `never`.
    #[test]
    fn hardly_any_stationary_series_is_called_never() {
        for (phi, scatter, most) in [(0.0, 0.05, 0.01), (0.7, 0.15, 0.01), (0.9, 0.15, 0.02), (0.95, 0.20, 0.04)] {
            let never = share(SteadyAnswer::Never, 5, |draws| {
                ar1(draws, 100, phi).iter().map(|e| (1.0 + scatter * e).max(0.0)).collect()
            });
            assert!(never <= most, "{never} at {phi}");
        }
    }

    /// Windows that vary by chance alone, of few intervals and of many, whose neighbours resemble each other or do not: of the
    /// range over five parts no more than one in twenty is beyond chance. Held against the error of one part, many were.
    #[test]
    fn at_most_one_steady_window_in_twenty_varies_by_more_than_chance() {
        const WINDOWS: u32 = 300;
        let (mut draws, rule) = (Draws::new(11), SteadyRule { round_min: Nanos(1), ..SteadyRule::default() });
        for (intervals, phi, scatter) in
            [(5, 0.0, 0.1), (10, 0.0, 0.2), (100, 0.0, 0.6), (100, 0.7, 0.3), (300, 0.9, 0.2)]
        {
            let (mut beyond, mut beyond_one) = (0, 0);
            for _ in 0..WINDOWS {
                let series = ar1(&mut draws, intervals, phi);
                let rates: Vec<f64> = series.iter().map(|e| 1000.0 * (1.0 + scatter * e).max(0.0)).collect();
                let trace = steady(&rates, Nanos::from_millis(100), &rule, None).rounds.expect("it has rounds");
                beyond += u32::from(trace.range > trace.by_chance());
                beyond_one += u32::from(trace.range > trace.noise);
            }
            let [several, one] = [beyond, beyond_one].map(|count| f64::from(count) / f64::from(WINDOWS));
            // Of 300 windows 5 percent are up to 7 by chance.
            assert!(several <= 0.07, "{several} of windows of {intervals} intervals at {phi}");
            assert!(one > 0.2, "{one} of windows of {intervals} intervals at {phi}");
        }
    }

    #[test]
    fn what_drifts_beyond_noise_is_called_never_and_what_is_quiet_yes() {
        let quiet = share(SteadyAnswer::Yes, 6, |draws| (0..100).map(|_| 1.0 + 0.03 * draws.normal()).collect());
        assert!(quiet > 0.95, "{quiet}");
        let courses: [fn(f64) -> f64; 3] =
            [|x| 1.0 - 0.3 * x, |x| if x < 0.37 { 1.0 } else { 0.7 }, |x| 0.4 + 0.6 * (-5.0 * x).exp()];
        for course in courses {
            let never = share(SteadyAnswer::Never, 7, |draws| {
                (0..100).map(|i| course(f64::from(i) / 100.0) + 0.03 * draws.normal()).collect()
            });
            assert!(never > 0.85, "{never}");
        }
    }
}
