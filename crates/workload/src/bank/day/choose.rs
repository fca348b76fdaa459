//! Whose accounts a transaction is about.
//!
//! The one idea: a loop of calls has its own set of accounts, so that they are met again soon and then no more. The other side of
//! a posting is mostly one of a few hot accounts. Where keys are split, all of them are of one half: hot accounts by their place among
//! the hot ones, all others by their number.
//!
//! What it does not do: it knows no class.

use super::Spec;
use super::mix::{ACCOUNTS, LOOP};
use crate::kind::numbers::{on_half, skewed};
use random::{Draws, mix};

/// What draws are for; those of different purposes share nothing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    Class = 1,
    Call,
    Run,
}

/// Draws the inputs of one transaction, again for each try.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choose {
    spec: Spec,
    /// What the accounts of the loop follow from.
    set: u64,
    half: Option<u32>,
    draws: Draws,
}

impl Choose {
    pub(super) fn new(spec: Spec, seed: u64, half: Option<u32>, purpose: Purpose, n: u64) -> Choose {
        let set = mix(seed ^ mix(n / LOOP));
        Choose { spec, set, half, draws: Draws::named(seed, &[purpose as u64, n]) }
    }

    /// The account, or one beside it that is of this half. No two hot accounts lie within two numbers.
    fn mine(&self, account: u64) -> u64 {
        let scale = &self.spec.scale;
        let moved = on_half(account, self.half, scale.accounts);
        let of_others = |place: u64| self.half.is_some_and(|half| place % 2 != u64::from(half));
        if scale.hot_place(moved).is_some_and(of_others) { moved + 2 } else { moved }
    }

    pub(super) fn percent(&mut self, percent: u64) -> bool {
        self.draws.below(100) < percent
    }

    /// From `low` to `high` cents, both included.
    pub(super) fn cents(&mut self, low: i64, high: i64) -> i64 {
        low + self.draws.below((high - low + 1) as u64) as i64
    }

    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.draws.below(n)
    }

    /// One of the accounts of the loop.
    pub(super) fn account(&mut self) -> u64 {
        let place = self.draws.below(ACCOUNTS);
        self.mine(1 + random::below(mix(self.set.wrapping_add(place)), self.spec.scale.accounts))
    }

    /// Any account.
    fn any(&mut self) -> u64 {
        let account = 1 + self.draws.below(self.spec.scale.accounts);
        self.mine(account)
    }

    /// A hot account; half of all draws fall on an eighth of them.
    pub(super) fn hot(&mut self) -> u64 {
        let hot = self.spec.scale.hot_accounts();
        let place = skewed(self.draws.bits(), hot);
        self.spec.scale.hot_account(on_half(place + 1, self.half.map(|half| 1 - half), hot) - 1)
    }

    /// The other side of a posting on an account.
    pub(super) fn contra(&mut self, account: u64) -> u64 {
        let other = if self.percent(self.spec.hot) { self.hot() } else { self.any() };
        // Two sides are never one account.
        let next = |step: u64| self.mine((account + step - 1) % self.spec.scale.accounts + 1);
        if other != account {
            other
        } else {
            [1, 2, 3].map(next).into_iter().find(|next| *next != account).unwrap_or(1)
        }
    }

    /// So many different accounts beside that of the payer, in ascending order: those of the loop first.
    pub(super) fn payees(&mut self, payer: u64, count: usize, of_loop: bool, payees: &mut Vec<u64>) {
        payees.clear();
        let mut tries = 0;
        while payees.len() < count {
            let account = if of_loop && tries < ACCOUNTS { self.account() } else { self.any() };
            tries += 1;
            if account != payer {
                payees.push(account);
            }
            if payees.len() == count {
                payees.sort_unstable();
                payees.dedup();
            }
        }
    }
}
