//! How many there are of everything, and who is who: pure arithmetic on numbers, so that a generator of transactions finds
//! valid accounts without asking the database.

use crate::brokerage::scale::LAST_DAY;
use crate::dataset::Indexes;
use crate::kind::{DAYS, INDEXES};
use reading::key::Count;
use reading::{Settings, key};

/// Orders of the night are numbered from here, above all others.
pub const FIRST_ORDER: u64 = 1 << 53;

/// The business day of a run, in days since 1970; the history ends the day before. The data must not depend on the day on
/// which it is made.
pub const TODAY: i64 = LAST_DAY;

/// What an account may have at most in either direction, in cents.
pub const CENTS_MAX: i64 = 1_000_000_000_000_000;

/// Products that customers choose from; then come those of firms and of the bank itself.
pub const PRODUCTS: u64 = 6;

/// The product of firms that many pay, or are paid by.
pub const OF_FIRMS: u64 = PRODUCTS + 1;

/// The product of the bank's own accounts.
pub const OWN: u64 = PRODUCTS + 2;

/// Customers of a bank have so many accounts each.
const ACCOUNTS_OF_CUSTOMER: u64 = 2;

/// Counts of one data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Accounts of customers, numbered from 1. The bank's own accounts follow, one a branch.
    pub accounts: u64,
    /// Days of history, all of one period.
    pub days: u64,
    /// Indexes beside keys.
    pub indexes: Indexes,
}

impl Scale {
    /// The day with which the period of the history begins.
    pub fn first_day(&self) -> i64 {
        TODAY - self.days as i64
    }

    /// Branches: one for about five hundred accounts, 1,000 at most.
    pub fn branches(&self) -> u64 {
        (self.accounts / 500).clamp(2, 1_000)
    }

    /// The branch (from 1) of a customer's account: neighbours share one.
    pub fn branch_of(&self, account: u64) -> u64 {
        1 + (account - 1) * self.branches() / self.accounts
    }

    /// The first account of a branch (from 1); that of the branch after the last is one more than all accounts.
    pub fn first_account(&self, branch: u64) -> u64 {
        1 + ((branch - 1) * self.accounts).div_ceil(self.branches())
    }

    /// The bank's own account in a branch: what customers are credited at night it is debited.
    pub fn own_account(&self, branch: u64) -> u64 {
        self.accounts + branch
    }

    /// Accounts of customers and of the bank.
    pub fn all_accounts(&self) -> u64 {
        self.accounts + self.branches()
    }

    /// Banks of the group.
    pub fn banks(&self) -> u64 {
        self.branches().div_ceil(50)
    }

    /// Customers.
    pub fn customers(&self) -> u64 {
        self.accounts.div_ceil(ACCOUNTS_OF_CUSTOMER)
    }

    /// Whose account (from 1) it is.
    pub fn customer_of(&self, account: u64) -> u64 {
        account.div_ceil(ACCOUNTS_OF_CUSTOMER)
    }

    /// The first account of a customer (from 1).
    pub fn account_of_customer(&self, customer: u64) -> u64 {
        (customer - 1) * ACCOUNTS_OF_CUSTOMER + 1
    }

    /// Hot accounts: of employers, shops and utilities; sixteen for each four thousand accounts.
    pub fn hot_accounts(&self) -> u64 {
        16 * (self.accounts / 4_000).max(1)
    }

    fn hot_stride(&self) -> u64 {
        self.accounts / self.hot_accounts()
    }

    /// The account with a place (from 0) among the hot ones; they lie spread over all branches.
    pub fn hot_account(&self, place: u64) -> u64 {
        1 + place * self.hot_stride()
    }

    /// The place of an account among the hot ones; none for all others.
    pub fn hot_place(&self, account: u64) -> Option<u64> {
        let (place, rest) = ((account - 1) / self.hot_stride(), (account - 1) % self.hot_stride());
        (rest == 0 && place < self.hot_accounts()).then_some(place)
    }

    /// The product (from 1) of an account of a customer.
    pub fn product_of(&self, account: u64) -> u64 {
        if self.hot_place(account).is_some() { OF_FIRMS } else { 1 + random::mix(account) % PRODUCTS }
    }

    /// Standing orders, numbered from 1: one for each four accounts.
    pub fn standing_orders(&self) -> u64 {
        self.accounts / 4
    }

    /// Orders for a day to come: one for each fifty accounts.
    pub fn open_orders(&self) -> u64 {
        self.accounts / 50
    }
}

// What a study may say of a bank, whatever is done there.

key! {
    /// Accounts of customers; everything else scales with them.
    pub ACCOUNTS "accounts": Count = Count { min: 1_000, max: 100_000_000 }, Is("20000")
}

/// The bank that these settings ask for.
pub(super) fn scale(settings: &mut dyn Settings) -> Scale {
    let (accounts, indexes) = (settings.get(&ACCOUNTS), settings.get(&INDEXES));
    Scale { accounts, days: settings.given(&DAYS).unwrap_or(20), indexes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_divide_all_accounts_among_them() {
        for accounts in [1_000, 1_001, 20_000, 777_777] {
            let scale = Scale { accounts, days: 20, indexes: Indexes::Usual };
            assert_eq!((scale.first_account(1), scale.first_account(scale.branches() + 1)), (1, accounts + 1));
            for branch in 1..=scale.branches() {
                let (first, end) = (scale.first_account(branch), scale.first_account(branch + 1));
                assert!(first < end);
                assert_eq!((scale.branch_of(first), scale.branch_of(end - 1)), (branch, branch));
            }
        }
    }

    #[test]
    fn hot_accounts_know_their_places_and_customers_their_accounts() {
        let scale = Scale { accounts: 9_001, days: 20, indexes: Indexes::Usual };
        let hot: Vec<u64> = (1..=scale.accounts).filter(|account| scale.hot_place(*account).is_some()).collect();
        assert_eq!(hot, (0..scale.hot_accounts()).map(|place| scale.hot_account(place)).collect::<Vec<_>>());
        for account in 1..=scale.accounts {
            let customer = scale.customer_of(account);
            assert!(customer <= scale.customers() && scale.account_of_customer(customer).abs_diff(account) < 2);
        }
    }
}
