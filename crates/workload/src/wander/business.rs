//! One worker's share: draws a table and a row, and reads it.

use super::{HOT, Spec};
use crate::kind::Share;
use crate::transaction::{Answers, Batch, Begun, Business, Caused, Ending, Step, Value};
use random::Lane;
use units::Nanos;

/// What the draws of a read are for.
const IS_HOT: u64 = 1;
const OTHER: u64 = 2;
const ROW: u64 = 3;

/// What a slot reads, and whether it was sent.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    table: u32,
    row: i64,
    sent: bool,
}

/// A worker of the workload.
#[derive(Clone, Debug)]
pub(super) struct Reads {
    spec: Spec,
    seed: u64,
    slots: Vec<Slot>,
}

impl Reads {
    pub(super) fn new(spec: Spec, share: &Share) -> Reads {
        Reads { spec, seed: share.seed, slots: vec![Slot::default(); share.slots as usize] }
    }

    fn draw(&self, purpose: u64, n: u64, count: u64) -> u64 {
        random::below(Lane::new(self.seed, 0, purpose).at(n), count.max(1))
    }

    /// The table and the row of a read that begins at a moment.
    fn drawn(&self, n: u64, at: Nanos) -> (u32, i64) {
        let table = match self.draw(IS_HOT, n, 100) < HOT {
            true => self.spec.hot(at),
            false => self.draw(OTHER, n, self.spec.tables.into()) as u32,
        };
        (table, 1 + self.draw(ROW, n, self.spec.rows) as i64)
    }
}

impl Business for Reads {
    fn class(&mut self, _n: u64, _payload: u64) -> u16 {
        0
    }

    fn begin(&mut self, slot: u32, begun: Begun) {
        let (table, row) = self.drawn(begun.n, begun.at);
        self.slots[slot as usize] = Slot { table, row, sent: false };
    }

    fn step(&mut self, slot: u32, answers: &Answers, batch: &mut Batch) -> Step {
        let held = &mut self.slots[slot as usize];
        if held.sent {
            return if answers.last().row_count() > 0 { Step::Done { rolled_back: false } } else { Step::Fail };
        }
        held.sent = true;
        batch.call(held.table as u16, [Value::Int(held.row)]);
        Step::Send
    }

    fn complaint(&mut self, slot: u32) -> Option<String> {
        let Slot { table, row, .. } = self.slots[slot as usize];
        Some(format!("row {row} of {} is not there", Spec::table(table)))
    }

    fn restart(&mut self, slot: u32) {
        self.slots[slot as usize].sent = false;
    }

    fn ended(&mut self, _slot: u32, _ending: Ending, _at: Nanos, _caused: &mut Vec<Caused>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_reads_in_ten_go_to_the_table_whose_time_it_is_and_the_next_one_follows() {
        let spec = Spec { tables: 5, rows: 100, stay: Nanos::from_secs(20) };
        let share = Share { worker: 0, workers: 1, first: 0, slots: 1, seed: 7, epoch: 0, half: None };
        let reads = Reads::new(spec, &share);
        for (at_s, hot) in [(0, 0), (19, 0), (20, 1), (99, 4), (100, 0), (130, 1)] {
            let mut counts = [0_u32; 5];
            for n in 0..10_000 {
                let (table, row) = reads.drawn(n, Nanos::from_secs(at_s));
                assert!((1..=100).contains(&row));
                counts[table as usize] += 1;
            }
            // 90 percent, and a fifth of the rest: 9,200; the standard error is 27. Each other table has 200.
            assert!((9_080..=9_320).contains(&counts[hot]), "{at_s} s: {counts:?}");
            let others = (0..5).filter(|table| *table != hot);
            assert!(others.clone().all(|table| (130..=270).contains(&counts[table])), "{at_s} s: {counts:?}");
        }
    }
}
