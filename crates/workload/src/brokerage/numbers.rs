//! What a caused transaction is handed over.
//!
//! What it does not do: it gives out no numbers.

use super::Scale;
use crate::kind::numbers;

/// The first epoch whose numbers lie above the greatest trade of a data set, so that a later trial on the same data
/// begins where none has been.
pub fn epoch_after(scale: &Scale, greatest: u64) -> u64 {
    numbers::epoch_after(scale.first_new_trade(), greatest)
}

/// What a caused transaction is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Errand {
    /// An arrival of the schedule.
    Scheduled,
    /// The fill of a trade; `again` after a first try that failed.
    Fill { trade: u64, again: bool },
    /// A round of quotes, by its number.
    Feed(u64),
    /// A round of maintenance, by its number.
    Maintenance(u64),
}

const KIND_SHIFT: u32 = 56;
const AGAIN: u64 = 1 << 55;
const BODY: u64 = AGAIN - 1;

impl Errand {
    pub(super) fn payload(self) -> u64 {
        match self {
            Errand::Scheduled => 0,
            Errand::Fill { trade, again } => (1 << KIND_SHIFT) | (trade & BODY) | if again { AGAIN } else { 0 },
            Errand::Feed(number) => (2 << KIND_SHIFT) | (number & BODY),
            Errand::Maintenance(number) => (3 << KIND_SHIFT) | (number & BODY),
        }
    }

    pub(super) fn of(payload: u64) -> Errand {
        let body = payload & BODY;
        match payload >> KIND_SHIFT {
            1 => Errand::Fill { trade: body, again: payload & AGAIN != 0 },
            2 => Errand::Feed(body),
            3 => Errand::Maintenance(body),
            _ => Errand::Scheduled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Preset;
    use super::*;
    use crate::kind::WORKERS_MAX;
    use crate::kind::numbers::{COUNTER_BITS, Numbers};

    const LARGEST: Scale = Scale { preset: Preset::House, customers: 1_000_000, days: 300 };

    #[test]
    fn numbers_of_epochs_and_workers_never_meet_and_stay_exact_in_a_float() {
        let mut firsts: Vec<u64> = [(0, 0), (0, 1), (0, WORKERS_MAX - 1), (1, 0), (16_383, WORKERS_MAX - 1)]
            .map(|(e, w)| Numbers::new(LARGEST.first_new_trade(), e, w).take())
            .into();
        assert!(firsts.is_sorted());
        firsts.dedup_by(|later, earlier| *later - *earlier < 1 << COUNTER_BITS);
        assert_eq!(firsts.len(), 5);
        assert!(firsts[4] + (1 << COUNTER_BITS) < 1 << 53);
        assert!(firsts[0] > LARGEST.trades());
    }

    #[test]
    fn the_epoch_after_a_trade_gives_numbers_above_it() {
        assert_eq!(epoch_after(&LARGEST, LARGEST.trades()), 0);
        for (epoch, worker) in [(0, 0), (0, WORKERS_MAX - 1), (7, 3)] {
            let trade = Numbers::new(LARGEST.first_new_trade(), epoch, worker).take();
            let next = Numbers::new(LARGEST.first_new_trade(), epoch_after(&LARGEST, trade), 0).take();
            assert!(next > trade);
        }
    }

    #[test]
    fn errands_survive_the_way_through_a_payload() {
        let trade = Numbers::new(LARGEST.first_new_trade(), 16_383, WORKERS_MAX - 1).take();
        for errand in [
            Errand::Scheduled,
            Errand::Fill { trade, again: false },
            Errand::Fill { trade, again: true },
            Errand::Feed(7),
            Errand::Maintenance(0),
        ] {
            assert_eq!(Errand::of(errand.payload()), errand);
        }
    }
}
