//! The lots of one group of trades: bought, used up oldest or newest first, and what that changed.
//!
//! What it does not do: it does not know how a group came about.

use super::Order;
use super::pattern::GROUP;
use random::below;

/// What a trade did to a lot. A lot is named by the trade that made it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Number of the trade that made the lot.
    pub lot: u64,
    /// Shares in it before.
    pub before: i64,
    /// Shares in it after.
    pub after: i64,
}

/// Shares of one purchase that are still held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lot {
    /// Number of the trade that made it.
    pub trade: u64,
    /// Its account, from 1.
    pub account: u64,
    /// Its security, from 0.
    pub security: u64,
    /// When it was bought, in microseconds since 1970.
    pub at_us: i64,
    /// What a share cost, in cents.
    pub price_cents: i64,
    /// Shares left.
    pub quantity: i64,
}

/// Quantities that are bought.
const QUANTITIES: [i64; 8] = [20, 50, 80, 100, 150, 200, 350, 500];

/// Trades of one account in one security, carried out one after the other; what is said of "the trade" is said of the
/// last one.
#[derive(Debug, Default)]
pub(super) struct Group {
    account: u64,
    security: u64,
    lots: [Lot; GROUP],
    held: usize,
    /// Shares of the trade.
    pub(super) quantity: i64,
    /// What the trade brought above what its shares had cost, in cents.
    pub(super) gain_cents: i64,
    /// Whether the trade uses up the newest lots first.
    pub(super) lifo: bool,
    /// What the trade did to lots.
    pub(super) changes: [Change; GROUP],
    /// How many lots the trade changed.
    pub(super) changed: u8,
}

impl Group {
    pub(super) fn new(account: u64, security: u64) -> Group {
        Group { account, security, ..Group::default() }
    }

    /// The lots that are held, oldest first.
    pub(super) fn lots(&self) -> &[Lot] {
        &self.lots[..self.held]
    }

    pub(super) fn buy(&mut self, order: &Order) {
        self.begin(QUANTITIES[(order.random % 8) as usize], order.random >> 40 & 1 == 1);
        self.lots[self.held] = Lot {
            trade: order.number,
            account: self.account,
            security: self.security,
            at_us: order.completed_us,
            price_cents: order.price_cents,
            quantity: self.quantity,
        };
        self.held += 1;
        self.note(Change { lot: order.number, before: 0, after: self.quantity });
    }

    /// Sells all that is held, or a part of it.
    pub(super) fn sell(&mut self, order: &Order, all: bool) {
        let held: i64 = self.lots().iter().map(|lot| lot.quantity).sum();
        let part = (held * (1 + below(order.random, 3) as i64) / 4).max(1);
        self.begin(if all { held } else { part }, order.random >> 40 & 1 == 1);
        self.use_up(order);
    }

    /// Sells the newest lots first until only a part of the oldest is left.
    pub(super) fn sell_to_one(&mut self, order: &Order) {
        let held: i64 = self.lots().iter().map(|lot| lot.quantity).sum();
        let kept = self.lots[0].quantity * (1 + below(order.random, 3) as i64) / 4;
        self.begin(held - kept, true);
        self.use_up(order);
    }

    fn begin(&mut self, quantity: i64, lifo: bool) {
        (self.quantity, self.lifo, self.gain_cents, self.changed) = (quantity, lifo, 0, 0);
    }

    fn note(&mut self, change: Change) {
        self.changes[usize::from(self.changed)] = change;
        self.changed += 1;
    }

    fn use_up(&mut self, order: &Order) {
        let mut left = self.quantity;
        while left > 0 && self.held > 0 {
            let at = if self.lifo { self.held - 1 } else { 0 };
            let lot = self.lots[at];
            let used = left.min(lot.quantity);
            left -= used;
            self.gain_cents += used * (order.price_cents - lot.price_cents);
            self.note(Change { lot: lot.trade, before: lot.quantity, after: lot.quantity - used });
            self.lots[at].quantity -= used;
            if used == lot.quantity {
                self.lots.copy_within(at + 1..self.held, at);
                self.held -= 1;
            }
        }
    }
}
