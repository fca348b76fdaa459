//! The random functions of scripts: the distributions of pgbench over a stream of our own.
//!
//! The one idea: the draws of a transaction follow from the seed and the number of its arrival alone, so that a
//! transaction that is tried again draws the same, and any worker draws the same for the same arrival.
//!
//! What it does not do: it does not give pgbench's own numbers for a seed.

use super::fault::Fault;
use crate::block::purpose::Purpose;
use random::{GOLDEN, Zipf, mix};

/// A stream of draws.
#[derive(Clone, Debug)]
pub(super) struct Draws(random::Draws);

/// The laws that were asked for last: scripts draw from the same one again and again.
#[derive(Clone, Debug, Default)]
pub(super) struct Laws {
    zipf: Option<(u64, f64, Zipf)>,
}

impl Draws {
    /// The stream of arrival `n`.
    pub(super) fn of(seed: u64, n: u64) -> Draws {
        Draws(random::Draws::from_state(mix(mix(seed ^ 0x5c71_70f5).wrapping_add(n.wrapping_mul(GOLDEN)))))
    }

    #[inline]
    pub(super) fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// In (0, 1], as the complement of a fraction; not the same numbers as [`random::uniform`].
    fn positive(&mut self) -> f64 {
        1.0 - self.0.fraction()
    }

    /// Every number of the range is as likely.
    #[inline]
    pub(super) fn even(&mut self, range: Range) -> i64 {
        range.at(self.0.below(range.count))
    }

    /// The density falls from the first number to the last by e^-parameter.
    pub(super) fn exponential(&mut self, range: Range, parameter: f64) -> Result<i64, Fault> {
        if parameter <= 0.0 || parameter.is_nan() {
            return Err(Fault::Exponential(parameter));
        }
        let cut = libm::exp(-parameter);
        let share = -libm::log(cut + (1.0 - cut) * self.positive()) / parameter;
        Ok(range.share(share))
    }

    /// A bell over the range, cut off at `parameter` deviations on both sides.
    pub(super) fn gaussian(&mut self, range: Range, parameter: f64) -> Result<i64, Fault> {
        if parameter < 2.0 || parameter.is_nan() {
            return Err(Fault::Gaussian(parameter));
        }
        loop {
            // Box and Muller (1958); the smallest parameter rejects one in twenty.
            let radius = libm::sqrt(-2.0 * libm::log(self.positive()));
            let deviation = radius * libm::sin(2.0 * std::f64::consts::PI * self.positive());
            if (-parameter..parameter).contains(&deviation) {
                return Ok(range.share((deviation + parameter) / (2.0 * parameter)));
            }
        }
    }

    /// The k-th number of the range is drawn in proportion to k^-exponent.
    pub(super) fn zipfian(&mut self, range: Range, exponent: f64, laws: &mut Laws) -> Result<i64, Fault> {
        if !(1.001..=1000.0).contains(&exponent) {
            return Err(Fault::Zipfian(exponent));
        }
        let law = match laws.zipf {
            Some((count, same, law)) if count == range.count && same == exponent => law,
            _ => {
                let law = Zipf::new(range.count, exponent);
                laws.zipf = Some((range.count, exponent, law));
                law
            }
        };
        let draw = self.bits();
        Ok(range.at(law.rank(Purpose::Scatter.lane(draw, 0), 0).min(range.count - 1)))
    }
}

/// A range of whole numbers that is not empty and whose count fits 63 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    from: i64,
    count: u64,
}

impl Range {
    pub(super) fn new(from: i64, to: i64) -> Result<Range, Fault> {
        if from > to {
            return Err(Fault::EmptyRange { from, to });
        }
        let count = to.checked_sub(from).and_then(|width| width.checked_add(1));
        count.map(|count| Range { from, count: count as u64 }).ok_or(Fault::LargeRange { from, to })
    }

    fn at(self, index: u64) -> i64 {
        self.from + index as i64
    }

    /// The number at a share of the range in [0, 1].
    fn share(self, share: f64) -> i64 {
        self.at(((self.count as f64 * share) as u64).min(self.count - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(mut draw: impl FnMut(&mut Draws, Range) -> i64) -> [f64; 10] {
        let range = Range::new(-5, 4).unwrap();
        let mut counts = [0.0; 10];
        for n in 0..100_000 {
            counts[(draw(&mut Draws::of(3, n), range) + 5) as usize] += 1.0;
        }
        counts
    }

    /// 9 degrees of freedom: below 27.9 in 999 of 1000.
    fn fits(seen: [f64; 10], law: [f64; 10]) {
        let whole: f64 = law.iter().sum();
        let chi: f64 = seen.iter().zip(law).map(|(s, p)| (s - p / whole * 1e5).powi(2) / (p / whole * 1e5)).sum();
        assert!(chi < 27.9, "{chi}: {seen:?}");
    }

    #[test]
    fn each_function_follows_its_law() {
        fits(histogram(|draws, range| draws.even(range)), [1.0; 10]);
        let exponential =
            std::array::from_fn(|k| (-2.5 * k as f64 / 10.0).exp() - (-2.5 * (k + 1) as f64 / 10.0).exp());
        fits(histogram(|draws, range| draws.exponential(range, 2.5).unwrap()), exponential);
        let zipf = std::array::from_fn(|k| ((k + 1) as f64).powf(-1.2));
        let mut laws = Laws::default();
        fits(histogram(|draws, range| draws.zipfian(range, 1.2, &mut laws).unwrap()), zipf);
        let edge = |k: usize| libm::erf((k as f64 / 10.0 * 5.0 - 2.5) / std::f64::consts::SQRT_2);
        fits(
            histogram(|draws, range| draws.gaussian(range, 2.5).unwrap()),
            std::array::from_fn(|k| edge(k + 1) - edge(k)),
        );
    }

    #[test]
    fn bounds_and_parameters_are_those_of_pgbench() {
        assert_eq!(Range::new(3, 2), Err(Fault::EmptyRange { from: 3, to: 2 }));
        assert!(matches!(Range::new(0, i64::MAX), Err(Fault::LargeRange { .. })));
        assert!(matches!(Range::new(i64::MIN, 5), Err(Fault::LargeRange { .. })));
        let range = Range::new(1, i64::MAX).unwrap();
        let mut draws = Draws::of(1, 1);
        assert!(draws.even(range) >= 1);
        assert!(draws.gaussian(range, 1.99).is_err() && draws.gaussian(range, 2.0).is_ok());
        assert!(draws.exponential(range, 0.0).is_err() && draws.exponential(range, 0.01).is_ok());
        assert!(draws.zipfian(range, 1.0, &mut Laws::default()).is_err());
        assert!(draws.zipfian(range, 1000.5, &mut Laws::default()).is_err());
        assert_eq!(draws.zipfian(Range::new(7, 7).unwrap(), 1.001, &mut Laws::default()), Ok(7));
    }

    #[test]
    fn the_draws_of_an_arrival_are_always_the_same() {
        let draw = |n| {
            let mut draws = Draws::of(9, n);
            [draws.bits(), draws.bits()]
        };
        assert_eq!(draw(5), draw(5));
        assert_ne!(draw(5), draw(6));
    }

    #[test]
    fn draws_of_a_seed_stay_what_they_are() {
        let (mut draws, range) = (Draws::of(42, 7), Range::new(-1_000_000, 1_000_000).unwrap());
        assert_eq!([draws.bits(), draws.bits()], [8_670_213_738_361_446_655, 14_991_439_124_235_930_092]);
        let seen = [
            draws.even(range),
            draws.exponential(range, 2.5).unwrap(),
            draws.gaussian(range, 2.5).unwrap(),
            draws.zipfian(range, 1.2, &mut Laws::default()).unwrap(),
        ];
        assert_eq!(seen, [-848_455, -822_210, -172_173, -999_958]);
        assert_eq!(draws.positive().to_bits(), 4_600_424_634_224_588_346);
    }
}
