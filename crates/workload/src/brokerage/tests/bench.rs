//! The brokerage house on the bench, with the clock and the exchange that its transactions go by.

use super::super::numbers::Errand;
use super::super::{Brokerage, Scale, Spec, classes, data_set, schema, statements};
use crate::bench;
use crate::transaction::{Begun, Business, Caused, Ending};
use std::collections::{BTreeMap, VecDeque};
use std::ops::{Deref, DerefMut};
use units::Nanos;

pub const DATA_SEED: u64 = 11;

pub struct Bench {
    bench: bench::Bench,
    pub spec: Spec,
    pub counts: BTreeMap<String, u64>,
    /// Nanoseconds of the clock between two transactions.
    pub pace: u64,
    pub failures: Vec<String>,
    clock: u64,
    caused_so_far: u64,
}

impl Deref for Bench {
    type Target = bench::Bench;

    fn deref(&self) -> &bench::Bench {
        &self.bench
    }
}

impl DerefMut for Bench {
    fn deref_mut(&mut self) -> &mut bench::Bench {
        &mut self.bench
    }
}

impl Bench {
    pub fn filled(spec: Spec) -> Bench {
        let dataset = data_set::seeded(Scale::of(&spec), DATA_SEED);
        Bench::on(spec, bench::Bench::filled(&dataset, statements(spec.preset)))
    }

    pub fn empty(spec: Spec) -> Bench {
        let tables: Vec<_> = schema::tables(spec.preset).cloned().collect();
        Bench::on(spec, bench::Bench::empty(&tables, statements(spec.preset)))
    }

    fn on(spec: Spec, bench: bench::Bench) -> Bench {
        let (counts, failures) = (BTreeMap::new(), Vec::new());
        Bench { bench, spec, counts, pace: 1_000_000, failures, clock: 0, caused_so_far: 0 }
    }

    /// One transaction from its beginning to its end.
    pub fn one(&mut self, house: &mut Brokerage, begun: Begun, caused: &mut Vec<Caused>) {
        let class = classes(self.spec.preset)[usize::from(house.class(begun.n, begun.payload))].name.clone();
        *self.counts.entry(class).or_default() += 1;
        let ending = match self.bench.carry(house, 0, begun) {
            Ok(()) => Ending::Done,
            Err(complaint) => {
                self.failures.extend(complaint);
                Ending::Failed
            }
        };
        house.ended(0, ending, Nanos(self.clock), caused);
    }

    /// One transaction that others are made to have caused.
    pub fn caused(&mut self, house: &mut Brokerage, errand: Errand) {
        self.clock += self.pace;
        let n = (1 << 63) + self.caused_so_far;
        self.caused_so_far += 1;
        self.one(house, Begun { n, payload: errand.payload(), at: Nanos(self.clock) }, &mut Vec::new());
    }

    /// So many arrivals of the schedule, and all that they cause.
    pub fn run(&mut self, house: &mut Brokerage, arrivals: std::ops::Range<u64>) {
        let mut queue: VecDeque<Caused> = VecDeque::new();
        for n in arrivals {
            self.clock += self.pace;
            let mut caused = Vec::new();
            self.one(house, Begun { n, payload: 0, at: Nanos(self.clock) }, &mut caused);
            queue.extend(caused.drain(..));
            while let Some(next) = queue.pop_front() {
                self.clock = self.clock.max(next.due.0) + self.pace;
                let n = (1 << 63) + self.caused_so_far;
                self.caused_so_far += 1;
                self.one(house, Begun { n, payload: next.payload, at: Nanos(self.clock) }, &mut caused);
                queue.extend(caused.drain(..));
            }
        }
    }

    /// All rows of a table as one text.
    pub fn dump(&self, table: &str) -> String {
        let mut prepared = self.db.prepare(&format!("select * from {table} order by 1, 2")).unwrap();
        let columns = prepared.column_count();
        let mut rows = prepared.query([]).unwrap();
        let mut text = String::new();
        while let Some(row) = rows.next().unwrap() {
            (0..columns).for_each(|column| text.push_str(&format!("{:?};", row.get_ref(column).unwrap())));
        }
        text
    }
}
