//! Random numbers of a model: one stream for each component, so that adding a component disturbs no other.
//!
//! The one idea: SplitMix64 over a seed that is mixed with the component's number, and logarithms from `libm`: equal seeds
//! give equal bytes on every platform. It is no source of secrets.

/// A stream of random numbers (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// The stream of a component under a seed.
    pub fn new(seed: u64, component: u64) -> Random {
        Random { state: mix(mix(seed).wrapping_add(component.wrapping_mul(0xd134_2543_de82_ef95))) }
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        mix(self.state)
    }

    /// Uniform in (0, 1]: its logarithm always exists.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform below `n`; 0 when `n` is 0. The bias is below n / 2^64.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
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

    /// Exponential with mean 1.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.uniform())
    }

    /// Normal with mean 0 and variance 1 (Box and Muller, one of the pair).
    pub fn normal(&mut self) -> f64 {
        libm::sqrt(2.0 * self.exponential()) * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// A time with mean 1 and the given coefficient of variation: fixed at 0, exponential at 1, Erlang between, two
    /// exponentials with balanced means above (Tijms: A First Course in Stochastic Models, appendix B).
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

#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let mut random = Random::new(7, 1);
            let (mean, deviation) = moments(|| random.varied(variation));
            assert!((mean - 1.0).abs() < 0.02, "variation {variation}: mean {mean}");
            assert!((deviation - variation).abs() < 0.03 * variation.max(0.5), "{variation}: {deviation}");
        }
    }

    #[test]
    fn normal_draws_have_mean_zero_and_variance_one() {
        let mut random = Random::new(3, 9);
        let (mean, deviation) = moments(|| random.normal());
        assert!(mean.abs() < 0.01 && (deviation - 1.0).abs() < 0.01, "{mean} {deviation}");
    }

    #[test]
    fn a_component_keeps_its_numbers_whatever_others_draw() {
        let mut alone = Random::new(42, 5);
        let (mut beside, mut other) = (Random::new(42, 5), Random::new(42, 6));
        for _ in 0..100 {
            other.bits();
            assert_eq!(alone.bits(), beside.bits());
        }
    }

    #[test]
    fn numbers_below_a_bound_reach_each_value() {
        let mut random = Random::new(1, 1);
        let mut seen = [0u32; 7];
        (0..7_000).for_each(|_| seen[random.below(7) as usize] += 1);
        assert!(seen.iter().all(|count| (850..1_150).contains(count)), "{seen:?}");
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn draws_of_a_seed_stay_what_they_are() {
        let mut random = Random::new(42, 7);
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
        assert_eq!(Random::new(u64::MAX, 1 << 40).bits(), 2_689_525_443_851_670_644);
    }
}
