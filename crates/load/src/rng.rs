//! The random numbers of a load: SplitMix64, so that draw `i` is a function of the seed and of `i`.
//!
//! The one idea: equal seeds give equal bytes on every platform. Logarithms come from `libm`, because the one of the C
//! library differs in the last digit from machine to machine. It is no source of secrets.

/// A stream of random numbers (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
#[derive(Clone, Debug)]
pub(crate) struct SplitMix {
    state: u64,
}

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

impl SplitMix {
    /// The stream of `seed` with the given number; two streams do not overlap within any run.
    pub(crate) fn new(seed: u64, stream: u64) -> SplitMix {
        // Seeds are mixed before use: seeds a multiple of GAMMA apart would otherwise be one sequence, shifted.
        SplitMix { state: mix(mix(seed).wrapping_add(stream.wrapping_mul(0xd134_2543_de82_ef95))) }
    }

    /// An exponential draw with mean 1, at the full precision of its 53 random bits; between 0 and 36.8.
    #[inline]
    pub(crate) fn exponential(&mut self) -> f64 {
        self.state = self.state.wrapping_add(GAMMA);
        // One is added so that the uniform lies in (0, 1]: the logarithm of zero cannot happen.
        let uniform = ((mix(self.state) >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64);
        -libm::log(uniform)
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

    #[test]
    fn the_mix_is_the_published_one() {
        // First outputs of the reference implementation for the state 1234567.
        let mut state = 1_234_567u64;
        let seen: Vec<u64> = (0..3)
            .map(|_| {
                state = state.wrapping_add(GAMMA);
                mix(state)
            })
            .collect();
        assert_eq!(seen, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn exponential_draws_have_mean_one_and_variance_one() {
        let mut rng = SplitMix::new(7, 0);
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
    fn draws_of_a_seed_stay_what_they_are() {
        let draw = |seed, stream| {
            let mut rng = SplitMix::new(seed, stream);
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
