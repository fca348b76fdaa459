//! When the arrivals of an open load are due.
//!
//! The one idea: an arrival is a position on a line of *work*, the time it would take at the full rate, and the ramp
//! bends work into time. Positions are exact: a constant rate is a fraction of whole numbers, a Poisson gap keeps 32
//! binary digits below the nanosecond, so that nothing is truncated away and no rate drifts. Nothing is stored for an
//! arrival that has not come yet.
//!
//! What it does not do: it knows no slots and never looks at what the system does.

use crate::{Arrivals, Limit, Ramp};
use random::Draws;
use units::{Nanos, PerSecond};

/// The arrivals of a stream, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// When the next arrival is due; the end of time when there is none.
    pub(crate) at: u64,
    /// Its number in the stream.
    pub(crate) n: u64,
    limit: Limit,
    start: u64,
    gaps: Gaps,
}

#[derive(Clone, Debug)]
enum Gaps {
    Constant(Constant),
    Poisson(Poisson),
    /// A rate that is no number, zero or below, or a load without slots.
    Never,
}

impl Schedule {
    pub(crate) fn new(
        PerSecond(rate): PerSecond,
        arrivals: Arrivals,
        ramp: Ramp,
        limit: Limit,
        seed: u64,
        start: Nanos,
    ) -> Schedule {
        let gaps = if rate.is_nan() || rate <= RATE_MIN {
            Gaps::Never
        } else {
            match arrivals {
                Arrivals::Constant => Gaps::Constant(Constant::new(rate.min(RATE_MAX), ramp)),
                Arrivals::Poisson => Gaps::Poisson(Poisson::new(rate.min(RATE_MAX), ramp, seed)),
            }
        };
        let mut schedule = Schedule { at: u64::MAX, n: 0, limit, start: start.0, gaps };
        schedule.draw();
        schedule
    }

    /// No arrival at all.
    pub(crate) fn never() -> Schedule {
        let limit = Limit { until: Nanos::ZERO, count: None };
        Schedule { at: u64::MAX, n: 0, limit, start: 0, gaps: Gaps::Never }
    }

    /// Goes on to the arrival after.
    #[inline]
    pub(crate) fn advance(&mut self) {
        self.n += 1;
        self.draw();
    }

    #[inline]
    fn draw(&mut self) {
        let after = match &mut self.gaps {
            Gaps::Constant(constant) => constant.at(self.n),
            Gaps::Poisson(poisson) => poisson.next(),
            Gaps::Never => u64::MAX,
        };
        let at = self.start.saturating_add(after);
        let over = at >= self.limit.until.0 || self.limit.count.is_some_and(|count| self.n >= count);
        self.at = if over { u64::MAX } else { at };
    }
}

/// Rates below one arrival in a thousand years are no load.
const RATE_MIN: f64 = 3e-11;
/// A thousand arrivals a nanosecond: beyond any machine, and within the whole numbers used here.
const RATE_MAX: f64 = 1e12;

/// Arrivals at equal distances. Arrival `n` is due at the whole part of `n` periods, whatever came before.
#[derive(Clone, Debug)]
struct Constant {
    /// The period in nanoseconds is `numerator / denominator`, exactly.
    numerator: u128,
    denominator: u64,
    ramp_ns: u64,
    /// Whether the arrivals are past the ramp, where one follows from the last by addition.
    steady: bool,
    /// Position of the next arrival in nanoseconds: `whole + rest / (2 * denominator)`. The factor of two is there
    /// because the ramp costs half its length.
    whole: u64,
    rest: u64,
    /// What an arrival adds to the position.
    whole_step: u64,
    rest_step: u64,
}

impl Constant {
    fn new(rate: f64, ramp: Ramp) -> Constant {
        let (numerator, denominator) = period(rate);
        let step = numerator.saturating_mul(2);
        let unit = 2 * u128::from(denominator);
        Constant {
            numerator,
            denominator,
            ramp_ns: ramp.over.0,
            steady: false,
            whole: 0,
            rest: 0,
            whole_step: clamp(step / unit),
            rest_step: clamp(step % unit),
        }
    }

    #[inline]
    fn at(&mut self, n: u64) -> u64 {
        if !self.steady {
            return self.find(n);
        }
        // A long addition with a carry: no rounding happens, so none can add up.
        self.whole = self.whole.saturating_add(self.whole_step);
        self.rest += self.rest_step;
        let unit = 2 * self.denominator;
        if self.rest >= unit {
            self.rest -= unit;
            self.whole = self.whole.saturating_add(1);
        }
        self.whole
    }

    /// Arrival `n` without its forerunners.
    fn find(&mut self, n: u64) -> u64 {
        let denominator = u128::from(self.denominator);
        let Some(work) = u128::from(n).checked_mul(self.numerator) else { return u64::MAX };
        let (whole, rest) = (work / denominator, work % denominator);
        if 2 * whole < u128::from(self.ramp_ns) {
            // Work is time squared over twice the ramp. The fraction is carried through the product, so that the
            // whole root is that of the exact position.
            let double = 2 * u128::from(self.ramp_ns);
            return clamp((double * whole + double * rest / denominator).isqrt());
        }
        self.steady = true;
        // Twice the position, in parts of the denominator, has no halves: 2 * (work + ramp / 2).
        let whole = 2 * whole + u128::from(self.ramp_ns);
        self.whole = clamp(whole / 2);
        self.rest = clamp((whole % 2) * denominator + 2 * rest);
        if self.rest >= 2 * self.denominator {
            self.rest -= 2 * self.denominator;
            self.whole += 1;
        }
        self.whole
    }
}

/// The period of a rate in nanoseconds as a fraction: a floating-point number *is* a whole number times a power of two.
fn period(rate: f64) -> (u128, u64) {
    let bits = rate.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as i32 - 1075;
    let mut mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
    let zeros = mantissa.trailing_zeros();
    mantissa >>= zeros;
    exponent += zeros as i32;
    // With rates between RATE_MIN and RATE_MAX neither shift leaves its type: 2^-87 and 2^40 are the extremes.
    if exponent < 0 { (1_000_000_000u128 << -exponent, mantissa) } else { (1_000_000_000, mantissa << exponent) }
}

/// Binary digits kept below the nanosecond.
const FRACTION_BITS: u32 = 32;

/// Gaps below this, 2^63 units, fit a machine word.
const GAP_SHORT: f64 = (1u64 << 63) as f64;

/// Independent arrivals: the gaps are exponential.
#[derive(Clone, Debug)]
struct Poisson {
    rng: Draws,
    /// The mean gap in units of `2^-FRACTION_BITS` nanoseconds.
    mean: f64,
    /// Position of the next arrival on the line of work, in the same units.
    work: u128,
    ramp_ns: u64,
}

impl Poisson {
    fn new(rate: f64, ramp: Ramp, seed: u64) -> Poisson {
        let mean = 1e9 / rate * (1u64 << FRACTION_BITS) as f64;
        Poisson { rng: Draws::numbered(seed, 0), mean, work: 0, ramp_ns: ramp.over.0 }
    }

    /// Draws a gap and gives the arrival at its end.
    #[inline]
    fn next(&mut self) -> u64 {
        let gap = self.rng.exponential() * self.mean;
        // The short road holds for every rate above nine a second, and saves the call of a library.
        self.work += if gap < GAP_SHORT { u128::from(gap as u64) } else { gap as u128 };
        if self.ramp_ns == 0 { clamp(self.work >> FRACTION_BITS) } else { self.bent() }
    }

    fn bent(&self) -> u64 {
        let ramp = u128::from(self.ramp_ns);
        if self.work >> (FRACTION_BITS - 1) < ramp {
            // Below the border the product is under the square of the ramp: 2^126 for a ramp of 39 hours.
            clamp(((2 * ramp * self.work) >> FRACTION_BITS).isqrt())
        } else {
            clamp((self.work + (ramp << (FRACTION_BITS - 1))) >> FRACTION_BITS)
        }
    }
}

#[inline]
fn clamp(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_rate_has_not_drifted_after_a_thousand_million_arrivals() {
        for rate in [300_000u64, 999_983, 7] {
            let mut gaps = Constant::new(rate as f64, Ramp::default());
            let exact = |n: u64| (u128::from(n) * 1_000_000_000 / u128::from(rate)) as u64;
            assert_eq!(gaps.at(1_000_000_000 - 1), exact(1_000_000_000 - 1), "found without its forerunners");
            for n in 1_000_000_000..1_000_100_000 {
                assert_eq!(gaps.at(n), exact(n), "arrival {n} at {rate}/s, by addition to the last");
            }
        }
    }
}
