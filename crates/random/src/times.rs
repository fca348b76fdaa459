//! Draws of times that vary.

use crate::Draws;

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
}
