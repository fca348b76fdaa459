//! How many there are of everything, and what the fill makes of each: pure arithmetic on numbers.
//!
//! The one idea: every customer has one order and one payment of the past, so that all sums follow from one number without a search.

use crate::brokerage::names::{self, push_last};
use random::{below, mix};

/// Districts of a depot, and customers of a district, each with one order of the past.
pub(super) const DISTRICTS: u64 = 10;
pub(super) const CUSTOMERS: u64 = 300;
/// The last orders of each district are not delivered yet.
pub(super) const QUEUED: u64 = 60;
/// Articles, all of which each depot has in stock.
pub(super) const ARTICLES: u64 = 10_000;
/// Groups of customers with prices of their own.
pub(super) const GROUPS: u64 = 5;
/// Lines of an order: from the one to below the sum.
pub(super) const LINES: (u64, u64) = (5, 10);

/// A wholesaler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct House {
    /// Depots, numbered from 1.
    pub depots: u64,
}

/// An order of the past.
#[derive(Clone, Copy, Debug)]
pub(super) struct Past {
    pub(super) id: u64,
    pub(super) district: u64,
    pub(super) number: u64,
    pub(super) customer: u64,
    pub(super) lines: u64,
}

impl House {
    pub(super) fn districts(&self) -> u64 {
        self.depots * DISTRICTS
    }

    pub(super) fn customers(&self) -> u64 {
        self.districts() * CUSTOMERS
    }

    /// Orders of a run are numbered from here, and its payments.
    pub(super) fn first_new(&self) -> u64 {
        (self.customers() / 1_000_000 + 1) * 1_000_000
    }

    /// The order of the past with a number among all, from 1: ids follow time.
    pub(super) fn past(&self, id: u64) -> Past {
        let (number, district) = ((id - 1) / self.districts() + 1, (id - 1) % self.districts() + 1);
        let customer = (district - 1) * CUSTOMERS + (7 * number + district) % CUSTOMERS + 1;
        Past { id, district, number, customer, lines: LINES.0 + (number + district) % LINES.1 }
    }

    /// That of a customer: 7 times 43 is one more than the customers of a district.
    pub(super) fn past_of(&self, customer: u64) -> Past {
        let (district, place) = ((customer - 1) / CUSTOMERS + 1, (customer - 1) % CUSTOMERS);
        let number = (place + CUSTOMERS * 2 - district % CUSTOMERS) * 43 % CUSTOMERS;
        let number = if number == 0 { CUSTOMERS } else { number };
        self.past((number - 1) * self.districts() + district)
    }

    /// What a customer has paid, in cents.
    pub(super) fn paid(customer: u64) -> u64 {
        1_000 + below(mix(customer ^ 0x7061_6964), 9_000)
    }
}

impl Past {
    pub(super) fn open(&self) -> bool {
        self.number > CUSTOMERS - QUEUED
    }

    /// The article of a line (from 1), how many of it, and the amount in cents.
    pub(super) fn line(&self, line: u64) -> [u64; 3] {
        let random = mix(self.id << 8 | line);
        let (article, quantity) = (1 + random % ARTICLES, 1 + (random >> 32) % 10);
        [article, quantity, quantity * price(group(self.customer), article)]
    }

    /// The tax on it in cents, and the sum of its lines with that.
    pub(super) fn tax_and_total(&self) -> (u64, u64) {
        let sum: u64 = (1..=self.lines).map(|line| self.line(line)[2]).sum();
        let tax = sum * tax_bp(self.district) / 10_000;
        (tax, sum + tax)
    }
}

/// The group of a customer.
pub(super) fn group(customer: u64) -> u64 {
    customer % GROUPS
}

/// What an article costs a group, in cents.
pub(super) fn price(group: u64, article: u64) -> u64 {
    list_price(article) * (100 - 2 * group) / 100
}

/// What it costs others.
pub(super) fn list_price(article: u64) -> u64 {
    100 + below(mix(article ^ 0x7072_6963), 20_000)
}

/// The tax in a district, that of its depot included.
pub(super) fn tax_bp(district: u64) -> u64 {
    depot_tax_bp(depot_of(district)) + district_tax_bp(district)
}

pub(super) fn depot_tax_bp(depot: u64) -> u64 {
    500 + depot % 7 * 50
}

pub(super) fn district_tax_bp(district: u64) -> u64 {
    district % 9 * 25
}

/// The depot of a district.
pub(super) fn depot_of(district: u64) -> u64 {
    (district - 1) / DISTRICTS + 1
}

/// The last name of a customer; a few of a district share one.
pub(super) fn last_name(customer: u64) -> String {
    let mut name = String::new();
    push_last(customer, &mut name);
    name
}

/// A town.
pub(super) fn push_town(number: u64, to: &mut String) {
    names::push_town(mix(number) % names::AREAS, to);
}
