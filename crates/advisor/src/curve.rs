//! The sweet-spot curve: the share of the wait for storage that is saved, against the bytes on the fast tier.
//!
//! The one idea: objects lie along it in the order of their gain for each byte, so that it is steep first and flat at last. Its knee
//! is the point farthest from the straight line that objects in no order would follow. A band says how much it moves between
//! slices of the window.

use crate::choice::ranked;
use crate::gain::Gain;
use random::Draws;

observation::words! {
    /// What the ends of an interval are.
    pub enum Band {
        /// 95 percent of samples that were drawn of the slices with replacement.
        Bootstrap = "bootstrap",
        /// The least and the most of a slice: there are too few to draw from.
        Range = "range",
        /// One slice says nothing of it.
        None = "none",
    }
}

/// With fewer slices a sample of them says less than their range.
const SLICES_TO_DRAW: usize = 8;
const SAMPLES: usize = 400;

/// A point of the curve: the first so many objects of the order lie on the fast tier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The piece that was added last; none at the beginning.
    pub piece: Option<usize>,
    /// Bytes on the fast tier.
    pub bytes: f64,
    /// The share of all wait for storage that is saved.
    pub saved: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// From nothing to everything.
    pub points: Vec<Point>,
    /// Which of them is the knee; none where nothing is saved.
    pub knee: Option<usize>,
    /// What the intervals are.
    pub band: Band,
    /// How alike the orders of both halves of the window are, -1 to 1; none where a half ranks nothing.
    pub stability: Option<f64>,
}

/// The curve over pieces with their bytes. `wait` is what all objects make sessions wait by slice when everything lies on the slow
/// tier, those that cannot be moved included.
pub(crate) fn curve(pieces: &[(f64, Gain)], wait: &[f64], seed: u64) -> Curve {
    let items: Vec<(f64, f64)> = pieces.iter().map(|(bytes, gain)| (*bytes, gain.saved_s())).collect();
    let order = ranked(&items);
    let total: f64 = wait.iter().sum();
    let share = |saved: f64, of: f64| if of > 0.0 { saved / of } else { 0.0 };
    let mut points = vec![Point { piece: None, bytes: 0.0, saved: 0.0, low: 0.0, high: 0.0 }];
    let mut bytes = 0.0;
    let mut saved = vec![0.0; wait.len()];
    let mut all_saved = 0.0;
    let draws = drawn(wait.len(), seed);
    for piece in order {
        let (own, gain) = &pieces[piece];
        bytes += own;
        all_saved += gain.saved_s();
        saved.iter_mut().enumerate().for_each(|(slice, sum)| *sum += gain.saved_in(slice));
        let mut shares: Vec<f64> = draws
            .iter()
            .map(|slices| {
                let of = |values: &[f64]| slices.iter().map(|slice| values[*slice]).sum::<f64>();
                (of(&saved), of(wait))
            })
            .filter(|(_, of)| *of > 0.0)
            .map(|(part, of)| share(part, of))
            .collect();
        shares.sort_by(f64::total_cmp);
        let value = share(all_saved, total);
        let (low, high) = ends(&shares, draws.len() == SAMPLES).unwrap_or((value, value));
        points.push(Point { piece: Some(piece), bytes, saved: value, low: low.min(value), high: high.max(value) });
    }
    let band = match wait.len() {
        0 | 1 => Band::None,
        slices if slices >= SLICES_TO_DRAW => Band::Bootstrap,
        _ => Band::Range,
    };
    Curve { knee: knee(&points), points, band, stability: stability(pieces, wait.len()) }
}

/// Slices of each sample; each slice alone where there are few.
fn drawn(slices: usize, seed: u64) -> Vec<Vec<usize>> {
    if slices < SLICES_TO_DRAW {
        return (0..slices).map(|slice| vec![slice]).collect();
    }
    let mut draws = Draws::named(seed, &[slices as u64]);
    (0..SAMPLES).map(|_| (0..slices).map(|_| draws.below(slices as u64) as usize).collect()).collect()
}

fn ends(sorted: &[f64], sampled: bool) -> Option<(f64, f64)> {
    let beyond = if sampled { sorted.len() / 40 } else { 0 };
    Some((*sorted.get(beyond)?, *sorted.get(sorted.len().checked_sub(1 + beyond)?)?))
}

/// The point farthest above the line from the first to the last.
fn knee(points: &[Point]) -> Option<usize> {
    let last = points.last()?;
    if last.bytes <= 0.0 || last.saved <= 0.0 {
        return None;
    }
    let above = |point: &Point| point.saved / last.saved - point.bytes / last.bytes;
    let best = (1..points.len()).max_by(|a, b| above(&points[*a]).total_cmp(&above(&points[*b])))?;
    // Where all are alike there is no bend, and all of it is the answer.
    Some(if above(&points[best]) > 1e-9 { best } else { points.len() - 1 })
}

/// Spearman's correlation of the gains in the first half of the slices and in the second.
fn stability(pieces: &[(f64, Gain)], slices: usize) -> Option<f64> {
    let half = |from: usize, to: usize| -> Vec<f64> {
        let gained = pieces.iter().filter(|(_, gain)| gain.saved_s() > 0.0);
        gained.map(|(bytes, gain)| (from..to).map(|slice| gain.saved_in(slice)).sum::<f64>() / bytes.max(1.0)).collect()
    };
    correlation(&ranks(&half(0, slices / 2)), &ranks(&half(slices / 2, slices)))
}

/// Ranks from 1, those of equals shared.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: f64| {
        let (below, equal) = values.iter().fold((0, 0), |(below, equal), other| match other.total_cmp(&value) {
            std::cmp::Ordering::Less => (below + 1, equal),
            std::cmp::Ordering::Equal => (below, equal + 1),
            std::cmp::Ordering::Greater => (below, equal),
        });
        f64::from(below) + (f64::from(equal) + 1.0) / 2.0
    };
    values.iter().map(|value| rank(*value)).collect()
}

fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let count = a.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let sum = |of: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(a, b)| of(a - mean_a, b - mean_b)).sum::<f64>();
    let spread = (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt();
    (a.len() > 2 && spread > 0.0).then(|| sum(&|a, b| a * b) / spread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn piece(bytes: f64, saved: &[f64]) -> (f64, Gain) {
        (bytes, Gain { slow: saved.to_vec(), fast: vec![0.0; saved.len()] })
    }

    fn of(pieces: &[(f64, Gain)]) -> Curve {
        let slices = pieces[0].1.slow.len();
        let wait: Vec<f64> = (0..slices).map(|at| pieces.iter().map(|(_, gain)| gain.slow[at]).sum()).collect();
        curve(pieces, &wait, 1)
    }

    #[test]
    fn the_knee_of_a_quarter_that_saves_seven_tenths_is_that_quarter() {
        let pieces = [piece(75.0, &[3.0]), piece(25.0, &[7.0])];
        let found = of(&pieces);
        let shape: Vec<(Option<usize>, f64, f64)> =
            found.points.iter().map(|point| (point.piece, point.bytes, point.saved)).collect();
        assert_eq!(shape, [(None, 0.0, 0.0), (Some(1), 25.0, 0.7), (Some(0), 100.0, 1.0)]);
        assert_eq!((found.knee, found.band), (Some(1), Band::None));
    }

    #[test]
    fn where_all_are_alike_the_knee_is_everything_and_where_nothing_gains_there_is_none() {
        assert_eq!(of(&[piece(10.0, &[1.0]), piece(10.0, &[1.0])]).knee, Some(2));
        assert_eq!(of(&[piece(10.0, &[0.0]), piece(10.0, &[0.0])]).knee, None);
    }

    #[test]
    fn few_slices_give_their_range_and_many_a_bootstrap_that_is_narrower() {
        let hot = [7.0, 5.0, 9.0, 7.0];
        let cold = [3.0, 5.0, 1.0, 3.0];
        let few = of(&[piece(25.0, &hot), piece(75.0, &cold)]);
        assert_eq!((few.band, few.points[1].low, few.points[1].high), (Band::Range, 0.5, 0.9));
        let many = of(&[piece(25.0, &hot.repeat(4)), piece(75.0, &cold.repeat(4))]);
        let point = many.points[1];
        assert_eq!(many.band, Band::Bootstrap);
        assert!(0.5 < point.low && point.low < 0.7 && 0.7 < point.high && point.high < 0.9, "{point:?}");
    }

    #[test]
    fn heat_that_stays_correlates_and_heat_that_turns_over_does_not() {
        let stays: Vec<_> = (1..6).map(|n| piece(10.0, &[f64::from(n), f64::from(2 * n)])).collect();
        assert!((of(&stays).stability.unwrap() - 1.0).abs() < 1e-9);
        let turns: Vec<_> = (1..6).map(|n| piece(10.0, &[f64::from(n), f64::from(6 - n)])).collect();
        assert!((of(&turns).stability.unwrap() + 1.0).abs() < 1e-9);
        assert_eq!(of(&stays[..2]).stability, None);
    }

    proptest! {
        #[test]
        fn the_curve_rises_and_bends_one_way_in_the_ranked_order(
            pieces in proptest::collection::vec((1.0..1e6f64, 0.0..10.0f64, 0.0..10.0f64), 1..30),
        ) {
            let pieces: Vec<_> = pieces.into_iter().map(|(bytes, a, b)| piece(bytes, &[a, b])).collect();
            let points = of(&pieces).points;
            let slope = |pair: &[Point]| (pair[1].saved - pair[0].saved) / (pair[1].bytes - pair[0].bytes);
            let slopes: Vec<f64> = points.windows(2).map(slope).collect();
            prop_assert!(slopes.iter().all(|slope| *slope >= -1e-15));
            prop_assert!(slopes.windows(2).all(|pair| pair[1] <= pair[0] + 1e-9 * slopes[0].max(1e-12)), "{slopes:?}");
            prop_assert!(points.iter().all(|point| point.low <= point.saved && point.saved <= point.high));
            prop_assert!(points[points.len() - 1].saved <= 1.0 + 1e-9);
        }
    }
}
