//! Zipf's law over any number of ranks without a table.
//!
//! The one idea: rejection-inversion (W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from monotone
//! discrete distributions", ACM TOMACS 6(3), 1996). The law is exact for every n; about 1.1 tries are needed. The
//! logarithms come from `libm`, so that a seed asks for the same blocks on every machine.
//!
//! What it does not do: it knows ranks, not what has them; whoever draws scatters them.

use crate::{Lane, fraction};

/// Draws ranks 1..=n with probability in proportion to rank^-exponent.
#[derive(Clone, Copy, Debug)]
pub struct Zipf {
    n: f64,
    exponent: f64,
    first: f64,
    last: f64,
    surely: f64,
}

impl Zipf {
    /// `n` is at least 1 and the exponent greater than 0; an exponent of 1 is as good as any other.
    pub fn new(n: u64, exponent: f64) -> Zipf {
        let n = n as f64;
        let first = area(1.5, exponent) - 1.0;
        let last = area(n + 0.5, exponent);
        let surely = 2.0 - area_inverse(area(2.5, exponent) - height(2.0, exponent), exponent);
        Zipf { n, exponent, first, last, surely }
    }

    /// The rank, counted from 0, that draw `k` of the lane gives.
    pub fn rank(&self, lane: Lane, k: u64) -> u64 {
        let tries = lane.under(k);
        let mut attempt = 0;
        loop {
            if let Some(rank) = self.attempt(fraction(tries.at(attempt))) {
                return rank as u64 - 1;
            }
            attempt += 1;
        }
    }

    fn attempt(&self, fraction: f64) -> Option<f64> {
        let u = self.last + fraction * (self.first - self.last);
        let x = area_inverse(u, self.exponent);
        let rank = libm::floor(x + 0.5).clamp(1.0, self.n);
        let taken = rank - x <= self.surely || u >= area(rank + 0.5, self.exponent) - height(rank, self.exponent);
        taken.then_some(rank)
    }
}

/// x^-e.
fn height(x: f64, exponent: f64) -> f64 {
    libm::exp(-exponent * libm::log(x))
}

/// The integral of x^-e: (x^(1-e) - 1) / (1-e), and log x where e is 1.
fn area(x: f64, exponent: f64) -> f64 {
    let log = libm::log(x);
    let t = (1.0 - exponent) * log;
    // Near zero the quotient loses its digits; the series keeps them.
    let quotient = if t.abs() > 1e-8 { libm::expm1(t) / t } else { 1.0 + t / 2.0 * (1.0 + t / 3.0 * (1.0 + t / 4.0)) };
    log * quotient
}

fn area_inverse(u: f64, exponent: f64) -> f64 {
    // Rounding may push the argument beyond -1, where the logarithm ends.
    let t = (u * (1.0 - exponent)).max(-1.0);
    let quotient = if t.abs() > 1e-8 { libm::log1p(t) / t } else { 1.0 - t * (1.0 / 2.0 - t * (1.0 / 3.0 - t / 4.0)) };
    libm::exp(u * quotient)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(n: u64, exponent: f64, draws: u64, ranks: usize) -> Vec<f64> {
        let (zipf, lane) = (Zipf::new(n, exponent), Lane::new(3, 0, 5));
        let mut counts = vec![0.0; ranks + 1];
        for k in 0..draws {
            let rank = zipf.rank(lane, k);
            assert!(rank < n);
            counts[(rank as usize).min(ranks)] += 1.0;
        }
        counts
    }

    /// The sum of r^-e for r from `from` to `to`, by summing the head and integrating the tail (Euler-Maclaurin).
    fn harmonic(from: u64, to: u64, exponent: f64) -> f64 {
        let head = to.min(from + 100_000);
        let sum: f64 = (from..=head).map(|r| (r as f64).powf(-exponent)).sum();
        if head == to {
            return sum;
        }
        let (a, b) = (head as f64 + 0.5, to as f64 + 0.5);
        sum + if (exponent - 1.0).abs() < 1e-12 {
            (b / a).ln()
        } else {
            (b.powf(1.0 - exponent) - a.powf(1.0 - exponent)) / (1.0 - exponent)
        }
    }

    #[test]
    fn frequencies_follow_the_law_for_few_and_for_billions_of_ranks() {
        // 21 bins, 20 degrees of freedom: chi-square stays below 45.3 (one in a thousand).
        for (n, exponent) in
            [(25, 0.5), (25, 2.5), (1000, 0.99), (1000, 1.0), (4_000_000_000, 0.99), (4_000_000_000, 1.2)]
        {
            let draws = 200_000;
            let seen = counts(n, exponent, draws, 20);
            let whole = harmonic(1, n, exponent);
            let mut law: Vec<f64> = (1..=20).map(|r| f64::from(r).powf(-exponent) / whole).collect();
            law.push(harmonic(21, n, exponent) / whole);
            let chi_square: f64 =
                seen.iter().zip(&law).map(|(seen, p)| (seen - p * draws as f64).powi(2) / (p * draws as f64)).sum();
            assert!(chi_square < 45.3, "n {n} exponent {exponent}: {chi_square}");
        }
    }

    #[test]
    fn one_rank_is_always_drawn() {
        assert_eq!(counts(1, 0.99, 100, 1), [100.0, 0.0]);
    }

    #[test]
    fn ranks_of_a_seed_stay_what_they_are() {
        let ranks = |n, exponent| {
            let (zipf, lane) = (Zipf::new(n, exponent), Lane::new(42, 1, 5));
            [0, 1, 2, 1 << 50].map(|k| zipf.rank(lane, k))
        };
        assert_eq!(
            [ranks(1_000_000, 0.99), ranks(1_000, 1.0), ranks(4_000_000_000, 1.3)],
            [[0, 714_699, 218, 471], [0, 828, 10, 15], [0, 107_971, 2, 3]]
        );
    }
}
