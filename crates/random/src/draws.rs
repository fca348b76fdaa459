//! Draws one after the other.

/// A sequence of draws: SplitMix64, which passes BigCrush from any state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws {
    state: u64,
}

impl Draws {
    /// The published generator from a state, for one who has mixed it: states a multiple of [`GOLDEN`] apart are one sequence,
    /// shifted.
    #[inline]
    pub const fn from_state(state: u64) -> Draws {
        Draws { state }
    }

    /// The sequence of a seed with a number, for example of a slot or of a component: adding one disturbs no other, and two of
    /// them do not overlap within any run.
    pub const fn numbered(seed: u64, number: u64) -> Draws {
        Draws { state: mix(mix(seed).wrapping_add(number.wrapping_mul(0xd134_2543_de82_ef95))) }
    }

    /// The sequence of a seed for one purpose, which a few numbers name.
    pub fn named(seed: u64, purpose: &[u64]) -> Draws {
        let next =
            |mut draws: Draws, part: &u64| Draws { state: draws.bits() ^ part.wrapping_mul(0xd6e8_feb8_6659_fd93) };
        purpose.iter().fold(Draws { state: seed }, next)
    }

    /// 64 even bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// A number below `n`, as [`below`]: 0 when `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        below(self.bits(), n)
    }

    /// Even in [0, 1), as [`fraction`].
    #[inline]
    pub fn fraction(&mut self) -> f64 {
        fraction(self.bits())
    }

    /// Even in (0, 1], as [`uniform`].
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        uniform(self.bits())
    }

    /// Whether something of probability `p` happens.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        p > 0.0 && self.uniform() <= p
    }

    /// A whole number around a mean: one of the two beside it.
    #[inline]
    pub fn whole(&mut self, mean: f64) -> u32 {
        let below = libm::floor(mean);
        below as u32 + u32::from(self.chance(mean - below))
    }

    /// The numbers below `n` in random order (Fisher and Yates).
    pub fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i as u64 + 1) as usize);
        }
        order
    }
}

// Draws of times that vary.

impl Draws {
    /// Exponential with mean 1, at the full precision of its 53 random bits: between 0 and 36.8.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.uniform())
    }

    /// Normal with mean 0 and variance 1 (Box and Muller, one of the pair).
    #[inline]
    pub fn normal(&mut self) -> f64 {
        libm::sqrt(2.0 * self.exponential()) * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// A time with mean 1 and the given coefficient of variation: fixed at 0, exponential at 1, Erlang between, two
    /// exponentials with balanced means above (Tijms: A First Course in Stochastic Models, appendix B).
    #[inline]
    pub fn varied(&mut self, variation: f64) -> f64 {
        let squared = variation * variation;
        if squared < 1e-4 {
            1.0
        } else if squared < 1.0 {
            self.erlang(squared)
        } else {
            let skew = libm::sqrt((squared - 1.0) / (squared + 1.0));
            let first = 0.5 * (1.0 + skew);
            let chosen = if self.chance(first) { first } else { 1.0 - first };
            self.exponential() / (2.0 * chosen)
        }
    }

    /// A mixture of two Erlang times of k - 1 and k phases with mean 1 and the given squared variation below 1.
    fn erlang(&mut self, squared: f64) -> f64 {
        let phases = libm::ceil(1.0 / squared).max(2.0);
        let root = libm::sqrt((phases * (1.0 + squared) - phases * phases * squared).max(0.0));
        let fewer = (phases * squared - root) / (1.0 + squared);
        let rate = phases - fewer;
        let count = if self.chance(fewer) { phases - 1.0 } else { phases } as u32;
        self.exponentials(count) / rate
    }

    /// The sum of so many exponentials: one logarithm of a product for every sixteen of them, which is far from too small.
    #[inline]
    fn exponentials(&mut self, count: u32) -> f64 {
        let (mut left, mut sum) = (count, 0.0);
        while left > 0 {
            let some = left.min(16);
            sum -= libm::log((0..some).map(|_| self.uniform()).product::<f64>());
            left -= some;
        }
        sum
    }
}

// Sixty-four even bits, and what is made of them.

/// The odd number next to 2^64 divided by the golden ratio: the step of the sequence under SplitMix64.
pub const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads every bit of a number over the answer: the finaliser of SplitMix64, a bijection.
#[inline]
pub const fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Bits brought below `n` without a division; the bias is below n / 2^64. 0 when `n` is 0.
#[inline]
pub const fn below(bits: u64, n: u64) -> u64 {
    ((bits as u128 * n as u128) >> 64) as u64
}

/// Bits as a fraction in [0, 1).
#[inline]
pub fn fraction(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Bits as a fraction in (0, 1]: its logarithm always exists. It is [`fraction`] and one step, not its complement.
#[inline]
pub fn uniform(bits: u64) -> f64 {
    ((bits >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_keeps_its_numbers_whatever_others_draw() {
        let mut alone = Draws::numbered(42, 5);
        let (mut beside, mut other) = (Draws::numbered(42, 5), Draws::numbered(42, 6));
        for _ in 0..100 {
            other.bits();
            assert_eq!(alone.bits(), beside.bits());
        }
    }

    #[test]
    fn numbers_below_a_bound_reach_each_value() {
        let mut random = Draws::numbered(1, 1);
        let mut seen = [0u32; 7];
        (0..7_000).for_each(|_| seen[random.below(7) as usize] += 1);
        assert!(seen.iter().all(|count| (850..1_150).contains(count)), "{seen:?}");
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn draws_of_a_seed_stay_what_they_are() {
        let mut random = Draws::numbered(42, 7);
        assert_eq!([random.bits(), random.bits()], [3_459_522_069_005_073_639, 5_158_599_699_036_310_796]);
        assert_eq!([random.below(1_000_000), random.below(u64::MAX)], [140_552, 11_922_976_323_327_927_080]);
        assert_eq!([random.whole(2.5), random.whole(2.5), random.whole(0.1)], [3, 3, 0]);
        let floats = [random.uniform(), random.exponential(), random.normal()];
        assert_eq!(
            floats.map(f64::to_bits),
            [4_603_230_606_379_460_044, 4_582_506_325_691_883_445, 4_610_282_061_211_343_297]
        );
        let times = [0.001, 0.2, 0.5, 0.9, 1.0, 1.5, 3.0].map(|variation| random.varied(variation));
        assert_eq!(
            times.map(f64::to_bits),
            [
                4_607_182_418_800_017_408,
                4_607_641_368_869_485_298,
                4_609_959_319_270_043_682,
                4_608_330_103_488_935_098,
                4_601_371_433_945_546_136,
                4_603_223_117_813_255_741,
                4_587_274_506_594_055_581
            ]
        );
        assert_eq!([0.1, 0.5, 0.9, 0.0].map(|p| random.chance(p)), [false, true, true, false]);
        assert_eq!(Draws::numbered(u64::MAX, 1 << 40).bits(), 2_689_525_443_851_670_644);
    }

    #[test]
    fn the_generator_is_the_published_one() {
        // First outputs of SplitMix64 from seed 1234567, as in the reference implementation.
        let mut draws = Draws::from_state(1_234_567);
        assert_eq!(draws.bits(), 6_457_827_717_110_365_317);
        assert_eq!(draws.bits(), 3_203_168_211_198_807_973);
        assert_eq!(draws.bits(), 9_817_491_932_198_370_423);
    }

    #[test]
    fn every_order_of_three_is_about_equally_frequent() {
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..6_000 {
            *counts.entry(Draws::named(seed, &[1, 2]).permutation(3)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
    }

    #[test]
    fn named_draws_of_a_seed_stay_what_they_are() {
        let mut draws = Draws::named(42, &[3, 5, u64::MAX]);
        assert_eq!(
            [draws.bits(), draws.below(1_000_000), draws.bits()],
            [1_673_594_834_989_636_407, 435_149, 8_350_771_452_645_526_777]
        );
        assert_eq!(Draws::named(42, &[]).bits(), 13_679_457_532_755_275_413);
        assert_eq!(Draws::named(42, &[1]).permutation(10), [5, 8, 6, 3, 0, 2, 1, 7, 4, 9]);
    }

    fn moments(mut draw: impl FnMut() -> f64) -> (f64, f64) {
        let n = 200_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let value = draw();
            sum += value;
            squares += value * value;
        }
        let mean = sum / f64::from(n);
        (mean, libm::sqrt(squares / f64::from(n) - mean * mean))
    }

    #[test]
    fn times_have_the_mean_and_the_variation_that_were_asked_for() {
        for variation in [0.0, 0.2, 0.5, 0.8, 1.0, 1.5, 3.0] {
            let mut random = Draws::numbered(7, 1);
            let (mean, deviation) = moments(|| random.varied(variation));
            assert!((mean - 1.0).abs() < 0.02, "variation {variation}: mean {mean}");
            assert!((deviation - variation).abs() < 0.03 * variation.max(0.5), "{variation}: {deviation}");
        }
    }

    #[test]
    fn normal_draws_have_mean_zero_and_variance_one() {
        let mut random = Draws::numbered(3, 9);
        let (mean, deviation) = moments(|| random.normal());
        assert!(mean.abs() < 0.01 && (deviation - 1.0).abs() < 0.01, "{mean} {deviation}");
    }

    #[test]
    fn exponential_draws_have_mean_one_and_variance_one() {
        let mut rng = Draws::numbered(7, 0);
        let n = 200_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let x = rng.exponential();
            assert!((0.0..37.0).contains(&x));
            sum += x;
            squares += x * x;
        }
        let mean = sum / f64::from(n);
        // Three standard errors of a mean of 200 000 draws.
        assert!((mean - 1.0).abs() < 3.0 / f64::from(n).sqrt(), "{mean}");
        assert!((squares / f64::from(n) - 2.0).abs() < 0.05);
    }

    #[test]
    fn times_of_a_seed_stay_what_they_are() {
        let draw = |seed, stream| {
            let mut rng = Draws::numbered(seed, stream);
            [(); 3].map(|()| rng.exponential().to_bits())
        };
        assert_eq!(
            [draw(0, 0), draw(42, 0), draw(42, 7), draw(u64::MAX, 1 << 40)],
            [
                [4_593_605_193_562_196_023, 4_605_745_075_951_095_447, 4_615_363_461_659_802_046],
                [4_602_439_534_430_981_534, 4_605_365_359_404_685_489, 4_609_785_396_984_350_934],
                [4_610_216_752_523_134_678, 4_608_417_408_119_067_593, 4_611_515_654_731_520_052],
                [4_611_350_604_373_048_492, 4_574_192_336_501_638_654, 4_604_762_362_394_903_239]
            ]
        );
    }

    #[test]
    fn bits_stay_below_their_bound_and_reach_both_ends() {
        assert_eq!((below(0, 7), below(u64::MAX, 7), below(u64::MAX, 0)), (0, 6, 0));
        assert_eq!((fraction(0), uniform(u64::MAX)), (0.0, 1.0));
        assert!(fraction(u64::MAX) < 1.0 && uniform(0) > 0.0);
    }
}
