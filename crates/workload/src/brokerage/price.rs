//! The price of a security at a moment, as a smooth pure function.
//!
//! The one idea: waves of value noise from months to minutes, in whole numbers, so that the history, the quotes and the
//! transactions of a run know the same price on every machine without keeping any.
//!
//! What it does not do: orders do not move it.

use random::{GOLDEN, below, mix};

/// Length of a wave in microseconds, and how far it bends the price, in millionths.
const WAVES: [(i64, i64); 4] =
    [(60 * 86_400_000_000, 240_000), (5 * 86_400_000_000, 60_000), (5 * 3_600_000_000, 18_000), (420_000_000, 2_500)];

/// The price in cents of a security (from 0) at a moment in microseconds since 1970. Always positive.
pub fn price_cents(seed: u64, security: u64, at_us: i64) -> i64 {
    let key = mix(mix(seed ^ 0x7072_6963_6500).wrapping_add(security.wrapping_mul(GOLDEN)));
    let base = 900 + below(key, 14_100) as i64;
    let bent: i64 =
        WAVES.iter().zip(1u64..).map(|((length, bend), wave)| bend * wave_at(key ^ wave, *length, at_us)).sum();
    base + ((base * (bent >> 16)) + 500_000).div_euclid(1_000_000)
}

/// A wave's height at a moment: -65536 to 65536.
#[inline]
fn wave_at(key: u64, length: i64, at_us: i64) -> i64 {
    let (knot, inside) = (at_us.div_euclid(length), at_us.rem_euclid(length));
    let along = ((inside << 10) / (length >> 6)).min(65_536);
    let eased = (((along * along) >> 16) * (3 * 65_536 - 2 * along)) >> 16;
    let (from, to) = (height(key, knot), height(key, knot + 1));
    from + (((to - from) * eased) >> 16)
}

/// The height of a wave at one of its knots.
#[inline]
fn height(key: u64, knot: i64) -> i64 {
    (mix(key.wrapping_add((knot as u64).wrapping_mul(GOLDEN))) >> 47) as i64 - 65_536
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brokerage::scale::{DAY_US, NOW_US};

    #[test]
    fn a_price_moves_by_little_in_a_minute_and_stays_near_its_base_for_years() {
        for security in 0..200 {
            let mut last = price_cents(7, security, NOW_US);
            let (mut low, mut high) = (last, last);
            for minute in 1..2_000 {
                let price = price_cents(7, security, NOW_US + minute * 60_000_000);
                assert!((price - last).abs() * 100 <= last + 100, "{security}: {last} then {price}");
                last = price;
            }
            for day in 0..1_300 {
                let price = price_cents(7, security, NOW_US - day * 3 * DAY_US);
                (low, high) = (low.min(price), high.max(price));
            }
            assert!(low > 500 && high < 21_000 && high > low, "{security}: {low} to {high}");
        }
    }

    #[test]
    fn prices_follow_the_seed_and_the_security() {
        let prices = |seed| (0..50).map(|security| price_cents(seed, security, NOW_US)).collect::<Vec<_>>();
        assert_eq!(prices(1), prices(1));
        assert_ne!(prices(1), prices(2));
        let mut all = prices(1);
        all.sort_unstable();
        all.dedup();
        assert!(all.len() > 40);
    }
}
