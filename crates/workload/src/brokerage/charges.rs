//! What an order costs: the rows of the price lists as functions, so that the history is charged by the rules that the
//! tables state.
//!
//! What it does not do: it charges nothing in a run; transactions read the tables.

use super::codes::{self, LIMIT_BUY, LIMIT_SELL, MARKET_BUY, MARKET_SELL, STOP_LOSS};
use super::{Preset, Scale};

/// All order types; elsewhere an order type is a place in this list.
pub const ORDER_TYPES: [&str; 5] = [MARKET_BUY, MARKET_SELL, LIMIT_BUY, LIMIT_SELL, STOP_LOSS];

/// Exchanges; elsewhere an exchange is a place in this list.
pub const EXCHANGES: [&str; 4] = ["AURORA", "BOREAS", "CORAL", "DELTA"];

/// First and last quantity of each bracket of commissions.
pub const BRACKETS: [(i64, i64); 4] = [(0, 100), (101, 250), (251, 600), (601, 999_999_999)];

/// Levies of the whole country; the others are those of one area.
pub const NATIONAL_LEVIES: u64 = 20;

/// All levies.
pub const LEVIES: u64 = 200;

/// Cents that an order costs by the list of fees.
pub fn listed_fee(tier: i64, order_type: usize) -> i64 {
    [450, 450, 700, 700, 900][order_type] - 100 * (tier - 1)
}

/// Commission by the list of rates, in hundredths of a percent of the value.
pub fn listed_rate(tier: i64, order_type: usize, exchange: usize, bracket: usize) -> i64 {
    52 - 9 * (tier - 1) + 2 * order_type as i64 + 3 * exchange as i64 - 7 * bracket as i64
}

/// The bracket of a quantity, as a place in [`BRACKETS`].
pub fn bracket_of(quantity: i64) -> usize {
    BRACKETS.iter().take_while(|(_, to)| quantity > *to).count().min(BRACKETS.len() - 1)
}

/// A levy (from 0) in hundredths of a percent of a gain.
pub fn levy_rate(levy: u64) -> i64 {
    (if levy < NATIONAL_LEVIES { 1_000 + 60 * levy } else { 3 * (levy - NATIONAL_LEVIES) }) as i64
}

/// The two levies (from 0) that a customer (from 1) pays.
pub fn levies_of(customer: u64) -> [u64; 2] {
    [customer * 7 % NATIONAL_LEVIES, NATIONAL_LEVIES + customer * 11 % (LEVIES - NATIONAL_LEVIES)]
}

/// Exchange of a security (from 0), a place in [`EXCHANGES`].
pub fn exchange_of(security: u64) -> usize {
    (security % 4) as usize
}

/// Whether gains of an account (from 1) are taxed: 0 not, 1 withheld from what is paid out, 2 paid by the customer
/// elsewhere.
pub fn tax_status(account: u64) -> i64 {
    [0, 1, 1, 2, 1, 1, 2, 0, 1, 2][(account % 10) as usize]
}

impl Scale {
    /// Fee of an order in cents.
    pub fn fee_cents(&self, tier: i64, order_type: usize) -> i64 {
        match self.preset {
            Preset::Desk => codes::DESK_FEE_CENTS,
            Preset::House => listed_fee(tier, order_type),
        }
    }

    /// Commission of an order in hundredths of a percent of its value.
    pub fn commission_rate(&self, tier: i64, order_type: usize, exchange: usize, quantity: i64) -> i64 {
        match self.preset {
            Preset::Desk => codes::DESK_COMMISSION_BP,
            Preset::House => listed_rate(tier, order_type, exchange, bracket_of(quantity)),
        }
    }

    /// What a customer (from 1) pays of a gain, in hundredths of a percent.
    pub fn levies(&self, customer: u64) -> i64 {
        match self.preset {
            Preset::Desk => codes::DESK_LEVY_BP,
            Preset::House => levies_of(customer).into_iter().map(levy_rate).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_leave_no_gap_and_every_rate_is_positive() {
        for (quantity, bracket) in [(1, 0), (100, 0), (101, 1), (250, 1), (600, 2), (601, 3), (1_000_000_000, 3)] {
            assert_eq!(bracket_of(quantity), bracket, "{quantity}");
        }
        assert!(BRACKETS.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0));
        for tier in 1..=3 {
            for order_type in 0..5 {
                assert!(listed_fee(tier, order_type) > 0);
                assert!((0..4).all(|bracket| listed_rate(tier, order_type, 0, bracket) > 0));
            }
        }
        assert!((0..LEVIES).all(|levy| (0..5_000).contains(&levy_rate(levy))));
    }
}
