//! Who is asked for most: customers and securities are not drawn evenly.
//!
//! The one idea: a draw is a function of 64 random bits. Half of all draws of a customer fall on an eighth of the
//! decades of customers, scattered over the data set, and inside a decade higher tiers are favoured; securities that
//! come early are favoured alike.
//!
//! What it does not do: it keeps no state, and holds no random numbers of its own.

use super::Scale;
use random::{fraction, mix};

/// Tiers of each ten customers in turn; those with many accounts have the higher ones.
const TIERS: [u8; 10] = [2, 1, 3, 2, 2, 1, 3, 2, 2, 2];

/// Digits of a decade, each as often as its tier deserves: tier 2 twice and tier 3 four times as often as tier 1.
const FAVOURED: [u8; 22] = [0, 0, 1, 2, 2, 2, 2, 3, 3, 4, 4, 5, 6, 6, 6, 6, 7, 7, 8, 8, 9, 9];

/// A prime above any count of decades, so that its multiples visit each decade once.
const STRIDE: u64 = 2_147_483_647;

impl Scale {
    /// Tier of a customer (from 1): 1 to 3, 3 the best served.
    pub fn tier(&self, customer: u64) -> i64 {
        i64::from(TIERS[((customer - 1) % 10) as usize])
    }

    /// A customer (from 1) for 64 random bits: higher tiers and a hot subset are favoured.
    pub fn draw_customer(&self, random: u64) -> u64 {
        let decades = self.customers.div_ceil(10);
        let decade = (skewed(random, decades) * (STRIDE % decades).max(1) + decades / 3) % decades;
        let digit = FAVOURED[(mix(random ^ 0x6375_7374) % 22) as usize];
        (decade * 10 + u64::from(digit)).min(self.customers - 1) + 1
    }

    /// A security (from 0) for 64 random bits: the earlier are favoured.
    pub fn draw_security(&self, random: u64) -> u64 {
        skewed(random, self.securities())
    }
}

/// A number below `n`; the lower are likelier, half of all draws in the first eighth.
fn skewed(random: u64, n: u64) -> u64 {
    let even = fraction(random);
    ((even * even * even * n as f64) as u64).min(n - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brokerage::Preset;

    fn draws(customers: u64, draw: fn(&Scale, u64) -> u64) -> Vec<u64> {
        let scale = Scale { preset: Preset::Desk, customers, days: 1 };
        (0..100_000).map(|n| draw(&scale, mix(n))).collect()
    }

    #[test]
    fn customers_of_higher_tiers_are_drawn_more_often() {
        let scale = Scale { preset: Preset::Desk, customers: 1_000, days: 1 };
        let mut drawn = [0f64; 4];
        for customer in draws(1_000, Scale::draw_customer) {
            drawn[scale.tier(customer) as usize] += 1.0;
        }
        let each = [0.0, drawn[1] / 200.0, drawn[2] / 600.0, drawn[3] / 200.0];
        assert!((1.8..2.2).contains(&(each[2] / each[1])), "{each:?}");
        assert!((3.6..4.4).contains(&(each[3] / each[1])), "{each:?}");
    }

    #[test]
    fn every_decade_and_every_security_can_be_drawn_and_half_of_the_draws_fall_on_an_eighth() {
        for customers in [10, 13, 97, 1_000] {
            let customer = draws(customers, Scale::draw_customer);
            assert!(customer.iter().all(|customer| (1..=customers).contains(customer)));
            let mut counts = vec![0u32; customers.div_ceil(10) as usize];
            customer.iter().for_each(|customer| counts[((customer - 1) / 10) as usize] += 1);
            assert!(counts.iter().all(|count| *count > 0), "{customers}");
        }
        let securities = draws(1_000, Scale::draw_security);
        let early = securities.iter().filter(|security| **security < 685 / 8).count();
        assert!((47_000..53_000).contains(&early), "{early}");
        assert_eq!(securities.iter().max(), Some(&684));
    }
}
