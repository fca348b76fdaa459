//! Numbers of new orders, and the halves of numbered keys.
//!
//! The one idea: an order's number is (epoch, worker, counter) above the numbers of the history, so that workers and later
//! trials on the same data never meet, and the ledger knows a number before the database does.
//!
//! What it does not do: it does not remember what was used; more than 2^27 orders of one worker in one trial would run
//! into the numbers of the next worker.

use super::WORKERS_MAX;
use random::fraction;

pub(crate) const COUNTER_BITS: u32 = 27;
const WORKER_BITS: u32 = 11;
const EPOCH_BITS: u32 = 14;

const _: () = assert!(WORKERS_MAX == 1 << WORKER_BITS, "orders of two workers never meet");

/// Gives out numbers of orders, all less than 2^52 above the first that is free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    next: u64,
}

impl Numbers {
    /// Numbers from the first on that the data set leaves free. Epochs repeat after 2^14 and workers after 2^11.
    pub(crate) fn new(first: u64, epoch: u64, worker: u32) -> Numbers {
        let epoch = epoch % (1 << EPOCH_BITS);
        let worker = u64::from(worker) % (1 << WORKER_BITS);
        Numbers { next: first + (((epoch << WORKER_BITS) | worker) << COUNTER_BITS) }
    }

    /// The next one.
    pub(crate) fn take(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }
}

/// The place of the share in which a number falls, where shares lie one behind the other; none beyond the last.
pub(crate) fn share_at(mut number: u64, shares: impl IntoIterator<Item = u64>) -> Option<usize> {
    shares.into_iter().position(|share| {
        let here = number < share;
        number = number.wrapping_sub(share);
        here
    })
}

/// A number below `n` for 64 random bits; the lower are likelier, half of all draws in the first eighth.
pub(crate) fn skewed(random: u64, n: u64) -> u64 {
    let even = fraction(random);
    ((even * even * even * n as f64) as u64).min(n - 1)
}

/// The key (from 1) of the same pair on this half, of so many keys: even keys are of half 0, odd ones of half 1. Without a half it is
/// the key itself.
pub(crate) fn on_half(key: u64, half: Option<u32>, keys: u64) -> u64 {
    match half.map(|half| (key & !1) + u64::from(half)) {
        None => key,
        Some(0) => keys.min(2),
        Some(moved) if moved > keys => (moved - 2).max(1),
        Some(moved) => moved,
    }
}

/// The first epoch whose numbers lie above the greatest order of a data set that leaves numbers free from `first` on, so that a
/// later trial on the same data begins where none has been.
pub(crate) fn epoch_after(first: u64, greatest: u64) -> u64 {
    greatest.checked_sub(first).map_or(0, |above| (above >> (COUNTER_BITS + WORKER_BITS)) + 1)
}
