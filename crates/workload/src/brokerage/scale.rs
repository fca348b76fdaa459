//! How many there are of everything, and who is who: pure arithmetic on numbers, so that a generator of transactions finds
//! valid customers, accounts and symbols without asking the database.

use super::{Preset, Spec, names};
use crate::kind::numbers::{share_at, skewed};
use random::mix;

/// Accounts of each ten customers in turn: 1 to 9, 5 on average.
const ACCOUNTS: [u64; 10] = [5, 1, 9, 3, 7, 2, 8, 4, 6, 5];

/// Trades that were completed per customer and day of history.
const TRADES_PER_CUSTOMER_DAY: f64 = 57.6;

/// Microseconds of a day of the calendar.
pub const CALENDAR_DAY_US: i64 = 86_400_000_000;

/// Microseconds of a trading day: eight hours.
pub const DAY_US: i64 = 8 * 3600 * 1_000_000;

/// The day on which the history of every data set ends, in days since 1970: 2026-01-01. The data must not depend on the
/// day on which it is made.
pub const LAST_DAY: i64 = 20_454;

/// Days of prices before [`LAST_DAY`] that `daily_price` holds for each security.
pub const PRICE_DAYS: i64 = 1_250;

/// Microseconds after midnight at which a trading day begins.
pub const OPENS_US: i64 = 9 * 3600 * 1_000_000;

/// Microseconds since 1970 at which the history ends and the transactions of a run begin.
pub const NOW_US: i64 = LAST_DAY * CALENDAR_DAY_US;

/// Counts and names of one data set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scale {
    /// Which shape.
    pub preset: Preset,
    /// Customers.
    pub customers: u64,
    /// Days of history.
    pub days: u64,
}

impl Scale {
    /// The scale of a spec.
    pub fn of(spec: &Spec) -> Scale {
        Scale { preset: spec.preset, customers: spec.customers.max(10), days: spec.days.max(1) }
    }

    /// Accounts of all customers.
    pub fn accounts(&self) -> u64 {
        self.first_account(self.customers + 1) - 1
    }

    /// How many accounts a customer (from 1) has.
    pub fn accounts_of(&self, customer: u64) -> u64 {
        ACCOUNTS[((customer - 1) % 10) as usize]
    }

    /// A customer's first account; the others follow it.
    pub fn first_account(&self, customer: u64) -> u64 {
        let (tens, rest) = ((customer - 1) / 10, ((customer - 1) % 10) as usize);
        1 + tens * 50 + ACCOUNTS[..rest].iter().sum::<u64>()
    }

    /// Whose account (from 1) it is.
    pub fn customer_of(&self, account: u64) -> u64 {
        let (tens, rest) = ((account - 1) / 50, (account - 1) % 50);
        tens * 10 + 1 + share_at(rest, ACCOUNTS).map_or(ACCOUNTS.len() as u64, |place| place as u64)
    }

    /// Brokers: one for each hundred customers.
    pub fn brokers(&self) -> u64 {
        self.customers.div_ceil(100)
    }

    /// The broker (from 1) of an account: neighbours have different ones.
    pub fn broker_of(&self, account: u64) -> u64 {
        1 + account % self.brokers()
    }

    /// Companies: 500 for each 1,000 customers, 20 at least.
    pub fn companies(&self) -> u64 {
        (self.customers / 2).max(20)
    }

    /// Securities: 685 for each 1,000 customers, one a company at least.
    pub fn securities(&self) -> u64 {
        (self.customers * 685 / 1000).max(self.companies())
    }

    /// The symbol of a security, counted from 0: letters only, at least three, different for each.
    pub fn symbol(&self, security: u64) -> String {
        let mut text = String::new();
        self.push_symbol(security, &mut text);
        text
    }

    /// Adds the symbol of a security to a text, without memory of its own.
    pub fn push_symbol(&self, security: u64, to: &mut String) {
        let mut digits = 3;
        while security >= 26u64.pow(digits) {
            digits += 1;
        }
        for place in (0..digits).rev() {
            to.push(char::from(b'A' + (security / 26u64.pow(place) % 26) as u8));
        }
    }

    /// The tax number of a customer (from 1), different for each.
    pub fn tax_id(&self, customer: u64) -> String {
        let mut text = String::new();
        self.push_tax_id(customer, &mut text);
        text
    }

    /// Adds the tax number of a customer to a text, without memory of its own.
    pub fn push_tax_id(&self, customer: u64, to: &mut String) {
        to.push('T');
        names::push_padded(customer * 618_033_989 % 1_000_000_000, 9, to);
    }

    /// The company (from 1) of a security.
    pub fn company_of(&self, security: u64) -> u64 {
        1 + security % self.companies()
    }

    /// Trades in the history, all completed. They are numbered from 1 in the order of time.
    pub fn trades(&self) -> u64 {
        ((self.customers * self.days) as f64 * TRADES_PER_CUSTOMER_DAY) as u64
    }

    /// Number of an account's (from 1) trade in a round (from 0): every account trades once a round, so that numbers follow
    /// time and an account's trades are found without a search.
    pub fn trade_number(&self, account: u64, round: u64) -> u64 {
        round * self.accounts() + account
    }

    /// How many trades of the history an account has; the last round may end early.
    pub fn trades_of(&self, account: u64) -> u64 {
        let accounts = self.accounts();
        self.trades() / accounts + u64::from(account <= self.trades() % accounts)
    }

    /// Trades of a run are numbered from here, each worker of it from a place of its own, so that the ledger knows a
    /// trade's number before the database does.
    pub fn first_new_trade(&self) -> u64 {
        (self.trades() / 1_000_000 + 1) * 1_000_000
    }
}

// Who is asked for most: customers and securities are not drawn evenly.
//
// The one idea: a draw is a function of 64 random bits. Half of all draws of a customer fall on an eighth of the
// decades of customers, scattered over the data set, and inside a decade higher tiers are favoured; securities that
// come early are favoured alike.
//
// What it does not do: it keeps no state, and holds no random numbers of its own.

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brokerage::Preset;

    const SCALE: Scale = Scale { preset: Preset::House, customers: 1_000, days: 10 };

    #[test]
    fn customers_and_accounts_find_each_other() {
        assert_eq!(SCALE.accounts(), 5_000);
        for customer in 1..=1_000 {
            let first = SCALE.first_account(customer);
            for account in first..first + SCALE.accounts_of(customer) {
                assert_eq!(SCALE.customer_of(account), customer);
            }
        }
    }

    #[test]
    fn symbols_differ_and_counts_follow_the_customers() {
        let symbols: std::collections::HashSet<String> = (0..20_000).map(|n| SCALE.symbol(n)).collect();
        assert_eq!(symbols.len(), 20_000);
        for security in (0..500_000).step_by(7) {
            let (mut letters, mut rest) = (Vec::new(), security);
            while rest > 0 || letters.len() < 3 {
                letters.push(b'A' + (rest % 26) as u8);
                rest /= 26;
            }
            letters.reverse();
            assert_eq!(SCALE.symbol(security).as_bytes(), letters);
        }
        assert_eq!((SCALE.brokers(), SCALE.companies(), SCALE.securities()), (10, 500, 685));
        assert_eq!(SCALE.trades(), 576_000);
        assert!(SCALE.first_new_trade() > SCALE.trades());
    }

    #[test]
    fn every_trade_of_the_history_belongs_to_one_round_of_one_account() {
        for (customers, days) in [(10, 1), (13, 2), (1_000, 10)] {
            let scale = Scale { preset: Preset::Desk, customers, days };
            for number in 1..=scale.trades() {
                let (account, round) = ((number - 1) % scale.accounts() + 1, (number - 1) / scale.accounts());
                assert_eq!(scale.trade_number(account, round), number);
                assert!(round < scale.trades_of(account), "{number}");
            }
            assert_eq!((1..=scale.accounts()).map(|account| scale.trades_of(account)).sum::<u64>(), scale.trades());
        }
    }

    #[test]
    fn tax_numbers_differ() {
        let all: std::collections::HashSet<String> = (1..=50_000).map(|customer| SCALE.tax_id(customer)).collect();
        assert_eq!(all.len(), 50_000);
    }

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
