//! Every item of the history as a function of its account.
//!
//! The one idea: the history goes in rounds, in which each account has one posting. In a round of peers, accounts are paired by
//! subtraction from a number of the round, which leads back when it is done twice. In a round of firms each account pays, or
//! is paid by, the firm that its number and the round lead to; the firm finds its accounts by the same arithmetic. So both
//! sides of a posting are made alone, and double entry holds by construction.
//!
//! What it does not do: it makes no rows.

use super::scale::{Scale, TODAY};
use random::{GOLDEN, below, mix};

/// Rounds of twenty days.
const ROUNDS: u64 = 12;

/// In which rounds of twenty days firms take part: seven of twelve, so that most postings meet one of them. Salaries come in the
/// first.
const OF_FIRMS: [bool; ROUNDS as usize] = [true, false, true, false, true, true, false, true, false, true, false, true];

/// Which of sixteen firms each sixty-fourth of the accounts meets: half of all postings fall on the first four.
const FIRM: [u8; 64] = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3,
    3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 9, 9, 10, 11, 12, 13, 14, 15,
];

/// How far the firms move on from round to round.
const STEP: u64 = 7_919;

/// One side of a posting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Whose it is.
    pub account: u64,
    /// The other side.
    pub contra: u64,
    /// The order that both belong to.
    pub order: u64,
    /// When it was posted.
    pub posted_day: i64,
    /// From when on it counts.
    pub value_day: i64,
    /// Cents; negative on the side that pays.
    pub cents: i64,
    /// What it is.
    pub kind: &'static str,
}

/// The history of one data set.
#[derive(Clone, Copy, Debug)]
pub struct History {
    scale: Scale,
    key: u64,
}

impl History {
    /// The history of a scale and a seed.
    pub fn new(scale: Scale, seed: u64) -> History {
        History { scale, key: mix(seed ^ 0x6261_6e6b) }
    }

    /// The scale that it was made for.
    pub fn scale(&self) -> &Scale {
        &self.scale
    }

    /// How many rounds there are.
    pub fn rounds(&self) -> u64 {
        (self.scale.days * ROUNDS / 20).max(1)
    }

    /// The greatest number of an order of the history.
    pub fn last_order(&self) -> u64 {
        self.rounds() * self.scale.accounts
    }

    /// Orders of a run are numbered from here, so that the ledger knows an order's number before the database does.
    pub fn first_order_of_day(&self) -> u64 {
        ((self.last_order() + self.scale.open_orders()) / 1_000_000 + 1) * 1_000_000
    }

    /// From this number on orders are kept: those of the last round. Older ones are archived.
    pub fn first_kept_order(&self) -> u64 {
        self.last_order() - self.scale.accounts + 1
    }

    /// What an account (from 1) began with, in cents.
    pub fn opening_cents(&self, account: u64) -> i64 {
        match self.scale.hot_place(account) {
            _ if account > self.scale.accounts => 0,
            Some(_) => 1_000_000_000_000,
            // Some begin with debts, within every product's limit.
            None => below(mix(self.key ^ mix(account)), 5_000_000) as i64 - 150_000,
        }
    }

    fn of_firms(round: u64) -> bool {
        OF_FIRMS[(round % ROUNDS) as usize]
    }

    /// The number that the pairs of a round of peers add up to, counted from 0 and modulo the accounts.
    fn pairs(&self, round: u64) -> u64 {
        below(mix(self.key ^ round.wrapping_mul(GOLDEN)), self.scale.accounts)
    }

    /// Who an account is paired with in a round of peers: itself, for one or two of them.
    fn peer(&self, account: u64, round: u64) -> u64 {
        let accounts = self.scale.accounts;
        (self.pairs(round) + accounts - (account - 1)) % accounts + 1
    }

    fn slots(&self) -> u64 {
        self.scale.hot_accounts() * 4
    }

    /// The firm that an account meets in a round.
    fn firm(&self, account: u64, round: u64) -> u64 {
        let slot = (account + round * STEP) % self.slots();
        self.scale.hot_account(slot / 64 * 16 + u64::from(FIRM[(slot % 64) as usize]))
    }

    /// The other side of an account that is no firm in a round of firms, or of any in a round of peers.
    fn contra(&self, account: u64, round: u64) -> u64 {
        if History::of_firms(round) { self.firm(account, round) } else { self.peer(account, round) }
    }

    /// The posting of a round that is known by the account, seen from one of its sides.
    fn item(&self, round: u64, by: u64, other: u64, seen_from: u64) -> Item {
        let order = round * self.scale.accounts + by;
        let bits = mix(self.key.wrapping_add(order.wrapping_mul(GOLDEN)));
        let edge = |round: u64| self.scale.days * round / self.rounds();
        let days = (edge(round + 1) - edge(round)).max(1);
        let posted_day = self.scale.first_day() + (edge(round) + below(mix(bits ^ 1), days)) as i64;
        // A quarter has its value a day later, one in sixteen is back-dated.
        let value_day = match bits >> 40 & 15 {
            0..4 if posted_day + 1 < TODAY => posted_day + 1,
            4 if posted_day > self.scale.first_day() => posted_day - 1,
            _ => posted_day,
        };
        let (kind, pays, cents) = match (History::of_firms(round), round % ROUNDS) {
            (true, 0) => ("salary", other, 100_000 + below(mix(bits ^ 2), 300_000)),
            (true, _) => ("debit", by, 1_000 + below(mix(bits ^ 2), 29_000)),
            (false, _) => ("single", if bits & 1 == 0 { by } else { other }, 500 + below(mix(bits ^ 2), 49_500)),
        };
        Item {
            account: seen_from,
            contra: if seen_from == by { other } else { by },
            order,
            posted_day,
            value_day,
            cents: if seen_from == pays { -(cents as i64) } else { cents as i64 },
            kind,
        }
    }

    /// The item of an account in a round; none for a firm in a round of firms, which has many, and for one that is paired with
    /// itself.
    pub fn item_of(&self, account: u64, round: u64) -> Option<Item> {
        let (contra, of_firms) = (self.contra(account, round), History::of_firms(round));
        let one = if of_firms { self.scale.hot_place(account).is_none() } else { contra != account };
        let by = if of_firms { account } else { account.min(contra) };
        one.then(|| self.item(round, by, if by == account { contra } else { account }, account))
    }

    /// The posting of a round that is known by an account, seen from the account; none where another one knows it, or
    /// there is none.
    pub fn known_by(&self, round: u64, account: u64) -> Option<Item> {
        self.item_of(account, round).filter(|item| item.order == round * self.scale.accounts + account)
    }

    fn postings(&self, round: u64) -> u64 {
        let (accounts, firms) = (self.scale.accounts, self.scale.hot_accounts());
        // An account is paired with itself where twice its number is the number of the round, modulo the accounts.
        let alone = if accounts % 2 == 1 { 1 } else { 2 * u64::from(self.pairs(round).is_multiple_of(2)) };
        if History::of_firms(round) { accounts - firms } else { (accounts - alone) / 2 }
    }

    /// Items of all accounts.
    pub fn items(&self) -> u64 {
        (0..self.rounds()).map(|round| 2 * self.postings(round)).sum()
    }

    /// Orders that are kept.
    pub fn kept_orders(&self) -> u64 {
        self.postings(self.rounds() - 1)
    }

    /// The items of an account, from the oldest round on.
    pub fn items_of(&self, account: u64) -> Items {
        Items { account, round: 0, senders: None }
    }
}

/// The accounts that meet a firm in a round, in ascending order.
#[derive(Clone, Copy, Debug)]
struct Senders {
    /// What they leave when divided by the slots.
    rests: [u64; 16],
    count: usize,
    base: u64,
    next: usize,
}

impl Senders {
    fn of(history: &History, place: u64, round: u64) -> Senders {
        let (slots, mut senders) = (history.slots(), Senders { rests: [0; 16], count: 0, base: 0, next: 0 });
        let mine = (0..64).filter(|slot| u64::from(FIRM[*slot as usize]) == place % 16);
        for slot in mine {
            let slot = place / 16 * 64 + slot;
            senders.rests[senders.count] = (slot + slots - round * STEP % slots) % slots;
            senders.count += 1;
        }
        senders.rests[..senders.count].sort_unstable();
        senders
    }

    fn next(&mut self, history: &History) -> Option<u64> {
        loop {
            if self.next == self.count {
                (self.next, self.base) = (0, self.base + history.slots());
            }
            let account = self.base + self.rests[self.next];
            self.next += 1;
            if account > history.scale.accounts {
                return None;
            }
            if account > 0 && history.scale.hot_place(account).is_none() {
                return Some(account);
            }
        }
    }
}

/// A walk over the items of an account; it keeps its place and no items.
#[derive(Clone, Copy, Debug)]
pub struct Items {
    account: u64,
    round: u64,
    senders: Option<Senders>,
}

impl Items {
    /// The next item.
    pub fn next(&mut self, history: &History) -> Option<Item> {
        while self.round < history.rounds() && self.account <= history.scale.accounts {
            let (round, account) = (self.round, self.account);
            let place = history.scale.hot_place(account).filter(|_| History::of_firms(round));
            if let Some(place) = place {
                let senders = self.senders.get_or_insert_with(|| Senders::of(history, place, round));
                if let Some(sender) = senders.next(history) {
                    return Some(history.item(round, sender, account, account));
                }
                self.senders = None;
                self.round += 1;
                continue;
            }
            self.round += 1;
            if let Some(item) = history.item_of(account, round) {
                return Some(item);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Indexes;
    use std::collections::HashMap;

    #[test]
    fn both_sides_of_every_posting_are_found_from_either_account() {
        for (accounts, days) in [(1_000, 20), (1_001, 7), (9_003, 45)] {
            let history = History::new(Scale { accounts, days, indexes: Indexes::Usual }, 5);
            let mut orders: HashMap<u64, Vec<Item>> = HashMap::new();
            let (mut firms, mut back_dated) = (0, 0);
            for account in 1..=accounts {
                let mut walk = history.items_of(account);
                while let Some(item) = walk.next(&history) {
                    let history_of = history.scale.first_day()..TODAY;
                    assert!(history_of.contains(&item.posted_day) && history_of.contains(&item.value_day), "{item:?}");
                    back_dated += u64::from(item.value_day < item.posted_day);
                    firms += u64::from(history.scale.hot_place(item.contra).is_some());
                    orders.entry(item.order).or_default().push(item);
                }
            }
            for (order, items) in &orders {
                assert_eq!(items.len(), 2, "{order}");
                assert_eq!((items[0].account, items[0].contra), (items[1].contra, items[1].account));
                assert_eq!(items[0].cents + items[1].cents, 0);
                assert_eq!(items[0].value_day, items[1].value_day);
                let (round, by) = ((order - 1) / accounts, (order - 1) % accounts + 1);
                assert!(items.contains(&history.known_by(round, by).unwrap()));
            }
            assert_eq!(2 * orders.len() as u64, history.items());
            assert!((1..history.items() / 10).contains(&back_dated), "{back_dated}");
            assert!(firms * 2 > orders.len() as u64, "most postings meet a firm: {firms} of {}", orders.len());
        }
    }
}
