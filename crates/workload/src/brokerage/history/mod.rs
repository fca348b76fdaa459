//! Every trade of the history, and what is left of it, as pure functions of their numbers.
//!
//! The one idea: an account trades in blocks that close what they open, so that trade `n` with its gain, its charges and
//! the lots that it used up is found without the trades before it. Any part of any table can be made alone.
//!
//! What it does not do: it makes no rows.

mod lots;
mod pattern;

pub use lots::{Change, Lot};

use super::charges::{exchange_of, tax_status};
use super::codes::basis_points;
use super::scale::{CALENDAR_DAY_US, DAY_US, LAST_DAY, OPENS_US};
use super::{Scale, price_cents};
use lots::Group;
use pattern::{BLOCK, KEPT, Patterns, Place};
use random::{GOLDEN, below, mix};

/// The last minutes of a day, in which nothing new is entered, so that all orders are filled on their day.
const CLOSING_US: i64 = 6 * 60 * 1_000_000;

const MINUTE_US: u64 = 60_000_000;

/// One completed trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trade {
    /// Its number, from 1.
    pub number: u64,
    /// Its account, from 1.
    pub account: u64,
    /// Its security, from 0.
    pub security: u64,
    /// Place of its order type in [`super::charges::ORDER_TYPES`].
    pub order_type: usize,
    /// Whether it sells.
    pub sells: bool,
    /// Whether it waited for its price.
    pub waited: bool,
    /// Shares.
    pub quantity: i64,
    /// When it was entered, in microseconds since 1970.
    pub entered_us: i64,
    /// When it was sent to the market.
    pub submitted_us: i64,
    /// When it was filled.
    pub completed_us: i64,
    /// The price that was asked for, in cents.
    pub bid_cents: i64,
    /// The price of the fill, in cents.
    pub price_cents: i64,
    /// Fee in cents.
    pub fee_cents: i64,
    /// Commission in cents.
    pub commission_cents: i64,
    /// Tax on the gain in cents.
    pub tax_cents: i64,
    /// Whether it is paid from the account's cash.
    pub is_cash: bool,
    /// Whether it uses up the newest lots first.
    pub lifo: bool,
    changes: [Change; pattern::GROUP],
    changed: u8,
}

impl Trade {
    /// What it did to lots: the new one of a purchase, the used ones of a sale.
    pub fn changes(&self) -> &[Change] {
        &self.changes[..usize::from(self.changed)]
    }

    /// What the account gets for it, or pays when negative, in cents: value, fee, commission, and the tax where it is
    /// withheld.
    pub fn amount_cents(&self) -> i64 {
        let (value, charges) = (self.quantity * self.price_cents, self.fee_cents + self.commission_cents);
        let withheld = if tax_status(self.account) == 1 { self.tax_cents } else { 0 };
        if self.sells { value - charges - withheld } else { -value - charges }
    }
}

/// The history of one data set.
#[derive(Clone, Debug)]
pub struct History {
    scale: Scale,
    seed: u64,
    key: u64,
    accounts: u64,
    per_day: u64,
    spacing_us: u64,
    patterns: Patterns,
}

/// What is known of a trade before its group is looked at.
#[derive(Clone, Copy, Debug)]
struct Order {
    number: u64,
    random: u64,
    entered_us: i64,
    submitted_us: i64,
    completed_us: i64,
    waited: bool,
    price_cents: i64,
}

impl History {
    /// The history of a scale and a seed.
    pub fn new(scale: Scale, seed: u64) -> History {
        let per_day = scale.trades().div_ceil(scale.days).max(1);
        let spacing_us = ((DAY_US - CLOSING_US) as u64 / per_day).max(1);
        let (key, accounts) = (mix(seed ^ 0x6869_7374_6f72_7900), scale.accounts());
        History { scale, seed, key, accounts, per_day, spacing_us, patterns: pattern::patterns() }
    }

    /// The scale that it was made for.
    pub fn scale(&self) -> &Scale {
        &self.scale
    }

    /// The seed that it was made for.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What an account (from 1) began with, in cents.
    pub fn opening_cents(&self, account: u64) -> i64 {
        let most = 5_000_000 * self.scale.tier(self.scale.customer_of(account)) as u64;
        (1_000_000 + below(self.draw(account, 0x6f70), most)) as i64
    }

    /// Trade `number` of the history, 1 to [`Scale::trades`].
    pub fn trade(&self, number: u64) -> Trade {
        let (round, account) = ((number - 1) / self.accounts, (number - 1) % self.accounts + 1);
        let (block, at) = (round / BLOCK as u64, (round % BLOCK as u64) as usize);
        let place = self.pattern(account, block)[at];
        let security = self.security(account, block, place.group);
        let (group, order) = match place.sells {
            true => self.group(account, block, &place, security),
            false => self.purchase(account, block, at as u8, security),
        };
        self.charged(account, security, &place, &group, &order)
    }

    /// The lots that an account holds when the history ends, in the order in which they were bought; they replace what
    /// `lots` held.
    pub fn lots(&self, account: u64, lots: &mut Vec<Lot>) {
        lots.clear();
        let rounds = self.scale.trades_of(account);
        for block in 0..rounds.div_ceil(BLOCK as u64) {
            let done = ((rounds - block * BLOCK as u64) as usize).min(BLOCK);
            let pattern = self.pattern(account, block);
            for (at, place) in pattern[..done].iter().enumerate() {
                let later = pattern[at + 1..done].iter().any(|other| other.group == place.group);
                let closed = place.sells && place.last && place.group != KEPT;
                if !later && !closed {
                    let security = self.security(account, block, place.group);
                    lots.extend_from_slice(self.group(account, block, place, security).0.lots());
                }
            }
        }
        lots.sort_unstable_by_key(|lot| lot.trade);
    }

    fn draw(&self, number: u64, purpose: u64) -> u64 {
        mix(self.key.wrapping_add(number.wrapping_mul(GOLDEN)) ^ (purpose << 40))
    }

    fn pattern(&self, account: u64, block: u64) -> &[Place; BLOCK] {
        let random = self.draw((account << 24) + block, 0x7061);
        &self.patterns[below(random, self.patterns.len() as u64) as usize]
    }

    /// The security of a group. Kept groups of an account draw from a dozen securities of one parity; the others from
    /// those of the other parity, each group of a block from its own residues, so that no two open groups share one.
    fn security(&self, account: u64, block: u64, group: u8) -> u64 {
        let (all, kept) = (self.scale.securities(), group == KEPT);
        let parity = (account + u64::from(kept)) % 2;
        let random = if kept {
            let universe = 8 + account % 7;
            self.draw((account << 24) + below(self.draw((account << 24) + block, 0x6b65), universe), 0x6b66)
        } else {
            self.draw((account << 24) + block * 8 + u64::from(group), 0x6368)
        };
        let pairs = (all - parity).div_ceil(2);
        let mut pair = (self.scale.draw_security(random) / 2).min(pairs - 1);
        if !kept {
            pair = pair - pair % 8 + u64::from(group);
            pair -= if pair >= pairs { 8 } else { 0 };
        }
        pair * 2 + parity
    }

    fn order(&self, number: u64, security: u64) -> Order {
        let random = self.draw(number, 0x6f72);
        let (day, place) = ((number - 1) / self.per_day, (number - 1) % self.per_day);
        let midnight = (LAST_DAY - self.scale.days as i64 + day as i64) * CALENDAR_DAY_US;
        let inside = place * self.spacing_us + below(random, self.spacing_us);
        let entered_us = midnight + OPENS_US + inside as i64;
        let waited = random % 10 < 4;
        let wait = if waited { 1_000_000 + below(mix(random), 5 * MINUTE_US) } else { 0 };
        let submitted_us = entered_us + wait as i64;
        let completed_us = submitted_us + 200_000 + (mix(random ^ 1) % 2_800_000) as i64;
        let price_cents = price_cents(self.seed, security, completed_us);
        Order { number, random: mix(random ^ 2), entered_us, submitted_us, completed_us, waited, price_cents }
    }

    /// A group's trades up to one of them, carried out; the order of the last of them.
    fn group(&self, account: u64, block: u64, place: &Place, security: u64) -> (Group, Order) {
        let (pattern, mut group) = (self.pattern(account, block), Group::new(account, security));
        let mut order = self.order_at(account, block, place.members[0], security);
        group.buy(&order);
        for member in &place.members[1..usize::from(place.count)] {
            order = self.order_at(account, block, *member, security);
            let role = &pattern[usize::from(*member)];
            match (role.sells, role.group == KEPT) {
                (false, _) => group.buy(&order),
                (true, true) => group.sell_to_one(&order),
                (true, false) => group.sell(&order, role.last),
            }
        }
        (group, order)
    }

    /// A purchase alone: what was bought before does not matter to it.
    fn purchase(&self, account: u64, block: u64, at: u8, security: u64) -> (Group, Order) {
        let (mut group, order) = (Group::new(account, security), self.order_at(account, block, at, security));
        group.buy(&order);
        (group, order)
    }

    fn order_at(&self, account: u64, block: u64, at: u8, security: u64) -> Order {
        self.order((block * BLOCK as u64 + u64::from(at)) * self.accounts + account, security)
    }

    fn charged(&self, account: u64, security: u64, place: &Place, group: &Group, order: &Order) -> Trade {
        let quantity = group.quantity;
        let customer = self.scale.customer_of(account);
        let tier = self.scale.tier(customer);
        let order_type = order_type(place.sells, order);
        let rate = self.scale.commission_rate(tier, order_type, exchange_of(security), quantity);
        let levies = if tax_status(account) == 0 { 0 } else { self.scale.levies(customer) };
        Trade {
            number: order.number,
            account,
            security,
            order_type,
            sells: place.sells,
            waited: order.waited,
            quantity,
            entered_us: order.entered_us,
            submitted_us: order.submitted_us,
            completed_us: order.completed_us,
            bid_cents: bid(order_type, order),
            price_cents: order.price_cents,
            fee_cents: self.scale.fee_cents(tier, order_type),
            commission_cents: basis_points(quantity * order.price_cents, rate),
            tax_cents: basis_points(group.gain_cents.max(0), levies),
            is_cash: (order.random >> 32) % 100 < 92,
            lifo: group.lifo,
            changes: group.changes,
            changed: group.changed,
        }
    }
}

/// Place of an order's type in the list of order types; half of the sales that wait protect against a fall.
fn order_type(sells: bool, order: &Order) -> usize {
    match (sells, order.waited, order.random >> 63) {
        (false, false, _) => 0,
        (true, false, _) => 1,
        (false, true, _) => 2,
        (true, true, 0) => 3,
        (true, true, _) => 4,
    }
}

/// What was bid: orders that waited were filled at their bid or better.
fn bid(order_type: usize, order: &Order) -> i64 {
    let slack = order.price_cents * (order.random >> 20 & 7) as i64 / 1_000;
    match order_type {
        2 | 4 => order.price_cents + slack,
        3 => order.price_cents - slack,
        _ => order.price_cents,
    }
}

#[cfg(test)]
mod tests;
