//! Schedules of open loads: exact, free of drift, and the same however many workers share them.

use crate::{ENDLESS, alone, drawn};
use load::{Arrival, Arrivals, Limit, Ramp, Spec, divided, whole};
use proptest::prelude::*;
use units::{Nanos, PerSecond};

fn open(rate: f64, arrivals: Arrivals, slots: u32) -> Spec {
    Spec::Open { rate: PerSecond(rate), arrivals, slots }
}

fn constant(rate: f64) -> impl Iterator<Item = Arrival> {
    drawn(alone(open(rate, Arrivals::Constant, 1), ENDLESS, 0))
}

fn poisson(rate: f64, seed: u64) -> impl Iterator<Item = u64> {
    drawn(alone(open(rate, Arrivals::Poisson, 1), ENDLESS, seed)).map(|arrival| arrival.intended.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_nth_arrival_of_a_whole_rate_is_n_periods_after_the_start(rate in 1u64..50_000_000, first in 0u64..1000) {
        for arrival in constant(rate as f64).skip(first as usize).take(200) {
            prop_assert_eq!(u128::from(arrival.intended.0), u128::from(arrival.n) * 1_000_000_000 / u128::from(rate));
        }
    }

    #[test]
    fn the_nth_arrival_of_a_broken_rate_is_exact_too(parts in 1u64..1_000_000, halvings in 0u32..20) {
        // parts / 2^halvings a second is a number that a floating-point rate holds without rounding.
        let rate = parts as f64 / f64::from(1 << halvings);
        for arrival in constant(rate).take(200) {
            let expected = u128::from(arrival.n) * (1_000_000_000u128 << halvings) / u128::from(parts);
            prop_assert_eq!(u128::from(arrival.intended.0), expected);
        }
    }

    #[test]
    fn a_ramp_lets_arrival_n_come_when_the_growing_rate_has_reached_n(rate in 100u64..1_000_000, over in 1u64..500_000_000) {
        let spec = open(rate as f64, Arrivals::Constant, 1);
        let load = whole(&spec, Ramp { over: Nanos(over) }, ENDLESS, 0, Nanos::ZERO);
        for arrival in drawn(load).take(2_000) {
            let (t, n) = (u128::from(arrival.intended.0), u128::from(arrival.n));
            // Twice the arrivals by time t, times the ramp and a second: rate * t^2 inside the ramp, a line behind it.
            let reached = |t: u128| {
                let over = u128::from(over);
                u128::from(rate) * if t < over { t * t } else { over * (2 * t - over) }
            };
            let asked = 2 * n * u128::from(over) * 1_000_000_000;
            prop_assert!(reached(t) <= asked && asked < reached(t + 1), "arrival {n} at {t}");
        }
    }

    #[test]
    fn workers_share_out_the_same_arrivals(workers in 1u32..8, seed: u64, poisson: bool, ramp_us in 0u64..5_000) {
        let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Constant };
        let spec = open(333_333.3, arrivals, 16);
        let limit = Limit { until: Nanos::MAX, count: Some(500) };
        let of = |workers| {
            let ramp = Ramp { over: Nanos::from_micros(ramp_us) };
            let mut loads: Vec<_> =
                divided(&spec, ramp, limit, seed, Nanos(77), (workers, 16)).into_iter().map(drawn).collect();
            // Round by round, until nobody finds another.
            let mut seen = Vec::new();
            loop {
                let before = seen.len();
                seen.extend(loads.iter_mut().filter_map(Iterator::next).map(|a| (a.n, a.intended)));
                if seen.len() == before {
                    return seen;
                }
            }
        };
        let whole: Vec<_> = of(1);
        prop_assert_eq!(&of(workers), &whole, "in the order of time, whoever asks");
        prop_assert!(whole.iter().map(|(n, _)| *n).eq(0..500));
        prop_assert!(whole.is_sorted_by_key(|(_, intended)| *intended));
    }
}

#[test]
fn poisson_arrivals_at_300_000_a_second_keep_the_mean_within_three_standard_errors() {
    for seed in 0..5 {
        let n = 1_000_000;
        let last = poisson(300_000.0, seed).nth(n - 1).unwrap() as f64;
        let (mean, asked) = (last / n as f64, 1e9 / 300_000.0);
        // The gaps are exponential: the standard error of their mean is the mean over the root of their number.
        assert!((mean - asked).abs() < 3.0 * asked / (n as f64).sqrt(), "seed {seed}: {mean} ns, asked {asked} ns");
    }
}

#[test]
fn poisson_arrivals_are_as_scattered_as_they_should_be() {
    // Counts in equal spans have a variance equal to their mean; 20 000 spans give it to one per cent.
    let (spans, span_ns) = (20_000u64, 100_000);
    let mut counts = vec![0u32; spans as usize];
    for at in poisson(300_000.0, 11).take_while(|at| *at < spans * span_ns) {
        counts[(at / span_ns) as usize] += 1;
    }
    let mean = counts.iter().map(|n| f64::from(*n)).sum::<f64>() / spans as f64;
    let variance = counts.iter().map(|n| (f64::from(*n) - mean).powi(2)).sum::<f64>() / (spans - 1) as f64;
    assert!((variance / mean - 1.0).abs() < 0.04, "{}", variance / mean);
}

#[test]
fn gaps_follow_the_exponential_distribution() {
    // Kolmogorov and Smirnov: at 100 000 draws a distance above 1.63 / sqrt(n) has a chance of one per cent.
    let n = 100_000;
    let mut before = 0;
    let mut gaps: Vec<f64> = poisson(1_000.0, 5)
        .take(n)
        .map(|at| {
            let gap = (at - before) as f64 / 1e6;
            before = at;
            gap
        })
        .collect();
    gaps.sort_by(f64::total_cmp);
    let distance = gaps
        .iter()
        .enumerate()
        .map(|(i, gap)| ((1.0 - (-gap).exp()) - (i as f64 + 0.5) / n as f64).abs())
        .fold(0.0, f64::max);
    assert!(distance < 1.63 / (n as f64).sqrt(), "{distance}");
}

#[test]
fn equal_seeds_give_equal_arrivals_on_every_platform() {
    let seen: Vec<u64> = poisson(1_000_000.0, 42).take(6).collect();
    // Computed apart, from the published SplitMix64 and the logarithm.
    assert_eq!(seen, [486, 1284, 2862, 3779, 4072, 4678]);
    let other: Vec<u64> = poisson(1_000_000.0, 43).take(6).collect();
    assert_ne!(seen, other);
}

#[test]
fn a_rate_that_is_none_brings_no_arrival() {
    for rate in [0.0, -5.0, f64::NAN, f64::NEG_INFINITY, 1e-300] {
        assert_eq!(constant(rate).next(), None, "{rate}");
        assert_eq!(poisson(rate, 1).next(), None, "{rate}");
    }
    // A rate beyond all bounds is held to a thousand a nanosecond.
    assert_eq!(constant(f64::INFINITY).nth(5_000).unwrap().intended, Nanos(5));
}

#[test]
fn nothing_is_due_at_the_end_or_beyond_the_count() {
    let spec = open(1_000.0, Arrivals::Constant, 1);
    let until = drawn(alone(spec, Limit { until: Nanos::from_millis(5), count: None }, 0));
    assert_eq!(until.map(|a| a.intended.0 / 1_000_000).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    let counted = drawn(alone(spec, Limit { until: Nanos::MAX, count: Some(3) }, 0));
    assert_eq!(counted.count(), 3);
}
